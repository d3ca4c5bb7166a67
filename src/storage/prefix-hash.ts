import { open } from 'node:fs/promises'
import { blockSize, giveBack, takeBlock } from './blocks.ts'
import { sizeReceived } from './disk-index.ts'
import { inTurn } from './file-lock.ts'
import { isThere, openAnywhere } from './files.ts'
import { startHash } from './hash.ts'

/*
 * Computes the MD5 and CRC-32 of an upload in parts while they arrive, so that a completion need
 * not read everything again. Hashes parts from memory if this instance receives them in order, and
 * all others from the page cache. The hash is lost when the instance ends, and the completion then
 * reads all bytes. The hash is valid only if no part was sent again. A file in the folder of the
 * upload records that for all instances.
 */

/** Checksums of the same bytes: if the CRC-32 matches the sent bytes, the MD5 can be trusted. */
export interface PrefixSums {
  md5: string
  crc32: string
}

function startSums() {
  const [md5, crc32] = [startHash('md5'), startHash('crc32')]
  return {
    async add(bytes: Uint8Array): Promise<void> {
      await Promise.all([md5.add(bytes), crc32.add(bytes)])
    },
    end: () =>
      Promise.all([md5.end(), crc32.end()]).then(([md5, crc32]): PrefixSums => ({ md5, crc32 })),
  }
}

interface Prefix {
  hash: ReturnType<typeof startSums>
  /** The number of parts, and of bytes, that are hashed or being hashed. */
  parts: number
  bytes: number
  reading: Promise<void> | undefined
  sums?: Promise<PrefixSums>
}

/**
 * Prefixes by upload folder, least recently used first. Bounded, because uploads may be abandoned.
 */
const prefixes = new Map<string, Prefix>()
const maxPrefixes = 1000

function prefixOf(dir: string): Prefix {
  const known = prefixes.get(dir)
  if (known) {
    prefixes.delete(dir)
    prefixes.set(dir, known)
    return known
  }
  const [oldest] = prefixes.keys()
  if (prefixes.size >= maxPrefixes && oldest !== undefined) forgetPrefix(oldest)
  const prefix: Prefix = { hash: startSums(), parts: 0, bytes: 0, reading: undefined }
  prefixes.set(dir, prefix)
  return prefix
}

export function forgetPrefix(dir: string): void {
  const prefix = prefixes.get(dir)
  if (!prefixes.delete(dir)) return
  if (!prefix?.sums) prefix?.hash.end().catch(() => {})
}

const markOf = (dir: string) => `${dir}/replaced`

/** Call it before a part is replaced, with the folder locked. */
export async function markReplaced(dir: string): Promise<void> {
  forgetPrefix(dir)
  await (await openAnywhere(markOf(dir))).close()
}

/**
 * Whether a part was resent or lost. With the folder locked, the result holds until the lock is
 * released.
 */
export const wasReplaced = (dir: string): Promise<boolean> => isThere(markOf(dir))

/**
 * Hashes those of the given parts that continue the prefix. Their memory may be reused when it
 * resolves. Never throws.
 */
export async function hashParts(
  dir: string,
  parts: { number: number; bytes: Buffer | undefined }[],
): Promise<void> {
  const prefix = prefixOf(dir)
  if (prefix.reading || prefix.sums) return
  const adding: Promise<void>[] = []
  for (const { number, bytes } of parts.toSorted((a, b) => a.number - b.number)) {
    if (!bytes || number !== prefix.parts + 1) continue
    prefix.parts++
    prefix.bytes += bytes.length
    adding.push(prefix.hash.add(bytes))
  }
  for (const { status } of await Promise.allSettled(adding))
    if (status === 'rejected') forgetPrefix(dir)
}

/** Hashes the received parts after the prefix from the disk, one part at a time. Never throws. */
function readOn(dir: string, prefix: Prefix): Promise<void> {
  prefix.reading ??= (async () => {
    try {
      while (prefixes.get(dir) === prefix && !prefix.sums)
        if (!(await inTurn('prefix', () => readNext(dir, prefix)))) return
    } catch {
      // The upload has ended, or its completion will meet the same error.
      if (prefixes.get(dir) === prefix) forgetPrefix(dir)
    } finally {
      prefix.reading = undefined
    }
  })()
  return prefix.reading
}

async function readNext(dir: string, prefix: Prefix): Promise<boolean> {
  // The completion then reads everything itself.
  if (await wasReplaced(dir)) return false
  const size = await sizeReceived(dir, prefix.parts + 1)
  if (size === 0) return false
  const data = await open(`${dir}/data`, 'r')
  const block = takeBlock()
  try {
    for (let left = size; left > 0; ) {
      const { bytesRead } = await data.read(
        Buffer.from(block),
        0,
        Math.min(left, blockSize),
        prefix.bytes,
      )
      if (bytesRead === 0) throw new Error('A part is shorter than its record says.')
      await prefix.hash.add(Buffer.from(block, 0, bytesRead))
      prefix.bytes += bytesRead
      left -= bytesRead
    }
    prefix.parts++
    return true
  } finally {
    await data.close()
    giveBack(block)
  }
}

/** Continues hashing an upload's prefix in the background, as more parts are durable. */
export function continuePrefix(dir: string): void {
  const prefix = prefixes.get(dir)
  if (prefix) void readOn(dir, prefix)
}

/**
 * Hashes everything that has been received. Call it before the parts become a blob.
 * @param signal aborts the hashing and forgets the hash, because the upload or this instance ends
 * @throws only the reason of the signal
 */
export async function finishPrefix(dir: string, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted()
  const prefix = prefixOf(dir)
  const forget = () => forgetPrefix(dir)
  signal?.addEventListener('abort', forget)
  await prefix.reading
  await readOn(dir, prefix)
  signal?.removeEventListener('abort', forget)
  signal?.throwIfAborted()
}

/**
 * The checksums of the first `count` parts with this total size, if exactly these parts have been
 * hashed.
 */
export async function sumsOfPrefix(
  dir: string,
  count: number,
  size: number,
): Promise<PrefixSums | undefined> {
  const prefix = prefixes.get(dir)
  if (!prefix || prefix.parts !== count || prefix.bytes !== size) return undefined
  prefix.sums ??= prefix.hash.end()
  return prefix.sums.catch(() => {
    forgetPrefix(dir)
    return undefined
  })
}
