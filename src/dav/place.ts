import type { Caller } from '../access/caller.ts'
import { Drive } from '../access/drive.ts'
import { AppError } from '../runtime/errors.ts'
import type { Services } from '../services/index.ts'
import type { PlacedEntry } from '../services/tree/entry-list.ts'
import { parsePath } from '../values/paths.ts'

/** A collection that is no folder of a drive: the root, and the list of workspaces. */
interface Virtual {
  drive: null
  /** The names in its URL. */
  names: readonly string[]
  title: string
  children: { name: string; title: string; createdAt: number }[]
}

/** A path in a drive. */
export interface InDrive {
  drive: Drive
  /** The names in the URL that lead to the root of the drive. */
  base: readonly string[]
  /** What the root of the drive is called. */
  title: string
  /** From the root of the drive down. */
  names: string[]
}

export type Place = Virtual | InDrive

/** A file or folder that is there. */
export type Resource = Pick<
  PlacedEntry,
  'id' | 'kind' | 'name' | 'contentType' | 'size' | 'md5' | 'createdAt' | 'updatedAt' | 'revision' | 'blobId'
>

const FILES = 'files'
const WORKSPACES = 'workspaces'

/** Whether the caller has a drive of their own here: a key of a workspace has none. */
const hasOwn = ({ workspaceId }: Caller): boolean => workspaceId === null

const notHere = () => new AppError('FOLDER_NOT_FOUND', 'There is nothing at this URL.')

/**
 * Where a path leads: /files is the personal drive, /workspaces/<slug> that of a workspace. Each key reaches one of them; what it may not reach
 * is refused where the drive is opened.
 * @throws FOLDER_NOT_FOUND, INVALID_PATH
 */
export async function placeOf(services: Services, caller: Caller, segments: readonly string[]): Promise<Place> {
  const [first, second] = segments
  if (first === undefined) {
    const name = hasOwn(caller) ? FILES : WORKSPACES
    return { drive: null, names: [], title: 'Satchel', children: [{ name, title: name, createdAt: 0 }] }
  }
  if (first === FILES)
    return { drive: Drive.own(caller), base: [FILES], title: FILES, names: parsePath(segments.slice(1).join('/')) }
  if (first !== WORKSPACES) throw notHere()
  if (second === undefined) {
    const all = hasOwn(caller) ? [] : await services.workspaces.list(caller)
    const children = all.map(({ slug, name, createdAt }) => ({ name: slug, title: name, createdAt }))
    return { drive: null, names: [WORKSPACES], title: WORKSPACES, children }
  }
  const id = await services.workspaces.idOfSlug(caller, second)
  const [workspace] = id === undefined ? [] : await services.drives.workspaceTreesOf(caller, 'w.id', [id])
  if (!workspace) throw notHere()
  return {
    drive: Drive.ofWorkspace(caller, workspace),
    base: [WORKSPACES, second],
    title: workspace.name,
    names: parsePath(segments.slice(2).join('/')),
  }
}

/** @throws FORBIDDEN for what is no part of a drive */
export function requireDrive(place: Place): InDrive {
  if (place.drive) return place
  throw new AppError('FORBIDDEN', 'Only what is in a drive can be changed. Open files, or a workspace.')
}

/** The same for what is not the root of a drive. */
export function requireEntry(place: Place): InDrive {
  const inDrive = requireDrive(place)
  if (inDrive.names.length > 0) return inDrive
  throw new AppError('FORBIDDEN', 'This is the root of a drive, which cannot be moved, copied or deleted.')
}

/**
 * The ETag of a file: its revision, as the other interfaces have it, and which file it is. A path may come to lead to another file of the same
 * revision, as it does when editors save under another name and rename; a strong validator must tell these apart (RFC 9110, section 8.8.1).
 */
export const etagOf = ({ revision, id }: Pick<Resource, 'revision' | 'id'>): string => `"${revision}-${id}"`
