import { describe, expect, it } from '@jest/globals'
import { type Person, startApp, type TestApp } from '../support/harness.ts'
import { leaveUntouched } from '../support/untouched.ts'
import { exchange, head } from '../support/wire.ts'

let t: TestApp
let alice: Person

leaveUntouched(async () => {
  t = await startApp()
  alice = await t.signIn('alice')
  for (const name of ['a', 'b', 'c']) await alice.upload(`keep/${name}`, name)
  return t
})

const invalid = (name: string) => [400, 'INVALID_INPUT', name]

describe('A query string', () => {
  it.each([
    'GET /api/files/tree?path=keep&path=keep',
    'GET /api/files/tree?path=keep&path=',
    'DELETE /api/files/delete?path=1&file=keep/a&file=keep/b',
    'DELETE /api/folders?path=keep&recursive=true&recursive=true',
    'POST /api/user/private/download_token?file=keep/a&file=keep/b',
    'GET /api/files/tree?limit=1&limit=2',
  ])('400 INVALID_INPUT for a repeated parameter: %s', async call => {
    const [method = '', path = ''] = call.split(' ')
    const { status, response } = await alice.rest(method, path)
    expect([status, response.code, response.field]).toEqual(
      invalid(/(path|file|recursive|limit)=[^&]*&\1/.exec(call)?.[1] ?? ''),
    )
  })

  it('is read without unknown parameters, and the body of a GET is ignored', async () => {
    const body = 'this is { no JSON'
    const start = head(alice, 'GET /api/files/tree?path=keep&PATH=x&owner_id=1&a[b]=c&=&&x', {
      'content-type': 'application/json',
      'content-length': body.length,
    })
    const answer = await exchange(t.url, start + body)
    expect([answer?.status, answer?.response.files.length]).toEqual([200, 3])
  })

  it('is read without empty parameters', async () => {
    const { status, response } = await alice.rest('GET', '/api/files/tree?path=keep&limit=&cursor=')
    expect([status, response.files.length]).toEqual([200, 3])
    const root = await alice.rest('GET', '/api/files/tree?path=')
    expect(root.response.folders).toEqual(['keep'])
  })

  it.each(['yes', '1', 'TRUE', 'tru', '0', ' true', 'true,true'])(
    '400 INVALID_INPUT for an invalid boolean: %s',
    async text => {
      const { status, response } = await alice.rest(
        'DELETE',
        `/api/folders?path=keep&recursive=${encodeURIComponent(text)}`,
      )
      expect([status, response.code, response.field]).toEqual(invalid('recursive'))
    },
  )

  const limits = [
    '0',
    '-1',
    '10001',
    'abc',
    '1.5',
    '1e3',
    ' 1',
    '1 ',
    '+1',
    '0x1',
    '٣',
    '1,2',
    '99999999999',
    '9'.repeat(400),
    '-99999999999',
    'NaN',
    'null',
    '[1]',
  ]

  it.each(limits)('400 INVALID_INPUT for a limit of %s', async limit => {
    const { status, response } = await alice.rest(
      'GET',
      `/api/files/tree?path=keep&limit=${encodeURIComponent(limit)}`,
    )
    expect([status, response.code, response.field]).toEqual(invalid('limit'))
  })

  it.each(limits)(
    'with a limit out of range uses the nearest limit on routes without a 400: %s',
    async limit => {
      const text = encodeURIComponent(limit)
      const { status, response } = await alice.rest('GET', `/api/user/bucket?limit=${text}`)
      const nearest = /^0$|^-\d+$/.test(limit) ? 1 : 3
      expect([status, response.bucket_data.objects.length]).toEqual([200, nearest])
      for (const list of ['received', 'shared_by_user'])
        expect((await alice.rest('GET', `/api/files/${list}?limit=${text}`)).response).toEqual({
          files: [],
          next_cursor: null,
        })
    },
  )

  const cursor = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const cursors = [
    'abc',
    '!!!',
    '\ud83d\ude00',
    cursor(null),
    cursor({}),
    cursor([]),
    cursor(['a']),
    cursor([0]),
    cursor([0, 1]),
    cursor(['0', 'a']),
    cursor([0, 'a', 'b']),
    cursor([0, null]),
    cursor([0, { toString: 'a' }]),
    cursor([1.5, 'a']),
    Buffer.from('[1e999,"a"]').toString('base64url'),
    cursor('x'.repeat(3000)),
  ]

  it.each(cursors)('400 INVALID_INPUT for an invalid cursor: %s', async text => {
    const { status, response } = await alice.rest(
      'GET',
      `/api/files/tree?path=keep&cursor=${encodeURIComponent(text)}`,
    )
    expect([status, response.code, response.field]).toEqual(invalid('cursor'))
  })

  it.each([...cursors, cursor(['\ud83d\ude00']), cursor([`' OR 1=1 --`]), cursor([''])])(
    'starts from the beginning on routes without a 400: %s',
    async text => {
      const { status, response } = await alice.rest(
        'GET',
        `/api/user/bucket?cursor=${encodeURIComponent(text)}`,
      )
      expect([status, response.bucket_data.objects.length]).toEqual([200, 3])
    },
  )

  it.each([
    cursor([0, '\u0000']),
    cursor([1, '\ud83d\ude00']),
    cursor([-5, `' OR 1=1 --`]),
    cursor([2 ** 52, 'a']),
  ])('shows no entries of others with a forged cursor: %s', async text => {
    const { status, response } = await alice.rest('GET', `/api/files/tree?path=keep&cursor=${text}`)
    expect(status).toBe(200)
    expect(response.files.every((f: { name: string }) => f.name.startsWith('keep/'))).toBe(true)
  })
})
