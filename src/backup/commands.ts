import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { type Command, InvalidArgumentError } from 'commander'
import { v4 as newId } from 'uuid'
import { type Db, openDatabase } from '../../db/index.ts'
import { noteBackup } from '../../db/queries/health.ts'
import type { Config } from '../config/config.ts'
import { requireDatabase, wholeNumber } from '../runtime/program.ts'
import { size, table } from '../runtime/table.ts'
import { bindStore, installationOf, openStoreOf } from '../services/installation.ts'
import { readSecret } from '../sign-in/embedded/secrets.ts'
import { openDriver } from '../storage/open.ts'
import type { BlobStore } from '../storage/store.ts'
import { type BackupFolder, openBackupFolder, SECRET } from './folder.ts'
import { makeBackup } from './make.ts'
import type { Manifest } from './manifest.ts'
import { naming } from './naming.ts'
import { BackupError, explained } from './problem.ts'
import type { Progress } from './progress.ts'
import { chooseBackup, type RestoreOptions, restoreBackup, restoreObstacles } from './restore.ts'
import { removeOld } from './retention.ts'
import { type Answer, runLong } from './run-long.ts'
import { verifyBackups } from './verify.ts'

const MINUTE = 60_000

const exitCodes = `
Exit code: 0 if it is done; 1 if it was refused, or if files are missing or damaged; 2 if it failed: run it again, it continues.`

interface BackupOptions {
  keep?: number
  keepDays?: number
  list: boolean
  verify: boolean
  prune: boolean
  secret: boolean
}

/** Declares the backup commands of the operator's program. */
export function backupCommands(program: Command): void {
  const run = (dir: string, work: (config: Config, progress: Progress) => Promise<Answer>) =>
    runLong(program, work, thrown => explained(thrown, resolve(dir)))

  program
    .command('backup <dir>')
    .description(
      'saves the database, the files and the secret, while the service runs; files that <dir> has are not copied again',
    )
    .option('--keep <n>', 'keep only the newest n backups, and remove older ones', wholeNumber(1))
    .option(
      '--keep-days <n>',
      'keep the backups of the last n days, and remove older ones',
      wholeNumber(1),
    )
    .option('--list', 'list the backups in <dir>, and make none', false)
    .option('--verify', 'read all backups in <dir> and compare their digests, and make none', false)
    .option('--prune', 'remove old backups by --keep and --keep-days, and make none', false)
    .option('--no-secret', 'leave out SECRET_KEY: then keep it elsewhere')
    .addHelpText('after', exitCodes)
    .allowExcessArguments(false)
    .action((dir: string, options: BackupOptions) =>
      run(dir, (config, progress) => {
        if (Number(options.list) + Number(options.verify) + Number(options.prune) > 1)
          throw new BackupError('Give only one of --list, --verify and --prune.')
        if (options.prune) return prune(dir, options, progress)
        if (options.list) return list(dir)
        return options.verify ? verify(dir, progress) : backup(dir, options, config, progress)
      }),
    )

  program
    .command('restore-backup <dir>')
    .description(
      'restores a backup into the database and the blob store of the settings; the service must be stopped',
    )
    .option(
      '--at <time>',
      'the name of a backup, or a time: the newest backup until then (default: the newest)',
      named,
    )
    .option(
      '--verify',
      'also read files that are in the store already, and replace those that have changed',
      false,
    )
    .option(
      '--delete-existing',
      'delete everything that the database holds now, the secret.key, and files that the backup does not have',
      false,
    )
    .option(
      '--check',
      'list everything that would keep the restore from running, and change nothing',
      false,
    )
    .addHelpText('after', exitCodes)
    .allowExcessArguments(false)
    .action((dir: string, options: RestoreGiven) =>
      run(dir, (config, progress) => restore(dir, options, config, progress)),
    )
}

function named(text: string): string {
  if (text === '') throw new InvalidArgumentError('Write the name of a backup, or a time.')
  return text
}

const apartFrom = ({ dataDir, blobDir }: Config) => [dataDir, blobDir]

/** Opens the configured database for long statements. */
async function withDatabase<T>(config: Config, work: (db: Db) => Promise<T>): Promise<T> {
  const db = openDatabase(config.database, { pool: 2, patience: 10 * MINUTE })
  try {
    return await work(db)
  } finally {
    await db.close()
  }
}

async function openBound(config: Config, db: Db): Promise<BlobStore> {
  const store = naming(await openStoreOf(config, db))
  await store.prepare()
  await bindStore(db, store)
  return store
}

const secretFile = ({ dataDir }: Config) => join(dataDir, 'secret.key')

async function backup(
  dir: string,
  { keep, keepDays, secret: withSecret }: BackupOptions,
  config: Config,
  progress: Progress,
): Promise<Answer> {
  requireDatabase(config)
  return withDatabase(config, async db => {
    const store = await openBound(config, db)
    const installation = await installationOf(db)
    const secret = withSecret
      ? config.secretKey || (await readSecret(secretFile(config))) || null
      : null
    if (withSecret && secret === null)
      throw new BackupError(
        `There is no SECRET_KEY and no ${secretFile(config)}. Set SECRET_KEY or DATA_DIR as the service has it, or add --no-secret and keep it elsewhere.`,
      )
    const folder = await openBackupFolder(dir, { create: installation, apart: apartFrom(config) })
    return folder.alone(async () => {
      const { name, manifest } = await makeBackup(
        { db, store, installation, secret },
        folder,
        progress,
      )
      progress.step('Removing old backups')
      await noteBackup(db, { id: newId(), finishedAt: Date.now(), bytes: manifest.blobs.bytes })
      const removed = await removeOld(
        folder,
        { count: keep, days: keepDays },
        { made: name, progress },
      )
      const { blobs } = manifest
      const words = [
        `Backup ${name}: ${blobs.count} files with ${size(blobs.bytes)}, of which ${blobs.copied} with ${size(blobs.copiedBytes)} were copied now.`,
        ...removed.backups.map(old => `Removed the backup ${old}.`),
        ...(blobs.missing + blobs.damaged > 0
          ? [`${blobs.missing} files are missing and ${blobs.damaged} damaged in the store.`]
          : []),
      ]
      return {
        fact: {
          backup: summary(name, manifest),
          removed: removed.backups,
          removed_blobs: removed.blobs,
        },
        words: words.join('\n'),
        problems: blobs.missing + blobs.damaged > 0,
      }
    })
  })
}

function summary(
  name: string,
  { satchel, engine, snapshotAt, finishedAt, blobs, secret }: Manifest,
): object {
  const { copiedBytes, sha256: _, ...counts } = blobs
  return {
    name,
    satchel,
    engine,
    snapshot_at: snapshotAt,
    finished_at: finishedAt,
    blobs: { ...counts, copied_bytes: copiedBytes },
    secret: secret !== null,
  }
}

const open = (dir: string): Promise<BackupFolder> => openBackupFolder(dir, { apart: [] })

async function list(dir: string): Promise<Answer> {
  const folder = await open(dir)
  const backups: object[] = []
  const rows: string[][] = []
  for (const name of await folder.finished()) {
    const manifest = await folder.manifest(name).catch(error => {
      if (!(error instanceof BackupError)) throw error
      rows.push([name, error.message])
      backups.push({ name, problem: error.message })
    })
    if (!manifest) continue
    const { blobs, engine, satchel } = manifest
    rows.push([name, `${blobs.count} files`, size(blobs.bytes), engine, `Satchel ${satchel}`])
    backups.push(summary(name, manifest))
  }
  const problems = backups.some(backup => 'problem' in backup)
  return { fact: { backups }, words: rows.length > 0 ? table(rows) : 'No backups.', problems }
}

async function verify(dir: string, progress: Progress): Promise<Answer> {
  const folder = await open(dir)
  const sums = await folder.alone(() => verifyBackups(folder, progress))
  const words =
    sums.problems === 0
      ? `${sums.backups} backups with ${sums.blobs} files are as they were written.`
      : `${sums.problems} problems found.`
  return { fact: sums, words, problems: sums.problems > 0 }
}

/** Without making a backup first, because a full disk has no space for one. */
async function prune(
  dir: string,
  { keep, keepDays }: BackupOptions,
  progress: Progress,
): Promise<Answer> {
  if (keep === undefined && keepDays === undefined)
    throw new BackupError('Add --keep or --keep-days, which say what is kept.')
  const folder = await open(dir)
  const removed = await folder.alone(() =>
    removeOld(folder, { count: keep, days: keepDays }, { progress }),
  )
  return {
    fact: { removed: removed.backups, removed_blobs: removed.blobs },
    words: `Removed ${removed.backups.length} backups and ${removed.blobs} files.`,
  }
}

interface RestoreGiven {
  at?: string
  verify: boolean
  deleteExisting: boolean
  check: boolean
}

async function restore(
  dir: string,
  { at, verify: verifies, deleteExisting, check }: RestoreGiven,
  config: Config,
  progress: Progress,
): Promise<Answer> {
  if (config.moveFrom)
    throw new BackupError(
      'A backup is restored into one store. Remove the settings that begin with MOVE_FROM_.',
    )
  const folder = await openBackupFolder(dir, { apart: apartFrom(config) })
  return folder.alone(async () => {
    const name = await chooseBackup(folder, at)
    const { secret } = await folder.manifest(name)
    const saved = secret === null ? undefined : await readSecret(folder.path(name, SECRET))
    const prepareSecret = (mayReplace: boolean) => secretToSave(saved, config, mayReplace, progress)
    if (check)
      return checkRestore(folder, name, { deleteExisting, prepareSecret }, config, progress)
    if (config.database.dialect === 'sqlite' || !(config.azure || config.s3))
      await mkdir(config.dataDir, { recursive: true, mode: 0o700 })
    return withDatabase(config, async db => {
      const store = naming(await openDriver(config))
      const options = { verify: verifies, deleteExisting, prepareSecret }
      const sums = await restoreBackup({ db, store }, folder, name, progress, options)
      const words = [
        `Restored the backup ${name}: ${sums.copied} files were copied, ${sums.there} were there.`,
        ...(sums.deleted > 0 ? [`${sums.deleted} files that it does not have were deleted.`] : []),
        ...(sums.lost > 0
          ? [`${sums.lost} files are missing or damaged: "npm run doctor" names them.`]
          : []),
        'Run "npm run doctor", and start the service.',
      ]
      return { fact: { backup: name, ...sums }, words: words.join('\n'), problems: sums.lost > 0 }
    })
  })
}

async function checkRestore(
  folder: BackupFolder,
  name: string,
  given: Pick<RestoreOptions, 'deleteExisting' | 'prepareSecret'>,
  config: Config,
  progress: Progress,
): Promise<Answer> {
  const options = { ...given, verify: false }
  const obstacles = await withDatabase(config, async db => {
    const store = naming(await openDriver(config))
    return restoreObstacles({ db, store }, folder, name, progress, options)
  })
  const words =
    obstacles.length === 0
      ? [`The backup ${name} can be restored.`]
      : [`The backup ${name} cannot be restored:`, ...obstacles.map(obstacle => `- ${obstacle}`)]
  return {
    fact: { backup: name, obstacles },
    words: words.join('\n'),
    problems: obstacles.length > 0,
  }
}

/**
 * Decides what to do with the secret of a backup.
 * @throws BackupError if another secret would be lost
 */
async function secretToSave(
  saved: string | undefined,
  config: Config,
  mayReplace: boolean,
  progress: Progress,
): Promise<() => Promise<void>> {
  const nothing = async () => {}
  const { secretKey } = config
  if (secretKey) {
    if (saved !== undefined && saved !== secretKey)
      progress.warn(
        'SECRET_KEY is not that of the backup: its links, sessions and API keys will not work.',
      )
    return nothing
  }
  const file = secretFile(config)
  const there = await readSecret(file)
  if (saved === undefined) {
    if (there === undefined)
      progress.warn(
        'The backup has no secret. Set SECRET_KEY to that of the original service before you start this one.',
      )
    return nothing
  }
  if (there === saved) return nothing
  if (there !== undefined && !mayReplace)
    throw new BackupError(
      `${file} has another secret than the backup. Move it away, or add --delete-existing to replace it.`,
    )
  return async () => {
    await mkdir(config.dataDir, { recursive: true, mode: 0o700 })
    await writeFile(`${file}.restored`, `${saved}\n`, { mode: 0o600, flush: true })
    await rename(`${file}.restored`, file)
  }
}
