import { FOLDER } from '../../../db/models/entry.ts'
import type { LinkedShare } from '../../../db/queries/share.ts'
import { AppError, InvalidInput } from '../../runtime/errors.ts'
import { parsePath } from '../../values/paths.ts'
import type { Tree } from '../../values/tree.ts'
import type { EntryListService } from '../tree/entry-list.ts'
import { type EntryName, fileNotFound } from '../tree/entry-path.ts'
import type { FoundEntry, ListingService } from '../tree/listing.ts'
import { type SharedLevel, type SharedListArgs, shareListings } from './share-listing.ts'

/** A file that a visitor may download. Its size is in bytes. */
interface SharedFile {
  blobId: string
  name: string
  fileType: string
  size: number
  md5: string
  /** Its id, where the share is of a folder above it. */
  below?: string
}

/** What a visitor downloads. */
type Target =
  | { file: SharedFile; archive?: undefined }
  | { archive: { tree: Tree; named: EntryName[] }; file?: undefined }

/** @throws FILE_NOT_FOUND */
function sharedFile(tree: Tree, path: string, found: FoundEntry | null): SharedFile {
  if (!found?.blobId) throw fileNotFound(tree, parsePath(path))
  return { ...found, name: found.names.at(-1) ?? '', blobId: found.blobId, below: found.id }
}

/** The folder is the root: a path leads down from it, so nothing above or beside it can be named. */
const treeOf = ({ bucketId, entryId }: LinkedShare): Tree => ({ bucketId, rootId: entryId })

/**
 * What can be seen through a share. It is looked up at each request, from where the entries are now. Does not authorize: pass only shares
 * that the visitor may use.
 */
export function shareTree(listings: ListingService, entryLists: EntryListService) {
  const lists = shareListings(entryLists)
  return {
    /**
     * What is in a shared folder, or in a folder below it, or what a search finds there.
     * @param address of the visitor
     * @throws FOLDER_NOT_FOUND, INVALID_PATH, INVALID_INPUT, UNAVAILABLE
     */
    async list(share: LinkedShare, { path, page, query }: SharedListArgs, address: string): Promise<SharedLevel> {
      const tree = treeOf(share)
      const names = parsePath(path, 'path')
      const { kind, id } =
        names.length === 0
          ? { kind: share.kind, id: share.entryId }
          : ((await listings.byPath(tree, path)) ?? { kind: null, id: '' })
      if (kind !== FOLDER)
        throw new AppError('FOLDER_NOT_FOUND', 'There is no such folder in this share. Check the path.', { path })
      return lists.page(tree, { id, names }, query, page, address)
    },

    /** The shared file, or one below a shared folder, by its path from there. @throws FILE_NOT_FOUND, INVALID_PATH */
    async file(share: LinkedShare, path: string | null | undefined): Promise<SharedFile> {
      const { blobId } = share
      if (blobId && !path) return { ...share, blobId }
      if (!path)
        throw new AppError('INVALID_PATH', 'This is a folder. Name a file in it by its path.', { field: 'path' })
      const tree = treeOf(share)
      return sharedFile(tree, path, blobId ? null : await listings.byPath(tree, path))
    },

    /**
     * What a download is of: a file, or an archive of a folder or of several entries.
     * @param request paths from the shared folder; none for what is shared
     * @throws FILE_NOT_FOUND, INVALID_PATH, INVALID_INPUT
     */
    async target(
      share: LinkedShare,
      { path, paths }: { path?: string | null | undefined; paths?: readonly string[] | null | undefined },
    ): Promise<Target> {
      const tree = treeOf(share)
      const archive = (named: EntryName[]): Target => ({ archive: { tree, named } })
      if (paths?.length) {
        if (path) throw new InvalidInput('entries', 'Give either one path or several.')
        if (share.blobId) throw new InvalidInput('entries', 'This is one file, which has no paths in it.')
        return archive(paths.map(one => ({ path: one })))
      }
      if (share.blobId) return { file: await this.file(share, path) }
      if (!path) return archive([{ id: share.entryId }])
      const found = await listings.byPath(tree, path)
      if (found?.kind === FOLDER) return archive([{ id: found.id }])
      return { file: sharedFile(tree, path, found) }
    },

    /** The blob that a file has now; none when it is not in the share any more. @param fileId null for the shared file itself */
    async blobOf(share: LinkedShare, fileId: string | null): Promise<string | null> {
      if (fileId === null) return share.blobId
      return (await listings.byId(treeOf(share), fileId))?.blobId ?? null
    },
  }
}
