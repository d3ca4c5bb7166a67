import { persist } from '../../upload-engine/retry.ts'
import { watch } from '../../upload-engine/watchdog.ts'
import { Failure, isFailure } from '../failure.ts'
import type { Patience } from '../patience.ts'
import type { Progress } from '../progress.ts'
import { piecesOf, retryAfterOf, send } from '../wire.ts'

/** A file to download. */
export interface Source {
  /** Name for messages. */
  shown: string
  size: number
  /** MD5, lower-case hex; undefined if the service does not report it. */
  md5Checksum: string | undefined
  /** For an archive, which has no MD5: the same ETag means the same bytes. */
  etag?: string
  /**
   * Modification time for the local file; undefined for an archive. The time of the share link may
   * be later.
   */
  modifiedAt?: Date | undefined
  /** Whether only the share link provides the modification time. */
  isDatedByLink?: boolean
  /** Creates a short-lived signed URL of the content. */
  link(): Promise<string>
}

/** Accepts bytes in order. */
export interface Sink {
  /** Number of bytes so far. */
  at: number
  write(chunk: Uint8Array): Promise<void>
  /** Discards all bytes. */
  restart(): Promise<void>
}

/**
 * Downloads the missing bytes of a sink. It resumes after network errors as long as there is
 * progress.
 */
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
      // The signed URL may have expired.
      if (isFailure(error, 'UNAVAILABLE')) url = undefined
      if (!isFailure(error, 'UNREACHABLE') || sink.at <= before || patience.retries === 0)
        throw error
      patience.notice(`${error.message} Resuming.`)
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
  // A signed URL needs no credential, and may belong to another host.
  const headers = {
    'accept-encoding': 'identity',
    ...(start > 0 ? { range: `bytes=${start}-` } : {}),
  }
  try {
    const response = await send(url, { headers, signal: watchdog.signal, limitMs: undefined })
    await refuse(response, source)
    if (start > 0 && response.status === 200) {
      // The store ignored the range.
      progress.move(-start)
      await sink.restart()
    } else if (start > 0) {
      const from = /^bytes (\d+)-/.exec(response.headers.get('content-range') ?? '')?.[1]
      if (Number(from) !== start)
        throw new Failure(
          'BAD_ANSWER',
          `The store returned another range of ${source.shown} than requested.`,
        )
    }
    for await (const chunk of piecesOf(response, url, watchdog.signal)) {
      watchdog.touch()
      if (sink.at + chunk.length > source.size)
        throw new Failure('BAD_ANSWER', `The store returned more bytes than ${source.shown} has.`)
      await sink.write(chunk)
      progress.move(chunk.length)
    }
  } finally {
    watchdog.stop()
  }
  if (sink.at < source.size)
    throw new Failure('UNREACHABLE', `${new URL(url).host} closed the connection early.`, {
      sent: true,
    })
}

async function refuse(response: Response, { shown }: Source): Promise<void> {
  const { status, headers } = response
  if (status === 200 || status === 206) return
  await response.body?.cancel().catch(() => {})
  const host = new URL(response.url || 'http://store').host
  if (status === 429 || status >= 500)
    throw new Failure('UNAVAILABLE', `${host} answered ${status}.`, { ...retryAfterOf(headers) })
  if (status === 401 || status === 403 || status === 404)
    throw new Failure(
      'UNAVAILABLE',
      `The link to the bytes of ${shown} is no longer valid (${status}).`,
    )
  throw new Failure('BAD_ANSWER', `${host} answered ${status} for the bytes of ${shown}.`)
}
