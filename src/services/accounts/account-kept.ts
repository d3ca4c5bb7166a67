import type { Db, Tx } from '../../../db/index.ts'
import { lockEmptyBucket, lockKept } from '../../../db/queries/bucket.ts'
import type { Profile } from './profile.ts'

/**
 * The data that a deleted account left for its verified e-mail address (docs/contract.md, section
 * 3). A provider with which its owner did not sign in counts only if accounts are linked across
 * providers.
 */
export async function findKept(
  db: Db,
  { verifiedEmail, provider }: Profile,
  { linkByEmail }: { linkByEmail: boolean },
  tx: Tx,
): Promise<string | undefined> {
  if (!verifiedEmail) return undefined
  const kept = await lockKept(db, verifiedEmail, tx)
  return kept.find(
    ({ providers }) => linkByEmail || (providers?.split(' ').includes(provider) ?? true),
  )?.id
}

export async function reattach(db: Db, userId: string, bucketId: string, tx: Tx): Promise<void> {
  const taken = { userId, keptFor: null, keptUntil: null, keptProviders: null }
  await db.Bucket.update(taken, { where: { id: bucketId }, transaction: tx })
}

/**
 * Like `findKept`, for an account that was created before its e-mail address was verified. The kept
 * data replaces its own storage area if that is empty.
 */
export async function exchange(
  db: Db,
  userId: string,
  profile: Profile,
  rules: { linkByEmail: boolean },
  tx: Tx,
): Promise<void> {
  const kept = await findKept(db, profile, rules, tx)
  if (!kept) return
  const own = await lockEmptyBucket(db, userId, tx)
  if (!own) return
  await db.Bucket.destroy({ where: { id: own.id }, transaction: tx })
  await db.Entry.destroy({ where: { id: own.rootId }, transaction: tx })
  await db.Note.destroy({ where: { bucketId: own.id }, transaction: tx })
  await reattach(db, userId, kept, tx)
}
