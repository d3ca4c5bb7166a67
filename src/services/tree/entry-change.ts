import { validate as isUuid } from 'uuid'
import type { Tx } from '../../../db/index.ts'
import { FOLDER } from '../../../db/models/entry.ts'
import { entriesOf } from '../../../db/queries/entry.ts'
import { resolveChains, upFrom } from '../../../db/queries/entry-path.ts'
import type { Caller } from '../../access/caller.ts'
import { AppError, InvalidInput } from '../../errors.ts'
import { keyById } from '../../key-by-id.ts'
import { figure, MAX_CHANGED } from '../../limits.ts'
import type { OnConflict } from '../../on-conflict.ts'
import { joinPath, parseFilePath, parseName, parsePath } from '../../paths.ts'
import { moveOnConflict } from './conflict.ts'
import { lockTree } from './entry.ts'
import { type EntryName, namesOfFolder, pathIn, type Tree } from './entry-path.ts'
import { type Located, requireEmpty, type TreeDeps } from './entry-removal.ts'
import { type ExpectedRevision, isGiven, requireRevision } from './revision.ts'

/** Where entries go, and how. */
interface MoveOptions {
  /** The folder that they go into; without it they stay where they are. */
  to: EntryName | null
  /** For one entry only. */
  name: string | null
  onConflict: OnConflict
  expected: ExpectedRevision
}

/** Changes of several entries of a tree at once: all of them, or none. */
export function entryChangeService({ db, changeTree, removal, wake }: TreeDeps) {
  /** The ids of entries that are named by their paths. */
  async function idsOf(tree: Tree, paths: string[][], tx: Tx): Promise<Map<string, string>> {
    const chains = await resolveChains(db, tree, paths, tx)
    return new Map(
      paths.flatMap((names, i) => {
        const node = chains[i]?.[names.length - 1]
        return node ? [[joinPath(names), node.id] as const] : []
      }),
    )
  }

  /** @throws FILE_NOT_FOUND, INVALID_PATH, INVALID_INPUT */
  async function locate(tree: Tree, named: readonly EntryName[], tx: Tx): Promise<Located[]> {
    if (named.length < 1 || named.length > MAX_CHANGED)
      throw new InvalidInput('entries', `Name 1 to ${figure(MAX_CHANGED)} entries.`)
    const paths = named.flatMap(entry => ('path' in entry ? [parseFilePath(entry.path, 'entries')] : []))
    const byPath = await idsOf(tree, paths, tx)
    const ids = named.map(entry => {
      const id = 'id' in entry ? entry.id : byPath.get(joinPath(parsePath(entry.path)))
      if (!id || !isUuid(id)) throw notFound(tree, entry)
      if (id === tree.rootId)
        throw new AppError('INVALID_PATH', 'This is the root of a drive, which stays where it is.', {
          field: 'entries',
        })
      return id
    })
    const wanted = [...new Set(ids)]
    const up = await upFrom(db, wanted, tx)
    const rows = await entriesOf(db, tree.bucketId, wanted, tx)
    const nodes = keyById(rows)
    return wanted.map(id => {
      const node = nodes.get(id)
      const chain = node && chainOf(tree, up, id)
      if (!node?.parentId || !chain) throw notFound(tree, named[ids.indexOf(id)] ?? { id })
      return { node, names: chain.names, parentId: node.parentId, above: chain.above }
    })
  }

  return {
    /**
     * Deletes entries with all that is in them.
     * @throws FILE_NOT_FOUND, INVALID_PATH, INVALID_INPUT, FOLDER_NOT_EMPTY unless recursive
     */
    async remove(
      tree: Tree,
      named: readonly EntryName[],
      { recursive, expected }: { recursive: boolean; expected: ExpectedRevision },
      caller: Caller,
    ): Promise<{ deletedIds: string[]; trashIds: string[]; filesDeleted: number; leftIds: string[] }> {
      const done = await changeTree(tree, caller, async change => {
        const { tx } = change
        await lockTree(db, tree, tx)
        const all = await locate(tree, named, tx)
        requireRevisionOf(all, expected)
        const gone = new Set(all.map(entry => entry.node.id))
        // What is in a folder that goes as well is counted with that.
        const top = all.filter(entry => !entry.above.some(folder => gone.has(folder.id)))
        for (const { node, names } of top) if (node.kind === FOLDER) requireEmpty(tree, names, node, recursive)
        const trashIds = await removal.remove(tree, top, change)
        return {
          deletedIds: [...gone],
          trashIds,
          filesDeleted: top.reduce((sum, entry) => sum + entry.node.files, 0),
          leftIds: [...new Set(top.map(entry => entry.parentId))],
        }
      })
      wake()
      return done
    },

    /**
     * Moves entries into a folder, or renames one. Costs the same whatever is in them.
     * @throws FILE_NOT_FOUND, INVALID_PATH, INVALID_INPUT, PATH_EXISTS, QUOTA_EXCEEDED for folders that are made
     */
    async move(
      tree: Tree,
      named: readonly EntryName[],
      { to, name, onConflict, expected }: MoveOptions,
      caller: Caller,
    ): Promise<{ ids: string[]; leftIds: string[]; toNames: string[] | null }> {
      if (!to && name === null) throw new InvalidInput('to', 'Say where the entries go, or which name one gets.')
      if (name !== null && named.length !== 1) throw new InvalidInput('name', 'A name is for one entry.')
      const newName = name === null ? null : parseName(name, 'name')
      return changeTree(tree, caller, async change => {
        const { tx } = change
        await lockTree(db, tree, tx)
        const all = await locate(tree, named, tx)
        requireRevisionOf(all, expected)
        const moved = new Set(all.map(entry => entry.node.id))
        if (all.some(entry => entry.above.some(folder => moved.has(folder.id))))
          throw new InvalidInput('entries', 'One of these entries is inside another one. Name the outer one only.')
        const toNames = to ? await namesOfFolder(db, tree, to, 'to', tx) : null
        const leaving = all.filter(({ node, names }) => {
          const folder = toNames ?? names.slice(0, -1)
          const destination = parseFilePath(joinPath([...folder, newName ?? names.at(-1) ?? '']), to ? 'to' : 'name')
          if (joinPath(destination) === joinPath(names)) return false
          if (node.kind === FOLDER && names.every((part, i) => destination[i] === part))
            throw new AppError(
              'INVALID_PATH',
              'A folder cannot be moved into itself. Choose a destination outside of it.',
              { field: 'to' },
            )
          return true
        })
        const [first] = leaving
        if (first) {
          const folder = toNames ?? first.names.slice(0, -1)
          await moveOnConflict(db, tree, leaving, { folder, name: newName, onConflict }, removal, change)
        }
        return { ids: [...moved], leftIds: [...new Set(all.map(entry => entry.parentId))], toNames }
      })
    },
  }
}

/** The folders from the root down to an entry; undefined for one that is not in the tree any more. */
function chainOf(
  tree: Tree,
  up: Map<string, { parentId: string | null; name: string }>,
  id: string,
): Pick<Located, 'names' | 'above'> | undefined {
  const names: string[] = []
  const ids: string[] = []
  for (let at = id; at !== tree.rootId; ) {
    const entry = up.get(at)
    if (!entry?.parentId) return undefined
    names.unshift(entry.name)
    if (at !== id) ids.unshift(at)
    at = entry.parentId
  }
  return { names, above: ids.map(folder => ({ id: folder })) }
}

function notFound(tree: Tree, named: EntryName): AppError {
  if ('id' in named)
    return new AppError('FILE_NOT_FOUND', 'There is no file or folder with this id here. Use an id from a listing.', {
      id: named.id,
    })
  const path = pathIn(tree, parsePath(named.path))
  return new AppError('FILE_NOT_FOUND', `There is nothing at "${path}". Check the path.`, { path })
}

/** @throws REVISION_MISMATCH, INVALID_INPUT */
function requireRevisionOf(entries: Located[], expected: ExpectedRevision): void {
  if (isGiven(expected) && entries.length !== 1)
    throw new InvalidInput('expectedRevision', 'A revision is that of one entry. Name one, or leave it out.')
  requireRevision(entries[0]?.node, expected)
}
