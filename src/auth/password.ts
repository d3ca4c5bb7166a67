import { hash, verify } from '@node-rs/argon2'
import pLimit from 'p-limit'
import { InvalidInput, Unavailable } from '../errors.ts'

const longest = 128

// What OWASP advises at least for Argon2id (the library's default variant).
const cost = { memoryCost: 19 * 1024, timeCost: 2, parallelism: 1 }

// Two at a time take 38 MiB and leave half of Node's worker threads to files and DNS. The line is bounded too:
// behind a few hundred the answer would come too late to be of use.
const atOnce = pLimit(2)
const longestLine = 256

/**
 * Reads a password that somebody chooses.
 * @param field the input that is named in the error
 * @returns the password, NFC-normalised, because keyboards disagree on how to write an accent
 * @throws InvalidInput unless it has 1 to 128 characters (code points) of valid Unicode
 */
export function parsePassword(text: string, field = 'password'): string {
  const password = normalise(text)
  if (password === undefined) throw new InvalidInput(field, `A password has 1 to ${longest} characters.`)
  return password
}

/**
 * Hashes a password with Argon2id.
 * @returns a PHC string of about 97 characters, with its own salt and cost
 * @throws InvalidInput for what parsePassword refuses, Unavailable when too many wait
 */
export function hashPassword(password: string): Promise<string> {
  const text = parsePassword(password)
  return inLine(() => hash(text, cost))
}

/**
 * Whether a password is the one that was hashed. What cannot be a password is wrong, at no cost.
 * @param hashed a result of hashPassword
 * @throws Unavailable when too many wait
 */
export async function verifyPassword(hashed: string, password: string): Promise<boolean> {
  const text = normalise(password)
  return text !== undefined && inLine(() => verify(hashed, text))
}

function normalise(text: string): string | undefined {
  // NFC makes one character of four UTF-16 units at most.
  if (text.length > 4 * longest || /\p{Surrogate}/u.test(text)) return undefined
  const password = text.normalize('NFC')
  const length = [...password].length
  return length >= 1 && length <= longest ? password : undefined
}

async function inLine<T>(work: () => Promise<T>): Promise<T> {
  if (atOnce.pendingCount >= longestLine) throw new Unavailable('password check')
  return atOnce(work)
}
