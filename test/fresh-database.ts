import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Db, openDatabase } from '../db/index.ts'
import { migrate } from '../db/migrate.ts'
import { newMysql } from './mysql.ts'

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
  const { url, drop } = await newMysql(process.env.TEST_MYSQL_URL ?? '')
  return { db: openDatabase({ dialect: 'mysql', url }, { pool: 10 }), remove: drop }
}
