import { send } from '../../upload-engine/browser/send.ts'
import { TransferFailure } from '../../upload-engine/failure.ts'
import type { Attempt } from '../../upload-engine/job.ts'
import type { Texts } from './texts.ts'

/** A file request and its sender. */
export interface Place {
  /** URL of its API. */
  api: string
  /** Token of the sender. */
  sender: string
  texts: Texts
}

interface Sent {
  json?: object
  /** The bytes of a part, and the attempt that tracks them. */
  part?: { body: Blob; attempt: Attempt }
}

const unreachable = (texts: Texts) =>
  new TransferFailure('UNREACHABLE', texts.connectionLost, { sent: true })

/**
 * Sends one request and returns its `response`.
 *
 * @throws TransferFailure
 */
export async function ask<T>(
  { api, sender, texts }: Place,
  method: string,
  path: string,
  sent: Sent = {},
): Promise<T> {
  const headers: Record<string, string> = { accept: 'application/json', 'x-sender-token': sender }
  if (sent.part) {
    const { body, attempt } = sent.part
    headers['content-type'] = 'application/octet-stream'
    const part = {
      method,
      url: api + path,
      headers: Object.entries(headers),
      body,
      failed: () => unreachable(texts),
    }
    return answerOf(await send(part, attempt), texts)
  }
  if (sent.json) headers['content-type'] = 'application/json'
  const body = sent.json ? JSON.stringify(sent.json) : null
  const answer = await fetch(api + path, { method, headers, body }).catch(() => {
    throw unreachable(texts)
  })
  return answerOf(answer, texts)
}

async function answerOf<T>(answer: Response, texts: Texts): Promise<T> {
  const { status } = answer
  // An error page of a proxy is not JSON.
  const { response, msg } = await answer.json().catch(() => ({}))
  if (status === 200 && response) return response
  const { code, ...details } = response ?? {}
  const message = msg ?? `The service has answered ${status}.`
  if (code === 'MAINTENANCE') throw new TransferFailure(code, message, details)
  if (status >= 500) throw new TransferFailure('UNAVAILABLE', texts.serviceAway, details)
  throw new TransferFailure(
    code ?? (status === 429 ? 'UNAVAILABLE' : 'UNEXPECTED'),
    message,
    details,
  )
}
