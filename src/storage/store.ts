import type { Readable } from 'node:stream'
import type { Chunks } from './chunks.ts'
import type { Uploaded, UploadOptions } from './upload.ts'

export interface PutOptions extends UploadOptions {
  contentType: string
  /**
   * The number of the store that it goes to, while blobs are moved between two; otherwise the
   * ledger says it.
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
 * Signed URLs of a store that clients reach directly. No URL lives longer than the credential that
 * signs it. Signing uses the network only to renew a temporary credential.
 */
export interface StoreAddresses {
  /** The origin of all of them. */
  readonly origin: string
  /**
   * A URL that allows reading this one blob, and nothing else, for some seconds. `expiresAt` is in
   * milliseconds since the epoch: earlier if the credential ends before.
   */
  signUrl(
    key: string,
    options: { contentType: string; disposition: string; seconds: number },
  ): Promise<{ url: string; expiresAt: number }>
  /**
   * The URLs to which parts 1 to `count` can be sent with PUT until `until` (milliseconds since the
   * epoch), or until their credential ends. They do not allow reading. The store signs blobs, not
   * blocks: a client with one of them can write any bytes under this key, and under no other.
   */
  signParts(key: string, count: number, until: number): Promise<string[]>
  /** Lets pages of these origins send and fetch bytes, and keeps other rules of the store. */
  allowOrigins(origins: string[]): Promise<void>
}

/** The most memory that the bytes of one upload take while the store receives them. */
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

/** Which bytes are read: by default all. */
export interface ReadOptions {
  offset?: number
  count?: number
  /**
   * The size of the blob, where it is known and all of it is read: what is small is read at once
   * then.
   */
  size?: number
  signal?: AbortSignal
}

/** What a store says of itself. */
export interface Marker {
  /** The id of the installation that it belongs to. */
  installation: string
  /** Its number among the stores of that installation: docs/decisions/moving-blobs.md. */
  number: number
}

/**
 * The store of the bytes. Every method throws Unavailable when the store fails: in bounded time, if
 * it is reached over a network.
 */
export interface BlobStore {
  /** Kind and location, for operators. */
  readonly label: string
  /** The maximum number of parts of a blob. */
  readonly maxParts: number
  readonly uploadMemory: UploadMemory
  /** Null if clients cannot reach the store: then the service signs URLs of its own. */
  readonly addresses: StoreAddresses | null
  /** Creates what the store needs: a container, folders. */
  prepare(): Promise<void>
  /**
   * Verifies that the store belongs to this installation. Called after `prepare`, and before it
   * takes anything; a new store is labelled with the id.
   * @param inUse whether the installation has blobs already, so that an empty store is the wrong
   * one
   * @param number its number among the stores of the installation, which are counted by moves of
   * the blobs
   * @param isKnown whether it is the right one even if it has no label: then it gets one
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
  /** What the store says of itself; undefined if it has no label yet. */
  marker(): Promise<Marker | undefined>
  /** The number of the store that new blobs go to. Known after `bind`. */
  current(): Promise<number>
  /**
   * The number of the newest store that it knows, to which blobs are moved or will be. Known after
   * `bind`.
   */
  newest(): number
  /** Whether it is two stores, between which blobs are moved. */
  readonly isMoving?: boolean
  /**
   * Resolves if the store can be read and written: within two seconds, if it is reached over a
   * network.
   */
  ping(): Promise<void>
  /** What the store can still take, and its size; null where it has no end that it knows of. */
  space(): Promise<StoreSpace | null>
  /**
   * Stores a source under a key, in constant memory. Rejects with the error of the source, `admit`
   * or the signal, once no request of it is under way, so that the key can be removed. The source
   * is closed by its iterator's `return`, which destroys a Node stream.
   */
  put(key: string, source: AsyncIterable<Uint8Array>, options: PutOptions): Promise<Uploaded>
  /**
   * Reads many small blobs whole, for programs that copy blobs and do nothing else; undefined for
   * one that is missing. Only where that is faster.
   */
  readMany?(keys: string[]): Promise<(Uint8Array | undefined)[]>
  /** Stores many small blobs, for the same programs. */
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
  /** The parts that were staged under a key, committed or not: sizes in bytes by number. */
  partsOf(key: string): Promise<Map<number, number>>
  /**
   * Assembles the blob from its parts 1 to `count`. They can be sent and committed again until
   * `endParts`. Resolves to its sums in lower-case hex where the store has computed them while the
   * parts arrived: then no one needs to read it back. The signal ends what may take long, the
   * reading of parts whose sums lack: it rejects with its reason then, and nothing is assembled.
   */
  commitParts(
    key: string,
    count: number,
    options: { contentType: string; signal?: AbortSignal },
  ): Promise<{ md5?: string; crc32?: string }>
  /** Discards the staged parts of a blob, and keeps the blob. */
  endParts(key: string): Promise<void>
  /**
   * Removes what instances that died have left, and nothing that is needed.
   * @param finished answers which of these keys are those of blobs that stay as they are
   */
  tidy(finished: (keys: string[]) => Promise<string[]>): Promise<void>
  /** Copies a blob within the store, whatever its size. @throws BlobMissing */
  copy(from: string, to: string): Promise<void>
  /**
   * Sets the metadata that is known only after the bytes have been read, where the store sends it
   * to clients.
   */
  describe(key: string, options: { contentType: string; md5: string }): Promise<void>
  /**
   * Reads `count` bytes of a blob (by default all) from `offset` on, in constant memory.
   * A failure after the first byte is an error of the stream.
   * @throws BlobMissing
   */
  open(key: string, options?: ReadOptions): Promise<Readable>
  /**
   * Reads as `open` does, for who sends many blobs one after the other: it begins to read at once,
   * and uses memory again. Only where that is cheaper. @throws BlobMissing
   */
  chunks?(key: string, options: ReadOptions & { count: number }): Promise<Chunks>
  /**
   * Removes blobs, also leased ones, and the remains of broken uploads under their keys. Missing
   * keys are no error.
   * @throws BlobsKept for blobs that could not be removed, after all others have been
   */
  remove(keys: string[]): Promise<void>
  /** The file of a blob, for programs of this machine that read it. Only where blobs are files. */
  fileOf?(key: string): string
  /** The size of a blob in bytes; null if there is none. */
  look(key: string): Promise<{ size: number } | null>
  /**
   * All blobs of the container in the order of their keys, including those that consist of staged
   * parts only, with a size of 0.
   */
  list(): AsyncIterable<{ key: string; size: number; createdAt: Date }>
}

/**
 * The store rejected a request. Only the gist of its reason is kept: the rest may contain
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

/** The store holds the blobs of another installation, or none of those of this one. */
export class ForeignStore extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'ForeignStore'
  }
}
