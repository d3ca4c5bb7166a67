import type { Db, Tx } from '../index.ts'
import { FILE, FOLDER } from '../models/entry.ts'
import { headOf, noteHead } from './event.ts'
import { contentRevisionOf, inParts, placeholders } from './sql.ts'

/** An entry on a path, with the totals needed to move it. */
export interface Node {
  id: string
  kind: typeof FOLDER | typeof FILE
  blobId: string | null
  bytes: number
  files: number
  folders: number
  levelsBelow: number
  bytesBelow: number
  revision: number
  /** Grows with each change of the content. */
  contentRevision: number
  changeStamp: number
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
  'revision',
  'change_stamp',
  'moves',
] as const

/**
 * The cached statements by the columns that they read. A path is resolved by one join per name,
 * never by matching text.
 */
const chainStatements = new Map<string, string>()

/** @param more another expression to select */
function chainStatement(depth: number, more: string): string {
  const known = chainStatements.get(more + depth)
  if (known) return known
  const levels = Array.from({ length: depth }, (_, i) => i + 1)
  const sql = `SELECT ${levels.flatMap(i => columns.map((c, n) => `e${i}.${c} AS c${i}_${n}`)).join(', ')}${more}
    FROM (SELECT 1 AS one) AS start ${levels
      .map(
        i =>
          `LEFT JOIN entry e${i} ON e${i}.parent_id = ${i === 1 ? '?' : `e${i - 1}.id`} AND e${i}.name = ?`,
      )
      .join(' ')}`
  chainStatements.set(more + depth, sql)
  return sql
}

/**
 * The existing entries along a path: one per name, fewer if an entry is missing.
 * @param tx of a change that ends with an event. It also reads the last event's number, because
 * inserting an event after a known number takes half the time
 */
export async function resolveChain(
  db: Db,
  { bucketId, rootId }: { bucketId: string; rootId: string },
  names: string[],
  tx?: Tx,
): Promise<Node[]> {
  if (names.length === 0) return []
  const row = await db.row<Record<string, string | number | null>>(
    chainStatement(names.length, tx ? `, ${headOf} AS head` : ''),
    [...(tx ? [bucketId] : []), rootId, ...names],
    tx,
  )
  if (tx) noteHead(tx, bucketId, row?.head == null ? null : Number(row.head))
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
      revision: number(8),
      contentRevision: number(8) - number(10),
      changeStamp: number(9),
    })
  }
  return chain
}

/** The columns of a Node. */
export const nodeColumns = `id, kind, blob_id AS blobId, total_bytes AS bytes, total_files AS files, total_folders AS folders,
  levels_below AS levelsBelow, bytes_below AS bytesBelow, revision, ${contentRevisionOf('entry')} AS contentRevision, change_stamp AS changeStamp`

/** The entries with these names in these folders. One statement for 100 folders. */
async function entriesIn(
  db: Db,
  wanted: { parentId: string; name: string }[],
  tx?: Tx,
): Promise<(Node & { parentId: string; name: string })[]> {
  const found: (Node & { parentId: string; name: string })[] = []
  const folders = [...Map.groupBy(wanted, ({ parentId }) => parentId)]
  for (const part of inParts(folders, 100)) {
    // A union, because MariaDB's time to plan many ranges of one SELECT grows with the square of
    // their number.
    const one = `SELECT ${nodeColumns}, parent_id AS parentId, name
      FROM entry
      WHERE parent_id = ?
        AND name IN `
    const sql = part.map(([, names]) => `${one}(${placeholders(names)})`).join(' UNION ALL ')
    const values = part.flatMap(([parentId, names]) => [parentId, ...names.map(({ name }) => name)])
    found.push(...(await db.rows<Node & { parentId: string; name: string }>(sql, values, tx)))
  }
  return found
}

/**
 * The entries along several paths, like `resolveChain` for one. One statement for their common
 * folders, and one for up to 100 folders on each level below.
 */
export async function resolveChains(
  db: Db,
  root: { bucketId: string; rootId: string },
  paths: string[][],
  tx?: Tx,
): Promise<Node[][]> {
  const [first = []] = paths
  const apart = first.findIndex((name, i) => paths.some(path => path[i] !== name))
  const common = apart < 0 ? first : first.slice(0, apart)
  const above = await resolveChain(db, root, common, tx)
  if (above.length < common.length) return paths.map(() => above)
  const parentId = above.at(-1)?.id ?? root.rootId
  const below = await descend(
    db,
    paths.map(path => ({ parentId, names: path.slice(common.length) })),
    tx,
  )
  return below.map(chain => [...above, ...chain])
}

/**
 * The entries along several paths, each from an entry down. One statement for up to 100 folders on
 * each level.
 */
export async function descend(
  db: Db,
  starts: readonly { parentId: string; names: readonly string[] }[],
  tx?: Tx,
): Promise<Node[][]> {
  const chains = starts.map((): Node[] => [])
  for (let depth = 0; ; depth++) {
    const open = starts.flatMap(({ parentId: start, names }, i) => {
      const [name, chain] = [names[depth], chains[i]]
      if (name === undefined || chain?.length !== depth) return []
      const parentId = chain.at(-1)?.id ?? start
      return [{ key: `${parentId}/${name}`, parentId, name, chain }]
    })
    if (open.length === 0) return chains
    const found = await entriesIn(db, [...new Map(open.map(step => [step.key, step])).values()], tx)
    const nodes = new Map(found.map(({ parentId, name, ...node }) => [`${parentId}/${name}`, node]))
    for (const { key, chain } of open) {
      const node = nodes.get(key)
      if (node) chain.push(node)
    }
  }
}

/**
 * The FROM and the conditions that lead from the root of a tree down a path. The last entry is
 * `last`. One statement reads an entry or the contents of a folder with its path: every name is one
 * row of a unique index.
 * @param names at least one
 */
export function downPath(
  { rootId }: { rootId: string },
  names: string[],
  last: string,
): { from: string; where: string; values: string[] } {
  const alias = (i: number) => (i === names.length - 1 ? last : `p${i}`)
  return {
    from: names.map((_, i) => `entry ${alias(i)}`).join(' JOIN '),
    where: names
      .map(
        (_, i) =>
          `${alias(i)}.parent_id = ${i === 0 ? '?' : `${alias(i - 1)}.id`} AND ${alias(i)}.name = ?`,
      )
      .join(' AND '),
    values: [rootId, ...names],
  }
}

/** Some entries and all folders above them, by id. One statement for up to 1,000 entries. */
export async function upFrom(
  db: Db,
  ids: Iterable<string>,
  tx?: Tx,
): Promise<Map<string, { parentId: string | null; name: string }>> {
  const wanted = [...new Set(ids)]
  const known = new Map<string, { parentId: string | null; name: string }>()
  for (const some of inParts(wanted, 1000)) {
    const rows = await db.rows<{ id: string; parentId: string | null; name: string }>(
      `WITH RECURSIVE up (id, parent_id, name) AS (
         SELECT id, parent_id, name
         FROM entry
         WHERE id IN (${placeholders(some)})
         UNION
         SELECT p.id, p.parent_id, p.name
         FROM up
         JOIN entry p ON p.id = up.parent_id
       )
       SELECT id, parent_id AS parentId, name
       FROM up`,
      some,
      tx,
    )
    for (const row of rows) known.set(row.id, row)
  }
  return known
}
