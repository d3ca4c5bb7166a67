import { hrefOf, idInShare, nameOf, type Place, parentOf, trim } from '../drive/place.ts'
import { mediaTypeOf } from '../parts/media-type.ts'
import type { Entry } from '../screens/files/documents.ts'
import type { DriveHere } from '../screens/files/use-folder.ts'
import type { Found } from './documents.ts'

/** What was found, as an entry of a list. */
export type Hit = Entry & {
  matchedIn: Found['matchedIn']
  snippet: Found['snippet']
  share: Found['node']['share']
  /** Null for what others share. */
  drive: NonNullable<Found['node']['entry']>['drive'] | null
  createdBy: NonNullable<Found['node']['entry']>['createdBy']
}

/**
 * What is shared is named by its share and path. The id stands in addresses and names an element.
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

/** The type of a file; null for a folder. */
export const typeOf = (hit: Hit): string | null =>
  hit.__typename === 'File' ? mediaTypeOf(hit) : null

/** The slug of the workspace that it is in. */
const workspaceOf = ({ drive }: Hit): string | null =>
  drive?.owner.__typename === 'Workspace' ? drive.owner.slug : null

/** Where its path leads from. */
export const placeOfHit = (hit: Hit): Place => ({
  workspace: workspaceOf(hit),
  ...(hit.share && { share: hit.share.id }),
  path: parentOf(trim(hit.path)),
})

/**
 * Whether only the page of its share shows it: a shared file has no folder here, and what may not
 * be downloaded is seen there.
 */
export const isOnPage = ({ share }: Hit): boolean =>
  share !== null && (share.entryKind === 'FILE' || !share.allowDownload)

/** The address of a folder, or of the folder of a file. */
export function hrefOfHit(hit: Hit): string {
  const place = placeOfHit(hit)
  return hrefOf(hit.__typename === 'Folder' ? { ...place, path: trim(hit.path) } : place)
}

/** Where it is acted on. */
export const whereOfHit = ({ drive, share }: Hit) => ({
  id: drive?.id ?? share?.id ?? '',
  share: share?.token,
  hasTrash: drive !== null && drive.trashDays !== 0,
})

/**
 * The drive that they are in, or the share by which they are seen, with what one may do there. Of
 * several, those who may delete everything may do so if all of it can be restored.
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

/** The drive that it is in, or the share by which it is seen, with what one may do there. */
function driveOfHit({ drive, share, path }: Hit, ownDrive: string): DriveHere {
  if (drive) {
    const may = (permission: (typeof drive.permissions)[number]) =>
      drive.permissions.includes(permission)
    const rights = { canWrite: may('WRITE'), canDelete: may('DELETE'), canShare: may('SHARE') }
    return { id: drive.id, ...rights, trashDays: drive.trashDays }
  }
  // What is shared itself stays where it is.
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
 * The names from the drive, or from what is shared, to the folder that it is in. @param own what
 * the own drive is called
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
