import type { Db, Tx } from '../../db/index.ts'
import { FILE, FOLDER } from '../../db/models/entry.ts'
import { AppError } from '../errors.ts'
import { joinPath } from '../paths.ts'

/** A tree: one storage area and its root folder. */
export interface Tree {
  bucketId: string
  rootId: string
  /** The limit of folders; unlimited without it. */
  maxFolders?: number | null
  /** The prefix of its paths in responses: empty in personal trees, a slash in those of workspaces. */
  front?: '/'
}

/** An entry on a path, with the totals that moving it needs. */
export interface Node {
  id: string
  kind: typeof FOLDER | typeof FILE
  blobId: string | null
  bytes: number
  files: number
  folders: number
  levelsBelow: number
  bytesBelow: number
}

export const placeholders = (list: unknown[]): string => list.map(() => '?').join(', ')

/** A path of a tree as responses show it (docs/contract.md, "Paths"). */
export const pathIn = (tree: Tree, names: readonly string[]): string => `${tree.front ?? ''}${joinPath(names)}`

export function fileNotFound(tree: Tree, names: readonly string[]): AppError {
  const path = pathIn(tree, names)
  return new AppError('FILE_NOT_FOUND', `There is no file "${path}". Check its path.`, { path })
}

const columns = [
  'id',
  'kind',
  'blob_id',
  'total_bytes',
  'total_files',
  'total_folders',
  'levels_below',
  'bytes_below',
] as const

/** The statement for a depth: a path is resolved by one join per name, never by matching text. */
const chainStatements = new Map<number, string>()

function chainStatement(depth: number): string {
  const known = chainStatements.get(depth)
  if (known) return known
  const levels = Array.from({ length: depth }, (_, i) => i + 1)
  const sql = `SELECT ${levels.flatMap(i => columns.map((c, n) => `e${i}.${c} AS c${i}_${n}`)).join(', ')} FROM (SELECT 1 AS one) AS start ${levels
    .map(i => `LEFT JOIN entry e${i} ON e${i}.parent_id = ${i === 1 ? '?' : `e${i - 1}.id`} AND e${i}.name = ?`)
    .join(' ')}`
  chainStatements.set(depth, sql)
  return sql
}

/** The entries along a path, as far as they exist: one per name, fewer when an entry is missing. */
export async function resolveChain(db: Db, tree: Tree, names: string[], tx?: Tx): Promise<Node[]> {
  if (names.length === 0) return []
  const [row] = await db.rows<Record<string, string | number | null>>(
    chainStatement(names.length),
    [tree.rootId, ...names],
    tx,
  )
  const chain: Node[] = []
  for (let i = 1; row && i <= names.length && row[`c${i}_0`] !== null; i++) {
    const number = (column: number) => Number(row[`c${i}_${column}`])
    const blobId = row[`c${i}_2`]
    chain.push({
      id: String(row[`c${i}_0`]),
      kind: number(1) === FILE ? FILE : FOLDER,
      blobId: typeof blobId === 'string' ? blobId : null,
      bytes: number(3),
      files: number(4),
      folders: number(5),
      levelsBelow: number(6),
      bytesBelow: number(7),
    })
  }
  return chain
}

/** The entry at a path, and the folders above it (without the root); undefined when there is none. */
export async function findEntry(
  db: Db,
  tree: Tree,
  names: string[],
  tx?: Tx,
): Promise<{ node: Node; above: Node[] } | undefined> {
  const chain = await resolveChain(db, tree, names, tx)
  const node = chain.length === names.length ? chain.at(-1) : undefined
  return node && { node, above: chain.slice(0, -1) }
}

/**
 * The names of some folders, from the root down; a folder that is not below one of the roots (a deleted one) is left out.
 * Runs one statement for up to 1,000 folders.
 */
export async function pathsOfFolders(
  db: Db,
  rootIds: Iterable<string>,
  folderIds: Iterable<string>,
  tx?: Tx,
): Promise<Map<string, string[]>> {
  const wanted = [...new Set(folderIds)]
  const known = new Map<string, { parentId: string | null; name: string }>()
  for (let i = 0; i < wanted.length; i += 1000) {
    const some = wanted.slice(i, i + 1000)
    const rows = await db.rows<{ id: string; parentId: string | null; name: string }>(
      `WITH RECURSIVE up (id, parent_id, name) AS (
         SELECT id, parent_id, name FROM entry WHERE id IN (${placeholders(some)})
         UNION SELECT p.id, p.parent_id, p.name FROM up JOIN entry p ON p.id = up.parent_id
       ) SELECT id, parent_id AS parentId, name FROM up`,
      some,
      tx,
    )
    for (const row of rows) known.set(row.id, row)
  }
  const paths = new Map<string, string[] | undefined>(Array.from(rootIds, id => [id, []]))
  const pathOf = (id: string): string[] | undefined => {
    if (paths.has(id)) return paths.get(id)
    const folder = known.get(id)
    const above = folder?.parentId ? pathOf(folder.parentId) : undefined
    const path = folder && above && [...above, folder.name]
    paths.set(id, path)
    return path
  }
  return new Map(
    wanted.flatMap(id => {
      const path = pathOf(id)
      return path ? [[id, path] as const] : []
    }),
  )
}
