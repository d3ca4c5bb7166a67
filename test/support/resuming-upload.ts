import { createCipheriv, createHash } from 'node:crypto'

/** One upload in parts of synthetic bytes, as a client program is told to make it. */
export interface UploadJob {
  cookie: string
  /** File that remembers what has been done: a line each, written before the next step. */
  journal: string
  name: string
  /** 32 bytes in hex, from which the content follows. */
  seed: string
  size: number
  /** Of the whole. */
  md5: string
  /** Whether the parts go straight to the store. */
  direct: boolean
}

/** A line of the journal. */
export type Step =
  | { did: 'began' }
  | { did: 'started'; id: string; partSize: number }
  | { did: 'send'; part: number }
  | { did: 'acknowledged'; part: number }
  | { did: 'complete' }
  | { did: 'finished' }

/**
 * How a client program says that the service broke under it, and that it may be run again:
 * EX_TEMPFAIL of sysexits.h.
 */
export const BROKEN = 75

/** Bytes of a stretch of a file, made anew each time: no one has to keep 200 MiB. */
export function synthesize(seed: string, number: number, size: number): Buffer<ArrayBuffer> {
  const start = Buffer.alloc(16)
  start.writeUInt32BE(number)
  return Buffer.from(
    createCipheriv('aes-256-ctr', Buffer.from(seed, 'hex'), start).update(Buffer.alloc(size)),
  )
}

/** Sizes of the parts of a file. */
export const partSizes = (size: number, partSize: number): number[] =>
  Array.from({ length: Math.max(1, Math.ceil(size / partSize)) }, (_, i) =>
    Math.min(partSize, size - i * partSize),
  )

/** MD5 of a whole file of synthetic bytes. */
export function md5OfWhole(seed: string, size: number, partSize: number): string {
  const hash = createHash('md5')
  for (const [i, bytes] of partSizes(size, partSize).entries())
    hash.update(synthesize(seed, i + 1, bytes))
  return hash.digest('hex')
}

export const parseSteps = (text: string): Step[] =>
  text
    .split('\n')
    .filter(Boolean)
    .map(line => JSON.parse(line))
