import { FOLDER } from '../../db/models/entry.ts'
import type { Caller } from '../access/caller.ts'
import { kindOf } from '../renderers/kinds.ts'
import type { SharePage } from '../services/sharing/share-info.ts'
import type { SharedEntry, SharedLevel, SharedQuery } from '../services/sharing/share-listing.ts'
import { MAX_NAME_PART, MAX_ZIPPED } from '../values/limits.ts'
import { joinPath, parsePath } from '../values/paths.ts'
import { crumbsOf, fileRow, folderRow } from './level.ts'
import type { LevelEntry, SaveView, SortView } from './views.ts'
import { type Page, page } from './visit.ts'
import { momentOf, nameOf, personOf, sizeOf } from './words.ts'

/**
 * Entries per page: at most as many as one archive can have, and divisible by two to six, so that
 * tiles fill all rows.
 */
export const PAGE = 180

/** Larger originals are not loaded for a tile. */
const MAX_TILE_BYTES = 4_000_000

/** The sort orders: the URL value, the label, and whether the largest comes first. */
const sorts = [
  { name: 'name', sort: 'name', label: 'Name', descending: false },
  { name: 'changed', sort: 'updatedAt', label: 'Changed', descending: true },
  { name: 'size', sort: 'size', label: 'Size', descending: true },
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
const queryOf = ({ path, search, sort, descending, file }: FolderPlace, cursor = '') => ({
  ...(path ? { path } : {}),
  ...(search ? { q: search } : {}),
  ...(sort === sorts[0] ? {} : { sort: sort.name }),
  ...(descending ? { desc: '1' } : {}),
  ...(file ? { file } : {}),
  ...(cursor ? { cursor } : {}),
})

/**
 * The URL of a page.
 *
 * @param here URL of the share
 */
export function addressOf(here: string, place: FolderPlace, cursor?: string): string {
  const query = new URLSearchParams(queryOf(place, cursor))
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
const sortsOf = (here: string, place: FolderPlace): SortView[] =>
  sorts.map(sort => {
    const isNow = sort === place.sort
    const descending = isNow ? !place.descending : sort.descending
    return {
      name: sort.name,
      label: sort.label,
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
  /** Whether the visitor has chosen tiles. */
  tiles: boolean
}

/** One page of a shared folder, of a subfolder or of search results. */
export function folderPage({ here, place, level, look, caller, save, edit, tiles }: Shown): Page {
  const { names, entries, nextCursor } = level
  const folderAt = pathsAt(here, { ...place, search: '' }, 'path')
  // Link target for the way back to the same list.
  const fileAt = pathsAt(here, { ...place, path: place.search ? place.path : '' }, 'file')
  const [previewAt, downloadAt] = [bytesAt(`${here}/preview`), bytesAt(`${here}/download`)]
  const rowOf = (entry: SharedEntry) => ({
    ...fileRow(entry, fileAt(entry.path)),
    picture: pictureOf(entry, look, previewAt(entry.path)),
    download: look.allowDownload ? downloadAt(entry.path) : null,
  })
  const entryOf = (entry: SharedEntry): LevelEntry => ({
    ...(entry.kind === FOLDER ? folderRow(entry, folderAt(entry.path)) : rowOf(entry)),
    where: place.search ? whereOf(entry.path, folderAt) : null,
  })
  const data = {
    save,
    tiles,
    edit: edit && [edit, ...names.map(encodeURIComponent)].join('/'),
    crumbs: crumbsOf(look.fileName, names, path => folderAt(joinPath(path))),
    entries: entries.map(entryOf),
    next: nextCursor ? addressOf(here, place, nextCursor) : null,
    sorts: sortsOf(here, place),
    search: {
      action: here,
      text: place.search,
      clear: folderAt(place.path),
      kept: Object.entries(queryOf({ ...place, search: '' })),
    },
    zip: look.allowDownload
      ? { action: `${here}/download`, folder: joinPath(names), most: MAX_ZIPPED }
      : null,
    size: sizeOf(look.size),
    until: look.expiresAt === null ? null : momentOf(look.expiresAt),
    sharedBy: look.sharedBy && personOf(look.sharedBy),
  }
  return page('shared-folder', data, { title: nameOf(look.fileName), caller })
}

/** The folder of a search result, unless it is the shared folder itself. */
function whereOf(path: string, folderAt: (path: string) => string): LevelEntry['where'] {
  const above = joinPath(parsePath(path).slice(0, -1))
  return above ? { label: above, href: folderAt(above) } : null
}
