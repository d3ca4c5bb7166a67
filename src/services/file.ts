import type { Db, Tx } from '../../db/index.ts'
import { FILE } from '../../db/models/entry.ts'
import type { Caller } from '../auth/caller.ts'
import { InvalidInput } from '../errors.ts'
import { MAX_DELETED_FILES } from '../limits.ts'
import { mediaTypeOfPart } from '../media.ts'
import { joinPath, parseFilePath, parseName, parsePath } from '../paths.ts'
import type { Upload } from '../upload.ts'
import type { BlobService, StagedBlob } from './blob.ts'
import {
  addTotals,
  addUsage,
  changesOf,
  insertEntry,
  lockTree,
  minus,
  moveEntry,
  pathExists,
  prepareParent,
  weightOf,
} from './entry.ts'
import { fileNotFound, findEntry, type Node, placeholders, resolveChain, type Tree } from './entry-path.ts'
import type { EventService } from './event.ts'
import { markBlobsForDeletion } from './ledger.ts'
import type { FileView, ListingService } from './listing.ts'
import type { BucketLimits } from './quota.ts'

interface Deps {
  db: Db
  blobs: BlobService
  listings: ListingService
  events: EventService
}

export function fileService({ db, blobs, listings, events }: Deps) {
  const change = changesOf(db, events)

  /** The file at a path. @throws FILE_NOT_FOUND */
  async function locate(tree: Tree, names: string[], tx?: Tx): Promise<{ node: Node; above: Node[] }> {
    const found = await findEntry(db, tree, names, tx)
    if (found?.node.kind !== FILE) throw fileNotFound(tree, names)
    return found
  }

  /**
   * Creates the entry of a stored blob within a change of its tree, and turns its reservation into usage. @returns its id
   * @throws PATH_EXISTS, QUOTA_EXCEEDED for folders, UNAUTHENTICATED and FORBIDDEN when the caller has lost the right meanwhile
   */
  async function create(
    tree: Tree,
    blob: StagedBlob,
    names: string[],
    { fileType, caller, at }: { fileType: string; caller: Caller; at: number },
    tx: Tx,
  ): Promise<string> {
    const by = caller.userId
    await blobs.settle(tree, blob, caller, tx)
    const totals = { bytes: blob.size, files: 1, folders: 0 }
    const load = { weight: totals, levelsBelow: 0, bytesBelow: 0 }
    const { parentId, foldersMade } = await prepareParent(db, tree, names, load, by, tx)
    if (foldersMade > 0) await addUsage(db, tree, { bytes: 0, files: 0, folders: foldersMade }, tx)
    const name = names.at(-1) ?? ''
    const { id: blobId, md5 } = blob
    return insertEntry(db, tree, { parentId, kind: FILE, name, totals, blobId, fileType, md5, by, at }, tx)
  }

  /** Refuses an upload early whose path exists already. The unique index decides finally. @throws PATH_EXISTS */
  async function refuseTaken(tree: Tree, names: string[]): Promise<void> {
    if (await findEntry(db, tree, names)) throw pathExists(tree, names)
  }

  return {
    locate,
    create,
    refuseTaken,

    /**
     * Uploads a file from a stream and creates missing folders. A failed upload leaves nothing behind.
     * @throws INVALID_PATH, PATH_EXISTS, FILE_TOO_LARGE, QUOTA_EXCEEDED, UNAUTHENTICATED, FORBIDDEN
     */
    async upload(
      tree: Tree,
      upload: Upload,
      folder: string | null | undefined,
      limits: BucketLimits,
      caller: Caller,
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
        const id = await change(tree, tx => create(tree, staged, names, { fileType, caller, at }, tx))
        blobs.settled(staged.id)
        const { size, md5 } = staged
        return { id, names, fileType, size, md5, createdBy: caller.userId, createdAt: at, updatedAt: at }
      } catch (error) {
        await blobs.abandon(tree, staged.id, error)
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
      await change(tree, async tx => {
        await lockTree(db, tree, tx)
        await moveEntry(db, tree, await locate(tree, from, tx), to, by, tx)
      })
      return { source: from, destination: to }
    },

    /** Moves a file, given by its id, into a folder; it keeps its name. */
    async moveInto(
      tree: Tree,
      id: string,
      folder: string,
      by: string,
    ): Promise<{ source: string[]; destination: string[] }> {
      const into = parsePath(folder, 'destination')
      return change(tree, async tx => {
        await lockTree(db, tree, tx)
        const { names: source } = await listings.file(tree, { id }, tx)
        const destination = parseFilePath(joinPath([...into, ...source.slice(-1)]), 'destination')
        await moveEntry(db, tree, await locate(tree, source, tx), destination, by, tx)
        return { source, destination }
      })
    },

    /** Deletes a file and its shares. @returns its path */
    async remove(tree: Tree, named: { path: string; field: string } | { id: string }): Promise<string[]> {
      const path = 'path' in named ? parseFilePath(named.path, named.field) : null
      return change(tree, async tx => {
        await lockTree(db, tree, tx)
        const names = path ?? (await listings.file(tree, named, tx)).names
        const { node, above } = await locate(tree, names, tx)
        await addTotals(db, above, minus(weightOf(node)), tx)
        await forgetFiles(tree, [node], tx)
        return names
      })
    },

    /** Deletes the files that exist, in one transaction. @returns the paths of the deleted files, and of those not found */
    async removeMany(tree: Tree, paths: string[]): Promise<{ deleted: string[]; failed: string[] }> {
      if (paths.length < 1 || paths.length > MAX_DELETED_FILES)
        throw new InvalidInput('files', 'Name 1 to 1,000 files.')
      const parsed = paths.map(text => parseFilePath(text, 'files'))
      const wanted = new Map(parsed.map(names => [joinPath(names), names]))
      return change(tree, async tx => {
        await lockTree(db, tree, tx)
        const gone = new Set<string>()
        for (const { folder, names } of groupByFolder([...wanted.values()])) {
          const above = await resolveChain(db, tree, folder, tx)
          const files =
            above.length === folder.length ? await filesNamed(above.at(-1)?.id ?? tree.rootId, names, tx) : []
          for (const { name } of files) gone.add(joinPath([...folder, name]))
          const bytes = files.reduce((sum, f) => sum + f.bytes, 0)
          await addTotals(db, above, { bytes: -bytes, files: -files.length, folders: 0 }, tx)
          await forgetFiles(tree, files, tx)
        }
        const all = [...wanted.keys()]
        return { deleted: all.filter(path => gone.has(path)), failed: all.filter(path => !gone.has(path)) }
      })
    },
  }

  async function filesNamed(
    folderId: string,
    names: string[],
    tx: Tx,
  ): Promise<{ id: string; name: string; blobId: string | null; bytes: number }[]> {
    return db.rows(
      `SELECT id, name, blob_id AS blobId, total_bytes AS bytes FROM entry WHERE parent_id = ? AND kind = ${FILE} AND name IN (${placeholders(names)})`,
      [folderId, ...names],
      tx,
    )
  }

  /** Deletes files of a locked tree with their shares, marks their blobs for deletion, and updates the usage of the tree. */
  async function forgetFiles(
    tree: Tree,
    files: { id: string; blobId: string | null; bytes: number }[],
    tx: Tx,
  ): Promise<void> {
    if (files.length === 0) return
    const ids = files.map(f => f.id)
    await db.run(`DELETE FROM share WHERE entry_id IN (${placeholders(ids)})`, ids, tx)
    await db.run(`DELETE FROM entry WHERE id IN (${placeholders(ids)})`, ids, tx)
    await markBlobsForDeletion(
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

/** Groups files by folder, to look up and account for each group together. */
function groupByFolder(files: string[][]): { folder: string[]; names: string[] }[] {
  const groups = new Map<string, { folder: string[]; names: string[] }>()
  for (const path of files) {
    const folder = path.slice(0, -1)
    const group = groups.get(joinPath(folder)) ?? { folder, names: [] }
    group.names.push(path.at(-1) ?? '')
    groups.set(joinPath(folder), group)
  }
  return [...groups.values()]
}
