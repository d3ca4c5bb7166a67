import type { Db, Tx } from '../../../db/index.ts'
import { type Entry, FOLDER } from '../../../db/models/entry.ts'
import { entryById } from '../../../db/queries/entry-list.ts'
import type { LinkedShare } from '../../../db/queries/share.ts'
import { AppError, InvalidInput } from '../../runtime/errors.ts'
import { joinPath, parseFilePath, parsePath } from '../../values/paths.ts'
import { shareTitle } from '../../values/share-title.ts'
import type { Tree } from '../../values/tree.ts'
import type { ArchiveNaming } from '../archives/zip.ts'
import type { NamedCopy } from '../tree/entry-copy.ts'
import type { EntryListService } from '../tree/entry-list.ts'
import { locateEntries } from '../tree/entry-location.ts'
import { type EntryName, fileNotFound } from '../tree/entry-path.ts'
import type { FoundEntry, ListingService } from '../tree/listing.ts'
import { type SharedLevel, type SharedListArgs, shareListings } from './share-listing.ts'
import { areBelow, entriesAt, outermost, type Top, type Tops, topsOf } from './share-top.ts'

/** A file that a visitor may download. Its size is in bytes. */
interface SharedFile {
  blobId: string
  name: string
  fileType: string
  size: number
  md5: string
  /** The id of the file, for a share of a folder above it. */
  below?: string
}

/**
 * The target of a download: a file, or an archive of some entries whose name reveals nothing above
 * them.
 */
type Target =
  | { file: SharedFile; archive?: undefined }
  | {
      archive: { tree: Tree; named: EntryName[]; naming?: Pick<ArchiveNaming, 'called' | 'names'> }
      file?: undefined
    }

/** An entry in a share, as the visitor sees it. */
export type SeenEntry = Pick<
  FoundEntry,
  | 'id'
  | 'kind'
  | 'fileType'
  | 'size'
  | 'md5'
  | 'createdAt'
  | 'updatedAt'
  | 'modifiedAt'
  | 'revision'
  | 'contentRevision'
  | 'changeStamp'
>

const seen = (found: FoundEntry | Top | null): SeenEntry | null =>
  found && { ...found, fileType: 'contentType' in found ? found.contentType : found.fileType }

/** The names of the entries at the top. */
const namesOf = ({ all }: Tops) => new Map(all.map(({ id, name }) => [id, name]))

/** The target of a path in a share: down from the root of the share, or from one of its entries. */
interface Place {
  /** Null if the path leads nowhere. */
  root: { id: string; kind: Entry['kind'] } | null
  tree: Tree
  /** The names from the top of the share down to the root of the tree. */
  front: string[]
  /** The names from that root down. */
  names: string[]
}

/** @throws FILE_NOT_FOUND */
function sharedFile(tree: Tree, path: string, found: (FoundEntry | Top) | null): SharedFile {
  if (!found?.blobId) throw fileNotFound(tree, parsePath(path))
  const [name, fileType] =
    'names' in found ? [found.names.at(-1) ?? '', found.fileType] : [found.name, found.contentType]
  return { blobId: found.blobId, name, fileType, size: found.size, md5: found.md5, below: found.id }
}

/** The entry is the root. Paths lead down from it, so nothing above or beside it can be named. */
const treeOf = ({ bucketId, entryId }: Pick<LinkedShare, 'bucketId' | 'entryId'>): Tree => ({
  bucketId,
  rootId: entryId,
})

function placeOf(share: LinkedShare, tops: Tops | null, names: string[]): Place {
  const { bucketId, kind, entryId } = share
  if (!tops) return { root: { id: entryId, kind }, tree: treeOf(share), front: [], names }
  const root = tops.named(names[0]) ?? null
  return {
    root,
    tree: treeOf({ bucketId, entryId: root?.id ?? '' }),
    front: names.slice(0, 1),
    names: names.slice(1),
  }
}

/**
 * The visible contents of a share. They are looked up at each request, from where the entries are
 * now. Several entries form the top level of their share. Does not authorize: pass only shares that
 * the visitor may use.
 */
export function shareTree(db: Db, listings: ListingService, entryLists: EntryListService) {
  const lists = shareListings(db, entryLists)

  /** The entry at a path of a share of several. */
  async function foundIn(
    tops: Tops,
    { root, tree, names }: Place,
  ): Promise<Top | FoundEntry | null> {
    if (root === null) return null
    if (names.length === 0) return tops.all.find(({ id }) => id === root.id) ?? null
    return listings.byPath(tree, joinPath(names))
  }

  return {
    /**
     * The contents of a shared folder or of a folder below it, or the results of a search there.
     * @param address the address of the visitor
     * @throws FOLDER_NOT_FOUND, INVALID_PATH, INVALID_INPUT, UNAVAILABLE
     */
    async list(
      share: LinkedShare,
      { path, page, query }: SharedListArgs,
      address: string,
    ): Promise<SharedLevel> {
      const names = parsePath(path, 'path')
      const tops = await topsOf(db, share)
      if (tops && names.length === 0) return lists.top(tops, query, page, address)
      const { root, tree, front, names: below } = placeOf(share, tops, names)
      const found = root && below.length > 0 ? await listings.byPath(tree, joinPath(below)) : root
      if (found?.kind !== FOLDER)
        throw new AppError(
          'FOLDER_NOT_FOUND',
          'There is no such folder in this share. Check the path.',
          { path },
        )
      return lists.page(tree, { id: found.id, names, front }, query, page, address)
    },

    /**
     * The entry at a path of a share. Null if nothing exists there, and for the top of a share of
     * several.
     * @throws INVALID_PATH
     */
    async at(share: LinkedShare, path: string): Promise<SeenEntry | null> {
      const { bucketId, entryId } = share
      const tops = await topsOf(db, share)
      const names = parsePath(path, 'path')
      if (tops)
        return names.length === 0 ? null : seen(await foundIn(tops, placeOf(share, tops, names)))
      return seen(
        await (names.length === 0
          ? listings.byId({ bucketId, rootId: entryId }, entryId)
          : listings.byPath(treeOf(share), path)),
      )
    },

    /**
     * The shared file, or a file below a shared folder by its path from there.
     * @throws FILE_NOT_FOUND, INVALID_PATH
     */
    async file(share: LinkedShare, path: string | null | undefined): Promise<SharedFile> {
      const { blobId } = share
      if (blobId && !path) return { ...share, blobId }
      if (!path)
        throw new AppError('INVALID_PATH', 'This is a folder. Name a file in it by its path.', {
          field: 'path',
        })
      const tree = treeOf(share)
      const tops = await topsOf(db, share)
      if (tops)
        return sharedFile(
          tree,
          path,
          await foundIn(tops, placeOf(share, tops, parseFilePath(path, 'path'))),
        )
      return sharedFile(tree, path, blobId ? null : await listings.byPath(tree, path))
    },

    /**
     * The target of a download: a file, or an archive of a folder or of several entries.
     * @param request paths from the shared folder; none for the whole share
     * @throws FILE_NOT_FOUND, INVALID_PATH, INVALID_INPUT
     */
    async target(
      share: LinkedShare,
      {
        path,
        paths,
      }: { path?: string | null | undefined; paths?: readonly string[] | null | undefined },
    ): Promise<Target> {
      const tree = treeOf(share)
      if (paths?.length) {
        if (path) throw new InvalidInput('entries', 'Give either one path or several.')
        if (share.blobId)
          throw new InvalidInput('entries', 'The share is a single file and has no paths.')
      }
      const tops = await topsOf(db, share)
      if (tops) {
        const { bucketId, rootId } = share
        const called = shareTitle(share.name, share.entryCount)
        const archive = (entries: readonly { id: string }[]): Target => ({
          archive: {
            tree: { bucketId, rootId },
            named: entries.map(({ id }) => ({ id })),
            naming: { called, names: namesOf(tops) },
          },
        })
        if (paths?.length) return archive(await entriesAt(db, { tops, bucketId }, paths, 'entries'))
        if (!path) return archive(tops.all)
        const found = await foundIn(tops, placeOf(share, tops, parseFilePath(path, 'path')))
        return found?.kind === FOLDER ? archive([found]) : { file: sharedFile(tree, path, found) }
      }
      const archive = (named: EntryName[]): Target => ({ archive: { tree, named } })
      if (paths?.length) return archive(paths.map(one => ({ path: one })))
      if (share.blobId) return { file: await this.file(share, path) }
      if (!path) return archive([{ id: share.entryId }])
      const found = await listings.byPath(tree, path)
      if (found?.kind === FOLDER) return archive([{ id: found.id }])
      return { file: sharedFile(tree, path, found) }
    },

    /**
     * The current blob of a file. Undefined if the file has left the share.
     * @param fileId null for the shared file itself
     */
    async blobOf(share: LinkedShare, fileId: string | null): Promise<string | null> {
      if (fileId === null) return share.blobId
      const tops = await topsOf(db, share)
      if (!tops) return (await listings.byId(treeOf(share), fileId))?.blobId ?? null
      const row = await entryById(db, share.bucketId, fileId)
      return row && (await areBelow(db, tops, [fileId])) ? row.blobId : null
    },

    /**
     * The names at the top of a share of entries that were in it earlier. Null if some of them are
     * no longer visible in it.
     */
    async names(
      share: LinkedShare,
      ids: readonly string[],
    ): Promise<ArchiveNaming['names'] | null> {
      const tops = await topsOf(db, share)
      if (!tops) return new Map()
      return (await areBelow(db, tops, ids)) ? namesOf(tops) : null
    },

    /**
     * The entries to copy from a share: those at the given paths, or all without paths. None of
     * several is inside another one.
     * @throws FILE_NOT_FOUND, INVALID_PATH, INVALID_INPUT
     */
    async copied(share: LinkedShare, paths: readonly string[], tx?: Tx): Promise<NamedCopy[]> {
      const { bucketId, entryId } = share
      const tops = await topsOf(db, share, tx)
      if (!tops && paths.length === 0) return [{ id: entryId }]
      if (!tops) {
        const below = paths.map((path): EntryName => ({ path }))
        // Paths lead down from the shared entry, so nothing above or beside it can be named.
        const found = await locateEntries(db, treeOf(share), below, tx, { field: 'paths' })
        return found.map(({ node }) => ({ id: node.id }))
      }
      const all = tops.all.map(({ id, name }): NamedCopy => ({ id, as: name }))
      return outermost(
        db,
        paths.length === 0 ? all : await entriesAt(db, { tops, bucketId }, paths, 'paths', tx),
        tx,
      )
    },

    /** The ids of the currently shared entries themselves, without their contents. */
    async roots(share: LinkedShare, tx?: Tx): Promise<string[]> {
      return (await topsOf(db, share, tx))?.all.map(({ id }) => id) ?? [share.entryId]
    },
  }
}
