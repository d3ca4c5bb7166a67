import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { type Db, openDatabase } from '../../../db/index.ts'
import { readConfig } from '../../../src/config/config.ts'
import { loginLinkService } from '../../../src/services/accounts/login-link.ts'
import { sessionService } from '../../../src/services/accounts/session.ts'
import { type BuiltService, startBuilt } from '../../support/built-service.ts'
import { newDatabase } from '../../support/harness.ts'
import { PASSWORD } from '../../support/own-accounts.ts'
import { rounds } from '../../support/rounds.ts'

declare const engine: 'sqlite' | 'mysql'

/**
 * People of each kind. Their passwords are hashed one after another, so a kill hits one of them.
 */
const PEOPLE = 4

let service: BuiltService
let settings: Record<string, string>
let db: Db
let tidyUp: () => Promise<void>

beforeAll(async () => {
  const dir = mkdtempSync(join(tmpdir(), 'satchel-kill-accounts-'))
  const database = engine === 'mysql' ? await newDatabase() : { url: '', drop: async () => {} }
  settings = { DATA_DIR: dir, DATABASE_URL: database.url, SIGN_IN: 'accounts' }
  service = await startBuilt(settings)
  db = openDatabase(readConfig(settings).database, { pool: 4 })
  tidyUp = async () => {
    await service.end('SIGKILL')
    await db.close()
    await database.drop()
    rmSync(dir, { recursive: true, force: true })
  }
})
afterAll(() => tidyUp())

const links = () => loginLinkService({ db, publicUrl: () => service.url, smtpUrl: '' })

/** Sends the form of a link while the service runs. @returns the status, or 0 */
async function post(url: string, form: Record<string, string> = {}): Promise<number> {
  const init = { method: 'POST', body: new URLSearchParams(form), redirect: 'manual' } as const
  return fetch(url, init).then(
    answer => answer.status,
    () => 0,
  )
}

async function makeLink(
  kind: 'invite' | 'reset' | 'address-to',
  email: string,
  userId: string | null = null,
): Promise<string> {
  const page = kind === 'address-to' ? 'address' : kind
  const secret = await links().makeLink(kind, { email, name: '', userId, madeBy: null })
  return links().urlOf(page, secret)
}

async function create(email: string): Promise<string> {
  expect(await post(await makeLink('invite', email), { password: PASSWORD })).toBe(303)
  return (await stateOf(email)).login?.userId ?? ''
}

/** All that a registration and a change of address write about an address. */
async function stateOf(email: string) {
  const login = await db.Login.findOne({ where: { email }, raw: true })
  return {
    login,
    users: await db.User.count({ where: { email, verifiedEmail: email } }),
    identities: await db.Identity.count({ where: { email } }),
    drives: login ? await db.Bucket.count({ where: { userId: login.userId } }) : 0,
    links: await db.LoginLink.count({ where: { email } }),
  }
}

/** The state of an address: of nobody with a link, or of one complete account without a link. */
async function isDone(email: string): Promise<boolean> {
  const { login, ...counts } = await stateOf(email)
  expect([email, counts]).toEqual([
    email,
    login
      ? { users: 1, identities: 1, drives: 1, links: 0 }
      : { users: 0, identities: 0, drives: 0, links: 1 },
  ])
  return login !== null
}

/** A reset is done if the password is new, the link used, and the session ended. */
async function isReset(userId: string, former: string | null): Promise<boolean> {
  const login = await db.Login.findOne({ where: { userId }, raw: true })
  const isNew = login?.password !== former
  const counts = [
    await db.LoginLink.count({ where: { userId } }),
    await db.Session.count({ where: { userId } }),
  ]
  expect([userId, counts]).toEqual([userId, isNew ? [0, 0] : [1, 1]])
  return isNew
}

describe('A kill in the middle of changes to accounts', () => {
  it('leaves exactly one of two states, and the rest can be done afterwards', async () => {
    const number = rounds(4, 12)
    const outcomes = { done: 0, undone: 0 }
    const count = (done: boolean) => {
      outcomes[done ? 'done' : 'undone']++
      return done
    }
    const people = []
    for (let i = 0; i < PEOPLE; i++)
      people.push({
        resets: await create(`reset${i}@example.com`),
        moves: await create(`move${i}@example.com`),
      })
    for (let round = 0; round < number; round++) {
      const tasks = []
      for (const [i, { resets, moves }] of people.entries()) {
        await db.Session.destroy({ where: { userId: resets } })
        await sessionService({ db, sessionSeconds: 3600 }).start(resets)
        const { password = null } =
          (await db.Login.findOne({ where: { userId: resets }, raw: true })) ?? {}
        const [joined, moved] = [`new${round}-${i}@example.com`, `move${round}-${i}@example.org`]
        const former =
          (await db.Login.findOne({ where: { userId: moves }, raw: true }))?.email ?? ''
        const form = { password: `${PASSWORD} ${round}` }
        tasks.push(
          { url: await makeLink('invite', joined), form, isDone: () => isDone(joined) },
          {
            url: await makeLink('reset', `reset${i}@example.com`, resets),
            form,
            isDone: () => isReset(resets, password),
          },
          {
            url: await makeLink('address-to', moved, moves),
            form: {},
            async isDone() {
              const { login, links } = await stateOf(moved)
              const old = await stateOf(former)
              expect([moved, old.users, old.identities, old.login === null, links]).toEqual(
                login ? [moved, 0, 0, true, 0] : [moved, 1, 1, false, 1],
              )
              return login !== null
            },
          },
        )
      }
      // The kill comes during the work, which takes longer on a busy machine.
      let answered = 0
      const after = (round * 5) % tasks.length
      const answers = tasks.map(({ url, form }) => post(url, form).finally(() => answered++))
      while (answered < after) await sleep(1)
      await sleep((round * 7) % 23)
      await service.end('SIGKILL')
      await Promise.all(answers)
      const before = service.url
      service = await startBuilt(settings)
      for (const { url, form, isDone } of tasks) {
        if (count(await isDone())) continue
        expect(await post(url.replace(before, service.url), form)).toBeLessThan(400)
        expect(await isDone()).toBe(true)
      }
    }
    expect(outcomes.done).toBeGreaterThan(0)
    expect(outcomes.undone).toBeGreaterThan(0)
  }, 600_000)
})
