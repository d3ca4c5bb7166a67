import type { Digest, Source } from './job.ts'

/** The digests of a file. Each byte is digested once, in order, when it is first needed. */
export interface Digests {
  /** MD5 of part `number` (from 1 on), in base64. */
  part(number: number, chunkSize: number): Promise<string>
  /** MD5 of the file, in lower-case hex. */
  whole(signal: AbortSignal): Promise<string>
  close(): void
}

/** Bytes between two looks at the signal. */
const STRIDE = 4 * 1024 * 1024

export function digestsOf({
  fingerprint: { size },
  ...source
}: Pick<Source<unknown>, 'fingerprint' | 'digest'>): Digests {
  let running: { digest: Digest; chunkSize: number; parts: string[]; whole?: Promise<string> } | undefined

  function begin(chunkSize: number) {
    running?.digest.close()
    running = { digest: source.digest(), chunkSize, parts: [] }
    return running
  }

  /** @param number of the last part that is needed */
  async function advance(state: NonNullable<typeof running>, number: number, signal?: AbortSignal): Promise<void> {
    const { digest, chunkSize, parts } = state
    try {
      while (parts.length < number) {
        signal?.throwIfAborted()
        parts.push(await digest.next(Math.min(chunkSize, size - parts.length * chunkSize)))
      }
    } catch (error) {
      // After a failed read it is unknown how far the digest came.
      if (!signal?.aborted) running = undefined
      throw error
    }
  }

  return {
    async part(number, chunkSize) {
      const state = running?.chunkSize === chunkSize ? running : begin(chunkSize)
      await advance(state, number)
      return state.parts[number - 1] ?? ''
    },
    async whole(signal) {
      const state = running ?? begin(STRIDE)
      await advance(state, Math.max(1, Math.ceil(size / state.chunkSize)), signal)
      state.whole ??= state.digest.end()
      return state.whole
    },
    close() {
      running?.digest.close()
      running = undefined
    },
  }
}
