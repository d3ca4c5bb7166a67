import pLimit from 'p-limit'
import { digestsOf } from '../../upload-engine/digests.ts'
import { isFailure } from '../../upload-engine/failure.ts'
import type { SessionStore } from '../../upload-engine/job.ts'
import { uploadQueue, type Work } from '../../upload-engine/queue.ts'
import { abandon, upload } from '../../upload-engine/upload.ts'
import { discardArrived, findArrived } from './arrived.ts'
import type { Gathered } from './gather.ts'
import { adopt, forget, type Kept, keep, keepOne, newId, thisTab } from './kept.ts'
import { sourceOf } from './source.ts'
import { pathOf, transportOf } from './transport.ts'

/** The target of uploads. */
export interface Destination {
  /** Id of the drive, or of the share that lets the person edit. */
  drive: string
  /** Token of the share. */
  share?: string | undefined
  /** Path of the folder. */
  folder: string
}

/** A file that gets new content. */
export interface Replaced {
  fileName: string
  /**
   * The expected revision. A different revision means that somebody changed the file. `any` if
   * unknown.
   */
  revision: number | 'any'
}

/** Files in progress at a time: some are sent while others are hashed. */
const FILES = 8
/**
 * Concurrent upload requests. With HTTP/1.1, a page has six connections, and the rest of the
 * console needs some.
 */
const REQUESTS = 3
/** Retries for as long as the tab is open. */
export const RETRIES = 100_000

const limit = pLimit(REQUESTS)
export const queue = uploadQueue({ atOnce: FILES })

const records = new Map<string, Kept>()
/** Id of the signed-in person. */
let person = ''

/** The stored record of an upload; undefined once it is finished. */
export const recordOf = (id: string): Readonly<Kept> | undefined => records.get(id)

/**
 * Queues files.
 *
 * @param replaced the file that a single upload replaces
 */
export async function enqueue(
  files: Gathered[],
  { drive, share, folder }: Destination,
  replaced?: Replaced,
): Promise<void> {
  const tab = await thisTab()
  const added = files.map(({ file, folder: below, handle, arrived }) => {
    const { name, size, type, lastModified: mtimeMs } = file
    const aim = {
      folder: pathOf({ folder, fileName: below }).replace(/\/$/, ''),
      fileName: replaced?.fileName ?? name,
    }
    const local = { name, size, type, mtimeMs, handle, arrived }
    const kept: Kept = {
      id: newId(),
      tab,
      person,
      drive,
      share,
      aim,
      replaces: replaced?.revision,
      ...local,
    }
    records.set(kept.id, kept)
    return { kept, file }
  })
  // Stored before it is shown, so that every visible upload survives a reload.
  await keep(added.map(({ kept }) => kept))
  queue.add(added.map(({ kept, file }) => ({ ...entryOf(kept), work: workOf(kept, file) })))
}

const entryOf = (kept: Kept) => ({
  id: kept.id,
  aim: kept.aim,
  size: kept.size,
  async abandon() {
    await markCancelled([kept])
    await abortSession(kept)
  },
})

/**
 * Cancels uploads. They do not reappear after a reload, even if the service learns of the
 * cancellation much later.
 */
export async function cancel(
  ids: readonly string[] = queue.snapshot().uploads.map(({ id }) => id),
): Promise<void> {
  await markCancelled(ids.flatMap(id => records.get(id) ?? []))
  queue.cancel(ids)
}

/** Keeps cancelled uploads on record while the service still holds parts, without resuming them. */
async function markCancelled(all: readonly Kept[]): Promise<void> {
  for (const kept of all) {
    kept.isCancelled = true
    records.delete(kept.id)
  }
  await keep(all.filter(({ session }) => session))
  await forget(all.filter(({ session }) => !session).map(({ id }) => id))
}

/** Aborts the sessions of a cancelled upload. If that fails, the next visit tries again. */
async function abortSession(kept: Kept): Promise<void> {
  const patience = {
    signal: new AbortController().signal,
    retries: RETRIES,
    maintenanceSeconds: Number.POSITIVE_INFINITY,
    onRetry() {},
  }
  // Failing to clean up locally must not prevent the abort.
  if (kept.arrived) await discardArrived([kept.arrived]).catch(() => {})
  try {
    if (kept.session) await transportOf(kept, patience).abort(kept.session)
  } catch (error) {
    if (!isFailure(error, 'UPLOAD_NOT_FOUND')) return
  }
  await forget([kept.id])
}

async function end({ id, arrived }: Kept): Promise<void> {
  records.delete(id)
  await forget([id])
  if (arrived) await discardArrived([arrived])
}

/** Stores the changed record of an upload, unless it is finished. */
const update = async (kept: Kept): Promise<void> =>
  records.has(kept.id) ? keepOne(kept) : undefined

const sessionsOf = (kept: Kept): SessionStore => ({
  read: async () => kept.session ?? null,
  async write(session) {
    kept.session = session
    await update(kept)
  },
  async remove() {
    kept.session = undefined
    await update(kept)
  },
})

function workOf(kept: Kept, file: File): Work {
  const source = sourceOf(file)
  const digests = digestsOf(source)
  let isReplacing = false
  return {
    async upload({ aim, replaces, signal, progress, onRetry }) {
      if (aim.fileName !== kept.aim.fileName) {
        kept.aim = aim
        await update(kept)
      }
      const patience = {
        signal,
        retries: RETRIES,
        maintenanceSeconds: Number.POSITIVE_INFINITY,
        onRetry,
      }
      const transport = transportOf(replaces ? { ...kept, replaces: 'any' } : kept, patience)
      // A session for a new file cannot replace an existing one, so it is abandoned.
      if (replaces !== isReplacing) await abandon({ sessions: sessionsOf(kept), transport })
      isReplacing = replaces
      const stored = await upload({
        source,
        digests,
        aim,
        transport,
        progress,
        limit,
        patience,
        sessions: sessionsOf(kept),
      })
      // A finished upload must not be resumed after a reload.
      await end(kept).catch(() => {})
      return stored
    },
    close: () => digests.close(),
  }
}

/** Resumes uploads interrupted by a reload, a crash or the end of a session. */
export async function restore(whose: string): Promise<void> {
  person = whose
  const all = await adopt(person)
  for (const kept of all) if (kept.isCancelled) void abortSession(kept)
  const adopted = all.filter(({ id, isCancelled }) => !isCancelled && !records.has(id))
  for (const kept of adopted) records.set(kept.id, kept)
  queue.add(adopted.map(kept => ({ ...entryOf(kept), work: null })))
  for (const kept of adopted) {
    const file = kept.arrived && (await findArrived(kept.arrived))
    if (file) attach(kept, file)
    else if ((await kept.handle?.queryPermission?.({ mode: 'read' })) === 'granted')
      await reopen(kept)
  }
}

async function reopen(kept: Kept): Promise<void> {
  // Deleted or moved files have to be chosen again.
  const file = await kept.handle?.getFile().catch(() => null)
  if (file) attach(kept, file)
  else kept.handle = undefined
}

function attach(kept: Kept, file: File): void {
  kept.size = file.size
  queue.attach(kept.id, workOf(kept, file), file.size)
}

const detached = (): Kept[] =>
  queue
    .snapshot()
    .uploads.flatMap(({ id, phase }) => (phase === 'detached' ? (records.get(id) ?? []) : []))

/**
 * Asks for permission to read the files of an earlier visit again. Must be called during a click.
 */
export async function allowAgain(): Promise<void> {
  for (const kept of detached())
    if ((await kept.handle?.requestPermission?.({ mode: 'read' })) === 'granted') await reopen(kept)
}

/**
 * Resumes uploads whose files were chosen again.
 *
 * @returns the number of files that match no upload
 */
export async function chooseAgain(files: Gathered[]): Promise<number> {
  const waiting = detached()
  let strange = 0
  for (const { file, handle } of files) {
    const same = waiting.filter(kept => kept.name === file.name && kept.size === file.size)
    const kept = same.find(({ mtimeMs }) => mtimeMs === file.lastModified) ?? same[0]
    if (!kept) strange++
    else {
      waiting.splice(waiting.indexOf(kept), 1)
      kept.handle = handle
      await update(kept)
      attach(kept, file)
    }
  }
  return strange
}
