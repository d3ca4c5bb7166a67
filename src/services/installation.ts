import { v4 as newId } from 'uuid'
import { type Db, isDuplicate } from '../../db/index.ts'
import type { BlobStore } from '../storage/store.ts'

/** The id of the installation, which its first start gives it. */
export async function installationOf(db: Db): Promise<string> {
  const known = async () => (await db.Installation.findByPk(1, { raw: true }))?.id
  const id = await known()
  if (id) return id
  try {
    await db.Installation.create({ slot: 1, id: newId() })
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
  const live = await db.Blob.findOne({ where: { state: 'live' }, attributes: ['id'], raw: true })
  await store.bind(await installationOf(db), live !== null)
}
