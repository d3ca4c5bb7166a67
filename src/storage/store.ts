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
  /**
   * Leaves a part of a blob under a key, in place of an earlier one of the same number (from 1). It shows after `commitParts`.
   * The bytes go on while they come; a source that throws leaves nothing, and its error is thrown.
   * @param options `size`: how many bytes the source gives, at least 1. `sum`: their MD5 in lower-case hex, if the sender gave it
   * @throws BytesDiffer
   */
  stagePart(
    key: string,
    number: number,
    source: AsyncIterable<Uint8Array>,
    options: { size: number; sum?: string | undefined },
  ): Promise<void>
  /** The parts that were left under a key, committed or not: bytes by number. */
  partsOf(key: string): Promise<Map<number, number>>
  /** Makes the blob of its parts 1 to `count`. */
  commitParts(key: string, count: number, options: { contentType: string }): Promise<void>
  /**
   * The addresses to which parts 1 to `count` can be sent with PUT, and from which nothing can be read, until a time in milliseconds.
   * The store signs blobs, not blocks: whoever has one can write whatever they like under this key, and under no other. Needs no network.
   */
  signParts(key: string, count: number, until: number): string[]
  /** Copies a blob within the store, whatever its size. @throws BlobMissing */
  copy(from: string, to: string): Promise<void>
  /** Writes what is known of a blob only after its bytes have been read. */
  describe(key: string, options: { contentType: string; sum: string }): Promise<void>
  /** Lets pages of these origins send and fetch bytes; what else is allowed stays. */
  allowOrigins(origins: string[]): Promise<void>
  /** An address from which this one blob can be read, and nothing else done, for some seconds. Needs no network. */
  signUrl(key: string, options: { contentType: string; disposition: string; seconds: number }): string
  /**
   * The bytes of a blob from `offset` on, `count` of them (all, if not given), in constant memory.
   * What breaks once they flow is an error of the stream.
   * @throws BlobMissing
   */
  open(key: string, options?: { offset?: number; count?: number; signal?: AbortSignal }): Promise<Readable>
  /**
   * Removes blobs, whatever holds on to them, and what broken uploads left under their keys. Keys without anything are fine.
   * @throws BlobsKept when all others have been removed
   */
  remove(keys: string[]): Promise<void>
  /** What is known of a blob; null when there is none. Sizes in bytes. */
  look(key: string): Promise<{ size: number } | null>
  /** All blobs of the container, by their keys from small to large; also those of which only parts are there, with a size of 0. */
  list(): AsyncIterable<{ key: string; size: number; createdAt: Date }>
}

/** The store has understood a request, and does not carry it out. Only the gist is kept of why: the rest may hold signatures. */
export class StoreRefusal extends Error {
  /** Whether it is about who asks, and not about what lies there. */
  readonly unauthorized: boolean

  constructor(status: number, gist: string) {
    super(`The blob store refused a request: ${gist}`)
    this.name = 'StoreRefusal'
    this.unauthorized = status === 401 || status === 403
  }
}

/** What has arrived is not what its sum says: it was damaged on its way, or the sum is of something else. */
export class BytesDiffer extends Error {
  constructor() {
    super('The bytes that came to the blob store do not have the sum that came with them.')
    this.name = 'BytesDiffer'
  }
}

/** The store does not let go of some blobs for now, as of one to which it is still copying. */
export class BlobsKept extends Error {
  readonly keys: string[]

  constructor(keys: string[], why: StoreRefusal) {
    super(`${keys.length} blobs could not be removed. ${why.message}`)
    this.name = 'BlobsKept'
    this.keys = keys
  }
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
