import { fold } from '../../values/search-words.ts'
import type { ShareView } from '../sharing/share-list.ts'

/** A drive that is searched as a whole. */
export interface SearchedDrive {
  bucketId: string
  rootId: string
  /** Whether it is the caller's own, with their notes. */
  isOwn: boolean
  /** By which `drive:` names it: `me` for the caller's own, else those of the workspace. */
  names: readonly string[]
}

/** What others share with the caller: the ids of the files and folders at the top. */
export interface SearchedShare {
  share: ShareView
  /** Of the drive that it is from. */
  rootId: string
  topIds: readonly string[]
}

/**
 * What a caller may find. It is worked out for each search: what ends is not found from the next
 * one on.
 */
export interface SearchScope {
  drives: readonly SearchedDrive[]
  shares: readonly SearchedShare[]
}

/** A scope without the drives that `drive:` does not name. What others share is in none of them. */
export function withinDrive(scope: SearchScope, name: string | null): SearchScope {
  if (name === null) return scope
  return {
    drives: scope.drives.filter(({ names }) => names.some(one => fold(one) === name)),
    shares: [],
  }
}

/** Where an entry is, as the caller sees it. */
export interface SeenPlace {
  share: ShareView | null
  /**
   * From the root down, or from the shared folder down, which itself has none; its own name last.
   */
  names: string[]
  /** The ids of it and of all folders above it. */
  chain: string[]
}

type Above = ReadonlyMap<string, { parentId: string | null; name: string }>

/**
 * Where an entry is in a scope; null where it is not in it: it is in the trash, is beside what is
 * shared, or in a drive of others.
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
    // What is shared may be in the trash itself: the root is above everything that is not.
    if (at < 0 || chain.at(-1) !== rootId) continue
    // A share of one folder is that folder: its paths begin below it. Of several, they begin with
    // the chosen one.
    const isInside = share.entryCount === null && share.kind === 0
    const below = chain.slice(0, isInside ? at : at + 1)
    return { share, names: names.slice(names.length - below.length), chain }
  }
  return null
}
