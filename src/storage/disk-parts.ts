import { type FileHandle, readdir, rename, stat, unlink } from 'node:fs/promises'
import { Unavailable } from '../runtime/errors.ts'
import { interruptibleSteps } from '../runtime/interruptible.ts'
import { attempt } from './attempts.ts'
import { readIndex, sizeReceived, writeRecord } from './disk-index.ts'
import { DurableNames } from './durable-names.ts'
import { inTurn, locked } from './file-lock.ts'
import {
  ifThere,
  isThere,
  makeFolder,
  onDisk,
  openAnywhere,
  opened,
  syncFolder,
  uniqueName,
  writeAt,
} from './files.ts'
import { type Received, receivePart } from './part-arrival.ts'
import {
  continuePrefix,
  finishPrefix,
  forgetPrefix,
  hashParts,
  markReplaced,
  type PrefixSums,
  sumsOfPrefix,
  wasReplaced,
} from './prefix-hash.ts'
import { BlobMissing, type PartOptions, StoreRefusal } from './store.ts'

/*
 * The folder of an upload in parts:
 *   data              the bytes of the blob, each part at its offset; moved away on commit
 *   index             8 bytes per part: its size once its bytes in `data` are durable
 *   7.<at>.<id>.in    part 7 with offset <at> while it arrives, unless it is in memory;
 *                     a broken request affects no other file
 *   7.<at>.<id>.redo  part 7 sent again, durable; until it is copied, `data` may be half old and
 *                     half new
 *   replaced          exists once a part has been sent again, which invalidates the hash computed
 *                     while parts arrived
 *   lock              held while parts are copied into `data`, and while the parts become a blob
 */

const copySize = 1024 * 1024

async function copyInto(
  data: FileHandle,
  from: string,
  offset: number,
  size = copySize,
): Promise<void> {
  await opened(from, 'r', async source => {
    // Not larger than the part: many parts are small, and one turn copies many of them.
    const memory = Buffer.allocUnsafe(Math.min(copySize, size))
    for (let at = 0; ; ) {
      const { bytesRead } = await source.read(memory, 0, memory.length, at)
      if (bytesRead === 0) return
      await writeAt(data, memory.subarray(0, bytesRead), offset + at)
      at += bytesRead
    }
  })
}

const lockOf = (dir: string) => `${dir}/lock`
type Held = () => Promise<void>

/** The parts that were sent again and wait to be copied. */
const redosIn = async (dir: string): Promise<string[]> =>
  (await readdir(dir)).filter(name => name.endsWith('.redo'))

async function finishRedo(dir: string, name: string, held: Held): Promise<void> {
  const offset = Number(name.split('.')[1])
  await held()
  await opened(`${dir}/data`, 'r+', async data => {
    await copyInto(data, `${dir}/${name}`, offset)
    await data.datasync()
  })
  await held()
  await unlink(`${dir}/${name}`)
}

/** An arrived part, in memory or in a file of its own. */
interface Arrival {
  parent: string
  dir: string
  /** The name of the part's own file. */
  spooled: string
  bytes: Buffer | undefined
  number: number
  options: PartOptions
  settled?: Promise<void>
}

/** Stores a resent part beside the existing one, until it is copied over it. */
async function replacePart(
  { dir, spooled, number, bytes, options: { size } }: Arrival,
  held: Held,
): Promise<void> {
  const path = `${dir}/${spooled}`
  await opened(path, bytes ? 'wx' : 'r', async file => {
    if (bytes) await writeAt(file, bytes, 0)
    await file.datasync()
  })
  await markReplaced(dir)
  const redo = spooled.replace(/in$/, 'redo')
  const replaced = (await redosIn(dir)).filter(name => name.startsWith(`${number}.`))
  await held()
  await rename(path, `${dir}/${redo}`)
  await syncFolder(dir)
  for (const name of replaced) await unlink(`${dir}/${name}`)
  // The last part can still grow in an upload of unknown length.
  if ((await sizeReceived(dir, number)) !== size)
    await changed(`${dir}/index`, index => writeRecord(index, number, size))
  // Parts that already form a blob are reassembled when they are committed again.
  if (await isThere(`${dir}/data`)) await finishRedo(dir, redo, held)
}

const changed = async (path: string, work: (file: FileHandle) => Promise<void>): Promise<void> => {
  const file = await openAnywhere(path)
  try {
    await work(file)
    await file.datasync()
  } finally {
    await file.close()
  }
}

/**
 * Folders of uploads in which the names of `data` and `index` are durable. Bounded, because uploads
 * end.
 */
const durable = new DurableNames()

/** Copies parts into their places, and syncs them together. */
async function placeParts(
  dir: string,
  parent: string,
  arrivals: Arrival[],
  held: Held,
): Promise<void> {
  const isFirst = !(await isThere(`${dir}/index`))
  await changed(`${dir}/data`, async data => {
    const copies = arrivals.map(({ spooled, bytes, options: { offset, size } }) =>
      bytes ? writeAt(data, bytes, offset) : copyInto(data, `${dir}/${spooled}`, offset, size),
    )
    // No copy may continue after the lock has been released.
    for (const copied of await Promise.allSettled(copies))
      if (copied.status === 'rejected') throw copied.reason
  })
  await held()
  await changed(`${dir}/index`, async index => {
    for (const { number, options } of arrivals) await writeRecord(index, number, options.size)
  })
  if (!isFirst && durable.has(dir)) return
  await syncFolder(dir)
  // The instance that created the folder may have died before its name was durable.
  await syncFolder(parent)
  durable.add(dir)
}

/** Hashes parts while the disk writes them. Their memory is free when both are done. */
async function placeAndHash(
  dir: string,
  parent: string,
  arrivals: Arrival[],
  held: Held,
): Promise<void> {
  const hashing = hashParts(dir, arrivals)
  try {
    await placeParts(dir, parent, arrivals, held)
  } catch (error) {
    forgetPrefix(dir)
    throw error
  } finally {
    await hashing
  }
  continuePrefix(dir)
}

async function settleAll(
  dir: string,
  parent: string,
  arrivals: Arrival[],
  held: Held,
): Promise<void> {
  const first = new Map<number, Arrival>()
  const again: Arrival[] = []
  for (const arrival of arrivals)
    if (first.has(arrival.number) || (await sizeReceived(dir, arrival.number)) > 0)
      again.push(arrival)
    else first.set(arrival.number, arrival)
  if (first.size > 0) await placeAndHash(dir, parent, [...first.values()], held)
  for (const arrival of again)
    try {
      await replacePart(arrival, held)
    } finally {
      // The file is superfluous unless it was renamed.
      if (arrival.bytes) await unlink(`${dir}/${arrival.spooled}`).catch(() => {})
    }
}

const waiting = new Map<string, Arrival[]>()

/**
 * Writes a part to its place. Parts that arrive while the disk is busy with other parts of the
 * upload share its next turn.
 */
async function settlePart(arrival: Arrival): Promise<void> {
  const { dir, parent } = arrival
  const all = waiting.get(dir) ?? []
  all.push(arrival)
  waiting.set(dir, all)
  await inTurn(`${dir}/index`, async () => {
    if (arrival.settled) return
    waiting.delete(dir)
    const settled = locked(lockOf(dir), held => settleAll(dir, parent, all, held))
    for (const each of all) each.settled = settled
    await settled.catch(() => {})
  })
  await arrival.settled
}

/**
 * @param parent the existing folder of all drafts
 * @returns the CRC-32 of the written bytes
 */
export async function stagePart(
  parent: string,
  key: string,
  number: number,
  source: AsyncIterable<Uint8Array>,
  options: PartOptions,
): Promise<string> {
  const dir = `${parent}/${key}`
  const steps = source[Symbol.asyncIterator]()
  const spooled = `${number}.${options.offset}.${uniqueName()}.in`
  return attempt(`${dir}/${number}`, async signal => {
    let received: Received | undefined
    try {
      await onDisk(() => makeFolder(dir))
      received = await receivePart(`${dir}/${spooled}`, interruptibleSteps(steps, signal), options)
      const { bytes, crc32 } = received
      await onDisk(() => settlePart({ parent, dir, spooled, number, options, bytes }))
      // Computed after the disk has read the bytes, so that memory that was reused too early is
      // noticed.
      return crc32()
    } finally {
      // The iterator must release the request before the response is sent. Only an attempt that was
      // replaced may still wait for bytes here.
      const left = Promise.resolve(steps.return?.()).catch(() => {})
      if (!signal.aborted) await left
      await received?.release()
    }
  })
}

export const partsIn = async (dir: string): Promise<Map<number, number>> =>
  (await readIndex(dir)) ?? new Map()

interface Commit {
  dir: string
  key: string
  /** The path of the file, if the parts have already been assembled. */
  blob: string
  count: number
  /**
   * Moves a file to its place, and back if that fails. Resolves to false if the file is missing.
   */
  place(file: string): Promise<boolean>
  /** Makes sure that an earlier placement is durable. */
  settle(): Promise<void>
  /** @throws Unavailable if another volume is mounted than that of the parts */
  check(): Promise<void>
  /** Aborts hashing of the parts that other instances received. */
  signal: AbortSignal | undefined
}

/**
 * Assembles the parts into one file. Copies only parts that were resent after an earlier assembly.
 * @returns its MD5 and CRC-32, where they are known
 */
export async function commitParts({
  dir,
  key,
  blob,
  count,
  place,
  settle,
  check,
  signal,
}: Commit): Promise<Partial<PrefixSums>> {
  if (count === 0) await makeFolder(dir)
  else if (!(await isThere(dir))) throw new StoreRefusal(404, 'There are no parts.')
  // Before the lock, because this reads parts that other instances received.
  if (count > 0) await finishPrefix(dir, signal)
  return locked(lockOf(dir), async held => {
    const data = `${dir}/data`
    const redos = await redosIn(dir)
    const sums = async (size: number) =>
      ((await wasReplaced(dir)) ? undefined : await sumsOfPrefix(dir, count, size)) ?? {}
    const parts = (await readIndex(dir)) ?? new Map<number, number>()
    let size = 0
    for (let number = 1; number <= count; number++) {
      const bytes = parts.get(number)
      if (bytes === undefined) throw new StoreRefusal(400, `Part ${number} has not arrived.`)
      size += bytes
    }
    if (!(await isThere(data))) {
      const made = await isThere(blob)
      if (!made && count > 0) {
        await check()
        // The disk has lost these parts. They count as missing from now on, so that clients can
        // send them again.
        await markReplaced(dir)
        for (const name of ['index', ...redos]) await ifThere(unlink(`${dir}/${name}`))
        await syncFolder(dir)
        throw new Unavailable('blob store', new BlobMissing(key))
      }
      if (made && redos.length === 0) {
        await settle()
        await syncFolder(dir)
        return sums(size)
      }
      await held()
      if (made) await rename(blob, data)
      else await (await openAnywhere(data)).close()
    }
    for (const name of redos) await finishRedo(dir, name, held)
    await opened(data, 'r+', async file => {
      if ((await file.stat()).size !== size) await file.truncate(size)
      await file.sync()
    })
    await held()
    if (!(await place(data))) throw new BlobMissing(key)
    await syncFolder(dir)
    return sums(size)
  })
}

/**
 * Removes partial files of instances that died.
 * @returns whether the parts have been assembled into a blob
 */
export async function tidyParts(dir: string, cutOffMs: number): Promise<boolean> {
  const names = (await ifThere(readdir(dir))) ?? []
  for (const name of names.filter(each => each.endsWith('.in'))) {
    const there = await ifThere(stat(`${dir}/${name}`))
    if (there && Date.now() - there.mtimeMs > cutOffMs) await ifThere(unlink(`${dir}/${name}`))
  }
  return !names.includes('data')
}
