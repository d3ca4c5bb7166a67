import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, renameSync, unlinkSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { promisify } from 'node:util'
import { fileMode, folderMode, isAbsent, opened, syncFolder } from './files.ts'

/** A blob with its draft file and its final path. */
interface Small {
  draft: string
  path: string
  bytes: Uint8Array
}

// Synchronous calls block the process here, because awaiting each in another thread takes several
// times as long. Only programs with no other work use this module. Timers run from time to time,
// for example to refresh locks.

const SLICE_MS = 500

async function forEach<T>(items: T[], work: (item: T) => void): Promise<void> {
  let began = performance.now()
  for (const item of items) {
    work(item)
    if (performance.now() - began < SLICE_MS) continue
    await nextTurn()
    began = performance.now()
  }
}

/** Reads many small files; undefined for a missing one. */
export async function readMany(paths: string[]): Promise<(Uint8Array | undefined)[]> {
  const read: (Uint8Array | undefined)[] = []
  await forEach(paths, path => {
    try {
      read.push(readFileSync(path))
    } catch (error) {
      if (!isAbsent(error)) throw error
      read.push(undefined)
    }
  })
  return read
}

/** Writes many small blobs: first all bytes, then one sync, then the names. */
export async function putMany(blobs: Small[]): Promise<void> {
  try {
    await forEach(blobs, ({ draft, bytes }) => writeFileSync(draft, bytes, { mode: fileMode }))
    await syncFiles(blobs.map(({ draft }) => draft))
    const folders = new Set(blobs.map(({ path }) => dirname(path)))
    for (const folder of folders) mkdirSync(folder, { recursive: true, mode: folderMode })
    await forEach(blobs, ({ draft, path }) => renameSync(draft, path))
    for (const folder of folders) await syncFolder(folder)
    for (const root of new Set([...folders].map(dirname))) await syncFolder(root)
  } catch (error) {
    for (const { draft } of blobs)
      try {
        unlinkSync(draft)
      } catch {}
    throw error
  }
}

/**
 * Makes the bytes of files on one file system durable, with one command if the system has one.
 * Node.js has no `syncfs`.
 */
async function syncFiles(paths: string[]): Promise<void> {
  const [first] = paths
  if (first === undefined) return
  if (process.platform === 'linux') {
    const together = await promisify(execFile)('sync', ['-f', first]).then(
      () => true,
      () => false,
    )
    if (together) return
  }
  for (const path of paths) await opened(path, 'r', file => file.datasync())
}
