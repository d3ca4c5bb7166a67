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

/** The time for which the claim of a dead instance keeps others out, in milliseconds. */
const CLAIM_MS = 5000
/**
 * The interval at which a writing request checks whether another one waits, or its caller lost the
 * right, in milliseconds.
 */
const BEAT_MS = 1000
const LOOK_MS = 200

/**
 * Lets only one request write to an upload, across all instances. The newer request wins, because a
 * client that returns has given up its earlier request, which may not have noticed yet that its
 * connection is gone.
 */
export function streamWriters({ db, log }: Core<'db' | 'log'>) {
  /**
   * Waits until no request writes, and asks the active one to stop.
   * @returns whether no request writes
   */
  async function waitFor(id: string, ms: number, isFree: () => Promise<boolean>): Promise<boolean> {
    for (const until = Date.now() + ms; ; await sleep(LOOK_MS)) {
      if (await isFree()) return true
      if (Date.now() >= until) return false
      await wantStream(db, id)
    }
  }

  return {
    /** Waits up to this many milliseconds until no request writes. */
    quiet: (id: string, ms: number): Promise<boolean> =>
      waitFor(id, ms, async () => !(await wantStream(db, id))),

    /**
     * Runs `work` as the only writer.
     * @param goesOn runs repeatedly; its errors end the work
     * @param work receives its token and a signal that fires when it must stop
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
      // Also after a stop request: the current write must finish before another request writes.
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
