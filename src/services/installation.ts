import { v4 as newId } from 'uuid'
import { type Db, isDuplicate } from '../../db/index.ts'
import type { BlobStore } from '../storage/store.ts'

async function installationOf(db: Db): Promise<string> {
  const known = async () => (await db.rows<{ id: string }>('SELECT id FROM installation WHERE slot = 1'))[0]?.id
  const id = await known()
  if (id) return id
  try {
    await db.run('INSERT INTO installation (slot, id) VALUES (1, ?)', [newId()])
  } catch (error) {
    if (!isDuplicate(error)) throw error
  }
  const made = await known()
  if (!made) throw new Error('The database has no installation id.')
  return made
}

/**
 * Checks that database and store belong together: otherwise the sweeper would delete the blobs of another installation as orphans.
 * @throws ForeignStore
 */
export async function bindStore(db: Db, store: BlobStore): Promise<void> {
  const inUse = (await db.rows("SELECT id FROM blobs WHERE state = 'live' LIMIT 1")).length > 0
  await store.bind(await installationOf(db), inUse)
}
