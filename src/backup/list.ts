import { isThere } from '../storage/files.ts'
import type { BlobStore } from '../storage/store.ts'
import { type BackupFolder, LIST } from './folder.ts'
import { readLines } from './lines.ts'
import type { ListedBlob } from './manifest.ts'

/** The blobs of a backup in the order of their ids; of an unfinished one, those that it has copied. */
export async function* listOf(folder: BackupFolder, backup: string): AsyncGenerator<ListedBlob> {
  const path = folder.path(backup, LIST)
  if (await isThere(path)) yield* readLines<ListedBlob>(path, { gzip: false })
}

/** All blobs that a store has, in the order of their ids. */
export async function* presentIn(store: BlobStore): AsyncGenerator<{ id: string; size: number }> {
  for await (const { key, size } of store.list()) yield { id: key, size }
}
