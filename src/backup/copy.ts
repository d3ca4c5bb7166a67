import { createHash } from 'node:crypto'
import pLimit from 'p-limit'
import type { BlobStore } from '../storage/store.ts'
import type { Uploaded } from '../storage/upload.ts'

/** Blobs that are copied at once: most are small, and wait for the disk. */
const AT_ONCE = 16

/** The bytes of a backup are not those that were written. */
export class BlobDamaged extends Error {
  constructor(id: string) {
    super(`The blob ${id} of the backup has changed since it was written.`)
    this.name = 'BlobDamaged'
  }
}

/** What was copied, with its SHA-256 in lower-case hex. */
export type Copied = Uploaded & { sha256: string }

/**
 * Copies a blob from one store to another, in constant memory.
 * @param expected the SHA-256 that it must have; otherwise nothing is stored
 * @throws BlobDamaged, BlobMissing
 */
export async function copyBlob(from: BlobStore, to: BlobStore, id: string, expected?: string): Promise<Copied> {
  const hash = createHash('sha256')
  const source = await from.open(id)
  let sha256 = ''
  async function* hashed(): AsyncGenerator<Uint8Array> {
    for await (const chunk of source) {
      hash.update(chunk)
      yield chunk
    }
    sha256 = hash.digest('hex')
    if (expected !== undefined && sha256 !== expected) throw new BlobDamaged(id)
  }
  // Clients get the type of a file with its signed URL.
  const stored = await to.put(id, hashed(), { contentType: 'application/octet-stream', admit: async () => {} })
  return { ...stored, sha256 }
}

/** @returns the SHA-256 of a blob in lower-case hex @throws BlobMissing */
export async function digestOfBlob(store: BlobStore, id: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of await store.open(id)) hash.update(chunk)
  return hash.digest('hex')
}

/** Works on the items of a list, several at once. When one fails, the error is thrown after the others have ended. */
export async function eachAtOnce<T, R>(items: T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const limit = pLimit(AT_ONCE)
  const outcomes = await Promise.allSettled(items.map(item => limit(() => work(item))))
  return outcomes.map(outcome => {
    if (outcome.status === 'rejected') throw outcome.reason
    return outcome.value
  })
}
