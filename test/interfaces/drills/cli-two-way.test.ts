import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { privateKey } from '../../support/builders.ts'
import { ended, openWarmShell, type Shell } from '../../support/command-line.ts'
import { freePort } from '../../support/free-port.ts'
import { type Person, signInTo, startApp, type TestApp } from '../../support/harness.ts'
import { type HttpProxy, startHttpProxy } from '../../support/http-proxy.ts'
import {
  BYTES,
  isSatchels,
  noteRequests,
  type RequestNotes,
  textsBelow,
  writeFiles,
} from '../../support/sync-folders.ts'
import { otherDisk, withTwoDisks } from '../../support/two-disks.ts'
import { eventually, until } from '../../support/until.ts'

let t: TestApp
let alice: Person
let shell: Shell
/** Every request of the commands passes this proxy. */
let proxy: HttpProxy
let noted: RequestNotes

beforeAll(async () => {
  const port = await freePort()
  proxy = await startHttpProxy(port)
  noted = noteRequests(proxy)
  t = await startApp({ PORT: String(port), PUBLIC_URL: proxy.url })
  alice = await signInTo(t.app.db, `http://127.0.0.1:${port}`, 'alice')
})
afterAll(async () => {
  await t.stop()
  await proxy.close()
})
beforeEach(() => {
  shell = openWarmShell({
    SATCHEL_URL: proxy.url,
    SATCHEL_SESSION: alice.cookie.replace('session_id=', ''),
  })
  listen()
})
afterEach(() => shell.close())

const listen: RequestNotes['listen'] = meddle => noted.listen(meddle)
const count = (pattern: RegExp) => noted.count(pattern)

const at = (path: string) => join(shell.home, path)
const write = (files: Record<string, string | Uint8Array>) => writeFiles(shell.home, files)
/**
 * The texts of files below a local folder by path, null for folders, without satchel's own folder.
 */
const tree = (folder: string) =>
  Object.fromEntries(textsBelow(at(folder)).filter(([path]) => !isSatchels(path)))
const keptHere = (folder: string) => {
  const trash = `${folder}/.satchel/trash`
  return existsSync(at(trash)) ? Object.values(tree(trash)).filter(text => text !== null) : []
}
let looks = 0
/** Like `tree` for a remote folder, read through the REST API. */
async function remoteTree(path: string): Promise<Record<string, string | null>> {
  const into = `look-${looks++}`
  mkdirSync(at(into))
  await shell.satchel(['get', path, '-o', into])
  return tree(`${into}/${path}`)
}
const actionsOf = ({ changes }: { changes: { action: string; side: string; path: string }[] }) =>
  changes.map(({ action, side, path }) => `${side} ${action} ${path}`).sort()
const run = async (...args: string[]) => {
  const { code, out, err } = await shell.satchel(['sync', '--two-way', '--json', ...args])
  return { code, err, ...JSON.parse(out === '' ? err : out) }
}
async function put(path: string, text: string): Promise<void> {
  const form = new FormData()
  form.append('folder', dirname(path))
  form.append('on_conflict', 'replace')
  form.append('file', new Blob([text]), path.slice(path.lastIndexOf('/') + 1))
  expect((await alice.rest('POST', '/api/files/upload', { form })).status).toBe(200)
}
const move = (kind: 'files' | 'folders', source: string, destination: string) =>
  alice.rest('POST', `/api/${kind}/move`, { json: { source, destination } })
const remove = (path: string) =>
  alice.rest('DELETE', `/api/files/delete?file=${encodeURIComponent(path)}`)
const idOf = async (path: string) =>
  (await alice.rest('GET', `/api/files/info?path=${encodeURIComponent(path)}`)).response?.id
let n = 0
const box = () => `both-${n++}`

describe('satchel sync --two-way', () => {
  it('applies new, changed, moved and deleted files to the other side, and then does nothing', async () => {
    const to = box()
    write({
      'd/a.txt': 'a',
      'd/deep/er/b.txt': 'bee',
      'd/deep/c.txt': 'see',
      'd/gone.txt': 'gone',
      'd/old/x.txt': 'x',
    })
    mkdirSync(at('d/empty'))
    for (const name of ['r.txt', 'away.txt', 'sub/s.txt'])
      await put(`${to}/${name}`, `remote ${name}`)
    const first = await run('d', `:/${to}`)
    expect([first.code, first.failed]).toEqual([0, undefined])
    expect(await remoteTree(to)).toEqual(tree('d'))
    expect(tree('d')['sub/s.txt']).toBe('remote sub/s.txt')

    listen()
    expect(await run('d', `:/${to}`)).toMatchObject({ code: 0, changes: [], unchanged: 8 })
    expect([count(BYTES), count(/SyncLevel|SyncEntries/)]).toEqual([0, 0])
    expect(count(/./)).toBeLessThanOrEqual(3)

    const ids = [
      await idOf(`${to}/a.txt`),
      await idOf(`${to}/deep/er/b.txt`),
      await idOf(`${to}/old/x.txt`),
    ]
    renameSync(at('d/a.txt'), at('d/renamed.txt'))
    renameSync(at('d/deep'), at('d/moved'))
    rmSync(at('d/gone.txt'))
    write({ 'd/new.txt': 'new', 'd/moved/c.txt': 'changed' })
    await move('folders', `${to}/old`, `${to}/older`)
    await remove(`${to}/away.txt`)
    await put(`${to}/r.txt`, 'replaced')
    listen()
    const second = await run('d', `:/${to}`)
    expect([second.code, actionsOf(second)]).toEqual([
      0,
      [
        ...[
          'local delete away.txt',
          'local move older',
          'local replace r.txt',
          'remote delete gone.txt',
        ],
        ...[
          'remote move moved',
          'remote move renamed.txt',
          'remote replace moved/c.txt',
          'remote upload new.txt',
        ],
      ],
    ])
    expect([count(BYTES), count(/SyncLevel/)]).toEqual([3, 0])
    expect(await remoteTree(to)).toEqual(tree('d'))
    expect(tree('d')).toEqual({
      empty: null,
      moved: null,
      'moved/c.txt': 'changed',
      'moved/er': null,
      'moved/er/b.txt': 'bee',
      'new.txt': 'new',
      older: null,
      'older/x.txt': 'x',
      'r.txt': 'replaced',
      'renamed.txt': 'a',
      sub: null,
      'sub/s.txt': 'remote sub/s.txt',
    })
    expect(
      await Promise.all(
        [`renamed.txt`, 'moved/er/b.txt', 'older/x.txt'].map(path => idOf(`${to}/${path}`)),
      ),
    ).toEqual(ids)
    // Local files that were deleted or replaced are kept.
    expect(keptHere('d').sort()).toEqual(['remote away.txt', 'remote r.txt'])
  })

  it('on its first run adopts equal files without a transfer, and keeps both of different files', async () => {
    const to = box()
    write({ 'd/equal.txt': 'same', 'd/differs.txt': 'mine' })
    await put(`${to}/equal.txt`, 'same')
    await put(`${to}/differs.txt`, 'theirs')
    listen()
    const { code, changes } = await run('d', `:/${to}`)
    const [{ kept_as: kept }] = changes
    expect([code, kept]).toEqual([
      0,
      expect.stringMatching(/^differs \(conflict \d{4}-\d\d-\d\d [^)]+\)\.txt$/),
    ])
    expect(tree('d')).toEqual({ 'equal.txt': 'same', 'differs.txt': 'theirs', [kept]: 'mine' })
    expect(count(BYTES)).toBe(2)
    expect(await remoteTree(to)).toEqual(tree('d'))
  })

  it('keeps both versions of a file changed on both sides, or changed here and deleted there', async () => {
    const to = box()
    write({
      'd/both.txt': '0',
      'd/mine.txt': '0',
      'd/theirs.txt': '0',
      'd/f/deep.txt': '0',
      'd/f/other.txt': 'other',
    })
    await run('d', `:/${to}`)
    write({ 'd/both.txt': 'mine', 'd/mine.txt': 'changed here' })
    rmSync(at('d/theirs.txt'))
    rmSync(at('d/f'), { recursive: true })
    await put(`${to}/both.txt`, 'theirs')
    await remove(`${to}/mine.txt`)
    await put(`${to}/theirs.txt`, 'changed there')
    await put(`${to}/f/deep.txt`, 'changed there')
    const { code, out } = await shell.satchel(['sync', '--two-way', 'd', `:/${to}`])
    expect([code, out]).toEqual([0, expect.stringContaining('1 in conflict, kept twice')])
    const { 'both.txt': both, ...rest } = tree('d')
    const [kept = ''] = Object.keys(rest).filter(path => path.includes('conflict'))
    expect({ both, ...rest }).toEqual({
      both: 'theirs',
      [kept]: 'mine',
      'mine.txt': 'changed here',
      'theirs.txt': 'changed there',
      f: null,
      'f/deep.txt': 'changed there',
    })
    expect(await remoteTree(to)).toEqual(tree('d'))
  })

  it('skips files that change while it runs, and syncs them in the same run', async () => {
    const to = box()
    write({ 'd/a.txt': '0', 'd/b.txt': '0', 'd/f/c.txt': '0' })
    await run('d', `:/${to}`)
    write({ 'd/a.txt': 'mine' })
    await put(`${to}/b.txt`, 'theirs')
    rmSync(at('d/f'), { recursive: true })
    const meddled = new Set<string>()
    listen(async line => {
      const once = (what: string, does: () => unknown) => {
        if (meddled.has(what)) return
        meddled.add(what)
        return does()
      }
      if (line.endsWith('/upload')) await once('upload', () => put(`${to}/a.txt`, 'theirs too'))
      if (line.startsWith('GET /api/blobs'))
        await once('download', () => write({ 'd/b.txt': 'typed meanwhile' }))
      if (line === 'POST Delete') await once('delete', () => put(`${to}/f/new.txt`, 'new'))
    })
    const { code } = await run('d', `:/${to}`)
    listen()
    expect([code, [...meddled].sort()]).toEqual([0, ['delete', 'download', 'upload']])
    const texts = Object.values(tree('d')).filter(text => text !== null)
    expect(texts.sort()).toEqual(['mine', 'new', 'theirs', 'theirs too', 'typed meanwhile'])
    expect(await remoteTree(to)).toEqual(tree('d'))
  })

  it('does not treat a change of a just uploaded file as a conflict', async () => {
    const to = box()
    write({ 'd/a.txt': 'a', 'd/b.txt': 'b' })
    let uploads = 0
    listen(line => {
      if (line.endsWith('/upload') && ++uploads === 2)
        write({ 'd/a.txt': 'typed after it was sent' })
    })
    expect(await run('--parallel', '1', 'd', `:/${to}`)).toMatchObject({ code: 0 })
    listen()
    expect(tree('d')).toEqual({ 'a.txt': 'typed after it was sent', 'b.txt': 'b' })
    expect(await remoteTree(to)).toEqual(tree('d'))
  })

  it('moves a file that a program has saved again, and keeps private files private', async () => {
    const to = box()
    write({ 'd/a.txt': 'a', 'd/p.sh': 'p' })
    chmodSync(at('d/p.sh'), 0o700)
    await run('d', `:/${to}`)
    const id = await idOf(`${to}/a.txt`)
    write({ 'd/~a': 'saved' })
    renameSync(at('d/~a'), at('d/a.txt'))
    await move('files', `${to}/a.txt`, `${to}/b.txt`)
    await put(`${to}/p.sh`, 'changed')
    expect(actionsOf(await run('d', `:/${to}`))).toEqual([
      ...['local move b.txt', 'local replace p.sh', 'remote replace b.txt'],
    ])
    expect(tree('d')).toEqual({ 'b.txt': 'saved', 'p.sh': 'changed' })
    expect(await remoteTree(to)).toEqual(tree('d'))
    expect(await idOf(`${to}/b.txt`)).toBe(id)
    expect(['d/p.sh', 'd/.satchel'].map(path => statSync(at(path)).mode & 0o777)).toEqual([
      0o700, 0o700,
    ])
  })

  it.each([
    [
      'in which a file was replaced',
      (f: string) => put(`${f}/a.txt`, 'replaced'),
      { 'f/a.txt': 'replaced' },
    ],
    [
      'that receives a file in place of another one',
      async (f: string) => {
        await remove(`${f}/a.txt`)
        await put(`${f}/new.txt`, 'new')
      },
      { 'f/new.txt': 'new' },
    ],
  ])('restores a folder %s right before it was deleted', async (_what, change, kept) => {
    const to = box()
    write({ 'd/f/a.txt': 'a', 'd/b.txt': 'b' })
    await run('d', `:/${to}`)
    rmSync(at('d/f'), { recursive: true })
    let isDone = false
    listen(async line => {
      if (line !== 'POST Delete' || isDone) return
      isDone = true
      await change(`${to}/f`)
    })
    expect(await run('d', `:/${to}`)).toMatchObject({ code: 0 })
    listen()
    expect(tree('d')).toEqual({ 'b.txt': 'b', f: null, ...kept })
    expect(await remoteTree(to)).toEqual(tree('d'))
  })

  withTwoDisks(
    'replaces and deletes files, keeping copies, when its own folder is on another disk',
    async () => {
      const to = box()
      const disk = otherDisk()
      try {
        write({ 'd/a.txt': 'a', 'd/b.txt': 'b' })
        await run('d', `:/${to}`)
        chmodSync(at('d/a.txt'), 0o600)
        for (const name of ['trash', 'parts']) {
          rmSync(at(`d/.satchel/${name}`), { recursive: true, force: true })
          mkdirSync(join(disk, name))
          symlinkSync(join(disk, name), at(`d/.satchel/${name}`))
        }
        await put(`${to}/a.txt`, 'changed')
        await put(`${to}/new.txt`, 'new')
        await remove(`${to}/b.txt`)
        expect(actionsOf(await run('d', `:/${to}`))).toEqual([
          ...['local delete b.txt', 'local download new.txt', 'local replace a.txt'],
        ])
        expect(tree('d')).toEqual({ 'a.txt': 'changed', 'new.txt': 'new' })
        expect(statSync(at('d/a.txt')).mode & 0o777).toBe(0o600)
        expect(textsBelow(disk).flatMap(([, text]) => text ?? [])).toEqual(
          expect.arrayContaining(['a', 'b']),
        )
        expect(readdirSync(join(disk, 'parts'))).toEqual([])
        expect(await run('d', `:/${to}`)).toMatchObject({ code: 0, changes: [] })
      } finally {
        rmSync(disk, { recursive: true })
      }
    },
  )

  it('sends a change of the same size with an older time', async () => {
    const to = box()
    write({ 'd/a.txt': 'one', 'd/b.txt': 'two' })
    utimesSync(at('d/b.txt'), new Date('2090-01-01'), new Date('2090-01-01'))
    await run('d', `:/${to}`)
    write({ 'd/a.txt': 'uno', 'd/b.txt': 'dos' })
    utimesSync(at('d/a.txt'), new Date('1990-01-01'), new Date('1990-01-01'))
    utimesSync(at('d/b.txt'), new Date('2090-01-01'), new Date('2090-01-01'))
    expect(actionsOf(await run('d', `:/${to}`))).toEqual([
      'remote replace a.txt',
      'remote replace b.txt',
    ])
    expect(await remoteTree(to)).toEqual({ 'a.txt': 'uno', 'b.txt': 'dos' })
  })

  it('copies file times from the other side, without treating that as a change', async () => {
    const to = box()
    write({ 'd/here.txt': 'here' })
    const [here, there] = ['2011-03-05T01:02:03.456Z', '2090-03-05T01:02:03.789Z']
    utimesSync(at('d/here.txt'), new Date(here), new Date(here))
    const form = new FormData()
    for (const [name, value] of [
      ['folder', to],
      ['modified_at', there],
    ] as const)
      form.append(name, value)
    form.append('file', new Blob(['there']), 'there.txt')
    await alice.rest('POST', '/api/files/upload', { form })
    expect(actionsOf(await run('d', `:/${to}`))).toEqual([
      'local download there.txt',
      'remote upload here.txt',
    ])
    const { response } = await alice.rest('GET', `/api/files/info?path=${to}/here.txt`)
    expect([response.modified_at, statSync(at('d/there.txt')).mtime.toISOString()]).toEqual([
      here,
      there,
    ])
    expect(actionsOf(await run('d', `:/${to}`))).toEqual([])
    // A changed time alone does not count as a change, and the other side keeps its own time.
    utimesSync(at('d/there.txt'), new Date(here), new Date(here))
    expect(actionsOf(await run('d', `:/${to}`))).toEqual([])
  })

  it('stops before it deletes more than half, or when one side is missing', async () => {
    const to = box()
    const names = Array.from({ length: 12 }, (_, i) => `${i}.txt`)
    write(Object.fromEntries(names.map(name => [`d/${name}`, name])))
    await run('d', `:/${to}`)
    for (const name of names.slice(0, 11)) rmSync(at(`d/${name}`))
    const before = await remoteTree(to)
    const stopped = await run('d', `:/${to}`)
    expect([stopped.code, stopped.error]).toEqual([
      5,
      expect.objectContaining({
        code: 'TOO_MANY_DELETIONS',
        count: 11,
        message: expect.stringContaining('--max-delete 11'),
      }),
    ])
    expect(await remoteTree(to)).toEqual(before)
    expect(await run('--max-delete', '11', 'd', `:/${to}`)).toMatchObject({ code: 0 })
    expect(await remoteTree(to)).toEqual({ '11.txt': '11.txt' })

    // An empty folder where the disk was mounted.
    renameSync(at('d'), at('away'))
    mkdirSync(at('d'))
    const lost = await run('--max-delete', '100', 'd', `:/${to}`)
    expect([lost.code, lost.error.code]).toEqual([5, 'SYNC_ROOT_LOST'])
    rmSync(at('d'), { recursive: true })
    renameSync(at('away'), at('d'))
    await move('folders', to, `${to}-elsewhere`)
    expect((await run('d', `:/${to}`)).error.code).toBe('SYNC_ROOT_LOST')
    expect(tree('d')).toEqual({ '11.txt': '11.txt' })
    write({ 'd/mine.txt': 'mine' })
    await put(`${to}/theirs.txt`, 'theirs')
    expect(await run('--reset', 'd', `:/${to}`)).toMatchObject({ code: 0 })
    expect(tree('d')).toEqual({ '11.txt': '11.txt', 'mine.txt': 'mine', 'theirs.txt': 'theirs' })
    expect(await remoteTree(to)).toEqual(tree('d'))
  })

  it('ignores symbolic links and excluded files on both sides', async () => {
    const to = box()
    write({
      'd/.satchelignore': '# not these\nnode_modules/\n*.tmp\n',
      'd/a.txt': 'a',
      'd/b.tmp': 'b',
      'd/node_modules/x.js': 'x',
      'd/c.log': 'c',
      'd/f/in.txt': 'in',
      'd/f/in.tmp': 'in',
      'out/secret.txt': 's',
    })
    symlinkSync('../out', at('d/link'))
    await put(`${to}/theirs.tmp`, 't')
    const { code, err } = await shell.satchel([
      'sync',
      '--two-way',
      '--exclude',
      '*.log',
      'd',
      `:/${to}`,
    ])
    expect([code, err]).toEqual([0, expect.stringContaining('d/link is a symbolic link')])
    expect(Object.keys(await remoteTree(to))).toEqual([
      '.satchelignore',
      'a.txt',
      'f',
      'f/in.txt',
      'theirs.tmp',
    ])
    expect(existsSync(at('d/theirs.tmp'))).toBe(false)
    // A folder that contains excluded files is kept.
    await alice.rest('DELETE', `/api/folders?path=${to}/f&recursive=true`)
    expect(await run('--exclude', '*.log', 'd', `:/${to}`)).toMatchObject({ code: 0 })
    expect(Object.keys(tree('d/f'))).toEqual(['in.tmp'])
    // Newly excluded files are not deleted.
    expect(await run('--exclude', '*.log', '--exclude', 'a.txt', 'd', `:/${to}`)).toMatchObject({
      code: 0,
      changes: [],
    })
    expect(Object.keys(await remoteTree(to))).toContain('a.txt')
  })

  it('with a read-only key downloads changes, and reports local changes', async () => {
    const to = box()
    write({ 'd/a.txt': 'a', 'd/b.txt': 'b', 'd/r.txt': 'r' })
    await run('d', `:/${to}`)
    const { key } = await privateKey(t, alice, ['private_files:read'])
    write({ 'd/a.txt': 'mine', 'd/new.txt': 'new' })
    rmSync(at('d/b.txt'))
    renameSync(at('d/r.txt'), at('d/renamed.txt'))
    await put(`${to}/c.txt`, 'c')
    const { code, out } = await shell.satchel(['sync', '--two-way', '--json', 'd', `:/${to}`], {
      env: { SATCHEL_KEY: key, SATCHEL_SESSION: '' },
    })
    const { changes, failed } = JSON.parse(out)
    expect([code, actionsOf({ changes })]).toEqual([3, ['local download c.txt']])
    expect([...new Set(failed.flatMap(({ paths }: { paths: string[] }) => paths))].sort()).toEqual([
      ...['a.txt', 'b.txt', 'new.txt', 'renamed.txt'],
    ])
    expect(tree('d')).toEqual({
      'a.txt': 'mine',
      'c.txt': 'c',
      'new.txt': 'new',
      'renamed.txt': 'r',
    })
    expect(await run('d', `:/${to}`)).toMatchObject({ code: 0 })
    expect(await remoteTree(to)).toEqual(tree('d'))
  })

  it('keeps a remote file whose new name is refused, and moves it once the name is valid', async () => {
    const to = box()
    write({ 'd/f/r.txt': 'r', 'd/b.txt': 'b' })
    await run('d', `:/${to}`)
    const id = await idOf(`${to}/f/r.txt`)
    renameSync(at('d/f/r.txt'), at('d/f/r\u0001.txt'))
    for (let i = 0; i < 2; i++) {
      const { failed, changes } = await run('d', `:/${to}`)
      expect([failed.map(({ path }: { path: string }) => path), changes]).toEqual([
        ['f/r\u0001.txt'],
        [],
      ])
    }
    expect(Object.keys(await remoteTree(to))).toEqual(['b.txt', 'f', 'f/r.txt'])
    renameSync(at('d/f/r\u0001.txt'), at('d/renamed.txt'))
    expect(actionsOf(await run('d', `:/${to}`))).toEqual(['remote move renamed.txt'])
    expect(await idOf(`${to}/renamed.txt`)).toBe(id)
  })

  it('with --dry-run shows its plan, and changes nothing', async () => {
    const to = box()
    write({ 'd/a.txt': 'mine', 'd/new.txt': 'new' })
    await put(`${to}/a.txt`, 'theirs')
    await put(`${to}/b.txt`, 'b')
    const { code, out } = await shell.satchel(['sync', '--two-way', '--dry-run', 'd', `:/${to}`])
    expect([code, out]).toEqual([0, expect.stringMatching(/^conflict .*\n(.*\n)*Dry run: /m)])
    expect(readdirSync(at('d')).sort()).toEqual(['a.txt', 'new.txt'])
    expect(Object.keys(await remoteTree(to))).toEqual(['a.txt', 'b.txt'])
    expect(await shell.satchel(['sync', '--two-way', '--dry-run', 'e', `:/${to}`])).toMatchObject({
      code: 0,
    })
    expect(existsSync(at('e'))).toBe(false)
  })

  it('exits with 2 for conflicting options, and without a remote side', async () => {
    write({ 'd/a.txt': 'a' })
    for (const args of [
      ['--two-way', '--delete', 'd', ':/x'],
      ['--watch', '--delete', 'd', ':/x'],
      ['--two-way', 'd', 'e'],
      ['--two-way', 'd/a.txt', ':/x'],
    ])
      expect([args, (await shell.satchel(['sync', ...args])).code]).toEqual([args, 2])
  })
})

describe('satchel sync --watch', () => {
  it('syncs within seconds, also after a network failure, until it is interrupted', async () => {
    const to = box()
    write({ 'd/a.txt': 'a' })
    await put(`${to}/b.txt`, 'b')
    const child = shell.begin(['sync', '--watch', 'd', `:/${to}`])
    const over = ended(child)
    const same = () =>
      eventually(async () => expect(await remoteTree(to)).toEqual(tree('d')), 20_000, 200)
    await until(() => existsSync(at('d/b.txt')))
    await same()
    expect(await shell.refused('sync', '--two-way', 'd', `:/${to}`)).toMatchObject({
      code: 5,
      error: { code: 'SYNC_BUSY', pid: child.pid },
    })
    // Another user or another computer does not change this either.
    const other = { env: { XDG_STATE_HOME: at('other') } }
    expect((await shell.satchel(['sync', '--two-way', 'd', `:/${to}`], other)).err).toContain(
      '(SYNC_BUSY)',
    )

    const start = performance.now()
    write({ 'd/deep/er/new.txt': 'new' })
    await until(async () => (await idOf(`${to}/deep/er/new.txt`)) !== undefined, 20_000, 50)
    const sent = performance.now()
    await put(`${to}/theirs.txt`, 'theirs')
    await until(() => existsSync(at('d/theirs.txt')))
    const came = performance.now()
    expect([sent - start, came - sent].filter(ms => ms > 10_000)).toEqual([])
    // In a folder that was created after the start, and renamed.
    renameSync(at('d/deep'), at('d/deeper'))
    await until(async () => (await idOf(`${to}/deeper/er/new.txt`)) !== undefined, 20_000, 50)
    write({ 'd/deeper/er/new.txt': 'changed' })
    await eventually(async () =>
      expect((await remoteTree(to))['deeper/er/new.txt']).toBe('changed'),
    )

    let isGone = true
    listen(() => {
      if (isGone) throw new Error('The network is gone.')
    })
    write({ 'd/offline.txt': 'mine' })
    await until(() => count(/./) > 0)
    isGone = false
    await eventually(async () => expect(await idOf(`${to}/offline.txt`)).toBeDefined(), 40_000)
    await same()
    child.kill('SIGINT')
    const { code, out } = await over
    expect([code, out]).toEqual([0, expect.stringContaining('offline.txt')])
  })

  it('reports files beyond the quota, and exits without its folder or when its key is deleted', async () => {
    const to = box()
    write({ 'd/a.txt': 'a', 'd/f/b.txt': 'b' })
    const { key, id } = await privateKey(t, alice)
    const watch = (...args: string[]) =>
      shell.begin(['sync', '--watch', ...args], { env: { SATCHEL_KEY: key, SATCHEL_SESSION: '' } })
    const first = watch('d', `:/${to}`)
    const firstOver = ended(first)
    let said = ''
    first.stderr?.on('data', chunk => {
      said += chunk
    })
    await until(async () => (await idOf(`${to}/f/b.txt`)) !== undefined, 20_000, 50)
    await t.limit({ maxFileSizeBytes: 5 })
    write({ 'd/large.txt': 'larger than that', 'd/small.txt': 's' })
    await until(async () => (await idOf(`${to}/small.txt`)) !== undefined, 20_000, 50)
    await until(() => said.includes('FILE_TOO_LARGE'))
    // Replaces a file by a folder, and the synced folder by an empty one.
    rmSync(at('d/a.txt'))
    write({ 'd/a.txt/c.txt': 'c' })
    await until(async () => (await idOf(`${to}/a.txt/c.txt`)) !== undefined, 20_000, 50)
    renameSync(at('d'), at('away'))
    mkdirSync(at('d'))
    const { code, err } = await firstOver
    await t.limit({ maxFileSizeBytes: 2 ** 31 })
    expect([code, err]).toEqual([5, expect.stringContaining('(SYNC_ROOT_LOST)')])
    rmSync(at('d'), { recursive: true })
    renameSync(at('away'), at('d'))

    const second = watch('d', `:/${to}`)
    const secondOver = ended(second)
    await until(async () => (await idOf(`${to}/large.txt`)) !== undefined, 20_000, 50)
    expect(await remoteTree(to)).toEqual(tree('d'))
    expect(
      (await alice.rest('DELETE', '/api/api_keys/private/delete', { json: { api_key_id: id } }))
        .status,
    ).toBe(200)
    write({ 'd/later.txt': 'later' })
    const revoked = performance.now()
    expect(await secondOver).toMatchObject({
      code: 3,
      err: expect.stringContaining('UNAUTHENTICATED'),
    })
    expect(performance.now() - revoked).toBeLessThan(20_000)
    expect(tree('d')['later.txt']).toBe('later')
  })
})
