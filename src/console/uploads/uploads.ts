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

/** Where uploads go. */
export interface Destination {
  /** The id of the drive, or of the share by which the person edits a part of one. */
  drive: string
  /** The token of the share. */
  share?: string | undefined
  /** The path of the folder. */
  folder: string
}

/** A file of the service that is given a new content. */
export interface Replaced {
  fileName: string
  /**
   * What it is expected to be; another one has been changed meanwhile. `any` where it is not known.
   */
  revision: number | 'any'
}

/** Files that are under way at a time: while some are sent, others are digested. */
const FILES = 8
/**
 * Requests that send bytes at a time. HTTP/1.1 gives a page six connections, and the rest of the
 * console wants some.
 */
const REQUESTS = 3
/** A lost network is waited for, as long as the tab is open. */
export const RETRIES = 100_000

const limit = pLimit(REQUESTS)
export const queue = uploadQueue({ atOnce: FILES })

const records = new Map<string, Kept>()
/** The id of who is signed in. */
let person = ''

/** What is known of an upload besides its progress; undefined once it is over. */
export const recordOf = (id: string): Readonly<Kept> | undefined => records.get(id)

/** Sends files, one after the other. @param replaced what the only one of them replaces */
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
  // What is shown outlives a reload.
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
 * Cancels uploads. What is gone from the screen does not come back with a reload, however long the
 * service takes to hear of it.
 */
export async function cancel(
  ids: readonly string[] = queue.snapshot().uploads.map(({ id }) => id),
): Promise<void> {
  await markCancelled(ids.flatMap(id => records.get(id) ?? []))
  queue.cancel(ids)
}

/** Remembers uploads while the service keeps parts of them, but does not continue them. */
async function markCancelled(all: readonly Kept[]): Promise<void> {
  for (const kept of all) {
    kept.isCancelled = true
    records.delete(kept.id)
  }
  await keep(all.filter(({ session }) => session))
  await forget(all.filter(({ session }) => !session).map(({ id }) => id))
}

/**
 * Gives back what the service holds for an upload that was cancelled. If it cannot be given back
 * now, the next visit tries again.
 */
async function abortSession(kept: Kept): Promise<void> {
  const patience = {
    signal: new AbortController().signal,
    retries: RETRIES,
    maintenanceSeconds: Number.POSITIVE_INFINITY,
    onRetry() {},
  }
  // The service hears of it even if this browser refuses to clean up.
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

/** Keeps what has changed of an upload, unless it is over. */
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
      // What was begun to be a new file replaces nothing.
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
      // Shown as uploaded, it is not taken up again after a reload.
      await end(kept).catch(() => {})
      return stored
    },
    close: () => digests.close(),
  }
}

/** Continues what a reload, a crash or the end of a session has interrupted. */
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
  // What was deleted or moved can be chosen again.
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

/** Asks for the right to read the files of an earlier visit again. Must be called for a click. */
export async function allowAgain(): Promise<void> {
  for (const kept of detached())
    if ((await kept.handle?.requestPermission?.({ mode: 'read' })) === 'granted') await reopen(kept)
}

/**
 * Continues uploads whose files were chosen again. @returns how many of the files do not belong to
 * such an upload
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
