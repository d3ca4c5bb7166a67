import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { v7 as newId } from 'uuid'
import { driveOf, found, join, put, ROOMY, UNHURRIED } from '../support/builders.ts'
import { expectConsistent } from '../support/consistency.ts'
import { type Person, startApp, type TestApp } from '../support/harness.ts'
import { anId, aTime, awkwardNames, byCodePoint } from '../support/shapes.ts'

// biome-ignore lint/suspicious/noExplicitAny: answers have many shapes
type Anything = any

/** The default limits of the plan for both kinds of drives. */
const LIMITS = {
  ...ROOMY,
  maxFileSizeBytes: 2 * 1024 ** 3,
  maxTotalStorageBytes: 5 * 1024 ** 3,
  maxTotalStorageBytesWorkspace: 5 * 1024 ** 3,
  maxFiles: 10_000,
  maxFilesWorkspace: 10_000,
  maxFolders: 10_000,
  maxWorkspaceFolders: 10_000,
  maxNotes: 10_000,
}

let t: TestApp
let alice: Person
let bob: Person
let carol: Person
let garden: string
let gardenDrive: string

beforeAll(async () => {
  t = await startApp(UNHURRIED)
  await t.limit(LIMITS)
  ;[alice, bob, carol] = await Promise.all([t.signIn('alice'), t.signIn('bob'), t.signIn('carol')])
  garden = await found(alice)
  gardenDrive = await driveOf(alice, garden)
  await join(t, garden, carol, 'viewer')
})
afterAll(async () => {
  await expectConsistent(t)
  await t.stop()
})

/** The details of the first error, with its code. */
const refusal = async (asked: ReturnType<Person['graphql']>) =>
  (await asked).errors?.[0]?.extensions

async function answer(asked: ReturnType<Person['graphql']>): Promise<Anything> {
  const { data, errors } = await asked
  expect(errors).toBeUndefined()
  return data
}

const FILE =
  'id name path size contentType md5 createdAt updatedAt createdBy { id } parent { path }'
const UPLOAD = `mutation ($input: UploadFileInput!) { uploadFile(input: $input) {
  file { ${FILE} } folder { path fileCount size } drive { id } } }`
const MKDIR = `mutation ($input: CreateFolderInput!) { createFolder(input: $input) {
  folder { id name path createdAt createdBy { id } fileCount size } parent { path } drive { id } } }`
const MOVE = `mutation ($input: MoveEntriesInput!) { moveEntries(input: $input) {
  entries { id name path } from { path fileCount } to { path fileCount } drive { id } } }`
const DELETE = `mutation ($input: DeleteEntriesInput!) { deleteEntries(input: $input) {
  deletedIds filesDeleted folders { path fileCount } drive { id usage { usedBytes fileCount folderCount } } } }`

const drives = [
  {
    kind: 'one’s own',
    front: '',
    limitOf: { bytes: 'max_total_storage_bytes', files: 'max_files', folders: 'max_folders' },
  },
  {
    kind: 'that of a workspace',
    front: '/',
    limitOf: {
      bytes: 'max_total_storage_bytes_workspace',
      files: 'max_files_workspace',
      folders: 'max_workspace_folders',
    },
  },
]

describe.each(drives)('A drive: $kind', ({ kind, front, limitOf }) => {
  const isWorkspace = front === '/'
  const top = `graph-${isWorkspace ? 'workspace' : 'own'}`
  const at = (path: string) => ({ at: { ...(isWorkspace ? { drive: gardenDrive } : {}), path } })
  /** Paths as they appear in responses. */
  const shown = (path: string) => `${front}${path}`
  const upload = (path: string, bytes = 'x', person = alice) => {
    const cut = path.lastIndexOf('/')
    const input = { file: null, folder: at(path.slice(0, Math.max(cut, 0))) }
    return person.graphql(
      UPLOAD,
      { input },
      new File([bytes], path.slice(cut + 1), { type: 'text/plain' }),
    )
  }
  const have = async (path: string, bytes?: string): Promise<string> =>
    (await answer(upload(path, bytes))).uploadFile.file.id
  const mkdir = (path: string, person = alice) => person.graphql(MKDIR, { input: at(path) })
  const haveFolder = async (path: string): Promise<string> =>
    (await answer(mkdir(path))).createFolder.folder.id
  const move = (input: object, person = alice) => person.graphql(MOVE, { input })
  const remove = (input: object, person = alice) => person.graphql(DELETE, { input })
  const holder = isWorkspace
    ? 'query ($path: String!, $id: ID) { holder: workspace(id: $id)'
    : 'query ($path: String!) { holder: me'
  const entry = async (path: string, fields = 'id path', person = alice): Promise<Anything> => {
    const query = `${holder} { drive { entry(path: $path) { ${fields} } } } }`
    const { data, errors } = await person.graphql<Anything>(
      query,
      isWorkspace ? { path, id: garden } : { path },
    )
    return errors ? errors[0]?.extensions : data.holder.drive.entry
  }
  const namesIn = async (path: string): Promise<string[]> => {
    const found = await entry(path, '... on Folder { entries(first: 1000) { nodes { name } } }')
    return found.entries.nodes.map(({ name }: { name: string }) => name)
  }
  const usage = async () => {
    const query =
      'query ($id: ID!) { node(id: $id) { ... on Drive { usage { usedBytes fileCount folderCount } } } }'
    const id = isWorkspace ? gardenDrive : await driveOf(alice)
    return (await answer(alice.graphql(query, { id }))).node.usage
  }
  /** Sets limits for both kinds of drives while some work runs. */
  async function limited(limits: Record<string, number>, work: () => Promise<void>) {
    await t.limit(limits)
    try {
      await work()
    } finally {
      await t.limit(LIMITS)
    }
  }
  /**
   * Expects a refusal for callers without a credential and without access: FORBIDDEN for a viewer
   * of the workspace, and "not found" for others.
   */
  async function expectClosed(query: string, input: object, code: string, file?: File) {
    expect(await refusal(t.anonymous.graphql(query, { input }, file))).toEqual({
      code: 'UNAUTHENTICATED',
    })
    if (isWorkspace) {
      expect(await refusal(carol.graphql(query, { input }, file))).toEqual({ code: 'FORBIDDEN' })
      expect(await refusal(bob.graphql(query, { input }, file))).toMatchObject({
        code: expect.stringMatching(`FORBIDDEN|${code}`),
      })
    } else if (code)
      expect(await refusal(bob.graphql(query, { input }, file))).toMatchObject({ code })
  }

  describe('uploadFile', () => {
    it('stores a file in a folder, and creates missing folders', async () => {
      const before = await usage()
      const { uploadFile } = await answer(upload(`${top}/up/u\u0308/ä.txt`, 'hello'))
      expect(uploadFile).toEqual({
        file: {
          id: anId,
          name: 'ä.txt',
          path: shown(`${top}/up/ü/ä.txt`),
          size: 5,
          contentType: 'text/plain',
          md5: '5d41402abc4b2a76b9719d911017c592',
          createdAt: aTime,
          updatedAt: aTime,
          createdBy: { id: alice.userId },
          parent: { path: shown(`${top}/up/ü`) },
        },
        folder: { path: shown(`${top}/up/ü`), fileCount: 1, size: 5 },
        drive: { id: isWorkspace ? gardenDrive : await driveOf(alice) },
      })
      expect(await usage()).toEqual({
        usedBytes: before.usedBytes + 5,
        fileCount: before.fileCount + 1,
        folderCount: before.folderCount + 3,
      })
    })

    it('stores a file by the id of its folder, and in the root', async () => {
      const folder = { id: await haveFolder(`${top}/by-id`) }
      const into = await answer(
        alice.graphql(UPLOAD, { input: { file: null, folder } }, new File(['x'], 'a.txt')),
      )
      expect(into.uploadFile.file.path).toBe(shown(`${top}/by-id/a.txt`))
      const id = await have(`${kind}.txt`)
      expect((await entry('')).path).toBe(front)
      expect(await namesIn('')).toContain(`${kind}.txt`)
      await answer(remove({ entries: [{ id }] }))
    })

    it('refuses taken names and paths through a file, and keeps the existing entries', async () => {
      await have(`${top}/taken/a.txt`, 'first')
      await haveFolder(`${top}/taken/folder`)
      const before = await usage()
      for (const [path, blocking] of [
        ['a.txt', 'a.txt'],
        ['folder', 'folder'],
        ['a.txt/b/c.txt', 'a.txt'],
      ])
        expect(await refusal(upload(`${top}/taken/${path}`, 'second'))).toEqual({
          code: 'PATH_EXISTS',
          path: shown(`${top}/taken/${blocking}`),
        })
      expect(await usage()).toEqual(before)
      expect((await entry(`${top}/taken/a.txt`, 'size')).size).toBe(5)
    })

    it('refuses invalid input', async () => {
      const send = (folder: object, name = 'new.txt', file: null | string = null) =>
        refusal(
          alice.graphql(
            UPLOAD,
            { input: { file, folder } },
            ...(file === null ? [new File(['x'], name)] : []),
          ),
        )
      expect(await send(at('a/../b'))).toEqual({ code: 'INVALID_PATH', field: 'input.folder' })
      expect(await send(at(''), '..')).toEqual({ code: 'INVALID_PATH', field: 'input.file' })
      expect(await send(at(''), 'a', 'a text')).toMatchObject({ code: 'INVALID_INPUT' })
      expect(await send({})).toMatchObject({ code: 'INVALID_INPUT' })
      expect(await send({ ...at(''), id: newId() })).toMatchObject({ code: 'INVALID_INPUT' })
      for (const id of [newId(), 'nonsense', '🦊'])
        expect(await send({ id })).toEqual({ code: 'FILE_NOT_FOUND', id })
      const id = await have(`${top}/no-folder.txt`)
      expect(await send({ id })).toEqual({ code: 'FOLDER_NOT_FOUND', id })
    })

    it('stops at the limits of the plan, to the byte and to the file', async () => {
      const { usedBytes: used, fileCount: files } = await usage()
      await limited({ maxFileSizeBytes: 10 }, async () => {
        expect(await refusal(upload(`${top}/large`, 'x'.repeat(11)))).toEqual({
          code: 'FILE_TOO_LARGE',
          limit: 'max_file_size_bytes',
          max: 10,
        })
      })
      const max = used + 10
      await limited({ maxTotalStorageBytes: max, maxTotalStorageBytesWorkspace: max }, async () => {
        const racing = await Promise.all(
          [1, 2, 3, 4, 5].map(n => upload(`${top}/full-${n}`, 'xxx')),
        )
        expect(racing.map(({ code }) => code ?? 'ok').sort()).toEqual([
          'QUOTA_EXCEEDED',
          'QUOTA_EXCEEDED',
          'ok',
          'ok',
          'ok',
        ])
        expect((await upload(`${top}/full-to-the-byte`, 'x')).code).toBeUndefined()
        expect(await refusal(upload(`${top}/full`, 'x'))).toEqual({
          code: 'QUOTA_EXCEEDED',
          limit: limitOf.bytes,
          max,
          used: max,
        })
      })
      await limited({ maxFiles: files + 4, maxFilesWorkspace: files + 4 }, async () => {
        expect(await refusal(upload(`${top}/many`, ''))).toEqual({
          code: 'QUOTA_EXCEEDED',
          limit: limitOf.files,
          max: files + 4,
          used: files + 4,
        })
      })
    })

    it('requires write access', async () => {
      const id = await haveFolder(`${top}/closed`)
      await expectClosed(
        UPLOAD,
        { file: null, folder: { id } },
        'FILE_NOT_FOUND',
        new File(['x'], 'a'),
      )
      expect(await namesIn(`${top}/closed`)).toEqual([])
    })
  })

  describe('entry', () => {
    it('finds exactly the entry at a path', async () => {
      const id = await have(`${top}/find/a.txt`)
      for (const path of [`${top}/find/a.txt`, `/${top}/find/a.txt/`])
        expect(await entry(path, '__typename id path')).toEqual({
          __typename: 'File',
          id,
          path: shown(`${top}/find/a.txt`),
        })
      expect(await entry(`${top}/find`, '__typename')).toEqual({ __typename: 'Folder' })
      for (const path of [`${top}/none`, `${top}/find/a.txt/b`])
        expect(await entry(path)).toBeNull()
      expect(await entry('a//b')).toEqual({ code: 'INVALID_PATH', field: 'path' })
    })

    it('is null for another user’s entry', async () => {
      const id = await have(`${top}/hers.txt`)
      const NODE = 'query ($id: ID!) { node(id: $id) { id } nodes(ids: [$id]) { id } }'
      expect((await bob.graphql(NODE, { id })).data).toEqual({ node: null, nodes: [null] })
      if (isWorkspace) {
        expect(await entry(`${top}/hers.txt`, 'id', bob)).toEqual({ code: 'FORBIDDEN' })
        expect(await entry(`${top}/hers.txt`, 'id', carol)).toEqual({ id })
      } else expect(await entry(`${top}/hers.txt`, 'id', bob)).toBeNull()
      expect(await entry(`${top}/hers.txt`, 'id', t.anonymous)).toEqual({ code: 'UNAUTHENTICATED' })
    })

    it('lists a folder by code point, and page by page', async () => {
      for (const name of awkwardNames) await haveFolder(`${top}/sorted/${name}`)
      for (const name of awkwardNames) await have(`${top}/sorted/${name} file`)
      const sorted = awkwardNames.toSorted(byCodePoint)
      const all = [...sorted, ...awkwardNames.map(name => `${name} file`).toSorted(byCodePoint)]
      expect(await namesIn(`${top}/sorted`)).toEqual(all)
      for (const first of [1, 7, 36]) {
        const walked: string[] = []
        let after = ''
        for (let more = true; more; ) {
          const fields = `... on Folder { entries(first: ${first}${after && `, after: "${after}"`}) {
            nodes { name } pageInfo { hasNextPage endCursor } } }`
          const { entries } = await entry(`${top}/sorted`, fields)
          walked.push(...entries.nodes.map(({ name }: { name: string }) => name))
          more = entries.pageInfo.hasNextPage
          after = entries.pageInfo.endCursor
        }
        expect(walked).toEqual(all)
      }
    })

    it('continues correctly when entries change between pages', async () => {
      const ids: Record<string, string> = {}
      for (const name of ['b', 'd', 'f']) ids[name] = await have(`${top}/moving/${name}`)
      const page = (args: string) =>
        `... on Folder { entries(${args}) { nodes { name } pageInfo { endCursor } } }`
      const { entries } = await entry(`${top}/moving`, page('first: 2'))
      await have(`${top}/moving/a`)
      await have(`${top}/moving/e`)
      await answer(remove({ entries: [{ id: ids.d }] }))
      const next = await entry(`${top}/moving`, page(`after: "${entries.pageInfo.endCursor}"`))
      expect(next.entries.nodes).toEqual([{ name: 'e' }, { name: 'f' }])
    })
  })

  describe('createFolder', () => {
    it('creates a folder with its parents', async () => {
      const { createFolder } = await answer(mkdir(`/${top}/made/in/one/`))
      expect(createFolder).toEqual({
        folder: {
          id: anId,
          name: 'one',
          path: shown(`${top}/made/in/one`),
          createdAt: aTime,
          createdBy: { id: alice.userId },
          fileCount: 0,
          size: 0,
        },
        parent: { path: shown(`${top}/made/in`) },
        drive: { id: isWorkspace ? gardenDrive : await driveOf(alice) },
      })
    })

    it('refuses taken names, paths through a file, and invalid names', async () => {
      await have(`${top}/clash/file`)
      for (const [path, blocking = path] of [
        ['clash'],
        ['clash/file'],
        ['clash/file/new/one', 'clash/file'],
      ])
        expect(await refusal(mkdir(`${top}/${path}`))).toEqual({
          code: 'PATH_EXISTS',
          path: shown(`${top}/${blocking}`),
        })
      for (const path of ['', '/', 'a/../b', Array(33).fill('n').join('/')])
        expect(await refusal(mkdir(path))).toEqual({ code: 'INVALID_PATH', field: 'input.at.path' })
    })

    it('succeeds once when many request it at once', async () => {
      const codes = (
        await Promise.all(Array.from({ length: 6 }, () => mkdir(`${top}/race/deep`)))
      ).map(({ code }) => code)
      expect(codes.filter(code => code === undefined)).toHaveLength(1)
      expect(codes.filter(code => code === 'PATH_EXISTS')).toHaveLength(5)
      expect(await namesIn(`${top}/race`)).toEqual(['deep'])
    })

    it('stops at the limit of the plan for every way to create folders', async () => {
      const id = await have(`${top}/before-limit`)
      const { folderCount } = await usage()
      const max = folderCount + 2
      await limited({ maxFolders: max, maxWorkspaceFolders: max }, async () => {
        const full = { code: 'QUOTA_EXCEEDED', limit: limitOf.folders, max, used: folderCount }
        expect(await refusal(mkdir(`${top}/1/2/3`))).toEqual(full)
        expect(await refusal(upload(`${top}/1/2/3/a.txt`))).toEqual(full)
        expect(await refusal(move({ entries: [{ id }], to: at(`${top}/1/2/3`) }))).toEqual(full)
        expect((await mkdir(`${top}/1/2`)).code).toBeUndefined()
        expect(await refusal(mkdir(`${top}/1/2/3`))).toEqual({ ...full, used: max })
        // More quota would not help.
        expect((await mkdir(`${top}/1/2`)).code).toBe('PATH_EXISTS')
      })
    })

    it('requires write access', () =>
      expectClosed(MKDIR, at(`${top}/closed/more`), isWorkspace ? 'FORBIDDEN' : ''))
  })

  describe('moveEntries', () => {
    it('moves and renames a file, and changes neither its id nor its blob', async () => {
      const id = await have(`${top}/from/a.txt`, 'moving')
      const row = () =>
        t.app.db.rows('SELECT id, blob_id, md5, created_at FROM entry WHERE id = ?', [id])
      const before = await row()
      const { moveEntries } = await answer(
        move({ entries: [{ id }], to: at(`/${top}/to/new/`), name: 'b.txt' }),
      )
      expect(moveEntries).toEqual({
        entries: [{ id, name: 'b.txt', path: shown(`${top}/to/new/b.txt`) }],
        from: [{ path: shown(`${top}/from`), fileCount: 0 }],
        to: { path: shown(`${top}/to/new`), fileCount: 1 },
        drive: { id: isWorkspace ? gardenDrive : await driveOf(alice) },
      })
      expect(await row()).toEqual(before)
      expect(await namesIn(`${top}/from`)).toEqual([])
    })

    it('moves a folder with its contents up, down and sideways, with correct totals at every step', async () => {
      await have(`${top}/ways/x/y/z/f`, '12345')
      await have(`${top}/ways/x/y/g`, '123')
      for (const [source, to, size, files] of [
        ['ways/x/y', 'ways', 8, 2],
        ['ways/y/z', 'ways/x', 5, 1],
        ['ways/x', 'ways/y', 8, 2],
      ] as const) {
        const { moveEntries } = await answer(
          move({ entries: [at(`${top}/${source}`)], to: at(`${top}/${to}`) }),
        )
        expect(moveEntries.to).toEqual({ path: shown(`${top}/${to}`), fileCount: files })
        expect((await entry(`${top}/${to}`, 'size')).size).toBe(size)
      }
      expect(await namesIn(`${top}/ways/y/x/z`)).toEqual(['f'])
      await expectConsistent(t)
    })

    it('costs the same for any contents', async () => {
      await have(`${top}/cost/small/0/0`)
      for (let i = 0; i < 10; i++) await have(`${top}/cost/large/${i % 4}/${i}`)
      const cost = async (name: string) => {
        const input = { entries: [at(`${top}/cost/${name}`)], name: `${name} moved` }
        t.statements()
        await answer(
          alice.graphql(
            'mutation ($input: MoveEntriesInput!) { moveEntries(input: $input) { drive { id } } }',
            {
              input,
            },
          ),
        )
        return t.statements().length
      }
      const small = await cost('small')
      expect(small).toBeGreaterThan(3)
      expect(await cost('large')).toBeLessThanOrEqual(small)
    })

    it('refuses a taken name', async () => {
      const id = await have(`${top}/onto/a`)
      await have(`${top}/onto/b`)
      await haveFolder(`${top}/onto/folder/a`)
      for (const [input, path] of [
        [{ name: 'b' }, 'onto/b'],
        [{ to: at(`${top}/onto/folder`) }, 'onto/folder/a'],
        [{ to: at(`${top}/onto/b`) }, 'onto/b'],
        [{ to: at(`${top}/onto/b/c`) }, 'onto/b'],
      ] as const)
        expect(await refusal(move({ entries: [{ id }], ...input }))).toEqual({
          code: 'PATH_EXISTS',
          path: shown(`${top}/${path}`),
        })
    })

    it('refuses a folder into itself, and a move that makes paths below too long', async () => {
      await have(`${top}/self/a/b/c`)
      for (const to of ['self/a', 'self/a/b', 'self/a/new'])
        expect(
          await refusal(move({ entries: [at(`${top}/self/a`)], to: at(`${top}/${to}`) })),
        ).toEqual({
          code: 'INVALID_PATH',
          field: 'input.to',
        })
      await have(`${top}/deep/${Array(28).fill('n').join('/')}/f`)
      const deeper = (to: string) => move({ entries: [at(`${top}/deep`)], to: at(to) })
      expect(await refusal(deeper('a/b/c'))).toMatchObject({ code: 'INVALID_PATH' })
      expect((await deeper('a/b')).code).toBeUndefined()
    })

    it('refuses missing entries and other invalid input', async () => {
      const id = await have(`${top}/wrong/a`)
      const to = at(`${top}/wrong`)
      const refused = (input: object) => refusal(move(input))
      for (const path of ['none', 'wrong/a/b'])
        expect(await refused({ entries: [at(`${top}/${path}`)], to })).toEqual({
          code: 'FILE_NOT_FOUND',
          path: shown(`${top}/${path}`),
        })
      for (const none of [newId(), 'nonsense', '🦊'])
        expect(await refused({ entries: [{ id: none }], to })).toEqual({
          code: 'FILE_NOT_FOUND',
          id: none,
        })
      expect(await refused({ entries: [{ id }], to: { id } })).toEqual({
        code: 'FOLDER_NOT_FOUND',
        id,
      })
      expect(await refused({ entries: [{ id }] })).toEqual({
        code: 'INVALID_INPUT',
        field: 'input.to',
      })
      expect(await refused({ entries: [], to })).toEqual({
        code: 'INVALID_INPUT',
        field: 'input.entries',
      })
      expect(await refused({ entries: [{ id }, at(`${top}/wrong`)], name: 'b' })).toEqual({
        code: 'INVALID_INPUT',
        field: 'input.name',
      })
      for (const name of ['', 'a/b', '..'])
        expect(await refused({ entries: [{ id }], name })).toEqual({
          code: 'INVALID_PATH',
          field: 'input.name',
        })
      expect(await refused({ entries: [at('')], to })).toEqual({
        code: 'INVALID_PATH',
        field: 'input.entries',
      })
      expect(await refused({ entries: [{ id }], to: at('a//b') })).toEqual({
        code: 'INVALID_PATH',
        field: 'input.to',
      })
      expect(await refused({ entries: Array(1001).fill({ id }), to })).toMatchObject({
        code: 'INVALID_INPUT',
      })
      expect(await namesIn(`${top}/wrong`)).toEqual(['a'])
    })

    it('moves nothing when one of the entries cannot be moved', async () => {
      const ids = [await have(`${top}/all/a`), await have(`${top}/all/b`)]
      await have(`${top}/none/b`)
      const input = { entries: ids.map(id => ({ id })), to: at(`${top}/none`) }
      expect(await refusal(move(input))).toEqual({
        code: 'PATH_EXISTS',
        path: shown(`${top}/none/b`),
      })
      expect([await namesIn(`${top}/all`), await namesIn(`${top}/none`)]).toEqual([
        ['a', 'b'],
        ['b'],
      ])
    })

    it('requires write access, and stays within one drive', async () => {
      const id = await have(`${top}/closed/a`)
      await expectClosed(MOVE, { entries: [{ id }], name: 'mine' }, 'FILE_NOT_FOUND')
      const elsewhere = isWorkspace ? { path: 'x' } : { drive: gardenDrive, path: 'x' }
      expect(await refusal(move({ entries: [{ id }], to: { at: elsewhere } }))).toEqual({
        code: 'INVALID_INPUT',
        field: 'input.entries',
      })
      expect(await namesIn(`${top}/closed`)).toEqual(['a'])
    })
  })

  describe('deleteEntries', () => {
    it('deletes files immediately, and the blobs in the next sweep', async () => {
      const id = await have(`${top}/gone/a`, 'going')
      await have(`${top}/gone/b`, 'going too')
      const before = await usage()
      const { deleteEntries } = await answer(remove({ entries: [{ id }, at(`/${top}/gone/b/`)] }))
      expect(deleteEntries).toMatchObject({
        deletedIds: [id, anId],
        filesDeleted: 2,
        folders: [{ path: shown(`${top}/gone`), fileCount: 0 }],
        drive: {
          usage: { ...before, usedBytes: before.usedBytes - 14, fileCount: before.fileCount - 2 },
        },
      })
      expect(
        (await alice.graphql('query ($id: ID!) { node(id: $id) { id } }', { id })).data,
      ).toEqual({ node: null })
      await expectConsistent(t)
    })

    it('deletes folders with their contents on request, and frees their names at once', async () => {
      const id = await have(`${top}/tree/x/y/a`, '12345')
      await have(`${top}/tree/x/b`)
      await haveFolder(`${top}/tree/x/empty`)
      const folder = at(`${top}/tree/x`)
      for (const more of [{}, { recursive: false }])
        expect(await refusal(remove({ entries: [folder], ...more }))).toMatchObject({
          code: 'FOLDER_NOT_EMPTY',
          files: 2,
          folders: 2,
        })
      expect(
        (await answer(remove({ entries: [at(`${top}/tree/x/empty`)] }))).deleteEntries.filesDeleted,
      ).toBe(0)
      const { deleteEntries } = await answer(remove({ entries: [folder], recursive: true }))
      expect(deleteEntries.filesDeleted).toBe(2)
      expect(
        (await alice.graphql('query ($id: ID!) { node(id: $id) { id } }', { id })).data,
      ).toEqual({ node: null })
      expect((await upload(`${top}/tree/x/y/a`)).code).toBeUndefined()
      await expectConsistent(t)
    })

    it('refuses missing entries and other invalid input, and then deletes nothing', async () => {
      const id = await have(`${top}/stay/a`)
      const refused = (...entries: object[]) =>
        refusal(remove({ entries: [{ id }, ...entries], recursive: true }))
      for (const path of ['absent', 'stay/a/b'])
        expect(await refused(at(`${top}/${path}`))).toEqual({
          code: 'FILE_NOT_FOUND',
          path: shown(`${top}/${path}`),
        })
      for (const none of [newId(), 'nonsense', '🦊'])
        expect(await refused({ id: none })).toEqual({ code: 'FILE_NOT_FOUND', id: none })
      for (const path of ['', '/', '..'])
        expect(await refused(at(path))).toEqual({ code: 'INVALID_PATH', field: 'input.entries' })
      expect(await refused(...Array(1000).fill({ id }))).toMatchObject({ code: 'INVALID_INPUT' })
      expect(await refusal(remove({ entries: [] }))).toEqual({
        code: 'INVALID_INPUT',
        field: 'input.entries',
      })
      expect(await namesIn(`${top}/stay`)).toEqual(['a'])
      expect(
        (await answer(remove({ entries: [{ id }, { id }, at(`${top}/stay/a`)] }))).deleteEntries
          .deletedIds,
      ).toEqual([id])
    })

    it('requires delete access', async () => {
      const id = await have(`${top}/stays/a`)
      await expectClosed(DELETE, { entries: [{ id }] }, 'FILE_NOT_FOUND')
      expect(await namesIn(`${top}/stays`)).toEqual(['a'])
    })
  })

  describe('download', () => {
    const LINK = `query ($id: ID!, $disposition: Disposition) { node(id: $id) { ... on File {
      download(disposition: $disposition) { url fileName expiresAt } } } }`

    it('returns a signed address, for viewing or saving', async () => {
      const id = await have(`${top}/docs/ä.txt`, 'hello')
      for (const [disposition, header] of [
        [undefined, /^attachment;.*%C3%A4\.txt/],
        ['ATTACHMENT', /^attachment/],
        ['INLINE', /^inline/],
      ] as const) {
        const { download } = (await answer(alice.graphql(LINK, { id, disposition }))).node
        expect(download).toEqual({ url: expect.any(String), fileName: 'ä.txt', expiresAt: aTime })
        expect(Date.parse(download.expiresAt)).toBeGreaterThan(Date.now())
        const bytes = await fetch(download.url)
        expect([bytes.status, await bytes.text()]).toEqual([200, 'hello'])
        expect(bytes.headers.get('content-disposition')).toMatch(header)
      }
      expect(await refusal(alice.graphql(LINK, { id, disposition: 'EVIL' }))).toMatchObject({
        code: 'INVALID_INPUT',
      })
      expect((await bob.graphql(LINK, { id })).data).toEqual({ node: null })
      expect(await refusal(t.anonymous.graphql(LINK, { id }))).toEqual({ code: 'UNAUTHENTICATED' })
      if (isWorkspace)
        expect((await answer(carol.graphql(LINK, { id }))).node.download.fileName).toBe('ä.txt')
    })
  })
})

describe('REST and GraphQL', () => {
  it('show the same file', async () => {
    const { response } = await alice.upload('faces/a.txt', 'hello', 'text/plain')
    const { node } = await answer(
      alice.graphql(`query ($id: ID!) { node(id: $id) { ... on File { ${FILE} } } }`, {
        id: response.file.id,
      }),
    )
    const { id, name, path, folder, file_type, size, md5_checksum, created_at, updated_at } =
      response.file
    expect(node).toEqual({
      id,
      name,
      path,
      parent: { path: folder },
      contentType: file_type,
      size,
      md5: md5_checksum,
      createdAt: created_at,
      updatedAt: updated_at,
      createdBy: { id: alice.userId },
    })
    const { response: shared } = await put(alice, garden, 'faces/a.txt', 'hello')
    const query = 'query ($id: ID!) { node(id: $id) { ... on File { path createdAt md5 } } }'
    expect((await answer(alice.graphql(query, { id: shared[0].id }))).node).toEqual({
      path: '/faces/a.txt',
      createdAt: shared[0].created_at,
      md5: shared[0].md5_checksum,
    })
  })
})

describe('A note', () => {
  const WRITE =
    'mutation ($input: WriteNoteInput!) { writeNote(input: $input) { note md5 file { id note } } }'
  const READ =
    'query ($md5: String!) { me { note(md5: $md5) drive { entry(path: "notes/a.txt") { ... on File { note } } } } }'
  const md5 = createHash('md5').update('with a note').digest('hex')
  let id: string
  const write = (input: object, person = alice) => person.graphql(WRITE, { input })

  beforeAll(async () => {
    id = (await alice.upload('notes/a.txt', 'with a note')).response.file.id
  })

  it('is written and removed, by the file or by its content', async () => {
    for (const name of [{ file: id }, { md5 }, { md5: md5.toUpperCase() }]) {
      const content = `first\nline, 🦊 of ${Object.keys(name)}`
      const { writeNote } = await answer(write({ ...name, content }))
      expect(writeNote).toEqual({
        note: content,
        md5,
        file: 'file' in name ? { id, note: content } : null,
      })
      const { me } = await answer(alice.graphql(READ, { md5 }))
      expect(me).toEqual({ note: content, drive: { entry: { note: content } } })
      expect((await alice.rest('GET', `/api/files/${md5}/note`)).response.content).toBe(content)
    }
    expect((await answer(write({ md5, content: '' }))).writeNote.note).toBe('')
    expect((await answer(alice.graphql(READ, { md5 }))).me.note).toBe('')
  })

  it('is refused for invalid input', async () => {
    const content = 'x'
    const refused = (input: object, person = alice) => refusal(write(input, person))
    expect(await refused({ md5, content: 'x'.repeat(10_001) })).toEqual({
      code: 'INVALID_INPUT',
      field: 'input.content',
    })
    expect(await refused({ content })).toMatchObject({ code: 'INVALID_INPUT' })
    expect(await refused({ md5, file: id, content })).toMatchObject({ code: 'INVALID_INPUT' })
    const [folder, shared] = [
      (await answer(alice.graphql('{ me { drive { entry(path: "notes") { id } } } }'))).me.drive
        .entry.id,
      (await put(alice, garden, 'noted.txt', 'noted')).response[0].id,
    ]
    for (const file of [newId(), folder, shared])
      expect(await refused({ file, content })).toEqual({ code: 'FILE_NOT_FOUND', id: file })
    expect(await refused({ md5: '0'.repeat(32), content })).toMatchObject({
      code: 'FILE_NOT_FOUND',
    })
    expect(await refused({ md5, content }, bob)).toMatchObject({ code: 'FILE_NOT_FOUND' })
    expect(await refused({ file: id, content }, bob)).toMatchObject({ code: 'FILE_NOT_FOUND' })
    expect(await refused({ md5, content }, t.anonymous)).toEqual({ code: 'UNAUTHENTICATED' })
    await t.limit({ maxNotes: 0 })
    expect(await refused({ md5, content })).toMatchObject({ code: 'QUOTA_EXCEEDED' })
    await t.limit(LIMITS)
  })

  it('is visible to the owner of a file with this content', async () => {
    await answer(write({ md5, content: 'mine' }))
    expect((await bob.graphql(READ, { md5 })).code ?? null).toEqual(
      (await bob.graphql(READ, { md5: '0'.repeat(32) })).code ?? null,
    )
    expect(await refusal(t.anonymous.graphql(READ, { md5 }))).toEqual({ code: 'UNAUTHENTICATED' })
  })
})

it('Folders and notes are created at a limited rate', async () => {
  const hurried = await startApp({ RATE_FOLDERS: '1', RATE_NOTES: '1' })
  try {
    const dora = await hurried.signIn('dora')
    const { response } = await dora.upload('a.txt', 'x')
    const mkdir = (path: string) => dora.graphql(MKDIR, { input: { at: { path } } })
    const WRITE = 'mutation ($input: WriteNoteInput!) { writeNote(input: $input) { note } }'
    const write = () => dora.graphql(WRITE, { input: { file: response.file.id, content: 'x' } })
    expect([(await mkdir('a')).code, (await mkdir('b')).code]).toEqual([undefined, 'RATE_LIMITED'])
    expect([(await write()).code, (await write()).code]).toEqual([undefined, 'RATE_LIMITED'])
  } finally {
    await hurried.stop()
  }
})
