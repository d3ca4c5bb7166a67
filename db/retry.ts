import pRetry from 'p-retry'
import { causesOf } from '../src/errors.ts'

/** What the engine asks to be tried again: a deadlock, a lock that took too long, a busy SQLite. */
const transient = /ER_LOCK_DEADLOCK|ER_LOCK_WAIT_TIMEOUT|ER_CHECKREAD|SQLITE_BUSY|SQLITE_LOCKED/

/** Milliseconds after which nothing is tried again: whoever waits is to be told within ten seconds. */
const PATIENCE = 4000

/** The engine's codes of an error and of what it wraps. */
export const codesOf = (error: unknown): string[] =>
  [...causesOf(error)].flatMap(({ code, message }) => [String(code), String(message)])

/** Whether the same work may succeed a moment later. */
export const isTransient = (error: unknown): boolean => codesOf(error).some(code => transient.test(code))

/** Native errors are of another realm in a sandbox, and p-retry refuses what is no Error of its own. */
function ofThisRealm(error: unknown): never {
  throw error instanceof Error ? error : Object.assign(new Error(codesOf(error).at(-1)), error)
}

/** Does work again when the engine asks for that, for some seconds. */
export function retried<T>(work: () => Promise<T>): Promise<T> {
  return pRetry(() => work().catch(ofThisRealm), {
    retries: 8,
    minTimeout: 10,
    maxTimeout: 500,
    randomize: true,
    maxRetryTime: PATIENCE,
    shouldRetry: isTransient,
  })
}
