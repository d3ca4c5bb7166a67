import type { Readable } from 'node:stream'
import type { Chunks } from './chunks.ts'
import type { Uploaded, UploadOptions } from './upload.ts'

export interface PutOptions extends UploadOptions {
  contentType: string
  /**
   * The number of the target store while blobs are moved between two stores. By default the ledger
   * decides.
   */
  store?: number
}

export interface PartOptions {
  /** Size of the source in bytes, at least 1. */
  size: number
  /** Offset of the part in the blob, in bytes; the same for every attempt at this number. */
  offset: number
  /** MD5 of the part in lower-case hex, if the client sent it. */
  md5?: string | undefined
}

/**
 * Signed URLs of a store that clients reach directly. No URL lives longer than its credential.
 * Signing uses the network only to renew a temporary credential.
 */
export interface StoreAddresses {
  /** The origin of all signed URLs. */
  readonly origin: string
  /**
   * A URL that allows reading only this blob, for some seconds. `expiresAt` is in milliseconds
   * since the epoch, and earlier if the credential expires earlier.
   */
  signUrl(
    key: string,
    options: { contentType: string; disposition: string; seconds: number },
  ): Promise<{ url: string; expiresAt: number }>
  /**
   * The URLs that accept parts 1 to `count` with PUT until `until` (milliseconds since the epoch),
   * or until their credential expires. They do not allow reading. The store signs blobs, not
   * blocks: a client with such a URL can write any bytes under this key, and under no other.
   */
  signParts(key: string, count: number, until: number): Promise<string[]>
  /** Lets pages of these origins send and fetch bytes. Keeps other rules of the store. */
  allowOrigins(origins: string[]): Promise<void>
}

/** The maximum memory per upload while the store receives its bytes. */
export interface UploadMemory {
  /** For `put`. */
  readonly upload: number
  /** For `stagePart`. */
  readonly part: number
}

/** The free space of a store, in bytes. */
export interface StoreSpace {
  freeBytes: number
  totalBytes: number
}

/** The range to read; by default the whole blob. */
export interface ReadOptions {
  offset?: number
  count?: number
  /**
   * The size of the blob, if it is known and the whole blob is read. Small blobs are then read at
   * once.
   */
  size?: number
  signal?: AbortSignal
}

/** The range or the whole blob, of known size. */
export type Extent = { count: number } | { count?: undefined; size: number }

/** The label of a store. */
export interface Marker {
  /** The id of the installation that it belongs to. */
  installation: string
  /** Its number among the stores of that installation: docs/decisions/moving-blobs.md. */
  number: number
}

/**
 * A blob store. Every method throws Unavailable when the store fails. A store on the network does
 * so in bounded time.
 */
export interface BlobStore {
  /** Kind and location, for operators. */
  readonly label: string
  /** The maximum number of parts of a blob. */
  readonly maxParts: number
  readonly uploadMemory: UploadMemory
  /** Null if clients cannot reach the store. The service then signs its own URLs. */
  readonly addresses: StoreAddresses | null
  /** Creates the container or folders that the store needs. */
  prepare(): Promise<void>
  /**
   * Verifies that the store belongs to this installation. Called after `prepare`, and before the
   * first write. Labels a new store with the id.
   * @param inUse whether the installation already has blobs, so that an empty store is the wrong
   * one
   * @param number the store's number in the installation, which each move of the blobs increments
   * @param isKnown whether the store is known to be the right one even without a label; it is then
   * labelled
   * @param instead the id of an installation whose label is replaced
   * @throws ForeignStore
   */
  bind(
    installation: string,
    inUse: boolean,
    number?: number,
    isKnown?: boolean,
    instead?: string,
  ): Promise<void>
  /** Reads the store's label; undefined if it has none yet. */
  marker(): Promise<Marker | undefined>
  /** The number of the store that new blobs go to. Known after `bind`. */
  current(): Promise<number>
  /**
   * The number of the newest known store, to which blobs are or will be moved. Known after `bind`.
   */
  newest(): number
  /** Whether this is a pair of stores between which blobs are moved. */
  readonly isMoving?: boolean
  /**
   * Resolves if the store can be read and written, within two seconds for a store on the network.
   */
  ping(): Promise<void>
  /** The free space of the store and its size; null if there is no known limit. */
  space(): Promise<StoreSpace | null>
  /**
   * Stores a source under a key, in constant memory. Rejects with the error of the source, `admit`
   * or the signal once no request is in flight, so that the key can be removed. Closes the source
   * with its iterator's `return`, which destroys a Node stream.
   */
  put(key: string, source: AsyncIterable<Uint8Array>, options: PutOptions): Promise<Uploaded>
  /**
   * Reads many small blobs whole; undefined for a missing one. For programs that only copy blobs.
   * Only present where it is faster.
   */
  readMany?(keys: string[]): Promise<(Uint8Array | undefined)[]>
  /** Stores many small blobs, for the same kind of program. */
  putMany?(blobs: { key: string; bytes: Uint8Array }[]): Promise<void>
  /**
   * Stages a part of a blob, replacing an earlier one of the same number (from 1). It can be read
   * after `commitParts`. The bytes are forwarded as they arrive; when the source throws, nothing is
   * staged and its error is thrown. Resolves to the CRC-32 of the bytes that it has stored, in
   * lower-case hex.
   * @throws BytesDiffer
   */
  stagePart(
    key: string,
    number: number,
    source: AsyncIterable<Uint8Array>,
    options: PartOptions,
  ): Promise<string>
  /** The parts that were staged under a key, committed or not: sizes in bytes by part number. */
  partsOf(key: string): Promise<Map<number, number>>
  /**
   * Assembles the blob from its parts 1 to `count`. Parts can be resent and committed again until
   * `endParts`. Resolves to its checksums in lower-case hex, if the store has computed them as the
   * parts arrived, so that the blob need not be read back. The signal aborts the slow step,
   * which reads parts that are not hashed yet. The call then rejects with its reason, and nothing
   * is assembled.
   */
  commitParts(
    key: string,
    count: number,
    options: { contentType: string; signal?: AbortSignal },
  ): Promise<{ md5?: string; crc32?: string }>
  /** Discards the staged parts of a blob, and keeps the blob. */
  endParts(key: string): Promise<void>
  /**
   * Removes leftovers of instances that died.
   * @param finished returns the keys of finished blobs among the given ones
   */
  tidy(finished: (keys: string[]) => Promise<string[]>): Promise<void>
  /** Copies a blob within the store, whatever its size. @throws BlobMissing */
  copy(from: string, to: string): Promise<void>
  /**
   * Sets the metadata that is known only after reading the bytes, in stores that send it to
   * clients.
   */
  describe(key: string, options: { contentType: string; md5: string }): Promise<void>
  /**
   * Reads `count` bytes of a blob (by default all) from `offset` on, in constant memory.
   * A failure after the first byte is an error of the stream.
   * @throws BlobMissing
   */
  open(key: string, options?: ReadOptions): Promise<Readable>
  /**
   * Like `open`, for readers that are done with a chunk when they request the next one, such as
   * downloads. Starts reading at once. Reuses memory where it can.
   * @throws BlobMissing
   */
  chunks(key: string, options: ReadOptions & Extent): Promise<Chunks>
  /**
   * Removes blobs, including leased ones, and leftovers of broken uploads under their keys. Missing
   * keys are no error.
   * @throws BlobsKept for blobs that could not be removed, after removing all others
   */
  remove(keys: string[]): Promise<void>
  /**
   * The path of a blob's file, for programs on this machine. Only present where blobs are files.
   */
  fileOf?(key: string): string
  /** The size of a blob in bytes; null if there is none. */
  look(key: string): Promise<{ size: number } | null>
  /** All blobs of the container in key order. Includes blobs of staged parts only, with size 0. */
  list(): AsyncIterable<{ key: string; size: number; createdAt: Date }>
}

/**
 * The store rejected a request. Keeps only the gist of the reason, because the rest may contain
 * signatures.
 */
export class StoreRefusal extends Error {
  /** Whether the credentials were rejected, rather than the operation. */
  readonly unauthorized: boolean
  readonly status: number

  constructor(status: number, gist: string) {
    super(`The blob store refused a request: ${gist}`)
    this.name = 'StoreRefusal'
    this.status = status
    this.unauthorized = status === 401 || status === 403
  }
}

/** The received bytes do not match their checksum. */
export class BytesDiffer extends Error {
  constructor() {
    super('The bytes that the blob store received do not match their checksum.')
    this.name = 'BytesDiffer'
  }
}

/**
 * The store cannot remove some blobs for now, such as the target of a copy that is still running.
 */
export class BlobsKept extends Error {
  readonly keys: string[]

  constructor(keys: string[], why: Error) {
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

/** The store holds the blobs of another installation, or lacks the blobs of this one. */
export class ForeignStore extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'ForeignStore'
  }
}
