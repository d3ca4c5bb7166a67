import { randomBytes, randomUUID } from 'node:crypto'
import { link, mkdir, open, readFile, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { isNativeError } from 'node:util/types'

/**
 * Reads the secret that a file keeps; the first start makes it. The file appears complete or not at
 * all, and starts at the same time agree on one secret.
 * @returns 32 random bytes in base64url, or the content that the operator put into the file: 32
 * characters or more
 * @throws Error when the file holds less
 */
export async function readOrMakeSecret(file: string): Promise<string> {
  return (await readSecret(file)) ?? (await makeSecret(file))
}

/**
 * The secret of a file; undefined if there is no such file. @throws Error when it holds less than
 * 32 characters
 */
export async function readSecret(file: string): Promise<string | undefined> {
  const text = await readFile(file, 'utf8').catch(unless('ENOENT'))
  if (text === undefined) return undefined
  const secret = text.trim()
  if (secret.length >= 32) return secret
  throw new Error(
    `${file} must contain a secret of 32 characters or more, but has ${secret.length}. Restore the former file from a backup, or delete it to get a new secret, which makes all existing tokens and links invalid.`,
  )
}

async function makeSecret(file: string): Promise<string> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  const secret = randomBytes(32).toString('base64url')
  const draft = `${file}.${randomUUID()}`
  try {
    const handle = await open(draft, 'wx', 0o600)
    try {
      await handle.writeFile(`${secret}\n`)
      // Before it has its name: after a power cut the name must not stand for an empty file.
      await handle.sync()
    } finally {
      await handle.close()
    }
    // Unlike a rename, this fails where another start was faster; then that one's secret counts.
    await link(draft, file).catch(unless('EEXIST'))
  } finally {
    await rm(draft, { force: true })
  }
  const kept = await readSecret(file)
  if (kept === undefined) throw new Error(`${file} disappeared while it was being created.`)
  return kept
}

/** A handler that answers nothing for the error of this code, and throws every other again. */
function unless(code: string) {
  return (error: unknown): undefined => {
    if (isNativeError(error) && 'code' in error && error.code === code) return undefined
    throw error
  }
}
