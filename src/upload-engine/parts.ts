import { attempt } from './attempt.ts'
import { joinCrc32 } from './crc32.ts'
import { isFailure, TransferFailure } from './failure.ts'
import type { Expected, PartJob, Session } from './job.ts'
import { persist } from './retry.ts'
import { linkSignal, sleep } from './signal.ts'

/** A session and the numbers of the parts that the service has. */
export interface Running {
  session: Session
  received: Set<number>
  /** CRC-32 of the parts whose first response matched the sent bytes, in lower-case hex. */
  verified: Map<number, string>
}

export const sizeOfPart = ({ chunkSize }: Session, size: number, number: number): number =>
  Math.min(chunkSize, size - (number - 1) * chunkSize)

/**
 * Sends the missing parts, several at a time, and verifies the checksum of each stored part.
 * Resolves to the checksum of the file: the CRC-32 combined from its parts. If some parts were sent
 * by an earlier process or more than once, or if the service reports no checksums, it is an MD5
 * instead, and the file is read again.
 *
 * @throws FILE_CHANGED
 */
export async function sendParts<Body>(running: Running, job: PartJob<Body>): Promise<Expected> {
  const { session, received, verified } = running
  const { source, digests, limit, patience } = job
  const own = linkSignal(patience.signal)
  const { signal } = own
  const linked = { ...job, patience: { ...patience, signal } }
  const sending = new Set<Promise<void>>()
  try {
    for (let number = 1; number <= session.partCount; number++) {
      if (received.has(number)) continue
      signal.throwIfAborted()
      const part = limit(() => sendPart(session, number, linked))
        .then(crc32 => {
          received.add(number)
          if (crc32 !== undefined) verified.set(number, crc32)
        })
        .catch(own.end)
        .finally(() => sending.delete(part))
      sending.add(part)
      if (sending.size > limit.concurrency) await Promise.race(sending)
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
  const expected =
    verified.size === session.partCount
      ? { crc32: joined(running, source.fingerprint.size) }
      : { md5: await digests.whole(patience.signal) }
  await source.verify()
  return expected
}

const joined = ({ session, verified }: Running, size: number): string =>
  joinCrc32(
    [...verified]
      .sort(([a], [b]) => a - b)
      .map(([number, crc32]) => ({ crc32, size: sizeOfPart(session, size, number) })),
  )

/** How often one part may be corrupted in transit. */
const MAX_CORRUPT = 5

/** @returns the CRC-32 of a part that was sent once and arrived intact */
async function sendPart<Body>(
  session: Session,
  number: number,
  job: PartJob<Body>,
): Promise<string | undefined> {
  const { source, transport, patience } = job
  const size = sizeOfPart(session, source.fingerprint.size, number)
  const offset = (number - 1) * session.chunkSize
  let attempts = 0
  const send = () =>
    attempt(job, size, async observer => {
      attempts++
      const { body, crc32 } = source.read(offset, size)
      const stored = await transport.sendPart(session, { number, size, body }, observer)
      if (stored !== undefined && stored !== (await crc32())) throw damaged(number)
      return attempts === 1 ? stored : undefined
    })
  for (let round = 1; ; round++)
    try {
      return await whenIdle(() => persist(send, 'repeatable', patience), patience.signal)
    } catch (error) {
      if (!isFailure(error, 'CHECKSUM_MISMATCH')) throw error
      if (round > Math.min(patience.retries, MAX_CORRUPT))
        throw new TransferFailure(
          'UNREACHABLE',
          `Part ${number} is corrupted in transit every time.`,
        )
      // The file may have changed while it was read.
      await source.verify()
    }
}

const damaged = (number: number) =>
  new TransferFailure(
    'CHECKSUM_MISMATCH',
    `The stored bytes of part ${number} differ from the sent ones.`,
  )

/**
 * Waits while the service is completing the upload, perhaps for an earlier request, and therefore
 * responds with UPLOAD_BUSY.
 */
export async function whenIdle<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (;;)
    try {
      return await work()
    } catch (error) {
      if (!isFailure(error, 'UPLOAD_BUSY')) throw error
      await sleep((error.retryAfter ?? 1) * 1000, signal)
    }
}
