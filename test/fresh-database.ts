import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createConnection } from 'mysql2/promise'
import { type Db, openDatabase } from '../db/index.ts'
import { migrate } from '../db/migrate.ts'

/** A database of one's own on the engine of this run, with its tables; `drop` leaves nothing behind. */
export async function freshDatabase(): Promise<{ db: Db; drop: () => Promise<void> }> {
  const { db, remove } = Reflect.get(globalThis, 'engine') === 'mysql' ? await freshMysql() : freshSqlite()
  await migrate(db)
  return {
    db,
    async drop() {
      await db.close()
      await remove()
    },
  }
}

function freshSqlite() {
  const dir = mkdtempSync(join(tmpdir(), 'satchel-test-'))
  const db = openDatabase({ dialect: 'sqlite', file: join(dir, 'test.sqlite') }, { pool: 10 })
  return { db, remove: async () => rmSync(dir, { recursive: true, force: true }) }
}

async function freshMysql() {
  const server = process.env.TEST_MYSQL_URL ?? ''
  const name = `satchel_test_${randomBytes(6).toString('hex')}`
  const run = async (sql: string) => {
    const connection = await createConnection({ uri: server })
    await connection.query(sql)
    await connection.end()
  }
  await run(`CREATE DATABASE ${name} CHARACTER SET utf8mb4`)
  const url = new URL(server)
  url.pathname = `/${name}`
  const db = openDatabase({ dialect: 'mysql', url: url.href }, { pool: 10 })
  return { db, remove: () => run(`DROP DATABASE ${name}`) }
}
