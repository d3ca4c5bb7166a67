import { afterAll, afterEach, beforeAll, expect } from '@jest/globals'
import type { TestApp } from './harness.ts'
import { everything } from './wire.ts'

/**
 * Runs a service for a file of tests that must not change anything: rows, objects, the process
 * itself, or the log of internal errors.
 * @param start starts the service with the data that must stay
 * @param pause milliseconds after each test, because the service may not have read yet what a
 * disconnected client sent
 * @returns `accept`, for a test that changes some tables or everything on purpose
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
