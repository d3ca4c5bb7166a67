import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { UNHURRIED } from '../builders.ts'
import { newDatabase, type Person, signInTo, startApp, type TestApp } from '../harness.ts'
import { until } from '../until.ts'

/** Requests that are under way at each of the two instances. */
const AT_ONCE = 16

describe('A credential that is used many times at once, at two instances', () => {
  let database: Awaited<ReturnType<typeof newDatabase>>
  let near: TestApp
  let far: TestApp

  beforeAll(async () => {
    database = await newDatabase()
    const settings = { ...UNHURRIED, DATABASE_URL: database.url, SECRET_KEY: randomBytes(32).toString('base64url') }
    near = await startApp(settings)
    far = await startApp(settings)
  })
  afterAll(async () => {
    await near?.stop()
    await far?.stop()
    await database?.drop()
  })

  /** Reads with a credential all the time, while it is revoked. */
  async function readWhile(headers: Record<string, string>, revoke: () => Promise<unknown>) {
    const seen: { sent: number; answered: number; status: number }[] = []
    let goesOn = true
    const read = async ({ url }: TestApp) => {
      while (goesOn) {
        const sent = performance.now()
        const answer = await fetch(`${url}/api/files/tree`, { headers })
        await answer.arrayBuffer()
        seen.push({ sent, answered: performance.now(), status: answer.status })
      }
    }
    const readers = [near, far].flatMap(app => Array.from({ length: AT_ONCE }, () => read(app)))
    await until(() => seen.length > 2 * AT_ONCE)
    const begun = performance.now()
    await revoke()
    const revoked = performance.now()
    // As long as it takes for every reader to have asked twice since.
    await until(() => seen.filter(({ sent }) => sent > revoked).length > 4 * AT_ONCE)
    goesOn = false
    await Promise.all(readers)
    const statusesOf = (some: typeof seen) => some.map(({ status }) => status)
    return {
      before: statusesOf(seen.filter(({ answered }) => answered < begun)),
      after: statusesOf(seen.filter(({ sent }) => sent > revoked)),
    }
  }

  const revocations: Record<string, (person: Person) => Promise<[Record<string, string>, () => Promise<unknown>]>> = {
    async session(person) {
      const other = await signInTo(near.app.db, near.url, person.email)
      const { data } = await other.graphql<{ me: { sessions: { id: string; current: boolean }[] } }>(
        '{ me { sessions { id current } } }',
      )
      const session = data?.me.sessions.find(({ current }) => current)?.id
      const end = 'mutation ($input: EndSessionInput!) { endSession(input: $input) { endedId } }'
      return [{ cookie: other.cookie }, () => person.graphql(end, { input: { session } })]
    },
    async 'API key'(person) {
      const json = { name: 'reader', scopes: ['private_files:read'] }
      const { response } = await person.rest('POST', '/api/api_keys/private/create', { json })
      const { id, key } = response.api_key
      return [
        { 'x-api-key': key },
        () => person.rest('DELETE', '/api/api_keys/private/delete', { json: { api_key_id: id } }),
      ]
    },
  }

  it.each(Object.keys(revocations))('%s: nobody is let in once its revocation is answered', async kind => {
    const person = await near.signIn(`owner-of-${kind.replace(' ', '-')}`)
    const [headers, revoke] = (await revocations[kind]?.(person)) ?? [{}, async () => {}]
    const { before, after } = await readWhile(headers, revoke)
    expect([new Set(before), new Set(after)]).toEqual([new Set([200]), new Set([401])])
    expect(after.length).toBeGreaterThan(2 * AT_ONCE)
  })
})
