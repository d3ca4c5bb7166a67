import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { readOrMakeSecret } from '../../src/sign-in/embedded/secrets.ts'

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'satchel-secrets-'))
})

afterEach(() => rm(folder, { recursive: true, force: true }))

const permissions = async (path: string) => ((await stat(path)).mode & 0o777).toString(8)

describe('readOrMakeSecret', () => {
  it('creates 32 random bytes in base64url', async () => {
    const secret = await readOrMakeSecret(join(folder, 'secret.key'))
    expect(secret).toMatch(/^[\w-]{43}$/)
    expect(Buffer.from(secret, 'base64url')).toHaveLength(32)
    expect(await readOrMakeSecret(join(folder, 'other.key'))).not.toBe(secret)
  })

  it('returns the same secret at every later start', async () => {
    const file = join(folder, 'secret.key')
    const secret = await readOrMakeSecret(file)
    expect(await readOrMakeSecret(file)).toBe(secret)
    expect((await readFile(file, 'utf8')).trim()).toBe(secret)
  })

  it('creates a secret and folders that only the owner can read', async () => {
    const file = join(folder, 'data', 'keys', 'secret.key')
    await readOrMakeSecret(file)
    expect(await permissions(file)).toBe('600')
    expect(await permissions(join(folder, 'data', 'keys'))).toBe('700')
    expect(await permissions(join(folder, 'data'))).toBe('700')
  })

  it('keeps the permissions of an existing folder', async () => {
    await mkdir(join(folder, 'data'))
    await chmod(join(folder, 'data'), 0o755)
    await readOrMakeSecret(join(folder, 'data', 'secret.key'))
    expect(await permissions(join(folder, 'data'))).toBe('755')
  })

  it('makes concurrent starts agree on one secret, and leaves nothing else behind', async () => {
    const file = join(folder, 'data', 'secret.key')
    const secrets = await Promise.all(Array.from({ length: 50 }, () => readOrMakeSecret(file)))
    expect(new Set(secrets).size).toBe(1)
    expect(await readdir(join(folder, 'data'))).toEqual(['secret.key'])
  })

  it('accepts a secret from an operator, without surrounding white space', async () => {
    const file = join(folder, 'secret.key')
    await writeFile(file, `  ${'s'.repeat(32)}\r\n`)
    expect(await readOrMakeSecret(file)).toBe('s'.repeat(32))
  })

  it.each([
    ['empty', '', 0],
    ['white space', ' \n', 0],
    ['too short', 's'.repeat(31), 31],
  ])('refuses a file that is %s, and leaves it unchanged', async (_what, text, length) => {
    const file = join(folder, 'secret.key')
    await writeFile(file, text)
    await expect(readOrMakeSecret(file)).rejects.toThrow(
      `${file} must contain a secret of 32 characters or more, but has ${length}.`,
    )
    expect(await readFile(file, 'utf8')).toBe(text)
  })

  it('explains why a path is not a file, or cannot be written', async () => {
    await expect(readOrMakeSecret(folder)).rejects.toThrow(/EISDIR/)
    await writeFile(join(folder, 'file'), '')
    await expect(readOrMakeSecret(join(folder, 'file', 'secret.key'))).rejects.toThrow(/ENOTDIR/)
  })
})
