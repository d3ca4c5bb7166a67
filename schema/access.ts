import type { Caller } from '../src/access/caller.ts'
import {
  Drive,
  notAMember,
  type OpenDrive,
  openWorkspace,
  requireKeyFor,
  requireWorkspace,
  requireWorkspaceKey,
} from '../src/access/drive.ts'
import type { DriveLevel, WorkspaceRight } from '../src/access/policies.ts'
import { AppError, Forbidden, InvalidInput, Unauthenticated } from '../src/runtime/errors.ts'
import type { WorkspaceTree, WorkspaceView } from '../src/services/workspaces/workspace.ts'
import { keyById } from '../src/values/key-by-id.ts'
import { batch, batchSeen } from './batch.ts'
import type { Context } from './context.ts'

/** A file or folder by its id, or by its path in a drive. */
export interface EntryRef {
  id?: string | null | undefined
  at?: { drive?: string | null | undefined; path: string } | null | undefined
}

/**
 * The subject of a rule about a drive or a workspace: the drive or workspace itself, a node in it,
 * or a reference to it.
 */
export type Subject =
  | Drive
  | { drive: Drive }
  /**
   * The drive with this id; without an id, the caller's own drive. With `orShare`, the id may also
   * be of a share that the caller may edit.
   */
  | { driveId: string | null | undefined; orShare?: true }
  /** The shared entries that the caller may edit through the share with this token. */
  | { shareToken: string }
  /** The one drive that contains these entries; `at` names the argument. `orShare` as above. */
  | { entries: readonly EntryRef[]; at?: string; orShare?: true }
  /** The one drive whose trash contains these items. `to`, if given, must be in the same drive. */
  | { trashItems: readonly string[]; to?: EntryRef | null | undefined }
  /** The drive of the file with this version. */
  | { version: string }
  /** The drive that has this WebDAV lock. */
  | { lock: string }
  /** The drive that has this tag. */
  | { tag: string }
  /** The drive that receives the files of this file request. */
  | { fileRequest: string }
  /** The destination of this unfinished upload: a drive or a share. */
  | { upload: string }
  | WorkspaceView
  | { workspace: WorkspaceView }
  /**
   * The workspace with this id, or its drive. With `tellsAbsence`, the error shows anyone whether
   * the workspace exists.
   */
  | { workspaceId: string; tellsAbsence?: true }
  /** No workspace, if the rule makes it optional. */
  | 'no workspace'

const treesOfDrives = batchSeen(
  async ({ drives }, caller, ids) =>
    new Map(
      (await drives.workspaceTreesOf(caller, 'b.id', ids)).map(found => [
        found.tree.bucketId,
        found,
      ]),
    ),
)

const treesOfWorkspaces = batchSeen(async ({ drives }, caller, ids) =>
  keyById(await drives.workspaceTreesOf(caller, 'w.id', ids)),
)

const treesOfShares = batchSeen(async ({ drives }, caller, ids) =>
  keyById(await drives.sharedDrivesOf(caller, ids)),
)

const bucketsOf = {
  entry: batch(({ services }, ids) => services.drives.bucketsOf('entry', ids)),
  trashItem: batch(({ services }, ids) => services.drives.bucketsOf('trash_item', ids)),
  fileRequest: batch(({ services }, ids) => services.drives.bucketsOf('file_request', ids)),
  upload: batch(({ services }, ids) => services.drives.bucketsOf('upload_session', ids)),
  version: batch(({ services }, ids) => services.drives.bucketsOf('version', ids)),
  tag: batch(({ services }, ids) => services.drives.bucketsOf('tag', ids)),
  lock: batch(({ services }, ids) => services.drives.bucketsOf('dav_lock', ids)),
}

/** The drive with an id, if the caller may know of it. It is not open yet. */
export async function findDrive(
  context: Context,
  caller: Caller,
  id: string,
): Promise<Drive | null> {
  if (id === caller.bucket.bucketId) return Drive.own(caller)
  const found = await treesOfDrives(context, id)
  return found ? Drive.ofWorkspace(caller, found) : null
}

/**
 * A live share as a drive that the caller may edit. It is not open yet.
 * @throws FORBIDDEN if they may only view it
 */
async function findShared(
  context: Context,
  caller: Caller,
  shareId: string,
): Promise<Drive | null> {
  const found = await treesOfShares(context, shareId)
  if (!found) return null
  if (found.mayEdit) return Drive.ofShare(caller, found)
  throw new Forbidden('You may view this share but not change it. Ask the person who shared it.')
}

/** The drive of a workspace of the caller. It is not open yet. */
export async function findDriveOfWorkspace(
  context: Context,
  caller: Caller,
  id: string,
): Promise<Drive | null> {
  const found = await treesOfWorkspaces(context, id)
  return found ? Drive.ofWorkspace(caller, found) : null
}

/** A workspace of the caller, if their credential covers it. */
export async function findWorkspace(
  context: Context,
  caller: Caller,
  id: string,
): Promise<WorkspaceView | null> {
  if (caller.via === 'api_key' && caller.workspaceId !== id) return null
  return (await findDriveOfWorkspace(context, caller, id))?.workspace ?? null
}

/**
 * The drive that contains or contained an entry, or the destination of an unfinished upload. It is
 * not open yet.
 */
export async function findDriveOf(
  context: Context,
  caller: Caller,
  kind: keyof typeof bucketsOf,
  id: string,
): Promise<Drive | null> {
  const bucketId = await bucketsOf[kind](context, id)
  if (bucketId === undefined) return null
  // An upload through a share is found through the share.
  const drive = await findDrive(context, caller, bucketId)
  return drive ?? (kind === 'upload' ? findShared(context, caller, bucketId) : null)
}

const notFound: Record<keyof typeof bucketsOf, (id: string) => AppError> = {
  entry: id => entryNotFound(id),
  trashItem: id =>
    new AppError('TRASH_ITEM_NOT_FOUND', 'There is no such item in your trash.', { id }),
  fileRequest: () =>
    new AppError(
      'FILE_REQUEST_NOT_FOUND',
      'You have made no such file request. Use an id from the list.',
    ),
  upload: () => new AppError('UPLOAD_NOT_FOUND', 'You have no such upload. Start another one.'),
  tag: id =>
    new AppError('TAG_NOT_FOUND', 'There is no such tag here. Use an id from a list.', { id }),
  version: id => new AppError('VERSION_NOT_FOUND', 'Your files have no such version.', { id }),
  lock: id => new AppError('LOCK_NOT_FOUND', 'Lock not found. It may have ended.', { id }),
}

async function requireDriveOf(
  context: Context,
  caller: Caller,
  kind: keyof typeof bucketsOf,
  id: string,
): Promise<Drive> {
  const drive = await findDriveOf(context, caller, kind, id)
  if (!drive) throw notFound[kind](id)
  return drive
}

async function driveOf(
  context: Context,
  caller: Caller,
  subject: Subject,
  level: DriveLevel,
): Promise<Drive> {
  if (subject instanceof Drive) return subject
  if (subject === 'no workspace') throw new Error('This is not the id of a drive.')
  if ('drive' in subject) return subject.drive
  if ('driveId' in subject) {
    // An empty id is invalid. Only a missing id means the caller's own drive.
    const id = subject.driveId ?? caller.bucket.bucketId
    const drive =
      (await findDrive(context, caller, id)) ??
      (subject.orShare && (await findShared(context, caller, id)))
    if (!drive)
      throw new Forbidden(
        subject.orShare
          ? 'You may not change anything here: this is not one of your drives, or it is no longer shared with you.'
          : 'You have no access to this drive, or it does not exist.',
      )
    return drive
  }
  if ('shareToken' in subject) {
    requireKeyFor(caller, null, level)
    const id = context.services.shareLinks.idOf(subject.shareToken)
    const drive = id === null ? null : await findShared(context, caller, id)
    if (!drive)
      throw new AppError(
        'SHARE_NOT_FOUND',
        'No such share exists for you: it has ended, or never existed.',
      )
    return drive
  }
  if ('workspaceId' in subject) {
    requireKeyFor(caller, subject.workspaceId, level)
    const drive = await findDriveOfWorkspace(context, caller, subject.workspaceId)
    if (!drive) throw notAMember('enter')
    return drive
  }
  if ('fileRequest' in subject)
    return requireDriveOf(context, caller, 'fileRequest', subject.fileRequest)
  if ('upload' in subject) return requireDriveOf(context, caller, 'upload', subject.upload)
  if ('tag' in subject) return requireDriveOf(context, caller, 'tag', subject.tag)
  if ('lock' in subject) return requireDriveOf(context, caller, 'lock', subject.lock)
  if ('version' in subject) return requireDriveOf(context, caller, 'version', subject.version)
  if ('trashItems' in subject) {
    const { trashItems, to } = subject
    const drives = trashItems.map(id => requireDriveOf(context, caller, 'trashItem', id))
    return theOne(
      await allInOrder([...drives, ...(to ? [driveOfEntry(context, caller, to, level)] : [])]),
      caller,
      'input.items',
    )
  }
  if (!('entries' in subject))
    throw new Error('This is not the id of a drive or of something in a drive.')
  return theOne(
    await allInOrder(
      subject.entries.map(entry => driveOfEntry(context, caller, entry, level, subject.orShare)),
    ),
    caller,
    subject.at ?? 'input.entries',
  )
}

async function driveOfEntry(
  context: Context,
  caller: Caller,
  { id, at }: EntryRef,
  level: DriveLevel,
  orShare?: true,
): Promise<Drive> {
  if (typeof id !== 'string')
    return driveOf(context, caller, { driveId: at?.drive, ...(orShare && { orShare }) }, level)
  return requireDriveOf(context, caller, 'entry', id)
}

/**
 * The values, or the error of the first promise in the list that failed. Throwing the earliest
 * failure would reveal what exists in other people's drives.
 */
async function allInOrder<T>(promises: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(promises)
  const values: T[] = []
  for (const promise of promises) values.push(await promise)
  return values
}

/** @throws INVALID_INPUT for several drives */
function theOne(drives: Drive[], caller: Caller, field: string): Drive {
  const [drive = Drive.own(caller)] = drives
  if (drives.some(other => other.id !== drive.id || other.share?.id !== drive.share?.id))
    throw new InvalidInput(
      field,
      'These entries are in several drives. Name entries of one drive at a time.',
    )
  return drive
}

export const entryNotFound = (id: string) =>
  new AppError(
    'FILE_NOT_FOUND',
    'There is no file or folder with this id. Use an id from a listing.',
    { id },
  )

/**
 * Opens a drive that no rule of the field covers, or opens one for work that continues after its
 * rule has passed.
 */
export async function openDrive(
  context: Context,
  caller: Caller,
  subject: Subject,
  level: DriveLevel,
): Promise<OpenDrive> {
  return (await driveOf(context, caller, subject, level)).open(level)
}

async function workspaceTreeOf(
  context: Context,
  caller: Caller,
  subject: Subject,
  right: WorkspaceRight,
): Promise<WorkspaceTree> {
  if (subject === 'no workspace' || !('workspaceId' in subject))
    throw new Error('This is not the id of a workspace.')
  const { workspaceId: id, tellsAbsence } = subject
  requireWorkspace(caller, id)
  const found = await treesOfWorkspaces(context, id)
  if (found) return found
  if (tellsAbsence && !(await context.services.workspaces.exists(id)))
    throw new AppError('WORKSPACE_NOT_FOUND', 'There is no such workspace.')
  throw notAMember(right)
}

async function workspaceOf(
  context: Context,
  caller: Caller,
  subject: Subject,
  right: WorkspaceRight,
): Promise<WorkspaceView> {
  if (subject === 'no workspace') throw new Error('This rule needs a workspace.')
  if ('workspace' in subject && subject.workspace) return subject.workspace
  if ('role' in subject) return subject
  const {
    tree: _tree,
    limits: _limits,
    ...workspace
  } = await workspaceTreeOf(context, caller, subject, right)
  return workspace
}

/**
 * The rules about drives and workspaces, for the auth scopes of a builder. They store what they
 * load in the context of the field.
 */
export function accessScopes(context: Context & { subject?: () => Subject | Promise<Subject> }) {
  const asker = (): Caller => {
    if (!context.caller) throw new Unauthenticated()
    return context.caller
  }
  const subject = async (): Promise<Subject> => {
    if (!context.subject) throw new Error('The access plugin must come before scope-auth.')
    return context.subject()
  }
  return {
    drive: async (level: DriveLevel): Promise<boolean> => {
      const drive = await driveOf(context, asker(), await subject(), level)
      Object.assign(context, drive.open(level))
      return true
    },
    workspace: async (right: WorkspaceRight): Promise<boolean> => {
      const caller = asker()
      const about = await subject()
      requireWorkspaceKey(caller, right)
      const workspace = await workspaceOf(context, caller, about, right)
      Object.assign(context, { workspace: openWorkspace(caller, workspace, right) })
      return true
    },
    workspaceTree: async (right: WorkspaceRight): Promise<boolean> => {
      const caller = asker()
      requireWorkspaceKey(caller, right)
      const found = await workspaceTreeOf(context, caller, await subject(), right)
      Object.assign(context, { workspace: openWorkspace(caller, found, right) })
      return true
    },
    workspaceIfAny: async (right: WorkspaceRight): Promise<boolean> => {
      const caller = asker()
      const about = await subject()
      const workspace =
        about === 'no workspace' ? null : await workspaceOf(context, caller, about, right)
      Object.assign(context, { workspace: workspace && openWorkspace(caller, workspace, right) })
      return true
    },
  }
}

/** The values that the rules pass to resolvers. */
export type DriveContext = Context & { caller: Caller } & OpenDrive
export type WorkspaceContext = Context & { caller: Caller; workspace: WorkspaceView }
export type WorkspaceTreeContext = Context & { caller: Caller; workspace: WorkspaceTree }
export type WorkspaceIfAnyContext = Context & { caller: Caller; workspace: WorkspaceView | null }
