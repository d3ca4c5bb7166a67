import { isFailure } from '../../upload-engine/failure.ts'
import { persist } from '../../upload-engine/retry.ts'
import { sharedValue } from '../parts/shared-value.ts'
import { toast, toastError } from '../parts/toasts.tsx'
import type { Gathered, Gathering } from './gather.ts'
import { MAKE_FOLDER, ROOM } from './operations.ts'
import { text } from './text.ts'
import { ask, mutate, pathOf } from './transport.ts'
import { type Destination, enqueue, queue, RETRIES, type Replaced, recordOf } from './uploads.ts'

/** An upload that does not fit. The person decides before the first byte is sent. */
export interface Tight {
  /** Files above the size limit. */
  tooLarge: Gathered[]
  maxFileSize: number
  /** Files that fit, in order. */
  fitting: Gathered[]
  /** Files that no longer fit after these. */
  unfitting: Gathered[]
  /** Total size of the files within the size limit, and the free space, in bytes. */
  needed: number
  left: number
  /** Uploads the files that fit. */
  proceed(): void
}

/** The pending decision. */
export const tight = sharedValue<Tight | null>(null)

/**
 * Uploads dropped, pasted or picked files. If they do not all fit, it asks before the first byte is
 * sent.
 */
export async function add(
  gathering: Gathering,
  to: Destination,
  replaced?: Replaced,
): Promise<void> {
  const { files, unreadable } = gathering
  const [name, ...others] = unreadable
  if (name !== undefined) {
    const more = others.length > 0 ? ` ${text('more', { count: others.length })}` : ''
    toast({ tone: 'error', message: text('unreadable', { name, more }) })
  }
  try {
    const room = await findRoom(files, to).catch(error => {
      if (!isFailure(error, 'UNREACHABLE', 'UNAVAILABLE')) throw error
      return roomUnknown(files)
    })
    const proceed = () =>
      void begin({ ...gathering, files: room.fitting }, to, replaced).catch(toastError)
    if (room.fitting.length < files.length) tight.set({ ...room, proceed })
    else proceed()
  } catch (error) {
    toastError(error)
  }
}

async function findRoom(
  files: Gathered[],
  { drive, share }: Destination,
): Promise<Omit<Tight, 'proceed'>> {
  // The free space of another person's drive is private. If it runs out, the uploads fail.
  if (share !== undefined) return roomUnknown(files)
  const { node } = await ask(ROOM, { drive })
  if (node?.__typename !== 'Drive') throw new Error(text('noDrive'))
  const { usedBytes, maxBytes, maxFileSize } = node.usage
  const left = Math.max(0, maxBytes - usedBytes - announced(drive))
  const tooLarge = files.filter(({ file }) => file.size > maxFileSize)
  const rest = files.filter(({ file }) => file.size <= maxFileSize)
  const [fitting, unfitting]: [Gathered[], Gathered[]] = [[], []]
  let sum = 0
  for (const gathered of rest) {
    const fits = sum + gathered.file.size <= left
    if (fits) sum += gathered.file.size
    ;(fits ? fitting : unfitting).push(gathered)
  }
  const needed = rest.reduce((bytes, { file }) => bytes + file.size, 0)
  return { tooLarge, maxFileSize, fitting, unfitting, needed, left }
}

/**
 * Without the service, the free space is unknown. The uploads wait for the service, which then
 * decides.
 */
function roomUnknown(files: Gathered[]): Omit<Tight, 'proceed'> {
  return {
    tooLarge: [],
    maxFileSize: Number.POSITIVE_INFINITY,
    fitting: files,
    unfitting: [],
    needed: 0,
    left: Number.POSITIVE_INFINITY,
  }
}

/** Bytes in the queue of a drive that the service does not know about yet. */
const announced = (drive: string): number =>
  queue
    .snapshot()
    .uploads.filter(
      ({ id, phase, sent }) => phase === 'waiting' && sent === 0 && recordOf(id)?.drive === drive,
    )
    .reduce((bytes, { size }) => bytes + size, 0)

async function begin(
  { files, emptyFolders }: Gathering,
  to: Destination,
  replaced?: Replaced,
): Promise<void> {
  // Creates the top folders first, so that they appear immediately. Uploads create the others. If
  // this fails, the uploads report the reason in the dock.
  const tops = new Set(files.flatMap(({ folder }) => folder.split('/')[0] || []))
  for (const folder of tops) await makeFolder(to, folder, 0).catch(() => {})
  await enqueue(files, to, replaced)
  for (const folder of emptyFolders) await makeFolder(to, folder, RETRIES)
}

async function makeFolder(
  { drive, share, folder }: Destination,
  below: string,
  retries: number,
): Promise<void> {
  const input = { at: { drive, path: pathOf({ folder, fileName: below }) } }
  const patience = { signal: new AbortController().signal, retries, onRetry() {} }
  try {
    await persist(
      () => mutate(MAKE_FOLDER, { input, isShared: share !== undefined }),
      'repeatable',
      patience,
    )
  } catch (error) {
    // An existing folder receives the new files.
    if (!isFailure(error, 'PATH_EXISTS')) throw error
  }
}
