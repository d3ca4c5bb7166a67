import { hash, verify } from '@node-rs/argon2'
import { Busy, InvalidInput } from '../runtime/errors.ts'
import { createFairQueue } from '../runtime/fair-queue.ts'
import type { Log } from '../runtime/log.ts'
import { MAX_PASSWORD } from '../values/limits.ts'

// OWASP's minimum for Argon2id, the library's default variant.
const cost = { memoryCost: 19 * 1024, timeCost: 2, parallelism: 1 }

// Two concurrent hashes need 38 MiB and leave half of Node's worker threads for files and DNS. With
// more than a few hundred waiting, results would come too late. The limit per key allows a page
// with a hundred pictures behind one password.
const AT_ONCE = 2
const LONGEST_LINE = 512
const LONGEST_LINE_OF_KEY = 128

const WARN_EVERY_MS = 60_000

/** Hashes and verifies link passwords, in fair turns by key: see fair-queue.ts. */
export interface Passwords {
  /**
   * Hashes a password with Argon2id.
   * @param keys the originators of the work
   * @returns a PHC string of about 97 characters, with its own salt and cost
   * @throws InvalidInput for passwords that parsePassword refuses, Busy when too many wait
   */
  hash(password: string, keys: readonly string[]): Promise<string>
  /**
   * Verifies a password. Impossible passwords are rejected without hashing.
   * @param hashed a result of hash
   * @throws Busy when too many wait
   */
  verify(hashed: string, password: string, keys: readonly string[]): Promise<boolean>
}

/**
 * @param log logs refusals, at most once a minute
 * @param atOnce the number of concurrent hashes
 */
export function createPasswords(log: Pick<Log, 'warn'>, atOnce = AT_ONCE): Passwords {
  let [refused, warnedAt] = [0, Number.NEGATIVE_INFINITY]
  const queue = createFairQueue({
    atOnce,
    longest: LONGEST_LINE,
    longestPerKey: LONGEST_LINE_OF_KEY,
    full: () => {
      refused++
      if (performance.now() - warnedAt >= WARN_EVERY_MS) {
        log.warn(
          { refused },
          'too many passwords of links wait to be checked; the callers with the most requests are refused',
        )
        warnedAt = performance.now()
        refused = 0
      }
      return new Busy(
        'Too many passwords are being checked at the moment. Try again in a few seconds.',
      )
    },
  })
  return {
    async hash(password, keys) {
      const text = parsePassword(password)
      return queue.run(keys, () => hash(text, cost))
    },
    async verify(hashed, password, keys) {
      const text = normalise(password)
      return text !== undefined && queue.run(keys, () => verify(hashed, text))
    },
  }
}

/**
 * Parses a new password.
 * @param field the input that an error names
 * @returns the password in NFC, because keyboards encode accents differently
 * @throws InvalidInput unless it has 1 to 128 characters (code points) of valid Unicode
 */
export function parsePassword(text: string, field = 'password'): string {
  const password = normalise(text)
  if (password === undefined)
    throw new InvalidInput(field, `A password has 1 to ${MAX_PASSWORD} characters.`)
  return password
}

function normalise(text: string): string | undefined {
  // NFC composes at most four UTF-16 units into one character.
  if (text.length > 4 * MAX_PASSWORD || /\p{Surrogate}/u.test(text)) return undefined
  const password = text.normalize('NFC')
  const length = [...password].length
  return length >= 1 && length <= MAX_PASSWORD ? password : undefined
}
