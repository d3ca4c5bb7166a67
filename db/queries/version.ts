import { contentTime, isPictured } from '../../src/formats/picture.ts'
import type { Db, Tx } from '../index.ts'
import type { Entry } from '../models/entry.ts'
import { Version } from '../models/version.ts'
import { releaseBlobs } from './blob.ts'
import { firstOfEach, type Page, pageOf } from './page.ts'
import { picturedAtOfBlob } from './picture.ts'
import { contentRevisionOf, inParts, insertion, placeholders } from './sql.ts'

/** The content of a file: its author and its time in milliseconds since 1970. */
export type Content = Pick<
  Version,
  'blobId' | 'fileType' | 'md5' | 'createdBy' | 'createdAt' | 'modifiedAt'
> & {
  size: number
}

/** The modification time of a content: its upload time, unless the client reported another one. */
export const modifiedAtOf = ({
  modifiedAt,
  createdAt,
}: Pick<Content, 'modifiedAt' | 'createdAt'>): number => modifiedAt ?? createdAt

/** A previous content of a file. */
export type VersionRow = Content & Pick<Version, 'id' | 'bucketId' | 'entryId' | 'replacedAt'>

const columns = `id, bucket_id AS bucketId, entry_id AS entryId, blob_id AS blobId, file_type AS fileType, md5, bytes AS size,
  created_by AS createdBy, created_at AS createdAt, modified_at AS modifiedAt, replaced_at AS replacedAt`

/**
 * The current state of a file. Its content is the one with which it was created, until another one
 * replaces it.
 */
export interface CurrentFile extends Pick<Entry, 'createdBy' | 'createdAt' | 'revision'> {
  contentRevision: number
  content: Content
}

export async function currentFile(
  db: Db,
  entryId: string,
  tx: Tx,
): Promise<CurrentFile | undefined> {
  const row = await db.row<
    Content & Pick<Entry, 'contentBy' | 'contentAt' | 'revision'> & { contentRevision: number }
  >(
    `SELECT blob_id AS blobId, file_type AS fileType, total_bytes AS size, md5,
       created_by AS createdBy, created_at AS createdAt,
       content_by AS contentBy, content_at AS contentAt, modified_at AS modifiedAt, revision,
       ${contentRevisionOf('entry')} AS contentRevision
     FROM entry
     WHERE id = ?
       AND blob_id IS NOT NULL`,
    [entryId],
    tx,
  )
  if (!row) return undefined
  const { createdBy, createdAt, contentBy, contentAt, revision, contentRevision, ...bytes } = row
  const made =
    contentAt === null
      ? { createdBy, createdAt }
      : { createdBy: contentBy, createdAt: Number(contentAt) }
  return { content: { ...bytes, ...made }, createdBy, createdAt, revision, contentRevision }
}

/** Replaces the content of a file. The caller updates the totals above it. */
export async function setContent(
  db: Db,
  entryId: string,
  content: Content,
  at: number,
  tx: Tx,
): Promise<void> {
  const isPicture = isPictured(content.fileType)
  await db.run(
    `UPDATE entry
     SET blob_id = ?, file_type = ?, md5 = ?, total_bytes = ?, content_by = ?, content_at = ?,
       modified_at = ?, updated_at = ?,
       pictured_at = ${isPicture ? picturedAtOfBlob : 'NULL'}, revision = revision + 1
     WHERE id = ?`,
    [
      ...[
        content.blobId,
        content.fileType,
        content.md5,
        content.size,
        content.createdBy,
        content.createdAt,
      ],
      ...[content.modifiedAt, at],
      ...(isPicture ? [content.blobId, contentTime(content.modifiedAt, content.createdAt)] : []),
      entryId,
    ],
    tx,
  )
}

export async function insertVersion(db: Db, version: VersionRow, tx: Tx): Promise<void> {
  await db.run(...insertion(Version, [{ ...version, bytes: version.size }]), tx)
}

/** The versions of some files, newest first. The page of each file starts after the same id. */
export function pagesOfVersions(
  db: Db,
  entryIds: string[],
  limit: number,
  after: string | null,
): Promise<Map<string, Page<VersionRow>>> {
  return firstOfEach<VersionRow>(
    db,
    `SELECT ${columns} FROM version WHERE entry_id = ?${after === null ? '' : ' AND id < ?'}`,
    { order: 'id DESC', owners: entryIds, values: after === null ? [] : [after], limit },
  )
}

/** Some versions of any files by id. */
export function versionsByIds(db: Db, ids: readonly string[], tx?: Tx): Promise<VersionRow[]> {
  return db.rows(`SELECT ${columns} FROM version WHERE id IN (${placeholders(ids)})`, [...ids], tx)
}

/** A version in a bucket. */
export const versionIn = (
  db: Db,
  bucketId: string,
  id: string,
  tx?: Tx,
): Promise<VersionRow | undefined> =>
  db.row(`SELECT ${columns} FROM version WHERE id = ? AND bucket_id = ?`, [id, bucketId], tx)

/**
 * Versions of a file beyond the newest ones.
 * @param kept the id of a version that stays, whatever the clock showed when it was made
 * @param others how many others stay
 */
export function versionsBeyond(
  db: Db,
  entryId: string,
  { kept, others, limit }: { kept: string | null; others: number; limit: number },
  tx: Tx,
): Promise<VersionRow[]> {
  return db.rows(
    `SELECT ${columns}
     FROM version
     WHERE entry_id = ?
       AND id <> ?
     ORDER BY id DESC
     LIMIT ${limit} OFFSET ${others}`,
    [entryId, kept ?? ''],
    tx,
  )
}

/** The versions of some files. */
export async function versionsOf(db: Db, entryIds: string[], tx?: Tx): Promise<VersionRow[]> {
  const found: VersionRow[] = []
  for (const part of inParts(entryIds, 500))
    found.push(
      ...(await db.rows<VersionRow>(
        `SELECT ${columns} FROM version WHERE entry_id IN (${placeholders(part)})`,
        part,
        tx,
      )),
    )
  return found
}

/** The oldest versions in a locked bucket. */
export function oldestVersions(
  db: Db,
  bucketId: string,
  limit: number,
  tx: Tx,
): Promise<VersionRow[]> {
  return db.rows(
    `SELECT ${columns} FROM version WHERE bucket_id = ? ORDER BY id LIMIT ${limit}`,
    [bucketId],
    tx,
  )
}

/** Some versions replaced before a time, oldest first. */
export function versionsBefore(
  db: Db,
  time: number,
  limit: number,
): Promise<{ id: string; bucketId: string }[]> {
  return db.rows(
    `SELECT id, bucket_id AS bucketId
     FROM version
     WHERE replaced_at < ?
     ORDER BY replaced_at
     LIMIT ${limit}`,
    [time],
  )
}

/** Deletes rows whose content became that of a file again. */
export async function deleteVersionRows(db: Db, ids: string[], tx: Tx): Promise<void> {
  await db.run(`DELETE FROM version WHERE id IN (${placeholders(ids)})`, ids, tx)
}

/**
 * Deletes versions of a locked bucket with their bytes.
 * @param others the blobs of files that are deleted, too: one statement locks all blobs, in the
 * order of all transactions
 */
export async function deleteVersions(
  db: Db,
  bucketId: string,
  versions: Pick<VersionRow, 'id' | 'blobId' | 'size'>[],
  tx: Tx,
  others: string[] = [],
): Promise<void> {
  const ids = versions.map(version => version.id)
  for (const part of inParts(ids, 500)) await deleteVersionRows(db, part, tx)
  await releaseBlobs(db, [...others, ...versions.map(version => version.blobId)], tx)
  if (versions.length === 0) return
  const bytes = versions.reduce((sum, version) => sum + version.size, 0)
  await db.run('UPDATE bucket SET kept_bytes = kept_bytes - ? WHERE id = ?', [bytes, bucketId], tx)
}

/**
 * Subtracts the old content of a file from the usage of its bucket. The new content counts as
 * another file by now.
 */
export async function uncountReplaced(
  db: Db,
  bucketId: string,
  { size, kept }: { size: number; kept: boolean },
  tx: Tx,
): Promise<void> {
  await db.run(
    `UPDATE bucket
     SET used_bytes = used_bytes - ?, used_files = used_files - 1, kept_bytes = kept_bytes + ?
     WHERE id = ?`,
    [size, kept ? size : 0, bucketId],
    tx,
  )
}

/**
 * Releases the bytes of permanently deleted files and deletes their versions. The bucket must be
 * locked.
 */
export async function releaseFiles(
  db: Db,
  bucketId: string,
  files: Pick<Entry, 'id' | 'blobId'>[],
  tx: Tx,
): Promise<void> {
  const versions = await versionsOf(
    db,
    files.map(file => file.id),
    tx,
  )
  await deleteVersions(db, bucketId, versions, tx, blobsOf(files))
}

/** The blobs that some files refer to. */
export const blobsOf = (files: Pick<Entry, 'blobId'>[]): string[] =>
  files.flatMap(({ blobId }) => blobId ?? [])

/**
 * The versions of all files of a bucket, first replaced first.
 * @param after an id, or empty
 */
export async function versionsOfBucket(
  db: Db,
  bucketId: string,
  limit: number,
  after: string,
): Promise<Page<VersionRow>> {
  const sql = `SELECT ${columns}
    FROM version
    WHERE bucket_id = ?
      AND id > ?
    ORDER BY id
    LIMIT ${limit + 1}`
  return pageOf(await db.rows(sql, [bucketId, after]), limit)
}
