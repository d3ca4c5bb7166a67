import { describe, expect, it } from '@jest/globals'
import { badNames, badPaths, five, onlyInJson } from '../support/bad-names.ts'
import { type Person, startApp, type TestApp } from '../support/harness.ts'
import { leaveUntouched } from '../support/untouched.ts'
import { exchange, field, file, form, head, sendForm } from '../support/wire.ts'

let t: TestApp
let alice: Person

leaveUntouched(async () => {
  t = await startApp({ TRASH_DAYS: '0' })
  alice = await t.signIn('alice')
  await alice.upload('keep/a.txt', 'hello')
  await alice.rest('POST', '/api/folders', { json: { path: 'keep/folder' } })
  return t
})

interface Answer {
  status: number
  response: { code?: string; field?: string }
}
const gist = (answer: Answer | undefined) => [
  answer?.status,
  answer?.response?.code,
  answer?.response?.field,
]
const invalid = (name: string) => [400, 'INVALID_PATH', name]

describe('An invalid path, by REST', () => {
  it.each([...badPaths, ...onlyInJson])('400 INVALID_PATH in a body: %s', async (_why, path) => {
    const asked: [string, object, string][] = [
      ['POST /api/files/move', { source: 'keep/a.txt', destination: path }, 'destination'],
      ['POST /api/files/move', { source: path, destination: 'b.txt' }, 'source'],
      ['DELETE /api/files/delete/batch', { files: ['keep/a.txt', path] }, 'files'],
      ['POST /api/folders', { path }, 'path'],
      ['POST /api/folders/move', { source: 'keep/folder', destination: path }, 'destination'],
      ['POST /api/folders/move', { source: path, destination: 'other' }, 'source'],
      ['POST /api/files/quick_share', { object: path }, 'object'],
      ['POST /api/files/uploads', { filename: 'new.txt', size: 1, folder: path }, 'folder'],
    ]
    for (const [route, json, name] of asked) {
      const [method = '', address = ''] = route.split(' ')
      expect([route, ...gist(await alice.rest(method, address, { json }))]).toEqual([
        route,
        ...invalid(name),
      ])
    }
  })

  it.each(badPaths)('400 INVALID_PATH in an address: %s', async (_why, path) => {
    const text = encodeURIComponent(path)
    const asked: [string, string][] = [
      [`GET /api/files/tree?path=${text}`, 'path'],
      [`DELETE /api/files/delete?file=${text}`, 'file'],
      [`DELETE /api/folders?path=${text}&recursive=true`, 'path'],
      [`POST /api/user/private/download_token?file=${text}`, 'file'],
    ]
    for (const [route, name] of asked) {
      const [method = '', address = ''] = route.split(' ')
      expect([route, ...gist(await alice.rest(method, address))]).toEqual([route, ...invalid(name)])
    }
    const lenient = await alice.rest('GET', `/api/folders?path=${text}`)
    expect([lenient.status, lenient.response.folders]).toEqual([200, []])
  })

  it.each(badPaths)('400 INVALID_PATH as the folder of an upload: %s', async (_why, path) => {
    expect(gist(await sendForm(t, alice, form([field('folder', path), file('new.txt')])))).toEqual(
      invalid('folder'),
    )
    expect(gist(await sendForm(t, alice, form([file('new.txt'), field('folder', path)])))).toEqual(
      invalid('folder'),
    )
  })

  // A line break, NUL or DEL would end the header of the part, and break the form.
  it.each(badNames.filter(([, name]) => !/[\n\0\x7f]/.test(name)))(
    '400 INVALID_PATH as the file name of an upload: %s',
    async (_why, name) => {
      const answer = await sendForm(
        t,
        alice,
        form([field('folder', 'keep'), file(name.replaceAll('\\', '\\\\'))]),
      )
      expect(gist(answer)).toEqual(invalid('file'))
    },
  )

  it.each(badNames)(
    '400 INVALID_PATH as the file name of a multipart upload: %s',
    async (_why, filename) => {
      const answer = await alice.rest('POST', '/api/files/uploads', {
        json: { filename, size: 1, folder: 'keep' },
      })
      expect(gist(answer)).toEqual(invalid('filename'))
    },
  )

  it.each(['keep/new.txt', '/new.txt', '../new.txt', 'new.txt/'])(
    '400 INVALID_PATH for the file name %s of a multipart upload',
    async name => {
      const inParts = await alice.rest('POST', '/api/files/uploads', {
        json: { filename: name, size: 1 },
      })
      expect(gist(inParts)).toEqual(invalid('filename'))
    },
  )

  it.each([
    [five('a'.repeat(204)).slice(0, 1000), 'b'.repeat(24)],
    [Array(32).fill('a').join('/'), 'b'],
  ])(
    '400 INVALID_PATH for a file whose folder path leaves no room for its name',
    async (folder, name) => {
      expect(gist(await sendForm(t, alice, form([field('folder', folder), file(name)])))).toEqual(
        invalid('folder'),
      )
    },
  )
})

describe('A path that is not UTF-8', () => {
  const latin = 'caf%E9'

  it.each(['%C0%AE%C0%AE', '%C0%AE%C0%AE%2Fa', '%ED%A0%80', '%FF', '%80', latin])(
    '400 INVALID_PATH in an address: %s',
    async path => {
      const tree = await exchange(t.url, head(alice, `GET /api/files/tree?path=${path}`))
      const remove = await exchange(t.url, head(alice, `DELETE /api/files/delete?file=${path}`))
      expect([gist(tree), gist(remove)]).toEqual([invalid('path'), invalid('file')])
    },
  )

  it('is refused like its decoded replacement', async () => {
    const tree = await exchange(t.url, head(alice, 'GET /api/files/tree?path=caf%EF%BF%BD'))
    const created = await alice.rest('POST', '/api/folders', { json: { path: 'caf\ufffd' } })
    expect([gist(tree), gist(created)]).toEqual([invalid('path'), invalid('path')])
  })

  it('400 INVALID_PATH in a form', async () => {
    const bytes = Buffer.from([0x63, 0xc0, 0xae])
    const named = form([file('NAME')])
      .toString('latin1')
      .replace('NAME', bytes.toString('latin1'))
    expect(gist(await sendForm(t, alice, Buffer.from(named, 'latin1')))).toEqual(invalid('file'))
    expect(gist(await sendForm(t, alice, form([field('folder', bytes), file('new.txt')])))).toEqual(
      invalid('folder'),
    )
  })

  it('400 INVALID_JSON in a body', async () => {
    const body = Buffer.concat([
      Buffer.from('{"path": "a'),
      Buffer.from([0xc0, 0xae]),
      Buffer.from('"}'),
    ])
    const answer = await alice.rest('POST', '/api/folders', {
      body,
      headers: { 'content-type': 'application/json' },
    })
    expect([answer.status, answer.response.code]).toEqual([400, 'INVALID_JSON'])
  })
})

describe('A traversing address', () => {
  it.each([
    '/api/files/../files/tree',
    '/api/files/%2e%2e/tree',
    '/api/%2e%2e/api/files/tree',
    '/api/files/..%2ftree',
    '/api/files//tree',
    '/api/files/tree/',
    '/api/files/tree/..',
    '/api/./files/tree',
    '//api/files/tree',
    '/API/files/tree',
    '/api/files/%',
    '/api/files/%zz/note',
    '/api/files/%C0%AE/note',
    '/api/share/info/%E0%A4%A',
    '/auth/../api/files/tree',
    '/auth/%C0%AE/login',
    '/graphql/../api/files/tree',
    '/healthz/..',
  ])('404 for %s', async path => {
    expect(gist(await exchange(t.url, head(alice, `GET ${path}`))).slice(0, 2)).toEqual([
      404,
      'ROUTE_NOT_FOUND',
    ])
  })

  it.each([
    '%2e%2e',
    '..',
    '%252e%252e',
    '%2e%2e%2f%2e%2e%2fetc%2fpasswd',
    '%00',
    "'%20OR%20'1'='1",
    '%F0%9F%98%80',
  ])('finds nothing by the token or checksum %s', async text => {
    const wanted: [string, unknown[]][] = [
      [`GET /api/files/${text}/note`, [400, 'FILE_NOT_FOUND']],
      [`GET /api/share/info/${text}`, [404, 'SHARE_NOT_FOUND']],
      [`GET /api/d/${text}`, [404, 'SHARE_NOT_FOUND']],
      [`GET /api/d/private/${text}`, [404, 'TOKEN_NOT_FOUND']],
      [`POST /api/share/revoke/${text}`, [404, 'SHARE_NOT_FOUND']],
      [`GET /api/blobs/${text}`, [404, 'TOKEN_NOT_FOUND']],
    ]
    for (const [request, answer] of wanted)
      expect([request, ...gist(await exchange(t.url, head(alice, request))).slice(0, 2)]).toEqual([
        request,
        ...answer,
      ])
  })
})

describe('An invalid path, by GraphQL', () => {
  const keep = '{ at: { path: "keep/a.txt" } }'
  const named = '{ at: { path: $path } }'
  const asked: [string, string][] = [
    ['query Q($path: String!) { me { drive { entry(path: $path) { id } } } }', 'path'],
    [
      `mutation M($path: String!) { moveEntries(input: { entries: [${keep}], to: ${named} }) { entries { id } } }`,
      'input.to',
    ],
    [
      `mutation M($path: String!) { moveEntries(input: { entries: [${named}], to: { at: { path: "b" } } }) { entries { id } } }`,
      'input.entries',
    ],
    [
      'mutation M($path: String!) { createFolder(input: { at: { path: $path } }) { folder { id } } }',
      'input.at.path',
    ],
    [
      `mutation M($path: String!) { deleteEntries(input: { entries: [${keep}, ${named}] }) { deletedIds } }`,
      'input.entries',
    ],
    [
      'mutation M($path: String!) { startUpload(input: { fileName: "a", size: 1, folder: $path }) { uploadSession { id } } }',
      'input.folder',
    ],
    [
      `mutation M($path: String!) { createLink(input: { entries: ${named} }) { share { id } } }`,
      'input.entries',
    ],
    [
      `mutation M($path: String!) { createDirectShare(input: { entries: [${named}], email: "bob@example.com" }) { mail } }`,
      'input.entries',
    ],
  ]
  const upload =
    'mutation U($input: UploadFileInput!) { uploadFile(input: $input) { file { path } } }'

  it.each([...badPaths, ...onlyInJson])('INVALID_PATH: %s', async (_why, path) => {
    for (const [document, name] of asked) {
      const { status, errors } = await alice.graphql(document, { path })
      const { code, field: culprit } = errors?.[0]?.extensions ?? { code: 'none', field: 'none' }
      expect([document, status, code, culprit]).toEqual([document, 200, 'INVALID_PATH', name])
    }
    const input = { file: null, folder: { at: { path } } }
    const { errors } = await alice.graphql(upload, { input }, new File(['x'], 'new.txt'))
    expect(errors?.[0]?.extensions).toMatchObject({ code: 'INVALID_PATH', field: 'input.folder' })
  })

  it.each(badNames.filter(([, name]) => !/[\n\\\0\x7f]/.test(name)))(
    'INVALID_PATH as the file name of an upload: %s',
    async (_why, name) => {
      const { errors } = await alice.graphql(
        upload,
        { input: { file: null } },
        new File(['x'], name),
      )
      expect(errors?.[0]?.extensions).toMatchObject({ code: 'INVALID_PATH', field: 'input.file' })
    },
  )

  it.each([...badNames, ['a slash', 'a/b'], ['nothing', '']])(
    'INVALID_PATH for a new name: %s',
    async (_why, name) => {
      const document = `mutation M($name: String!) { moveEntries(input: { entries: [${keep}], name: $name }) { entries { id } } }`
      const { errors } = await alice.graphql(document, { name })
      expect(errors?.[0]?.extensions).toMatchObject({ code: 'INVALID_PATH', field: 'input.name' })
    },
  )
})
