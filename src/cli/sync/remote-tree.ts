import limitTo from 'p-limit'
import { readAllEvents, readEvents } from '../event-page.ts'
import { Failure, isFailure } from '../failure.ts'
import {
  SyncEntriesDocument,
  type SyncEntryFragment,
  SyncLevelDocument,
  SyncRootDocument,
} from '../generated.ts'
import { allPages } from '../pages.ts'
import { joinPath } from '../path.ts'
import { DEEPEST, driveIn, inDrive, nothing, type Place } from '../place.ts'
import { byPath, type Entry } from './entry.ts'

/** An entry of a remote folder, as last seen. */
export interface RemoteEntry extends Entry {
  id: string
  parentId: string
  name: string
  revision: number
  updatedAt: string
  /** For files. */
  md5: string
}

/** The contents of a remote folder, at a cursor of the drive's events. */
export interface RemoteState {
  /** Null if the folder did not exist. */
  rootId: string | null
  cursor: string
  entries: RemoteEntry[]
}

/** The most ids that one request may contain. */
const MAX_IDS = 100
const PARALLEL = 8

/**
 * Reads the contents of a remote folder. With an earlier state, only the changes are fetched;
 * otherwise everything is listed.
 */
export async function readRemote(
  place: Place,
  path: string,
  earlier: RemoteState | null,
): Promise<RemoteState> {
  const rootId = await findRoot(place, path)
  if (earlier && earlier.rootId === rootId && rootId !== null)
    try {
      return await catchUp(place, path, { ...earlier, rootId })
    } catch (error) {
      // Events expire, and a restored service does not know the cursor.
      if (!isFailure(error, 'CURSOR_EXPIRED', 'INVALID_INPUT')) throw error
    }
  // Read before the listing, so that the events include all changes during it.
  const { cursor } = await readEvents(place, 'now')
  if (rootId === null) return { rootId, cursor, entries: [] }
  // An entry moved during the listing, into a folder that was already listed, would seem to be
  // deleted.
  return catchUp(place, path, { rootId, cursor, entries: await listBelow(place, rootId) })
}

/** The entries by path relative to the root. */
export const remoteEntries = (state: RemoteState): Map<string, RemoteEntry> =>
  byPath(reachable(state))

/** All entries that are reachable from the root, by path. */
function reachable({ rootId, entries }: RemoteState): Map<string, RemoteEntry> {
  const found = new Map<string, RemoteEntry>()
  const children = Map.groupBy(entries, entry => entry.parentId)
  const visit = (parentId: string, at: string): void => {
    for (const entry of children.get(parentId) ?? []) {
      const path = joinPath(at, entry.name)
      found.set(path, entry)
      if (entry.kind === 'folder') visit(entry.id, path)
    }
  }
  if (rootId !== null) visit(rootId, '')
  return found
}

async function findRoot({ client, drive, show }: Place, path: string): Promise<string | null> {
  const { entry } = driveIn(await client.request(SyncRootDocument, { ...drive, path }))
  if (!entry) return null
  if (entry.__typename === 'Folder') return entry.id
  throw new Failure('USAGE', `${show(path)} is a file. Name a folder.`)
}

async function listBelow({ client }: Place, rootId: string): Promise<RemoteEntry[]> {
  const limit = limitTo(PARALLEL)
  const all: RemoteEntry[] = []
  const list = async (parentId: string, depth: number): Promise<void> => {
    if (depth > DEEPEST)
      throw new Failure(
        'BAD_ANSWER',
        'The service lists folders that are nested deeper than it allows.',
      )
    const nodes = await limit(() =>
      allPages(async after => {
        const { node } = await client.request(SyncLevelDocument, { folder: parentId, after })
        return node && 'entries' in node ? node.entries : nothing
      }),
    )
    const level = nodes.map(node => entryOf(node, parentId))
    // A folder may have more entries than a call can have arguments.
    for (const entry of level) all.push(entry)
    await Promise.all(
      level.filter(({ kind }) => kind === 'folder').map(({ id }) => list(id, depth + 1)),
    )
  }
  await list(rootId, 0)
  return all
}

/**
 * Reads the events since a state, and fetches the affected entries: only their current state
 * matters.
 */
async function catchUp(
  place: Place,
  root: string,
  { rootId, cursor: after, entries }: RemoteState & { rootId: string },
): Promise<RemoteState> {
  const known = new Map(entries.map(entry => [entry.id, entry]))
  const { events, cursor } = await readAllEvents(place, after)
  const about = events.flatMap(({ kind, subject_id: id, details }) =>
    id !== null && /^(file|folder)\.|^version\.restored$/.test(kind)
      ? [{ kind, id, ...details }]
      : [],
  )
  // A folder may have been outside the root while its contents changed.
  const hasMoved = about.some(({ kind }) => /^folder\.(moved|renamed|restored)$/.test(kind))
  const isBelow = (path: string | null) =>
    path !== null && (root === '' || inDrive(path).startsWith(`${root}/`))
  const changed = about.filter(
    ({ id, path, from }) => hasMoved || known.has(id) || isBelow(path) || isBelow(from),
  )
  if (changed.length === 0) return { rootId, cursor, entries }
  const isIn = (entry: RemoteEntry | undefined) =>
    entry !== undefined &&
    (entry.parentId === rootId || known.get(entry.parentId)?.kind === 'folder')
  const madeHere = new Set(about.flatMap(({ kind, id }) => (kind === 'folder.created' ? [id] : [])))
  const ids = [...new Set(changed.map(({ id }) => id))]
  const appeared: string[] = []
  for (const [id, entry] of await lookUp(place, ids)) {
    // All entries of a new folder have events of their own, but those of a moved or restored folder
    // do not.
    if (entry?.kind === 'folder' && !known.has(id) && !madeHere.has(id)) appeared.push(id)
    if (entry) known.set(id, entry)
    else known.delete(id)
  }
  // Without folder events, all known entries are still where they were.
  if (!about.some(({ kind }) => kind.startsWith('folder.'))) {
    for (const id of ids) if (!isIn(known.get(id))) known.delete(id)
    return { rootId, cursor, entries: [...known.values()] }
  }
  // Drops entries that are not, or no longer, below the root.
  const below = () => [...reachable({ rootId, cursor, entries: [...known.values()] }).values()]
  const reached = new Set(below().map(({ id }) => id))
  for (const folder of appeared.filter(id => reached.has(id)))
    for (const entry of await listBelow(place, folder)) known.set(entry.id, entry)
  return { rootId, cursor, entries: below() }
}

/** Null for entries that no longer exist. */
async function lookUp({ client }: Place, ids: string[]): Promise<[string, RemoteEntry | null][]> {
  const limit = limitTo(PARALLEL)
  const groups = Array.from({ length: Math.ceil(ids.length / MAX_IDS) }, (_, i) =>
    ids.slice(i * MAX_IDS, (i + 1) * MAX_IDS),
  )
  const found = await Promise.all(
    groups.map(group =>
      limit(async () => {
        const { nodes } = await client.request(SyncEntriesDocument, { ids: group })
        return group.map((id, i): [string, RemoteEntry | null] => {
          const node = nodes[i]
          const isEntry = node?.__typename === 'File' || node?.__typename === 'Folder'
          return [id, isEntry && node.parent ? entryOf(node, node.parent.id) : null]
        })
      }),
    ),
  )
  return found.flat()
}

function entryOf(node: SyncEntryFragment, parentId: string): RemoteEntry {
  const { id, name, revision, updatedAt } = node
  const content =
    'md5' in node
      ? { kind: 'file' as const, size: node.size, md5: node.md5 }
      : { kind: 'folder' as const, size: 0, md5: '' }
  return { id, parentId, name, revision, updatedAt, ...content }
}
