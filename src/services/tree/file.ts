import type { Tx } from '../../../db/index.ts'
import { FILE, FOLDER } from '../../../db/models/entry.ts'
import { type Node, resolveChain } from '../../../db/queries/entry-path.ts'
import type { Writer } from '../../access/caller.ts'
import { START_BYTES } from '../../formats/signature.ts'
import { peek } from '../../runtime/peek.ts'
import { mediaTypeOfBytes, mediaTypeOfPart } from '../../values/media.ts'
import { requireModifiedAt } from '../../values/modified-at.ts'
import type { OnConflict } from '../../values/on-conflict.ts'
import { joinPath, parseFilePath, parseName, parsePath } from '../../values/paths.ts'
import type { Tree } from '../../values/tree.ts'
import type { Upload, UploadFields } from '../../values/upload.ts'
import { noteArrival } from './arrival.ts'
import type { BlobService, StagedBlob } from './blob.ts'
import { type Destination, freeName, refuseTaken } from './conflict.ts'
import { addEntry, addUsage, pathExists, prepareFolder, type TreeChange } from './entry.ts'
import { fileNotFound, findEntry, namesOfFolder, pathIn } from './entry-path.ts'
import type { TreeDeps } from './entry-removal.ts'
import type { FileView } from './listing.ts'
import type { PreviewService } from './preview.ts'
import type { UploadLimits } from './quota.ts'
import { type ExpectedRevision, isGiven, requireRevision } from './revision.ts'
import type { VersionService } from './version.ts'

/** A stored content about to become a file or the new content of a file. */
interface Made {
  fileType: string
  caller: Writer
  at: number
  /** The modification time that the client reported, or null. */
  modifiedAt: number | null
}

interface Deps extends Pick<TreeDeps, 'db' | 'changeTree'> {
  blobs: BlobService
  versions: VersionService
  previews: PreviewService
}

export function fileService({ db, blobs, changeTree, versions, previews }: Deps) {
  /** The file at a path. @throws FILE_NOT_FOUND */
  async function locate(
    tree: Tree,
    names: string[],
    tx?: Tx,
  ): Promise<{ node: Node; above: Node[] }> {
    const found = await findEntry(db, tree, names, tx)
    if (found?.node.kind !== FILE) throw fileNotFound(tree, names)
    return found
  }

  /**
   * Creates a file from a blob whose usage is already recorded.
   * @throws PATH_EXISTS, QUOTA_EXCEEDED for folders
   */
  async function create(
    tree: Tree,
    blob: StagedBlob,
    names: string[],
    { fileType, caller, at, modifiedAt }: Made,
    change: TreeChange,
  ): Promise<FileView> {
    const { tx, by } = change
    const totals = { bytes: blob.size, files: 1, folders: 0 }
    const name = names.at(-1) ?? ''
    const arrivals = [{ name, weight: totals, levelsBelow: 0, bytesBelow: 0 }]
    const { parentId, foldersMade } = await prepareFolder(
      db,
      tree,
      { folder: names.slice(0, -1), arrivals },
      change,
    )
    if (foldersMade > 0) await addUsage(db, tree, { bytes: 0, files: 0, folders: foldersMade }, tx)
    const { id: blobId, md5 } = blob
    const made = {
      parentId,
      kind: FILE,
      name,
      totals,
      blobId,
      fileType,
      md5,
      by,
      at,
      modifiedAt,
    } as const
    const id = await addEntry(db, tree, made, tx)
    const details = { path: pathIn(tree, names), bytes: blob.size, md5 }
    const claimed = caller.via === 'file_request' ? { sender: caller.name } : {}
    change.record({ kind: 'file.created', subject: id, details: { ...details, ...claimed } })
    if (caller.via === 'file_request')
      await noteArrival(db, caller, { blobId, id, size: blob.size }, tx)
    const times = { createdAt: at, updatedAt: at, modifiedAt: modifiedAt ?? at }
    return {
      id,
      names,
      fileType,
      size: blob.size,
      md5,
      createdBy: by,
      ...times,
      revision: 1,
      contentRevision: 1,
    }
  }

  /**
   * Within a change of the tree, creates a file from a stored blob or replaces the content of the
   * existing one, and turns the reservation into usage.
   * @throws PATH_EXISTS; QUOTA_EXCEEDED if new folders exceed the limit; UNAUTHENTICATED, FORBIDDEN
   * if the caller has lost the right meanwhile
   */
  async function save(
    tree: Tree,
    blob: StagedBlob,
    { names: planned, folderId, below, onConflict, expected }: Destination,
    made: Made,
    change: TreeChange,
  ): Promise<FileView> {
    const { fileType, caller, at, modifiedAt } = made
    const { tx, by, record, trunk } = change
    await blobs.settle(tree, blob, caller, tx)
    await previews.order({ blobId: blob.id, fileType, size: blob.size }, tx)
    const decides = onConflict !== 'fail' || isGiven(expected)
    const { names, there } = trunk?.file
      ? { names: [trunk.file.name], there: { node: trunk.file.node, above: [] } }
      : await placeOf(tree, { names: planned, folderId, below, decides }, tx)
    requireRevision(there?.node, expected)
    if (!there || onConflict === 'fail') return create(tree, blob, names, made, change)
    if (onConflict === 'keep_both') {
      const name = await freeName(db, there.above.at(-1)?.id ?? tree.rootId, names.at(-1) ?? '', tx)
      return create(tree, blob, [...names.slice(0, -1), name], made, change)
    }
    if (there.node.kind !== FILE) throw pathExists(tree, names)
    const { id: blobId, size, md5 } = blob
    const content = { blobId, fileType, size, md5, createdBy: by, createdAt: at, modifiedAt }
    const { createdBy, createdAt, revision, contentRevision } = await versions.replace(
      tree,
      there,
      { content, at },
      caller,
      change,
    )
    const { id } = there.node
    record({
      kind: 'file.replaced',
      subject: id,
      details: { path: pathIn(tree, names), bytes: size, md5 },
    })
    const times = { createdAt, updatedAt: at, modifiedAt: modifiedAt ?? at }
    return {
      ...{ id, names, fileType, size, md5, createdBy },
      ...times,
      revision: revision + 1,
      contentRevision: contentRevision + 1,
    }
  }

  /**
   * The place of a file and the existing entry there. One statement if the folder given by id has
   * not moved.
   * @param decides whether the existing entry matters
   * @throws FOLDER_NOT_FOUND, INVALID_PATH
   */
  async function placeOf(
    tree: Tree,
    {
      names,
      folderId,
      below = 0,
      decides,
    }: Pick<Destination, 'names' | 'folderId' | 'below'> & { decides: boolean },
    tx: Tx,
  ): Promise<{ names: string[]; there: { node: Node; above: Node[] } | undefined }> {
    if (folderId === undefined)
      return { names, there: decides ? await findEntry(db, tree, names, tx) : undefined }
    const chain = await resolveChain(db, tree, names, tx)
    const depth = names.length - 1 - below
    const above = chain.slice(0, names.length - 1)
    const last =
      above.length < depth
        ? undefined
        : depth === 0
          ? { id: tree.rootId, kind: FOLDER }
          : above[depth - 1]
    const node = above.length < names.length - 1 ? undefined : chain[above.length]
    if (last?.id === folderId && last.kind === FOLDER) {
      const inTheWay = below > 0 && above[depth]?.kind === FILE
      if (!inTheWay) return { names, there: node && { node, above } }
      const free = await freeName(db, folderId, names[depth] ?? '', tx)
      return { names: names.with(depth, free), there: undefined }
    }
    const folder = await namesOfFolder(db, tree, { id: folderId }, 'folder', tx)
    const now = parseFilePath(joinPath([...folder, ...names.slice(-1 - below)]), 'folder')
    const isThere = joinPath(now) === joinPath(names)
    return placeOf(
      tree,
      { names: now, folderId: isThere ? undefined : folderId, below, decides },
      tx,
    )
  }

  return {
    locate,
    save,
    refuseTaken: (tree: Tree, to: Destination) => refuseTaken(db, tree, to),

    /**
     * Uploads a file from a stream and creates missing folders. A failed upload leaves nothing
     * behind.
     * @param to the destination, unless the form sends it after the bytes
     * @param decide reads the conflict rule
     * @param isSeen whether the caller has already checked the existing entry and refused what can
     * be refused before the bytes
     * @throws INVALID_PATH, PATH_EXISTS, REVISION_MISMATCH, FILE_TOO_LARGE, QUOTA_EXCEEDED,
     * UNAUTHENTICATED, FORBIDDEN
     */
    async upload(
      tree: Tree,
      upload: Upload,
      {
        to,
        folderId,
        below,
        expected,
        decide,
        limits,
        isSeen = false,
      }: {
        to: UploadFields
        folderId?: string
        below?: number
        expected?: ExpectedRevision
        isSeen?: boolean
        decide: (choice: string | null | undefined) => OnConflict
        limits: UploadLimits
      },
      caller: Writer,
    ): Promise<FileView> {
      const name = parseName(upload.filename, 'file')
      const destinationOf = ({ folder, onConflict }: UploadFields): Destination => ({
        names: parseFilePath(joinPath([...parsePath(folder ?? '', 'folder'), name]), 'folder'),
        folderId,
        below,
        onConflict: decide(onConflict),
        expected,
      })
      requireModifiedAt(to.modifiedAt)
      const planned = upload.fieldsAfterwards ? undefined : destinationOf(to)
      if (planned && !isSeen) await refuseTaken(db, tree, planned)
      const { start, source } = await peek(upload.source, START_BYTES)
      const fileType = mediaTypeOfBytes(mediaTypeOfPart(name, upload.mimetype), name, start)
      const staged = await blobs.stage(tree, source, {
        limits,
        contentType: fileType,
        bound: upload.bound,
        signal: upload.signal,
      })
      try {
        const fields = upload.fieldsAfterwards ? await upload.fieldsAfterwards() : to
        const destination = planned ?? destinationOf(fields)
        const made = {
          fileType,
          caller,
          at: Date.now(),
          modifiedAt: requireModifiedAt(fields.modifiedAt),
        }
        const file = await changeTree(tree, caller, change =>
          save(tree, staged, destination, made, change),
        )
        blobs.settled(staged.id)
        previews.ordered(file)
        return file
      } catch (error) {
        await blobs.abandon(tree, staged.id, error)
        throw error
      }
    },
  }
}

export type FileService = ReturnType<typeof fileService>
