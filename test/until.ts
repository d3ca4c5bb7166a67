import { setTimeout as sleep } from 'node:timers/promises'

/** Waits until a condition is met. @throws Error when that takes too long */
export async function until(met: () => boolean | Promise<boolean>, ms = 15_000, pause = 10): Promise<void> {
  for (const end = Date.now() + ms; !(await met()); await sleep(pause))
    if (Date.now() > end) throw new Error(`Not within ${ms} ms: ${met}`)
}
