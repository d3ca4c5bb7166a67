import type { SharedLevel } from '../services/sharing/share-tree.ts'
import { joinPath } from '../values/paths.ts'
import type { LevelView } from './views.ts'
import { count, fileOf, nameOf, sizeOf } from './words.ts'

/** URLs of what a page of a folder leads to. */
interface Links {
  /** The name of the folder that paths begin in. */
  top: string
  folder(path: string[], cursor?: string): string
  file(file: { id: string; path: string }): string
}

/** One page of a folder, as templates show it. */
export function levelView({ names, folders, files, nextCursor }: SharedLevel, links: Links): LevelView {
  return {
    crumbs: [nameOf(links.top), ...names].map((label, depth) => ({ label, href: links.folder(names.slice(0, depth)) })),
    folders: folders.map(folder => ({
      name: nameOf(folder.name),
      path: joinPath([...names, folder.name]),
      href: links.folder([...names, folder.name]),
      files: count(folder.fileCount, 'file'),
      size: sizeOf(folder.size),
    })),
    files: files.map(file => ({
      ...fileOf(file.name, file.fileType, file.size),
      path: file.path,
      href: links.file(file),
    })),
    next: nextCursor ? links.folder(names, nextCursor) : null,
  }
}
