import { attempt } from './attempt.ts'
import { isFailure, TransferFailure } from './failure.ts'
import type { Aim, Job, PartJob, Receipt, Stored, Transport } from './job.ts'
import { persist } from './retry.ts'

/**
 * Uploads a file in one request.
 *
 * @throws PATH_EXISTS, DIGEST_DIFFERS
 */
export async function uploadWhole<Body>(job: Job<Body>): Promise<Stored> {
  const { source, digests, aim, transport, progress, limit, patience } = job
  const { size } = source.fingerprint
  const md5 = await digests.whole(patience.signal)
  await source.verify()
  let mayHaveArrived = false
  const send = async () => {
    // Sending a replacement again would create another version.
    const arrived = mayHaveArrived ? await findStored(job) : undefined
    if (arrived) {
      progress.skip(size)
      return arrived
    }
    try {
      return await attempt(job, size, observer =>
        transport.sendWhole(
          aim,
          { ...source.fingerprint, body: source.read(0, size).body },
          observer,
        ),
      )
    } catch (error) {
      mayHaveArrived ||= isFailure(error, 'UNREACHABLE', 'UNAVAILABLE')
      throw error
    }
  }
  try {
    const received = await limit(() => persist(send, 'repeatable', patience))
    if (received.md5 !== md5) throw await undo(transport, aim, md5, received)
    return { ...received, size, status: 'uploaded' }
  } catch (error) {
    const found = isFailure(error, 'PATH_EXISTS') ? await findStored(job) : undefined
    if (!found) throw error
    progress.skip(size)
    return { ...found, size, status: mayHaveArrived ? 'uploaded' : 'unchanged' }
  }
}

/** Deletes a file whose digest differs from the sent bytes. */
export async function undo(
  transport: Pick<Transport<unknown>, 'remove'>,
  { folder }: Aim,
  sent: string,
  { md5: received, fileName }: Receipt,
): Promise<TransferFailure> {
  const isRemoved = await transport.remove({ folder, fileName }).then(
    () => true,
    () => false,
  )
  const rest = isRemoved ? 'It was removed; try again.' : 'Remove it; try again.'
  return new TransferFailure(
    'DIGEST_DIFFERS',
    `The stored file differs from the sent one. ${rest}`,
    {
      sent,
      received,
    },
  )
}

/** The existing file that has the content of this upload. */
export async function findStored<Body>(job: PartJob<Body>): Promise<Receipt | undefined> {
  const { source, digests, aim, transport, patience } = job
  const found = (await transport.find(aim)).filter(({ size }) => size === source.fingerprint.size)
  if (found.length === 0) return undefined
  const md5 = await digests.whole(patience.signal)
  const same = found.find(file => file.md5 === md5)
  return same && { md5, fileName: same.fileName }
}
