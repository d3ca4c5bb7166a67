import type { Db, Tx } from '../../../db/index.ts'
import {
  type Concerned,
  isShrunk,
  lastOfAccounts,
  newlyOverDrives,
  type OverDrive,
  overDrives,
  type PlanChange,
} from '../../../db/queries/plan.ts'
import { enqueueAll } from '../job.ts'
import { mailJob } from '../notices/mail.ts'

/** The number of mails that one statement queues. */
const BATCH = 500

/** The number of accounts whose drives one statement reads. */
const ACCOUNTS_AT_ONCE = 5000

/**
 * Changes limits of an account or a workspace, and queues a mail to each owner whose drive now
 * exceeds its limits but did not exceed the old ones.
 * @param link the link in the mail to the account's storage
 * @returns the drives that exceed their limits now and did not before
 */
export async function changeLimits(
  db: Db,
  { concerned, link, tx }: { concerned: Concerned; link: string; tx: Tx },
  work: () => Promise<unknown>,
): Promise<OverDrive[]> {
  const before = new Set((await overDrives(db, concerned, tx)).map(({ bucketId }) => bucketId))
  await work()
  const after = (await overDrives(db, concerned, tx)).filter(
    ({ bucketId }) => !before.has(bucketId),
  )
  await queueMails(db, after, link, tx)
  return after
}

/**
 * Queues the same mails after a change of a plan. Uploads wait for the lock of a plan, and a plan
 * may have very many accounts. So this runs after the commit, in short transactions. If the process
 * is killed meanwhile, owners see only the notice in the console.
 * @returns whether mails were queued
 */
export async function announceShrunkPlan(
  db: Db,
  changed: PlanChange,
  link: string,
): Promise<boolean> {
  let queued = false
  if (!isShrunk(changed)) return queued
  for (let from = ''; ; ) {
    const to = await lastOfAccounts(db, from, ACCOUNTS_AT_ONCE)
    if (to === undefined) return queued
    const over = await newlyOverDrives(db, changed, { from, to })
    if (over.length > 0) await db.transaction(tx => queueMails(db, over, link, tx))
    queued ||= over.length > 0
    from = to
  }
}

async function queueMails(db: Db, drives: OverDrive[], link: string, tx: Tx): Promise<void> {
  const mails = drives.flatMap(({ email, bucketId: _id, ...values }) =>
    // An e-mail address that no provider has verified may belong to another person.
    email === null
      ? []
      : [{ template: 'over-quota' as const, to: email, values: { ...values, link } }],
  )
  for (let sent = 0; sent < mails.length; sent += BATCH)
    await enqueueAll(db, mailJob, mails.slice(sent, sent + BATCH), tx)
}
