import { createHash } from 'node:crypto'
import { Worker } from 'node:worker_threads'
import { hexOfCrc32 } from '../upload-engine/crc32.ts'
import { fillBlocks } from './blocks.ts'

/** CRC-32 detects transmission errors at a sixth of the cost of MD5. */
export type Algorithm = 'md5' | 'sha256' | 'crc32'

interface Job {
  /** Id of the running checksum. */
  id: number
  algorithm: Algorithm
  bytes?: Uint8Array
  end?: boolean
}

/** The code of the thread, passed as text so that it works from source and compiled. */
function hashJobs(load: NodeJS.Require, hexOf: typeof hexOfCrc32): void {
  const { createHash: create }: typeof import('node:crypto') = load('node:crypto')
  const { parentPort }: typeof import('node:worker_threads') = load('node:worker_threads')
  const { crc32 }: typeof import('node:zlib') = load('node:zlib')
  const running = new Map<
    number,
    { update(bytes: Uint8Array): unknown; digest(encoding: 'hex'): string }
  >()
  const createCrc32 = () => {
    let sum = 0
    return {
      update: (bytes: Uint8Array) => {
        sum = crc32(bytes, sum)
      },
      digest: () => hexOf(sum),
    }
  }
  parentPort?.on('message', ({ id, algorithm, bytes, end }: Job) => {
    const hash = running.get(id) ?? (algorithm === 'crc32' ? createCrc32() : create(algorithm))
    running.set(id, hash)
    if (bytes) hash.update(bytes)
    if (end) running.delete(id)
    parentPort?.postMessage(end ? hash.digest('hex') : '')
  })
}

interface Thread {
  /** Results resolve in the order of the jobs. */
  run(job: Job): Promise<string>
}
let thread: Thread | undefined
let lastId = 0

function startThread(): Thread {
  const worker = new Worker(`(${hashJobs})(require, ${hexOfCrc32})`, {
    eval: true,
    env: {},
    execArgv: [],
  })
  const waiting: { resolve: (digest: string) => void; reject: (error: Error) => void }[] = []
  let broken: Error | undefined
  // Referenced only while a job runs, so that an idle thread does not keep the process alive.
  worker.unref()
  worker.on('message', (digest: string) => {
    waiting.shift()?.resolve(digest)
    if (waiting.length === 0) worker.unref()
  })
  const breakDown = (error: Error) => {
    broken = error
    if (thread === self) thread = undefined
    for (const each of waiting.splice(0)) each.reject(error)
  }
  worker.once('error', breakDown)
  worker.once('exit', code => breakDown(new Error(`The hashing thread ended with code ${code}.`)))
  const self: Thread = {
    run: job =>
      new Promise((resolve, reject) => {
        if (broken) return reject(broken)
        if (waiting.push({ resolve, reject }) === 1) worker.ref()
        worker.postMessage(job)
      }),
  }
  return self
}

/**
 * The checksum of many blocks, computed in a worker thread on shared memory. `end` must be called,
 * also after a failure.
 */
export interface RunningHash {
  /**
   * Resolves when the bytes have been read and their memory may be reused. Shared memory is not
   * copied.
   */
  add(bytes: Uint8Array): Promise<void>
  /** Resolves to the checksum in lower-case hex. */
  end(): Promise<string>
}

export function startHash(algorithm: Algorithm): RunningHash {
  // Bound to its thread, because a new thread would lack the earlier blocks.
  const own = thread ?? startThread()
  thread = own
  lastId += 1
  const id = lastId
  let ended = false
  return {
    add: async bytes => {
      // The thread would keep an unfinished checksum forever.
      if (ended) throw new Error('This checksum has ended.')
      await own.run({ id, algorithm, bytes })
    },
    end: () => {
      ended = true
      return own.run({ id, algorithm, end: true })
    },
  }
}

/**
 * Up to this size, hashing inline is as fast as passing the bytes to the thread. Above it, hashing
 * would delay other requests.
 */
const inlineLimit = 1024 * 1024

/** MD5 of bytes in memory, in lower-case hex. */
export async function md5(bytes: Uint8Array): Promise<string> {
  if (bytes.length <= inlineLimit) return createHash('md5').update(bytes).digest('hex')
  const hash = startHash('md5')
  await hash.add(bytes)
  return hash.end()
}

/**
 * Checksums of a source in lower-case hex, and its size in bytes, in constant memory. Reads the
 * next block while one is hashed. Rejects with the error of the source.
 */
export async function digest<A extends Algorithm>(
  source: AsyncIterable<Uint8Array>,
  algorithms: readonly A[],
): Promise<{ size: number; sums: Partial<Record<A, string>> }> {
  const running = algorithms.map(algorithm => ({ algorithm, hash: startHash(algorithm) }))
  let size = 0
  let hashing: Promise<unknown> = Promise.resolve()
  try {
    for await (const block of fillBlocks(source, new AbortController().signal)) {
      await hashing
      size += block.bytes.length
      hashing = Promise.all(running.map(({ hash }) => hash.add(block.bytes))).finally(() =>
        block.release(),
      )
      // It is awaited in the next round; until then its rejection must not count as unhandled.
      hashing.catch(() => {})
    }
    await hashing
    const sums = await Promise.all(
      running.map(async ({ algorithm, hash }) => [algorithm, await hash.end()] as const),
    )
    return { size, sums: Object.fromEntries(sums) as Partial<Record<A, string>> }
  } catch (error) {
    await hashing.catch(() => {})
    for (const { hash } of running) hash.end().catch(() => {})
    throw error
  }
}
