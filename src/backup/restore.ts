import { validate as isUuid } from 'uuid'
import type { Db } from '../../db/index.ts'
import { migrate, migrationNames, stepsOf } from '../../db/migrate.ts'
import {
  beginRestore,
  endRestore,
  engineOf,
  forgetDeleting,
  installationIfAny,
  noteMigrations,
  restoreUnderWay,
  stagedBlobs,
  tableInUse,
} from '../../db/queries/backup.ts'
import { deleteMoves, insertMove, setAllStores } from '../../db/queries/store-move.ts'
import { causesOf } from '../runtime/errors.ts'
import { endOverdue } from '../services/uploads/upload-end.ts'
import { type BlobStore, StoreRefusal } from '../storage/store.ts'
import { type BackupFolder, timeOf } from './folder.ts'
import { listOf } from './list.ts'
import type { ListedBlob, Manifest } from './manifest.ts'
import { BackupError } from './problem.ts'
import type { Progress } from './progress.ts'
import { removeBlobs } from './remove-blobs.ts'
import { restoreBlobs } from './restore-blobs.ts'
import { cursorOver } from './sorted.ts'
import { loadTables, requireDefinitions } from './tables.ts'
import { requireWhole } from './verify.ts'

interface Target {
  db: Db
  store: BlobStore
}

export interface RestoreOptions {
  /**
   * Whether existing data of the database, and blobs that are not in the backup, may be deleted.
   */
  deleteExisting: boolean
  /** Whether existing blobs of the store are read and verified, too. */
  verify: boolean
  /**
   * Decides about the secret before anything changes.
   * @returns a function that saves the secret; called when the restore has begun
   * @param mayReplace whether another secret may be replaced
   * @throws BackupError if it may not
   */
  prepareSecret: (mayReplace: boolean) => Promise<() => Promise<void>>
}

export interface Restored {
  /** The numbers of blobs by outcome. */
  copied: number
  there: number
  /** Blobs that are missing or damaged in the backup. */
  lost: number
  deleted: number
}

const AT_ONCE = 200

/**
 * Finds a backup by name, or the newest one at or before a time.
 * @throws BackupError
 */
export async function chooseBackup(folder: BackupFolder, at: string | undefined): Promise<string> {
  const all = await folder.finished()
  const last = all.findLast(name => !Number.isNaN(timeOf(name))) ?? all.at(-1)
  if (last === undefined) throw new BackupError(`${folder.dir} has no finished backup.`)
  if (at === undefined) return last
  if (all.includes(at)) return at
  const time = Date.parse(at)
  if (Number.isNaN(time))
    throw new BackupError(
      '"--at" is the name of a backup as "backup DIR --list" shows it, or a time such as 2026-05-01T12:00:00Z.',
    )
  const chosen = all.filter(name => timeOf(name) <= time).at(-1)
  if (chosen === undefined)
    throw new BackupError(`There is no backup of this time. The oldest is ${all[0]}.`)
  return chosen
}

/**
 * Restores a backup into a database and a store, possibly of other kinds. Until it has finished, no
 * service starts with the database. If it is killed, the next run resumes.
 * @throws BackupError, where possible before anything changes
 */
export async function restoreBackup(
  { db, store }: Target,
  folder: BackupFolder,
  backup: string,
  progress: Progress,
  options: RestoreOptions,
): Promise<Restored> {
  const manifest = await folder.manifest(backup)
  const { tables, migrations, engine, installation } = manifest
  progress.step('Verifying the backup')
  await requireWhole(folder, backup, manifest)
  const asDefined = engine === engineOf(db)
  const target: Target = { db, store }
  const found = await examine(target, folder, backup, manifest, options)
  if (found.obstacles.length > 0) throw new BackupError(found.obstacles.join('\n'))
  const { saveSecret } = found
  await store.prepare()
  const { number = 0 } = (await store.marker()) ?? {}
  await store.bind(installation, false, number, false, found.instead)

  await beginRestore(db, backup)
  await saveSecret?.()
  const sums = await restoreBlobs(folder, backup, store, {
    blobs: manifest.blobs,
    verify: options.verify,
    progress,
  })
  progress.step('Restoring the database', {
    items: tables.reduce((sum, { rows }) => sum + rows, 0),
    bytes: 0,
  })
  if (!asDefined) await migrate(db, undefined, { restoring: true })
  await loadTables(db, folder, backup, { tables, asDefined, progress })
  await noteMigrations(db, migrations)
  await migrate(db, undefined, { restoring: true })
  await endUploads(db)
  await restoreNumber(db, number, store.label)
  const deleted = options.deleteExisting
    ? await removeOthers(store, () => listOf(folder, backup), progress)
    : 0
  await endRestore(db)
  return { ...sums, deleted }
}

function requireUsable(
  { migrations, satchel, engine, tables }: Manifest,
  asDefined: boolean,
): void {
  if (asDefined) requireDefinitions(tables)
  const names = stepsOf(migrations.map(({ name }) => name))
  const known = migrationNames()
  if (names.some(name => !known.includes(name)))
    throw new BackupError(
      `This backup is of a later version of Satchel (${satchel}). Restore it with that version.`,
    )
  if (!asDefined && names.length !== known.length)
    throw new BackupError(
      `This backup is of an earlier version of Satchel (${satchel}). Restore it into ${engine === 'mysql' ? 'MySQL or MariaDB' : 'SQLite'}, start this version, and make a backup: that one can be restored into the other engine.`,
    )
}

/**
 * Checks everything that would make a restore fail, and changes nothing.
 * @returns one sentence for each obstacle; empty if the restore may begin
 */
export async function restoreObstacles(
  target: Target,
  folder: BackupFolder,
  backup: string,
  progress: Progress,
  options: RestoreOptions,
): Promise<string[]> {
  const obstacles: string[] = []
  const manifest = await folder.manifest(backup)
  progress.step('Verifying the backup')
  await noteObstacle(obstacles, () => requireWhole(folder, backup, manifest))
  const found = await examine(target, folder, backup, manifest, options)
  return [...obstacles, ...found.obstacles]
}

async function noteObstacle<T>(
  obstacles: string[],
  work: () => T | Promise<T>,
): Promise<T | undefined> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof Error)) throw error
    obstacles.push(error.message)
    return undefined
  }
}

interface Examined {
  obstacles: string[]
  saveSecret: (() => Promise<void>) | undefined
  /** The installation whose store label is replaced. */
  instead: string | undefined
}

async function examine(
  { db, store }: Target,
  folder: BackupFolder,
  backup: string,
  manifest: Manifest,
  options: RestoreOptions,
): Promise<Examined> {
  const obstacles: string[] = []
  const note = <T>(work: () => T | Promise<T>) => noteObstacle(obstacles, work)
  await note(() => requireUsable(manifest, manifest.engine === engineOf(db)))
  const state = await note(() => stateOf(db, backup, options.deleteExisting))
  if (state?.inUse !== undefined)
    obstacles.push(
      `The database has data already, in the table ${state.inUse}. Name an empty database, or add --delete-existing to delete everything that it holds now.`,
    )
  const mayDelete = options.deleteExisting || state?.continues === true
  const isNew = state?.installation !== undefined && state.inUse === undefined
  const saveSecret = await note(() => options.prepareSecret(mayDelete || isNew))
  const before = obstacles.length
  const instead = await note(() => adopted(store, manifest.installation, state, mayDelete))
  if (!mayDelete && obstacles.length === before)
    await note(() => requireNothingElse(store, instead ?? undefined, () => listOf(folder, backup)))
  return { obstacles, saveSecret, instead: instead ?? undefined }
}

interface State {
  continues: boolean
  /** A table with data that must not be deleted. */
  inUse: string | undefined
  /** The id of the installation that owns the database. */
  installation: string | undefined
}

async function stateOf(db: Db, backup: string, mayDelete: boolean): Promise<State> {
  const nothing: State = { continues: false, inUse: undefined, installation: undefined }
  if (!(await db.isThere())) return nothing
  if (await db.isOpenElsewhere())
    throw new BackupError(
      'Another program uses the database. Stop all instances of the service, and other programs that use it.',
    )
  const continues = (await restoreUnderWay(db)) === backup
  return {
    continues,
    inUse: continues || mayDelete ? undefined : await tableInUse(db),
    installation: continues ? undefined : await installationIfAny(db),
  }
}

/**
 * Decides whether a store with another installation's label may be used. It may if the store is
 * empty, or if it belongs to the database and that data may be deleted.
 * @returns the installation whose label is replaced
 * @throws BackupError
 */
async function adopted(
  store: BlobStore,
  installation: string,
  state: State | undefined,
  mayDelete: boolean,
): Promise<string | undefined> {
  const there = await store.marker().catch(error => {
    if (isMissing(error)) return undefined
    throw error
  })
  if (!there || there.installation === installation) return undefined
  if (mayDelete && there.installation === state?.installation) return there.installation
  if (there.number === 0 && (await isEmpty(store))) return there.installation
  throw new BackupError(
    there.installation === state?.installation
      ? `The blob store (${store.label}) has files of the database. Name an empty store, or add --delete-existing to delete them.`
      : `The blob store (${store.label}) has files of a Satchel with another database, which a restore does not delete. Name an empty store.`,
  )
}

/** Whether the folder or container of a store is missing. The restore creates it. */
const isMissing = (error: unknown): boolean =>
  [...causesOf(error)].some(
    cause => cause.code === 'ENOENT' || (cause instanceof StoreRefusal && cause.status === 404),
  )

/** The blobs of a store. Empty if its folder or container is missing. */
async function* blobsOf(store: BlobStore): ReturnType<BlobStore['list']> {
  try {
    yield* store.list()
  } catch (error) {
    if (!isMissing(error)) throw error
  }
}

async function isEmpty(store: BlobStore): Promise<boolean> {
  for await (const { key } of blobsOf(store)) if (isUuid(key)) return false
  return true
}

/** Blobs of the store that are not in a list. Ignores objects of other programs in a container. */
async function* others(
  store: BlobStore,
  list: () => AsyncIterable<ListedBlob>,
): AsyncGenerator<string> {
  const listed = cursorOver(list())
  for await (const { key } of blobsOf(store))
    if (isUuid(key) && (await listed.at(key)).length === 0) yield key
  await listed.end()
}

async function requireNothingElse(
  store: BlobStore,
  instead: string | undefined,
  list: () => AsyncIterable<ListedBlob>,
): Promise<void> {
  // An adopted store is empty.
  if (instead !== undefined) return
  for await (const key of others(store, list))
    throw new BackupError(
      `The blob store (${store.label}) has blobs that the backup does not have, such as ${key}. Name an empty store, or add --delete-existing to delete them.`,
    )
}

async function removeOthers(
  store: BlobStore,
  list: () => AsyncIterable<ListedBlob>,
  progress: Progress,
): Promise<number> {
  let some: string[] = []
  let removed = 0
  const remove = async () => {
    removed += await removeBlobs(store, some, progress)
    some = []
  }
  for await (const key of others(store, list)) if (some.push(key) >= AT_ONCE) await remove()
  if (some.length > 0) await remove()
  return removed
}

/** All blobs are now in one store, whatever moves had happened before the backup. */
async function restoreNumber(db: Db, number: number, target: string): Promise<void> {
  const at = Date.now()
  await deleteMoves(db)
  if (number > 0)
    await insertMove(db, { number, source: 'a backup', target, startedAt: at, finishedAt: at })
  await setAllStores(db, number)
}

/** Unfinished uploads have lost their parts, and objects marked for deletion were not restored. */
async function endUploads(db: Db): Promise<void> {
  for (
    let some = await stagedBlobs(db, AT_ONCE);
    some.length > 0;
    some = await stagedBlobs(db, AT_ONCE)
  )
    for (const { id, bucketId } of some)
      await db.transaction(tx => endOverdue(db, bucketId, id, tx, Number.MAX_SAFE_INTEGER))
  await forgetDeleting(db)
}
