import { attempt } from './attempt.ts'
import { isFailure, TransferFailure } from './failure.ts'
import type { Job, Session } from './job.ts'
import { persist } from './retry.ts'
import { linkSignal, sleep } from './signal.ts'

/** A session and the numbers of the parts that the service has. */
export interface Running {
  session: Session
  received: Set<number>
}

export const sizeOfPart = ({ chunkSize }: Session, size: number, number: number): number =>
  Math.min(chunkSize, size - (number - 1) * chunkSize)

/**
 * Sends the missing parts, several at a time. Each is digested before it is sent, and read a second time then, from the cache of the
 * system: no part is held in memory. Resolves to the MD5 of the file.
 * @throws FILE_CHANGED
 */
export async function sendParts<Body>({ session, received }: Running, job: Job<Body>): Promise<string> {
  const { source, digests, limit, patience } = job
  const own = linkSignal(patience.signal)
  const { signal } = own
  const linked = { ...job, patience: { ...patience, signal } }
  const sending = new Set<Promise<void>>()
  try {
    for (let number = 1; number <= session.partCount; number++) {
      if (received.has(number)) continue
      const md5 = await digests.part(number, session.chunkSize)
      signal.throwIfAborted()
      const part = limit(() => sendPart(session, number, md5, linked))
        .then(() => void received.add(number))
        .catch(own.end)
        .finally(() => sending.delete(part))
      sending.add(part)
      // Reading too far ahead would read twice from the disk.
      if (sending.size > limit.concurrency + 1) await Promise.race(sending)
    }
    await Promise.all(sending)
    signal.throwIfAborted()
  } catch (error) {
    own.end(error)
    await Promise.all(sending)
    throw signal.reason
  } finally {
    own.release()
  }
  const md5 = await digests.whole(patience.signal)
  await source.verify()
  return md5
}

/** How often one part may be corrupted in transit. */
const MAX_CORRUPT = 5

async function sendPart<Body>(session: Session, number: number, md5: string, job: Job<Body>): Promise<void> {
  const { source, transport, patience } = job
  const size = sizeOfPart(session, source.fingerprint.size, number)
  const offset = (number - 1) * session.chunkSize
  const send = () =>
    attempt(job, size, observer =>
      transport.sendPart(session, { number, size, md5, body: source.read(offset, size) }, observer),
    )
  for (let round = 1; ; round++)
    try {
      return await whenIdle(() => persist(send, 'repeatable', patience), patience.signal)
    } catch (error) {
      // Corrupted in transit.
      if (!isFailure(error, 'CHECKSUM_MISMATCH')) throw error
      if (round > Math.min(patience.retries, MAX_CORRUPT))
        throw new TransferFailure('UNREACHABLE', `Part ${number} is corrupted in transit every time.`)
      // The file may have changed after it was digested.
      await source.verify()
    }
}

/** Waits while the service completes the upload, perhaps for an earlier request, and refuses others with UPLOAD_BUSY. */
export async function whenIdle<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (;;)
    try {
      return await work()
    } catch (error) {
      if (!isFailure(error, 'UPLOAD_BUSY')) throw error
      await sleep((error.retryAfter ?? 1) * 1000, signal)
    }
}
