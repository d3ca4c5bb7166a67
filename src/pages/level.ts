import type { FolderView, ListedFile, ListingService } from '../services/tree/listing.ts'
import { joinPath } from '../values/paths.ts'
import type { LevelEntry, LevelView } from './views.ts'
import type { Words } from './words.ts'

/** URLs for the links of a folder page. */
interface Links {
  /** Display name of the root folder. */
  top: string
  folder(path: string[], cursor?: string): string
  file(file: { id: string; path: string }): string
}

type Row = Omit<LevelEntry, 'where'>

export const folderRow = (
  { say, nameOf, dayOf, sizeOf }: Words,
  {
    name,
    path,
    fileCount,
    size,
    updatedAt,
  }: Pick<FolderView, 'name' | 'fileCount' | 'size' | 'updatedAt'> & { path: string },
  href: string,
): Row => ({
  name: nameOf(name),
  path,
  href,
  changed: dayOf(updatedAt),
  size: sizeOf(size),
  kind: { icon: 'folder', label: say('files', { count: fileCount }) },
  picture: null,
  download: null,
})

export const fileRow = (
  { fileOf, dayOf }: Words,
  {
    name,
    path,
    fileType,
    size,
    updatedAt,
  }: Pick<ListedFile, 'name' | 'path' | 'fileType' | 'size' | 'updatedAt'>,
  href: string,
): Row => ({
  ...fileOf(name, fileType, size),
  path,
  href,
  changed: dayOf(updatedAt),
  picture: null,
  download: null,
})

/**
 * The folders from the root down to this one.
 *
 * @param names path of the folder
 */
export const crumbsOf = (
  { nameOf }: Words,
  top: string,
  names: string[],
  hrefOf: (path: string[]) => string,
): LevelView['crumbs'] =>
  [nameOf(top), ...names].map((label, depth) => ({ label, href: hrefOf(names.slice(0, depth)) }))

/** One page of a folder, as template data. */
export function levelView(
  words: Words,
  { names, folders, files, nextCursor }: Awaited<ReturnType<ListingService['level']>>,
  links: Links,
): LevelView {
  const rows = [
    ...folders.map(folder => {
      const path = [...names, folder.name]
      return folderRow(words, { ...folder, path: joinPath(path) }, links.folder(path))
    }),
    ...files.map(file => fileRow(words, file, links.file(file))),
  ]
  return {
    crumbs: crumbsOf(words, links.top, names, path => links.folder(path)),
    entries: rows.map(row => ({ ...row, where: null })),
    next: nextCursor ? links.folder(names, nextCursor) : null,
  }
}
