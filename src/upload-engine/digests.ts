import type { Digest, Digests, Source } from './job.ts'

/** Bytes between checks of the abort signal. */
const STRIDE = 4 * 1024 * 1024

interface Running {
  digest: Digest
  at: number
  md5?: Promise<string>
}

export function digestsOf({
  fingerprint: { size },
  ...source
}: Pick<Source<unknown>, 'fingerprint' | 'digest'>): Digests {
  let running: Running | undefined

  async function advance(state: Running, signal: AbortSignal): Promise<void> {
    try {
      while (state.at < size) {
        signal.throwIfAborted()
        const length = Math.min(STRIDE, size - state.at)
        await state.digest.next(length)
        state.at += length
      }
    } catch (error) {
      // After a failed read, the state of the digest is unknown.
      if (!signal.aborted) running = undefined
      throw error
    }
  }

  return {
    async whole(signal) {
      running ??= { digest: source.digest(), at: 0 }
      const state = running
      await advance(state, signal)
      state.md5 ??= state.digest.end()
      return state.md5
    },
    close() {
      running?.digest.close()
      running = undefined
    },
  }
}
