import { randomBytes } from 'node:crypto'
import { createConnection } from 'mysql2/promise'

declare const isLts: boolean | undefined

/** The server of this run's engine: MYSQL_URL, or MYSQL_LTS_URL in the project mysql-lts. */
export const mysqlServer = (): string =>
  (typeof isLts !== 'undefined' && isLts
    ? process.env.TEST_MYSQL_LTS_URL
    : process.env.TEST_MYSQL_URL) ?? ''

/** A new, empty database on a server, and a function that drops it. */
export async function newMysql(server: string): Promise<{ url: string; drop(): Promise<void> }> {
  const name = `satchel_${randomBytes(6).toString('hex')}`
  const run = async (sql: string) => {
    const connection = await createConnection({ uri: server })
    await connection.query(sql)
    await connection.end()
  }
  await run(`CREATE DATABASE ${name}`)
  const url = new URL(server)
  url.pathname = `/${name}`
  return { url: url.href, drop: () => run(`DROP DATABASE ${name}`) }
}
