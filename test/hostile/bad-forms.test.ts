import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals'
import { type Person, startApp, type TestApp } from '../support/harness.ts'
import {
  BOUNDARY,
  everything,
  exchange,
  field,
  file,
  form,
  formType,
  head,
  type Part,
  sendForm,
} from '../support/wire.ts'

let t: TestApp
let alice: Person
let before: Record<string, unknown[]>

beforeAll(async () => {
  t = await startApp()
  alice = await t.signIn('alice')
  await alice.upload('keep.txt', 'hello')
  before = await everything(t)
})
afterAll(() => t.stop())

afterEach(async () => {
  const was = before
  before = await everything(t)
  if (!expected.length) expect(before).toEqual(was)
  expect((await alice.rest('GET', '/api/files/tree')).response).toMatchObject({
    folders: [],
    files: [{ name: 'keep.txt' }, ...expected.map(name => ({ name }))],
  })
  for (const name of expected.splice(0))
    await alice.rest('DELETE', `/api/files/delete?file=${name}`)
  before = await everything(t)
})

/** Names of files that the running test creates on purpose. */
const expected: string[] = []

interface Answer {
  status: number
  msg: string
  response: { code?: string; field?: string }
}
const gist = (answer: Answer | undefined) => [
  answer?.status,
  answer?.response?.code,
  answer?.response?.field,
]
const invalid = (name: string) => [400, 'INVALID_INPUT', name]

const part = (disposition: string, body = 'x', ...headers: string[]): Part => ({
  headers: [`Content-Disposition: ${disposition}`, ...headers],
  body,
})
const octets = 'Content-Type: application/octet-stream'
const whole = [field('folder', ''), file('new.txt')]

describe('A valid form for POST /api/files/upload', () => {
  const fine: [string, Buffer, Record<string, string>?][] = [
    ['the folder first', form([field('folder', '/'), file('new.txt')])],
    ['the file first', form([file('new.txt'), field('folder', '')])],
    ['only a file', form([file('new.txt')])],
    ['no bytes in the file', form([file('new.txt', '')])],
    [
      'something before the first part and after the last',
      Buffer.concat([Buffer.from('preamble\r\n'), form(whole), Buffer.from('epilogue')]),
    ],
    ['no final line break', form(whole, `--${BOUNDARY}--`)],
    ['a false boundary within the bytes', form([file('new.txt', `a\r\n--the-boundar\r\n\r\n--`)])],
    [
      'an unknown header',
      form([{ headers: [...file('new.txt').headers, 'X-Other: 1'], body: 'x' }]),
    ],
    [
      'a charset of its text',
      form([
        {
          headers: [...field('folder', '').headers, 'Content-Type: text/plain; charset=utf-8'],
          body: '',
        },
        file('new.txt'),
      ]),
    ],
    [
      'lower-case headers',
      form([
        { headers: ['content-disposition: form-data; name="file"; filename="new.txt"'], body: 'x' },
      ]),
    ],
    [
      'an encoded name with the plain name',
      form([part(`form-data; name="file"; filename="old.txt"; filename*=UTF-8''new.txt`)]),
    ],
    [
      'a form in the file',
      form([
        file(
          'new.txt',
          form([file('other.txt')])
            .toString()
            .replaceAll(BOUNDARY, 'other'),
        ),
      ]),
    ],
    [
      'a quoted boundary',
      form(whole),
      { 'content-type': `Multipart/Form-Data; charset=utf-8; Boundary="${BOUNDARY}"` },
    ],
    [
      'a boundary of 10 KB',
      Buffer.from(form(whole).toString().replaceAll(BOUNDARY, 'b'.repeat(10_000))),
      { 'content-type': `multipart/form-data; boundary=${'b'.repeat(10_000)}` },
    ],
  ]

  it.each(fine)('200 for %s', async (_what, body, headers = {}) => {
    const answer = await sendForm(t, alice, body, { headers })
    expect([answer?.status, answer?.response.code]).toEqual([200, undefined])
    expect(answer?.response.file.path).toBe('new.txt')
    expected.push('new.txt')
  })
})

describe('An invalid form for POST /api/files/upload', () => {
  const forms: [string, string, Buffer][] = [
    ['no parts', 'file', form([])],
    ['nothing', 'file', Buffer.alloc(0)],
    ['no boundary', 'file', Buffer.from('hello')],
    ['no file', 'file', form([field('folder', 'a')])],
    ['two files', 'file', form([file('new.txt'), file('other.txt')])],
    ['two files after the folder', 'file', form([...whole, file('other.txt')])],
    ['two folders', 'folder', form([field('folder', 'a'), field('folder', 'a'), file('new.txt')])],
    [
      'two folders around the file',
      'folder',
      form([field('folder', ''), file('new.txt'), field('folder', 'a')]),
    ],
    ['an unknown field', 'size', form([field('size', '1'), file('new.txt')])],
    ['an unknown field after a complete file', 'size', form([...whole, field('size', '1')])],
    ['an internal field', 'owner_id', form([field('owner_id', 'bob'), file('new.txt')])],
    [
      'a field named like a member of Object.prototype',
      '__proto__',
      form([field('__proto__', '1'), file('new.txt')]),
    ],
    ['an empty field name', 'folder', form([field('', 'a'), file('new.txt')])],
    ['no field name', 'folder', form([part('form-data'), file('new.txt')])],
    ['a file in a part of another name', 'upload', form([file('new.txt', 'x', 'upload')])],
    ['a file in a part without a name', 'file', form([part('form-data; filename="new.txt"')])],
    ['a folder with a file name', 'folder', form([file('a', 'x', 'folder'), file('new.txt')])],
    ['a file without a file name', 'file', form([part('form-data; name="file"')])],
    [
      'a file without a file name, but with a type',
      'file',
      form([part('form-data; name="file"', 'x', octets)]),
    ],
    ['an empty file name', 'file', form([file('')])],
    ['a folder of 9 KB', 'folder', form([field('folder', 'a'.repeat(9000)), file('new.txt')])],
    [
      'a folder of 9 KB after the file',
      'folder',
      form([file('new.txt'), field('folder', 'a'.repeat(9000))]),
    ],
    ['a folder of 1 MB', 'folder', form([field('folder', 'a'.repeat(1e6)), file('new.txt')])],
    [
      'a folder in an unknown charset',
      'folder',
      form([
        {
          headers: [...field('folder', '').headers, 'Content-Type: text/plain; charset=klingon'],
          body: 'a',
        },
        file('new.txt'),
      ]),
    ],
    [
      'a folder name of 10 KB',
      'a'.repeat(100),
      form([field('a'.repeat(10_000), 'x'), file('new.txt')]),
    ],
    ['a part without a disposition', 'file', form([{ headers: [octets], body: 'x' }])],
    ['a part of another kind', 'file', form([part('attachment; name="file"; filename="new.txt"')])],
    [
      'a nested form',
      'file',
      form([
        {
          headers: [
            'Content-Disposition: form-data; name="file"',
            'Content-Type: multipart/mixed; boundary=inner',
          ],
          body: '--inner\r\nContent-Disposition: file; filename="new.txt"\r\n\r\nx\r\n--inner--',
        },
      ]),
    ],
    ['10,000 folders', 'folder', form(Array(10_000).fill(field('folder', 'a')))],
    ['10,000 files', 'file', form(Array(10_000).fill(file('new.txt')))],
    [
      '10,000 parts without a disposition',
      'file',
      form([...Array(10_000).fill({ headers: ['X: y'] }), file('new.txt')]),
    ],
    [
      '10,000 parts after a complete file',
      'file',
      form([...whole, ...Array(10_000).fill({ headers: ['X: y'] })]),
    ],
    [
      'a header line of 1 MB',
      'file',
      form([{ headers: [`X: ${'y'.repeat(1e6)}`, ...file('new.txt').headers], body: 'x' }]),
    ],
    ['a file name of 1 MB', 'file', form([file('a'.repeat(1e6))])],
    [
      '5,000 headers in a part',
      'file',
      form([{ headers: [...Array(5000).fill('X: y'), ...file('new.txt').headers], body: 'x' }]),
    ],
    [
      'a header without a colon',
      'file',
      form([{ headers: ['X', ...file('new.txt').headers], body: 'x' }]),
    ],
    ['NUL in a header', 'file', form([file('new\0.txt')])],
    ['no final boundary', 'file', form(whole, '')],
    ['half of the final boundary', 'file', form(whole, `--${BOUNDARY}`)],
    ['truncated file bytes', 'file', form(whole).subarray(0, -30)],
    ['truncated file headers', 'file', form(whole).subarray(0, 150)],
    [
      'nothing after the headers',
      'file',
      Buffer.from(`--${BOUNDARY}\r\n${file('new.txt').headers.join('\r\n')}\r\n\r\n`),
    ],
    [
      'another boundary than the declared one',
      'file',
      Buffer.from(form(whole).toString().replaceAll(BOUNDARY, 'other')),
    ],
    [
      'line breaks of one character',
      'file',
      Buffer.from(form(whole).toString().replaceAll('\r\n', '\n')),
    ],
  ]

  it.each(forms)('400 INVALID_INPUT for %s', async (_what, name, body) => {
    const answer = await sendForm(t, alice, body)
    expect(gist(answer)).toEqual(invalid(name))
    expect(answer?.msg).not.toMatch(/undefined|busboy|Multipart:|\/node_modules/)
    expect(answer?.text.length).toBeLessThan(1000)
  })

  const types: [string, string | undefined][] = [
    ['no boundary', 'multipart/form-data'],
    ['an empty boundary', 'multipart/form-data; boundary='],
    ['another kind of multipart', `multipart/mixed; boundary=${BOUNDARY}`],
    ['a form of another kind', 'application/x-www-form-urlencoded'],
    ['JSON', 'application/json'],
    ['no type', ''],
    ['nonsense', ';;;'],
  ]
  it.each(types)('400 INVALID_INPUT for a content type that is %s', async (_what, type) => {
    expect(
      gist(await sendForm(t, alice, form(whole), { headers: { 'content-type': type ?? '' } })),
    ).toEqual(invalid('content-type'))
  })

  it('401 without a credential, whatever the form', async () => {
    for (const body of [form(whole), Buffer.from('nonsense')])
      expect((await sendForm(t, t.anonymous, body))?.status).toBe(401)
  })
})

describe('A form for a JSON route, and JSON for a form route', () => {
  it.each([
    'POST /api/folders',
    'POST /api/files/move',
    'DELETE /api/files/delete/batch',
    'PUT /api/files/5d41402abc4b2a76b9719d911017c592/note',
  ])('400 INVALID_INPUT from %s', async route => {
    const body = form([field('path', 'made')])
    const start = head(alice, route, { 'content-type': formType, 'content-length': body.length })
    expect(gist(await exchange(t.url, start + body.toString()))).toEqual(invalid('content-type'))
  })

  it('400 INVALID_INPUT from POST /api/files/upload', async () => {
    const { status, response } = await alice.rest('POST', '/api/files/upload', {
      json: { file: 'a', folder: 'b' },
    })
    expect([status, response.code, response.field]).toEqual(invalid('content-type'))
  })
})
