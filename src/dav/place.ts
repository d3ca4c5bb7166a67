import { FOLDER } from '../../db/models/entry.ts'
import type { Caller } from '../access/caller.ts'
import { Drive } from '../access/drive.ts'
import { mayUsePrivateFiles, reachesWorkspaces } from '../access/scopes.ts'
import { AppError, Forbidden } from '../runtime/errors.ts'
import type { Services } from '../services/index.ts'
import type { Visitor } from '../services/sharing/share-link.ts'
import type { ShareView } from '../services/sharing/share-list.ts'
import { copyName } from '../upload-engine/copy-name.ts'
import { namesApart } from '../upload-engine/names-apart.ts'
import { parsePath } from '../values/paths.ts'
import { lettersOf, receivedLetters } from './letters.ts'
import { driveReading, type Reading, type Resource, shareReading } from './reading.ts'

/** A virtual collection: the root, or the list of workspaces or shares. */
export interface Virtual {
  /** The names in its URL path. */
  names: readonly string[]
  title: string
  children: {
    name: string
    title: string
    createdAt: number
    resource?: Resource
    /** Further live properties, as in `Described`. */
    extra?: ReadonlyMap<string, string>
  }[]
  /** The entry that the collection represents in the tree of the apps. */
  resource?: Resource
  reading?: undefined
}

/** A path in a drive, or in a share that the caller received. */
export interface Readable {
  reading: Reading
  /** Null for a read-only share. */
  drive: Drive | null
  /** The names in the URL path up to the root of the drive. */
  base: readonly string[]
  /** The display name of the drive's root. */
  title: string
  /** The names below the root of the drive. */
  names: string[]
}

export type InDrive = Readable & { drive: Drive }

export type Place = Virtual | Readable

const FILES = 'files'
const WORKSPACES = 'workspaces'
const SHARED = 'shared'

/** Whether the caller has a personal drive here. A workspace key has none. */
const hasOwn = ({ workspaceId }: Caller): boolean => workspaceId === null

const hasWorkspaces = (caller: Caller): boolean => !hasOwn(caller) || reachesWorkspaces(caller)

const notHere = () => new AppError('FOLDER_NOT_FOUND', 'There is nothing at this URL.')

/** The caller in the form that shares need. */
export type Asker = Visitor & { caller: Caller }

interface Received {
  /** Changes with the contents of a share of several entries. Null for one entry. */
  stamp: number | null
  name: string
  /** The name with a part of the share id. It also works when `name` belongs to another share. */
  stable: string
  share: ShareView
}

/** Limits the list: each request below it reads all received shares. */
const MAX_RECEIVED = 1000

/**
 * The newest shares that the caller received, oldest first, each with a unique name. The first
 * share keeps a contested name. Excludes shares with a password, because WebDAV clients cannot ask
 * for it.
 */
async function received(services: Services, caller: Caller): Promise<Received[]> {
  mayUsePrivateFiles(caller, 'read')
  const { rows } = await services.shares.receivedBy(caller, MAX_RECEIVED, null, {
    newestFirst: true,
  })
  const open = rows.reverse().filter(share => !share.passwordProtected)
  const seen = new Set<string>()
  const wanted = open.map(share => {
    const name = share.names.at(-1) ?? ''
    const stable = copyName(name, share.id.slice(-8))
    const isFirst = !seen.has(name)
    seen.add(name)
    return { name: isFirst ? name : stable, stable }
  })
  const names = namesApart(wanted.map(({ name }) => name))
  const several = open.filter(({ entryCount }) => entryCount !== null).map(({ id }) => id)
  const stamps = await services.shares.stampsOf(several)
  return open.map((share, i) => ({
    name: names[i] ?? '',
    stable: wanted[i]?.stable ?? '',
    stamp: stamps.get(share.id) ?? null,
    share,
  }))
}

/**
 * A share as a resource: by its row in the list for several entries, and by the entry itself for
 * one entry.
 */
const resourceOf = (
  { share, name }: Received,
  {
    createdAt,
    updatedAt,
    modifiedAt,
    revision,
    contentRevision,
    changeStamp,
  }: Pick<
    Resource,
    'createdAt' | 'updatedAt' | 'modifiedAt' | 'revision' | 'contentRevision' | 'changeStamp'
  >,
): Resource => ({
  id: share.entryId,
  kind: share.kind,
  name,
  contentType: share.fileType,
  size: share.size,
  createdAt,
  updatedAt,
  modifiedAt,
  revision,
  contentRevision,
  changeStamp,
})

async function listed(services: Services, caller: Caller): Promise<Virtual['children']> {
  const all = await received(services, caller)
  const single = all.filter(({ share }) => share.entryCount === null)
  const entries = await services.entryLists.byIds(single.map(({ share }) => share.entryId))
  return all.map(one => {
    const { createdAt, entryCount, entryId } = one.share
    const entry = entryCount === null ? entries.get(entryId) : undefined
    const times = { createdAt, updatedAt: createdAt, modifiedAt: createdAt }
    const several = { ...times, revision: null, contentRevision: null, changeStamp: one.stamp }
    const letters = receivedLetters(one.share.mayEdit, one.share.kind === FOLDER)
    const resource = { ...resourceOf(one, entry ?? several), letters }
    return { name: one.name, title: one.name, createdAt: resource.createdAt, resource }
  })
}

async function inShare(
  services: Services,
  asker: Asker,
  name: string,
  names: string[],
): Promise<Readable> {
  const { caller } = asker
  const all = await received(services, caller)
  const found = all.find(one => one.name === name) ?? all.find(one => one.stable === name)
  if (!found) throw notHere()
  const { share } = found
  const [shared] = share.mayEdit ? await services.drives.sharedDrivesOf(caller, [share.id]) : []
  const drive = shared?.mayEdit ? Drive.ofShare(caller, shared) : null
  const reading = shareReading(services, asker, { ...share, stamp: found.stamp }, name)
  return { reading, drive, base: [SHARED, name], title: name, names }
}

/** The workspaces of the caller, with the root of each if the caller may read it. */
async function workspaces(services: Services, caller: Caller): Promise<Virtual['children']> {
  if (!hasWorkspaces(caller)) return []
  const all = await services.workspaces.list(caller)
  const trees = await services.drives.workspaceTreesOf(
    caller,
    'w.id',
    all.map(({ id }) => id),
  )
  const drives = new Map(trees.map(found => [found.id, Drive.ofWorkspace(caller, found)]))
  const roots = await services.entryLists.byIds(
    [...drives.values()].flatMap(drive =>
      drive.refusal('read') ? [] : drive.open('read').tree.rootId,
    ),
  )
  return all.map(({ id, slug, name, createdAt }) => {
    const drive = drives.get(id)
    const root = drive && !drive.refusal('read') && roots.get(drive.open('read').tree.rootId)
    const listed = { name: slug, title: name, createdAt }
    if (!root) return listed
    const base = [WORKSPACES, slug]
    const letters = lettersOf({ drive, base }, { isFolder: true, isRoot: true })
    return { ...listed, resource: { ...root, name: slug, letters } }
  })
}

/** A path in the caller's own drive. */
export const inOwnDrive = (
  services: Services,
  { caller }: Asker,
  segments: readonly string[],
  base: string[],
): InDrive => {
  const drive = Drive.own(caller)
  const names = parsePath(segments.join('/'))
  return { reading: driveReading(services, drive), drive, base, title: FILES, names }
}

/**
 * Resolves a path: /files is the personal drive, /workspaces/<slug> a workspace's drive,
 * /shared/<name> a received share. Opening refuses what a key may not access.
 * @throws FOLDER_NOT_FOUND, INVALID_PATH
 */
export async function placeOf(
  services: Services,
  asker: Asker,
  segments: readonly string[],
): Promise<Place> {
  const { caller } = asker
  const [first, second] = segments
  if (first === undefined) {
    const names = [
      ...(hasOwn(caller) ? [FILES, SHARED] : []),
      ...(hasWorkspaces(caller) ? [WORKSPACES] : []),
    ]
    const children = names.map(name => ({ name, title: name, createdAt: 0 }))
    return { names: [], title: 'Satchel', children }
  }
  const inDrive = (drive: Drive, base: string[], title: string): InDrive => {
    const names = parsePath(segments.slice(base.length).join('/'))
    return { reading: driveReading(services, drive), drive, base, title, names }
  }
  if (first === FILES) return inOwnDrive(services, asker, segments.slice(1), [FILES])
  if (first === SHARED && second === undefined)
    return { names: [SHARED], title: SHARED, children: await listed(services, caller) }
  if (first === SHARED && second !== undefined)
    return inShare(services, asker, second.normalize('NFC'), parsePath(segments.slice(2).join('/')))
  if (first !== WORKSPACES) throw notHere()
  if (second === undefined) {
    return { names: [WORKSPACES], title: WORKSPACES, children: await workspaces(services, caller) }
  }
  const id = await services.workspaces.idOfSlug(caller, second)
  const [workspace] =
    id === undefined ? [] : await services.drives.workspaceTreesOf(caller, 'w.id', [id])
  if (!workspace) throw notHere()
  return inDrive(Drive.ofWorkspace(caller, workspace), [WORKSPACES, second], workspace.name)
}

/** @throws FORBIDDEN outside of drives, or in a read-only share */
export function requireDrive(place: Place): InDrive {
  if (!place.reading)
    throw new Forbidden(
      'Only the contents of drives can be changed. Open files, a workspace, or a share.',
    )
  const { drive } = place
  if (!drive)
    throw new Forbidden('You may view this share but not change it. Ask the person who shared it.')
  return { ...place, drive }
}

/** Like `requireDrive`, but also refuses the root of a drive. */
export function requireEntry(place: Place): InDrive {
  const inDrive = requireDrive(place)
  if (inDrive.names.length > 0) return inDrive
  throw new Forbidden(
    'This is the root of a drive or share. It cannot be moved, copied or deleted.',
  )
}

/** The fields of an entry that its ETag consists of. */
export type Tagged = Pick<Resource, 'id' | 'kind' | 'revision' | 'contentRevision' | 'changeStamp'>

/**
 * The ETag of an entry. For a file, the revision of its content, and its id. A file that is renamed
 * or moved keeps its ETag, so that clients do not download it again. A path may later lead to
 * another file with the same revision, for example when an editor saves to a new file and renames
 * it. A strong validator must distinguish these (RFC 9110, section 8.8.1). The ETag of a folder
 * changes with every change of anything below it, so that a client can skip a folder whose ETag it
 * knows.
 */
export const etagOf = (entry: Tagged): string => `"${tagOf(entry)}"`

/** An ETag without its quotation marks. */
export const tagOf = ({ id, kind, contentRevision, changeStamp }: Tagged): string =>
  `${kind === FOLDER ? changeStamp : contentRevision}-${id}`
