import { type FileHandle, open, readFile } from 'node:fs/promises'
import { ifThere, writeAt } from './files.ts'

/*
 * The index of an upload: for each part number, the size of the part if it has arrived, with a
 * check value.
 */

const recordSize = 8
const mask = 0xa5a5a5a5
const record = (size: number): Buffer => {
  const bytes = Buffer.alloc(recordSize)
  bytes.writeUInt32LE(size, 0)
  bytes.writeUInt32LE((size ^ mask) >>> 0, 4)
  return bytes
}

const sizeIn = (bytes: Buffer, at: number): number => {
  const size = bytes.readUInt32LE(at)
  return bytes.readUInt32LE(at + 4) === (size ^ mask) >>> 0 ? size : 0
}

/** Returns the size of a received part, or 0 if the part is missing. */
export async function sizeReceived(dir: string, number: number): Promise<number> {
  const index = await ifThere(open(`${dir}/index`, 'r'))
  if (!index) return 0
  try {
    const bytes = Buffer.alloc(recordSize)
    await index.read(bytes, 0, recordSize, (number - 1) * recordSize)
    return sizeIn(bytes, 0)
  } finally {
    await index.close()
  }
}

export async function readIndex(dir: string): Promise<Map<number, number> | undefined> {
  const bytes = await ifThere(readFile(`${dir}/index`))
  if (!bytes) return undefined
  const parts = new Map<number, number>()
  for (let at = 0; at + recordSize <= bytes.length; at += recordSize) {
    const size = sizeIn(bytes, at)
    if (size > 0) parts.set(at / recordSize + 1, size)
  }
  return parts
}

export const writeRecord = (index: FileHandle, number: number, size: number): Promise<void> =>
  writeAt(index, record(size), (number - 1) * recordSize)
