import { setTimeout as sleep } from 'node:timers/promises'

type Truthy<T> = Exclude<T, false | null | undefined | 0 | ''>

/**
 * Waits until a condition is truthy. Returns its value. The time limit only has to stop a test that
 * hangs, on a machine with ten times the load of its cores.
 * @throws Error if that takes too long
 */
export async function until<T>(
  met: () => T | Promise<T>,
  ms = 120_000,
  pause = 10,
): Promise<Truthy<T>> {
  for (const end = Date.now() + ms; ; await sleep(pause)) {
    const value = await met()
    if (value) return value as Truthy<T>
    if (Date.now() > end) throw new Error(`Not within ${ms} ms: ${met}`)
  }
}

/** Waits until a check passes. @throws the last error of the check if that takes too long */
export async function eventually(
  check: () => Promise<void>,
  ms = 120_000,
  pause = 250,
): Promise<void> {
  for (const end = Date.now() + ms; ; await sleep(pause))
    try {
      return await check()
    } catch (error) {
      if (Date.now() > end) throw error
    }
}
