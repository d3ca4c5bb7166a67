import { v4 as newId } from 'uuid'
import { type Db, isDuplicate } from '../../db/index.ts'
import { lastMove } from '../../db/queries/store-move.ts'
import type { Config } from '../config/config.ts'
import { openStore } from '../storage/open.ts'
import { type BlobStore, ForeignStore } from '../storage/store.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'
import { storePlaces } from './store-place.ts'

/** The id of the installation, created at its first start. */
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

/** The configured store. While blobs are moved between two stores, both act as one. */
export const openStoreOf = (config: Config, db: Db, telemetry?: Telemetry): Promise<BlobStore> =>
  openStore(config, storePlaces(db), telemetry)

/**
 * Checks that database and store belong together. Otherwise the sweeper would delete the blobs of
 * another installation as orphans.
 * @throws ForeignStore
 */
export async function bindStore(db: Db, store: BlobStore): Promise<void> {
  const live = await db.Blob.findOne({ where: { state: 'live' }, attributes: ['id'], raw: true })
  const move = await lastMove(db)
  if (move?.finishedAt === null && !store.isMoving)
    throw new ForeignStore(
      `${store.label}: the files are being moved from ${move.source} to ${move.target}. Until "npm run admin -- move-blobs" says that all have been moved, set both stores, as when it began`,
    )
  await store.bind(await installationOf(db), live !== null, move?.number ?? 0)
}
