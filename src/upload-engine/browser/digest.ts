import type { TransferFailure } from '../failure.ts'
import type { Digest } from '../job.ts'

/**
 * A request to the worker. `next` hashes more bytes. `end` returns the MD5 of all bytes, and
 * `crc32` the checksum of its own bytes, in hex.
 */
export type DigestCall = { id: number; digest: number } & DigestStep
type DigestStep =
  | { kind: 'begin'; file: Blob }
  | { kind: 'next'; length: number }
  | { kind: 'end' }
  | { kind: 'close' }
  | { kind: 'crc32'; bytes: Blob }

export interface DigestAnswer {
  /** Id of the call. */
  call: number
  sum?: string | undefined
  error?: string
}

interface Failures {
  /** The file can no longer be read. */
  unreadable(): TransferFailure
  /** @param isUnreachable whether its script could not be fetched */
  noWorker(isUnreachable: boolean): TransferFailure
}

/** Hashes files in one shared worker. */
export function fileDigests({ unreadable, noWorker }: Failures) {
  let worker: Worker | undefined
  let ids = 0
  const waiting = new Map<
    number,
    { resolve: (sum: string) => void; reject: (error: unknown) => void }
  >()

  function start(): Worker {
    const started = new Worker(new URL('./digest-worker.ts', import.meta.url), {
      type: 'module',
      name: 'digests',
    })
    started.addEventListener(
      'message',
      ({ data: { call, sum = '', error } }: MessageEvent<DigestAnswer>) => {
        const caller = waiting.get(call)
        waiting.delete(call)
        if (error === undefined) caller?.resolve(sum)
        else caller?.reject(unreadable())
      },
    )
    started.addEventListener('error', event => {
      worker = undefined
      // The event has a message only if the script was fetched and then failed.
      for (const { reject } of waiting.values()) reject(noWorker(!(event instanceof ErrorEvent)))
      waiting.clear()
    })
    return started
  }

  /** Starts the worker early, because the service may be unreachable later. */
  const prepare = (): Worker => {
    worker ??= start()
    return worker
  }

  const ask = (digest: number, step: DigestStep) =>
    new Promise<string>((resolve, reject) => {
      const id = ++ids
      waiting.set(id, { resolve, reject })
      prepare().postMessage({ id, digest, ...step } satisfies DigestCall)
    })

  return {
    prepare,

    /** CRC-32 of bytes, in lower-case hex, computed in the worker. */
    crc32Of: (bytes: Blob): Promise<string> => ask(++ids, { kind: 'crc32', bytes }),

    /** A digest of a file, computed in the worker. */
    digestOf(file: Blob): Digest {
      const digest = ++ids
      const call = (step: DigestStep) => ask(digest, step)
      const begun = call({ kind: 'begin', file })
      begun.catch(() => {})
      return {
        async next(length) {
          await begun
          await call({ kind: 'next', length })
        },
        end: () => call({ kind: 'end' }),
        close: () => void call({ kind: 'close' }).catch(() => {}),
      }
    },
  }
}
