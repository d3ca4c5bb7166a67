import type { Readable } from 'node:stream'
import type { UploadOptions } from './upload.ts'

export interface PutOptions extends UploadOptions {
  contentType: string
}

/** Where the bytes are. Every method throws Unavailable, in bounded time, when the store does not do its part. */
export interface BlobStore {
  /** Makes the container if it is missing. */
  ensureContainer(): Promise<void>
  /** Resolves if the store answers within two seconds. */
  ping(): Promise<void>
  /**
   * Stores a source under a key, in constant memory. Resolves to its size in bytes and its MD5 in lower-case hex.
   * Rejects with what the source, `admit` or the signal threw; then nothing of it is under way any more, so that the
   * key can be removed. The source is left by its iterator's `return`, which destroys a Node stream.
   */
  put(key: string, source: AsyncIterable<Uint8Array>, options: PutOptions): Promise<{ size: number; md5: string }>
  /** An address from which this one blob can be read, and nothing else done, for some seconds. Needs no network. */
  signUrl(key: string, options: { contentType: string; disposition: string; seconds: number }): string
  /**
   * The bytes of a blob from `offset` on, `count` of them (all, if not given), in constant memory.
   * What breaks once they flow is an error of the stream.
   * @throws BlobMissing
   */
  open(key: string, options?: { offset?: number; count?: number; signal?: AbortSignal }): Promise<Readable>
  /** Removes blobs and what broken uploads left under their keys. Keys without anything are fine. */
  remove(keys: string[]): Promise<void>
  /** What is known of a blob; null when there is none. Sizes in bytes. */
  look(key: string): Promise<{ size: number } | null>
  /** All blobs of the container, by their keys from small to large. */
  list(): AsyncIterable<{ key: string; size: number; createdAt: Date }>
}

/** There is no blob under this key. */
export class BlobMissing extends Error {
  readonly key: string

  constructor(key: string) {
    super(`There is no blob ${key} in the store.`)
    this.name = 'BlobMissing'
    this.key = key
  }
}
