import { validate as isUuid } from 'uuid'
import type { Db, Tx } from '../../db/index.ts'
import { FILE, type FOLDER } from '../../db/models/entry.ts'
import type { Caller } from '../auth/caller.ts'
import { AppError, InvalidInput } from '../errors.ts'
import { parseFilePath, parsePath } from '../paths.ts'
import { fileNotFound, findEntry, pathsOfFolders, placeholders, type Tree } from './entry-path.ts'
import { type PageArgs, readCursor, readLimit, writeCursor } from './page.ts'
import { firstOfEach } from './range.ts'

/** A file as responses show it. Sizes in bytes, times in milliseconds since 1970. */
export interface FileView {
  id: string
  /** The names from the root down, the file's own last. */
  names: string[]
  fileType: string
  size: number
  md5: string
  createdBy: string | null
  createdAt: number
  updatedAt: number
}

/** A folder in a listing. Its size in bytes and its number of files are those of everything below it. */
export interface FolderView {
  id: string
  name: string
  size: number
  fileCount: number
  createdBy: string | null
  createdAt: number
  updatedAt: number
}

/** A row of a listing. */
export interface EntryRow {
  id: string
  kind: number
  name: string
  fileType: string
  size: number
  /** Number of files below a folder; 1 for a file. */
  fileCount: number
  md5: string
  createdBy: string | null
  createdAt: number
  updatedAt: number
}

const entryColumns =
  'id, kind, name, file_type AS fileType, total_bytes AS size, total_files AS fileCount, md5, created_by AS createdBy, created_at AS createdAt, updated_at AS updatedAt'

/** A file or folder found by path or id; only a file has a blob. */
export interface FoundEntry extends FileView {
  kind: number
  blobId: string | null
}

type FoundRow = EntryRow & { blobId: string | null }

/** Queries of a tree. */
export function listingService({ db }: { db: Db }) {
  return {
    /**
     * One level of a tree: folders first, then files, both by name. An unknown path is an empty folder.
     * Reads only the entries of the path, those of the page, and one more row to know whether another page follows.
     */
    async level(
      tree: Tree,
      path: string,
      page: PageArgs,
    ): Promise<{ names: string[]; folders: FolderView[]; files: FileView[]; nextCursor: string | null }> {
      const names = parsePath(path, 'path')
      const limit = readLimit(page.limit)
      const after = readCursor(page.cursor, ['number', 'string'])
      const nothing = { names, folders: [], files: [], nextCursor: null }
      const found = names.length > 0 ? await findEntry(db, tree, names) : undefined
      if (names.length > 0 && (!found || found.node.kind === FILE)) return nothing
      const rows = await levelOf(found?.node.id ?? tree.rootId, limit + 1, after)
      const more = rows.length > limit
      if (more) rows.pop()
      const last = rows.at(-1)
      const firstFile = rows.findIndex(r => r.kind === FILE)
      const split = firstFile < 0 ? rows.length : firstFile
      return {
        names,
        folders: rows.slice(0, split),
        files: rows.slice(split).map(row => toFileView(row, [...names, row.name])),
        nextCursor: more && last ? writeCursor([last.kind, last.name]) : null,
      }
    },

    /** All files of a tree, oldest first, with their paths: those below folders that are being purged are left out. */
    async listAll(tree: Tree, page: PageArgs): Promise<{ files: FileView[]; nextCursor: string | null }> {
      const limit = readLimit(page.limit, true)
      const after = readCursor(page.cursor, ['id'], true)
      const rows = await db.rows<EntryRow & { parentId: string }>(
        `SELECT ${entryColumns}, parent_id AS parentId FROM entry WHERE bucket_id = ? AND kind = ${FILE} AND id > ? ORDER BY id LIMIT ${limit + 1}`,
        [tree.bucketId, after?.[0] ?? ''],
      )
      const more = rows.length > limit
      if (more) rows.pop()
      const folders = await pathsOfFolders(
        db,
        [tree.rootId],
        rows.map(r => r.parentId),
      )
      const files = rows.flatMap(row => {
        const folder = folders.get(row.parentId)
        return folder ? [toFileView(row, [...folder, row.name])] : []
      })
      const last = rows.at(-1)
      return { files, nextCursor: more && last ? writeCursor([last.id]) : null }
    },

    /** One kind of children of some folders, by name; each folder's page starts after its own cursor. */
    childrenOf: (folderIds: string[], kind: typeof FILE | typeof FOLDER, limit: number, after: string | null) =>
      firstOfEach<EntryRow>(
        db,
        `SELECT parent_id AS owner, ${entryColumns} FROM entry WHERE parent_id = ? AND kind = ${kind} AND name > ?`,
        { order: 'name', owners: folderIds, values: [after ?? ''], limit },
      ),

    /** The workspace of the caller whose tree contains an entry; null if there is none. */
    async workspaceOf({ userId }: Caller, id: string): Promise<string | null> {
      const [row] = await db.rows<{ workspaceId: string }>(
        `SELECT b.workspace_id AS workspaceId FROM entry e JOIN bucket b ON b.id = e.bucket_id
         JOIN member m ON m.workspace_id = b.workspace_id WHERE e.id = ? AND m.user_id = ?`,
        [id, userId],
      )
      return row?.workspaceId ?? null
    },

    /** An entry of this tree by its id, with its path; null when it does not exist, or is below a folder that is being purged. */
    async byId(tree: Tree, id: string, tx?: Tx): Promise<FoundEntry | null> {
      const [row] = await db.rows<FoundRow & { parentId: string | null }>(
        `SELECT ${entryColumns}, parent_id AS parentId, blob_id AS blobId FROM entry WHERE id = ? AND bucket_id = ?`,
        [id, tree.bucketId],
        tx,
      )
      if (row?.id === tree.rootId) return toFoundEntry(row, [])
      if (!row?.parentId) return null
      const folder = (await pathsOfFolders(db, [tree.rootId], [row.parentId], tx)).get(row.parentId)
      return folder ? toFoundEntry(row, [...folder, row.name]) : null
    },

    /** The file or folder at a path; null when there is none. */
    async byPath(tree: Tree, path: string, tx?: Tx): Promise<FoundEntry | null> {
      const names = parseFilePath(path, 'path')
      const found = await findEntry(db, tree, names, tx)
      if (!found) return null
      const [row] = await db.rows<FoundRow>(
        `SELECT ${entryColumns}, blob_id AS blobId FROM entry WHERE id = ?`,
        [found.node.id],
        tx,
      )
      return row ? toFoundEntry(row, names) : null
    },

    /** The file with this id or this path; exactly one must be given. @throws FILE_NOT_FOUND, INVALID_INPUT, INVALID_PATH */
    async file(
      tree: Tree,
      by: { id?: string | null | undefined; path?: string | null | undefined },
      tx?: Tx,
    ): Promise<FoundEntry & { blobId: string }> {
      if (!by.id === !by.path) throw new InvalidInput('file_id', 'Give either the id or the path of the file.')
      const found = by.id
        ? isUuid(by.id)
          ? await this.byId(tree, by.id, tx)
          : null
        : await this.byPath(tree, by.path ?? '', tx)
      const { blobId } = found ?? {}
      if (found && blobId) return { ...found, blobId }
      if (!by.id) throw fileNotFound(tree, parsePath(by.path ?? ''))
      throw new AppError('FILE_NOT_FOUND', 'There is no file with this id here. Use an id from a listing.', {
        file_id: by.id,
      })
    },

    /** The e-mail addresses of some users, in one statement. */
    async emailsOf(userIds: Iterable<string | null>): Promise<Map<string, string>> {
      const ids = [...new Set(userIds)].filter(id => id !== null)
      const rows =
        ids.length > 0
          ? await db.rows<{ id: string; email: string }>(
              `SELECT id, email FROM user WHERE id IN (${placeholders(ids)})`,
              ids,
            )
          : []
      return new Map(rows.map(({ id, email }) => [id, email]))
    },

    /** Whether the tree holds a file of this content; one below a folder that is being purged does not count. */
    async holds(tree: Tree, md5: string): Promise<boolean> {
      const rows = await db.rows(
        `WITH RECURSIVE up (id) AS (
           SELECT parent_id FROM entry WHERE bucket_id = ? AND md5 = ?
           UNION SELECT e.parent_id FROM up JOIN entry e ON e.id = up.id
         ) SELECT id FROM up WHERE id = ?`,
        [tree.bucketId, md5, tree.rootId],
      )
      return rows.length > 0
    },
  }

  /** One range of one index, in the order of the listing. */
  function levelOf(folderId: string, count: number, after: [number, string] | null): Promise<EntryRow[]> {
    const select = `SELECT ${entryColumns} FROM entry WHERE parent_id = ?`
    const order = `ORDER BY kind, name LIMIT ${count}`
    if (!after) return db.rows(`${select} ${order}`, [folderId])
    const [kind, name] = after
    if (kind === FILE) return db.rows(`${select} AND kind = ${FILE} AND name > ? ${order}`, [folderId, name])
    return db.rows(`${select} AND ((kind < ${FILE} AND name > ?) OR kind = ${FILE}) ${order}`, [folderId, name])
  }
}

export type ListingService = ReturnType<typeof listingService>

const toFoundEntry = (row: FoundRow, names: string[]): FoundEntry => ({
  ...toFileView(row, names),
  kind: row.kind,
  blobId: row.blobId,
})

function toFileView(row: EntryRow, names: string[]): FileView {
  return {
    id: row.id,
    names,
    fileType: row.fileType,
    size: row.size,
    md5: row.md5,
    createdBy: row.createdBy,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
  }
}
