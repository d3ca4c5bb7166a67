import type { Service } from './client.ts'
import { Failure, isFailure } from './failure.ts'
import { WorkspacesDocument } from './generated.ts'
import { parseRemote, type RemotePath } from './path.ts'
import type { Place } from './place.ts'
import { personalPlace } from './place-personal.ts'
import { workspacePlace } from './place-workspace.ts'

export const isId = (text: string): boolean => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)

/** The place that a path refers to, and the path within it. */
export async function findPlace(service: Service, text: string): Promise<RemotePath & { place: Place }> {
  const remote = parseRemote(text)
  if (remote.workspace === undefined) return { ...remote, place: personalPlace(service.personal) }
  const id = await workspaceId(service, remote.workspace)
  return { ...remote, place: workspacePlace(service.workspace(id), id, remote.workspace) }
}

/** The id of a workspace, given its slug, its id, or the path of its root. @throws WORKSPACE_NOT_FOUND */
export async function workspaceId(service: Service, text: string): Promise<string> {
  const named = text.replace(/:\/*$/, '')
  if (isId(named)) return named
  const known = service.login.workspaces.find(({ slug }) => slug === named)
  if (known) return known.id
  try {
    const { workspaces } = await service.session.request(WorkspacesDocument, {})
    const found = workspaces.find(({ slug }) => slug === named)
    if (found) return found.workspaceId
  } catch (error) {
    if (!isFailure(error, 'KEY_OUT_OF_BOUNDS', 'INSUFFICIENT_SCOPE')) throw error
    throw new Failure(
      error.code,
      `${error.message} This key cannot look up the workspace "${named}"; for your own files, begin the path with a slash.`,
      error.details,
    )
  }
  throw new Failure(
    'WORKSPACE_NOT_FOUND',
    `You have no workspace "${named}". See satchel workspace list; for your own files, begin the path with a slash.`,
  )
}
