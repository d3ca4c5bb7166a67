import { Utils } from 'sequelize'
import { remembered } from '../../src/runtime/remembered.ts'
import type { Value } from '../index.ts'
import type { Row, Table } from '../models/columns.ts'

/** The placeholders of a list of values for an IN. */
export const placeholders = (list: readonly unknown[]): string => list.map(() => '?').join(', ')

/**
 * A column or condition beside a list of keys. With a long list, SQLite would use an index of that
 * column and read all of its rows. The unary plus prevents that
 * (https://sqlite.org/optoverview.html). MySQL compares costs and ignores the plus.
 */
export const besideKeys = (column: string): string => `+${column}`

/**
 * A value per row by id, as an expression. Its parameters are an id and a value for each row. Other
 * rows get NULL.
 */
export const byId = (count: number): string => `CASE id ${'WHEN ? THEN ? '.repeat(count)}END`

/**
 * The assignment that moves the change stamp of a row forward. Its parameters are `changedNow()`. A
 * stamp is the time of the change in milliseconds since 1970, or its predecessor plus one if that
 * is more. So it grows strictly, and a stamp is not used again after a backup was restored.
 */
export const stampChange =
  'change_stamp = CASE WHEN change_stamp < ? THEN ? ELSE change_stamp + 1 END'

export function changedNow(): [number, number] {
  const now = Date.now()
  return [now, now]
}

/**
 * The revision of the content of an entry as an expression: changes of name or place do not count.
 */
export const contentRevisionOf = (entry: string): string => `${entry}.revision - ${entry}.moves`

/** The name of a column in SQL. */
export const columnOf = remembered(64, name => Utils.underscoredIf(name, true))

type NewRow<T> = { [Name in keyof Row<T>]?: Row<T>[Name] | undefined }

/**
 * An INSERT of rows, with the columns that any of them has, and its values. Missing values are
 * NULL. Columns that no row has get their defaults. Unknown fields are ignored.
 */
export function insertion<T extends Table>(
  { tableName, columns }: T,
  rows: NewRow<T>[],
): [sql: string, values: Value[]] {
  const all = rows as Record<string, Value | undefined>[]
  const names = Object.keys(columns).filter(name => all.some(row => row[name] !== undefined))
  const list = all.map(() => `(${placeholders(names)})`).join(', ')
  const values = all.flatMap(row => names.map(name => row[name] ?? null))
  return [`INSERT INTO ${tableName} (${names.map(columnOf).join(', ')}) VALUES ${list}`, values]
}

/**
 * An INSERT of one row unless a query finds something, and its values. The parameters of the query
 * follow them.
 */
export function insertionUnless<T extends Table>(
  table: T,
  row: NewRow<T>,
  query: string,
): [string, Value[]] {
  const [sql, values] = insertion(table, [row])
  const into = sql.slice(0, sql.indexOf(' VALUES '))
  return [
    `${into}
     SELECT ${placeholders(values)}
     FROM (SELECT 1 AS one) AS always
     WHERE NOT EXISTS (${query})`,
    values,
  ]
}

/** Columns of a table under the names of its model. All columns without `names`. */
export function selection<T extends Table>(
  { tableName, columns }: T,
  alias = tableName,
  names: readonly (keyof Row<T> & string)[] = Object.keys(columns).filter(
    name => name !== 'touched',
  ) as (keyof Row<T> & string)[],
): string {
  return names.map(name => `${alias}.${columnOf(name)} AS ${name}`).join(', ')
}

/**
 * The smallest id of a row created at a time. Ids are UUIDv7 and start with the time, so their
 * index is also one of times.
 */
export function firstIdAt(time: number): string {
  const hex = Math.max(0, time).toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`
}

/** Splits a list into parts of at most `size`. */
export const inParts = <T>(list: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(list.length / size) }, (_, i) =>
    list.slice(i * size, (i + 1) * size),
  )
