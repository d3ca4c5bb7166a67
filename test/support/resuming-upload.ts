import { createCipheriv, createHash } from 'node:crypto'

/** A multipart upload of synthetic bytes: the job of a client program. */
export interface UploadJob {
  cookie: string
  /** The journal: a file with one line per step, written before the next step. */
  journal: string
  name: string
  /** The seed of the content: 32 bytes in hex. */
  seed: string
  size: number
  /** The size of the whole file. */
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
 * The exit code of a client program that lost its service and may be run again: EX_TEMPFAIL of
 * sysexits.h.
 */
export const BROKEN = 75

/**
 * The bytes of a range of a file. They are generated each time, so that no process has to hold 200
 * MiB.
 */
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
