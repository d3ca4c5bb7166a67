import { DAY_MS } from '../../src/values/duration.ts'
import type { Db, Tx } from '../index.ts'
import { Preview } from '../models/preview.ts'
import { releaseBlobs } from './blob.ts'
import { insertion, placeholders, selection } from './sql.ts'

/** A blob with its checksum, if known, and its preview, if it has one. */
export type PreviewRow = { ofBlob: string; sha256: string | null } & {
  [Name in keyof Preview]: Preview[Name] | null
}

/** The previews of some blobs, in one statement. */
export const previewsOf = (db: Db, blobIds: string[]): Promise<PreviewRow[]> =>
  db.rows(
    `SELECT b.id AS ofBlob, b.sha256, ${selection(Preview, 'p')}
     FROM blobs b
     LEFT JOIN preview p ON p.digest = b.sha256
     WHERE b.id IN (${placeholders(blobIds)})`,
    blobIds,
  )

export interface Content {
  id: string
  bucketId: string
  size: number
  sha256: string | null
}

const live =
  "SELECT id, bucket_id AS bucketId, size, sha256 FROM blobs WHERE id = ? AND state = 'live'"

/** A blob, if it is live. */
export const liveBlob = (db: Db, id: string): Promise<Content | undefined> => db.row(live, [id])

/**
 * Stores the checksum of a blob.
 * @returns whether it is live
 */
export const setDigest = (db: Db, id: string, sha256: string, tx: Tx): Promise<boolean> =>
  db.changed("UPDATE blobs SET sha256 = ? WHERE id = ? AND state = 'live'", [sha256, id], tx)

/**
 * The version of the code that reads pictures. A higher number has failed previews tried again, and
 * the metadata of the others read again, when they are next listed.
 */
const READER = 1

/** The time after which a failed preview is retried, in milliseconds. */
const FAILED_MS = 7 * DAY_MS

/** The columns of a preview by which it is current. */
type Age = { [Name in 'state' | 'createdAt' | 'reader']: Preview[Name] | null }

/** Whether there is no preview and none should be made now. */
export const hasFailed = ({ state, createdAt, reader }: Age, now: number): boolean =>
  state === 'failed' && (reader ?? 0) >= READER && now - (createdAt ?? 0) < FAILED_MS

/** Whether there is a preview whose metadata an earlier version of the code has read. */
export const isOutdated = ({ state, reader }: Pick<Age, 'state' | 'reader'>): boolean =>
  state === 'made' && (reader ?? 0) < READER

const locked = (db: Db, sha256: string, tx: Tx) =>
  db.row<Pick<Preview, 'state' | 'leaseUntil' | 'blobId' | 'createdAt' | 'reader'>>(
    `SELECT state, lease_until AS leaseUntil, blob_id AS blobId, created_at AS createdAt, reader
     FROM preview
     WHERE digest = ?${db.forUpdate}`,
    [sha256],
    tx,
  )

/**
 * Claims the making of a preview until a time.
 * @returns `mine`; `done` if it exists or failed; or the end of another process's claim, which may
 * have died
 */
export async function claimPreview(
  db: Db,
  sha256: string,
  { now, until }: { now: number; until: number },
  tx: Tx,
): Promise<'mine' | 'done' | number> {
  const there = await locked(db, sha256, tx)
  if (there?.state === 'made' || (there && hasFailed(there, now))) return 'done'
  if (there && there.leaseUntil > now) return there.leaseUntil
  if (there)
    await db.run(
      `UPDATE preview
       SET state = 'making', reason = NULL, lease_until = ?, created_at = ?
       WHERE digest = ?`,
      [until, now, sha256],
      tx,
    )
  else {
    const row = { digest: sha256, state: 'making' as const, leaseUntil: until, createdAt: now }
    await db.run(...insertion(Preview, [row]), tx)
  }
  return 'mine'
}

export type Made = Omit<
  Preview,
  'digest' | 'state' | 'leaseUntil' | 'createdAt' | 'reason' | 'reader'
>

/** The known details of a picture without a preview. */
export type Failed = Pick<Made, 'takenAt' | 'details' | 'width' | 'height' | 'orientation'> & {
  reason: string
}

/** Stores the metadata of a content whose preview exists. */
export const setMetadata = (
  db: Db,
  digest: string,
  { takenAt, details }: Pick<Preview, 'takenAt' | 'details'>,
  tx: Tx,
): Promise<number> =>
  db.run(
    `UPDATE preview
     SET taken_at = ?, details = ?, reader = ?
     WHERE digest = ?
       AND state = 'made'`,
    [takenAt, details, READER, digest],
    tx,
  )

/**
 * Stores a claimed preview.
 * @returns false if the claim has expired or the content is gone
 */
export async function finishPreview(
  db: Db,
  claim: Claim,
  made: Made,
  source: string,
  tx: Tx,
): Promise<boolean> {
  const there = await locked(db, claim.digest, tx)
  if (there?.state !== 'making' || there.leaseUntil !== claim.until) return false
  if (!(await db.exists(`${live}${db.forUpdate}`, [source], tx))) return false
  const values = { ...made, state: 'made', leaseUntil: 0, reader: READER } as const
  await db.Preview.update(values, { where: { digest: claim.digest }, transaction: tx })
  return true
}

/** A claim on a preview. After its lease, another process may hold it with another end. */
export interface Claim {
  digest: string
  until: number
}

/**
 * Renews a claim.
 * @returns whether it was still held
 */
export const renewClaim = (db: Db, { digest, until }: Claim, next: number): Promise<boolean> => {
  const sql =
    "UPDATE preview SET lease_until = ? WHERE digest = ? AND state = 'making' AND lease_until = ?"
  return db.changed(sql, [next, digest, until])
}

/** Records that a preview failed, unless the content is gone. */
export async function failPreview(
  db: Db,
  claim: Claim,
  known: Failed,
  source: string,
  tx: Tx,
): Promise<void> {
  const there = await locked(db, claim.digest, tx)
  if (there?.state !== 'making' || there.leaseUntil !== claim.until) return
  if (!(await db.exists(`${live}${db.forUpdate}`, [source], tx)))
    return void (await dropClaim(db, claim, tx))
  const failed = { ...known, state: 'failed', leaseUntil: 0, reader: READER } as const
  await db.Preview.update(failed, { where: { digest: claim.digest }, transaction: tx })
}

/** Releases a preview that cannot be made for now. */
export const dropClaim = (db: Db, { digest, until }: Claim, tx: Tx): Promise<number> =>
  db.run(
    "DELETE FROM preview WHERE digest = ? AND state = 'making' AND lease_until = ?",
    [digest, until],
    tx,
  )

/** The known checksums of some blobs. */
export async function digestsOf(db: Db, ids: string[]): Promise<string[]> {
  const sql = `SELECT DISTINCT sha256
    FROM blobs
    WHERE id IN (${placeholders(ids)})
      AND sha256 IS NOT NULL`
  return (await db.rows<{ sha256: string }>(sql, ids)).map(row => row.sha256)
}

/**
 * Deletes the preview of a content that no live blob has.
 * @returns whether it existed
 */
export async function endUnusedPreview(db: Db, sha256: string, tx: Tx): Promise<boolean> {
  const there = await locked(db, sha256, tx)
  if (!there) return false
  if (
    await db.exists(
      "SELECT id FROM blobs WHERE sha256 = ? AND state = 'live' LIMIT 1",
      [sha256],
      tx,
    )
  )
    return false
  await endPreview(db, sha256, there.blobId, tx)
  return true
}

async function endPreview(db: Db, sha256: string, blobId: string | null, tx: Tx): Promise<void> {
  await db.run('DELETE FROM preview WHERE digest = ?', [sha256], tx)
  if (blobId) await releaseBlobs(db, [blobId], tx)
}

/** A preview without its object or its content. */
export interface BrokenPreview {
  id: string
  blobId: string | null
  unused: number
}

// A blob that waits for its deletion keeps its preview. The sweeper removes the preview before the
// row.
const unused = 'NOT EXISTS (SELECT 1 FROM blobs b WHERE b.sha256 = p.digest)'
const broken = `SELECT p.digest AS id, p.blob_id AS blobId, ${unused} AS unused
  FROM preview p
  LEFT JOIN blobs o ON o.id = p.blob_id
  WHERE ((p.state = 'made' AND (o.state IS NULL OR o.state <> 'live')) OR ${unused})`

export const brokenPreviewsAfter = (
  db: Db,
  digest: string,
  limit: number,
): Promise<BrokenPreview[]> =>
  db.rows(`${broken} AND p.digest > ? ORDER BY p.digest LIMIT ${limit}`, [digest])

/** Deletes a broken preview. It is made again at the next request. */
export async function removeBrokenPreview(db: Db, digest: string, tx: Tx): Promise<void> {
  await locked(db, digest, tx)
  const [there] = await db.rows<BrokenPreview>(`${broken} AND p.digest = ?`, [digest], tx)
  if (there) await endPreview(db, digest, there.blobId, tx)
}

/** Deletes the preview of an object whose bytes are gone. */
export async function removePreviewOf(db: Db, blobId: string, tx: Tx): Promise<void> {
  const there = await db.row<{ digest: string }>(
    'SELECT digest FROM preview WHERE blob_id = ?',
    [blobId],
    tx,
  )
  if (there) await endPreview(db, there.digest, blobId, tx)
}
