import { fold } from '../../values/search-words.ts'
import type { ShareView } from '../sharing/share-list.ts'

/** A drive that is searched as a whole. */
export interface SearchedDrive {
  bucketId: string
  rootId: string
  /** Whether the drive belongs to the caller and includes the caller's notes. */
  isOwn: boolean
  /**
   * The names that `drive:` accepts: `me` for the caller's own drive, otherwise the names of the
   * workspace.
   */
  names: readonly string[]
}

/** A share with the caller: the ids of its top files and folders. */
export interface SearchedShare {
  share: ShareView
  /** The root of the drive that contains the share. */
  rootId: string
  topIds: readonly string[]
}

/**
 * The drives and shares that a caller may search. Computed for each search, so that expired access
 * has no effect on the next search.
 */
export interface SearchScope {
  drives: readonly SearchedDrive[]
  shares: readonly SearchedShare[]
}

/**
 * A scope with only the drives that `drive:` names. Shares belong to no named drive, so they are
 * left out.
 */
export function withinDrive(scope: SearchScope, name: string | null): SearchScope {
  if (name === null) return scope
  return {
    drives: scope.drives.filter(({ names }) => names.some(one => fold(one) === name)),
    shares: [],
  }
}

/** The location of an entry, as the caller sees it. */
export interface SeenPlace {
  share: ShareView | null
  /**
   * The names from the root down, or from the shared folder down without the folder itself. The
   * last name is the entry's own.
   */
  names: string[]
  /** The ids of the entry and of all folders above it. */
  chain: string[]
}

type Above = ReadonlyMap<string, { parentId: string | null; name: string }>

/**
 * Finds the location of an entry in a scope. Returns null for an entry in the trash, outside the
 * shares, or in a drive of others.
 * @param above the entry and all folders above it
 */
export function placeIn(
  scope: SearchScope,
  bucketId: string,
  id: string,
  above: Above,
): SeenPlace | null {
  const chain: string[] = []
  for (let at: string | null = id; at !== null; at = above.get(at)?.parentId ?? null) chain.push(at)
  const drive = scope.drives.find(one => one.bucketId === bucketId)
  const names = chain.map(one => above.get(one)?.name ?? '').reverse()
  if (drive)
    return chain.at(-1) === drive.rootId ? { share: null, names: names.slice(1), chain } : null
  for (const { share, rootId, topIds } of scope.shares) {
    if (share.bucketId !== bucketId) continue
    const at = chain.findIndex(one => topIds.includes(one))
    // A shared entry may be in the trash. The root is above every entry that is not in the trash.
    if (at < 0 || chain.at(-1) !== rootId) continue
    // In a share of one folder, paths begin below the folder. In a share of several entries, paths
    // begin with the chosen entry.
    const isInside = share.entryCount === null && share.kind === 0
    const below = chain.slice(0, isInside ? at : at + 1)
    return { share, names: names.slice(names.length - below.length), chain }
  }
  return null
}
