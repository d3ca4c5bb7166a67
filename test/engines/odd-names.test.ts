import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { privateKey } from '../support/builders.ts'
import { type Person, startApp, type TestApp } from '../support/harness.ts'
import { restUploader } from '../support/uploader.ts'
import { field, file, form, sendForm } from '../support/wire.ts'

let t: TestApp
let alice: Person

beforeAll(async () => {
  t = await startApp()
  alice = await t.signIn('alice')
})
afterAll(() => t.stop())

const at = (path: string) => encodeURIComponent(path)
const treeOf = async (path: string) =>
  (await alice.rest('GET', `/api/files/tree?path=${at(path)}`)).response
const filesIn = async (path: string): Promise<string[]> =>
  (await treeOf(path)).files.map((f: { name: string }) => f.name)
const foldersIn = async (path: string): Promise<string[]> => (await treeOf(path)).folders
const put = (folder: string, name: string, bytes = 'x') =>
  sendForm(t, alice, form([field('folder', folder), file(name.replace(/[\\"]/g, '\\$&'), bytes)]))
/** What alice still has after her deleted entries were purged. */
const usage = async () => {
  await t.settle()
  return (await t.app.db.rows('SELECT * FROM bucket WHERE user_id = ?', [alice.userId]))[0]
}

const five = (name: string) => Array(5).fill(name).join('/')

/** Unusual but valid names. */
const oddNames: [string, string][] = [
  ['a percent sign', '100%'],
  ['an escape that encodes two dots', '%2e%2e'],
  ['an escape of an escape', '%252e%252e%252f'],
  ['three dots', '...'],
  ['dots and a space between', '. .'],
  ['a plus and an ampersand', 'a+b&c=d;e'],
  ['a question mark and a hash', 'what?#now'],
  ['quotes', `"it's"`],
  ['a semicolon in a name like a header', 'a; filename=b.txt'],
  ['SQL', `' OR 1=1; DROP TABLE entry; --`],
  ['SQL wildcards', '%_%'],
  ['a glob', '*[a-z]?{b,c}'],
  ['emoji of several code points', '👩‍👩‍👧‍👦🏳️‍🌈.png'],
  ['Arabic from right to left', 'ملف.txt'],
  ['an override of direction', 'exe.\u202egpj'],
  ['a zero-width joiner alone', '\u200d'],
  ['a character beyond the basic plane', '𐍈𝒳.txt'],
  ['a private character', '\ue000'],
  ['a property of every object', '__proto__'],
  ['another one', 'constructor'],
  ['a name that Windows reserves', 'CON'],
  ['a name that looks hidden', '.htaccess'],
  ['a number', '0'],
  ['null', 'null'],
  ['255 bytes of ASCII', 'a'.repeat(255)],
  ['255 bytes, two and three each', `${'é'.repeat(126)}€`],
  ['252 bytes of emoji', '😀'.repeat(63)],
  ['white space inside', 'a  b\u00a0c\u3000d'],
]

describe('An unusual but valid name', () => {
  it.each(oddNames)('is kept unchanged by REST: %s', async (_why, name) => {
    const made = await alice.rest('POST', '/api/folders', { json: { path: name } })
    expect([made.status, made.response.folder.name]).toEqual([200, name])
    await alice.upload('plain', 'x')
    const moved = await alice.rest('POST', '/api/files/move', {
      json: { source: 'plain', destination: `/${name}/${name}/` },
    })
    expect([moved.status, moved.response.destination]).toEqual([200, `${name}/${name}`])
    expect(await foldersIn('')).toEqual([name])
    expect(await treeOf(name)).toMatchObject({
      path: name,
      folders: [],
      files: [{ name: `${name}/${name}` }],
    })
    const deleted = await alice.rest('DELETE', `/api/files/delete?file=${at(`${name}/${name}`)}`)
    expect(deleted.response).toEqual({ file_deleted: `${name}/${name}` })
    const removed = await alice.rest('DELETE', `/api/folders?path=${at(name)}`)
    expect([removed.status, removed.response]).toEqual([
      200,
      { folder_deleted: name, files_deleted: 0 },
    ])
    expect(await foldersIn('')).toEqual([])
  })

  it.each(oddNames)('is kept unchanged by an upload: %s', async (_why, name) => {
    expect((await put('', name))?.response.file).toMatchObject({
      name,
      path: name,
      folder: '',
      size: 1,
    })
    expect((await put('', name))?.response.code).toBe('PATH_EXISTS')
    const batch = await alice.rest('DELETE', '/api/files/delete/batch', { json: { files: [name] } })
    expect(batch.response).toEqual({ files_deleted: [name], files_failed: [] })
  })

  it('is kept unchanged by a multipart upload, also in a path of the maximum length', async () => {
    const up = restUploader(alice)
    const longest = five('é'.repeat(102)).split('/')
    const places = [
      ...oddNames.map(([, name]) => [name, name]),
      [longest.slice(0, -1).join('/'), longest[4]],
    ]
    for (const [folder, filename] of places) {
      const { value } = await up.start({ filename, folder, size: 0 })
      expect((await up.look(value.upload_id)).value).toMatchObject({ filename, folder })
      expect((await up.complete(value.upload_id)).value).toMatchObject({
        file_name: `${folder}/${filename}`,
      })
      await alice.rest(
        'DELETE',
        `/api/folders?path=${at(folder?.split('/')[0] ?? '')}&recursive=true`,
      )
    }
  })

  it('is kept unchanged by GraphQL', async () => {
    for (const [, name] of oddNames) {
      const { data } = await alice.graphql(
        'mutation M($path: String!) { createFolder(input: { at: { path: $path } }) { folder { name path } } }',
        { path: `graph/${name}` },
      )
      expect(data).toEqual({ createFolder: { folder: { name, path: `graph/${name}` } } })
    }
    const byCodePoint = oddNames
      .map(([, name]) => name)
      .sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    const { data } = await alice.graphql(
      '{ me { drive { entry(path: "graph") { ... on Folder { entries { nodes { name } } } } } } }',
    )
    const nodes = byCodePoint.map(name => ({ name }))
    expect(data).toEqual({ me: { drive: { entry: { entries: { nodes } } } } })
    await alice.rest('DELETE', '/api/folders?path=graph&recursive=true')
  })
})

describe('A name with the replacement character', () => {
  const name = 'a\ufffdb'
  const encoded = at(name)

  it('is refused by every interface alike', async () => {
    const made = await alice.graphql(
      'mutation M($path: String!) { createFolder(input: { at: { path: $path } }) { folder { id } } }',
      { path: name },
    )
    expect(made.errors?.[0]?.extensions.code).toBe('INVALID_PATH')
    const { key } = await privateKey(t, alice)
    const dav = (method: string) =>
      fetch(`${t.url}/dav/files/${encoded}`, { method, headers: { 'x-api-key': key } })
    const tus = await fetch(`${t.url}/api/tus/`, {
      method: 'POST',
      headers: {
        cookie: alice.cookie,
        'tus-resumable': '1.0.0',
        'upload-length': '0',
        'upload-metadata': `filename ${Buffer.from(name).toString('base64')}`,
      },
    })
    const started = await restUploader(alice).start({ filename: name, size: 0 })
    const folder = await alice.rest('POST', '/api/folders', { json: { path: name } })
    const codes = [folder, await put('', name), started].map(said => said?.status)
    const others = [tus, await dav('PUT'), await dav('MKCOL')].map(({ status }) => status)
    expect([...codes, ...others]).toEqual([400, 400, 400, 400, 400, 400])
    expect([await foldersIn(''), await filesIn('')]).toEqual([[], []])
  })
})

describe('The limits of a path', () => {
  it.each([
    ['32 names', Array(32).fill('a').join('/')],
    ['1,024 bytes', five('a'.repeat(204))],
    ['1,024 bytes, two each', five('é'.repeat(102))],
    ['1,024 bytes after NFC, more before', five('e\u0301'.repeat(102))],
  ])('accept %s', async (_what, path) => {
    const names = path.normalize('NFC').split('/')
    const upload = await put(names.slice(0, -1).join('/'), names.at(-1) ?? '')
    expect(upload?.response.file.path).toBe(names.join('/'))
    expect(await filesIn(names.slice(0, -1).join('/'))).toEqual([names.join('/')])
    await alice.rest('DELETE', `/api/folders?path=${at(names[0] ?? '')}&recursive=true`)
  })

  it('400 for a move that would push an entry below beyond the limits; nothing moves', async () => {
    await put('a/b', 'c'.repeat(255))
    const before = await usage()
    for (const destination of [Array(31).fill('x').join('/'), `${five('x'.repeat(160))}`]) {
      const { status, response } = await alice.rest('POST', '/api/folders/move', {
        json: { source: 'a', destination },
      })
      expect([status, response.code, response.field]).toEqual([400, 'INVALID_PATH', 'destination'])
    }
    expect([await usage(), await foldersIn(''), await filesIn('a/b')]).toEqual([
      before,
      ['a'],
      [`a/b/${'c'.repeat(255)}`],
    ])
    await alice.rest('DELETE', '/api/folders?path=a&recursive=true')
  })
})

describe('Similar names', () => {
  it('are equal when NFC makes them equal', async () => {
    const [composed, decomposed] = ['é.txt', 'e\u0301.txt']
    const made = await put('nfc', decomposed)
    expect(made?.response.file).toMatchObject({ name: composed, path: `nfc/${composed}` })
    expect((await put('nfc', composed))?.response.code).toBe('PATH_EXISTS')
    expect(await filesIn('nfc')).toEqual([`nfc/${composed}`])
    const { response } = await alice.rest(
      'DELETE',
      `/api/files/delete?file=${at(`nfc/${decomposed}`)}`,
    )
    expect(response).toEqual({ file_deleted: `nfc/${composed}` })
    const twins = ['\u212b', 'A\u030a', '\u00c5']
    for (const name of twins)
      await alice.rest('POST', '/api/folders', { json: { path: `angstrom/${name}` } })
    expect(await foldersIn('angstrom')).toEqual(['\u00c5'])
  })

  it('are different when only NFKC, case, accents or a collation make them equal', async () => {
    const names = [
      'a',
      'A',
      'á',
      'Ａ',
      'ª',
      'ss',
      'ß',
      'ﬁ',
      'fi',
      'i',
      'İ',
      'ı',
      'a\u200b',
      'a!',
      'æ',
      'ae',
      'Ⅳ',
      'IV',
    ]
    for (const name of names) expect((await put('near', name, name))?.status).toBe(200)
    const files: { name: string; size: number }[] = (await treeOf('near')).files
    const sorted = names.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    expect(files.map(f => [f.name, f.size])).toEqual(
      sorted.map(name => [`near/${name}`, Buffer.byteLength(name)]),
    )
    for (const name of names) {
      const path = `near/${name}`
      const { response } = await alice.rest('DELETE', '/api/files/delete/batch', {
        json: { files: [path] },
      })
      expect(response.files_deleted).toEqual([path])
      expect(await filesIn('near')).not.toContain(path)
    }
    expect(await filesIn('near')).toEqual([])
  })

  it.each(['%', '_', '%%', 'a%', '_bc', '*', '?', '[a-c]bc', 'ABC', 'abc\\', 'ab'])(
    'are matched literally, not as patterns: %s',
    async name => {
      await put('like', 'abc')
      const file404 = await alice.rest('DELETE', `/api/files/delete?file=${at(`like/${name}`)}`)
      expect([400, 404]).toContain(file404.status)
      const folder404 = await alice.rest(
        'DELETE',
        `/api/folders?path=${at(name === 'ABC' ? 'LIKE' : name)}&recursive=true`,
      )
      expect(folder404.status).toBe(400)
      expect((await treeOf(name)).files ?? []).toEqual([])
      expect(await filesIn('like')).toEqual(['like/abc'])
    },
  )

  it('can be a file and a folder only in different folders', async () => {
    await put('kinds', 'a')
    const folder = await alice.rest('POST', '/api/folders', { json: { path: 'kinds/a' } })
    const below = await put('kinds/a', 'b')
    expect([folder.status, folder.response.code, below?.status, below?.response.code]).toEqual([
      409,
      'PATH_EXISTS',
      409,
      'PATH_EXISTS',
    ])
    expect(await treeOf('kinds')).toMatchObject({ folders: [], files: [{ name: 'kinds/a' }] })
  })
})
