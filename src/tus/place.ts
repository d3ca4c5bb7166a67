import { validate as isUuid } from 'uuid'
import type { Caller } from '../access/caller.ts'
import { Drive, requireKeyFor } from '../access/drive.ts'
import { type AppError, Forbidden } from '../runtime/errors.ts'
import type { Services } from '../services/index.ts'
import { uploadNotFound } from '../services/uploads/upload-error.ts'
import { TusError } from './refusal.ts'

const mayNotEdit = () =>
  new Forbidden('You may view this share but not change it, or the share has ended.')

/**
 * The part of a share that the caller may change.
 * @throws FORBIDDEN
 */
async function sharedDrive(services: Services, caller: Caller, id: string): Promise<Drive> {
  const [shared] = await services.drives.sharedDrivesOf(caller, [id])
  if (!shared?.mayEdit) throw mayNotEdit()
  return Drive.ofShare(caller, shared)
}

async function workspaceDrive(
  services: Services,
  caller: Caller,
  by: 'w.id' | 'b.id',
  id: string,
): Promise<Drive> {
  const [workspace] = await services.drives.workspaceTreesOf(caller, by, [id])
  if (!workspace)
    throw new Forbidden('You are not a member of this workspace, or it does not exist.')
  return Drive.ofWorkspace(caller, workspace)
}

/**
 * The workspace in the metadata, by id or slug.
 * @throws FORBIDDEN, and the refusal of the key
 */
async function namedWorkspace(services: Services, caller: Caller, named: string): Promise<Drive> {
  if (isUuid(named)) {
    requireKeyFor(caller, named, 'write')
    return workspaceDrive(services, caller, 'w.id', named)
  }
  const id = await services.workspaces.idOfSlug(caller, named)
  if (id === undefined)
    throw new Forbidden('You are not a member of this workspace, or it does not exist.')
  return workspaceDrive(services, caller, 'w.id', id)
}

/**
 * The drive in the metadata of a new upload. By default it is the key's drive, or else the caller's
 * own.
 */
export function driveNamed(
  services: Services,
  caller: Caller,
  { workspace, share }: { workspace: string | undefined; share: string | undefined },
): Drive | Promise<Drive> {
  if (share) return sharedDrive(services, caller, share)
  const named = workspace ?? caller.workspaceId
  return named ? namedWorkspace(services, caller, named) : Drive.own(caller)
}

/** The error for a missing upload: 410 as long as the service remembers it. */
export const endedUpload = async (
  { uploadStreams }: Services,
  { userId }: Caller,
  id: string,
): Promise<AppError> =>
  (await uploadStreams.isOver(id, userId))
    ? new TusError(410, 'UPLOAD_NOT_FOUND', 'This upload has expired. Start another one.')
    : uploadNotFound()

/**
 * The drive of the caller's upload.
 * @throws UPLOAD_NOT_FOUND; TusError 410 for a finished or expired one; FORBIDDEN
 */
export async function driveOfUpload(
  services: Services,
  caller: Caller,
  id: string,
): Promise<Drive> {
  if (!isUuid(id)) throw uploadNotFound()
  const found = (await services.uploadSessions.startedAmong(caller.userId, [id])).get(id)
  if (!found) throw await endedUpload(services, caller, id)
  if (found.shareId !== null) return sharedDrive(services, caller, found.shareId)
  if (found.bucketId === caller.bucket.bucketId) return Drive.own(caller)
  return workspaceDrive(services, caller, 'b.id', found.bucketId)
}
