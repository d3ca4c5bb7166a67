import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { UNHURRIED } from '../support/builders.ts'
import { basic } from '../support/dav-client.ts'
import { newDatabase, type Person, signInTo, startApp, type TestApp } from '../support/harness.ts'
import { until } from '../support/until.ts'

/** How a credential is used and revoked. */
interface Used {
  path: string
  headers: Record<string, string>
  revoke: () => Promise<unknown>
}

/** Concurrent requests at each of the two instances. */
const AT_ONCE = 16

describe('A credential under concurrent use on two instances', () => {
  let database: Awaited<ReturnType<typeof newDatabase>>
  let near: TestApp
  let far: TestApp

  beforeAll(async () => {
    database = await newDatabase()
    const settings = {
      ...UNHURRIED,
      DATABASE_URL: database.url,
      SECRET_KEY: randomBytes(32).toString('base64url'),
    }
    near = await startApp(settings)
    far = await startApp(settings)
  })
  afterAll(async () => {
    await near?.stop()
    await far?.stop()
    await database?.drop()
  })

  /** Reads continuously with a credential while it is revoked. */
  async function readWhile({ path, headers, revoke }: Used) {
    const seen: { sent: number; answered: number; status: number }[] = []
    let goesOn = true
    const read = async ({ url }: TestApp) => {
      while (goesOn) {
        const sent = performance.now()
        const answer = await fetch(`${url}${path}`, { headers })
        await answer.arrayBuffer()
        seen.push({ sent, answered: performance.now(), status: answer.status })
      }
    }
    const readers = [near, far].flatMap(app => Array.from({ length: AT_ONCE }, () => read(app)))
    await until(() => seen.length > 2 * AT_ONCE)
    const begun = performance.now()
    await revoke()
    const revoked = performance.now()
    // Waits until every reader has sent two more requests.
    await until(() => seen.filter(({ sent }) => sent > revoked).length > 4 * AT_ONCE)
    goesOn = false
    await Promise.all(readers)
    const statusesOf = (some: typeof seen) => some.map(({ status }) => status)
    return {
      before: statusesOf(seen.filter(({ answered }) => answered < begun)),
      after: statusesOf(seen.filter(({ sent }) => sent > revoked)),
    }
  }

  async function keyOf(person: Person) {
    const json = { name: 'reader', scopes: ['private_files:read'] }
    const { response } = await person.rest('POST', '/api/api_keys/private/create', { json })
    const { id, key } = response.api_key
    const revoke = () =>
      person.rest('DELETE', '/api/api_keys/private/delete', { json: { api_key_id: id } })
    return { key: String(key), revoke }
  }

  const path = '/api/files/tree'
  const revocations: Record<string, (person: Person) => Promise<Used>> = {
    async session(person) {
      const other = await signInTo(near.app.db, near.url, person.email)
      const { data } = await other.graphql<{
        me: { sessions: { id: string; current: boolean }[] }
      }>('{ me { sessions { id current } } }')
      const session = data?.me.sessions.find(({ current }) => current)?.id
      const end = 'mutation ($input: EndSessionInput!) { endSession(input: $input) { endedId } }'
      return {
        path,
        headers: { cookie: other.cookie },
        revoke: () => person.graphql(end, { input: { session } }),
      }
    },
    async 'API key'(person) {
      const { key, revoke } = await keyOf(person)
      return { path, headers: { 'x-api-key': key }, revoke }
    },
    async 'password of WebDAV'(person) {
      const { key, revoke } = await keyOf(person)
      return { path: '/dav/files/', headers: { authorization: basic(person.email, key) }, revoke }
    },
  }

  it.each(Object.keys(revocations))(
    '%s: is refused from the moment its revocation is answered',
    async kind => {
      const person = await near.signIn(`owner-of-${kind.replaceAll(' ', '-')}`)
      const used = await revocations[kind]?.(person)
      if (!used) throw new Error(kind)
      const { before, after } = await readWhile(used)
      // A password that is wrong ten times is also slowed down.
      const refused = (status: number) =>
        kind === 'password of WebDAV' && status === 429 ? 401 : status
      expect([new Set(before), new Set(after.map(refused))]).toEqual([
        new Set([200]),
        new Set([401]),
      ])
      expect(after.length).toBeGreaterThan(2 * AT_ONCE)
    },
  )
})
