import { afterAll, afterEach, beforeAll, expect } from '@jest/globals'
import type { TestApp } from './harness.ts'
import { everything } from './wire.ts'

/**
 * Runs a service for a file of tests that must all leave everything as it was: rows and objects,
 * the process itself, and a log that tells of no failure of ours.
 * @param start makes it, with what is to stay
 * @param pause milliseconds after each test: what a client has cut, the service may not even have
 * taken up
 * @returns `accept`, for a test that changes something on purpose: some tables, or everything
 */
export function leaveUntouched(
  start: () => Promise<TestApp>,
  pause = 0,
): { accept(...parts: string[]): Promise<void> } {
  let t: TestApp
  let before: Record<string, unknown[]> = {}
  const surprises: unknown[] = []
  let told = 0
  const remember = (reason: unknown) => surprises.push(reason)

  beforeAll(async () => {
    process.on('unhandledRejection', remember)
    process.on('uncaughtException', remember)
    t = await start()
    before = await everything(t)
  })
  afterAll(async () => {
    await t.stop()
    process.off('unhandledRejection', remember)
    process.off('uncaughtException', remember)
  })
  afterEach(async () => {
    await new Promise(resolve => setTimeout(resolve, pause))
    const was = before
    before = await everything(t)
    const failures = t.failures().slice(told)
    told += failures.length
    expect([before, surprises.splice(0), failures]).toEqual([was, [], []])
  })
  return {
    async accept(...parts) {
      const now = await everything(t)
      before =
        parts.length === 0
          ? now
          : { ...before, ...Object.fromEntries(parts.map(part => [part, now[part] ?? []])) }
    },
  }
}
