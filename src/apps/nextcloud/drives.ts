import type { Caller } from '../../access/caller.ts'
import { Drive } from '../../access/drive.ts'
import { reachesWorkspaces } from '../../access/scopes.ts'
import type { Services } from '../../services/index.ts'
import type { PlacedEntry } from '../../services/tree/entry-list.ts'
import { WORKSPACES_NAME } from './files.ts'

type Needed = Pick<Services, 'drives' | 'entryLists' | 'workspaces'>

/**
 * A drive that the caller may read, and the names in front of its paths in the tree of the apps.
 */
export interface ShownDrive {
  drive: Drive
  base: readonly string[]
}

/**
 * The own drive of the caller and those of their workspaces.
 * @throws KEY_OUT_OF_BOUNDS, INSUFFICIENT_SCOPE
 */
export async function drivesOf(
  { drives, workspaces }: Needed,
  caller: Caller,
): Promise<ShownDrive[]> {
  const own = { drive: Drive.own(caller).open('read').drive, base: [] }
  if (!reachesWorkspaces(caller)) return [own]
  const all = await workspaces.list(caller)
  const trees = await drives.workspaceTreesOf(
    caller,
    'w.id',
    all.map(({ id }) => id),
  )
  const shown = trees.map(tree => ({
    drive: Drive.ofWorkspace(caller, tree),
    base: [WORKSPACES_NAME, tree.slug],
  }))
  return [own, ...shown.filter(({ drive }) => !drive.refusal('read'))]
}

/** The file with this number in the drives of the caller. Null if there is none. */
export async function fileByNumber(
  services: Needed,
  caller: Caller,
  number: string,
): Promise<{ drive: Drive; file: PlacedEntry } | null> {
  for (const { drive } of await drivesOf(services, caller)) {
    const file = await services.entryLists.byNumber(drive.open('read').tree, number)
    if (file) return { drive, file }
  }
  return null
}
