import { validate as isUuid } from 'uuid'
import type { Tx } from '../../../db/index.ts'
import { type Entry, FILE, type FOLDER } from '../../../db/models/entry.ts'
import {
  type EntryRow,
  entriesAt,
  entriesOfKind,
  entryAt,
  entryById,
  isContentBelow,
  type PlacedRow,
} from '../../../db/queries/entry-list.ts'
import { type Page, pageOf } from '../../../db/queries/page.ts'
import { peopleByIds } from '../../../db/queries/person.ts'
import { InvalidInput } from '../../runtime/errors.ts'
import { joinPath, parseFilePath, parsePath } from '../../values/paths.ts'
import type { Tree } from '../../values/tree.ts'
import type { Core } from '../core.ts'
import { type PageArgs, pageById, readCursor, readLimit, writeCursor } from '../page.ts'

import { type EntryName, fileIdNotFound, fileNotFound, pathsOfFolders } from './entry-path.ts'

/** A file as responses show it. Sizes are in bytes, times in milliseconds since 1970. */
export interface FileView extends FileDetails {
  /** The names from the root down, including its own. */
  names: string[]
}

/** A file in a listing of its folder. */
export interface ListedFile extends FileDetails {
  name: string
  path: string
}

interface FileDetails {
  id: string
  fileType: string
  size: number
  md5: string
  createdBy: string | null
  createdAt: number
  updatedAt: number
  /** The modification time that the client reported, or else the upload time. */
  modifiedAt: number
  revision: number
  contentRevision: number
}

/** A folder in a listing. Its size in bytes and its file count include everything below it. */
export interface FolderView {
  id: string
  name: string
  size: number
  fileCount: number
  createdBy: string | null
  createdAt: number
  updatedAt: number
}

/** A file or folder found by path or id; only a file has a blob. */
export interface FoundEntry extends FileView {
  kind: Entry['kind']
  blobId: string | null
  /** For a folder: increases with each change below it. */
  changeStamp: number
}

/** Reads the entries of a tree. */
export function listingService({ db }: Core<'db'>) {
  return {
    /**
     * One level of a tree: folders first, then files, both by name. An unknown path is an empty
     * folder. One statement reads the entries of the path, those of the page, and one more row that
     * shows whether another page follows.
     */
    async level(
      tree: Tree,
      path: string,
      page: PageArgs,
    ): Promise<{
      names: string[]
      folders: FolderView[]
      files: ListedFile[]
      nextCursor: string | null
    }> {
      const names = parsePath(path, 'path')
      const limit = readLimit(page.limit)
      const after = readCursor(page.cursor, ['number', 'string'])
      const rows = await entriesAt(db, tree, names, limit + 1, after)
      const more = rows.length > limit
      if (more) rows.pop()
      const last = rows.at(-1)
      const firstFile = rows.findIndex(r => r.kind === FILE)
      const split = firstFile < 0 ? rows.length : firstFile
      const above = names.length > 0 ? `${joinPath(names)}/` : ''
      return {
        names,
        folders: rows.slice(0, split),
        files: rows
          .slice(split)
          .map(row => ({ ...detailsOf(row), name: row.name, path: above + row.name })),
        nextCursor: more && last ? writeCursor([last.kind, last.name]) : null,
      }
    },

    /**
     * All files of a tree with their paths, oldest first. Files below folders that are being purged
     * are skipped.
     */
    async listAll(
      tree: Tree,
      page: PageArgs,
    ): Promise<{ files: FileView[]; nextCursor: string | null }> {
      const { rows, nextCursor } = await pageById(
        page,
        (limit, after) => this.ofKind(tree, FILE, limit, after),
        true,
      )
      return { files: rows, nextCursor }
    },

    /**
     * A page of all files, or of all folders except the root. `last` is the start of the next page.
     */
    async ofKind(
      tree: Tree,
      kind: typeof FILE | typeof FOLDER,
      limit: number,
      after: string | null,
    ): Promise<Page<FileView>> {
      const found = await entriesOfKind(db, tree.bucketId, kind, {
        after: after ?? '',
        limit: limit + 1,
      })
      const { rows, more } = pageOf(found, limit)
      const folders = await pathsOfFolders(
        db,
        [tree.rootId],
        rows.flatMap(r => r.parentId ?? []),
      )
      const placed = rows.flatMap(row => {
        const folder = folders.get(row.parentId ?? '')
        return folder ? [toFileView(row, [...folder, row.name])] : []
      })
      return { rows: placed, more, last: rows.at(-1)?.id }
    },

    /**
     * An entry of this tree by id, with its path. Null if it does not exist or is below a folder
     * that is being purged.
     */
    async byId(tree: Tree, id: string, tx?: Tx): Promise<FoundEntry | null> {
      const row = await entryById(db, tree.bucketId, id, tx)
      if (row?.id === tree.rootId) return toFoundEntry(row, [])
      if (!row?.parentId) return null
      const folder = (await pathsOfFolders(db, [tree.rootId], [row.parentId], tx)).get(row.parentId)
      return folder ? toFoundEntry(row, [...folder, row.name]) : null
    },

    /** The file or folder at a path, or null. */
    async byPath(tree: Tree, path: string, tx?: Tx): Promise<FoundEntry | null> {
      const names = parseFilePath(path, 'path')
      const row = await entryAt(db, tree, names, tx)
      return row ? toFoundEntry(row, names) : null
    },

    /**
     * The file or folder with this id or path, or null. Never the root.
     * @throws INVALID_PATH
     */
    async entry(tree: Tree, by: EntryName, tx?: Tx): Promise<FoundEntry | null> {
      if ('path' in by) return this.byPath(tree, by.path, tx)
      return isUuid(by.id) && by.id !== tree.rootId ? this.byId(tree, by.id, tx) : null
    },

    /**
     * The file with this id or path. Exactly one of the two is required.
     * @throws FILE_NOT_FOUND, INVALID_INPUT, INVALID_PATH
     */
    async file(
      tree: Tree,
      by: { id?: string | null | undefined; path?: string | null | undefined },
      tx?: Tx,
    ): Promise<FoundEntry & { blobId: string }> {
      if (!by.id === !by.path)
        throw new InvalidInput('file_id', 'Give either the id or the path of the file.')
      const found = await this.entry(tree, by.id ? { id: by.id } : { path: by.path ?? '' }, tx)
      const { blobId } = found ?? {}
      if (found && blobId) return { ...found, blobId }
      if (!by.id) throw fileNotFound(tree, parsePath(by.path ?? ''))
      throw fileIdNotFound(by.id)
    },

    /** The e-mail addresses of some users. One statement. */
    async emailsOf(userIds: Iterable<string | null>): Promise<Map<string, string>> {
      const ids = [...new Set(userIds)].filter(id => id !== null)
      const rows = ids.length > 0 ? await peopleByIds(db, ids) : []
      return new Map(rows.map(({ id, email }) => [id, email]))
    },

    /**
     * Whether the tree contains a file with this content. Files below a folder that is being purged
     * do not count.
     */
    holds: (tree: Tree, md5: string): Promise<boolean> => isContentBelow(db, tree, md5),
  }
}

export type ListingService = ReturnType<typeof listingService>

const toFoundEntry = (row: PlacedRow, names: string[]): FoundEntry => ({
  ...toFileView(row, names),
  kind: row.kind,
  blobId: row.blobId,
  changeStamp: row.changeStamp,
})

const toFileView = (row: EntryRow, names: string[]): FileView => ({ ...detailsOf(row), names })

function detailsOf(row: EntryRow): FileDetails {
  return {
    id: row.id,
    fileType: row.contentType,
    size: row.size,
    md5: row.md5,
    createdBy: row.createdBy,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
    modifiedAt: row.modifiedAt,
    revision: row.revision,
    contentRevision: row.contentRevision,
  }
}
