import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { found, privateKey, put } from '../support/builders.ts'
import { type Person, startApp, type TestApp } from '../support/harness.ts'

let t: TestApp
let alice: Person
let workspaceId: string

beforeAll(async () => {
  t = await startApp()
  alice = await t.signIn('alice')
  await alice.upload('a.txt', 'x')
  await alice.rest('POST', '/api/files/quick_share', { json: { object: 'a.txt' } })
  await privateKey(t, alice)
  workspaceId = await found(alice)
  await put(alice, workspaceId, '/a.txt')
})
afterAll(() => t.stop())

const cursorOf = (key: unknown) => Buffer.from(JSON.stringify(key)).toString('base64url')
/** Contents of cursors that no list has issued. */
const forged: [string, string][] = [
  ['no base64', '🦊'],
  ['no JSON', Buffer.from('{').toString('base64url')],
  ['no list', cursorOf({ id: 1 })],
  ['nothing', cursorOf([])],
  ['an invalid id', cursorOf(['🦊'])],
  ['a time and an invalid id', cursorOf([1, '🦊'])],
  ['an invalid time', Buffer.from('[1e999,"0"]').toString('base64url')],
  ['too much', cursorOf([1, 'a', 'b'])],
]

describe('A foreign cursor with', () => {
  it.each(forged)('%s is ignored on routes without a 400', async (_what, cursor) => {
    for (const [path, list] of [
      ['/api/user/bucket', ['bucket_data', 'objects']],
      ['/api/files/shared_by_user', ['files']],
      ['/api/files/received', ['files']],
    ] as const) {
      const all = await alice.rest('GET', path)
      const { status, response } = await alice.rest(
        'GET',
        `${path}?cursor=${encodeURIComponent(cursor)}`,
      )
      expect([path, status, response]).toEqual([path, 200, all.response])
      expect(list.reduce((value, key) => value[key], response)).toBeInstanceOf(Array)
    }
  })

  it.each(forged)('%s is a 400 on other routes', async (_what, cursor) => {
    for (const path of ['/api/files/tree', `/api/workspaces/${workspaceId}/files/tree`]) {
      const { status, response } = await alice.rest(
        'GET',
        `${path}?cursor=${encodeURIComponent(cursor)}`,
      )
      // A name may be any text.
      const isName = cursor === cursorOf([1, '🦊'])
      expect([status, response.code]).toEqual(isName ? [200, undefined] : [400, 'INVALID_INPUT'])
    }
  })

  it.each(forged)('%s is INVALID_INPUT by GraphQL', async (_what, cursor) => {
    for (const list of [
      'shares',
      'receivedShares',
      'apiKeys',
      'workspaces',
      'invites',
      'drive { root { entries }',
    ]) {
      const [, within = '', field] = /^(.* )?(\w+)(?: })?$/.exec(list) ?? []
      const query = `query ($after: String) { me { ${within}${field}(after: $after) { edges { cursor } }${within && ' } }'} } }`
      expect([query, (await alice.graphql(query, { after: cursor })).code]).toEqual([
        query,
        // A name may be any text.
        within && cursor === cursorOf([1, '🦊']) ? undefined : 'INVALID_INPUT',
      ])
    }
  })
})
