import { TransferFailure } from '../../upload-engine/failure.ts'
import type { Digest } from '../../upload-engine/job.ts'
import { text } from './text.ts'

/** What the worker is asked. `next` digests so many bytes more, and answers their MD5 in base64; `end` answers that of all, in hex. */
export type DigestCall = { id: number; digest: number } & DigestStep
type DigestStep = { kind: 'begin'; file: Blob } | { kind: 'next'; length: number } | { kind: 'end' } | { kind: 'close' }

export interface DigestAnswer {
  /** The id of the call. */
  call: number
  md5?: string | undefined
  error?: string
}

let worker: Worker | undefined
let ids = 0
const waiting = new Map<number, { resolve: (md5: string) => void; reject: (error: unknown) => void }>()

function start(): Worker {
  const started = new Worker(new URL('./digest-worker.ts', import.meta.url), { type: 'module', name: 'digests' })
  started.addEventListener('message', ({ data: { call, md5 = '', error } }: MessageEvent<DigestAnswer>) => {
    const caller = waiting.get(call)
    waiting.delete(call)
    if (error === undefined) caller?.resolve(md5)
    else caller?.reject(unreadable())
  })
  started.addEventListener('error', () => {
    worker = undefined
    for (const { reject } of waiting.values()) reject(new TransferFailure('UNEXPECTED', text('noWorker')))
    waiting.clear()
  })
  return started
}

/** The file on the disk was changed, moved or deleted after it was chosen. */
export const unreadable = () => new TransferFailure('FILE_CHANGED', text('fileChanged'))

/** A digest of a file, in the worker. */
export function digestOf(file: Blob): Digest {
  const digest = ++ids
  const call = (step: DigestStep) =>
    new Promise<string>((resolve, reject) => {
      const id = ++ids
      waiting.set(id, { resolve, reject })
      worker ??= start()
      worker.postMessage({ id, digest, ...step } satisfies DigestCall)
    })
  const begun = call({ kind: 'begin', file })
  begun.catch(() => {})
  return {
    async next(length) {
      await begun
      return call({ kind: 'next', length })
    },
    end: () => call({ kind: 'end' }),
    close: () => void call({ kind: 'close' }).catch(() => {}),
  }
}
