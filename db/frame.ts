import { type QueryOptions, QueryTypes, type Sequelize, Transaction } from 'sequelize'

/** The connection of a transaction, which the types of Sequelize lack. */
export function connectionOf(tx: Transaction): object {
  if ('connection' in tx && typeof tx.connection === 'object' && tx.connection) return tx.connection
  throw new Error('The transaction has ended.')
}

/**
 * Runs `work` in a transaction on a dedicated connection. Sequelize's own managed transaction waits
 * forever when a connection is dead, and leaks one whenever a SQLite file is locked; models take
 * the connection from its Transaction.
 * @param rollBack never rejects
 */
export async function framed<T>(
  { sequelize, connection, begin, commit, rollBack }: Frame,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  const tx: Transaction & { connection?: object } = Object.assign(new Transaction(sequelize, {}), {
    connection,
  })
  await begin()
  try {
    const result = await work(tx)
    // A late statement must not become part of the next transaction of this connection.
    delete tx.connection
    await commit()
    return result
  } catch (error) {
    delete tx.connection
    await rollBack()
    throw error
  }
}

export interface Frame {
  sequelize: Sequelize
  connection: object
  begin(): Promise<unknown>
  commit(): Promise<unknown>
  rollBack(): Promise<unknown>
}

const { INSERT, UPDATE, DELETE, UPSERT, BULKUPDATE, BULKDELETE } = QueryTypes
const writes = new Set<string | undefined>([INSERT, UPDATE, DELETE, UPSERT, BULKUPDATE, BULKDELETE])

/**
 * Passes each statement that a model sends outside of a transaction to one of two functions, which
 * run it in a transaction or without one.
 */
export function routeModels(sequelize: Sequelize, { write, read }: Routes): void {
  const query = sequelize.query.bind(sequelize) as (
    sql: unknown,
    options: QueryOptions,
  ) => Promise<unknown>
  const routed = (sql: unknown, options: QueryOptions = {}) => {
    if (options.transaction) return query(sql, options)
    const run = (tx?: Transaction) => query(sql, tx ? { ...options, transaction: tx } : options)
    return writes.has(options.type) ? write(run) : read(run)
  }
  Object.assign(sequelize, { query: routed })
}

interface Routes {
  write(run: (tx?: Transaction) => Promise<unknown>): Promise<unknown>
  read(run: (tx?: Transaction) => Promise<unknown>): Promise<unknown>
}
