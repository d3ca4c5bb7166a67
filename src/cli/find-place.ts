import type { Service } from './client.ts'
import { Failure, isFailure } from './failure.ts'
import { WorkspaceIdDocument } from './generated.ts'
import { ownToken, parseRemote, parseShared, type RemotePath } from './path.ts'
import { type FilesPlace, type Place, placeOf } from './place.ts'
import { sharedPlaceOf } from './shared-place.ts'

export const isId = (text: string): boolean =>
  /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)

/**
 * The drive or share that a path refers to, and the path within it. Shares are given by their link.
 *
 * @throws USAGE
 */
export async function findFiles(
  service: Service,
  text: string,
): Promise<Omit<RemotePath, 'workspace'> & { place: FilesPlace }> {
  const shared = parseShared(text)
  if (!shared) return findPlace(service, text)
  const { link, ...at } = shared
  return { ...at, place: sharedPlaceOf(service.personal, ownToken(link, service.url)) }
}

/**
 * The drive that a path refers to, and the path within it.
 *
 * @throws USAGE for share links
 */
export async function findPlace(
  service: Service,
  text: string,
): Promise<RemotePath & { place: Place }> {
  if (parseShared(text))
    throw new Failure(
      'USAGE',
      `"${text}" is in what somebody shares. This works with your files and with workspaces only.`,
    )
  const remote = parseRemote(text)
  return { ...remote, place: await placeIn(service, remote.workspace) }
}

/** The files of a workspace (see `workspaceId`), or the caller's own files. */
export async function placeIn(service: Service, workspace: string | undefined): Promise<Place> {
  if (workspace === undefined) return placeOf(service.personal)
  const id = await workspaceId(service, workspace)
  return placeOf(service.workspace(id), { id, named: workspace.replace(/:\/*$/, '') })
}

/**
 * The id of a workspace, given its slug, its id, or the path of its root.
 *
 * @throws WORKSPACE_NOT_FOUND
 */
export async function workspaceId(service: Service, text: string): Promise<string> {
  const named = text.replace(/:\/*$/, '')
  if (isId(named)) return named
  const known = service.login.workspaces.find(({ slug }) => slug === named)
  if (known) return known.id
  try {
    return (await service.session.request(WorkspaceIdDocument, { slug: named })).workspace.id
  } catch (error) {
    if (isFailure(error, 'FORBIDDEN'))
      throw new Failure(
        'WORKSPACE_NOT_FOUND',
        `You have no workspace "${named}". See satchel workspace list; for your own files, begin the path with a slash.`,
      )
    if (!isFailure(error, 'KEY_OUT_OF_BOUNDS', 'INSUFFICIENT_SCOPE')) throw error
    throw new Failure(
      error.code,
      `${error.message} This key cannot look up the workspace "${named}"; for your own files, begin the path with a slash.`,
      error.details,
    )
  }
}
