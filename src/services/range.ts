import type { Db, Value } from '../../db/index.ts'

/** A part of a sorted list, and whether it goes on. */
export interface Page<T> {
  rows: T[]
  more: boolean
}

/** How many ranges a statement has at most; SQLite takes 500. */
const AT_ONCE = 128

/**
 * The first rows of the lists of several owners. One statement for up to 128 of them, which reads of every list only what its page holds.
 * @param range a SELECT of the list of one owner, who is its first parameter; each row says in `owner` whose it is
 * @param order names columns as the SELECT calls them
 * @param values the other parameters
 */
export async function firstOfEach<T extends object>(
  db: Db,
  range: string,
  { order, owners, values, limit }: { order: string; owners: string[]; values: Value[]; limit: number },
): Promise<Map<string, Page<T>>> {
  const one = `${range} ORDER BY ${order} LIMIT ${limit + 1}`
  // MySQL keeps what is in brackets as it is; SQLite knows a limit within a union in a subquery only.
  const part = db.dialect === 'mysql' ? `(${one})` : `SELECT * FROM (${one})`
  const pages = new Map<string, Page<T>>()
  for (let i = 0; i < owners.length; i += AT_ONCE) {
    const some = owners.slice(i, i + AT_ONCE)
    // Few different texts, so that they stay prepared: nobody owns what is missing to the next power of two.
    while (some.length & (some.length - 1)) some.push('')
    const rows = await db.rows<T & { owner: string }>(
      `${some.map(() => part).join(' UNION ALL ')} ORDER BY ${order}`,
      some.flatMap(owner => [owner, ...values]),
    )
    for (const { owner, ...row } of rows) {
      const page = pages.get(owner) ?? { rows: [], more: false }
      if (page.rows.length < limit) page.rows.push(row as unknown as T)
      else page.more = true
      pages.set(owner, page)
    }
  }
  return pages
}
