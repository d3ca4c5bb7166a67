import { setTimeout as sleep } from 'node:timers/promises'
import { v4 as newToken } from 'uuid'
import {
  isStreamWanted,
  keepStream,
  releaseStream,
  takeStream,
  wantStream,
} from '../../../db/queries/upload-stream.ts'
import type { Core } from '../core.ts'
import { StreamHeld } from './stream-error.ts'

/** How long the claim of an instance that dies keeps others out. */
const CLAIM_MS = 5000
/**
 * How soon a request that is writing learns that another one waits, or that its caller may not go
 * on.
 */
const BEAT_MS = 1000
const LOOK_MS = 200

/**
 * Lets one request at a time write to an upload, over all instances. The newer one wins: a client
 * that comes again has given up its earlier request, which may not have noticed yet that its
 * connection is gone.
 */
export function streamWriters({ db, log }: Core<'db' | 'log'>) {
  /** Waits until nobody writes, and asks who does to end. @returns whether nobody does */
  async function waitFor(id: string, ms: number, isFree: () => Promise<boolean>): Promise<boolean> {
    for (const until = Date.now() + ms; ; await sleep(LOOK_MS)) {
      if (await isFree()) return true
      if (Date.now() >= until) return false
      await wantStream(db, id)
    }
  }

  return {
    /** Waits for so many milliseconds until no request writes. */
    quiet: (id: string, ms: number): Promise<boolean> =>
      waitFor(id, ms, async () => !(await wantStream(db, id))),

    /**
     * Writes as the only one.
     * @param goesOn is asked again and again; what it throws ends the work
     * @param work is given its token, and a signal that fires when it must end
     * @throws StreamHeld
     */
    async holding<T>(
      id: string,
      goesOn: () => Promise<void>,
      work: (writer: string, stop: AbortController) => Promise<T>,
    ): Promise<T> {
      const writer = newToken()
      const claim = () => ({ id, writer, until: Date.now() + CLAIM_MS })
      if (!(await waitFor(id, CLAIM_MS + BEAT_MS, () => takeStream(db, claim()))))
        throw new StreamHeld()
      const stop = new AbortController()
      // Also after it was asked to end: what it is storing at that moment must be there before
      // another one writes.
      const beat = async () => {
        if (!(await keepStream(db, claim())) || (await isStreamWanted(db, id)))
          throw new StreamHeld()
        await goesOn()
      }
      const timer = setInterval(() => beat().catch(error => stop.abort(error)), BEAT_MS)
      try {
        return await work(writer, stop)
      } finally {
        clearInterval(timer)
        await releaseStream(db, id, writer).catch(error =>
          log.warn({ err: error, upload: id }, 'could not release an upload; its claim expires'),
        )
      }
    },
  }
}
