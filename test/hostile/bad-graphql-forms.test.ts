import { describe, expect, it } from '@jest/globals'
import { type Person, startApp, type TestApp } from '../support/harness.ts'
import { leaveUntouched } from '../support/untouched.ts'
import {
  BOUNDARY,
  field,
  file,
  form,
  type Part,
  sendForm,
  type WireAnswer,
} from '../support/wire.ts'

let t: TestApp
let alice: Person

const untouched = leaveUntouched(async () => {
  t = await startApp({ TRASH_DAYS: '0' })
  alice = await t.signIn('alice')
  await alice.upload('keep.txt', 'hello')
  return t
})

const query =
  'mutation U($file: Upload!, $folder: EntryRef) { uploadFile(input: { file: $file, folder: $folder }) { file { path } } }'
const operations = JSON.stringify({ query, variables: { file: null } })
const map = JSON.stringify({ 0: ['variables.file'] })
const bytes = file('new.txt', 'x', '0')
const ops = (value: unknown) =>
  field('operations', typeof value === 'string' ? value : JSON.stringify(value))
const maps = (value: unknown) =>
  field('map', typeof value === 'string' ? value : JSON.stringify(value))

const post = (body: Uint8Array, person = alice) => sendForm(t, person, body, { path: '/graphql' })

interface Refusal {
  message: string
  extensions: { code: string; field?: string }
}
function firstError(answer: WireAnswer | undefined): Refusal | undefined {
  return answer && JSON.parse(answer.text).errors?.[0]
}

describe('A valid GraphQL form', () => {
  it.each([
    ['the usual one', form([ops(operations), maps(map), bytes])],
    [
      'a form with an unused file',
      form([ops(operations), maps(map), bytes, file('other.txt', 'x', '1')]),
    ],
    ['one with no bytes in the file', form([ops(operations), maps(map), file('new.txt', '', '0')])],
    [
      'a form with a file in a list',
      form([
        ops({
          query: query.replace('$file: Upload!', '$file: Upload!'),
          variables: { file: null, folder: { at: { path: '' } } },
        }),
        maps({ a: ['variables.file'] }),
        file('new.txt', 'x', 'a'),
      ]),
    ],
  ])('creates a file: %s', async (_what, body) => {
    expect(JSON.parse((await post(body))?.text ?? '')).toMatchObject({
      data: { uploadFile: { file: { path: 'new.txt' } } },
    })
    await alice.rest('DELETE', '/api/files/delete?file=new.txt')
    await untouched.accept('bucket')
  })

  it.each(['../a/new.txt', 'C:\\a\\new.txt'])(
    'drops the folders in a file name: %s',
    async name => {
      const answer = await post(form([ops(operations), maps(map), file(name, 'x', '0')]))
      expect(JSON.parse(answer?.text ?? '')).toMatchObject({
        data: { uploadFile: { file: { path: 'new.txt' } } },
      })
      await alice.rest('DELETE', '/api/files/delete?file=new.txt')
      await untouched.accept('bucket')
    },
  )
})

describe('An invalid GraphQL form', () => {
  const forms: [string, Buffer][] = [
    ['without anything', form([])],
    ['of no bytes', Buffer.alloc(0)],
    [
      'with 3 MB before everything',
      form([{ headers: ['X: y'], body: 'x'.repeat(3e6) }, ops(operations), maps(map), bytes]),
    ],
    ['without operations', form([maps(map), bytes])],
    ['without a map', form([ops(operations)])],
    ['with the file before the map', form([ops(operations), bytes, maps(map)])],
    ['with the file before everything', form([bytes, ops(operations), maps(map)])],
    ['with the map before the operations', form([maps(map), ops(operations), bytes])],
    ['with operations that are not JSON', form([ops('{'), maps(map), bytes])],
    ['with operations that are a text', form([ops('"a"'), maps(map), bytes])],
    ['with operations that are null', form([ops('null'), maps(map), bytes])],
    [
      'with operations that are a list of two',
      form([
        ops([JSON.parse(operations), JSON.parse(operations)]),
        maps({ 0: ['0.variables.file'] }),
        bytes,
      ]),
    ],
    ['with empty operations', form([ops('{}'), maps({}), bytes])],
    [
      'with operations of 2 MB',
      form([
        ops({ query, variables: { file: null, folder: { at: { path: 'a'.repeat(2e6) } } } }),
        maps(map),
        bytes,
      ]),
    ],
    ['with a map that is not JSON', form([ops(operations), maps('{'), bytes])],
    ['with a map that is a list', form([ops(operations), maps('[]'), bytes])],
    ['with a map that is null', form([ops(operations), maps('null'), bytes])],
    ['with a map that is empty', form([ops(operations), maps('{}'), bytes])],
    ['with a map of texts', form([ops(operations), maps({ 0: 'variables.file' }), bytes])],
    ['with a map of numbers', form([ops(operations), maps({ 0: [1] }), bytes])],
    [
      'with a map to nowhere',
      form([ops(operations), maps({ 0: ['variables.input.file'] }), bytes]),
    ],
    [
      'with a map to an unknown variable',
      form([ops(operations), maps({ 0: ['variables.other'] }), bytes]),
    ],
    ['with a map into the query', form([ops(operations), maps({ 0: ['query.a'] }), bytes])],
    ['with a map over the query', form([ops(operations), maps({ 0: ['query'] }), bytes])],
    [
      'with a map to a path of 100 KB',
      form([ops(operations), maps({ 0: ['a'.repeat(100_000)] }), bytes]),
    ],
    [
      'with a map to a path of 100,000 names',
      form([ops(operations), maps({ 0: ['variables.'.repeat(100_000)] }), bytes]),
    ],
    [
      'with a map of 11 files',
      form([
        ops(operations),
        maps(Object.fromEntries(Array.from({ length: 11 }, (_, i) => [i, ['variables.file']]))),
        bytes,
      ]),
    ],
    ['with two operations', form([ops(operations), ops(operations), maps(map), bytes])],
    [
      'with two unknown fields first',
      form([field('a', '1'), field('b', '2'), ops(operations), maps(map), bytes]),
    ],
    ['with a file that is never sent', form([ops(operations), maps(map)])],
    [
      'with a file under another name',
      form([ops(operations), maps(map), file('new.txt', 'x', '1')]),
    ],
    ['with a field instead of the file', form([ops(operations), maps(map), field('0', 'x')])],
    [
      'with a file without a file name',
      form([
        ops(operations),
        maps(map),
        {
          headers: [
            'Content-Disposition: form-data; name="0"',
            'Content-Type: application/octet-stream',
          ],
          body: 'x',
        },
      ]),
    ],
    ['with a file of an empty file name', form([ops(operations), maps(map), file('', 'x', '0')])],
    ['without a final boundary', form([ops(operations), maps(map), bytes], '').subarray(0, -2)],
    ['with truncated operations', form([ops(operations)]).subarray(0, 120)],
    [
      'with a header line of 1 MB',
      form([{ headers: [`X: ${'y'.repeat(1e6)}`], body: 'x' }, ops(operations), maps(map), bytes]),
    ],
    [
      'with 10,000 parts',
      form([...Array<Part>(10_000).fill({ headers: ['X: y'], body: 'x' }), field('a', 'b')]),
    ],
    [
      'with another boundary than the declared one',
      Buffer.from(
        form([ops(operations), maps(map), bytes])
          .toString()
          .replaceAll(BOUNDARY, 'other'),
      ),
    ],
    [
      'with the same file for two variables',
      form([
        ops({
          query:
            'mutation U($a: Upload!, $b: Upload!) { a: uploadFile(input: { file: $b, folder: { at: { path: "//" } } }) { file { path } } b: uploadFile(input: { file: $a, folder: { at: { path: ".." } } }) { file { path } } }',
          variables: { a: null, b: null },
        }),
        maps({ 0: ['variables.a', 'variables.b'] }),
        file('', 'x', '0'),
      ]),
    ],
  ]

  it.each(forms)('INVALID_INPUT: %s', async (_what, body) => {
    const answer = await post(body)
    const error = firstError(answer)
    expect(['INVALID_INPUT', 'INVALID_JSON', 'INVALID_PATH']).toContain(error?.extensions.code)
    // A form that is valid GraphQL is well-formed, even if its file is refused.
    expect([200, 400]).toContain(answer?.status)
    expect(error?.message).not.toMatch(
      /minimal|middleware|lambda|README|serverless|undefined|hacker|createReadStream/i,
    )
    expect(answer?.text.length).toBeLessThan(1500)
  })

  it.each(forms)('shows no more to a caller without a credential: %s', async (_what, body) => {
    const answer = await post(body, t.anonymous)
    expect(['INVALID_INPUT', 'INVALID_JSON', 'UNAUTHENTICATED']).toContain(
      firstError(answer)?.extensions.code,
    )
    expect(answer?.text.length).toBeLessThan(1500)
  })

  it('is refused without waiting for a file that never arrives', async () => {
    const first =
      'mutation U($file: Upload!) { createFolder(input: { at: { path: "keep.txt" } }) { folder { id } } uploadFile(input: { file: $file }) { file { path } } }'
    const answer = await post(form([ops({ query: first, variables: { file: null } }), maps(map)]))
    expect(firstError(answer)?.extensions.code).toBe('PATH_EXISTS')
  })

  it('UNAUTHENTICATED for a complete form', async () => {
    const answer = await post(form([ops(operations), maps(map), bytes]), t.anonymous)
    expect(firstError(answer)?.extensions.code).toBe('UNAUTHENTICATED')
  })

  it('stores one file for two variables once, and refuses the second variable', async () => {
    const two =
      'mutation U($a: Upload!, $b: Upload!) { a: uploadFile(input: { file: $a, folder: { at: { path: "a" } } }) { file { path } } b: uploadFile(input: { file: $b, folder: { at: { path: "b" } } }) { file { path } } }'
    const body = form([
      ops({ query: two, variables: { a: null, b: null } }),
      maps({ 0: ['variables.a', 'variables.b'] }),
      bytes,
    ])
    const { data, errors } = JSON.parse((await post(body))?.text ?? '')
    expect([data, errors?.[0]?.extensions.code]).toEqual([
      { a: { file: { path: 'a/new.txt' } }, b: null },
      'INVALID_INPUT',
    ])
    await alice.rest('DELETE', '/api/folders?path=a&recursive=true')
    await untouched.accept('bucket')
  })
})

describe('Two files in one form', () => {
  const two = (first: string, second: string) =>
    `mutation U($a: Upload!, $b: Upload!) { ${[first, second].map(
      name =>
        `${name}: uploadFile(input: { file: $${name}, folder: { at: { path: "${name}" } } }) { file { path } }`,
    )} }`
  const body = (document: string) =>
    form([
      ops({ query: document, variables: { a: null, b: null } }),
      maps({ 0: ['variables.a'], 1: ['variables.b'] }),
      file('a.txt', 'x'.repeat(200_000), '0'),
      file('b.txt', 'y'.repeat(200_000), '1'),
    ])

  it('are stored when they are read in their order', async () => {
    const { data } = JSON.parse((await post(body(two('a', 'b'))))?.text ?? '')
    expect(data).toEqual({ a: { file: { path: 'a/a.txt' } }, b: { file: { path: 'b/b.txt' } } })
    await alice.rest('DELETE', '/api/folders?path=a&recursive=true')
    await alice.rest('DELETE', '/api/folders?path=b&recursive=true')
    await untouched.accept('bucket')
  })

  it('do not wait when read in the other order: the late file is refused immediately', async () => {
    const start = performance.now()
    const { data, errors } = JSON.parse((await post(body(two('b', 'a'))))?.text ?? '')
    expect([data, errors[0].extensions, errors[0].path]).toEqual([
      { a: { file: { path: 'a/a.txt' } }, b: null },
      { code: 'INVALID_INPUT', field: 'input.file' },
      ['b'],
    ])
    expect(errors[0].message).toContain('order')
    // A request that waits would take two minutes, until the connection is closed.
    expect(performance.now() - start).toBeLessThan(20_000)
    await alice.rest('DELETE', '/api/folders?path=a&recursive=true')
    await untouched.accept('bucket')
  })
})

describe('A map with names of Object.prototype', () => {
  const shared = [Object.prototype, Function.prototype, Array.prototype, String.prototype]
  const functions = shared.flatMap(each =>
    Object.getOwnPropertyNames(each).flatMap(name => {
      const { value } = Object.getOwnPropertyDescriptor(each, name) ?? {}
      return typeof value === 'function' ? [value] : []
    }),
  )
  const namesOf = () => [...shared, ...functions].map(each => Object.getOwnPropertyNames(each))

  it.each([
    'toString.call',
    'toString.polluted',
    'hasOwnProperty.call',
    'variables.toString.call',
    'variables.hasOwnProperty.apply',
    'query.toString.call',
    'query.split.call',
    'valueOf.call.call',
    'variables.list.push.call',
    'variables.list.length',
    'variables.list.map',
    '__proto__.polluted',
    'variables.__proto__.polluted',
    'variables.__proto__',
    'constructor.prototype.polluted',
    'variables.constructor.prototype.polluted',
    'variables.nested.__proto__.polluted',
    '__defineGetter__.call',
    'toString',
    'variables.hasOwnProperty',
  ])('changes nothing outside the request: %s', async path => {
    const names = namesOf()
    const variables = '{ "file": null, "list": [1], "nested": { "__proto__": { "a": 1 } } }'
    const body = form([
      ops(`{ "query": ${JSON.stringify(query)}, "variables": ${variables} }`),
      maps({ 0: [path] }),
      bytes,
    ])
    const answer = await post(body)
    expect(namesOf()).toEqual(names)
    expect(Reflect.get({}, 'polluted')).toBeUndefined()
    expect(firstError(answer)?.extensions).toMatchObject({ code: 'INVALID_INPUT' })
  })
})
