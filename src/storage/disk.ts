import type { Dirent } from 'node:fs'
import {
  constants,
  copyFile,
  type FileHandle,
  mkdir,
  open,
  readdir,
  rm,
  stat,
  statfs,
  unlink,
} from 'node:fs/promises'
import { blockSize } from './blocks.ts'
import { chunksOf, oneChunk, readSize, streamOf, streamOfBytes } from './chunks.ts'
import { putMany, readMany } from './disk-many.ts'
import { openVolume } from './disk-marker.ts'
import { commitParts, partsIn, stagePart, tidyParts } from './disk-parts.ts'
import {
  codeOf,
  fileMode,
  folderMode,
  ifThere,
  isKey,
  onDisk,
  opened,
  openShelves,
  syncFolder,
  uniqueName,
  writeAll,
  writeAt,
} from './files.ts'
import { binding } from './marker.ts'
import { forgetPrefix } from './prefix-hash.ts'
import { openNow, readNow } from './read-now.ts'
import { BlobMissing, type BlobStore, BlobsKept, StoreRefusal } from './store.ts'
import { upload, uploadBuffer } from './upload.ts'

/**
 * A slow part is written chunk by chunk. One chunk is held back until the last has arrived, one is
 * being written, and others wait in the stream and socket.
 */
const partBuffer = 512 * 1024
/** Blobs up to this size are read into memory of their own, because reused buffers are larger. */
const smallSize = 64 * 1024
/** A whole blob is read with one byte more than expected, to detect a larger one. */
const moreOf = (count: number | undefined) => (count === undefined ? 1 : 0)
const removalsInFlight = 8
const probe = Buffer.alloc(4096, 'Satchel tests whether it can write here.\n')
/** No request is silent for this long. */
const cutOffMs = 15 * 60_000

/**
 * A store in a folder of this machine, or on a volume that all instances share. Keeps nothing in
 * memory, so that instances agree. Acknowledged data has been synced: first the bytes, then the
 * name.
 */
export function createDiskStore({ dir }: { dir: string }): BlobStore {
  const [blobs, drafts] = [`${dir}/blobs`, `${dir}/drafts`]
  const shelves = openShelves(blobs)
  const volume = openVolume(dir, [blobs, drafts])

  const draftOf = (key: string) => {
    if (!isKey(key)) throw new TypeError('This is not the key of a blob.')
    return `${drafts}/${key}`
  }
  const pathOf = (key: string) => draftOf(key) && shelves.pathOf(key)

  /** Runs work whose result or error counts only if the right volume stayed mounted to the end. */
  const onVolume = <T>(work: () => Promise<T>): Promise<T> =>
    onDisk(async () => {
      try {
        return await work()
      } finally {
        await volume.check()
      }
    })

  /** A found file exists. A missing one may be on a volume that was unmounted. */
  const find = <T>(work: () => Promise<T>): Promise<T | undefined> =>
    onDisk(async () => {
      const found = await ifThere(work())
      if (found === undefined) await volume.check()
      return found
    })

  async function openBlob<F>(
    key: string,
    signal: AbortSignal | undefined,
    by: (path: string) => Promise<F>,
  ) {
    signal?.throwIfAborted()
    const file = await find(() => by(pathOf(key)))
    if (file === undefined) throw new BlobMissing(key)
    return file
  }

  const openFile = (key: string, signal?: AbortSignal) =>
    openBlob(key, signal, path => open(path, 'r'))

  async function readSmall(
    key: string,
    offset: number,
    count: number,
    more: number,
    signal: AbortSignal | undefined,
  ): Promise<Buffer> {
    const file = await openBlob(key, signal, path => openNow(path, 'r'))
    return onDisk(() => readNow(file, offset, count, more))
  }

  async function place(draft: string, key: string, bytes?: FileHandle): Promise<void> {
    if (await shelves.place(draft, key, bytes, volume.check)) return
    await volume.check()
    // The draft was considered dead and swept.
    throw new StoreRefusal(404, 'The draft of this blob was removed.')
  }

  async function removeOne(key: string): Promise<void> {
    forgetPrefix(draftOf(key))
    await rm(draftOf(key), { recursive: true, force: true })
    await ifThere(unlink(pathOf(key)))
  }

  return {
    label: `files in ${dir}`,
    maxParts: 50_000,
    uploadMemory: { upload: uploadBuffer, part: partBuffer },
    addresses: null,

    async prepare() {
      await mkdir(dir, { recursive: true, mode: folderMode })
    },

    ...binding(() => onDisk(volume.marker), volume.bind),

    async ping() {
      await onDisk(async () => {
        await volume.check()
        const file = `${drafts}/.${uniqueName()}`
        await opened(file, 'wx', handle => writeAt(handle, probe, 0)).finally(() => unlink(file))
      })
    },

    // Excludes the space that the system reserves for the administrator, because uploads fail
    // before using it.
    space: () =>
      onVolume(async () => {
        const { bsize, bavail, blocks } = await statfs(dir)
        return { freeBytes: bavail * bsize, totalBytes: blocks * bsize }
      }),

    async put(key, source, options) {
      const draft = draftOf(key)
      const checking = onDisk(volume.check)
      checking.catch(() => {})
      let opening: Promise<FileHandle> | undefined
      const draftFile = () => {
        opening ??= checking.then(() => open(draft, 'w', fileMode))
        return opening
      }
      const finish = () =>
        onDisk(async () => {
          await place(draft, key, await opening)
        })
      try {
        return await upload(
          source,
          {
            whole: async chunks => {
              await onDisk(async () => writeAll(await draftFile(), chunks))
              await finish()
            },
            stage: (index, bytes) =>
              onDisk(async () => writeAt(await draftFile(), bytes, index * blockSize)),
            commit: finish,
          },
          options,
        )
      } catch (error) {
        // Remove the draft first, because a full disk may have caused the failure.
        if (opening) await unlink(draft).catch(() => {})
        throw error
      } finally {
        await opening?.then(
          file => file.close(),
          () => {},
        )
      }
    },

    readMany: keys => onVolume(() => readMany(keys.map(pathOf))),
    putMany: blobs =>
      onVolume(() =>
        putMany(blobs.map(({ key, bytes }) => ({ draft: draftOf(key), path: pathOf(key), bytes }))),
      ),

    async stagePart(key, number, source, options) {
      draftOf(key)
      await onDisk(volume.check)
      const sum = await stagePart(drafts, key, number, source, options)
      await onDisk(volume.check)
      return sum
    },

    partsOf: key => onVolume(() => partsIn(draftOf(key))),

    commitParts: (key, count, { signal }) =>
      onVolume(() =>
        commitParts({
          dir: draftOf(key),
          key,
          blob: pathOf(key),
          count,
          place: file => shelves.place(file, key),
          settle: () => shelves.settle(key),
          check: volume.check,
          signal,
        }),
      ),

    async endParts(key) {
      forgetPrefix(draftOf(key))
      await onDisk(() => rm(draftOf(key), { recursive: true, force: true }))
    },

    async tidy(finished) {
      const committed: string[] = []
      const tidyOne = async (entry: Dirent) => {
        const path = `${drafts}/${entry.name}`
        if (entry.isDirectory()) {
          if (isKey(entry.name) && (await tidyParts(path, cutOffMs))) committed.push(entry.name)
          return
        }
        if (!entry.name.startsWith('.')) return
        const there = await ifThere(stat(path))
        if (there && Date.now() - there.mtimeMs > cutOffMs) await ifThere(unlink(path))
      }
      const failures: unknown[] = []
      await onVolume(async () => {
        for (const entry of await readdir(drafts, { withFileTypes: true }))
          await tidyOne(entry).catch(error => failures.push(error))
      })
      // An instance has assembled this blob from its parts, and died.
      for (const key of committed.length > 0 ? await finished(committed) : [])
        await this.endParts(key)
      // A failed removal does not prevent the others.
      const [failure] = failures
      if (failure) await onDisk(() => Promise.reject(failure))
    },

    async copy(from, to) {
      await onVolume(async () => {
        const draft = draftOf(to)
        try {
          if (
            !(await ifThere(
              copyFile(pathOf(from), draft, constants.COPYFILE_FICLONE).then(() => true),
            ))
          )
            throw new BlobMissing(from)
          const file = await open(draft, 'r+')
          try {
            await file.sync()
          } finally {
            await file.close()
          }
          await place(draft, to)
        } catch (error) {
          await unlink(draft).catch(() => {})
          throw error
        }
      })
    },

    // The service sends these headers itself.
    async describe() {},

    async open(key, { offset = 0, count, size, signal } = {}) {
      const most = count ?? size ?? Number.POSITIVE_INFINITY
      if (most <= readSize)
        return streamOfBytes(await readSmall(key, offset, most, moreOf(count), signal))
      return streamOf(await openFile(key, signal), offset, { count, signal })
    },

    async chunks(key, { offset = 0, count, size, signal }) {
      const most = count ?? size
      return most <= smallSize
        ? oneChunk(await readSmall(key, offset, most, moreOf(count), signal))
        : chunksOf(await openFile(key, signal), offset, most, moreOf(count))
    },

    fileOf: pathOf,
    async look(key) {
      const there = await find(() => stat(pathOf(key)))
      return there ? { size: there.size } : null
    },

    async remove(keys) {
      const kept = new Map<string, Error>()
      const rest = keys.values()
      const work = async () => {
        for (const key of rest)
          await removeOne(key).catch(error => {
            if (!codeOf(error)) throw error
            kept.set(key, error)
          })
      }
      await onVolume(async () => {
        await Promise.all(Array.from({ length: removalsInFlight }, work))
        await shelves.removed(keys)
        await syncFolder(drafts)
      })
      const [why] = kept.values()
      if (why) throw new BlobsKept([...kept.keys()], why)
    },

    async *list() {
      // There are few drafts. Read them first, so that blobs placed meanwhile are still found.
      const underWay = (await onVolume(() => readdir(drafts))).filter(isKey).sort()
      const look = async (path: string) => onDisk(() => ifThere(stat(path)))
      let next = 0
      const draftsBefore = async function* (key?: string) {
        for (; next < underWay.length; next++) {
          const name = underWay[next] ?? ''
          if (key !== undefined && name >= key) {
            if (name === key) next++
            return
          }
          const there = await look(draftOf(name))
          if (there) yield { key: name, size: 0, createdAt: there.mtime }
        }
      }
      const keys = shelves.keys()[Symbol.asyncIterator]()
      for (;;) {
        const { done, value: key } = await onDisk(() => keys.next())
        if (done) break
        yield* draftsBefore(key)
        const there = await look(pathOf(key))
        if (there) yield { key, size: there.size, createdAt: there.mtime }
      }
      yield* draftsBefore()
      // Names that were not found count as removed.
      await onDisk(volume.check)
    },
  }
}
