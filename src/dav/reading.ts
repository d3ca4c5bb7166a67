import { type FILE, FOLDER } from '../../db/models/entry.ts'
import type { EntryKey } from '../../db/queries/entry-list.ts'
import type { Drive } from '../access/drive.ts'
import { AppError } from '../runtime/errors.ts'
import type { Services } from '../services/index.ts'
import type { Delivery } from '../services/sharing/download.ts'
import type { Visitor } from '../services/sharing/share-link.ts'
import type { ShareView } from '../services/sharing/share-list.ts'
import { joinPath } from '../values/paths.ts'

/** An existing file or folder. */
export interface Resource {
  id: string
  kind: typeof FILE | typeof FOLDER
  name: string
  contentType: string
  size: number
  createdAt: number
  updatedAt: number
  /** The modification time of a file's content as sent by the client, or else its upload time. */
  modifiedAt: number
  /** Null for a share of several entries. */
  revision: number | null
  /** Grows with each change of the content. Null for a share of several entries. */
  contentRevision: number | null
  /**
   * For a folder: increases with each change below it. Null for a share of several entries.
   */
  changeStamp: number | null
  md5?: string
  /** Only for a file in a drive. */
  blobId?: string | null
  /** The rights of the caller, if they differ from those to its siblings. */
  letters?: string
}

/**
 * Reads the entries of a place, either in a drive or in a received share. It authorizes every read.
 */
export interface Reading {
  /** The entry at a path; null if there is none. */
  find(names: string[]): Promise<Resource | null>
  /** The entries of a folder, one page at a time. */
  pages(folder: Resource, names: string[], size: number): AsyncGenerator<Resource[]>
  /**
   * The bytes of the file version that was found, so that its ETag matches.
   * @param counts whether a share counts this as a download
   */
  deliver(file: Resource, names: string[], counts: boolean): Promise<Delivery>
}

const byName = { sort: 'name', descending: false, kind: null, nameContains: null } as const

export const driveReading = ({ entryLists, downloads }: Services, drive: Drive): Reading => ({
  find: names => entryLists.at(drive.open('read').tree, names),

  async *pages({ id }, _names, size) {
    for (let after: EntryKey | null = null; ; ) {
      const page = (await entryLists.childrenOf([id], byName, size, after)).get(id)
      const rows = page?.rows ?? []
      yield rows
      const last: (typeof rows)[number] | undefined = page?.more ? rows.at(-1) : undefined
      if (!last) return
      after = entryLists.keyOf(byName, last)
    }
  },

  async deliver({ blobId, contentType, md5 = '', ...file }) {
    if (!blobId) throw new AppError('FILE_NOT_FOUND', 'There is no file at this URL.')
    return downloads.delivery({ ...file, blobId, md5, fileType: contentType }, 'download')
  },
})

const query = { sort: 'name', descending: false, search: null } as const

export function shareReading(
  { shareLinks }: Services,
  visitor: Visitor,
  share: ShareView & { stamp: number | null },
  title: string,
): Reading {
  const { token, entryCount } = share
  return {
    async find(names) {
      const found = await shareLinks.look(token, visitor, joinPath(names))
      const name = names.at(-1) ?? title
      if (found) return { ...found, name, contentType: found.fileType }
      if (names.length > 0 || entryCount === null) return null
      const { id, size, createdAt } = share
      const times = { createdAt, updatedAt: createdAt, modifiedAt: createdAt }
      return {
        id,
        kind: FOLDER,
        name,
        contentType: '',
        size,
        ...times,
        revision: 1,
        contentRevision: 1,
        changeStamp: share.stamp,
      }
    },

    async *pages(_folder, names, size) {
      for (let cursor: string | null = null; ; ) {
        const page = { cursor, limit: size }
        const level = await shareLinks.list(token, visitor, { path: joinPath(names), query, page })
        yield level.entries.map(entry => ({ ...entry, contentType: entry.fileType }))
        if (level.nextCursor === null) return
        cursor = level.nextCursor
      }
    },

    async deliver({ md5 }, names, counts) {
      const asked = { ...visitor, path: joinPath(names) || null, mode: 'download', counts }
      const { delivery } = await shareLinks.open(token, asked)
      if (md5 !== undefined && delivery.etag !== md5)
        throw new AppError('UNAVAILABLE', 'The file was changed during this request. Try again.', {
          retry_after: 1,
        })
      return delivery
    },
  }
}
