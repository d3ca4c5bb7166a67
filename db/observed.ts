import type { QueryOptions } from 'sequelize'
import { byWord, type Telemetry, type Work } from '../src/telemetry/telemetry.ts'
import type { Engine } from './engine.ts'

/**
 * The maximum number of statement texts in the cache. A statement with a list of placeholders has
 * one text per list length.
 */
const REMEMBERED = 2000

/** The verb and the table, from closed sets of words, and the text if it contains no values. */
interface Statement {
  operation: string
  table: string
  text?: string
}

const operations = new Set(['select', 'insert', 'update', 'delete'])

/**
 * The verb of a statement, and the first of these tables that it names. Both are from closed sets
 * of words.
 */
export function statementOf(sql: string, tables: ReadonlySet<string>): Statement {
  const [verb = ''] = /\b(?:SELECT|INSERT|UPDATE|DELETE)\b/i.exec(sql) ?? []
  const named = [...sql.matchAll(/\b(?:FROM|INTO|UPDATE|JOIN)\s+[`"]?(\w+)/gi)].map(
    ([, name = '']) => name,
  )
  return {
    operation: verb.toLowerCase() || 'other',
    table: named.find(name => tables.has(name)) ?? 'none',
    text: sql,
  }
}

type ModelQuery = QueryOptions & {
  model?: { tableName?: unknown }
  instance?: { constructor: { tableName?: unknown } }
}

/** Lets statements, transactions and connections of an engine be measured and traced. */
export function observed(engine: Engine, telemetry: Telemetry): Engine {
  const { rows, run, transaction, sequelize } = engine
  const tables = new Set(Object.values(sequelize.models).map(model => String(model.getTableName())))
  const system = engine.dialect === 'mysql' ? 'mysql' : 'sqlite'
  const timerOf = byWord(operation =>
    byWord(outcome => telemetry.timer('statement', { operation, outcome })),
  )

  interface Known {
    work: Work
    count: () => void
  }

  function known({ operation, table, text }: Statement): Known {
    const query = text === undefined ? {} : { 'db.query.text': text }
    const span = {
      name: `${operation} ${table}`,
      kind: 'client',
      attributes: { 'db.system.name': system, ...query },
    } as const
    const byTable = telemetry.timer('tableStatement', { operation, table })
    const note = byWord(outcome => {
      const time = timerOf(operation)(outcome)
      return (seconds: number) => {
        time(seconds)
        byTable(seconds)
      }
    })
    return { work: { span, note }, count: telemetry.counter('statements', { operation, table }) }
  }

  let bySql = new Map<string, Known>()
  function knownSql(sql: string): Known {
    let found = bySql.get(sql)
    if (!found) {
      if (bySql.size >= REMEMBERED) bySql = new Map()
      found = known(statementOf(sql, tables))
      bySql.set(sql, found)
    }
    return found
  }

  const ofModels = byWord(operation => byWord(table => known({ operation, table })))
  /**
   * The text of a model's statement may contain values, so only the operation and the table of the
   * model are used.
   */
  function knownModel({ type, model, instance }: ModelQuery): Known {
    const operation = String(type ?? '')
      .toLowerCase()
      .replace('bulk', '')
    const table = String(model?.tableName ?? instance?.constructor.tableName)
    return ofModels(operations.has(operation) ? operation : 'other')(
      tables.has(table) ? table : 'none',
    )
  }

  function observe<T>({ work, count }: Known, send: () => Promise<T>): Promise<T> {
    count()
    return telemetry.observe(work, send)
  }

  const inTransaction: Work = {
    span: { name: 'transaction' },
    note: byWord(outcome => telemetry.timer('transaction', { outcome })),
  }

  const query = sequelize.query.bind(sequelize) as (
    sql: unknown,
    options?: QueryOptions,
  ) => Promise<unknown>
  Object.assign(sequelize, {
    query: (sql: unknown, options: QueryOptions = {}) =>
      observe(knownModel(options as ModelQuery), () => query(sql, options)),
  })
  telemetry.read(() => {
    const { limit, busy, idle, waiting } = engine.load()
    return {
      connectionLimit: limit,
      connections: [
        [{ state: 'busy' }, busy],
        [{ state: 'idle' }, idle],
      ],
      connectionWaits: waiting,
    }
  })
  return Object.assign(engine, {
    rows: (...[sql, ...given]: Parameters<Engine['rows']>) =>
      observe(knownSql(sql), () => rows(sql, ...given)),
    run: (...[sql, ...given]: Parameters<Engine['run']>) =>
      observe(knownSql(sql), () => run(sql, ...given)),
    transaction: <T>(work: Parameters<typeof transaction<T>>[0]) =>
      telemetry.observe(inTransaction, () => transaction(work)),
  } as Pick<Engine, 'rows' | 'run' | 'transaction'>)
}
