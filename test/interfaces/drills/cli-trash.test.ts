import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { ask } from '../../support/ask.ts'
import { openWarmShell, type Shell } from '../../support/command-line.ts'
import { type Person, startApp, type TestApp } from '../../support/harness.ts'
import { anId, aTime } from '../../support/shapes.ts'

let t: TestApp
let alice: Person
let shell: Shell

const shellOf = ({ url }: TestApp, { cookie }: Person) =>
  openWarmShell({ SATCHEL_URL: url, SATCHEL_SESSION: cookie.replace('session_id=', '') })

/** Makes the program detect a terminal. */
const atTerminal = {
  env: {
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent('process.stdin.isTTY=true')}`,
  },
}

beforeAll(async () => {
  t = await startApp()
  alice = await t.signIn('alice')
  shell = shellOf(t, alice)
  await shell.json('workspace', 'create', 'Garden')
})
afterAll(async () => {
  shell?.close()
  await t.stop()
})

/** Runs the same commands on personal files and on workspace files. */
describe.each([
  ['your files', '/', '', []],
  ['a workspace', 'garden:/', 'garden:', ['garden']],
])('In %s', (_what, root, front, named) => {
  let at: { drive: string }
  let route: string

  beforeAll(async () => {
    const { me } = await ask(
      alice,
      '{ me { drive { id } workspaces { nodes { id drive { id } } } } }',
    )
    const [garden] = me.workspaces.nodes
    at = { drive: (front ? garden : me).drive.id }
    route = front ? `/api/workspaces/${garden.id}/files/upload` : '/api/files/upload'
  })

  async function put(path: string, bytes = 'hello'): Promise<void> {
    const cut = path.lastIndexOf('/')
    const form = new FormData()
    form.append('folder', path.slice(0, Math.max(cut, 0)))
    form.append('file', new Blob([bytes]), path.slice(cut + 1))
    expect((await alice.rest('POST', route, { form })).status).toBe(200)
  }

  /** Deletes a path through the API. Returns the id in the trash. */
  async function removed(path: string): Promise<string> {
    const { deleteEntries } = await ask(
      alice,
      'mutation ($input: DeleteEntriesInput!) { deleteEntries(input: $input) { trashItems { id } } }',
      { input: { entries: [{ at: { ...at, path } }], recursive: true } },
    )
    return deleteEntries.trashItems[0].id
  }

  const trash = async () => (await shell.json('trash', 'list', ...named)).items
  const files = async (path: string) =>
    (await shell.json('ls', root + path)).files.map((file: { name: string }) => file.name)

  async function bytesOf(path: string): Promise<string> {
    const query =
      'query ($id: ID!, $path: String!) { node(id: $id) { ... on Drive { entry(path: $path) { ... on File { download { url } } } } } }'
    const { node } = await ask(alice, query, { id: at.drive, path })
    return (await fetch(node.entry.download.url)).text()
  }

  it('rm prints the command that restores the file', async () => {
    await put("docs/it's.txt")
    const { out } = await shell.satchel(['rm', '-v', `${root}docs/it's.txt`])
    const command = `satchel trash restore '${root}docs/it'\\''s.txt'`
    expect(out).toBe(`1 file deleted. Moved to the trash. Restore it with: ${command}\n`)
    expect(await shell.json('trash', 'restore', `${root}docs/it's.txt`)).toEqual({
      restored: [{ id: anId, path: `${root}docs/it's.txt` }],
    })
    const id = await removed('docs')
    expect(await shell.satchel(['trash', 'restore', '-v', front + id])).toEqual({
      code: 0,
      out: `Restored ${root}docs\n`,
      err: '',
    })
    expect(await files('docs')).toEqual(["it's.txt"])
  })

  it('the list shows deleted entries, newest first', async () => {
    await put('list/a.txt')
    await put('list/b.txt', 'bee')
    const first = await removed('list/a.txt')
    const second = await removed('list')
    const item = { deleted_at: aTime, deleted_by: alice.email, expires_at: aTime }
    expect(await trash()).toEqual([
      { ...item, id: second, path: `${root}list`, kind: 'folder', size: 3, file_count: 1 },
      { ...item, id: first, path: `${root}list/a.txt`, kind: 'file', size: 5, file_count: null },
    ])
    const { out } = await shell.satchel(['trash', 'list', ...named])
    const cells = out.split('\n').map(line => line.split(/ {2,}/))
    expect(cells).toEqual([
      ['DELETED', 'BY', 'SIZE', 'UNTIL', 'ID', 'PATH'],
      [expect.any(String), alice.email, '3 B', expect.any(String), front + second, `${root}list/`],
      [
        expect.any(String),
        alice.email,
        '5 B',
        expect.any(String),
        front + first,
        `${root}list/a.txt`,
      ],
      [''],
    ])
  })

  it('restores the last of several with one path, and refuses a taken path unless told otherwise', async () => {
    for (const bytes of ['one', 'two']) {
      await put('same.txt', bytes)
      await removed('same.txt')
    }
    const path = `${root}same.txt`
    expect((await shell.json('trash', 'restore', path)).restored).toMatchObject([{ path }])
    expect(await bytesOf('same.txt')).toBe('two')
    expect(await shell.refused('trash', 'restore', path)).toMatchObject({
      code: 5,
      error: { code: 'PATH_EXISTS' },
    })
    expect(
      (await shell.json('trash', 'restore', path, '--on-conflict', 'keep-both')).restored,
    ).toMatchObject([{ path: `${root}same (2).txt` }])
    const one = await removed('same (2).txt')
    await shell.json('trash', 'restore', front + one, '--to', `${root}else/where`)
    const id = await removed('else/where/same (2).txt')
    await put('else/where/same (2).txt', 'three')
    await shell.json('trash', 'restore', front + id, '--on-conflict', 'replace')
    expect(await bytesOf('else/where/same (2).txt')).toBe('one')
  })

  it('restores those of several that can be restored, with the exit code of the failures', async () => {
    await put('some.txt')
    await removed('some.txt')
    const { code, out, err } = await shell.satchel([
      'trash',
      'restore',
      '--json',
      `${root}some.txt`,
      `${root}none.txt`,
    ])
    expect([code, JSON.parse(out), JSON.parse(err).error.code]).toEqual([
      4,
      {
        restored: [{ id: anId, path: `${root}some.txt` }],
        failed: [expect.objectContaining({ code: 'NOT_FOUND' })],
      },
      'PARTLY_FAILED',
    ])
  })

  it('delete takes ids, and is final', async () => {
    await put('gone.txt')
    const id = await removed('gone.txt')
    expect(await shell.refused('trash', 'delete', `${root}gone.txt`)).toMatchObject({
      code: 2,
      error: { code: 'USAGE' },
    })
    expect(await shell.json('trash', 'delete', front + id)).toEqual({ deleted: [{ id }] })
    expect(await shell.refused('trash', 'restore', front + id)).toMatchObject({
      code: 4,
      error: { code: 'TRASH_ITEM_NOT_FOUND' },
    })
  })

  it('empty asks on a terminal, and requires --yes elsewhere', async () => {
    await put('last.txt')
    await removed('last.txt')
    expect(await shell.refused('trash', 'empty', ...named)).toMatchObject({
      code: 2,
      error: { code: 'USAGE' },
    })
    const no = await shell.satchel(['trash', 'empty', ...named], { ...atTerminal, stdin: 'no\n' })
    expect([no.code, no.err]).toEqual([2, expect.stringContaining('This cannot be undone. [y/N]')])
    expect(await trash()).not.toEqual([])
    const yes = await shell.satchel(['trash', 'empty', '-v', ...named], {
      ...atTerminal,
      stdin: 'y\n',
    })
    expect([yes.code, yes.out]).toEqual([
      0,
      expect.stringMatching(/^\d+ items? deleted permanently\.\n$/),
    ])
    expect(await shell.json('trash', 'empty', '--yes', ...named)).toEqual({ deleted: 0 })
    expect(await shell.satchel(['trash', 'list', ...named])).toEqual({ code: 0, out: '', err: '' })
  })
})

it('restores nothing from your files into a workspace', async () => {
  await shell.satchel(['put', '-', '--name', 'mine.txt'], { stdin: 'x' })
  await shell.json('rm', 'mine.txt')
  expect(await shell.refused('trash', 'restore', 'mine.txt', '--to', 'garden:/')).toMatchObject({
    code: 2,
    error: { code: 'USAGE' },
  })
})

it('rm prints at most three paths', async () => {
  for (const name of ['1', '2', '3', '4', '5', '6']) await alice.upload(name, 'x')
  const words = async (...paths: string[]) => (await shell.satchel(['rm', '-v', ...paths])).out
  expect(await words('1', '2')).toContain('Restore them with: satchel trash restore /1 /2\n')
  expect(await words('3', '4', '5', '6')).toContain(
    'Restore them with: satchel trash restore <path>...\n',
  )
})

/** A shell with a key that has only this scope. */
async function shellWith(scope: string): Promise<Shell> {
  const { response } = await alice.rest('POST', '/api/api_keys/private/create', {
    json: { name: scope, scopes: [scope] },
  })
  return openWarmShell({ SATCHEL_URL: t.url, SATCHEL_KEY: response.api_key.key })
}

it('a write-only key restores by the id', async () => {
  await alice.upload('kept.txt', 'x')
  const [{ trash_item_id: id }] = (await shell.json('rm', 'kept.txt')).deleted
  const own = await shellWith('private_files:write')
  expect(await own.refused('trash', 'delete', id)).toMatchObject({
    code: 3,
    error: { code: 'INSUFFICIENT_SCOPE' },
  })
  expect(await own.json('trash', 'restore', id)).toEqual({ restored: [{ id, path: '/kept.txt' }] })
  own.close()
})

it('a key that may only delete is shown no way to restore', async () => {
  await alice.upload('short.txt', 'x')
  const own = await shellWith('private_files:delete')
  expect(await own.satchel(['rm', '-v', 'short.txt'])).toEqual({
    code: 0,
    out: '1 file deleted.\n',
    err: '',
  })
  expect(await own.refused('trash', 'list')).toMatchObject({
    code: 3,
    error: { code: 'INSUFFICIENT_SCOPE' },
  })
  own.close()
})

it('without a trash, rm shows no way to restore', async () => {
  const bare = await startApp({ TRASH_DAYS: '0' })
  const bob = await bare.signIn('bob')
  const own = shellOf(bare, bob)
  await bob.upload('a.txt', 'x')
  await bob.upload('b.txt', 'x')
  expect((await own.satchel(['rm', '-v', 'a.txt'])).out).toBe('1 file deleted.\n')
  expect(await own.json('rm', 'b.txt')).toEqual({
    deleted: [{ path: '/b.txt', files_deleted: 1, trash_item_id: null }],
  })
  own.close()
  await bare.stop()
})
