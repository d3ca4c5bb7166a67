import { layouts, tileSizes } from '../../../db/models/user.ts'
import type { EntrySort } from '../../../db/queries/entry-list.ts'
import type { Caller } from '../../access/caller.ts'
import { parseJson } from '../../values/json.ts'
import type { Core } from '../core.ts'

const sorts = ['name', 'createdAt', 'updatedAt', 'size'] as const satisfies readonly EntrySort[]
const directions = ['asc', 'desc'] as const

/** How lists of files are shown to a person. */
export interface FilesView {
  layout: (typeof layouts)[number]
  tileSize: (typeof tileSizes)[number]
  sort: EntrySort
  direction: (typeof directions)[number]
}

/** Replaces an unknown value, which a newer version may have stored, by the default. */
const oneOf = <V>(known: readonly V[], value: unknown, otherwise: V): V =>
  known.find(one => one === value) ?? otherwise

function viewFrom(stored: string | null | undefined): FilesView {
  const { layout, tileSize, sort, direction } = (parseJson(stored ?? '') ?? {}) as {
    [Key in keyof FilesView]?: unknown
  }
  return {
    layout: oneOf(layouts, layout, 'list'),
    tileSize: oneOf(tileSizes, tileSize, 'medium'),
    sort: oneOf(sorts, sort, 'name'),
    direction: oneOf(directions, direction, 'asc'),
  }
}

/** The view of files that a person has chosen, on all of their devices. */
export function filesViewService({ db }: Core<'db'>) {
  return {
    async read({ userId }: Caller): Promise<FilesView> {
      const user = await db.User.findByPk(userId, { attributes: ['filesView'], raw: true })
      return viewFrom(user?.filesView)
    },

    async remember({ userId }: Caller, view: FilesView): Promise<void> {
      await db.User.update({ filesView: JSON.stringify(view) }, { where: { id: userId } })
    },
  }
}
