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
 * Runs file operations. @throws Unavailable for a disk that is read-only, broken or gone, NoSpace
 * for one that is full
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
 * Opens a file for writing anywhere in it, and makes it if it is missing, however many try at once.
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

/** Writes all of the bytes: a single call may write fewer, as on a full disk. */
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

/**
 * Fills some memory with the bytes from a position on. @returns how many there were: fewer only
 * where the file ends
 */
export async function readAt(
  file: FileHandle,
  bytes: Uint8Array,
  position: number,
): Promise<number> {
  let done = 0
  for (let got = -1; got !== 0 && done < bytes.length; done += got)
    got = (await file.read(bytes, done, bytes.length - done, position + done)).bytesRead
  return done
}

interface Sync {
  running?: Promise<void>
  /** Starts after the running one, which may miss a rename that happened meanwhile. */
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

/** Makes the names in a folder durable. Callers during a running sync share the next one. */
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
  // After a failure the kernel takes what was not written for clean, and a second sync would
  // succeed.
  state.next = state.running.then(begin, error => {
    delete state.next
    if (!state.running) syncs.delete(folder)
    throw error
  })
  return state.next
}

/**
 * The finished blobs, in folders named by the prefixes of their keys, so that they can be listed in
 * the order of their keys.
 */
export interface Shelves {
  pathOf(key: string): string
  /**
   * Moves a file to its path, and makes its bytes and its name durable in parallel: no client reads
   * it before that has been acknowledged, and both share one turn of the disk. When that fails, the
   * file is moved back, because it may be the only copy of parts.
   * @returns false when the file does not exist
   * @param bytes the open file, if it has not been synced
   * @param check runs beside the syncs, which it fails
   */
  place(
    file: string,
    key: string,
    bytes?: FileHandle,
    check?: () => Promise<void>,
  ): Promise<boolean>
  /** Makes the name of a blob durable that was placed before. */
  settle(key: string): Promise<void>
  /** Makes removals durable, and drops folders that have become empty. */
  removed(keys: string[]): Promise<void>
  /** All keys in ascending order. */
  keys(): AsyncIterable<string>
}

/**
 * A prefix of a UUIDv7 of this length covers 17 minutes: enough files per folder, and few folders.
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
        // The folder may have been dropped meanwhile, because it was empty.
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

/** A name that no other attempt has. */
export const uniqueName = () => randomUUID()
