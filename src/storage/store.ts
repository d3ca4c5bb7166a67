import type { Readable } from 'node:stream'
import type { UploadOptions } from './upload.ts'

export interface PutOptions extends UploadOptions {
  contentType: string
}

export interface PartOptions {
  /** How many bytes the source gives, at least 1. */
  size: number
  /** Where they are in the whole; the same for every part of this number. */
  offset: number
  /** Their MD5 in lower-case hex, if the sender gave it. */
  sum?: string | undefined
}

/** Signed addresses of a store that clients reach by themselves. None of these needs the network, but for `allowOrigins`. */
export interface StoreAddresses {
  /** An address from which this one blob can be read, and nothing else done, for some seconds. */
  signUrl(key: string, options: { contentType: string; disposition: string; seconds: number }): string
  /**
   * The addresses to which parts 1 to `count` can be sent with PUT, and from which nothing can be read, until a time in milliseconds.
   * The store signs blobs, not blocks: whoever has one can write whatever they like under this key, and under no other.
   */
  signParts(key: string, count: number, until: number): string[]
  /** Lets pages of these origins send and fetch bytes; what else is allowed stays. */
  allowOrigins(origins: string[]): Promise<void>
}

/** Where the bytes are. Every method throws Unavailable when the store does not do its part: in bounded time, if it is reached over a network. */
export interface BlobStore {
  /** What and where it is, for operators. */
  readonly label: string
  /** How many parts make a blob at most. */
  readonly maxParts: number
  /** Null if clients do not reach the store: then the service signs addresses of its own. */
  readonly addresses: StoreAddresses | null
  /** Makes what the store needs before it takes anything: a container, folders. */
  prepare(): Promise<void>
  /**
   * Makes sure that the store is the one of an installation, and no other's. Called after `prepare`; a new store takes the id on.
   * @param inUse whether the installation has blobs already, so that a store without any is not its own
   * @throws ForeignStore
   */
  bind(installation: string, inUse: boolean): Promise<void>
  /** Resolves if the store can be read and written: within two seconds, if it is reached over a network. */
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
   * @throws BytesDiffer
   */
  stagePart(key: string, number: number, source: AsyncIterable<Uint8Array>, options: PartOptions): Promise<void>
  /** The parts that were left under a key, committed or not: bytes by number. */
  partsOf(key: string): Promise<Map<number, number>>
  /** Makes the blob of its parts 1 to `count`. They can be sent and committed again until `endParts`. */
  commitParts(key: string, count: number, options: { contentType: string }): Promise<void>
  /** Forgets the parts of a blob that stays as it is. */
  endParts(key: string): Promise<void>
  /** Removes what instances that died have left, and nothing that is known of. */
  tidy(): Promise<void>
  /** Copies a blob within the store, whatever its size. @throws BlobMissing */
  copy(from: string, to: string): Promise<void>
  /** Keeps what is known of a blob only after its bytes have been read, where the store tells it to clients. */
  describe(key: string, options: { contentType: string; sum: string }): Promise<void>
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

/** The store holds the blobs of another installation, or none of those of this one. */
export class ForeignStore extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'ForeignStore'
  }
}
