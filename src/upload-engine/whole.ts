import { attempt } from './attempt.ts'
import { isFailure, TransferFailure } from './failure.ts'
import type { Aim, Job, Stored, Transport } from './job.ts'
import { persist } from './retry.ts'

/** Uploads a file in one request. @throws PATH_EXISTS, DIGEST_DIFFERS */
export async function uploadWhole<Body>(job: Job<Body>): Promise<Stored> {
  const { source, digests, aim, transport, progress, limit, patience } = job
  const { size } = source.fingerprint
  const md5 = await digests.whole(patience.signal)
  await source.verify()
  let mayHaveArrived = false
  const send = async () => {
    // Sent once more, a replacement would make another version.
    if (mayHaveArrived && (await isThere(job))) {
      progress.skip(size)
      return md5
    }
    try {
      return await attempt(job, size, observer =>
        transport.sendWhole(aim, { body: source.read(0, size), size }, observer),
      )
    } catch (error) {
      mayHaveArrived ||= isFailure(error, 'UNREACHABLE', 'UNAVAILABLE')
      throw error
    }
  }
  try {
    const received = await limit(() => persist(send, 'repeatable', patience))
    if (received !== md5) throw await undo(transport, aim, { sent: md5, received })
    return { size, md5, status: 'uploaded' }
  } catch (error) {
    if (!isFailure(error, 'PATH_EXISTS') || !(await isThere(job))) throw error
    progress.skip(size)
    return { size, md5, status: mayHaveArrived ? 'uploaded' : 'unchanged' }
  }
}

/** Deletes a file whose digest differs from what was sent. */
export async function undo(
  transport: Pick<Transport<unknown>, 'remove'>,
  aim: Aim,
  digests: { sent: string; received: string },
): Promise<TransferFailure> {
  const isRemoved = await transport.remove(aim).then(
    () => true,
    () => false,
  )
  const rest = isRemoved ? 'It was removed; try again.' : 'Remove it; try again.'
  return new TransferFailure('DIGEST_DIFFERS', `The stored file differs from what was sent. ${rest}`, digests)
}

/** Whether the service has these bytes under this name. */
export async function isThere<Body>({ source, digests, aim, transport, patience }: Job<Body>): Promise<boolean> {
  const found = await transport.find(aim)
  return found?.size === source.fingerprint.size && found.md5 === (await digests.whole(patience.signal))
}
