import { readdirSync } from 'node:fs'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { openWarmShell, type Shell } from '../../support/command-line.ts'
import { type Person, startApp, type TestApp } from '../../support/harness.ts'
import { anId, aTime } from '../../support/shapes.ts'

let t: TestApp
let alice: Person
let shell: Shell

beforeAll(async () => {
  t = await startApp()
  alice = await t.signIn('alice')
  shell = openWarmShell({
    SATCHEL_URL: t.url,
    SATCHEL_SESSION: alice.cookie.replace('session_id=', ''),
  })
})
afterAll(async () => {
  shell?.close()
  await t.stop()
})

const md5Of = { hello: '5d41402abc4b2a76b9719d911017c592' }

/** Runs the same commands on personal files and on workspace files. */
describe.each([
  ['your files', '/'],
  ['a workspace', 'garden:/'],
])('In %s', (_what, root) => {
  /** Paths of folders and files below the root, folders first. */
  async function all(folder = ''): Promise<string[]> {
    const query = root === '/' ? '' : '/'
    const { response } = await alice.rest(
      'GET',
      `${route}/tree?path=${encodeURIComponent(query + folder)}`,
    )
    const pathOf = (entry: string | { name: string }) =>
      [
        ...(folder ? [folder] : []),
        (typeof entry === 'string' ? entry : entry.name).split('/').at(-1),
      ].join('/')
    const [folders, files]: [string[], string[]] = [
      response.folders.map(pathOf),
      response.files.map(pathOf),
    ]
    const inner = await Promise.all(folders.map(all))
    return [...folders.flatMap((path, i) => [`${path}/`, ...(inner[i] ?? [])]), ...files]
  }

  const at = (...paths: string[]) => paths.map(path => root + path)

  /** The drive does not affect refusals, so each refusal is tested in one drive only. */
  const isOwn = root === '/'

  let route: string

  async function put(path: string, bytes = 'hello'): Promise<void> {
    const cut = path.lastIndexOf('/')
    const form = new FormData()
    form.append('folder', path.slice(0, Math.max(cut, 0)))
    form.append('file', new Blob([bytes]), path.slice(cut + 1))
    expect((await alice.rest('POST', `${route}/upload`, { form })).status).toBe(200)
  }

  beforeAll(async () => {
    if (root === '/') route = '/api/files'
    else
      route = `/api/workspaces/${(await shell.json('workspace', 'create', 'Garden')).workspace.workspace_id}/files`
  })
  beforeEach(async () => {
    const { response } = await alice.rest('GET', `${route}/tree`)
    for (const folder of response.folders) {
      const path = encodeURIComponent(folder.name ?? folder)
      if (root === '/') await alice.rest('DELETE', `/api/folders?path=${path}&recursive=true`)
      else await alice.rest('DELETE', `${route}/folder/delete?path=${path}`)
    }
    for (const { name } of response.files)
      await alice.rest(
        'DELETE',
        `${route}/delete?${root === '/' ? 'file' : 'path'}=${encodeURIComponent(name)}`,
      )
    await put('docs/a.txt')
    await put('docs/letters/b.txt', 'bee')
  })

  describe('satchel ls', () => {
    it('lists one level, folders first', async () => {
      expect((await shell.satchel(['ls', root])).out).toBe('docs/\n')
      expect((await shell.satchel(['ls', ...at('docs')])).out).toBe('letters/\na.txt\n')
      expect(await shell.json('ls', ...at('docs/'))).toEqual({
        path: `${root}docs`,
        folders: [{ name: 'letters', size: 3, file_count: 1, path: `${root}docs/letters` }],
        files: [
          {
            name: 'a.txt',
            path: `${root}docs/a.txt`,
            id: anId,
            file_type: 'text/plain',
            size: 5,
            md5_checksum: md5Of.hello,
            created_at: aTime,
            modified_at: aTime,
          },
        ],
      })
    })

    it('with -l shows sizes, times, checksums and the total', async () => {
      const { out } = await shell.satchel(['ls', '-l', ...at('docs')])
      expect(
        out
          .split('\n')
          .map(line => line.replace(/\d{4}-\d\d-\d\d \d\d:\d\d/, 'TIME').split(/ {2,}/)),
      ).toEqual([
        ['3 B', 'TIME', '1 file', 'letters/'],
        ['5 B', 'TIME', md5Of.hello, 'a.txt'],
        ['1 folder, 1 file, 8 B'],
        [''],
      ])
    })

    it('shows one file, and prints nothing for an empty folder', async () => {
      const { path, files } = await shell.json('ls', ...at('docs/a.txt'))
      expect([path, files.map((f: { path: string }) => f.path)]).toEqual([
        `${root}docs`,
        at('docs/a.txt'),
      ])
      await shell.json('mkdir', ...at('empty'))
      expect(await shell.satchel(['ls', ...at('empty')])).toEqual({ code: 0, out: '', err: '' })
    })

    it.each(['nowhere', 'docs/nowhere', 'docs/a.txt/', 'docs/a.txt/b'])(
      'exits with 4 for %s',
      async path => {
        const shown = root + path.replace(/\/$/, '')
        expect(await shell.refused('ls', ...at(path))).toMatchObject({
          code: 4,
          error: { code: 'NOT_FOUND', path: shown },
        })
      },
    )
  })

  describe('satchel tree', () => {
    it('shows everything below a folder', async () => {
      const { out } = await shell.satchel(['tree', root])
      expect(out).toBe(
        `${root}\n└── docs/\n    ├── letters/\n    │   └── b.txt\n    └── a.txt\n2 folders, 2 files, 8 B\n`,
      )
      expect((await shell.satchel(['tree', ...at('docs'), '--depth', '1'])).out).toBe(
        `${root}docs\n├── letters/\n└── a.txt\n1 folder, 1 file, 5 B\n`,
      )
    })

    if (isOwn)
      it.each(['nowhere', 'docs/a.txt'])('exits with 4 for %s', async path => {
        expect(await shell.refused('tree', ...at(path))).toMatchObject({
          code: 4,
          error: { code: 'NOT_FOUND' },
        })
      })
  })

  describe('satchel mkdir', () => {
    it('creates folders with their parents', async () => {
      expect(await shell.json('mkdir', ...at('x/y/z', 'docs/new'))).toEqual({
        created: at('x/y/z', 'docs/new').map(path => ({ path })),
      })
      expect(await all()).toEqual([
        'docs/',
        'docs/letters/',
        'docs/letters/b.txt',
        'docs/new/',
        'docs/a.txt',
        'x/',
        'x/y/',
        'x/y/z/',
      ])
    })

    it('exits with 5 for an existing folder, except with -p', async () => {
      expect(await shell.refused('mkdir', ...at('docs'))).toMatchObject({
        code: 5,
        error: { code: 'PATH_EXISTS' },
      })
      expect(await shell.satchel(['mkdir', '-p', ...at('docs')])).toEqual({
        code: 0,
        out: '',
        err: '',
      })
      expect(await shell.refused('mkdir', '-p', ...at('docs/a.txt'))).toMatchObject({ code: 5 })
    })

    if (isOwn)
      it('creates every folder that it can', async () => {
        const { code, out, err } = await shell.satchel(['mkdir', '--json', ...at('docs', 'new')])
        expect([code, JSON.parse(out), JSON.parse(err).error]).toEqual([
          5,
          {
            created: [{ path: `${root}new` }],
            failed: [expect.objectContaining({ code: 'PATH_EXISTS' })],
          },
          { code: 'PARTLY_FAILED', message: '1 failed; the others are done.', exit_code: 5 },
        ])
      })
  })

  describe('satchel mv', () => {
    it('renames files and folders', async () => {
      expect(await shell.json('mv', ...at('docs/a.txt', 'c.txt'))).toEqual({
        moved: [{ source: `${root}docs/a.txt`, destination: `${root}c.txt`, files_moved: 1 }],
      })
      expect((await shell.json('mv', ...at('docs', 'archive/2026'))).moved).toMatchObject([
        { files_moved: 1 },
      ])
      expect(await all()).toEqual([
        'archive/',
        'archive/2026/',
        'archive/2026/letters/',
        'archive/2026/letters/b.txt',
        'c.txt',
      ])
    })

    it('moves several entries into a folder', async () => {
      await shell.json('mv', ...at('docs/a.txt', 'docs/letters', 'box/'))
      expect(await all()).toEqual([
        'box/',
        'box/letters/',
        'box/letters/b.txt',
        'box/a.txt',
        'docs/',
      ])
      expect(await shell.refused('mv', ...at('box/a.txt', 'box/letters', 'docs'))).toMatchObject({
        code: 2,
      })
      await shell.json('mv', ...at('box/a.txt', ''))
      expect(await all()).toContain('a.txt')
    })

    if (isOwn)
      it.each<[number, string, string, string]>([
        [4, 'NOT_FOUND', 'nowhere', 'x'],
        [5, 'PATH_EXISTS', 'docs/a.txt', 'docs/letters'],
        [5, 'PATH_EXISTS', 'docs/letters', 'docs/a.txt'],
        [2, 'INVALID_PATH', 'docs', 'docs/letters/x'],
      ])('exits with %i %s for %s to %s', async (exit, code, from, to) => {
        const before = await all()
        expect(await shell.refused('mv', ...at(from, to))).toMatchObject({
          code: exit,
          error: { code },
        })
        expect(await all()).toEqual(before)
      })
  })

  describe('satchel cp', () => {
    it('copies files and folders, under another name or into a folder', async () => {
      expect(await shell.json('cp', ...at('docs/a.txt', 'c.txt'))).toEqual({
        copied: [{ source: `${root}docs/a.txt`, destination: `${root}c.txt` }],
      })
      await shell.json('cp', '-r', ...at('docs', 'archive/2026'))
      await shell.json('cp', ...at('c.txt', 'docs/letters', 'archive'))
      expect(await all()).toEqual([
        ...[
          'archive/',
          'archive/2026/',
          'archive/2026/letters/',
          'archive/2026/letters/b.txt',
          'archive/2026/a.txt',
        ],
        ...['archive/letters/', 'archive/letters/b.txt', 'archive/c.txt'],
        ...['docs/', 'docs/letters/', 'docs/letters/b.txt', 'docs/a.txt', 'c.txt'],
      ])
    })

    it('applies the chosen conflict rule', async () => {
      const to = at('docs/a.txt', 'docs/letters/b.txt')
      expect(await shell.refused('cp', ...to)).toMatchObject({
        code: 5,
        error: { code: 'PATH_EXISTS' },
      })
      expect((await shell.json('cp', '-k', ...to)).copied).toMatchObject([
        { destination: `${root}docs/letters/b (2).txt` },
      ])
      expect((await shell.json('cp', '--replace', ...to)).copied).toMatchObject([
        { destination: `${root}docs/letters/b.txt` },
      ])
    })

    if (isOwn)
      it.each<[number, string, string[]]>([
        [4, 'NOT_FOUND', ['nowhere', 'x']],
        [2, 'INVALID_PATH', ['docs', 'docs/letters/x']],
        [2, 'USAGE', ['docs/a.txt', 'docs/letters', 'new']],
        [2, 'USAGE', ['docs/a.txt']],
        [2, 'USAGE', ['', 'new']],
      ])('exits with %i %s for %j', async (exit, code, paths) => {
        expect(await shell.refused('cp', ...at(...paths))).toMatchObject({
          code: exit,
          error: { code },
        })
      })
  })

  describe('satchel rm', () => {
    it('deletes files, and deletes folders only with -r', async () => {
      expect(await shell.refused('rm', ...at('docs'))).toMatchObject({
        code: 1,
        error: { code: 'IS_A_FOLDER' },
      })
      expect(await shell.refused('rm', ...at('docs/'))).toMatchObject({
        code: 1,
        error: { code: 'IS_A_FOLDER' },
      })
      expect(await shell.json('rm', ...at('docs/a.txt'))).toEqual({
        deleted: [{ path: `${root}docs/a.txt`, files_deleted: 1, trash_item_id: anId }],
      })
      expect(await shell.json('rm', '-r', ...at('docs'))).toEqual({
        deleted: [{ path: `${root}docs`, files_deleted: 1, trash_item_id: anId }],
      })
      expect(await all()).toEqual([])
    })

    if (isOwn)
      it('asks on a terminal before it deletes folders, and shows their contents', async () => {
        const options = {
          env: {
            NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent('process.stdin.isTTY=true')}`,
          },
        }
        for (const stdin of ['', 'no\n', '\n']) {
          const { code, err } = await shell.satchel(['rm', '-r', ...at('docs')], {
            ...options,
            stdin,
          })
          expect([code, err]).toEqual([
            2,
            expect.stringContaining(`Delete ${root}docs (2 files, 8 B)? [y/N]`),
          ])
          expect(err).toContain('Nothing was deleted.')
        }
        expect(await all()).toHaveLength(4)
        expect(
          (await shell.satchel(['rm', '-r', ...at('docs/letters')], { ...options, stdin: 'y\n' }))
            .code,
        ).toBe(0)
        expect((await shell.satchel(['rm', '-r', '--yes', ...at('docs')], options)).err).toBe('')
        expect(await all()).toEqual([])
      })

    if (isOwn)
      it.each([['nowhere'], ['nowhere/'], ['docs/a.txt/b']])(
        'exits with 4 for %s, with -r or without',
        async path => {
          for (const more of [[], ['-r']])
            expect(await shell.refused('rm', ...more, ...at(path))).toMatchObject({
              code: 4,
              error: { code: expect.stringMatching(/NOT_FOUND$/) },
            })
        },
      )

    it('never deletes the root', async () => {
      for (const path of [root, `${root}/`])
        expect((await shell.satchel(['rm', '-r', path])).code).not.toBe(0)
      expect((await shell.satchel(['rm', '-r', ''])).code).not.toBe(0)
      expect(await all()).toHaveLength(4)
    })
  })

  if (isOwn)
    it('accepts unusual names', async () => {
      const names = [
        '-r',
        '--json',
        ' a'.trim(),
        'with  blanks',
        'ünï©ødé 🦊',
        'a:b',
        'garden:',
        'it\'s "odd"',
        '%2e%2e',
        '*',
        '$(x)',
      ]
      // Uploaded by the command: the form of Node.js would encode a quotation mark as %22.
      for (const name of names)
        await shell.satchel(['put', '-', '--to', `${root}odd`, `--name=${name}`], { stdin: name })
      const { files } = await shell.json('ls', ...at('odd'))
      expect(files.map((f: { name: string }) => f.name).sort()).toEqual([...names].sort())
      await shell.json('mv', '--', ...at(...names.map(name => `odd/${name}`), 'even/'))
      expect(
        (await shell.json('rm', '--', ...at(...names.map(name => `even/${name}`)))).deleted,
      ).toHaveLength(names.length)
    })
})

describe('satchel cp of many files', () => {
  it('waits until the service has copied them', async () => {
    await shell.json('cp', '/docs/a.txt', '/many/0/a.txt')
    // Doubles the number of files until one call cannot copy them all.
    for (let i = 1; i < 11; i++) {
      await shell.json('cp', '/many', `/half/${i}`)
      await shell.json('mv', `/half/${i}`, `/many/${i}`)
    }
    expect((await shell.json('cp', '/many', '/again')).copied).toEqual([
      { source: '/many', destination: '/again' },
    ])
    expect((await shell.json('cp', '/many', '/again/')).copied).toMatchObject([
      { destination: '/again/many' },
    ])
    await shell.json('rm', '-r', '/many', '/again', '/half')
  })
})

describe('Between your files and a workspace', () => {
  it('moves are refused', async () => {
    expect(await shell.refused('mv', '/docs/a.txt', 'garden:/a.txt')).toMatchObject({
      code: 2,
      error: { code: 'USAGE' },
    })
  })

  it('copies work in both directions', async () => {
    const there = { source: '/docs/a.txt', destination: 'garden:/to and fro/a.txt' }
    expect((await shell.json('cp', '/docs/a.txt', 'garden:/to and fro/')).copied).toEqual([there])
    const back = { source: 'garden:/to and fro', destination: '/back/to and fro' }
    expect((await shell.json('cp', 'garden:/to and fro', '/back/')).copied).toEqual([back])
    await shell.json('rm', '-r', 'garden:/to and fro', '/back')
  })

  it('a leading slash marks a path of yours that looks like a workspace path', async () => {
    expect((await shell.satchel(['put', '-', '--name', 'garden:'], { stdin: 'x' })).code).toBe(0)
    expect((await shell.json('ls', '/garden:')).files).toMatchObject([{ path: '/garden:' }])
    expect((await shell.json('ls', 'garden:')).path).toBe('garden:/')
    expect(await shell.refused('ls', 'park:x')).toMatchObject({
      code: 4,
      error: { code: 'WORKSPACE_NOT_FOUND' },
    })
    await shell.json('rm', '/garden:')
  })

  it('a workspace can also be named by its id', async () => {
    const { workspaces } = await shell.json('workspace', 'list')
    expect((await shell.json('ls', `${workspaces[0].workspace_id}:/docs`)).files).toHaveLength(1)
  })
})

describe('satchel note', () => {
  it('reads and writes the note of a file', async () => {
    await alice.upload('noted.txt', 'something')
    expect(await shell.satchel(['note', 'noted.txt'])).toEqual({ code: 0, out: '', err: '' })
    expect(await shell.json('note', 'noted.txt', 'Signed on Monday')).toEqual({
      path: '/noted.txt',
      note: 'Signed on Monday',
    })
    expect((await shell.satchel(['note', '/noted.txt'])).out).toBe('Signed on Monday\n')
    await shell.satchel(['note', 'noted.txt', '-'], { stdin: 'two\nlines\n' })
    expect((await shell.satchel(['note', 'noted.txt'])).out).toBe('two\nlines\n')
    await shell.satchel(['note', 'noted.txt', '--remove'])
    expect((await shell.json('note', 'noted.txt')).note).toBe('')
  })

  it.each<[number, string, string[]]>([
    [4, 'NOT_FOUND', ['nowhere.txt']],
    [2, 'USAGE', ['garden:/docs/a.txt']],
    [2, 'INVALID_INPUT', ['noted.txt', 'x'.repeat(10_001)]],
  ])('exits with %i %s', async (exit, code, args) => {
    expect(await shell.refused('note', ...args)).toMatchObject({ code: exit, error: { code } })
  })
})

describe('A key with fewer scopes', () => {
  it('exits with 3 and names the missing scope', async () => {
    const { response } = await alice.rest('POST', '/api/api_keys/private/create', {
      json: { name: 'k', scopes: ['private_files:write'] },
    })
    const own = openWarmShell({ SATCHEL_URL: t.url, SATCHEL_KEY: response.api_key.key })
    expect(await own.refused('ls')).toMatchObject({
      code: 3,
      error: { code: 'INSUFFICIENT_SCOPE', required: 'private_files:read' },
    })
    expect(await own.refused('rm', 'docs/a.txt')).toMatchObject({ code: 3 })
    expect((await own.satchel(['mkdir', 'made'])).code).toBe(0)
    expect(readdirSync(own.home)).toEqual([])
    own.close()
  })
})

describe('A large folder', () => {
  it('is listed completely', async () => {
    await shell.json('mkdir', 'many')
    const [many] = await t.app.db.rows<{ id: string; bucketId: string }>(
      "SELECT e.id, b.id AS bucketId FROM bucket b JOIN entry e ON e.parent_id = b.root_id AND e.name = 'many' WHERE b.user_id = ?",
      [alice.userId],
    )
    const names = Array.from({ length: 10_500 }, (_, i) => `file-${String(i).padStart(5, '0')}`)
    await t.app.db.transaction(async tx => {
      for (let n = 0; n < names.length; n += 100) {
        const rows = names.slice(n, n + 100)
        const values = rows.flatMap(name => [
          crypto.randomUUID(),
          many?.bucketId ?? '',
          many?.id ?? '',
          name,
        ])
        await t.app.db.run(
          `INSERT INTO entry (id, bucket_id, parent_id, kind, name, md5, total_files, created_at, updated_at) VALUES ${rows.map(() => "(?, ?, ?, 1, ?, '', 1, 0, 0)").join(', ')}`,
          values,
          tx,
        )
      }
    })
    // The listing has more than one page.
    const { out } = await shell.satchel(['ls', 'many'])
    expect(out.trimEnd().split('\n')).toEqual(names)
    await t.app.db.run("DELETE FROM entry WHERE name LIKE 'file-%'")
  })
})
