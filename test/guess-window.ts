import { setTimeout as sleep } from 'node:timers/promises'

const QUARTER = 900_000
/** More than any test guesses for. */
const LONGEST = 25_000

/**
 * Wrong guesses are counted in quarters of an hour, by the clock: waits for the next one where this
 * one is about to end.
 */
export async function wholeGuessWindow(): Promise<void> {
  const left = QUARTER - (Date.now() % QUARTER)
  if (left < LONGEST) await sleep(left + 10)
}
