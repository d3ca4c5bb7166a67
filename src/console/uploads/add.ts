import { isFailure } from '../../upload-engine/failure.ts'
import { persist } from '../../upload-engine/retry.ts'
import { sharedValue } from '../parts/shared-value.ts'
import { toast, toastError } from '../parts/toasts.tsx'
import type { Gathered, Gathering } from './gather.ts'
import { MAKE_FOLDER, ROOM } from './operations.ts'
import { text } from './text.ts'
import { ask, mutate, pathOf } from './transport.ts'
import { type Destination, enqueue, queue, RETRIES, type Replaced, recordOf } from './uploads.ts'

/** What does not fit, to be decided about before the first byte. */
export interface Tight {
  /** Those that are larger than any file may be. */
  tooLarge: Gathered[]
  maxFileSize: number
  /** Those that fit, in their order. */
  fitting: Gathered[]
  /** Those for which nothing is left after them. */
  unfitting: Gathered[]
  /** Bytes of all that are not too large, and the bytes that are left for them. */
  needed: number
  left: number
  /** Uploads those that fit. */
  proceed(): void
}

/** What the person has to decide about. */
export const tight = sharedValue<Tight | null>(null)

/**
 * Uploads what was dropped, pasted or picked. If not all of it fits, the person is asked before the
 * first byte.
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
  // What is left in the drive of another person is for them to know: its uploads say when that is
  // too little.
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
 * Without the service, it is unknown what fits: the uploads wait for the service, which decides
 * then.
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

/** Bytes that the queue has for a drive, and the service does not know of. */
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
  // The others are made with what is in them; these show at once. Why one cannot be made, its files
  // say in the dock, where they are kept.
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
    // What is there already takes what is new.
    if (!isFailure(error, 'PATH_EXISTS')) throw error
  }
}
