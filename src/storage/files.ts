import { randomUUID } from 'node:crypto'
import { access, type FileHandle, mkdir, open, readdir, rename, rmdir } from 'node:fs/promises'
import { outage } from '../runtime/errors.ts'
import { DurableNames } from './durable-names.ts'

/** Only the service's own user may read its files. */
export const fileMode = 0o600
export const folderMode = 0o700

/** The code of an error of the file system; undefined for any other error. */
export const codeOf = (error: unknown): string | undefined => {
  const { code, syscall } = (error ?? {}) as { code?: unknown; syscall?: unknown }
  return typeof code === 'string' && typeof syscall === 'string' ? code : undefined
}
export const isAbsent = (error: unknown) => codeOf(error) === 'ENOENT'

/**
 * Runs file operations.
 * @throws Unavailable for a read-only, broken or missing disk, NoSpace for a full one
 */
export async function onDisk<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw codeOf(error) ? outage('blob store', error) : error
  }
}

/** The result of `work`, or undefined when its file does not exist. */
export async function ifThere<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work
  } catch (error) {
    if (isAbsent(error)) return undefined
    throw error
  }
}

export const isThere = async (path: string) =>
  (await ifThere(access(path).then(() => true))) ?? false

/** Opens a file for some work. */
export async function opened<T>(
  path: string,
  flags: string,
  work: (file: FileHandle) => Promise<T>,
): Promise<T> {
  const file = await open(path, flags, fileMode)
  try {
    return await work(file)
  } finally {
    await file.close()
  }
}

/**
 * Opens a file for writing at any position, and creates it if it is missing. Safe for concurrent
 * callers.
 */
export async function openAnywhere(path: string): Promise<FileHandle> {
  for (;;) {
    const there = await ifThere(open(path, 'r+'))
    if (there) return there
    try {
      return await open(path, 'wx+', fileMode)
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error
    }
  }
}

/** Creates a folder in an existing one. @returns whether it was missing */
export const makeFolder = (path: string): Promise<boolean> =>
  mkdir(path, { mode: folderMode }).then(
    () => true,
    error => {
      if (codeOf(error) !== 'EEXIST') throw error
      return false
    },
  )

/** Writes all bytes. A single call may write fewer, for example on a full disk. */
export async function writeAt(
  file: FileHandle,
  bytes: Uint8Array,
  position: number,
): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done, position + done)
    done += bytesWritten
  }
}

/** Writes all chunks at the beginning of a file, with one call if the disk takes them. */
export async function writeAll(file: FileHandle, chunks: readonly Uint8Array[]): Promise<void> {
  let { bytesWritten: left } = await file.writev(chunks, 0)
  let position = 0
  for (const chunk of chunks) {
    if (left < chunk.length) await writeAt(file, chunk.subarray(left), position + left)
    left = Math.max(0, left - chunk.length)
    position += chunk.length
  }
}

/**
 * Fills a buffer with the bytes from a position on.
 * @param enough stops after reading this many bytes, although the buffer may have room for more
 * @returns the number of bytes, which is smaller only at the end of the file
 */
export async function readAt(
  file: FileHandle,
  bytes: Uint8Array,
  position: number,
  enough = bytes.length,
): Promise<number> {
  let done = 0
  for (let got = -1; got !== 0 && done < Math.min(enough, bytes.length); done += got)
    got = (await file.read(bytes, done, bytes.length - done, position + done)).bytesRead
  return done
}

interface Sync {
  running?: Promise<void>
  /** Starts after the running sync, which may miss a later rename. */
  next?: Promise<void>
}
const syncs = new Map<string, Sync>()

async function sync(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Makes the names in a folder durable. Callers that arrive during a sync share the next one. */
export function syncFolder(folder: string): Promise<void> {
  const state = syncs.get(folder) ?? {}
  syncs.set(folder, state)
  const begin = () => {
    delete state.next
    state.running = sync(folder).finally(() => {
      delete state.running
      if (!state.next) syncs.delete(folder)
    })
    return state.running
  }
  if (state.next) return state.next
  if (!state.running) return begin()
  // After a failure the kernel considers unwritten pages clean, and a second sync would succeed
  // wrongly.
  state.next = state.running.then(begin, error => {
    delete state.next
    if (!state.running) syncs.delete(folder)
    throw error
  })
  return state.next
}

/**
 * The finished blobs, in folders named after key prefixes, so that they can be listed in key order.
 */
export interface Shelves {
  pathOf(key: string): string
  /**
   * Moves a file to its path, and syncs its bytes and its name in parallel. Clients read the file
   * only after both have succeeded. On failure the file is moved back, because it may be the only
   * copy of its parts.
   * @returns false when the file does not exist
   * @param bytes the open file, if it has not been synced
   * @param check runs beside the syncs; if it throws, they fail
   */
  place(
    file: string,
    key: string,
    bytes?: FileHandle,
    check?: () => Promise<void>,
  ): Promise<boolean>
  /** Makes the name of an already placed blob durable. */
  settle(key: string): Promise<void>
  /** Makes removals durable, and drops folders that have become empty. */
  removed(keys: string[]): Promise<void>
  /** All keys in ascending order. */
  keys(): AsyncIterable<string>
}

/**
 * A UUIDv7 prefix of this length covers 17 minutes, which balances files per folder and folders.
 */
const prefixLength = 7

export function openShelves(root: string): Shelves {
  const folderOf = (key: string) => `${root}/${key.slice(0, prefixLength)}`
  const pathOf = (key: string) => `${folderOf(key)}/${key}`
  const durable = new DurableNames()

  async function prepare(folder: string): Promise<void> {
    await makeFolder(folder)
    await syncFolder(root)
    durable.add(folder)
  }

  return {
    pathOf,

    async place(file, key, bytes, check) {
      const folder = folderOf(key)
      if (!durable.has(folder)) await prepare(folder)
      if ((await ifThere(rename(file, pathOf(key)).then(() => true))) === undefined) {
        // The folder may have been dropped meanwhile because it was empty.
        await prepare(folder)
        if ((await ifThere(rename(file, pathOf(key)).then(() => true))) === undefined) return false
      }
      try {
        await Promise.all([bytes?.datasync(), syncFolder(folder), check?.()])
      } catch (error) {
        await rename(pathOf(key), file).catch(() => {})
        throw error
      }
      return true
    },

    async settle(key) {
      await syncFolder(root)
      await syncFolder(folderOf(key))
    },

    async removed(keys) {
      for (const folder of new Set(keys.map(folderOf))) {
        const empty = await rmdir(folder).then(
          () => true,
          error => {
            if (!['ENOENT', 'ENOTEMPTY', 'EEXIST'].includes(codeOf(error) ?? '')) throw error
            return isAbsent(error)
          },
        )
        if (empty) durable.delete(folder)
        await ifThere(syncFolder(empty ? root : folder))
      }
    },

    async *keys() {
      const folders = (await readdir(root, { withFileTypes: true })).filter(entry =>
        entry.isDirectory(),
      )
      for (const folder of folders.map(({ name }) => name).sort()) {
        const names = (await ifThere(readdir(`${root}/${folder}`))) ?? []
        // Files outside the folder of their key do not belong to Satchel.
        yield* names.filter(name => isKey(name) && folderOf(name) === `${root}/${folder}`).sort()
      }
    },
  }
}

/** A key is a plain file name, without path segments. */
export const isKey = (name: string) => /^\w[\w.-]{0,99}$/.test(name)

/** A unique name for this attempt. */
export const uniqueName = () => randomUUID()
