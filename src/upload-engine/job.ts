import type { Patience } from './retry.ts'

/** Detects that a file has changed. */
export interface Fingerprint {
  size: number
  /** Modification time in milliseconds since 1970; 0 if unknown. */
  mtimeMs: number
}

/**
 * A file to upload. `Body` is the type that the transport sends: a Blob, or an iterable of chunks.
 */
export interface Source<Body> {
  readonly fingerprint: Fingerprint
  /** Reads a range. May be called again for the same range. */
  read(offset: number, length: number): Reading<Body>
  /** Starts a digest from the first byte. */
  digest(): Digest
  /** @throws FILE_CHANGED if the file differs from its fingerprint */
  verify(): Promise<void>
}

/** A range of a file. */
export interface Reading<Body> {
  body: Body
  /** CRC-32 in lower-case hex. Call it after the body was sent. */
  crc32(): Promise<string>
}

/** A digest in progress. */
export interface Digest {
  /**
   * Hashes the next `length` bytes.
   *
   * @throws FILE_CHANGED if there are fewer
   */
  next(length: number): Promise<void>
  /** MD5 of all bytes so far, in lower-case hex. Ends the digest. */
  end(): Promise<string>
  /** Frees the memory of an unfinished digest. */
  close(): void
}

/** The digest of a file. Each byte is hashed once, in order, when the digest is first needed. */
export interface Digests {
  /** MD5 of the file, in lower-case hex. */
  whole(signal: AbortSignal): Promise<string>
  close(): void
}

/** The target path of a file. */
export interface Aim {
  /** Folder names joined by slashes. Missing folders are created. */
  folder: string
  fileName: string
}

/** A multipart upload that the service has accepted. */
export interface Session {
  uploadId: string
  /** Size of every part except the last, which has the rest. */
  chunkSize: number
  partCount: number
  expiresAt: string
}

/** One attempt to send bytes. */
export interface Attempt {
  signal: AbortSignal
  /** Called with the number of bytes that the network accepted since the last call. */
  sent(count: number): void
}

/** The requests of a multipart upload. All except `sendPart` retry network failures themselves. */
export interface PartTransport<Body> {
  /** Host of the service, for messages. */
  readonly host: string
  /**
   * Starts a multipart upload.
   *
   * @throws PATH_EXISTS, FILE_TOO_LARGE, QUOTA_EXCEEDED
   */
  start(aim: Aim, file: Fingerprint): Promise<Session>
  /**
   * Numbers of the received parts.
   *
   * @throws UPLOAD_NOT_FOUND if the upload has ended
   */
  received(session: Session): Promise<number[]>
  /**
   * Resolves to the CRC-32 of the stored bytes, in lower-case hex; undefined if the service does
   * not report it.
   *
   * @throws UPLOAD_BUSY, UPLOAD_NOT_FOUND
   */
  sendPart(session: Session, part: Part<Body>, attempt: Attempt): Promise<string | undefined>
  /**
   * Starts to complete an upload, unless that is in progress already, and waits for a while.
   *
   * @param expected checksum of the whole file, to be verified
   * @throws CHECKSUM_MISMATCH, UPLOAD_INCOMPLETE with `missing`, PATH_EXISTS, UPLOAD_BUSY,
   * UPLOAD_NOT_FOUND
   */
  complete(session: Session, aim: Aim, expected: Expected): Promise<Receipt | Checking>
  /**
   * The result of the completion.
   *
   * @throws the same errors as `complete`
   */
  outcome(session: Session): Promise<Receipt | Checking>
  abort(session: Session): Promise<void>
  /**
   * The file at a path, and files that may have been renamed to avoid a conflict. Empty if the
   * caller may not read.
   */
  find(aim: Aim): Promise<(Receipt & { size: number })[]>
}

/** The requests of an upload, in parts or in one request. `sendWhole` does not retry either. */
export interface Transport<Body> extends PartTransport<Body> {
  /**
   * Sends a file in one request.
   *
   * @throws PATH_EXISTS
   */
  sendWhole(aim: Aim, file: Fingerprint & { body: Body }, attempt: Attempt): Promise<Receipt>
  remove(aim: Aim): Promise<void>
}

/** Checksum of a whole file, in lower-case hex. */
export type Expected = { md5: string } | { crc32: string }

/** The stored file. */
export interface Receipt {
  /** In lower-case hex. */
  md5: string
  /** Differs from the aim if both files are kept. */
  fileName: string
}

/** The service is still completing the upload. */
export interface Checking {
  /** Number of verified bytes. */
  checked: number
}

export interface Part<Body> {
  /** Starts at 1. */
  number: number
  size: number
  body: Body
}

/** Stores the session of one file and target across restarts. */
export interface SessionStore {
  read(): Promise<StoredSession | null>
  write(session: StoredSession): Promise<void>
  remove(): Promise<void>
}

/** A session with the fingerprint of its file. */
export type StoredSession = Session & Fingerprint

export interface Progress {
  /** Bytes that were transferred; negative for bytes that must be sent again. */
  move(count: number): void
  /** Bytes that need no transfer. */
  skip(count: number): void
  /** Shows that the service is verifying an upload, until `work` settles. */
  checking<T>(work: Promise<T>): Promise<T>
  /** Verified fraction of the upload, from 0 to 1. */
  checked(share: number): void
}

/** Limits concurrency, like p-limit. */
export interface Limit {
  <T>(work: () => Promise<T>): Promise<T>
  readonly concurrency: number
}

/** The multipart upload of one file. */
export interface PartJob<Body> {
  source: Source<Body>
  /** Digests of the source. They are kept between attempts, so that nothing is hashed twice. */
  digests: Digests
  aim: Aim
  transport: PartTransport<Body>
  sessions: SessionStore
  progress: Progress
  /** Limits concurrent requests that send bytes, across all files. */
  limit: Limit
  patience: Patience
}

/** The upload of one file. */
export interface Job<Body> extends PartJob<Body> {
  transport: Transport<Body>
}

export interface Stored extends Receipt {
  size: number
  /** `unchanged`: the service had the same content under this name already. */
  status: 'uploaded' | 'unchanged'
}
