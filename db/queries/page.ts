import type { Db, Value } from '../index.ts'
import { inParts } from './sql.ts'

/** A part of a sorted list, with a flag whether more follow. */
export interface Page<T> {
  rows: T[]
  more: boolean
  /** The start of the next page, if it is not after the last row. */
  last?: string | undefined
}

/** A page of rows. One more row than the page holds was read. */
export const pageOf = <T>(rows: T[], limit: number): Page<T> => ({
  rows: rows.slice(0, limit),
  more: rows.length > limit,
})

/** Maps the rows of a page. */
export const mapPage = <T, To>({ rows, ...page }: Page<T>, to: (row: T) => To): Page<To> => ({
  ...page,
  rows: rows.map(row => to(row)),
})

/** `mapPage` for the page of each list. */
export const mapPages = <T, To>(
  pages: Map<string, Page<T>>,
  to: (row: T) => To,
): Map<string, Page<To>> =>
  new Map(Array.from(pages, ([owner, page]) => [owner, mapPage(page, to)]))

/** For each owner, a page that starts with one list and continues with another. */
export const mergePages = <T>(
  first: Map<string, Page<T>>,
  second: Map<string, Page<T>>,
  limit: number,
): Map<string, Page<T>> =>
  new Map(
    Array.from(first, ([owner, { rows, more }]) => {
      const then = second.get(owner) ?? { rows: [], more: false }
      const both = pageOf(more ? rows : [...rows, ...then.rows], limit)
      return [owner, { rows: both.rows, more: more || both.more || then.more }]
    }),
  )

/** The rows of one owner's list. */
export const onlyRows = <T>(pages: Map<string, Page<T>>): T[] =>
  [...pages.values()].flatMap(({ rows }) => rows)

/**
 * A SELECT with a LIMIT as part of a union. MySQL accepts it in parentheses, SQLite only in a
 * subquery.
 */
export const unionPart = ({ dialect }: Db, select: string): string =>
  dialect === 'mysql' ? `(${select})` : `SELECT * FROM (${select})`

/**
 * The condition that a row comes after the last row of a page: by one column, then by a second one
 * for equal values. With an index on both, SQLite starts there only for a row comparison, and MySQL
 * only for alternatives.
 */
export function beyondKey(
  { dialect }: Db,
  [first, second]: [first: string, second: string],
  beyond: '<' | '>',
  [value, id]: readonly [Value, Value],
): { sql: string; values: Value[] } {
  if (dialect === 'sqlite')
    return { sql: `(${first}, ${second}) ${beyond} (?, ?)`, values: [value, id] }
  return {
    sql: `(${first} ${beyond} ? OR (${first} = ? AND ${second} ${beyond} ?))`,
    values: [value, value, id],
  }
}

/** The maximum number of ranges in a statement. SQLite accepts 500. */
const AT_ONCE = 128

/**
 * The first rows of each owner's list. One statement for up to 128 owners, which reads only one
 * page of each list.
 * @param range a SELECT of one owner's list; the owner's id is its first parameter, and with
 * `twice` also the second
 * @param order names columns as the SELECT calls them
 * @param values the other parameters
 */
export async function firstOfEach<T extends object>(
  db: Db,
  range: string,
  {
    order,
    owners,
    twice = false,
    values,
    limit,
  }: { order: string; owners: string[]; twice?: boolean; values: Value[]; limit: number },
): Promise<Map<string, Page<T>>> {
  const list = `${range} ORDER BY ${order} LIMIT ${limit + 1}`
  const valuesOf = (owner: string) => (twice ? [owner, owner, ...values] : [owner, ...values])
  const [only] = owners
  if (only !== undefined && owners.length === 1)
    return new Map([[only, pageOf(await db.rows<T>(list, valuesOf(only)), limit)]])
  const part = (_owner: string, i: number) =>
    unionPart(db, list.replace('SELECT', `SELECT ${i} AS owner,`))
  const pages = new Map(owners.map(owner => [owner, { rows: [] as T[], more: false }]))
  for (const some of inParts(owners, AT_ONCE)) {
    // Padded to a power of two with an unused id, so that few different statements stay prepared.
    while (some.length & (some.length - 1)) some.push('')
    const rows = await db.rows<T & { owner: number }>(
      `${some.map(part).join(' UNION ALL ')} ORDER BY ${order}`,
      some.flatMap(valuesOf),
    )
    for (const row of rows) {
      const page = pages.get(some[row.owner] ?? '')
      if (page && page.rows.length < limit) page.rows.push(row)
      else if (page) page.more = true
    }
  }
  return pages
}
