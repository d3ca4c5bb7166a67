import type { TransferFailure } from '../failure.ts'
import type { Digest } from '../job.ts'

/**
 * What the worker is asked. `next` digests so many bytes more; `end` answers the MD5 of all,
 * `crc32` the sum of its bytes, in hex.
 */
export type DigestCall = { id: number; digest: number } & DigestStep
type DigestStep =
  | { kind: 'begin'; file: Blob }
  | { kind: 'next'; length: number }
  | { kind: 'end' }
  | { kind: 'close' }
  | { kind: 'crc32'; bytes: Blob }

export interface DigestAnswer {
  /** The id of the call. */
  call: number
  sum?: string | undefined
  error?: string
}

interface Failures {
  /** The file cannot be read any more. */
  unreadable(): TransferFailure
  /** @param isUnreachable whether its script could not be fetched */
  noWorker(isUnreachable: boolean): TransferFailure
}

/** Digests of files, which one worker makes. */
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
      // Only what goes wrong in a script that has been fetched comes with words.
      for (const { reject } of waiting.values()) reject(noWorker(!(event instanceof ErrorEvent)))
      waiting.clear()
    })
    return started
  }

  /** Starts the worker: later, the service may be out of reach. */
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

    /** CRC-32 of bytes, in lower-case hex, made in the worker. */
    crc32Of: (bytes: Blob): Promise<string> => ask(++ids, { kind: 'crc32', bytes }),

    /** A digest of a file, in the worker. */
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
