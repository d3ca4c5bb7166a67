import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { Failure } from '../failure.ts'

const CHUNK = 256 * 1024

/** A range of a file, in chunks. @throws FILE_CHANGED if the file is shorter */
export async function* readRange(file: FileHandle, start: number, length: number): AsyncGenerator<Uint8Array> {
  for (let at = start; at < start + length; ) {
    const size = Math.min(CHUNK, start + length - at)
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(size), 0, size, at)
    if (bytesRead === 0) throw changed()
    at += bytesRead
    yield buffer.subarray(0, bytesRead)
  }
}

/** MD5 of the first `length` bytes of a file, which can be updated further. */
export async function hashOf(file: FileHandle, length: number, signal: AbortSignal) {
  const hash = createHash('md5')
  for await (const chunk of readRange(file, 0, length)) {
    signal.throwIfAborted()
    hash.update(chunk)
  }
  return hash
}

/** Detects that a file has changed. */
export interface Fingerprint {
  size: number
  mtimeMs: number
}

export async function fingerprintOf(file: FileHandle): Promise<Fingerprint> {
  const { size, mtimeMs } = await file.stat()
  return { size, mtimeMs }
}

export async function refuseChanged(file: FileHandle, before: Fingerprint): Promise<void> {
  const { size, mtimeMs } = await fingerprintOf(file)
  if (size !== before.size || mtimeMs !== before.mtimeMs) throw changed()
}

const changed = () =>
  new Failure('FILE_CHANGED', 'The file changed while it was read. Run the command again when nothing writes to it.')
