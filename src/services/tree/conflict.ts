import type { Db, Tx } from '../../../db/index.ts'
import { entriesNamed } from '../../../db/queries/entry.ts'
import type { OnConflict } from '../../on-conflict.ts'
import { limits } from '../../paths.ts'
import { pathExists } from './entry.ts'
import { findEntry, type Tree } from './entry-path.ts'
import type { Located } from './entry-removal.ts'

/** How many free names are tried with one statement. */
const TRIES = 50

/** What follows the last dot of a name is its ending, unless it is longer. */
const LONGEST_ENDING = 16

/** `report (2).pdf` and so on: the n-th name beside a taken one, as long as a name may be. */
function numbered(name: string, n: number): string {
  const dot = name.lastIndexOf('.')
  const [stem, ending] =
    dot > 0 && name.length - dot <= LONGEST_ENDING ? [name.slice(0, dot), name.slice(dot)] : [name, '']
  const mark = ` (${n})`
  let kept = stem
  while (Buffer.byteLength(kept + mark + ending) > limits.nameBytes) kept = [...kept].slice(0, -1).join('')
  return kept + mark + ending
}

/** A name that is free in a folder of a locked tree. */
export async function freeName(db: Db, folderId: string, name: string, tx: Tx): Promise<string> {
  for (let n = 2; ; n += TRIES) {
    const names = Array.from({ length: TRIES }, (_, i) => numbered(name, n + i))
    const taken = new Set((await entriesNamed(db, folderId, names, tx)).map(entry => entry.name))
    const free = names.find(one => !taken.has(one))
    if (free !== undefined) return free
  }
}

/**
 * Makes room for what is about to be placed in a locked tree.
 * @param discard takes what is in the way out of the tree
 * @returns the names under which it is placed
 * @throws PATH_EXISTS where a conflict is to fail
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
  if (onConflict === 'keep_both') return [...names.slice(0, -1), await freeName(db, folderId, names.at(-1) ?? '', tx)]
  await discard({ ...found, names, parentId: folderId })
  return names
}
