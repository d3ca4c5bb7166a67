import { createHash, type Hash } from 'node:crypto'
import { type FileHandle, open, unlink } from 'node:fs/promises'
import { blockSize, giveBack, takeBlock } from './blocks.ts'
import { type Crc32, startCrc32 } from './crc32.ts'
import { fileMode, onDisk, writeAt } from './files.ts'
import { md5 as md5Of } from './hash.ts'
import { BytesDiffer, type PartOptions } from './store.ts'

/** How many parts are collected in memory at a time. Further parts go to files at once. */
const maxInMemory = 8
/** A sender that is slower than this must not occupy a block. */
const patienceMs = 1000

let inMemory = 0

/** The bytes of an arrived part, in memory or in a file of their own. */
export interface Received {
  /** Undefined if the bytes are in the file. */
  bytes?: Buffer
  /** The CRC-32 of the bytes as they are in memory now, or were written to the file. */
  crc32(): string
  /** Releases the memory. Nothing may read `bytes` afterwards. */
  release(): Promise<void>
}

/**
 * Receives a part completely: a fast one in memory, so that its bytes are written once, and a slow
 * one, or one of many, into a file.
 * @throws BytesDiffer, and errors of the source
 */
export async function receivePart(
  path: string,
  next: () => Promise<IteratorResult<Uint8Array>>,
  options: PartOptions,
): Promise<Received> {
  const arriving = arrival(path, options)
  try {
    let at = 0
    for await (const chunk of { [Symbol.asyncIterator]: () => ({ next }) }) {
      if (at + chunk.length > options.size) throw wrongSize(options.size, at + chunk.length)
      await arriving.add(chunk, at)
      at += chunk.length
    }
    if (at !== options.size) throw wrongSize(options.size, at)
    return await arriving.complete()
  } catch (error) {
    await arriving.discard()
    throw error
  }
}

const wrongSize = (size: number, arrived: number) =>
  new TypeError(`A part of ${size} bytes arrived with ${arrived} bytes.`)

function arrival(path: string, { size, md5 }: PartOptions) {
  let memory = size <= blockSize && inMemory < maxInMemory ? blockOf(size) : undefined
  let held = 0
  let file: Promise<FileHandle> | undefined
  const hash = md5 === undefined ? undefined : createHash('md5')
  const written = startCrc32()
  const timer = memory && setTimeout(spill, patienceMs)

  /** Moves the received bytes into the file. The next chunk waits for that. */
  function spill(): void {
    const taken = memory
    memory = undefined
    file = moveToFile(path, taken?.bytes.subarray(0, held), hash, written).finally(() =>
      taken?.giveBack(),
    )
    file.catch(() => {})
  }
  if (!memory) spill()

  async function end(): Promise<void> {
    clearTimeout(timer)
    const opened = await file?.catch(() => undefined)
    await opened?.close()
  }

  return {
    async add(chunk: Uint8Array, at: number): Promise<void> {
      if (memory) {
        memory.bytes.set(chunk, at)
        held = at + chunk.length
        return
      }
      const to = await file
      hash?.update(chunk)
      if (to) await onDisk(() => writeAt(to, chunk, at))
      written.add(chunk)
    },

    async complete(): Promise<Received> {
      clearTimeout(timer)
      await file
      if (md5 !== undefined && md5 !== (memory ? await md5Of(memory.bytes) : hash?.digest('hex')))
        throw new BytesDiffer()
      await end()
      if (!memory) return { crc32: written.hex, release: () => unlink(path).catch(() => {}) }
      const { bytes, giveBack } = memory
      const crc32 = () => {
        const sum = startCrc32()
        sum.add(bytes)
        return sum.hex()
      }
      return { bytes, crc32, release: async () => giveBack() }
    },

    async discard(): Promise<void> {
      await end()
      memory?.giveBack()
      if (file) await unlink(path).catch(() => {})
    },
  }
}

async function moveToFile(
  path: string,
  bytes: Buffer | undefined,
  hash: Hash | undefined,
  written: Crc32,
): Promise<FileHandle> {
  const file = await onDisk(() => open(path, 'wx', fileMode))
  if (!bytes) return file
  try {
    hash?.update(bytes)
    await onDisk(() => writeAt(file, bytes, 0))
    written.add(bytes)
    return file
  } catch (error) {
    await file.close()
    throw error
  }
}

/**
 * Returns counted memory of this size. A part that fills more than a quarter of a block gets a
 * reusable block.
 */
function blockOf(size: number): { bytes: Buffer; giveBack(): void } {
  inMemory++
  const block = size > blockSize / 4 ? takeBlock() : undefined
  const bytes = block ? Buffer.from(block, 0, size) : Buffer.from(new SharedArrayBuffer(size))
  return {
    bytes,
    giveBack() {
      inMemory--
      if (block) giveBack(block)
    },
  }
}
