import { createHash } from 'node:crypto'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import pack from '#package.json' with { type: 'json' }
import type { Db } from '../../db/index.ts'
import { migrationNames } from '../../db/migrate.ts'
import { engineOf, migrationsOf } from '../../db/queries/backup.ts'
import { fileMode, folderMode, syncFolder } from '../storage/files.ts'
import type { BlobStore } from '../storage/store.ts'
import { BlobUnreadable, copyBlobs, type Outcome } from './copy.ts'
import {
  type BackupFolder,
  LIST,
  MANIFEST,
  SECRET,
  TABLES,
  tableFile,
  UNFINISHED,
} from './folder.ts'
import { type Hold, holdDeletions } from './hold.ts'
import { digestOf, openAppender } from './lines.ts'
import { faultOfList, listOf, presentIn } from './list.ts'
import { type ListedBlob, type Manifest, newManifest, writeManifest } from './manifest.ts'
import { BackupError, explained } from './problem.ts'
import type { Progress } from './progress.ts'
import { batches, cursorOver, merged } from './sorted.ts'
import { savedRows, saveTables } from './tables.ts'

/**
 * Progress is recorded after this many blobs or bytes, so that the next run can resume if this one
 * is killed.
 */
const NOTED = { count: 512, bytes: 1024 ** 3 }

interface Source {
  db: Db
  store: BlobStore
  installation: string
  /** Null to exclude it. */
  secret: string | null
}

/** A blob that the database references. */
interface Wanted {
  id: string
  size: number
  /** In lower-case hex, if recorded. */
  crc32: string | null
}

/**
 * Makes a backup: first the tables as one snapshot, then the blobs that it references. Meanwhile,
 * no blob is deleted from the store. If it is killed, it leaves an unfinished backup, which the
 * next one continues.
 * @throws BackupError
 */
export async function makeBackup(
  source: Source,
  folder: BackupFolder,
  progress: Progress,
): Promise<{ name: string; manifest: Manifest }> {
  const { db } = source
  const migrations = await migrationsOf(db)
  const names = migrations.map(({ name }) => name)
  if (
    migrationNames().some(name => !names.includes(name)) ||
    names.length !== migrationNames().length
  )
    throw new BackupError(
      'The database has the tables of another version of Satchel, or a restore of it has not finished. Use that version, start this one once, or finish the restore.',
    )
  const hold = await holdDeletions(db)
  try {
    return await make(source, folder, { migrations, hold, progress })
  } catch (error) {
    throw explained(error, folder.dir)
  } finally {
    await hold
      .end()
      .catch(() =>
        progress.warn(
          'The database could not be reached: deletions of files go on in five minutes.',
        ),
      )
  }
}

async function make(
  { db, store, installation, secret }: Source,
  folder: BackupFolder,
  {
    migrations,
    hold,
    progress,
  }: { migrations: Manifest['migrations']; hold: Hold; progress: Progress },
): Promise<{ name: string; manifest: Manifest }> {
  const snapshotAt = new Date().toISOString()
  const name = snapshotAt.replaceAll(':', '-')
  const draft = `${name}${UNFINISHED}`
  // Read before the new backup is among them.
  const known = await knownBlobs(folder, progress)
  // Only the lists of killed backups are useful. Remove the rest first, because the disk may be
  // full.
  for (const old of await folder.unfinished())
    await rm(folder.path(old, TABLES), { recursive: true, force: true })
  await mkdir(folder.path(draft, TABLES), { recursive: true, mode: folderMode })
  const pathOf = (file: string) => folder.path(draft, file)

  progress.step('Saving the database')
  const tables = await db.snapshot(read => saveTables(db, read, pathOf, progress))
  const blobs = await saveBlobs({ store, folder, hold, progress, known }, pathOf)
  if (secret !== null)
    await writeFile(pathOf(SECRET), `${secret}\n`, { mode: fileMode, flush: true })
  hold.require()
  const manifest = newManifest({
    satchel: pack.version,
    engine: engineOf(db),
    installation,
    snapshotAt,
    finishedAt: new Date().toISOString(),
    migrations,
    tables,
    blobs,
    secret: secret === null ? null : createHash('sha256').update(`${secret}\n`).digest('hex'),
  })
  await writeManifest(pathOf(MANIFEST), manifest)
  for (const path of [folder.path(draft, TABLES), folder.path(draft)]) await syncFolder(path)
  await folder.requireAlone()
  await rename(folder.path(draft), folder.path(name))
  await syncFolder(folder.path('.'))
  return { name, manifest }
}

/**
 * The blobs of the latest backup with an intact list, and those that killed backups have copied
 * since, sorted by id.
 */
async function knownBlobs(
  folder: BackupFolder,
  progress: Progress,
): Promise<AsyncIterable<ListedBlob>> {
  const names = await folder.unfinished()
  for (const name of (await folder.finished()).reverse()) {
    const fault = await faultOfList(folder, name)
    if (fault === undefined) {
      names.push(name)
      break
    }
    progress.warn(fault)
  }
  return merged(names.map(name => listOf(folder, name)))
}

async function* wantedIn(path: string): AsyncGenerator<Wanted> {
  for await (const { id, size, crc32, state } of savedRows(path))
    if (state === 'live')
      yield { id: String(id), size: Number(size), crc32: crc32 === null ? null : String(crc32) }
}

async function saveBlobs(
  {
    store,
    folder,
    hold,
    progress,
    known,
  }: {
    store: BlobStore
    folder: BackupFolder
    hold: Hold
    progress: Progress
    known: AsyncIterable<ListedBlob>
  },
  pathOf: (file: string) => string,
): Promise<Manifest['blobs']> {
  const ledger = pathOf(tableFile('blobs'))
  const total = { items: 0, bytes: 0 }
  for await (const { size } of wantedIn(ledger)) {
    total.items += 1
    total.bytes += size
  }
  progress.step('Copying files', total)

  const sums = { count: 0, bytes: 0, copied: 0, copiedBytes: 0, missing: 0, damaged: 0 }
  const [listed, there] = [cursorOver(known), cursorOver(presentIn(folder.blobs))]
  const list = await openAppender(pathOf(LIST))
  const note = (blob: Wanted, saved: ListedBlob, outcome?: Outcome) => {
    sums.count += 1
    if (saved.sha256 !== undefined) {
      sums.bytes += saved.size
      if (outcome) sums.copied += 1
      if (outcome) sums.copiedBytes += saved.size
    }
    if (!saved.problem) return
    sums[saved.problem] += 1
    if (outcome instanceof BlobUnreadable)
      return progress.warn(
        `The blob ${blob.id} cannot be read in the store (${outcome.code}), so the backup does not have it. The next backup tries again.`,
      )
    progress.warn(
      saved.problem === 'missing'
        ? `The blob ${blob.id} is not in the store, so the backup does not have it. See "npm run doctor".`
        : `The blob ${blob.id} is not what was uploaded: the store has damaged it. The backup has it as it is.`,
    )
  }
  try {
    for await (const some of batches(wantedIn(ledger), NOTED)) {
      hold.require()
      await folder.requireAlone()
      const known = new Map<string, ListedBlob>()
      for (const { id, size } of some) {
        const before = (await listed.at(id)).find(
          ({ problem, size: listedSize }) => !problem && listedSize === size,
        )
        const [copy] = await there.at(id)
        if (before && copy?.size === size) known.set(id, before)
      }
      progress.add(
        known.size,
        [...known.values()].reduce((sum, { size }) => sum + size, 0),
      )
      const missing = some.filter(({ id }) => !known.has(id))
      const outcomes = await copyBlobs(store, folder.blobs, missing, size => progress.add(1, size))
      const lines = some.map(blob => {
        const outcome = outcomes.get(blob.id)
        const saved = known.get(blob.id) ?? savedAs(blob, outcome)
        note(blob, saved, outcome)
        return saved
      })
      await list.append(lines)
    }
  } finally {
    await list.close()
    await Promise.all([listed.end(), there.end()])
  }
  return { ...sums, sha256: await digestOf(pathOf(LIST)) }
}

/** Compares a copied blob with its record in the database. */
function savedAs({ id, size, crc32 }: Wanted, copied: Outcome | undefined): ListedBlob {
  if (!copied || copied instanceof Error) return { id, size, problem: 'missing' }
  const isDamaged = copied.size !== size || (crc32 !== null && copied.crc32 !== crc32)
  return {
    id,
    size: copied.size,
    sha256: copied.sha256,
    ...(isDamaged ? { problem: 'damaged' as const } : {}),
  }
}
