import type { Db, Tx } from '../../../db/index.ts'
import { FILE } from '../../../db/models/entry.ts'
import { entriesNamed } from '../../../db/queries/entry.ts'
import { resolveChain } from '../../../db/queries/entry-path.ts'
import { copyName } from '../../upload-engine/copy-name.ts'
import type { OnConflict } from '../../values/on-conflict.ts'
import type { Tree } from '../../values/tree.ts'
import { type Departure, moveEntries, pathExists, type TreeChange } from './entry.ts'
import { findEntry } from './entry-path.ts'
import type { EntryRemovalService, Located } from './entry-removal.ts'
import { type ExpectedRevision, isGiven, requireRevision } from './revision.ts'
import { onlyReplaced } from './trunk.ts'

/** The destination of a file, and how to resolve a conflict. */
export interface Destination {
  names: string[]
  /**
   * The id of the destination folder, wherever it is by then. Without it, `names` lead to the
   * folder.
   */
  folderId?: string | undefined
  /** How many names are between the folder with this id and the file; 0 by default. */
  below?: number | undefined
  onConflict: OnConflict
  /** The expected revision of the existing entry. */
  expected?: ExpectedRevision
}

/** The number of free names that one statement tries. */
const TRIES = 50

/**
 * Finds a free name in a folder of a locked tree.
 * @param given names that other entries receive in the same change
 */
export async function freeName(
  db: Db,
  folderId: string,
  name: string,
  tx: Tx,
  given: ReadonlySet<string> = new Set(),
): Promise<string> {
  for (let n = 2; ; n += TRIES) {
    const names = Array.from({ length: TRIES }, (_, i) => copyName(name, n + i))
    const taken = new Set((await entriesNamed(db, folderId, names, tx)).map(entry => entry.name))
    const free = names.find(one => !taken.has(one) && !given.has(one))
    if (free !== undefined) return free
  }
}

/**
 * Frees the name for an entry about to be placed in a locked tree.
 * @param discard removes the conflicting entry from the tree
 * @returns the names under which the entry is placed
 * @throws PATH_EXISTS if the caller chose to fail on a conflict
 */
export async function makeRoom(
  db: Db,
  tree: Tree,
  names: string[],
  onConflict: OnConflict,
  discard: (inTheWay: Located) => Promise<unknown>,
  tx: Tx,
): Promise<string[]> {
  const found = await findEntry(db, tree, names, tx)
  if (!found) return names
  if (onConflict === 'fail') throw pathExists(tree, names)
  const folderId = found.above.at(-1)?.id ?? tree.rootId
  if (onConflict === 'keep_both')
    return [...names.slice(0, -1), await freeName(db, folderId, names.at(-1) ?? '', tx)]
  await discard({ ...found, names, parentId: folderId })
  return names
}

/**
 * Moves entries of a locked tree into a folder, or renames one. Replacing moves a conflicting file
 * to the trash, and a conflicting folder only with `replacesFolders`.
 * @returns the new names of the entries, in their order
 * @throws PATH_EXISTS, INVALID_PATH
 */
export async function moveOnConflict(
  db: Db,
  tree: Tree,
  departures: Departure[],
  {
    folder,
    name,
    onConflict,
    replacesFolders = false,
  }: {
    folder: string[]
    name: string | null
    onConflict: OnConflict
    replacesFolders?: boolean | undefined
  },
  removal: Pick<EntryRemovalService, 'remove'>,
  change: TreeChange,
): Promise<string[]> {
  const { tx } = change
  const wanted = departures.map(({ names }) => name ?? names.at(-1) ?? '')
  const folderNow = async () => {
    const above = await resolveChain(db, tree, folder, tx)
    return above.length < folder.length
      ? undefined
      : { above, parentId: above.at(-1)?.id ?? tree.rootId }
  }
  const there = onConflict === 'fail' ? undefined : await folderNow()
  const inTheWay = there ? await entriesNamed(db, there.parentId, wanted, tx) : []
  const itself = inTheWay.find(({ id }) => departures.some(({ node }) => node.id === id))
  if (itself) throw pathExists(tree, [...folder, itself.name])
  if (onConflict !== 'keep_both') {
    const folderInTheWay = inTheWay.find(({ kind }) => kind !== FILE)
    if (folderInTheWay && !replacesFolders) throw pathExists(tree, [...folder, folderInTheWay.name])
    const replaced = inTheWay.flatMap(({ name, ...node }) =>
      there ? { node, names: [...folder, name], ...there } : [],
    )
    await removal.remove(tree, replaced, change)
    await moveEntries(db, tree, departures, { folder, name }, change)
    return wanted
  }
  const taken = new Set(inTheWay.map(entry => entry.name))
  const goesAsIs = wanted.map(one => !taken.has(one) && taken.add(one) !== undefined)
  const first = departures.filter((_, i) => goesAsIs[i])
  if (first.length > 0) await moveEntries(db, tree, first, { folder, name }, change)
  const names: string[] = []
  for (const [i, departure] of departures.entries()) {
    const one = wanted[i] ?? ''
    if (goesAsIs[i]) names.push(one)
    else {
      const free = await freeName(db, (await folderNow())?.parentId ?? tree.rootId, one, tx)
      await moveEntries(db, tree, [departure], { folder, name: free }, change)
      names.push(free)
    }
  }
  return names
}

/**
 * Refuses an upload early if its path is taken. The check at the end of the upload decides.
 * @throws PATH_EXISTS, REVISION_MISMATCH
 */
export async function refuseTaken(
  db: Db,
  tree: Tree,
  { names, onConflict, expected }: Destination,
): Promise<void> {
  if (tree.share?.isFile) {
    if (onConflict === 'replace') return
    throw onlyReplaced()
  }
  if (onConflict === 'keep_both' && !isGiven(expected)) return
  const there = await findEntry(db, tree, names)
  requireRevision(there?.node, expected)
  if (there && onConflict !== 'keep_both' && (onConflict === 'fail' || there.node.kind !== FILE))
    throw pathExists(tree, names)
}
