import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { UNHURRIED } from '../support/builders.ts'
import { type Person, startApp, type TestApp } from '../support/harness.ts'

const ROUNDS = 160

let t: TestApp

beforeAll(async () => {
  t = await startApp(UNHURRIED)
})
afterAll(() => t.stop())

const rowsOf = ({ userId }: Person) =>
  t.app.db.rows<{ id: string }>('SELECT id FROM share WHERE user_id = ?', [userId])
/** Rows of shares whose file is gone. */
const orphans = () =>
  t.app.db.rows(
    'SELECT s.id FROM share s LEFT JOIN entry e ON e.id = s.entry_id WHERE e.id IS NULL',
  )
const activeOf = async (person: Person) =>
  (await person.rest('GET', '/api/user/stats')).response.active_shares
const listedOf = async (person: Person) =>
  (await person.rest('GET', '/api/files/shared_by_user')).response.files.length

const share = {
  link: (person: Person, object: string) =>
    person.rest('POST', '/api/files/quick_share', { json: { object } }),
  'protected link': (person: Person, object: string) =>
    person.rest('POST', '/api/files/quick_share', { json: { object, password: 'secret' } }),
  direct: (person: Person, object: string) =>
    person.rest('POST', '/api/files/share', {
      json: { email: 'bob@example.com', objects: [object] },
    }),
  graph: async (person: Person, object: string) => {
    const query =
      'mutation ($input: CreateLinkInput!) { createLink(input: $input) { share { token } } }'
    const { code } = await person.graphql(query, { input: { entries: { at: { path: object } } } })
    return { status: code ? 400 : 200, response: { code } }
  },
}

const remove = {
  'the file': (person: Person, path: string) =>
    person.rest('DELETE', `/api/files/delete?file=${path}`),
  'several files': (person: Person, path: string) =>
    person.rest('DELETE', '/api/files/delete/batch', { json: { files: [path] } }),
  'its folder': (person: Person, path: string) =>
    person.rest('DELETE', `/api/folders?path=${path.split('/')[0]}&recursive=true`),
}

describe('Shares that are created while their file is deleted', () => {
  it.each(Object.keys(share) as (keyof typeof share)[])(
    'by %s: leave nothing in the table, the lists and the counts',
    async way => {
      const person = await t.signIn(`owner-of-${way.replace(' ', '-')}`)
      const ways = Object.values(remove)
      const paths = Array.from(
        { length: way === 'link' ? ROUNDS : ROUNDS / 4 },
        (_, i) => `f${i}/a.txt`,
      )
      for (let i = 0; i < paths.length; i += 20)
        await Promise.all(paths.slice(i, i + 20).map(path => person.upload(path, 'x')))
      const made: number[] = []
      // In groups small enough that no request is refused for lack of a connection.
      for (let i = 0; i < paths.length; i += 20)
        made.push(
          ...(await Promise.all(
            paths.slice(i, i + 20).map(async (path, j) => {
              const deleting = (ways[(i + j) % ways.length] as (typeof ways)[0])(person, path)
              const sharing = share[way](person, path)
              const [deleted, shared] = await Promise.all([deleting, sharing])
              expect(deleted.status).toBe(200)
              if (shared.status !== 200)
                expect([shared.response.code, t.failures()]).toEqual(['FILE_NOT_FOUND', []])
              return shared.status
            }),
          )),
        )
      // The test proves something only if both outcomes of the race occurred.
      expect(made.length).toBe(paths.length)
      expect([await activeOf(person), await listedOf(person)]).toEqual([0, 0])
      await t.settle()
      expect(await orphans()).toEqual([])
      expect(await rowsOf(person)).toEqual([])
      expect(await activeOf(person)).toBe(0)
    },
    120_000,
  )

  it('have the same count and list after a folder was deleted', async () => {
    const person = await t.signIn('keeper')
    for (const path of ['kept/a.txt', 'kept/b.txt', 'gone/c.txt']) await person.upload(path, path)
    for (const path of ['kept/a.txt', 'gone/c.txt'])
      expect((await share.link(person, path)).status).toBe(200)
    await t.app.worker.stop()
    expect((await remove['its folder'](person, 'gone/c.txt')).status).toBe(200)
    // A deleted file can neither be shared nor is it counted. Other files can be shared.
    expect(await rowsOf(person)).toHaveLength(1)
    expect([await activeOf(person), await listedOf(person)]).toEqual([1, 1])
    for (const way of Object.values(share)) {
      expect((await way(person, 'kept/b.txt')).status).toBe(200)
      expect((await way(person, 'gone/c.txt')).response.code).toBe('FILE_NOT_FOUND')
    }
    expect(await activeOf(person)).toBe(await listedOf(person))
    t.app.worker.start()
    await t.settle()
    expect(await orphans()).toEqual([])
  })
})
