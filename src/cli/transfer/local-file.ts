import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import { hexOfCrc32 } from '../../upload-engine/crc32.ts'
import type { Digest, Fingerprint, Reading, Source } from '../../upload-engine/job.ts'
import { Failure } from '../failure.ts'
import { slices } from './body.ts'

const CHUNK = 256 * 1024

/** The chunks of an upload. */
export type Body = AsyncIterable<Uint8Array> | Iterable<Uint8Array>

/** A local file as the source of an upload. */
export async function sourceOf(file: FileHandle): Promise<Source<Body>> {
  const fingerprint = await fingerprintOf(file)
  const read = (offset: number, length: number) => readRange(file, offset, length)
  return {
    fingerprint,
    read: (offset, length) => summedUp(read(offset, length)),
    digest: () => digestOf(read),
    async verify() {
      const { size, mtimeMs } = await fingerprintOf(file)
      if (size !== fingerprint.size || mtimeMs !== fingerprint.mtimeMs) throw changed()
    },
  }
}

/** Bytes in memory as the source of an upload. */
export function sourceInMemory(bytes: Uint8Array, mtimeMs: number): Source<Body> {
  const read = (offset: number, length: number) =>
    slices(bytes.subarray(offset, offset + length), CHUNK)
  return {
    fingerprint: { size: bytes.length, mtimeMs },
    read: (offset, length) => summedUp(read(offset, length)),
    digest: () => digestOf(read),
    async verify() {},
  }
}

/** Computes the digest while the chunks are sent, so that the file is read once. */
function summedUp(pieces: Body): Reading<Body> {
  let sum = 0
  async function* body() {
    for await (const piece of pieces) {
      sum = crc32(piece, sum)
      yield piece
    }
  }
  return { body: body(), crc32: async () => hexOfCrc32(sum) }
}

function digestOf(read: (offset: number, length: number) => Body): Digest {
  const whole = createHash('md5')
  let at = 0
  return {
    async next(length) {
      for await (const chunk of read(at, length)) whole.update(chunk)
      at += length
    },
    end: async () => whole.digest('hex'),
    close() {},
  }
}

/**
 * A range of a file, in chunks. All chunks share one buffer, because allocating costs more than
 * reading.
 *
 * @throws FILE_CHANGED if the file is shorter
 */
async function* readRange(
  file: FileHandle,
  start: number,
  length: number,
): AsyncGenerator<Uint8Array> {
  const memory = Buffer.allocUnsafeSlow(Math.min(CHUNK, length))
  for (let at = start; at < start + length; ) {
    const size = Math.min(memory.length, start + length - at)
    for (let filled = 0; filled < size; ) {
      const { bytesRead } = await file.read(memory, filled, size - filled, at + filled)
      if (bytesRead === 0) throw changed()
      filled += bytesRead
    }
    at += size
    yield memory.subarray(0, size)
  }
}

/** MD5 state of the first `length` bytes of a file, which can be updated further. */
export async function hashOf(file: FileHandle, length: number, signal: AbortSignal) {
  const hash = createHash('md5')
  for await (const chunk of readRange(file, 0, length)) {
    signal.throwIfAborted()
    hash.update(chunk)
  }
  return hash
}

async function fingerprintOf(file: FileHandle): Promise<Fingerprint> {
  const { size, mtimeMs } = await file.stat()
  return { size, mtimeMs }
}

const changed = () =>
  new Failure(
    'FILE_CHANGED',
    'The file changed while it was read. Run the command again when nothing writes to it.',
  )
