import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Db, openDatabase } from '../../db/index.ts'
import type { BackupFolder } from '../../src/backup/folder.ts'
import { openBackupFolder } from '../../src/backup/folder.ts'
import { makeBackup } from '../../src/backup/make.ts'
import type { Progress } from '../../src/backup/progress.ts'
import { restoreBackup } from '../../src/backup/restore.ts'
import { readConfig } from '../../src/config/config.ts'
import { installationOf } from '../../src/services/installation.ts'
import { createDiskStore } from '../../src/storage/disk.ts'
import type { BlobStore } from '../../src/storage/store.ts'
import { newDatabase, startApp, type TestApp } from './harness.ts'

/** The storage of an installation: settings for a service and for the operator's programs. */
export interface Place {
  settings: Record<string, string>
  blobDir: string
  readonly db: Db
  store: BlobStore
  /** Closes the connections to the database, as every program does when it exits. */
  fresh(): Promise<void>
  /** Starts the service on this storage. */
  start(): Promise<TestApp>
  drop(): Promise<void>
}

/** @param database the target of the restore; by default a new one of the engine under test */
export async function newPlace(database?: { url: string; drop(): Promise<void> }): Promise<Place> {
  const { url, drop } = database ?? (await newDatabase())
  const dir = mkdtempSync(join(tmpdir(), 'satchel-backup-'))
  const blobDir = join(dir, 'files')
  const settings = { DATABASE_URL: url, DATA_DIR: join(dir, 'data'), BLOB_DIR: blobDir }
  mkdirSync(settings.DATA_DIR)
  const open = () => openDatabase(readConfig(settings).database, { pool: 2 })
  let db = open()
  return {
    settings,
    blobDir,
    get db() {
      return db
    },
    async fresh() {
      await db.close()
      db = open()
    },
    store: createDiskStore({ dir: blobDir }),
    start: () =>
      startApp({ SECRET_KEY: 's'.repeat(32), TRASH_DAYS: '0', VERSIONS_KEPT: '0', ...settings }),
    async drop() {
      await db.close()
      await drop()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

/** Progress that prints nothing and collects warnings. */
export const silent = (steps: Partial<Progress> = {}) => {
  const warnings: string[] = []
  const progress: Progress = {
    step() {},
    add() {},
    warn: message => void warnings.push(message),
    ...steps,
  }
  return { ...progress, warnings }
}

const SECRET = 's'.repeat(32)

export async function backUp(
  t: TestApp,
  dir: string,
  { progress = silent(), store = t.app.store as BlobStore } = {},
) {
  const { db } = t.app
  const installation = await installationOf(db)
  const folder = await openBackupFolder(dir, { create: installation, apart: [] })
  const made = await folder.alone(() =>
    makeBackup({ db, store, installation, secret: SECRET }, folder, progress),
  )
  return { ...made, folder, warnings: progress.warnings }
}

export async function restoreInto(place: Place, folder: BackupFolder, name: string, more = {}) {
  await place.fresh()
  const progress = silent()
  const options = {
    deleteExisting: false,
    verify: false,
    prepareSecret: async () => async () => {},
    ...more,
  }
  const restored = await restoreBackup(place, folder, name, progress, options)
  return { ...restored, warnings: progress.warnings }
}

/** The blob files of a store or a backup. */
export const blobsIn = (dir: string): string[] =>
  readdirSync(join(dir, 'blobs'), { recursive: true, withFileTypes: true }).flatMap(entry =>
    entry.isFile() ? [join(entry.parentPath, entry.name)] : [],
  )

export const randomFile = (size: number): Buffer => randomBytes(size)
