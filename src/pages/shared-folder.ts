import { FOLDER } from '../../db/models/entry.ts'
import type { Caller } from '../access/caller.ts'
import { kindOf } from '../formats/viewer.ts'
import type { SharePage } from '../services/sharing/share-info.ts'
import type { SharedEntry, SharedLevel, SharedQuery } from '../services/sharing/share-listing.ts'
import { MAX_NAME_PART, MAX_ZIPPED } from '../values/limits.ts'
import { joinPath, parsePath } from '../values/paths.ts'
import { crumbsOf, fileRow, folderRow } from './level.ts'
import { linkPreview, paragraphsOf, titleOf } from './link-preview.ts'
import type { LevelEntry, SaveView, SortView } from './views.ts'
import { type Page, page } from './visit.ts'
import { sharerOf, type Words } from './words.ts'

/**
 * Entries per page: at most as many as one archive can have, and divisible by two to six, so that
 * tiles fill all rows.
 */
export const PAGE = 180

/** A folder with fewer pictures opens as a list. */
const FEWEST_PICTURES = 3

/** Larger originals are not loaded for a tile. */
const MAX_TILE_BYTES = 4_000_000

/** The sort orders: the URL value, the label, and whether the largest comes first. */
const sorts = [
  { name: 'name', sort: 'name', label: 'sortName', descending: false },
  { name: 'changed', sort: 'updatedAt', label: 'sortChanged', descending: true },
  { name: 'size', sort: 'size', label: 'sortSize', descending: true },
] as const

/** The URL parameters of a shared folder page. */
export interface FolderPlace {
  /** Relative to the shared folder; empty for the folder itself. */
  path: string
  /** Text to find in names; empty for none. */
  search: string
  sort: (typeof sorts)[number]
  descending: boolean
  /** Path of the open file; empty for the list. */
  file: string
}

/** Parses the URL parameters, and ignores unknown values. */
export function placeOf(query: URLSearchParams): FolderPlace {
  const sort = sorts.find(({ name }) => name === query.get('sort')) ?? sorts[0]
  const search = (query.get('q') ?? '').trim().slice(0, MAX_NAME_PART)
  const descending = query.get('desc') === '1'
  return { path: query.get('path') ?? '', search, sort, descending, file: query.get('file') ?? '' }
}

/** The query string of a page. */
const queryOf = (
  { path, search, sort, descending, file }: FolderPlace,
  cursor = '',
  view = '',
) => ({
  ...(path ? { path } : {}),
  ...(search ? { q: search } : {}),
  ...(sort === sorts[0] ? {} : { sort: sort.name }),
  ...(descending ? { desc: '1' } : {}),
  ...(file ? { file } : {}),
  ...(cursor ? { cursor } : {}),
  ...(view ? { view } : {}),
})

/**
 * The URL of a page.
 *
 * @param here URL of the share
 */
export function addressOf(
  here: string,
  place: FolderPlace,
  cursor?: string,
  view?: string,
): string {
  const query = new URLSearchParams(queryOf(place, cursor, view))
  return query.size > 0 ? `${here}?${query}` : here
}

/**
 * Builds URLs that differ in one path. Calling URLSearchParams for every row would take most of the
 * page's time.
 */
function pathsAt(
  here: string,
  place: FolderPlace,
  name: 'path' | 'file',
): (path: string) => string {
  const front = addressOf(here, { ...place, [name]: '' })
  const joined = `${front}${front === here ? '?' : '&'}${name}=`
  return path => (path === '' ? front : joined + escaped(path))
}

const escaped = (path: string) => encodeURIComponent(path).replaceAll('%20', '+')

const bytesAt = (address: string) => (path: string) => `${address}?path=${escaped(path)}`

/** The URL of the list that contains a file. */
export function listOf(here: string, place: FolderPlace): string {
  const path = place.search ? place.path : joinPath(parsePath(place.file).slice(0, -1))
  return addressOf(here, { ...place, path, file: '' })
}

/** The query for the service. A search covers the whole share. */
export const askedOf = ({
  path,
  search,
  sort,
  descending,
}: FolderPlace): { path: string; query: SharedQuery } => ({
  path: search ? '' : path,
  query: { sort: sort.sort, descending, search: search || null },
})

/** Sort links: each sorts in its natural direction, or reverses the current one. */
const sortsOf = (here: string, place: FolderPlace, { say }: Words): SortView[] =>
  sorts.map(sort => {
    const isNow = sort === place.sort
    const descending = isNow ? !place.descending : sort.descending
    return {
      name: sort.name,
      label: say(sort.label),
      href: addressOf(here, { ...place, sort, descending }),
      now: isNow ? (place.descending ? 'descending' : 'ascending') : null,
    }
  })

/** The URL of a tile's picture: a thumbnail, or the original without one; null for an icon. */
function pictureOf(entry: SharedEntry, { limited }: SharePage, preview: string): string | null {
  const { name, fileType, size, picture } = entry
  if (picture !== null) return `${preview}&small=${picture}`
  const isShown =
    !limited &&
    size > 0 &&
    size <= MAX_TILE_BYTES &&
    kindOf({ name, contentType: fileType, size }) === 'image'
  return isShown ? preview : null
}

interface Shown {
  here: string
  place: FolderPlace
  level: SharedLevel
  look: SharePage
  caller: Caller | null
  save: SaveView | null
  /** URL for editing; null for visitors who may not edit. */
  edit: string | null
  /** The view that the visitor has chosen. */
  chosen: 'list' | 'tiles' | undefined
  words: Words
}

/** One page of a shared folder, of a subfolder or of search results. */
export function folderPage({
  here,
  place,
  level,
  look,
  caller,
  save,
  edit,
  chosen,
  words,
}: Shown): Page {
  const { names, entries, nextCursor } = level
  const isTop = names.length === 0
  const pictures = isMostlyPictures(entries)
  const folderAt = pathsAt(here, { ...place, search: '' }, 'path')
  // Link target for the way back to the same list.
  const fileAt = pathsAt(here, { ...place, path: place.search ? place.path : '' }, 'file')
  const [previewAt, downloadAt] = [bytesAt(`${here}/preview`), bytesAt(`${here}/download`)]
  const rowOf = (entry: SharedEntry) => ({
    ...fileRow(words, entry, fileAt(entry.path)),
    picture: pictureOf(entry, look, previewAt(entry.path)),
    download: look.allowDownload ? downloadAt(entry.path) : null,
  })
  const entryOf = (entry: SharedEntry): LevelEntry => ({
    ...(entry.kind === FOLDER ? folderRow(words, entry, folderAt(entry.path)) : rowOf(entry)),
    where: place.search ? whereOf(entry.path, folderAt) : null,
  })
  const data = {
    save,
    title: isTop ? look.title : '',
    paragraphs: isTop ? paragraphsOf(look.message) : [],
    tiles: chosen ? chosen === 'tiles' : pictures,
    pictures,
    looks: (['list', 'tiles'] as const).map(view => ({
      look: view,
      href: addressOf(here, place, '', view),
    })),
    levelCount: isTop ? look.fileCount : countOf(level),
    fileCount: look.fileCount,
    edit: edit && [edit, ...names.map(encodeURIComponent)].join('/'),
    crumbs: crumbsOf(words, look.fileName, names, path => folderAt(joinPath(path))),
    entries: entries.map(entryOf),
    next: nextCursor ? addressOf(here, place, nextCursor) : null,
    sorts: sortsOf(here, place, words),
    search: {
      action: here,
      text: place.search,
      clear: folderAt(place.path),
      kept: Object.entries(queryOf({ ...place, search: '' })),
    },
    zip: look.allowDownload
      ? { action: `${here}/download`, folder: joinPath(names), most: MAX_ZIPPED }
      : null,
    size: words.sizeOf(look.size),
    until: look.expiresAt === null ? null : words.momentOf(look.expiresAt),
    sharedBy: sharerOf(look.sharedBy),
  }
  return page('shared-folder', data, {
    title: titleOf(look, words),
    caller,
    og: linkPreview(look, words, titleOf(look, words)),
  })
}

/** Whether most of what a list shows are pictures or videos. */
function isMostlyPictures(entries: readonly SharedEntry[]): boolean {
  const pictures = entries.filter(
    ({ kind, name, fileType, size }) =>
      kind !== FOLDER && /image|video/.test(kindOf({ name, contentType: fileType, size }) ?? ''),
  )
  return pictures.length >= FEWEST_PICTURES && pictures.length * 2 > entries.length
}

/** The number of files in a folder, if all of its entries are on the page. Null otherwise. */
const countOf = ({ entries, nextCursor }: SharedLevel): number | null =>
  nextCursor === null ? entries.reduce((sum, { fileCount }) => sum + fileCount, 0) : null

/** The folder of a search result, unless it is the shared folder itself. */
function whereOf(path: string, folderAt: (path: string) => string): LevelEntry['where'] {
  const above = joinPath(parsePath(path).slice(0, -1))
  return above ? { label: above, href: folderAt(above) } : null
}
