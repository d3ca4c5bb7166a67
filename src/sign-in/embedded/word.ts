import { randomInt, randomUUID } from 'node:crypto'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { isSame } from '../../runtime/tokens.ts'

/** A one-time word in a file in DATA_DIR, which only a person on this machine can read. */
export interface SignInWord {
  file: string
  current(): Promise<string>
  /** Whether this is the word. A match replaces the word in the file. */
  redeem(typed: string): Promise<boolean>
}

// No characters that look alike. 16 characters are 79 bits, so guesses need no limit.
const alphabet = 'abcdefghjkmnpqrstuvwxyz23456789'
const groups = 4

/** Writes a new word into a file that only the user of this process may read. */
export async function openSignInWord(file: string): Promise<SignInWord> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  await renew(file)
  let last: Promise<unknown> = Promise.resolve()

  // Read from the file each time: several instances of one machine may share the folder.
  const current = async () => (await readFile(file, 'utf8').catch(() => renew(file))).trim()

  async function check(typed: string): Promise<boolean> {
    if (!isSame(typed.trim().toLowerCase(), await current())) return false
    await renew(file)
    return true
  }

  return {
    file,
    current,
    redeem(typed) {
      // Serialized, because otherwise two browsers could use the same word.
      const result = last.then(() => check(typed))
      last = result.catch(() => {})
      return result
    },
  }
}

async function renew(file: string): Promise<string> {
  const group = () => Array.from({ length: 4 }, () => alphabet[randomInt(alphabet.length)]).join('')
  const word = Array.from({ length: groups }, group).join('-')
  const draft = `${file}.${randomUUID()}`
  await writeFile(draft, `${word}\n`, { mode: 0o600, flag: 'wx' })
  await rename(draft, file)
  return word
}
