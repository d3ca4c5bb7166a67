import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { runBuilt } from '../support/built-service.ts'
import { newDatabase, startApp, type TestApp } from '../support/harness.ts'
import {
  createFirst,
  PASSWORD,
  passwordSignIn,
  send,
  visit,
  whoIs,
} from '../support/own-accounts.ts'
import { Browser } from '../unit/sign-in-browser.ts'

describe('npm run admin -- account', () => {
  let t: TestApp
  let dir: string
  let database: Awaited<ReturnType<typeof newDatabase>>
  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'satchel-admin-account-'))
    database = await newDatabase()
    t = await startApp({ SIGN_IN: 'accounts', DATABASE_URL: database.url })
    await createFirst(t)
  })
  afterAll(async () => {
    await t.stop()
    await database.drop()
    rmSync(dir, { recursive: true, force: true })
  })

  const admin = (...args: string[]) =>
    runBuilt('admin.ts', ['account', ...args], {
      DATA_DIR: dir,
      DATABASE_URL: database.url,
      SIGN_IN: 'accounts',
      PUBLIC_URL: t.url,
    })
  const linkIn = ({ out }: { out: string }) => /http\S+/.exec(out)?.[0] ?? ''

  it('create makes a link with which a person creates an account', async () => {
    const bob = new Browser()
    await visit(bob, linkIn(await admin('create', 'bob@example.com')))
    await send(bob, { name: 'Bob', password: PASSWORD })
    expect(await whoIs(t, bob)).toBe('bob@example.com')
  })

  it('reset makes a link for a new password, with --all without the second factor', async () => {
    await t.app.db.Login.update(
      { totp: 'lost', factorAt: 1 },
      { where: { email: 'bob@example.com' } },
    )
    const bob = new Browser()
    await visit(bob, linkIn(await admin('reset', 'bob@example.com', '--all')))
    const password = 'a lantern for the quiet harbour'
    await send(bob, { password })
    const again = await passwordSignIn(t, { email: 'bob@example.com', password })
    expect(await whoIs(t, again.browser)).toBe('bob@example.com')
    const kinds = (await t.app.db.Event.findAll({ raw: true })).map(({ kind }) => kind)
    expect(kinds).toEqual(expect.arrayContaining(['account.reset', 'password.changed']))
  })

  it('list shows how people sign in', async () => {
    const { out } = await admin('list')
    expect(out).toMatch(/bob@example\.com\s+Bob\s+password\s+\d{4}-\d\d-\d\d/)
  })

  it('reports errors', async () => {
    const { code, err } = await admin('create', 'bob@example.com')
    expect(code).toBe(1)
    expect(err).toContain('There is an account with this address.')
  })
})
