import { tagsIn } from '../actions/tag.ts'
import { workspacesOf } from '../actions/workspace.ts'
import type { Service } from '../client.ts'
import { findPlace, placeIn } from '../find-place.ts'
import { isMarkedRemote, parseRemote } from '../path.ts'

export interface RemoteWanted {
  /** Omits files. */
  foldersOnly: boolean
  /** Omits workspaces. */
  ownOnly: boolean
}

/** Slugs of the known workspaces, or ids where the slug is unknown. */
export async function workspaceNames(service: Service): Promise<string[]> {
  const stored = service.login.workspaces.map(({ id, slug }) => slug || id)
  const found = await workspacesOf(service, () => {}).catch(() => [])
  return [...new Set([...found.map(({ slug }) => slug), ...stored])]
}

/** Remote paths that begin with the word. Folders end with a slash, workspaces with a colon. */
export async function remotePaths(
  service: Service,
  word: string,
  wanted: RemoteWanted,
): Promise<string[]> {
  const isOwn = parseRemote(word).workspace === undefined
  if (!isOwn && wanted.ownOnly) return []
  const head = /^(?:[a-z0-9-]*:)?(?:.*\/)?/s.exec(word)?.[0] ?? ''
  const listed = async () => {
    const { place, path } = await findPlace(service, head)
    const { folders, files } = await place.list(path)
    return [
      ...folders.map(({ name }) => `${name}/`),
      ...(wanted.foldersOnly ? [] : files.map(({ name }) => name)),
    ]
  }
  const named = head === '' && !wanted.ownOnly ? workspaceNames(service) : Promise.resolve([])
  const [names, workspaces] = await Promise.all([listed().catch(() => []), named])
  return [
    ...names.map(name => (head === '' && needsSlash(name) ? `/${name}` : head + name)),
    ...workspaces.map(asRoot),
  ]
}

/** The tags of the own files. */
export async function tagNames(service: Service): Promise<string[]> {
  const { tags } = await tagsIn(await placeIn(service, undefined))
  return tags.map(({ name }) => name)
}

/** More candidates would not help. */
const MAX_TRASHED = 1000

/**
 * The most recent paths in the trash. Without a workspace in the word, also workspaces with a
 * colon.
 */
export async function trashedPaths(service: Service, word: string): Promise<string[]> {
  const { place, workspace } = await findPlace(service, word)
  const front = workspace === undefined ? '' : `${workspace}:`
  const slash = word.startsWith(`${front}/`) ? '/' : ''
  const found = new Set<string>()
  for await (const { path } of place.trash.items()) {
    if (found.size === MAX_TRASHED) break
    found.add(front === '' && needsSlash(path) ? `/${path}` : front + slash + path)
  }
  return [
    ...found,
    ...(workspace === undefined && slash === '' ? await workspaceNames(service) : []).map(asRoot),
  ]
}

const asRoot = (name: string): string => `${name}:`

/** Names that look like an option or a workspace need a leading slash. */
const needsSlash = (name: string): boolean => name.startsWith('-') || isMarkedRemote(name, 'linux')
