import { hrefOf, idInShare, nameOf, type Place, parentOf, trim } from '../drive/place.ts'
import type { Entry } from '../screens/files/documents.ts'
import type { DriveHere } from '../screens/files/use-folder.ts'
import type { Found } from './documents.ts'

/** A search result in the form of a list entry. */
export type Hit = Entry & {
  matchedIn: Found['matchedIn']
  snippet: Found['snippet']
  share: Found['node']['share']
  /** Null for entries of other people's shares. */
  drive: NonNullable<Found['node']['entry']>['drive'] | null
  createdBy: NonNullable<Found['node']['entry']>['createdBy']
}

/**
 * An entry of a share is identified by share and path. The id is used in URLs and as an element id.
 */
const idOfShared = (share: string, path: string) => `${share}.${idInShare(path)}`

export function hitOf({ node, matchedIn, snippet }: Found): Hit {
  const { entry, share, kind, name, path, size, contentType, updatedAt } = node
  const about = { matchedIn, snippet, share }
  if (entry) return { ...entry, ...about }
  const line = {
    name,
    path,
    size,
    updatedAt,
    createdAt: updatedAt,
    shareCount: null,
    isFavourite: false,
    tags: [],
  }
  const shared = {
    ...line,
    ...about,
    id: idOfShared(share?.id ?? '', path),
    drive: null,
    createdBy: null,
  }
  return kind === 'FOLDER'
    ? { ...shared, __typename: 'Folder', fileCount: 0 }
    : { ...shared, __typename: 'File', contentType: contentType ?? '' }
}

/** The media type of a file; null for a folder. */
export const typeOf = (hit: Hit): string | null =>
  hit.__typename === 'File' ? hit.contentType : null

/** Slug of the workspace that contains the result. */
const workspaceOf = ({ drive }: Hit): string | null =>
  drive?.owner.__typename === 'Workspace' ? drive.owner.slug : null

/** The place where its path starts. */
export const placeOfHit = (hit: Hit): Place => ({
  workspace: workspaceOf(hit),
  ...(hit.share && { share: hit.share.id }),
  path: parentOf(trim(hit.path)),
})

/**
 * Whether only the share page can show it: the folder of a shared file is not visible here, and the
 * share page shows files that may not be downloaded.
 */
export const isOnPage = ({ share }: Hit): boolean =>
  share !== null && (share.entryKind === 'FILE' || !share.allowDownload)

/** The URL of a folder, or of the folder that contains a file. */
export function hrefOfHit(hit: Hit): string {
  const place = placeOfHit(hit)
  return hrefOf(hit.__typename === 'Folder' ? { ...place, path: trim(hit.path) } : place)
}

/** The drive or share for actions on the result. */
export const whereOfHit = ({ drive, share }: Hit) => ({
  id: drive?.id ?? share?.id ?? '',
  share: share?.token,
  hasTrash: drive !== null && drive.trashDays !== 0,
})

/**
 * The drive or share of some results, with the person's permissions. Results from several can be
 * deleted together only if all of them go to a trash.
 */
export function driveOfHits(hits: readonly Hit[], ownDrive: string): DriveHere | undefined {
  const each = hits.map(hit => driveOfHit(hit, ownDrive))
  const [first] = each
  const [canWrite, canDelete] = [
    each.every(({ canWrite }) => canWrite),
    each.every(({ canDelete }) => canDelete),
  ]
  if (!first || each.every(({ id }) => id === first.id))
    return first && { ...first, canWrite, canDelete }
  const trashDays = Math.min(...each.map(({ trashDays }) => trashDays))
  const mixed = { hasShared: each.some(({ share }) => share) }
  return {
    id: ownDrive,
    canWrite: false,
    canDelete: canDelete && trashDays > 0,
    canShare: false,
    trashDays,
    mixed,
  }
}

/** The drive or share of a result, with the person's permissions. */
function driveOfHit({ drive, share, path }: Hit, ownDrive: string): DriveHere {
  if (drive) {
    const may = (permission: (typeof drive.permissions)[number]) =>
      drive.permissions.includes(permission)
    const rights = { canWrite: may('WRITE'), canDelete: may('DELETE'), canShare: may('SHARE') }
    return { id: drive.id, ...rights, trashDays: drive.trashDays }
  }
  // The shared entry itself cannot be moved or deleted.
  const mayEdit = share?.mayEdit === true && path !== '' && share.entryKind === 'FOLDER'
  return {
    id: share?.id ?? '',
    canWrite: mayEdit,
    canDelete: mayEdit,
    canShare: false,
    trashDays: 0,
    share: { token: share?.token ?? '', owner: share?.sharedBy.name ?? '', ownDrive },
  }
}

/**
 * The folder names from the root of the drive or share down to the result.
 *
 * @param own display name of the own drive
 */
export function namesAbove(hit: Hit, own: string): string[] {
  const { drive, share } = hit
  const root = share
    ? share.entryKind === 'FOLDER' && hit.path !== ''
      ? [share.fileName || nameOf(share.firstName)]
      : []
    : [drive?.owner.__typename === 'Workspace' ? drive.owner.name : own]
  return [...root, ...parentOf(trim(hit.path)).split('/').filter(Boolean)]
}
