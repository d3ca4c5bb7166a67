import { many, nest } from './graphql-probe.ts'

/** Expensive bodies for POST /graphql: a name, the body, and whether a session sends it. */
export interface HostileRequest {
  name: string
  body: string
  /** A large body without a credential is refused before it is parsed. */
  anonymous?: true
}

const document = (name: string, query: string, variables?: object): HostileRequest => ({
  name,
  body: JSON.stringify(variables ? { query, variables } : { query }),
})
const raw = (name: string, body: string): HostileRequest => ({ name, body })

const DELETE =
  'mutation D($p: DeleteEntriesInput!) { deleteEntries(input: $p) { deletedIds filesDeleted } }'
const DELETE_LIST =
  'mutation D($entries: [EntryRef!]!) { deleteEntries(input: { entries: $entries }) { deletedIds } }'
const SHARE = 'mutation S($p: CreateDirectShareInput!) { createDirectShare(input: $p) { mail } }'
const KEY = 'mutation K($p: CreateApiKeyInput!) { createApiKey(input: $p) { secret } }'
const TREE =
  'query T($path: String = "", $first: Int) { me { drive { entry(path: $path) { path ... on Folder { entries(first: $first) { nodes { id } } } } } } }'

/** A body of about 1 MB around a list. */
const bomb = (query: string, list: string) =>
  `{"query":${JSON.stringify(query)},"variables":{"p":{"entries":${list}}}}`
const items = (item: string, bytes = 1_000_000) =>
  `[${Array(Math.floor(bytes / (item.length + 1))).fill(item)}]`

/** A selection on the caller's drive and its root. */
const drive = (selection: string) => `{ me { drive { ${selection} } } }`
const root = (selection: string) => drive(`root { ${selection} }`)

const entries = 'entries(first: 1000) { nodes { id name path createdAt size } }'
const typeRef = nest(9, 'ofType { kind name ', '')

const documents: HostileRequest[] = [
  // Hostile names and aliases.
  document('50 aliases of a folder', root(many(50, i => `a${i}: ${entries}`))),
  document(
    '50 aliases of all that is found',
    drive(many(50, i => `a${i}: search(query: "a", first: 1000) { nodes { name } }`)),
  ),
  document(
    '50 aliases of all shares',
    `{ me { ${many(50, i => `a${i}: shares(first: 1000) { nodes { id fileName } }`)} } }`,
  ),
  document(
    '50 aliases of an account',
    `{ ${many(50, i => `a${i}: me { id email drive { usage { usedBytes } } }`)} }`,
  ),
  document(
    '50 aliases of a value of each entry',
    root(`entries(first: 1000) { nodes { ${many(50, i => `a${i}: name`)} } }`),
  ),
  document('500 aliases', `{ ${many(500, i => `a${i}: me { id }`)} }`),
  document(
    'aliases in fragments',
    `{ ...F } fragment F on Query { ${many(49, i => `a${i}: me { drive { search(query: "a", first: 1000) { nodes { name } } } }`)} }`,
  ),
  document(
    'fragments that multiply aliases',
    `${root('...L0')} ${many(5, i => `fragment L${i} on Folder { ${many(9, a => `a${a}: entries(first: ${a + 1}) { nodes { ... on Folder { ...L${i + 1} } } }`)} }`)} fragment L5 on Folder { id }`,
  ),
  document(
    '9 aliases within 5',
    root(
      many(
        5,
        a =>
          `a${a}: entries(first: 1) { nodes { ... on Folder { ${many(9, b => `b${b}: entries(first: 1) { nodes { id name path } }`)} } } }`,
      ),
    ),
  ),
  document('what every object has', '{ __proto__ constructor toString hasOwnProperty }'),
  document(
    'an alias called __proto__',
    '{ __proto__: me { __proto__: email } me { constructor: id } }',
  ),
  document('an argument called __proto__', drive('entry(__proto__: 1) { id }')),
  document(
    'an input field called __proto__',
    'mutation { createFolder(input: { at: { __proto__: { path: "x" } } }) { folder { id } } }',
  ),
  document(
    'a variable called __proto__',
    `query Q($__proto__: String!) ${drive('entry(path: $__proto__) { id }')}`,
    {},
  ),
  document(
    'a fragment called __proto__',
    '{ me { ...__proto__ } } fragment __proto__ on Viewer { email }',
  ),
  document('an operation called __proto__', 'query __proto__ { me { email } }'),
  document('a directive called __proto__', '{ me @__proto__ { email } }'),
  // Deeply nested documents.
  document('a depth of 300', root(nest(300, 'entries { nodes { ... on Folder { ', 'id', '} } }'))),
  document('300 inline fragments within another', `{ ${nest(300, '... { ', 'me { id }')} }`),
  document('1,900 brackets', drive(`entry(path: ${'['.repeat(950)}${']'.repeat(950)}) { id }`)),
  document('16,000 open brackets', `{ me { drive { entry(path: ${'['.repeat(16_000)}`),
  document('16,000 open braces', '{'.repeat(16_000)),
  document('600 objects within another', drive(`entry(path: ${nest(600, '{ a: ', '1')}) { id }`)),
  document(
    'lists within lists within lists',
    root(
      nest(
        2,
        'entries(first: 1000) { nodes { ... on Folder { ',
        'entries(first: 1000) { nodes { name } }',
        ' } } }',
      ),
    ),
  ),
  // Hostile fragments.
  document(
    'a circle of fragments',
    '{ me { ...A } } fragment A on Viewer { ...B } fragment B on Viewer { ...A }',
  ),
  document(
    'a circle of 200 fragments',
    `{ me { ...F0 } } ${many(200, i => `fragment F${i} on Viewer { ...F${(i + 1) % 200} }`)}`,
  ),
  document(
    'circles below fields',
    `${root('...A')} fragment A on Folder { entries { nodes { ...A } } }`,
  ),
  document(
    'fragments that double 150 times',
    `{ me { ...F0 } } ${many(150, i => `fragment F${i} on Viewer { ...F${i + 1} ...F${i + 1} }`)} fragment F150 on Viewer { id }`,
  ),
  document(
    'inline fragments that double',
    `{ ...F0 } ${many(90, i => `fragment F${i} on Query { ... { ...F${i + 1} } ... { ...F${i + 1} } }`)} fragment F90 on Query { me { id } }`,
  ),
  document(
    'fragments that double with fields',
    `${root('...F0')} ${many(14, i => `fragment F${i} on Folder { name ...F${i + 1} id ...F${i + 1} }`)} fragment F14 on Folder { path }`,
  ),
  document(
    '400 spreads of one fragment',
    `{ me { ${'...F '.repeat(400)} } } fragment F on Viewer { ${'email '.repeat(100)} }`,
  ),
  document(
    'fragments that do not agree',
    `{ me { ${many(60, i => `...F${i}`)} } } ${many(60, i => `fragment F${i} on Viewer { x: ${i % 2 ? 'id' : 'email'} y: name }`)}`,
  ),
  document(
    '200 unused fragments',
    `{ me { id } } ${many(200, i => `fragment F${i} on Viewer { id }`)}`,
  ),
  // Too many fields.
  document(
    '600 fields that conflict',
    root(many(280, i => `entries(first: ${i + 1}) { nodes { id } }`)),
  ),
  document('1,900 times one field', `{ me { ${'id '.repeat(1900)} } }`),
  document('480 times one object', `{ ${'me { id } '.repeat(480)} }`),
  document('260 times an object in an object', `{ ${'me { plan { name } } '.repeat(260)} }`),
  document(
    'fragments of one field',
    `{ me { ${many(240, i => `...F${i}`)} } } ${many(240, i => `fragment F${i} on Viewer { id }`)}`,
  ),
  document('900 unknown fields', `{ ${many(900, i => `nothing${i}`)} }`),
  document('900 fields that are almost known', `{ ${many(900, i => `operator${i}`)} }`),
  document('a field with a name of 30 KB', `{ ${'n'.repeat(30_000)} }`),
  document('a type with a name of 30 KB', `query Q($a: ${'N'.repeat(30_000)}) { me { id } }`),
  document('an argument with a name of 30 KB', drive(`entry(${'n'.repeat(30_000)}: 1) { id }`)),
  document(
    'conflicting nested fields',
    drive(
      many(
        45,
        i =>
          `entry(path: "p${i}") { ... on Folder { entries(first: ${i + 1}) { nodes { name } } } }`,
      ),
    ),
  ),
  // Hostile directives.
  document('900 unknown directives', `{ me ${'@a '.repeat(900)}{ id } }`),
  document('300 known directives', `{ me ${'@skip(if: true) '.repeat(300)}{ id } }`),
  document('directives on every field', `{ me { ${'id @include(if: true) '.repeat(240)} } }`),
  // Hostile values.
  document('a number of 30 KB', root(`entries(first: ${'9'.repeat(30_000)}) { nodes { id } }`)),
  document('a fraction of 30 KB', root(`entries(first: 1.${'9'.repeat(30_000)}) { nodes { id } }`)),
  document(
    'a text of 30 KB for a number',
    root(`entries(first: "${'n'.repeat(30_000)}") { nodes { id } }`),
  ),
  document(
    'a list of 700 entries',
    `mutation { deleteEntries(input: { entries: [${many(700, () => '{}')}] }) { deletedIds } }`,
  ),
  document(
    'a list of 300 files to share',
    `mutation { createDirectShare(input: { email: "a@b.c", entries: [${many(300, i => `{ id: "${i}" }`)}] }) { mail } }`,
  ),
  document(
    'a list of 100 scopes',
    `mutation { createApiKey(input: { name: "a", scopes: [${many(100, () => 'PRIVATE_FILES_READ')}] }) { secret } }`,
  ),
  document(
    'a list of 1,900 wrong items',
    `mutation { deleteEntries(input: { entries: [${many(1900, () => '1')}] }) { deletedIds } }`,
  ),
  document(
    '300 unknown input fields',
    `mutation { createFolder(input: { ${many(300, i => `f${i}: 1`)} }) { folder { id } } }`,
  ),
  document('NUL', '{ me \0 { id } }'),
  document('half a surrogate pair', drive('entry(path: "\\uD800") { id }')),
  document(
    'half a surrogate pair as it is',
    drive(`entry(path: "${'\ud800'.repeat(5000)}") { id }`),
  ),
  document('30,000 characters of white space', ' '.repeat(30_000)),
  document('30,000 commas', ','.repeat(30_000)),
  document('15,000 comments', '#\n'.repeat(15_000)),
  document(
    'a block of text without an end',
    `{ me { drive { entry(path: """${'\n '.repeat(12_000)}`,
  ),
  // Expensive introspection.
  document(
    '50 aliases of __schema',
    `{ ${many(50, i => `a${i}: __schema { types { name fields { name args { name } } } }`)} }`,
  ),
  document(
    '50 aliases of __type',
    `{ ${many(50, i => `a${i}: __type(name: "Mutation") { fields { name args { name } } }`)} }`,
  ),
  document(
    '50 aliases within __schema',
    `{ __schema { types { ${many(50, i => `a${i}: fields { name type { name } args { name } }`)} } } }`,
  ),
  document(
    '50 aliases within __type',
    `{ __type(name: "Mutation") { ${many(50, i => `a${i}: fields { name args { name type { ofType { name } } } }`)} } }`,
  ),
  document(
    '__schema in fragments',
    `{ ...A ...B } fragment A on Query { __schema { types { name } } } fragment B on Query { a: __schema { types { fields { name } } } }`,
  ),
  document(
    'introspection that goes round',
    `{ __schema { types { ${nest(12, 'fields { type { ', 'name', '} }')} } } }`,
  ),
  document(
    'introspection that fans out',
    '{ __schema { types { possibleTypes { interfaces { possibleTypes { interfaces { name } } } } } } }',
  ),
  document(
    'all of the schema, with what its types are made of',
    `{ __schema { types { kind name description fields(includeDeprecated: true) { name description args { name type { kind name ${typeRef} } } type { kind name ${typeRef} } } inputFields { name type { kind name ${typeRef} } } } } }`,
  ),
  document(
    'the fields of all types of fields',
    '{ __schema { types { fields { type { fields { name type { name } args { name } } } } } } }',
  ),
  // Hostile variables.
  raw('520,000 numbers for entries', bomb(DELETE, items('1'))),
  raw('a list of 250,000 texts', bomb(DELETE, items('"a"'))),
  raw('250,000 nulls', bomb(DELETE, items('null'))),
  raw('330,000 objects', bomb(DELETE, items('{}'))),
  raw('900 wrong items of 1,000 characters', bomb(DELETE, items(`{"${'x'.repeat(1000)}":1}`))),
  raw('1,000 wrong items', bomb(DELETE, items('1', 2000))),
  document('20,000 entries for a list variable', DELETE_LIST, {
    entries: Array(20_000).fill({ id: 'a' }),
  }),
  document('1,000 wrong entries for a list variable', DELETE_LIST, {
    entries: Array(1000).fill({ a: 1 }),
  }),
  document('20,000 files to share', SHARE, {
    p: { email: 'a@b.c', entries: Array(20_000).fill(1) },
  }),
  document('20,000 scopes', KEY, { p: { name: 'a', scopes: Array(20_000).fill(1) } }),
  document('50,000 unknown input fields', DELETE, {
    p: Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`f${i}`, 1])),
  }),
  document(
    '50,000 unasked variables',
    TREE,
    Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`f${i}`, 1])),
  ),
  document('a text of 900 KB for a number', TREE, { first: 'x'.repeat(900_000) }),
  document('a number beyond all numbers', TREE, { first: 1e308 }),
  document('a path of 900 KB', TREE, { path: 'a/'.repeat(450_000) }),
  raw(
    '100,000 brackets in a variable',
    `{"query":${JSON.stringify(TREE)},"variables":{"first":${nest(100_000, '[', '1', ']')}}}`,
  ),
  raw(
    'variables with a prototype',
    `{"query":${JSON.stringify(TREE)},"variables":{"__proto__":{"first":1},"constructor":{"prototype":{}}}}`,
  ),
  document('400 variables', `query Q(${many(400, i => `$v${i}: Int`)}) { me { id } }`),
  document(
    '300 variables with lists as defaults',
    `query Q(${many(150, i => `$v${i}: [String] = ["a", "b"]`)}) { me { id } }`,
  ),
  // Hostile request bodies.
  raw('1 MiB of brackets', '['.repeat(2 ** 20)),
  raw('1 MiB of braces', '{"a":'.repeat(200_000)),
  raw('1 MiB of keys', `{${Array.from({ length: 100_000 }, (_, i) => `"k${i}":1`)}}`),
  raw('1 MiB of one key', `{${Array(100_000).fill('"query":1')}}`),
  raw('a batch', `[${Array(1000).fill('{"query":"{ me { id } }"}')}]`),
  raw('a document of 1 MB', JSON.stringify({ query: `{ me { id } } #${'x'.repeat(1_000_000)}` })),
  raw(
    'extensions of 1 MB',
    JSON.stringify({ query: '{ me { id } }', extensions: { a: 'x'.repeat(1_000_000) } }),
  ),
  raw(
    'an operation name of 1 MB',
    JSON.stringify({ query: '{ me { id } }', operationName: 'x'.repeat(1_000_000) }),
  ),
  raw('a body of escapes', `{"query":"${'\\u0000'.repeat(150_000)}"}`),
]

/** All requests with a session, and the largest one also without a credential. */
export const hostileRequests: HostileRequest[] = [
  ...documents,
  ...documents
    .filter(({ body }) => body.length > 16_384 || body.includes('__schema'))
    .map(request => ({
      ...request,
      name: `${request.name}, without a credential`,
      anonymous: true as const,
    })),
]
