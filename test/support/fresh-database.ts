import { type Db, openDatabase } from '../../db/index.ts'
import { readConfig } from '../../src/config/config.ts'
import { newDatabase } from './harness.ts'

/** A new database with its tables on the engine of this run. `drop` removes it. */
export async function freshDatabase(): Promise<{ db: Db; drop: () => Promise<void> }> {
  const { url, drop } = await newDatabase()
  const db = openDatabase(readConfig({ DATABASE_URL: url }).database, { pool: 10 })
  return {
    db,
    async drop() {
      await db.close()
      await drop()
    },
  }
}
