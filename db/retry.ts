import pRetry from 'p-retry'
import { causesOf } from '../src/errors.ts'

/** What the engine asks to be tried again: a deadlock, a lock that took too long, a busy SQLite. */
const transient = new Set([
  'ER_LOCK_DEADLOCK',
  'ER_LOCK_WAIT_TIMEOUT',
  'ER_CHECKREAD',
  'SQLITE_BUSY',
  'SQLITE_LOCKED',
  'SQLITE_PROTOCOL',
])

/** Milliseconds after which nothing is tried again: whoever waits is to be told within ten seconds. */
const PATIENCE = 4000

/** Whether the same work may succeed a moment later. Codes alone tell: a sentence may quote what somebody has called a file. */
export const isTransient = (error: unknown): boolean =>
  [...causesOf(error)].some(({ code }) => transient.has(String(code)))

/** Whether a unique index refused a row. */
export const isRefusedByIndex = (error: unknown): boolean =>
  [...causesOf(error)].some(
    ({ code, message }) =>
      code === 'ER_DUP_ENTRY' ||
      (code === 'SQLITE_CONSTRAINT' && String(message).startsWith('SQLITE_CONSTRAINT: UNIQUE')),
  )

/** Native errors are of another realm in a sandbox, and p-retry refuses what is no Error of its own. */
function ofThisRealm(error: unknown): never {
  throw error instanceof Error ? error : Object.assign(new Error(String([...causesOf(error)].at(-1)?.message)), error)
}

/** Does work again when the engine asks for that, for some seconds. */
export function retried<T>(work: () => Promise<T>): Promise<T> {
  return pRetry(() => work().catch(ofThisRealm), {
    // As often as the time allows: SQLite refuses at once what MySQL would wait for.
    retries: 20,
    minTimeout: 10,
    maxTimeout: 500,
    randomize: true,
    maxRetryTime: PATIENCE,
    shouldRetry: isTransient,
  })
}
