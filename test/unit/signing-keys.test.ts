import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { Db } from '../../db/index.ts'
import { openDatabase } from '../../db/index.ts'
import { migrate } from '../../db/migrate.ts'
import { createTokens } from '../../src/runtime/tokens.ts'
import { createSigningKeys } from '../../src/sign-in/embedded/signing-keys.ts'

const day = 86_400_000
const begin = 30 * day * 700

describe('The signing keys of own accounts', () => {
  const dir = mkdtempSync(join(tmpdir(), 'satchel-keys-'))
  let db: Db
  let now = begin
  const tokens = createTokens('x'.repeat(40))
  const open = (by = tokens) => createSigningKeys(db, by, () => now)
  const kids = async (keys = open()) => (await keys.current()).map(({ kid }) => kid)

  beforeAll(async () => {
    db = openDatabase({ dialect: 'sqlite', file: join(dir, 'test.sqlite') }, { pool: 1 })
    await migrate(db)
  })
  afterAll(async () => {
    await db.close()
    rmSync(dir, { recursive: true, force: true })
  })

  it('are the same for instances that start together', async () => {
    const [one, two] = await Promise.all([open().current(), open().current()])
    expect(one).toEqual(two)
    expect(one).toHaveLength(1)
    expect(one[0]).toMatchObject({ kid: 'satchel-700', kty: 'EC', alg: 'ES256' })
  })

  it('rotate each month: the next key is published before it signs, and the last one afterwards', async () => {
    const running = open()
    expect(await kids(running)).toEqual(['satchel-700'])
    now = begin + 28.5 * day
    expect(await kids(running)).toEqual(['satchel-700', 'satchel-701'])
    now = begin + 30 * day
    expect(await kids(running)).toEqual(['satchel-701', 'satchel-700'])
    expect(await kids()).toEqual(['satchel-701', 'satchel-700'])
    now = begin + 60 * day
    expect(await kids(running)).toEqual(['satchel-702', 'satchel-701'])
  })

  it('are created again when SECRET_KEY has changed', async () => {
    const before = (await open().current())[0]
    const after = (await open(createTokens('y'.repeat(40))).current())[0]
    expect(after?.kid).toBe(before?.kid)
    expect(after?.x).not.toBe(before?.x)
  })
})
