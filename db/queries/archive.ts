import type { Db } from '../index.ts'
import { FILE, FOLDER } from '../models/entry.ts'
import { byId, inParts, placeholders } from './sql.ts'

/**
 * The columns of an entry that an archive needs. The size is in bytes, the time in milliseconds
 * since 1970, the checksum in lower-case hex.
 */
export interface ArchivedRow {
  id: string
  parentId: string
  kind: typeof FOLDER | typeof FILE
  name: string
  blobId: string | null
  size: number
  /** The number of entries below a folder. */
  entries: number
  modifiedAt: number
  crc32: string | null
}

const SELECT = `SELECT e.id, e.parent_id AS parentId, e.kind, e.name, e.blob_id AS blobId,
    e.total_bytes AS size,
    e.total_files + e.total_folders AS entries,
    COALESCE(e.modified_at, e.content_at, e.created_at) AS modifiedAt, b.crc32
  FROM entry e
  LEFT JOIN blobs b ON b.id = e.blob_id
  WHERE`

/** The number of rows that one statement reads. SQLite reads in the thread that serves requests. */
const AT_ONCE = 2000
const FOLDERS_AT_ONCE = 200

/** Some entries by id. */
export const archivedEntries = (db: Db, ids: string[]): Promise<ArchivedRow[]> =>
  db.rows(`${SELECT} e.id IN (${placeholders(ids)})`, ids)

/** The contents of some folders, in batches, in no order. */
export async function* archivedBelow(
  db: Db,
  folders: readonly Pick<ArchivedRow, 'id' | 'entries'>[],
): AsyncGenerator<ArchivedRow[]> {
  const isSmall = ({ entries }: Pick<ArchivedRow, 'entries'>) =>
    entries <= AT_ONCE / FOLDERS_AT_ONCE
  for (const some of inParts(folders.filter(isSmall), FOLDERS_AT_ONCE))
    yield await db.rows<ArchivedRow>(
      `${SELECT} e.parent_id IN (${placeholders(some)})`,
      some.map(({ id }) => id),
    )
  for (const { id } of folders.filter(folder => !isSmall(folder)))
    for (const kind of [FOLDER, FILE])
      for (let after: string | undefined = ''; after !== undefined; ) {
        const rows: ArchivedRow[] = await db.rows<ArchivedRow>(
          `${SELECT} e.parent_id = ? AND e.kind = ? AND e.name > ? ORDER BY e.name LIMIT ${AT_ONCE}`,
          [id, kind, after],
        )
        yield rows
        after = rows.length < AT_ONCE ? undefined : rows.at(-1)?.name
      }
}

/** Stores checksums of blobs that had none, in lower-case hex. */
export async function noteChecksums(db: Db, sums: ReadonlyMap<string, string>): Promise<void> {
  for (const part of inParts([...sums], 100))
    await db.run(
      `UPDATE blobs
       SET crc32 = ${byId(part.length)}
       WHERE id IN (${placeholders(part)})
         AND crc32 IS NULL`,
      [...part.flat(), ...part.map(([id]) => id)],
    )
}
