import { resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { ask } from '../support/ask.ts'
import { found, join, privateKey } from '../support/builders.ts'
import { COMPILED } from '../support/built-service.ts'
import { runWarm } from '../support/command-line.ts'
import { newDatabase, type Person, startApp, type TestApp } from '../support/harness.ts'
import { aTime } from '../support/shapes.ts'

let database: Awaited<ReturnType<typeof newDatabase>>
let t: TestApp
let olga: Person

beforeAll(async () => {
  database = await newDatabase()
  t = await startApp({ DATABASE_URL: database.url, OPERATORS: 'olga@example.com' })
  olga = await t.signIn('olga')
})
afterAll(async () => {
  await t?.stop()
  await database?.drop()
})

const remove = (who: Person, { userId, email }: Person, more: object = {}) =>
  who.graphql<{ operatorDeleteAccount: { deletedId: string; driveExpiresAt: string | null } }>(
    'mutation ($input: OperatorDeleteAccountInput!) { operatorDeleteAccount(input: $input) { deletedId driveExpiresAt } }',
    { input: { account: `account:${userId}`, email, deleteFiles: false, ...more } },
  )

const isIn = async (who: Person) => (await who.rest('GET', '/api/user/data')).status === 200
const pathsOf = async (who: Person) =>
  (
    await ask(who, '{ me { drive { root { entries { nodes { name } } } } } }')
  ).me.drive.root.entries.nodes.map(({ name }: { name: string }) => name)

const admin = async (...args: string[]) => {
  const { code, out, err } = await runWarm({
    program: resolve('src/admin.ts'),
    args: [...args, '--json'],
    stdin: '',
    cwd: process.cwd(),
    env: { ...COMPILED, PATH: process.env.PATH ?? '', DATABASE_URL: database.url },
  })
  return code === 0 ? JSON.parse(out) : { code, err }
}

describe('An operator', () => {
  it('deletes an account and keeps its files for the same verified address', async () => {
    const alice = await t.signIn('alice')
    await alice.upload('a.txt', 'a')
    const key = await privateKey(t, alice)
    const { data } = await remove(olga, alice)
    expect(data?.operatorDeleteAccount).toEqual({ deletedId: alice.userId, driveExpiresAt: aTime })
    expect([await isIn(alice), await isIn(key.caller)]).toEqual([false, false])
    const { operator } = await ask(
      olga,
      '{ operator { auditTrail(filter: { kinds: [ACCOUNT_DELETED] }) { nodes { operator { id } via subjectId } } } }',
    )
    expect(operator.auditTrail.nodes).toEqual([
      { operator: { id: olga.userId }, via: 'OPERATOR', subjectId: alice.userId },
    ])
    const back = await t.signIn('alice')
    expect(back.userId).not.toBe(alice.userId)
    expect(await pathsOf(back)).toEqual(['a.txt'])
  })

  it('deletes the files, too, on request', async () => {
    const bob = await t.signIn('bob')
    await bob.upload('b.txt', 'b')
    const { data } = await remove(olga, bob, { deleteFiles: true })
    expect(data?.operatorDeleteAccount.driveExpiresAt).toBeNull()
    expect(await pathsOf(await t.signIn('bob'))).toEqual([])
  })

  it('confirms the address, and deletes neither operators of the setting nor the last owner', async () => {
    const [carol, dora] = [await t.signIn('carol'), await t.signIn('dora')]
    expect((await remove(olga, carol, { email: 'dora@example.com' })).code).toBe('INVALID_INPUT')
    expect((await remove(olga, olga)).code).toBe('FORBIDDEN')
    const nobody = { ...carol, userId: '00000000-0000-4000-8000-000000000000' }
    expect((await remove(olga, nobody)).code).toBe('USER_NOT_FOUND')
    expect((await remove(carol, dora)).code).toBe('FORBIDDEN')
    const id = await found(carol)
    await join(t, id, dora, 'editor')
    expect((await remove(olga, carol)).code).toBe('LAST_OWNER')
    expect(await isIn(carol)).toBe(true)
    await join(t, id, dora, 'owner')
    expect((await remove(olga, carol)).code).toBeUndefined()
    expect(await isIn(carol)).toBe(false)
    expect(await isIn(dora)).toBe(true)
  })

  it('deletes an account on the command line', async () => {
    const erin = await t.signIn('erin')
    expect(await admin('delete-user', erin.email, '--confirm', 'other@example.com')).toEqual({
      code: 1,
      err: 'This account has another e-mail address.\n',
    })
    expect(
      await admin('delete-user', erin.email, '--confirm', erin.email, '--delete-files'),
    ).toEqual({ deleted: { id: erin.userId, email: erin.email, files_kept_until: null } })
    expect(await isIn(erin)).toBe(false)
    expect(await admin('delete-user', erin.email, '--confirm', erin.email)).toMatchObject({
      code: 1,
    })
  })
})
