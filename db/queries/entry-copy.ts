import type { Db, Tx } from '../index.ts'
import { EntryCopy } from '../models/entry-copy.ts'
import { EntryCopyFolder } from '../models/entry-copy-folder.ts'
import type { Totals } from './bucket.ts'
import { byId, inParts, insertion, placeholders, selection } from './sql.ts'

const columns = selection(EntryCopy)

type NewCopy = Pick<EntryCopy, 'id' | 'userId' | 'bucketId' | 'plan' | 'entries' | 'bytes'> & {
  stageId: string
  copied: Totals
  reserved: { files: number; bytes: number }
}

export async function insertCopy(
  db: Db,
  { copied, reserved, ...copy }: NewCopy,
  tx: Tx,
): Promise<void> {
  const counts = {
    copiedFiles: copied.files,
    copiedFolders: copied.folders,
    copiedBytes: copied.bytes,
    reservedFiles: reserved.files,
    reservedBytes: reserved.bytes,
  }
  const none = { result: null, failure: null, endedAt: null }
  await db.run(
    ...insertion(EntryCopy, [
      { ...copy, ...counts, ...none, state: 'copying', createdAt: Date.now() },
    ]),
    tx,
  )
}

const toCopy = (row: EntryCopy): EntryCopy => ({
  ...row,
  entries: Number(row.entries),
  bytes: Number(row.bytes),
  copiedFiles: Number(row.copiedFiles),
  copiedFolders: Number(row.copiedFolders),
  copiedBytes: Number(row.copiedBytes),
  reservedFiles: Number(row.reservedFiles),
  reservedBytes: Number(row.reservedBytes),
  createdAt: Number(row.createdAt),
})

export async function findCopy(db: Db, id: string): Promise<EntryCopy | undefined> {
  const row = await db.row<EntryCopy>(`SELECT ${columns} FROM entry_copy WHERE id = ?`, [id])
  return row && toCopy(row)
}

/** Locks an active copy until the transaction ends. */
export async function lockCopy(db: Db, id: string, tx: Tx): Promise<EntryCopy | undefined> {
  const sql = `SELECT ${columns} FROM entry_copy WHERE id = ? AND state = 'copying'${db.forUpdate}`
  const row = await db.row<EntryCopy>(sql, [id], tx)
  return row && toCopy(row)
}

/** The copies of a user, newest first. */
export async function copiesOf(db: Db, userId: string, limit: number): Promise<EntryCopy[]> {
  const sql = `SELECT ${columns} FROM entry_copy WHERE user_id = ? ORDER BY id DESC LIMIT ${limit}`
  return (await db.rows<EntryCopy>(sql, [userId])).map(toCopy)
}

/** Records further copied and reserved amounts. */
export async function addCopied(
  db: Db,
  id: string,
  by: Totals,
  reserved: { files: number; bytes: number },
  tx: Tx,
): Promise<void> {
  await db.run(
    `UPDATE entry_copy
     SET copied_files = copied_files + ?, copied_folders = copied_folders + ?,
       copied_bytes = copied_bytes + ?,
       reserved_files = reserved_files + ?, reserved_bytes = reserved_bytes + ?
     WHERE id = ?`,
    [by.files, by.folders, by.bytes, reserved.files, reserved.bytes, id],
    tx,
  )
}

/** Ends a locked copy. The caller has released its reservation. */
export async function endCopy(
  db: Db,
  { id, state, result, failure }: Pick<EntryCopy, 'id' | 'state' | 'result' | 'failure'>,
  tx: Tx,
): Promise<void> {
  await db.run('DELETE FROM entry_copy_folder WHERE copy_id = ?', [id], tx)
  await db.run(
    `UPDATE entry_copy
     SET state = ?, result = ?, failure = ?, stage_id = NULL, reserved_files = 0,
       reserved_bytes = 0, ended_at = ?
     WHERE id = ?`,
    [state, result, failure, Date.now(), id],
    tx,
  )
}

export async function insertCopyFolders(db: Db, rows: EntryCopyFolder[], tx: Tx): Promise<void> {
  for (const part of inParts(rows, 100)) await db.run(...insertion(EntryCopyFolder, part), tx)
}

/** Some folders to fill, latest first, so that there are never many. */
export const foldersToFill = (
  db: Db,
  copyId: string,
  limit: number,
  tx: Tx,
): Promise<EntryCopyFolder[]> =>
  db.rows(
    `SELECT ${selection(EntryCopyFolder)}
     FROM entry_copy_folder
     WHERE copy_id = ?
     ORDER BY id DESC
     LIMIT ${limit}`,
    [copyId],
    tx,
  )

export async function deleteCopyFolders(db: Db, ids: string[], tx: Tx): Promise<void> {
  if (ids.length > 0)
    await db.run(`DELETE FROM entry_copy_folder WHERE id IN (${placeholders(ids)})`, ids, tx)
}

export const setLastName = (
  db: Db,
  { id, lastName }: Pick<EntryCopyFolder, 'id' | 'lastName'>,
  tx: Tx,
) => db.run('UPDATE entry_copy_folder SET last_name = ? WHERE id = ?', [lastName, id], tx)

/** Moves copies to a folder, under these names by id. */
export async function placeCopies(
  db: Db,
  parentId: string,
  names: Map<string, string>,
  tx: Tx,
): Promise<void> {
  for (const part of inParts([...names], 100))
    await db.run(
      `UPDATE entry
       SET parent_id = ?, name = ${byId(part.length)}, updated_at = ?
       WHERE id IN (${placeholders(part)})`,
      [parentId, ...part.flat(), Date.now(), ...part.map(([id]) => id)],
      tx,
    )
}

/** The detached folders among these that contain unfinished copies. */
export async function stagesAmong(db: Db, ids: string[]): Promise<Set<string>> {
  const sql = `SELECT stage_id AS id FROM entry_copy WHERE stage_id IN (${placeholders(ids)})`
  return new Set((await db.rows<{ id: string }>(sql, ids)).map(({ id }) => id))
}
