import type { Db, Tx } from '../../db/index.ts'
import { FILE, type FOLDER } from '../../db/models/entry.ts'
import { AppError, InvalidInput } from '../errors.ts'
import { mediaTypeOfPart } from '../media.ts'
import { joinPath, parseFilePath, parseName, parsePath } from '../paths.ts'
import type { Upload } from '../upload.ts'
import { type BlobService, type BucketLimits, doomBlobs } from './blob.ts'
import {
  addTotals,
  addUsage,
  findEntry,
  insertEntry,
  lockTree,
  marks,
  minus,
  moveEntry,
  type Node,
  pathExists,
  pathsOfFolders,
  prepareParent,
  resolveChain,
  type Tree,
  weightOf,
} from './entry.ts'
import { type PageArgs, readCursor, readLimit, writeCursor } from './page.ts'

/** A file as the interface shows it. Sizes in bytes, times in milliseconds. */
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

/** A folder in a listing. */
export interface FolderView {
  id: string
  name: string
  createdBy: string | null
  createdAt: number
}

/** A row of a listing. */
export interface EntryRow {
  id: string
  kind: number
  name: string
  fileType: string
  size: number
  md5: string
  createdBy: string | null
  createdAt: number
  updatedAt: number
}

const entryColumns =
  'id, kind, name, file_type AS fileType, total_bytes AS size, md5, created_by AS createdBy, created_at AS createdAt, updated_at AS updatedAt'

const fileNotFound = (path: string) =>
  new AppError('FILE_NOT_FOUND', `There is no file "${path}". Check its path.`, { path })

export function fileService({ db, blobs }: { db: Db; blobs: BlobService }) {
  /** The file at a path, or FILE_NOT_FOUND. */
  async function locate(tree: Tree, names: string[], tx?: Tx): Promise<{ node: Node; above: Node[] }> {
    const found = await findEntry(db, tree, names, tx)
    if (found?.node.kind !== FILE) throw fileNotFound(joinPath(names))
    return found
  }

  return {
    locate,

    /**
     * One level of a tree: folders first, then files, both by name. An unknown path is an empty folder.
     * Three numbers of rows at most are read: the path, the page, and one row to know whether there is more.
     */
    async list(
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

    /**
     * Streams a file in. Missing folders on the way are made. Nothing is left when anything fails.
     * @throws INVALID_PATH, PATH_EXISTS, FILE_TOO_LARGE, QUOTA_EXCEEDED
     */
    async upload(
      tree: Tree,
      upload: Upload,
      folder: string | null | undefined,
      limits: BucketLimits,
      by: string,
    ): Promise<FileView> {
      const name = parseName(upload.filename, 'file')
      const fileType = mediaTypeOfPart(name, upload.mimetype)
      const placeFor = (f: string | null | undefined) =>
        parseFilePath(joinPath([...parsePath(f ?? '', 'folder'), name]), 'folder')
      if (!upload.folderAfterwards) await refuseTaken(tree, placeFor(folder))
      const staged = await blobs.stage(tree, upload.source, {
        limits,
        contentType: fileType,
        bound: upload.bound,
        signal: upload.signal,
      })
      try {
        const names = placeFor(upload.folderAfterwards ? await upload.folderAfterwards() : folder)
        const at = Date.now()
        const id = await db.transaction(async tx => {
          await blobs.settle(tree, staged, tx)
          const totals = { bytes: staged.size, files: 1, folders: 0 }
          const load = { weight: totals, levelsBelow: 0, bytesBelow: 0 }
          const { parentId, foldersMade } = await prepareParent(db, tree, names, load, by, tx)
          if (foldersMade > 0) await addUsage(db, tree, { bytes: 0, files: 0, folders: foldersMade }, tx)
          return insertEntry(
            db,
            tree,
            { parentId, kind: FILE, name, totals, blobId: staged.id, fileType, md5: staged.md5, by, at },
            tx,
          )
        })
        blobs.settled(staged.id)
        return { id, names, fileType, size: staged.size, md5: staged.md5, createdBy: by, createdAt: at, updatedAt: at }
      } catch (error) {
        await blobs.abandon(tree, staged.id)
        throw error
      }
    },

    /** Moves a file to a full path. Its bytes stay where they are. */
    async move(
      tree: Tree,
      source: string,
      destination: string,
      by: string,
    ): Promise<{ source: string[]; destination: string[] }> {
      const from = parseFilePath(source, 'source')
      const to = parseFilePath(destination, 'destination')
      await db.transaction(async tx => {
        await lockTree(db, tree, tx)
        await moveEntry(db, tree, await locate(tree, from, tx), to, by, tx)
      })
      return { source: from, destination: to }
    },

    /** Deletes a file, its shares with it. Answers its path. */
    async remove(tree: Tree, path: string): Promise<string[]> {
      const names = parseFilePath(path, 'file')
      await db.transaction(async tx => {
        await lockTree(db, tree, tx)
        const { node, above } = await locate(tree, names, tx)
        await addTotals(db, above, minus(weightOf(node)), tx)
        await forgetFiles(tree, [node], tx)
      })
      return names
    },

    /** Deletes the files that are there, in one transaction; answers the given texts, sorted into deleted and failed. */
    async removeMany(tree: Tree, paths: string[]): Promise<{ deleted: string[]; failed: string[] }> {
      if (paths.length < 1 || paths.length > 1000) throw new InvalidInput('files', 'Name 1 to 1,000 files.')
      const wanted = new Map<string, { text: string; names: string[] }>()
      for (const text of paths) {
        const names = parseFilePath(text, 'files')
        if (!wanted.has(joinPath(names))) wanted.set(joinPath(names), { text, names })
      }
      return db.transaction(async tx => {
        await lockTree(db, tree, tx)
        const deleted: string[] = []
        const failed: string[] = []
        for (const group of groupByFolder([...wanted.values()])) {
          const above = await resolveChain(db, tree, group.folder, tx)
          const files =
            above.length === group.folder.length
              ? await filesNamed(above.at(-1)?.id ?? tree.rootId, [...group.byName.keys()], tx)
              : []
          const names = new Set(files.map(f => f.name))
          for (const [name, text] of group.byName) (names.has(name) ? deleted : failed).push(text)
          const bytes = files.reduce((sum, f) => sum + f.bytes, 0)
          await addTotals(db, above, { bytes: -bytes, files: -files.length, folders: 0 }, tx)
          await forgetFiles(tree, files, tx)
        }
        return { deleted, failed }
      })
    },

    /** All files of a tree, oldest first, with their paths: those below folders that are being purged are left out. */
    async listAll(tree: Tree, page: PageArgs): Promise<{ files: FileView[]; nextCursor: string | null }> {
      const limit = readLimit(page.limit, true)
      const after = readCursor(page.cursor, ['string'], true)
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

    /** One kind of children of a folder, by name. One statement. */
    async children(
      folderId: string,
      kind: typeof FILE | typeof FOLDER,
      limit: number,
      after: string | null,
    ): Promise<{ rows: EntryRow[]; more: boolean }> {
      const rows = await db.rows<EntryRow>(
        `SELECT ${entryColumns} FROM entry WHERE parent_id = ? AND kind = ${kind} AND name > ? ORDER BY name LIMIT ${limit + 1}`,
        [folderId, after ?? ''],
      )
      const more = rows.length > limit
      if (more) rows.pop()
      return { rows, more }
    },

    /** An entry of this tree by its id, with its path; null when it is not there, or below a folder that is being purged. */
    async byId(tree: Tree, id: string): Promise<(FileView & { kind: number; blobId: string | null }) | null> {
      const [row] = await db.rows<EntryRow & { parentId: string | null; blobId: string | null }>(
        `SELECT ${entryColumns}, parent_id AS parentId, blob_id AS blobId FROM entry WHERE id = ? AND bucket_id = ?`,
        [id, tree.bucketId],
      )
      if (!row?.parentId) return null
      const folder = (await pathsOfFolders(db, [tree.rootId], [row.parentId])).get(row.parentId)
      return folder ? { ...toFileView(row, [...folder, row.name]), kind: row.kind, blobId: row.blobId } : null
    },

    /** The file or folder at a path; null when there is none. */
    async byPath(tree: Tree, path: string): Promise<(FileView & { kind: number }) | null> {
      const names = parseFilePath(path, 'path')
      const found = await findEntry(db, tree, names)
      if (!found) return null
      const [row] = await db.rows<EntryRow>(`SELECT ${entryColumns} FROM entry WHERE id = ?`, [found.node.id])
      return row ? { ...toFileView(row, names), kind: row.kind } : null
    },

    /** Whether the tree holds a file of this content; one below a folder that is being purged does not count. */
    async holds(tree: Tree, md5: string): Promise<boolean> {
      const rows = await db.rows<{ parentId: string }>(
        'SELECT DISTINCT parent_id AS parentId FROM entry WHERE bucket_id = ? AND md5 = ? LIMIT 1000',
        [tree.bucketId, md5],
      )
      if (rows.length === 0) return false
      return (
        (
          await pathsOfFolders(
            db,
            [tree.rootId],
            rows.map(r => r.parentId),
          )
        ).size > 0
      )
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

  /** Spares the bytes of an upload whose place is taken already. The index has the last word. */
  async function refuseTaken(tree: Tree, names: string[]): Promise<void> {
    if (await findEntry(db, tree, names)) throw pathExists(names)
  }

  async function filesNamed(
    folderId: string,
    names: string[],
    tx: Tx,
  ): Promise<{ id: string; name: string; blobId: string | null; bytes: number }[]> {
    return db.rows(
      `SELECT id, name, blob_id AS blobId, total_bytes AS bytes FROM entry WHERE parent_id = ? AND kind = ${FILE} AND name IN (${marks(names)})`,
      [folderId, ...names],
      tx,
    )
  }

  /** Ends files of a locked tree: their rows, their shares, their blobs, and the usage of the whole tree. */
  async function forgetFiles(
    tree: Tree,
    files: { id: string; blobId: string | null; bytes: number }[],
    tx: Tx,
  ): Promise<void> {
    if (files.length === 0) return
    const ids = files.map(f => f.id)
    await db.run(`DELETE FROM share WHERE entry_id IN (${marks(ids)})`, ids, tx)
    await db.run(`DELETE FROM entry WHERE id IN (${marks(ids)})`, ids, tx)
    await doomBlobs(
      db,
      files.flatMap(f => f.blobId ?? []),
      tx,
    )
    await addUsage(
      db,
      tree,
      { bytes: -files.reduce((sum, f) => sum + f.bytes, 0), files: -files.length, folders: 0 },
      tx,
    )
  }
}

export type FileService = ReturnType<typeof fileService>

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

/** Files that lie side by side are looked up and accounted for together. */
function groupByFolder(
  files: { text: string; names: string[] }[],
): { folder: string[]; byName: Map<string, string> }[] {
  const groups = new Map<string, { folder: string[]; byName: Map<string, string> }>()
  for (const { text, names } of files) {
    const folder = names.slice(0, -1)
    const group = groups.get(joinPath(folder)) ?? { folder, byName: new Map() }
    group.byName.set(names.at(-1) ?? '', text)
    groups.set(joinPath(folder), group)
  }
  return [...groups.values()]
}
