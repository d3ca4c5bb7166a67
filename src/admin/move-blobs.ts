import { type Command, InvalidArgumentError } from 'commander'
import { openDatabase } from '../../db/index.ts'
import {
  countUnmoved,
  lastMove,
  type Unmoved,
  unmovedSessions,
} from '../../db/queries/store-move.ts'
import { naming } from '../backup/naming.ts'
import { BackupError } from '../backup/problem.ts'
import type { Progress } from '../backup/progress.ts'
import { type Answer, runLong } from '../backup/run-long.ts'
import type { Config } from '../config/config.ts'
import { requireDatabase, wholeNumber } from '../runtime/program.ts'
import { size, table } from '../runtime/table.ts'
import { bindStore, installationOf } from '../services/installation.ts'
import { storePlaces } from '../services/store-place.ts'
import { endOverdue } from '../services/uploads/upload-end.ts'
import { createMovingStore, routeOf } from '../storage/moving.ts'
import { openDriver } from '../storage/open.ts'
import { ForeignStore } from '../storage/store.ts'
import { momentText } from '../values/moment.ts'
import { beginMove, type Moving } from './begin-move.ts'
import { deleteSource, requireSource } from './delete-source.ts'
import { type Moved, moveBlobs } from './mover.ts'

const MINUTE = 60_000
/** The exit code while uploads that began in the old store are unfinished. */
const UNFINISHED = 3

interface Options {
  dryRun: boolean
  atOnce: number
  rate?: number
  wait: number
  endUploads: boolean
  leaveBehind: boolean
  deleteSource: boolean
  grace: number
}

const help = `
1. Set the new store in the usual settings and the old one in the same settings with MOVE_FROM_, such as MOVE_FROM_BLOB_DIR, and restart all instances, one after the other.
2. Run this command with these settings. New files go to the new store from then on; the others are copied there, and read back. It may be ended and run again at any time.
3. When it says that all files have been moved, remove the settings with MOVE_FROM_, and restart all instances again. The old store keeps its files until --delete-source.

A file that cannot be moved stays where it is, and is named; the others are moved. Run the command again, or delete it ("npm run doctor" names files whose bytes are missing), or end the move with --leave-behind.

Exit code: 0 if all files have been moved; 1 if it was refused, or if files are damaged or could not be moved; 2 if it failed: run it again, it continues; ${UNFINISHED} if only uploads are left that began in the old store: run it again when they have ended.`

/** Adds the command that moves all blobs to another store. */
export function moveBlobsCommand(program: Command): void {
  program
    .command('move-blobs')
    .description(
      'moves all files to another blob store (a folder, Azure, S3), while the service runs',
    )
    .option('--dry-run', 'say what there is to move, and move nothing', false)
    .option('--at-once <n>', 'files that are copied at a time', wholeNumber(1), 16)
    .option('--rate <MiB>', 'copy no more than so many MiB in a second', wholeNumber(1))
    .option(
      '--wait <minutes>',
      'wait for uploads under way that began in the old store',
      wholeNumber(0),
      1,
    )
    .option(
      '--end-uploads',
      'end uploads in parts that began in the old store: clients have to begin them again',
      false,
    )
    .option(
      '--leave-behind',
      'end the move although some files cannot be moved: they are lost until another run can move them',
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
        throw new InvalidArgumentError(
          'Give only one of --dry-run, --end-uploads and --delete-source.',
        )
      return runLong(program, (config, progress) =>
        withStores(config, isMove(options), moving => run(moving, options, progress, config)),
      )
    })
}

/** Whether the command may write to the stores. */
const isMove = ({ dryRun, deleteSource }: Options) => !dryRun && !deleteSource

function run(
  moving: Stores,
  options: Options,
  progress: Progress,
  config: Config,
): Promise<Answer> {
  if (options.dryRun) return lookAhead(moving)
  if (options.deleteSource) return remove(moving, options, progress, config)
  return move(moving, options, progress)
}

interface Stores extends Moving {
  /** Whether all files have been moved already. */
  isFinished: boolean
}

/**
 * Opens the database and both stores. @param binds whether the stores are labelled @throws
 * BackupError
 */
async function withStores(
  config: Config,
  binds: boolean,
  work: (stores: Stores) => Promise<Answer>,
): Promise<Answer> {
  requireDatabase(config)
  const db = openDatabase(config.database, { pool: 4, patience: 10 * MINUTE })
  try {
    const last = await lastMove(db)
    if (!config.moveFrom)
      throw new BackupError(
        last?.finishedAt === null
          ? `The files are being moved from ${last.source} to ${last.target}. Configure the old store with the settings that begin with MOVE_FROM_.`
          : 'Configure the old store with the settings that begin with MOVE_FROM_, such as MOVE_FROM_BLOB_DIR, and the new store with the usual settings. Then restart all instances, and run the command again.',
      )
    const stores = {
      from: naming(await openDriver(config.moveFrom)),
      to: naming(await openDriver(config)),
    }
    const places = storePlaces(db)
    try {
      if (binds) await stores.to.prepare()
      const { target, isDone } = await routeOf({ ...stores, places }, await installationOf(db))
      if (binds) await bindStore(db, createMovingStore({ ...stores, places }))
      return await work({ ...stores, db, number: target, isFinished: isDone })
    } catch (error) {
      throw error instanceof ForeignStore ? new BackupError(`${error.message}.`) : error
    }
  } finally {
    await db.close()
  }
}

const uploadsLeft = ({ uploads, uploadsUntil }: Unmoved): string =>
  `${uploads} uploads that began in the old store, which expire by ${momentText(uploadsUntil)} unless more parts arrive`

async function lookAhead({ db, from, to, number, isFinished }: Stores): Promise<Answer> {
  // A store without a label is not prepared yet, so it cannot be checked.
  const isLabelled = (await to.marker()) !== undefined
  await Promise.all([isLabelled ? to.ping() : undefined, isFinished ? undefined : from.ping()])
  const left = await countUnmoved(db, number)
  const rows = [
    ['from', from.label],
    ['to', to.label],
    ['files to move', `${left.files} with ${size(left.bytes)}`],
    ...(left.uploads > 0 ? [['uploads', uploadsLeft(left)]] : []),
    ...(isFinished ? [['state', 'all files have been moved']] : []),
  ]
  return {
    fact: { from: from.label, to: to.label, finished: isFinished, left: onWire(left) },
    words: table(rows),
  }
}

const onWire = ({ files, bytes, uploads, uploadsUntil }: Unmoved) => ({
  files,
  bytes,
  uploads,
  uploads_until: uploads > 0 ? new Date(uploadsUntil).toISOString() : null,
})

const NEXT =
  'All files have been moved. Remove the settings that begin with MOVE_FROM_, and restart all instances. The old store keeps its files until you run "move-blobs --delete-source" with the current settings.'

async function move(
  moving: Stores,
  { atOnce, rate, wait, endUploads, leaveBehind }: Options,
  progress: Progress,
): Promise<Answer> {
  // Blobs that were left behind because they could not be moved.
  const { files } = await countUnmoved(moving.db, moving.number)
  if (moving.isFinished && files > 0) await requireSource(moving)
  if (moving.isFinished && files === 0) return { fact: { finished: true }, words: NEXT }
  await beginMove(moving)
  if (endUploads) await endSessions(moving)
  const moved = await moveBlobs(moving, {
    atOnce,
    progress,
    leaveBehind,
    waitMs: wait * MINUTE,
    bytesPerSecond: rate && rate * 1024 ** 2,
  })
  const { left, isFinished, ...sums } = moved
  return {
    fact: { finished: isFinished, moved: sums, left: onWire(left) },
    words: [`Moved ${sums.count} files with ${size(sums.bytes)}.`, ...remarks(moved)].join('\n'),
    problems: sums.damaged + sums.failed > 0,
    ...(isFinished ? {} : { exitCode: UNFINISHED }),
  }
}

function remarks({ damaged, failed, failures, left, isFinished }: Moved): string[] {
  return [
    ...(damaged > 0
      ? [`${damaged} files were damaged in the old store, and were moved as they are.`]
      : []),
    ...(failed > 0 ? [`${failed} files could not be moved:`] : []),
    ...failures.map(({ id, reason }) => `  ${id}: ${reason}`),
    ...(failed > failures.length ? [`  and ${failed - failures.length} more`] : []),
    ...(isFinished ? [NEXT] : []),
    ...(left.uploads > 0
      ? [
          `Remaining: ${uploadsLeft(left)}. Run this command again when they have ended, or with --end-uploads.`,
        ]
      : []),
  ]
}

/** Ends multipart uploads that began in the old store, like abandoned uploads. */
async function endSessions({ db, number }: Stores): Promise<void> {
  for (const { id, bucketId } of await unmovedSessions(db, number))
    await db.transaction(tx => endOverdue(db, bucketId, id, tx, Number.MAX_SAFE_INTEGER))
}

async function remove(
  stores: Stores,
  { grace }: Options,
  progress: Progress,
  config: Config,
): Promise<Answer> {
  const graceSeconds = Math.max(grace, config.signedUrlSeconds)
  const { removed, kept } = await deleteSource(stores, { graceSeconds, progress })
  const some = kept.slice(0, 3).join(', ')
  return {
    fact: { removed, kept: kept.length },
    words: [
      `Deleted ${removed} files of the old store.`,
      ...(kept.length > 0
        ? [
            `${kept.length} were kept, because the new store does not have them (run "move-blobs" again): ${some}`,
          ]
        : []),
    ].join('\n'),
    problems: kept.length > 0,
  }
}
