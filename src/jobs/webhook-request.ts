import { lookup as lookupName } from 'node:dns/promises'
import http from 'node:http'
import https from 'node:https'
import type { LookupFunction } from 'node:net'
import { Webhook } from 'standardwebhooks'
import { causesOf } from '../runtime/errors.ts'
import { addressIn, type MayReach } from '../services/notices/webhook-address.ts'

/**
 * A Standard Webhooks message. It keeps its id for all attempts, so that receivers can ignore
 * duplicates.
 */
export interface WebhookMessage {
  id: string
  type: string
  /** The time of the event, as RFC 3339. */
  timestamp: string
  data: object
}

/** The outcome of an attempt. */
export interface Outcome {
  /** Null if there was no response. */
  status: number | null
  /**
   * Null for a success, otherwise a word: status, redirect, forbidden_address, timeout, or the code
   * of the connection error.
   */
  failure: string | null
  milliseconds: number
}

export type ResolveName = (name: string) => Promise<{ address: string; family: number }[]>

interface Options {
  mayReach: MayReach
  resolveName?: ResolveName | undefined
  timeoutMs?: number | undefined
  /** Headers that continue the trace of a request. */
  traceHeaders?: (() => Record<string, string>) | undefined
}

class ForbiddenAddress extends Error {
  readonly code = 'forbidden_address'
}

/**
 * Sends signed requests to user-chosen URLs, at public addresses and those that the operator
 * allows. The check uses the same name resolution as the connection, so DNS rebinding fails. Does
 * not follow redirects, and reads only the headers of responses.
 */
export function webhookRequests({
  mayReach,
  resolveName = name => lookupName(name, { all: true }),
  timeoutMs = 10_000,
  traceHeaders = () => ({}),
}: Options) {
  const lookup: LookupFunction = (name, { all }, done) => {
    resolveName(name).then(
      found => {
        const [first, ...others] = found.filter(({ address }) => mayReach(address))
        if (!first) done(new ForbiddenAddress('No public address.'), '')
        else if (all) done(null, [first, ...others])
        else done(null, first.address, first.family)
      },
      error => done(error, ''),
    )
  }

  function post(url: URL, headers: Record<string, string>, body: string): Promise<number> {
    const address = addressIn(url)
    // An IP address is not resolved.
    if (address !== null && !mayReach(address)) throw new ForbiddenAddress('Not a public address.')
    const { request } = url.protocol === 'https:' ? https : http
    return new Promise((resolve, reject) => {
      const sent = request(url, {
        method: 'POST',
        headers: { ...headers, 'content-length': Buffer.byteLength(body) },
        agent: false,
        lookup,
        signal: AbortSignal.timeout(timeoutMs),
      })
      sent.on('response', answer => {
        answer.destroy()
        resolve(answer.statusCode ?? 0)
      })
      // Node.js does not treat a protocol switch as a response. Without a listener, it closes the
      // connection without an event.
      sent.on('upgrade', (answer, socket) => {
        socket.destroy()
        resolve(answer.statusCode ?? 0)
      })
      sent.on('error', reject)
      sent.on('close', () => reject(new Error('The connection was closed without a response.')))
      sent.end(body)
    })
  }

  /** Never throws: failures of the receiver are outcomes. */
  return async (
    to: { url: string; secrets: string[] },
    { id, ...payload }: WebhookMessage,
  ): Promise<Outcome> => {
    const [body, now] = [JSON.stringify(payload), new Date()]
    const headers = {
      ...traceHeaders(),
      'content-type': 'application/json',
      'user-agent': 'Satchel-Webhooks',
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
      'webhook-signature': to.secrets
        .map(secret => new Webhook(secret).sign(id, now, body))
        .join(' '),
    }
    const took = () => Date.now() - now.getTime()
    try {
      const status = await post(new URL(to.url), headers, body)
      return { status, failure: failureOf(status), milliseconds: took() }
    } catch (error) {
      return { status: null, failure: wordFor(error), milliseconds: took() }
    }
  }
}

export type SendWebhook = ReturnType<typeof webhookRequests>

function failureOf(status: number): string | null {
  if (status >= 200 && status < 300) return null
  return status >= 300 && status < 400 ? 'redirect' : 'status'
}

const LONGEST_WORD = 64

/** The code of the innermost error with a code, such as ECONNREFUSED or CERT_HAS_EXPIRED. */
function wordFor(error: unknown): string {
  const causes = [...causesOf(error)]
  if (causes.some(({ name }) => name === 'TimeoutError' || name === 'AbortError')) return 'timeout'
  const code = causes.map(cause => cause.code).findLast(code => typeof code === 'string')
  return /^\w+$/.test(String(code)) ? String(code).slice(0, LONGEST_WORD) : 'failed'
}
