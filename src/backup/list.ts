import { isThere } from '../storage/files.ts'
import type { BlobStore } from '../storage/store.ts'
import { type BackupFolder, LIST, UNFINISHED } from './folder.ts'
import { readLines, requireIntact } from './lines.ts'
import type { ListedBlob } from './manifest.ts'
import { BackupError } from './problem.ts'

/** The blobs of a backup in id order. For an unfinished backup, the blobs that it has copied. */
export async function* listOf(folder: BackupFolder, backup: string): AsyncGenerator<ListedBlob> {
  const path = folder.path(backup, LIST)
  if (!(await isThere(path))) return
  try {
    yield* readLines<ListedBlob>(path, { gzip: false })
  } catch (error) {
    // After a power failure, the end of an unfinished list may be garbage. The blobs after that
    // point are copied again.
    if (!(error instanceof SyntaxError && backup.endsWith(UNFINISHED))) throw error
  }
}

/**
 * Compares the list of a finished backup with its manifest.
 * @returns why the list is unreliable; undefined if it is reliable
 */
export async function faultOfList(
  folder: BackupFolder,
  backup: string,
): Promise<string | undefined> {
  try {
    const { blobs } = await folder.manifest(backup)
    await requireIntact(folder.path(backup, LIST), blobs.sha256)
    return undefined
  } catch (error) {
    if (error instanceof BackupError) return error.message
    throw error
  }
}

/** All blobs of a store in id order. */
export async function* presentIn(store: BlobStore): AsyncGenerator<{ id: string; size: number }> {
  for await (const { key, size } of store.list()) yield { id: key, size }
}
