import type { Db, Tx } from '../../db/index.ts'
import type { Profile } from './profile.ts'

/**
 * The data that a deleted account left for its verified e-mail address (docs/contract.md, section 3). A provider with which its owner
 * did not sign in counts only if accounts are linked across providers.
 */
export async function findKept(
  db: Db,
  { verifiedEmail, provider }: Profile,
  { linkByEmail }: { linkByEmail: boolean },
  tx: Tx,
): Promise<string | undefined> {
  if (!verifiedEmail) return undefined
  const kept = await db.rows<{ id: string; providers: string | null }>(
    `SELECT id, kept_providers AS providers FROM bucket WHERE kept_for = ? ORDER BY kept_until DESC${db.forUpdate}`,
    [verifiedEmail],
    tx,
  )
  // Null where the data was kept before providers were recorded.
  return kept.find(({ providers }) => linkByEmail || (providers?.split(' ').includes(provider) ?? true))?.id
}

export async function reattach(db: Db, userId: string, bucketId: string, tx: Tx): Promise<void> {
  await db.run(
    'UPDATE bucket SET user_id = ?, kept_for = NULL, kept_until = NULL, kept_providers = NULL WHERE id = ?',
    [userId, bucketId],
    tx,
  )
}

/** The same for an account that was created before its e-mail address was verified: replaces its own storage area, if that is empty. */
export async function exchange(
  db: Db,
  userId: string,
  profile: Profile,
  rules: { linkByEmail: boolean },
  tx: Tx,
): Promise<void> {
  const kept = await findKept(db, profile, rules, tx)
  if (!kept) return
  const [own] = await db.rows<{ id: string; rootId: string }>(
    `SELECT id, root_id AS rootId FROM bucket
     WHERE user_id = ? AND used_files = 0 AND used_folders = 0 AND reserved_files = 0 AND purging = 0${db.forUpdate}`,
    [userId],
    tx,
  )
  if (!own) return
  await db.run('DELETE FROM bucket WHERE id = ?', [own.id], tx)
  await db.run('DELETE FROM entry WHERE id = ?', [own.rootId], tx)
  await db.run('DELETE FROM note WHERE bucket_id = ?', [own.id], tx)
  await reattach(db, userId, kept, tx)
}
