import type { Patience as Persistence } from '../upload-engine/retry.ts'

/** How requests are retried, and reported to an attending user. */
export interface Patience extends Persistence {
  /** Prints a line. */
  notice(line: string): void
}

export const patienceOf = ({ signal, retries, notice }: Omit<Patience, 'onRetry'>): Patience => ({
  signal,
  retries,
  notice,
  onRetry: (failure, attempt) => {
    const next =
      failure.code === 'MAINTENANCE' ? 'Waiting.' : `Trying again (${attempt} of ${retries}).`
    notice(`${failure.message} ${next}`)
  },
})
