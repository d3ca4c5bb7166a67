import pRetry from 'p-retry'
import { causesOf, isDatabaseDown } from '../src/runtime/errors.ts'

/**
 * Error codes of transient failures, after which nothing has changed: a deadlock, a lock timeout, a
 * node without its cluster, a busy SQLite.
 */
const transient = new Set([
  'ER_LOCK_DEADLOCK',
  'ER_LOCK_WAIT_TIMEOUT',
  'ER_CHECKREAD',
  'ER_UNKNOWN_COM_ERROR',
  'SQLITE_BUSY',
  'SQLITE_LOCKED',
  'SQLITE_PROTOCOL',
])

/** Milliseconds after which work is not retried: a request must end within ten seconds. */
const PATIENCE = 4000

/**
 * Whether the same work may succeed when retried. Compares only codes: a message may quote user
 * input such as a file name.
 */
export const isTransient = (error: unknown): boolean =>
  [...causesOf(error)].some(
    ({ code, isUndone }) => transient.has(String(code)) || isUndone === true,
  )

/** Whether the database could not be reached, or the connection to it was lost. */
export const isLost = (error: unknown): boolean => !isTransient(error) && isDatabaseDown(error)

/** Throws an error. If `isUndone` is true, the error permits a retry of the same work. */
export function repeatable(error: unknown, isUndone: boolean): never {
  if (isUndone && typeof error === 'object' && error) Object.assign(error, { isUndone })
  throw error
}

/** Whether a unique index refused a row. */
export const isRefusedByIndex = (error: unknown): boolean =>
  [...causesOf(error)].some(
    ({ code, message }) =>
      code === 'ER_DUP_ENTRY' ||
      (code === 'SQLITE_CONSTRAINT' && String(message).startsWith('SQLITE_CONSTRAINT: UNIQUE')),
  )

/**
 * Native errors belong to another realm in a sandbox, and p-retry accepts only an Error of its own
 * realm.
 */
function ofThisRealm(error: unknown): never {
  throw error instanceof Error
    ? error
    : Object.assign(new Error(String([...causesOf(error)].at(-1)?.message)), error)
}

/** Retries work after transient errors, for some seconds. */
export async function retried<T>(work: () => Promise<T>): Promise<T> {
  const start = performance.now()
  try {
    return await work()
  } catch (error) {
    if (!isTransient(error) || performance.now() - start >= PATIENCE) throw error
  }
  // Called only after a first failure, because p-retry computes the times of all attempts
  // beforehand.
  return pRetry(() => work().catch(ofThisRealm), {
    // As often as the time allows: SQLite refuses a lock immediately, while MySQL would wait.
    retries: 20,
    minTimeout: 10,
    maxTimeout: 500,
    randomize: true,
    maxRetryTime: PATIENCE - (performance.now() - start),
    shouldRetry: isTransient,
  })
}
