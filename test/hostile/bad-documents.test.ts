import { describe, expect, it } from '@jest/globals'
import { ask, many, nest } from '../support/graphql-probe.ts'
import { type Person, startApp, type TestApp } from '../support/harness.ts'
import { leaveUntouched } from '../support/untouched.ts'

let t: TestApp
let alice: Person

/** Nested folders, so that lists of lists are not empty. */
const LEVELS = 8

leaveUntouched(async () => {
  t = await startApp()
  alice = await t.signIn('alice')
  await alice.rest('POST', '/api/folders', { json: { path: Array(LEVELS).fill('deep').join('/') } })
  await alice.upload('deep/a.txt', 'hello')
  return t
})

const post = (body: unknown, who = alice) => ask(t, who, body)

/** Documents that are too expensive or invalid. */
const attacks: [string, string][] = [
  ['1,000 aliases', `{ ${many(1000, i => `a${i}: me { id }`)} }`],
  [
    '1,000 aliases in fragments',
    `{ ${many(10, () => '...F')} } fragment F on Query { ${many(100, i => `a${i}: me { id }`)} }`,
  ],
  [
    'a depth of 50',
    `{ me { drive { root { ${nest(50, 'entries { nodes { ... on Folder { ', 'id', '} } }')} } } } }`,
  ],
  [
    'a depth of 50 in fragments',
    `{ me { drive { root { ...F0 } } } } ${many(50, i => `fragment F${i} on Folder { entries { nodes { ... on Folder { ...F${i + 1} } } } }`)} fragment F50 on Folder { id }`,
  ],
  ['a depth of 50 in inline fragments', `{ ${nest(50, '... { ', 'me { id }')} }`],
  ['10,000 tokens', `{ me { ${'id '.repeat(10_000)} } }`],
  ['10,000 tokens of punctuation', '{'.repeat(10_000)],
  ['10,000 brackets in a value', `{ me { drive { entry(path: ${'['.repeat(10_000)}) { id } } } }`],
  [
    '1,900 brackets in a value',
    `{ me { drive { entry(path: ${'['.repeat(900)}${']'.repeat(900)}) { id } } } }`,
  ],
  ['900 objects in a value', `{ me { drive { entry(path: ${nest(400, '{ a: ', '1')}) { id } } } }`],
  ['a fragment of itself', '{ me { ...F } } fragment F on Viewer { id ...F }'],
  [
    'fragments in a circle',
    '{ me { ...A } } fragment A on Viewer { ...B } fragment B on Viewer { ...C } fragment C on Viewer { ...A }',
  ],
  [
    'fragments in a circle below fields',
    '{ me { drive { root { ...A } } } } fragment A on Folder { entries { nodes { ... on Folder { ...B } } } } fragment B on Folder { entries { nodes { ... on Folder { ...A } } } }',
  ],
  [
    'an unused fragment cycle',
    '{ me { id } } fragment A on Viewer { ...B } fragment B on Viewer { ...A }',
  ],
  [
    'fragments that double 100 times',
    `{ me { ...F0 } } ${many(100, i => `fragment F${i} on Viewer { ...F${i + 1} ...F${i + 1} }`)} fragment F100 on Viewer { id }`,
  ],
  [
    'inline fragments that double 100 times',
    `{ ...F0 } ${many(100, i => `fragment F${i} on Query { ... { ...F${i + 1} } ... { ...F${i + 1} } }`)} fragment F100 on Query { me { id } }`,
  ],
  [
    'aliases that multiply in fragments',
    `{ ...F0 } ${many(24, i => `fragment F${i} on Query { a: me { id } ...F${i + 1} ...F${i + 1} }`)} fragment F24 on Query { me { name } }`,
  ],
  ['200 unused fragments', `{ me { id } } ${many(200, i => `fragment F${i} on Viewer { id }`)}`],
  [
    '500 fields that conflict',
    `{ ${many(300, i => `me { drive { root { entries(first: ${i + 1}) { nodes { id } } } } }`)} }`,
  ],
  ['500 unknown fields', `{ ${many(500, i => `nothing${i}`)} }`],
  ['an unknown field with a name of 20 KB', `{ ${'n'.repeat(20_000)} }`],
  ['an unknown type with a name of 20 KB', `query Q($a: ${'N'.repeat(20_000)}) { me { id } }`],
  [
    'an unknown argument with a name of 20 KB',
    `{ me { drive { entry(${'n'.repeat(20_000)}: 1) { id } } } }`,
  ],
  [
    'a text of 20 KB for a number',
    `{ me { drive { root { entries(first: "${'n'.repeat(20_000)}") { nodes { id } } } } } }`,
  ],
  [
    'a number of 20 KB',
    `{ me { drive { root { entries(first: ${'9'.repeat(20_000)}) { nodes { id } } } } } }`,
  ],
  ['500 unknown directives', `{ me ${'@a '.repeat(500)}{ id } }`],
  ['500 known directives', `{ me ${'@skip(if: true) '.repeat(300)}{ id } }`],
  ['directives in wrong places', 'query Q @skip(if: true) { me @deprecated { id } }'],
  ['a directive without its argument', '{ me @include { id } }'],
  ['400 variables', `query Q(${many(400, i => `$v${i}: Int`)}) { me { id } }`],
  [
    'a repeated variable',
    'query Q($a: Int, $a: Int) { me { drive { root { entries(first: $a) { nodes { id } } } } } }',
  ],
  ['400 operations', many(400, i => `query Q${i} { me { id } }`)],
  ['a repeated operation', 'query Q { me { id } } query Q { me { id } }'],
  ['a schema instead of a query', 'type Query { a: Int } extend type Viewer { b: Int }'],
  ['a subscription to an unknown field', 'subscription S { nothing }'],
  ['a document of spaces', ' '.repeat(20_000)],
  ['a document of comments', '#\n'.repeat(10_000)],
  ['a document of commas', ','.repeat(20_000)],
  ['an empty document', ''],
  ['NUL', '{ me \0 { id } }'],
  ['half a surrogate pair', '{ me { drive { entry(path: "\\uD800") { id } } } }'],
  ['an escape of an invalid character', '{ me { drive { entry(path: "\\u{FFFFFFFF}") { id } } } }'],
  ['an unterminated string', '{ me { drive { entry(path: "abc'],
  ['an unterminated block string', `{ me { drive { entry(path: """${'\n '.repeat(5000)}`],
  [
    'fields named like members of Object.prototype',
    '{ __proto__ constructor toString hasOwnProperty }',
  ],
  [
    'a type named like a member of Object.prototype',
    '{ me { ... on constructor { id } ... on __proto__ { id } } }',
  ],
  [
    'introspection that goes round',
    `{ __schema { types { ${nest(12, 'fields { type { ', 'name', '} }')} } } }`,
  ],
  [
    'circular introspection in fragments',
    `{ __schema { types { ...T0 } } } ${many(12, i => `fragment T${i} on __Type { fields { type { ...T${i + 1} } } }`)} fragment T12 on __Type { name }`,
  ],
  [
    'introspection that fans out',
    `{ __schema { types { possibleTypes { interfaces { possibleTypes { interfaces { possibleTypes { name } } } } } } } }`,
  ],
]

describe('A document that is too expensive or invalid', () => {
  it.each(attacks)('is refused quickly: %s', async (_what, query) => {
    for (const who of [alice, t.anonymous]) {
      const { status, data, codes } = await post({ query }, who)
      // A body that is too large for a caller without a credential is not parsed.
      const refused = who === t.anonymous && JSON.stringify({ query }).length > 16_384 ? 400 : 200
      expect([status, data ?? null, codes[0]]).toEqual([refused, null, 'INVALID_INPUT'])
    }
  })

  it.each(attacks)('is refused just as quickly when repeated: %s', async (_what, query) => {
    const all = await Promise.all(Array.from({ length: 5 }, () => post({ query })))
    expect(all.map(a => a.codes[0])).toEqual(Array(5).fill('INVALID_INPUT'))
  })
})

describe('A document that is unusual but valid', () => {
  const fine: [string, string, unknown][] = [
    [
      'a fragment that is used 100 times',
      `{ me { ${'...F '.repeat(100)} } } fragment F on Viewer { email }`,
      { me: { email: 'alice@example.com' } },
    ],
    [
      'a field 300 times',
      `{ me { ${'email '.repeat(300)} } }`,
      { me: { email: 'alice@example.com' } },
    ],
    ['directives that omit everything', '{ me @skip(if: true) { id } }', {}],
    ['a byte order mark', '\ufeff{ me { email } }', { me: { email: 'alice@example.com' } }],
    ['comments and commas', '{,,# x\n me,{,email,},}', { me: { email: 'alice@example.com' } }],
    [
      'a block of text',
      '{ me { drive { entry(path: """\n  deep\n""") { path } } } }',
      { me: { drive: { entry: { path: 'deep' } } } },
    ],
    [
      'aliases named like members of Object.prototype',
      '{ constructor: me { toString: email } hasOwnProperty: me { valueOf: email } }',
      {
        constructor: { toString: 'alice@example.com' },
        hasOwnProperty: { valueOf: 'alice@example.com' },
      },
    ],
  ]

  it.each(fine)('is answered every time: %s', async (_what, query, data) => {
    for (let i = 0; i < 5; i++) expect((await post({ query })).data).toEqual(data)
  })

  it('keeps an alias named __proto__, and changes no prototype', async () => {
    for (let i = 0; i < 5; i++) {
      const response = await fetch(`${t.url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', cookie: alice.cookie },
        body: JSON.stringify({ query: '{ __proto__: me { email } me { __proto__: email name } }' }),
      })
      // Compared as text, because a JavaScript object would lose the name as well.
      const text =
        '{"__proto__":{"email":"alice@example.com"},"me":{"__proto__":"alice@example.com","name":"alice"}}'
      expect([i, await response.text()]).toEqual([i, expect.stringContaining(text)])
    }
    expect(Reflect.get({}, 'email')).toBeUndefined()
  })

  it('with multiplying lists is answered within bounds', async () => {
    const ladder = (level: number): string =>
      level === 0
        ? 'id'
        : many(
            9,
            i =>
              `a${level}${i}: entries(first: ${i + 1}) { nodes { ... on Folder { ${ladder(level - 1)} } } }`,
          )
    const wide = (levels: number) => {
      // The same aliases on every level, through fragments: 9 to the power of the levels.
      const fragments = many(
        levels,
        i =>
          `fragment L${i} on Folder { ${many(9, a => `a${a}: entries(first: ${a + 1}) { nodes { ... on Folder { ...L${i + 1} } } }`)} }`,
      )
      return `{ me { drive { root { ...L0 } } } } ${fragments} fragment L${levels} on Folder { id }`
    }
    await post({ query: `{ me { drive { root { ${ladder(1)} } } } }` })
    await post({ query: wide(2) })
    for (const levels of [3, 4, 5])
      expect((await post({ query: wide(levels) })).codes[0]).toBe('INVALID_INPUT')
  })
})
