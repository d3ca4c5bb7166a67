import { isFailure, TransferFailure } from './failure.ts'
import type { Expected, Job, PartJob, Progress, Receipt, Stored } from './job.ts'
import { type Running, sendParts, sizeOfPart, whenIdle } from './parts.ts'
import { sleep } from './signal.ts'
import { findStored, uploadWhole } from './whole.ts'

/**
 * Files up to this size are sent in one request: three round trips would cost more than a retry.
 */
export const SMALL = 8 * 1024 * 1024

/**
 * Uploads a file. Large files are sent in parts, so that acknowledged parts are not sent again,
 * even after either side was killed. A path that has the same content already counts as uploaded.
 *
 * @throws PATH_EXISTS, FILE_CHANGED, DIGEST_DIFFERS, errors of the transport, and the reason of an
 * aborted signal
 */
export const upload = <Body>(job: Job<Body>): Promise<Stored> =>
  job.source.fingerprint.size > SMALL ? uploadInParts(job) : uploadWhole(job)

/**
 * Aborts the session of an upload that will not be resumed. If the service is unreachable, the
 * session expires within a day.
 */
export async function abandon<Body>({
  sessions,
  transport,
}: Pick<PartJob<Body>, 'sessions' | 'transport'>): Promise<void> {
  const session = await sessions.read()
  if (session) await transport.abort(session).catch(() => {})
  await sessions.remove()
}

/** How often an upload may start over, or miss parts at the end. */
const MAX_ROUNDS = 3
/** Polling interval for a completion. */
const POLL_MS = 1000

/** Errors after which an upload cannot be resumed. */
const fatal = ['UPLOAD_NOT_FOUND', 'CHECKSUM_MISMATCH', 'DIGEST_DIFFERS', 'FILE_CHANGED']

/** Like `upload`, but in parts whatever the size. */
export async function uploadInParts<Body>(given: PartJob<Body>): Promise<Stored> {
  for (let round = 1; ; round++) {
    const { progress, revert } = counted(given.progress)
    const job = { ...given, progress }
    const resumed = await resume(job)
    const running = resumed ?? (await start(job))
    if ('fileName' in running)
      return { ...running, size: job.source.fingerprint.size, status: 'unchanged' }
    try {
      const stored = await complete(running, await sendParts(running, job), job)
      await job.sessions.remove()
      return stored
    } catch (error) {
      if (isFailure(error, ...fatal)) await abandon(job)
      // The session expired or was aborted, or an earlier process ended before it resent a
      // corrupted part.
      const isLost =
        isFailure(error, 'UPLOAD_NOT_FOUND') ||
        (resumed !== null && isFailure(error, 'CHECKSUM_MISMATCH'))
      if (!isLost || round > Math.min(job.patience.retries, MAX_ROUNDS)) throw error
      revert()
    }
  }
}

/** Wraps a progress so that it can be reverted. */
function counted(progress: Progress): { progress: Progress; revert(): void } {
  let sum = 0
  return {
    progress: {
      move(count) {
        sum += count
        progress.move(count)
      },
      skip(count) {
        sum += count
        progress.skip(count)
      },
      checking: work => progress.checking(work),
      checked: share => progress.checked(share),
    },
    revert: () => progress.skip(-sum),
  }
}

/** Null if there is no upload to resume. */
async function resume<Body>(job: PartJob<Body>): Promise<Running | null> {
  const { source, sessions, transport, progress } = job
  const stored = await sessions.read()
  if (!stored) return null
  const { size, mtimeMs, ...session } = stored
  if (size !== source.fingerprint.size || mtimeMs !== source.fingerprint.mtimeMs) {
    // The file has changed, so its parts are useless.
    await abandon(job)
    return null
  }
  try {
    const received = new Set(await transport.received(session))
    for (const number of received) progress.skip(sizeOfPart(session, size, number))
    return { session, received, verified: new Map() }
  } catch (error) {
    if (!isFailure(error, 'UPLOAD_NOT_FOUND')) throw error
    await sessions.remove()
    return null
  }
}

/**
 * Resolves to the existing file if it has the same content.
 *
 * @throws PATH_EXISTS if its content differs
 */
async function start<Body>(job: PartJob<Body>): Promise<Running | Receipt> {
  const { source, sessions, transport, aim, progress } = job
  try {
    // If the response is lost, the upload expires within a day.
    const session = await transport.start(aim, source.fingerprint)
    await sessions.write({ ...session, ...source.fingerprint })
    return { session, received: new Set(), verified: new Map() }
  } catch (error) {
    const found = isFailure(error, 'PATH_EXISTS') ? await findStored(job) : undefined
    if (!found) throw error
    progress.skip(source.fingerprint.size)
    return found
  }
}

async function complete<Body>(
  running: Running,
  given: Expected,
  job: PartJob<Body>,
): Promise<Stored> {
  const { source, transport, aim, progress, patience } = job
  const { session, received, verified } = running
  let expected = given
  const { size } = source.fingerprint
  const finish = async () => {
    let answer = await transport.complete(session, aim, expected)
    while ('checked' in answer) {
      progress.checked(answer.checked / size)
      await sleep(POLL_MS, patience.signal)
      answer = await transport.outcome(session)
    }
    return answer
  }
  for (let round = 1; ; round++)
    try {
      const stored = await progress.checking(whenIdle(finish, patience.signal))
      if (!('md5' in expected) || stored.md5 === expected.md5)
        return { ...stored, size, status: 'uploaded' }
      throw new TransferFailure('DIGEST_DIFFERS', 'The stored file differs from the sent one.', {
        sent: expected.md5,
        received: stored.md5,
      })
    } catch (error) {
      const found = isFailure(error, 'UPLOAD_NOT_FOUND', 'PATH_EXISTS')
        ? await findStored(job)
        : undefined
      // The response to an earlier attempt or process may have been lost.
      if (found && isFailure(error, 'UPLOAD_NOT_FOUND'))
        return { ...found, size, status: 'uploaded' }
      if (found) {
        await abandon(job)
        return { ...found, size, status: 'unchanged' }
      }
      if (!isFailure(error, 'UPLOAD_INCOMPLETE') || round >= MAX_ROUNDS) throw error
      const { missing } = error.details
      if (Array.isArray(missing))
        for (const number of missing) {
          verified.delete(Number(number))
          if (!received.delete(Number(number))) continue
          progress.skip(-sizeOfPart(session, size, Number(number)))
        }
      expected = await sendParts(running, job)
    }
}
