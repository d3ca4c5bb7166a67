import type { Db, Tx } from '../../../db/index.ts'
import { type Concerned, type OverDrive, overDrives } from '../../../db/queries/plan.ts'
import { enqueueAll } from '../notices/outbox.ts'

/** How many mails one statement queues. */
const BATCH = 500

/**
 * Changes limits, and queues a mail to each owner whose drive uses more than the new limits allow and did not exceed the old ones. The owner
 * of a workspace receives the mail about it.
 * @param link of the storage of an account, in the mail
 * @returns the drives that are over their limits now and were not before
 */
export async function changeLimits(
  db: Db,
  { concerned, link, tx }: { concerned: Concerned; link: string; tx: Tx },
  work: () => Promise<unknown>,
): Promise<OverDrive[]> {
  const before = new Set((await overDrives(db, concerned, tx)).map(({ bucketId }) => bucketId))
  await work()
  const after = (await overDrives(db, concerned, tx)).filter(({ bucketId }) => !before.has(bucketId))
  const mails = after.flatMap(({ email, bucketId: _id, ...values }) =>
    // An e-mail address that no provider has verified may belong to another person.
    email === null ? [] : [{ template: 'over-quota' as const, to: email, values: { ...values, link } }],
  )
  for (let sent = 0; sent < mails.length; sent += BATCH)
    await enqueueAll(db, 'mail', mails.slice(sent, sent + BATCH), tx)
  return after
}
