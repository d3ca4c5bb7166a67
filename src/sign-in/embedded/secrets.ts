import { randomBytes, randomUUID } from 'node:crypto'
import { link, mkdir, open, readFile, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { isNativeError } from 'node:util/types'

/**
 * Reads the secret in a file, which the first start creates. The file is created atomically, and
 * concurrent starts get the same secret.
 * @returns 32 random bytes in base64url, or the operator's own content of the file, of at least 32
 * characters
 * @throws Error when the file contains less
 */
export async function readOrMakeSecret(file: string): Promise<string> {
  return (await readSecret(file)) ?? (await makeSecret(file))
}

/**
 * The secret of a file; undefined if there is no such file.
 * @throws Error when it contains less than 32 characters
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
      // Synced before it is renamed, so that the file is not empty after a power cut.
      await handle.sync()
    } finally {
      await handle.close()
    }
    // Unlike a rename, this fails if another start was faster. That start's secret is then used.
    await link(draft, file).catch(unless('EEXIST'))
  } finally {
    await rm(draft, { force: true })
  }
  const kept = await readSecret(file)
  if (kept === undefined) throw new Error(`${file} disappeared while it was being created.`)
  return kept
}

/** Returns an error handler that ignores this error code, and rethrows all other errors. */
function unless(code: string) {
  return (error: unknown): undefined => {
    if (isNativeError(error) && 'code' in error && error.code === code) return undefined
    throw error
  }
}
