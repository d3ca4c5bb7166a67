import type { QueryOptions } from 'sequelize'
import type { Telemetry } from '../src/telemetry/telemetry.ts'
import type { Engine } from './engine.ts'

/** How many texts of statements are remembered: those with lists of placeholders have one for each length. */
const REMEMBERED = 2000

interface Statement {
  operation: string
  table: string
  /** Undefined where it may hold values. */
  text?: string
}

const operations = new Set(['select', 'insert', 'update', 'delete'])

/** The verb of a statement, and the first of these tables that it names: words of closed sets. */
export function statementOf(sql: string, tables: ReadonlySet<string>): Statement {
  const [verb = ''] = /\b(?:SELECT|INSERT|UPDATE|DELETE)\b/i.exec(sql) ?? []
  const named = [...sql.matchAll(/\b(?:FROM|INTO|UPDATE|JOIN)\s+[`"]?(\w+)/gi)].map(([, name = '']) => name)
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
  let known = new Map<string, Statement>()

  function remembered(sql: string): Statement {
    let statement = known.get(sql)
    if (!statement) {
      if (known.size >= REMEMBERED) known = new Map()
      statement = statementOf(sql, tables)
      known.set(sql, statement)
    }
    return statement
  }

  /** Statements of models may hold values in their text: only what the model says of them is used. */
  function ofModel({ type, model, instance }: ModelQuery): Statement {
    const operation = String(type ?? '')
      .toLowerCase()
      .replace('bulk', '')
    const table = String(model?.tableName ?? instance?.constructor.tableName)
    return { operation: operations.has(operation) ? operation : 'other', table: tables.has(table) ? table : 'none' }
  }

  function observe<T>({ operation, table, text }: Statement, send: () => Promise<T>): Promise<T> {
    telemetry.count('statements', { operation, table })
    const query = text === undefined ? {} : { 'db.query.text': text }
    return telemetry.observe(
      {
        histogram: 'statement',
        labels: { operation },
        span: { name: `${operation} ${table}`, kind: 'client', attributes: { 'db.system.name': system, ...query } },
      },
      send,
    )
  }

  const query = sequelize.query.bind(sequelize) as (sql: unknown, options?: QueryOptions) => Promise<unknown>
  Object.assign(sequelize, {
    query: (sql: unknown, options: QueryOptions = {}) =>
      observe(ofModel(options as ModelQuery), () => query(sql, options)),
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
    rows: (...[sql, ...given]: Parameters<Engine['rows']>) => observe(remembered(sql), () => rows(sql, ...given)),
    run: (...[sql, ...given]: Parameters<Engine['run']>) => observe(remembered(sql), () => run(sql, ...given)),
    transaction: <T>(work: Parameters<typeof transaction<T>>[0]) =>
      telemetry.observe({ histogram: 'transaction', labels: {}, span: { name: 'transaction' } }, () =>
        transaction(work),
      ),
  } as Pick<Engine, 'rows' | 'run' | 'transaction'>)
}
