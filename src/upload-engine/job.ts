import type { Patience } from './retry.ts'

/** Detects that a file has changed. */
export interface Fingerprint {
  size: number
  /** When it was last modified, in milliseconds since 1970; 0 where that is not known. */
  mtimeMs: number
}

/** A file to upload. `Body` is what the transport sends: a Blob, or an iterable of chunks. */
export interface Source<Body> {
  readonly fingerprint: Fingerprint
  /** Some of its bytes. May be called again for the same range. */
  read(offset: number, length: number): Reading<Body>
  /** Digests the file from its first byte on. */
  digest(): Digest
  /** @throws FILE_CHANGED if the file differs from its fingerprint */
  verify(): Promise<void>
}

/** Some bytes of a file. */
export interface Reading<Body> {
  body: Body
  /** Their CRC-32, in lower-case hex. Call it when the body has been sent. */
  crc32(): Promise<string>
}

/** A running digest of a file. */
export interface Digest {
  /** Digests the next `length` bytes. @throws FILE_CHANGED if there are fewer */
  next(length: number): Promise<void>
  /** MD5 of all bytes so far, in lower-case hex. Nothing may be digested after it. */
  end(): Promise<string>
  /** Frees what a digest holds that does not reach its end. */
  close(): void
}

/** The digest of a file. Each byte is digested once, in order, when the digest is first needed. */
export interface Digests {
  /** MD5 of the file, in lower-case hex. */
  whole(signal: AbortSignal): Promise<string>
  close(): void
}

/** Where a file is to be. */
export interface Aim {
  /** Names of folders, joined by slashes; missing ones are made. */
  folder: string
  fileName: string
}

/** An upload in parts that the service has accepted. */
export interface Session {
  uploadId: string
  /** Bytes of every part but the last, which has the rest. */
  chunkSize: number
  partCount: number
  expiresAt: string
}

/** One attempt to send bytes. */
export interface Attempt {
  signal: AbortSignal
  /** To be called with the number of bytes that the network has accepted since the last call. */
  sent(count: number): void
}

/**
 * The requests of an upload in parts. All but the one that sends bytes retry by themselves what the
 * network loses.
 */
export interface PartTransport<Body> {
  /** Of the service, for messages. */
  readonly host: string
  /** Begins an upload in parts. @throws PATH_EXISTS, FILE_TOO_LARGE, QUOTA_EXCEEDED */
  start(aim: Aim, file: Fingerprint): Promise<Session>
  /**
   * Numbers of the parts that have arrived. @throws UPLOAD_NOT_FOUND for an upload that has ended
   */
  received(session: Session): Promise<number[]>
  /**
   * Resolves to the CRC-32 of the bytes that the service has stored, in lower-case hex; undefined
   * from a service that does not say it.
   * @throws UPLOAD_BUSY, UPLOAD_NOT_FOUND
   */
  sendPart(session: Session, part: Part<Body>, attempt: Attempt): Promise<string | undefined>
  /**
   * Begins to complete an upload, unless that is under way already, and waits for a while.
   * @param expected of the whole, to be compared
   * @throws CHECKSUM_MISMATCH, UPLOAD_INCOMPLETE with `missing`, PATH_EXISTS, UPLOAD_BUSY,
   * UPLOAD_NOT_FOUND
   */
  complete(session: Session, aim: Aim, expected: Expected): Promise<Receipt | Checking>
  /** What became of that. @throws what `complete` throws */
  outcome(session: Session): Promise<Receipt | Checking>
  abort(session: Session): Promise<void>
  /**
   * The file at a path, and those that may have got another name instead; none if the caller may
   * not read.
   */
  find(aim: Aim): Promise<(Receipt & { size: number })[]>
}

/** The requests of an upload, in parts or in one request. That one is not retried here either. */
export interface Transport<Body> extends PartTransport<Body> {
  /** Sends a file in one request. @throws PATH_EXISTS */
  sendWhole(aim: Aim, file: Fingerprint & { body: Body }, attempt: Attempt): Promise<Receipt>
  remove(aim: Aim): Promise<void>
}

/** A sum of a whole file, in lower-case hex. */
export type Expected = { md5: string } | { crc32: string }

/** What the service has stored. */
export interface Receipt {
  /** In lower-case hex. */
  md5: string
  /** Another one than that of the aim if both are kept. */
  fileName: string
}

/** The service continues to complete an upload. */
export interface Checking {
  /** Bytes that it has read again. */
  checked: number
}

export interface Part<Body> {
  /** From 1 on. */
  number: number
  size: number
  body: Body
}

/** Remembers the session of one file and one place, across restarts. */
export interface SessionStore {
  read(): Promise<StoredSession | null>
  write(session: StoredSession): Promise<void>
  remove(): Promise<void>
}

/** With the file that it was begun for. */
export type StoredSession = Session & Fingerprint

export interface Progress {
  /** Bytes that were transferred; negative for bytes that must be sent again. */
  move(count: number): void
  /** Bytes that need no transfer. */
  skip(count: number): void
  /** Shows that the service is verifying an upload, until `work` settles. */
  checking<T>(work: Promise<T>): Promise<T>
  /** How much of an upload that is being verified has been, from 0 to 1. */
  checked(share: number): void
}

/** Runs at most so many at a time, such as p-limit. */
export interface Limit {
  <T>(work: () => Promise<T>): Promise<T>
  readonly concurrency: number
}

/** The upload of one file in parts. */
export interface PartJob<Body> {
  source: Source<Body>
  /** Of the source; kept between two attempts, so that nothing is digested twice. */
  digests: Digests
  aim: Aim
  transport: PartTransport<Body>
  sessions: SessionStore
  progress: Progress
  /** Bounds the requests that send bytes, across all files. */
  limit: Limit
  patience: Patience
}

/** The upload of one file. */
export interface Job<Body> extends PartJob<Body> {
  transport: Transport<Body>
}

export interface Stored extends Receipt {
  size: number
  /** `unchanged`: the service had these bytes under this name already. */
  status: 'uploaded' | 'unchanged'
}
