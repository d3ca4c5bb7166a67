import { type Command, InvalidArgumentError } from 'commander'
import { validate as isUuid } from 'uuid'
import { openDatabase } from '../../db/index.ts'
import { countUnmoved, lastMove, storesOf, type Unmoved, unmovedSessions } from '../../db/queries/store-move.ts'
import { naming } from '../backup/naming.ts'
import { BackupError } from '../backup/problem.ts'
import type { Progress } from '../backup/progress.ts'
import { removeBlobs } from '../backup/remove-blobs.ts'
import { type Answer, runLong } from '../backup/run-long.ts'
import type { Config } from '../config/config.ts'
import { requireDatabase, wholeNumber } from '../runtime/program.ts'
import { size, table } from '../runtime/table.ts'
import { bindStore, installationOf } from '../services/installation.ts'
import { storePlaces } from '../services/store-place.ts'
import { endOverdue } from '../services/uploads/upload-session.ts'
import { createMovingStore } from '../storage/moving.ts'
import { openDriver } from '../storage/open.ts'
import { ForeignStore } from '../storage/store.ts'
import { momentText } from '../values/moment.ts'
import { beginMove, type Moved, type Moving, moveBlobs } from './mover.ts'

const MINUTE = 60_000
/** Uploads that began in the old store are under way. */
const UNFINISHED = 3
const REMOVED_AT_ONCE = 500

interface Options {
  dryRun: boolean
  atOnce: number
  rate?: number
  wait: number
  endUploads: boolean
  deleteSource: boolean
  grace: number
}

const help = `
1. Set the new store in the usual settings and the old one in the same settings with MOVE_FROM_, such as MOVE_FROM_BLOB_DIR, and restart all instances, one after the other.
2. Run this command with these settings. New files go to the new store from then on; the others are copied there, and read back. It may be ended and run again at any time.
3. When it says that all files have been moved, remove the settings with MOVE_FROM_, and restart all instances again. The old store keeps its files until --delete-source.

Exit code: 0 if all files have been moved; 1 if it was refused, or if files are missing or damaged; 2 if it failed: run it again, it continues; ${UNFINISHED} if only uploads are left that began in the old store: run it again when they have ended.`

/** Adds the command that moves all blobs to another store. */
export function moveBlobsCommand(program: Command): void {
  program
    .command('move-blobs')
    .description('moves all files to another blob store (a folder, Azure, S3), while the service runs')
    .option('--dry-run', 'say what there is to move, and move nothing', false)
    .option('--at-once <n>', 'files that are copied at a time', wholeNumber(1), 16)
    .option('--rate <MiB>', 'copy no more than so many MiB in a second', wholeNumber(1))
    .option('--wait <minutes>', 'wait for uploads under way that began in the old store', wholeNumber(0), 1)
    .option(
      '--end-uploads',
      'end uploads in parts that began in the old store: clients have to begin them again',
      false,
    )
    .option(
      '--delete-source',
      'delete the files of the old store, of which the new one has all: a step of its own, in the end',
      false,
    )
    .option(
      '--grace <seconds>',
      'age of a finished move from which its source may be deleted: downloads from the old store may be under way before',
      wholeNumber(0),
      3600,
    )
    .addHelpText('after', help)
    .allowExcessArguments(false)
    .action((options: Options) => {
      if (Number(options.dryRun) + Number(options.endUploads) + Number(options.deleteSource) > 1)
        throw new InvalidArgumentError('Give only one of --dry-run, --end-uploads and --delete-source.')
      return runLong(program, (config, progress) =>
        withStores(config, moving => run(moving, options, progress, config)),
      )
    })
}

function run(moving: Stores, options: Options, progress: Progress, config: Config): Promise<Answer> {
  if (options.dryRun) return lookAhead(moving)
  if (options.deleteSource) return deleteSource(moving, options, progress, config)
  return move(moving, options, progress)
}

interface Stores extends Moving {
  /** Whether all files have been moved already. */
  isFinished: boolean
}

/** Opens the database and both stores. @throws BackupError */
async function withStores(config: Config, work: (stores: Stores) => Promise<Answer>): Promise<Answer> {
  requireDatabase(config)
  const db = openDatabase(config.database, { pool: 4, patience: 10 * MINUTE })
  try {
    const last = await lastMove(db)
    if (!config.moveFrom)
      throw new BackupError(
        last?.finishedAt === null
          ? `The files are being moved from ${last.source} to ${last.target}. Set the store that they are moved from, by the settings that begin with MOVE_FROM_.`
          : 'Set the store that the files are to be moved from by the settings that begin with MOVE_FROM_, such as MOVE_FROM_BLOB_DIR, and the new store by those without. Restart all instances with them first.',
      )
    const [from, to] = [await openDriver(config.moveFrom), await openDriver(config)]
    const both = createMovingStore({ from: naming(from), to: naming(to), places: storePlaces(db) })
    try {
      await both.prepare()
      await bindStore(db, both)
    } catch (error) {
      throw error instanceof ForeignStore ? new BackupError(`${error.message}.`) : error
    }
    const { number = 0 } = (await to.marker()) ?? {}
    const isFinished = last?.number === number && last.finishedAt !== null
    return await work({ db, from: naming(from), to: naming(to), number, isFinished })
  } finally {
    await db.close()
  }
}

const uploadsLeft = ({ uploads, uploadsUntil }: Unmoved): string =>
  `${uploads} uploads that began in the old store, which wait until ${momentText(uploadsUntil)} at the latest if no part comes`

async function lookAhead({ db, from, to, number, isFinished }: Stores): Promise<Answer> {
  await Promise.all([to.ping(), isFinished ? undefined : from.ping()])
  const left = await countUnmoved(db, number)
  const rows = [
    ['from', from.label],
    ['to', to.label],
    ['files to move', `${left.files} with ${size(left.bytes)}`],
    ...(left.uploads > 0 ? [['uploads', uploadsLeft(left)]] : []),
    ...(isFinished ? [['state', 'all files have been moved']] : []),
  ]
  return { fact: { from: from.label, to: to.label, finished: isFinished, left: onWire(left) }, words: table(rows) }
}

const onWire = ({ files, bytes, uploads, uploadsUntil }: Unmoved) => ({
  ...{ files, bytes, uploads },
  uploads_until: uploads > 0 ? new Date(uploadsUntil).toISOString() : null,
})

const NEXT =
  'All files have been moved. Remove the settings that begin with MOVE_FROM_, and restart all instances. The old store keeps its files until "move-blobs --delete-source", with the settings as they are now.'

async function move(moving: Stores, { atOnce, rate, wait, endUploads }: Options, progress: Progress): Promise<Answer> {
  // An instance that still had the old store alone may have stored files there after the end.
  const { files } = await countUnmoved(moving.db, moving.number)
  if (moving.isFinished && files > 0) await requireSource(moving)
  if (moving.isFinished && files === 0) return { fact: { finished: true }, words: NEXT }
  await beginMove(moving)
  if (endUploads) await endSessions(moving)
  const moved = await moveBlobs(moving, {
    ...{ atOnce, progress, waitMs: wait * MINUTE },
    bytesPerSecond: rate && rate * 1024 ** 2,
  })
  const { left, isFinished, ...sums } = moved
  return {
    fact: { finished: isFinished, moved: sums, left: onWire(left) },
    words: [`Moved ${sums.count} files with ${size(sums.bytes)}.`, ...remarks(moved)].join('\n'),
    problems: sums.missing + sums.damaged + sums.unreadable > 0,
    ...(isFinished ? {} : { exitCode: UNFINISHED }),
  }
}

function remarks({ missing, damaged, unreadable, left, isFinished }: Moved): string[] {
  return [
    ...(missing > 0 ? [`${missing} files are in neither store: "npm run doctor" names them.`] : []),
    ...(damaged > 0 ? [`${damaged} files are not what was uploaded, and were moved as they are.`] : []),
    ...(unreadable > 0 ? [`${unreadable} files cannot be read in the old store, and are still there.`] : []),
    ...(isFinished ? [NEXT] : []),
    ...(left.uploads > 0
      ? [`Left are ${uploadsLeft(left)}. Run this command again when they have ended, or with --end-uploads.`]
      : []),
  ]
}

/** Ends uploads in parts that began in the old store, as if their clients had not come back. */
async function endSessions({ db, number }: Stores): Promise<void> {
  for (const { id, bucketId } of await unmovedSessions(db, number))
    await db.transaction(tx => endOverdue(db, bucketId, id, tx, Number.MAX_SAFE_INTEGER))
}

/**
 * Not every store has a label. One without must be called as it was when the move began: otherwise it may be that of another installation.
 * @throws BackupError if the first store is not the one that the blobs were moved from
 */
async function requireSource({ db, from, number }: Pick<Stores, 'db' | 'from' | 'number'>): Promise<void> {
  const there = await from.marker()
  const isSource = there
    ? there.installation === (await installationOf(db)) && there.number < number
    : from.label.slice(0, 500) === (await lastMove(db))?.source
  if (!isSource) throw new BackupError(`${from.label} is not the store that the files were moved from.`)
}

/** Deletes what the old store has. What the new one does not have is none of that: it is looked for once more. */
async function deleteSource(
  { db, from, to, number, isFinished }: Stores,
  { grace }: Options,
  progress: Progress,
  { signedUrlSeconds }: Config,
): Promise<Answer> {
  const { finishedAt } = (await lastMove(db)) ?? {}
  if (!isFinished || !finishedAt) throw new BackupError('Not all files have been moved. Run "move-blobs" first.')
  const earliest = finishedAt + Math.max(grace, signedUrlSeconds) * 1000
  if (Date.now() < earliest)
    throw new BackupError(
      `Downloads from the old store may be under way. Run this after ${momentText(earliest)}, or with a shorter --grace.`,
    )
  await requireSource({ db, from, number })
  progress.step('Deleting the files of the old store')
  let removed = 0
  const kept: string[] = []
  let some: string[] = []
  const removeSome = async () => {
    const stores = await storesOf(db, some)
    const mayGo = await Promise.all(
      some.map(async key => {
        const there = stores.get(key)
        const isMoved = there === undefined || (there >= number && (await to.look(key)) !== null)
        if (!isMoved) kept.push(key)
        return isMoved ? [key] : []
      }),
    )
    removed += await removeBlobs(from, mayGo.flat(), progress)
    progress.add(some.length, 0)
    some = []
  }
  for await (const { key } of from.list()) if (isUuid(key) && some.push(key) >= REMOVED_AT_ONCE) await removeSome()
  if (some.length > 0) await removeSome()
  return {
    fact: { removed, kept: kept.length },
    words: [
      `Deleted ${removed} files of the old store.`,
      ...(kept.length > 0
        ? [
            `${kept.length} were kept, because the new store does not have them (run "move-blobs" again): ${kept.slice(0, 3).join(', ')}`,
          ]
        : []),
    ].join('\n'),
    problems: kept.length > 0,
  }
}
