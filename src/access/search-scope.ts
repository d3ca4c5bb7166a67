import { Forbidden } from '../runtime/errors.ts'
import type { Services } from '../services/index.ts'
import type { SearchScope } from '../services/search/search-scope.ts'
import { MAX_SEARCHED_DRIVES } from '../values/limits.ts'
import type { Caller } from './caller.ts'
import { Drive } from './drive.ts'
import { reachesWorkspaces } from './scopes.ts'

type Needed = Pick<Services, 'drives' | 'workspaces' | 'searches'>

async function named({ drives }: Needed, caller: Caller, ids: readonly string[]): Promise<Drive[]> {
  const own = caller.bucket.bucketId
  const others = ids.filter(id => id !== own)
  const found = await drives.workspaceTreesOf(caller, 'b.id', others)
  const byId = new Map(found.map(one => [one.tree.bucketId, Drive.ofWorkspace(caller, one)]))
  return [...new Set(ids)].map(id => {
    const drive = id === own ? Drive.own(caller) : byId.get(id)
    if (!drive) throw new Forbidden('You have no access to this drive, or it does not exist.')
    return drive.open('read').drive
  })
}

/** The drives to search: those with the given ids, or all drives that the caller may read. */
async function drivesFor(
  services: Needed,
  caller: Caller,
  ids: readonly string[] | null,
): Promise<Drive[]> {
  if (ids !== null) return named(services, caller, ids)
  // A private key covers only its owner's drive, unless it has scopes of workspaces.
  const isOwnOnly = caller.workspaceId === null && !reachesWorkspaces(caller)
  const workspaces = isOwnOnly ? [] : await services.workspaces.list(caller)
  const trees = await services.drives.workspaceTreesOf(
    caller,
    'w.id',
    workspaces.slice(0, MAX_SEARCHED_DRIVES - 1).map(({ id }) => id),
  )
  const all = [
    ...(caller.workspaceId === null ? [Drive.own(caller)] : []),
    ...trees.map(tree => Drive.ofWorkspace(caller, tree)),
  ]
  // A key of one drive: report what the key lacks.
  return caller.via === 'api_key' && (isOwnOnly || caller.workspaceId !== null)
    ? all.map(drive => drive.open('read').drive)
    : all.filter(drive => !drive.refusal('read'))
}

/**
 * The scope of a caller's search: their drives and, unless drives are named, the files that others
 * share with them.
 * @throws FORBIDDEN, INSUFFICIENT_SCOPE, KEY_OUT_OF_BOUNDS
 */
export async function searchScope(
  services: Needed,
  caller: Caller,
  ids: readonly string[] | null,
): Promise<{ scope: SearchScope; driveOf(bucketId: string): Drive | undefined }> {
  const drives = await drivesFor(services, caller, ids)
  const byId = new Map(drives.map(drive => [drive.id, drive]))
  const scope = {
    drives: drives.map(drive => ({
      bucketId: drive.id,
      rootId: drive.open('read').tree.rootId,
      isOwn: drive.workspace === null,
      names: drive.workspace ? [drive.workspace.name, drive.workspace.slug] : ['me'],
    })),
    shares: ids === null ? await services.searches.receivedBy(caller) : [],
  }
  return { scope, driveOf: id => byId.get(id) }
}
