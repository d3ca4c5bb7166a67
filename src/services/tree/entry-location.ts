import { validate as isUuid } from 'uuid'
import type { Db, Tx } from '../../../db/index.ts'
import { entriesOf } from '../../../db/queries/entry.ts'
import { resolveChains, upFrom } from '../../../db/queries/entry-path.ts'
import { AppError, InvalidInput } from '../../runtime/errors.ts'
import { keyById } from '../../values/key-by-id.ts'
import { figure, MAX_CHANGED } from '../../values/limits.ts'
import { joinPath, parseFilePath, parsePath } from '../../values/paths.ts'
import type { Tree } from '../../values/tree.ts'
import { chainOf, type EntryName, entryNotFound } from './entry-path.ts'
import type { Located } from './entry-removal.ts'

/** The ids of entries given by path. */
async function idsOf(
  db: Db,
  tree: Tree,
  paths: string[][],
  tx: Tx | undefined,
): Promise<Map<string, string>> {
  const chains = await resolveChains(db, tree, paths, tx)
  return new Map(
    paths.flatMap((names, i) => {
      const node = chains[i]?.[names.length - 1]
      return node ? [[joinPath(names), node.id] as const] : []
    }),
  )
}

/**
 * The entries of a tree with these names, without duplicates.
 * @param tx of a change that has locked the tree
 * @param most the maximum number of names
 * @param field the input field, for errors
 * @throws FILE_NOT_FOUND, INVALID_PATH, INVALID_INPUT
 */
export async function locateEntries(
  db: Db,
  tree: Tree,
  named: readonly EntryName[],
  tx?: Tx,
  { most = MAX_CHANGED, field = 'entries' }: { most?: number; field?: string } = {},
): Promise<Located[]> {
  if (named.length < 1 || named.length > most)
    throw new InvalidInput(field, `Name 1 to ${figure(most)} entries.`)
  const paths = named.flatMap(entry => ('path' in entry ? [parseFilePath(entry.path, field)] : []))
  const byPath = await idsOf(db, tree, paths, tx)
  const ids = named.map(entry => {
    const id = 'id' in entry ? entry.id : byPath.get(joinPath(parsePath(entry.path)))
    if (!id || !isUuid(id)) throw entryNotFound(tree, entry)
    if (id === tree.rootId)
      throw new AppError(
        'INVALID_PATH',
        'This is the root of a drive, which cannot be moved, copied or deleted.',
        {
          field,
        },
      )
    return id
  })
  const wanted = [...new Set(ids)]
  const up = await upFrom(db, wanted, tx)
  const rows = await entriesOf(db, tree.bucketId, wanted, tx)
  const nodes = keyById(rows)
  return wanted.map(id => {
    const node = nodes.get(id)
    const chain = node && chainOf(tree.rootId, up, id)
    if (!node?.parentId || !chain) throw entryNotFound(tree, named[ids.indexOf(id)] ?? { id })
    return {
      node,
      names: chain.names,
      parentId: node.parentId,
      above: chain.ids.map(folder => ({ id: folder })),
    }
  })
}
