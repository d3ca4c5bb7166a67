import { interruptible } from '../runtime/interruptible.ts'

/** Block size in bytes. */
export const blockSize = 4 * 1024 * 1024
/** The Azure limit per blob, so the largest file is 195 GiB. */
export const maxBlocks = 50_000

/** All block ids of a blob must have the same length. */
export const blockId = (n: number): string =>
  Buffer.from(String(n).padStart(6, '0')).toString('base64')
/** The number in a block id; NaN for a foreign id. */
export const numberOfBlock = (id: string): number => {
  const text = Buffer.from(id, 'base64').toString()
  return /^\d{6}$/.test(text) ? Number(text) : Number.NaN
}

/** A block of a source, in shared memory. All blocks but the last have the same size. */
export interface Block {
  bytes: Buffer
  last: boolean
  /** Returns the memory to the pool. Nothing may read `bytes` afterwards. */
  release(): void
}

/**
 * Initial and grown buffer sizes of a source. Most files are small, and many slow small uploads
 * must not hold a block each.
 */
const smallSizes = [64 * 1024, 512 * 1024]

const keptMs = 10_000
const free = new Map<number, SharedArrayBuffer[]>()
let willClear = false

export function takeBlock(size = blockSize): SharedArrayBuffer {
  return free.get(size)?.pop() ?? new SharedArrayBuffer(size)
}

/**
 * Keeps a block for reuse, so that memory follows the current uploads and not the garbage
 * collector.
 */
export function giveBack(memory: SharedArrayBuffer): void {
  const alike = free.get(memory.byteLength) ?? []
  free.set(memory.byteLength, alike)
  alike.push(memory)
  if (willClear) return
  willClear = true
  setTimeout(() => {
    free.clear()
    willClear = false
  }, keptMs).unref()
}

/**
 * Collects a source into blocks. The last one may be shorter, and is empty only if the source is.
 * The receiver releases each block. Throws errors of the source, and the reason of `signal`,
 * unchanged.
 * @param full block size in bytes
 * @param first size of the first block, if smaller
 */
export async function* fillBlocks(
  source: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
  full = blockSize,
  first = full,
): AsyncGenerator<Block, void> {
  let limit = first
  let shared: SharedArrayBuffer | undefined
  let memory: Buffer = Buffer.alloc(0)
  let used = 0
  const makeRoom = (wanted: number) => {
    const larger = takeBlock(smallSizes.find(size => size >= wanted) ?? full)
    const bytes = Buffer.from(larger)
    memory.copy(bytes, 0, 0, used)
    if (shared) giveBack(shared)
    shared = larger
    memory = bytes
  }
  const hand = (last: boolean): Block => {
    const given = shared
    const bytes = memory.subarray(0, used)
    shared = undefined
    return { bytes, last, release: () => given && giveBack(given) }
  }
  try {
    for await (const chunk of interruptible(source, signal)) {
      for (let from = 0; from < chunk.length; ) {
        if (used === limit) {
          yield hand(false)
          used = 0
          limit = full
          makeRoom(full)
        }
        const part = chunk.subarray(from, from + limit - used)
        if (used + part.length > memory.length) makeRoom(used + part.length)
        memory.set(part, used)
        used += part.length
        from += part.length
      }
    }
    yield hand(true)
  } finally {
    if (shared) giveBack(shared)
  }
}
