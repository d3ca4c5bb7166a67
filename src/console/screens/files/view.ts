import { ofBrowser } from '../../parts/memory.ts'
import { sharedValue } from '../../parts/shared-value.ts'

export const sorts = ['name', 'updated', 'size', 'created'] as const
export type Sort = (typeof sorts)[number]

/** The sort fields of the graph. */
export const fields = {
  name: 'NAME',
  updated: 'UPDATED_AT',
  size: 'SIZE',
  created: 'CREATED_AT',
} as const satisfies Record<Sort, string>

/** How lists of files are shown. Missing values have the usual defaults. */
export interface FilesView extends Viewed {
  size?: TileSize | undefined
}

/** What a URL can say about the view. */
interface Viewed {
  view?: 'grid' | 'list' | undefined
  sort?: Sort | undefined
  desc?: true | undefined
}

/** Medium tiles are the default. */
export type TileSize = 'small' | 'large'

/** The service knows the view of the person. This browser remembers it for the first request. */
const KEY = 'files-view'

const read = (): FilesView => {
  try {
    return JSON.parse(ofBrowser.read(KEY) ?? '{}')
  } catch {
    return {}
  }
}

export const filesView = sharedValue(read())

export function setView(view: FilesView): void {
  const stored = JSON.stringify(view)
  if (stored === JSON.stringify(filesView.get())) return
  ofBrowser.write(KEY, stored)
  filesView.set(view)
}

/** Changes the view, here and on all devices of the person. */
export function choose(view: FilesView): void {
  setView(view)
  chosen.set(view)
}

/** What this page has chosen. The code that sends it to the service loads later. */
export const chosen = sharedValue<FilesView | null>(null)

/** What a URL says, and the person's view for what it does not say. */
export function withView<Search extends Viewed>(
  search: Search,
  view = filesView.get(),
): Search & FilesView {
  const { sort, desc } = search.sort || search.desc ? search : view
  return { ...search, view: search.view ?? view.view, size: view.size, sort, desc }
}
