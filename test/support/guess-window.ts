import { setTimeout as sleep } from 'node:timers/promises'

const QUARTER = 900_000
/** Longer than the guesses of any test. */
const LONGEST = 25_000

/**
 * Wrong guesses are counted in quarter hours of the clock. Waits for the next quarter if the
 * current one is about to end.
 */
export async function wholeGuessWindow(): Promise<void> {
  const left = QUARTER - (Date.now() % QUARTER)
  if (left < LONGEST) await sleep(left + 10)
}
