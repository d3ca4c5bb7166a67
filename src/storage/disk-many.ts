import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, renameSync, unlinkSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { fileMode, folderMode, isAbsent, opened, syncFolder } from './files.ts'

/** A blob with its draft, in which it is written, and its path. */
interface Small {
  draft: string
  path: string
  bytes: Uint8Array
}

// Calls of the system block the process here, because waiting for each in another thread takes several times as long: this is for
// programs that do nothing else.

/** Reads many small files; undefined for one that is missing. */
export const readMany = (paths: string[]): (Uint8Array | undefined)[] =>
  paths.map(path => {
    try {
      return readFileSync(path)
    } catch (error) {
      if (isAbsent(error)) return undefined
      throw error
    }
  })

/** Writes many small blobs: first all bytes, then one wait for the disk, then the names. */
export async function putMany(blobs: Small[]): Promise<void> {
  try {
    for (const { draft, bytes } of blobs) writeFileSync(draft, bytes, { mode: fileMode })
    await syncFiles(blobs.map(({ draft }) => draft))
    const folders = new Set(blobs.map(({ path }) => dirname(path)))
    for (const folder of folders) mkdirSync(folder, { recursive: true, mode: folderMode })
    for (const { draft, path } of blobs) renameSync(draft, path)
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

/** Makes the bytes of files of one file system durable: together, where the system has a command for that. Node.js has no `syncfs`. */
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
