import { Failure, isFailure } from '../failure.ts'
import type { Progress } from '../progress.ts'
import { type Patience, persist } from '../retry.ts'
import { whileOpen } from '../signal.ts'
import { retryAfterOf, send, toUnreachable } from '../wire.ts'
import type { Source } from './get-file.ts'
import { watch } from './watchdog.ts'

/** Where bytes go, in order. */
export interface Sink {
  /** How many there are already. */
  at: number
  write(chunk: Uint8Array): Promise<void>
  /** Forgets all of them. */
  restart(): Promise<void>
}

/** Fetches what is missing in a sink, across breaks: as long as something arrives, nothing is given up. */
export async function stream(
  source: Source,
  sink: Sink,
  { patience, progress }: { patience: Patience; progress: Progress },
): Promise<void> {
  let url: string | undefined
  const attempt = async () => {
    const before = sink.at
    url ??= await source.link()
    try {
      await fetchRest(url, source, sink, patience, progress)
    } catch (error) {
      // The time of a link is short.
      if (isFailure(error, 'UNAVAILABLE')) url = undefined
      if (!isFailure(error, 'UNREACHABLE') || sink.at <= before || patience.retries === 0) throw error
      patience.notice(`${error.message} Going on.`)
    }
  }
  while (sink.at < source.size) await persist(attempt, 'repeatable', patience)
}

async function fetchRest(
  url: string,
  source: Source,
  sink: Sink,
  { signal }: Patience,
  progress: Progress,
): Promise<void> {
  const watchdog = watch(signal, new URL(url).host)
  const start = sink.at
  // A signed address needs no credential, and whose it is nobody knows.
  const headers = { 'accept-encoding': 'identity', ...(start > 0 ? { range: `bytes=${start}-` } : {}) }
  try {
    const response = await send(url, { headers, signal: watchdog.signal, limitMs: undefined })
    await refuse(response, source)
    if (start > 0 && response.status === 200) {
      // The store gives all of it, or nothing.
      progress.move(-start)
      await sink.restart()
    } else if (start > 0) {
      const from = /^bytes (\d+)-/.exec(response.headers.get('content-range') ?? '')?.[1]
      if (Number(from) !== start)
        throw new Failure('BAD_ANSWER', `The store answers other bytes of ${source.shown} than were asked for.`)
    }
    for await (const chunk of piecesOf(response, url, watchdog.signal)) {
      watchdog.touch()
      if (sink.at + chunk.length > source.size)
        throw new Failure('BAD_ANSWER', `The store answers more bytes of ${source.shown} than it has.`)
      await sink.write(chunk)
      progress.move(chunk.length)
    }
  } finally {
    watchdog.stop()
  }
  if (sink.at < source.size) throw new Failure('UNREACHABLE', `${new URL(url).host} has broken off.`, { sent: true })
}

async function* piecesOf(response: Response, url: string, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const reader = response.body?.getReader()
  if (!reader) return
  try {
    for (;;) {
      const { value, done } = await whileOpen(reader.read(), signal).catch(error => {
        throw toUnreachable(error, url, signal)
      })
      if (done) return
      yield value
    }
  } finally {
    // Whoever stops reading early wants no more.
    reader.cancel().catch(() => {})
  }
}

async function refuse(response: Response, { shown }: Source): Promise<void> {
  const { status, headers } = response
  if (status === 200 || status === 206) return
  await response.body?.cancel().catch(() => {})
  const host = new URL(response.url || 'http://store').host
  if (status === 429 || status >= 500)
    throw new Failure('UNAVAILABLE', `${host} answers ${status}.`, { ...retryAfterOf(headers) })
  if (status === 401 || status === 403 || status === 404)
    throw new Failure('UNAVAILABLE', `The link to the bytes of ${shown} is not valid any more (${status}).`)
  throw new Failure('BAD_ANSWER', `${host} answers ${status} for the bytes of ${shown}.`)
}
