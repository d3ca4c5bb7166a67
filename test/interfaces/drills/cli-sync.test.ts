import { createHash, randomBytes, randomInt } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { purgeEvents } from '../../../db/queries/event.ts'
import { driveOf, found, privateKey, workspaceKey } from '../../support/builders.ts'
import { ended, openWarmShell, type Shell } from '../../support/command-line.ts'
import { freePort } from '../../support/free-port.ts'
import { randomFrom } from '../../support/fuzz.ts'
import { type Person, signInTo, startApp, type TestApp } from '../../support/harness.ts'
import { type HttpProxy, startHttpProxy } from '../../support/http-proxy.ts'
import {
  BYTES,
  noteRequests,
  type RequestNotes,
  textsBelow,
  writeFiles,
} from '../../support/sync-folders.ts'
import { until } from '../../support/until.ts'

const PART = 256 * 1024
/** Too large for one request. */
const LARGE = 9 * 1024 * 1024

let t: TestApp
let alice: Person
let shell: Shell
let service: string
/** Every request of the commands passes this proxy, including signed addresses. */
let proxy: HttpProxy
let noted: RequestNotes

beforeAll(async () => {
  const port = await freePort()
  proxy = await startHttpProxy(port)
  noted = noteRequests(proxy)
  service = `http://127.0.0.1:${port}`
  t = await startApp({ PORT: String(port), PUBLIC_URL: proxy.url, UPLOAD_PART_BYTES: String(PART) })
  alice = await signInTo(t.app.db, service, 'alice')
  await alice.rest('POST', '/api/workspaces/create', { json: { name: 'Garden' } })
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
/** The texts of files below a local folder by path, null for folders. */
const tree = (folder: string) => Object.fromEntries(textsBelow(at(folder)))
/** Like `tree` for a remote folder, read through the REST API. */
async function remoteTree(path: string): Promise<Record<string, string | null>> {
  const into = mkdtempSync(at('look-'))
  await shell.satchel(['get', path, '-o', into])
  return tree(join(into.slice(shell.home.length + 1), path.replace(/^.*[:/]/, '')))
}
const actionsOf = ({ changes }: { changes: { action: string; path: string }[] }) =>
  changes.map(({ action, path }) => `${action} ${path}`)
const run = async (...args: string[]) => {
  const { code, out, err } = await shell.satchel(['sync', '--json', ...args])
  return { code, err, ...(out === '' ? {} : JSON.parse(out)) }
}
async function replace(path: string, text: string, mustBe = true): Promise<void> {
  const form = new FormData()
  form.append('folder', dirname(path))
  form.append('on_conflict', 'replace')
  form.append('file', new Blob([text]), path.slice(path.lastIndexOf('/') + 1))
  const { status } = await alice.rest('POST', '/api/files/upload', { form })
  if (mustBe) expect(status).toBe(200)
}
let n = 0
const box = () => `box-${n++}`

describe.each([
  ['your files', ':/'],
  ['a workspace', 'garden:/'],
])('satchel sync with %s', (_what, root) => {
  it('mirrors a folder, and sends and lists nothing the second time', async () => {
    const to = root + box()
    const files = { 'a.txt': 'a', 'deep/er/b.txt': 'bee', 'ünï 🦊/#c?.txt': '', 'equal.txt': 'a' }
    write(Object.fromEntries(Object.entries(files).map(([path, text]) => [`d/${path}`, text])))
    mkdirSync(at('d/empty/er'), { recursive: true })
    const first = await run('d', to)
    expect([first.code, actionsOf(first).sort(), first.unchanged]).toEqual([
      0,
      ['mkdir empty/er', ...Object.keys(files).map(path => `upload ${path}`)].sort(),
      0,
    ])
    expect(await remoteTree(to.replace(/^:/, ''))).toEqual(tree('d'))

    listen()
    expect(await run('d', to)).toMatchObject({ code: 0, changes: [], unchanged: 4 })
    expect([count(BYTES), count(/SyncLevel/), count(/./)]).toEqual([0, 0, expect.any(Number)])
    expect(count(/./)).toBeLessThanOrEqual(3)

    write({ 'd/a.txt': 'other', 'd/new.txt': 'new' })
    rmSync(at('d/equal.txt'))
    listen()
    expect(actionsOf(await run('d', to)).sort()).toEqual(['replace a.txt', 'upload new.txt'])
    expect([count(BYTES), count(/SyncLevel/)]).toEqual([2, 0])
    expect(await remoteTree(to.replace(/^:/, ''))).toEqual({ ...tree('d'), 'equal.txt': 'a' })

    listen()
    const back = await run(to, 'back')
    expect([back.code, actionsOf(back)].flat()).toContain('download deep/er/b.txt')
    expect(tree('back')).toEqual({ ...tree('d'), 'equal.txt': 'a' })
    listen()
    expect(await run(to, 'back')).toMatchObject({ code: 0, changes: [], unchanged: 5 })
    expect([count(BYTES), count(/SyncLevel/)]).toEqual([0, 0])
  })

  it('deletes only with --delete, and shows how to restore remote files from the trash', async () => {
    const to = root + box()
    write({ 'd/a.txt': 'a', 'd/gone/b.txt': 'b', 'd/gone/c.txt': 'c', 'd/other.txt': 'o' })
    await run('d', to)
    rmSync(at('d/gone'), { recursive: true })
    rmSync(at('d/other.txt'))
    expect(actionsOf(await run('d', to))).toEqual([])
    const { code, out } = await shell.satchel(['sync', '--delete', 'd', to])
    expect([code, out]).toEqual([0, expect.stringContaining('2 deleted, 1 unchanged.\n')])
    expect(await remoteTree(to.replace(/^:/, ''))).toEqual({ 'a.txt': 'a' })
    const [, words = ''] = /Restore them with: satchel (.*)\n$/.exec(out) ?? []
    expect((await shell.satchel(words.split(' '))).code).toBe(0)
    expect(Object.keys(await remoteTree(to.replace(/^:/, '')))).toEqual([
      ...['a.txt', 'gone', 'gone/b.txt', 'gone/c.txt', 'other.txt'],
    ])
  })
})

describe.each([
  ['your files', ':/'],
  ['a workspace', 'garden:/'],
])('satchel sync --delete with %s', (_what, root) => {
  /** The ids of the entries below a remote folder by their names. */
  const ids = async (folder: string): Promise<Record<string, string>> => {
    const rows = await t.app.db.rows<{ id: string; name: string }>(
      `WITH RECURSIVE below AS (SELECT id, name FROM entry WHERE name = ?
         UNION ALL SELECT e.id, e.name FROM entry e JOIN below b ON e.parent_id = b.id) SELECT id, name FROM below`,
      [folder],
    )
    return Object.fromEntries(rows.map(({ name, id }) => [name, id]))
  }

  it('moves renamed local files and folders without sending them again', async () => {
    const folder = box()
    const to = root + folder
    const files = {
      'a.txt': 'one',
      'b.txt': 'two',
      'old/c.txt': 'three',
      'old/deep/d.txt': 'four',
      'old/e.txt': 'four',
    }
    write(Object.fromEntries(Object.entries(files).map(([path, text]) => [`d/${path}`, text])))
    write({ 'd/stays.txt': 'one', 'd/empty.txt': '' })
    await run('d', to)
    const known = await ids(folder)
    renameSync(at('d/a.txt'), at('d/z.txt'))
    mkdirSync(at('d/new'))
    renameSync(at('d/b.txt'), at('d/new/b.txt'))
    renameSync(at('d/old'), at('d/new/er'))
    renameSync(at('d/empty.txt'), at('d/void.txt'))
    // A removed file matches a new one by its bytes only.
    rmSync(at('d/new/er/c.txt'))
    write({ 'd/copy.txt': 'three', 'd/other.txt': 'thre3' })
    const planned = await run('--delete', '--dry-run', 'd', to)
    listen()
    const done = await run('--delete', 'd', to)
    const from = ({ changes }: { changes: { path: string; from?: string }[] }) =>
      Object.fromEntries(
        changes.flatMap(({ path, from }) => (from === undefined ? [] : [[path, from]])),
      )
    expect([done.code, from(done)]).toEqual([
      0,
      {
        'copy.txt': 'old/c.txt',
        'new/b.txt': 'b.txt',
        'new/er/deep/d.txt': 'old/deep/d.txt',
        'new/er/e.txt': 'old/e.txt',
        'z.txt': 'a.txt',
      },
    ])
    expect(from(planned)).toEqual(from(done))
    expect(
      actionsOf(done)
        .filter(action => !action.startsWith('move'))
        .sort(),
    ).toEqual([...['delete empty.txt', 'delete old', 'upload other.txt', 'upload void.txt']])
    expect(count(/\/upload$|\/parts\//)).toBe(2)
    const now = await ids(folder)
    expect([now['z.txt'], now['b.txt'], now['copy.txt'], now['d.txt'], now['e.txt']]).toEqual([
      ...[known['a.txt'], known['b.txt'], known['c.txt'], known['d.txt'], known['e.txt']],
    ])
    expect(await remoteTree(to.replace(/^:/, ''))).toEqual(tree('d'))
    listen()
    expect(await run('--delete', 'd', to)).toMatchObject({ code: 0, changes: [], unchanged: 8 })
    expect([count(BYTES), count(/SyncLevel/)]).toEqual([0, 0])
  })
})

describe('satchel sync', () => {
  it('leaves alone a file that changes before its move, and a file that appears at its target', async () => {
    const to = box()
    write({ 'd/a.txt': 'one', 'd/b.txt': 'two', 'd/c.txt': 'three' })
    await run('d', `:/${to}`)
    for (const name of ['a', 'b', 'c']) renameSync(at(`d/${name}.txt`), at(`d/${name}-new.txt`))
    let meddled = false
    listen(async line => {
      if (line !== 'POST Move' || meddled) return
      meddled = true
      await replace(`${to}/a.txt`, 'changed')
      await alice.upload(`${to}/b-new.txt`, 'here first')
    })
    const { code, changes, failed } = await run('--parallel', '1', '--delete', 'd', `:/${to}`)
    expect([code, changes.map(({ path }: { path: string }) => path)]).toEqual([5, ['c-new.txt']])
    expect(failed.map(({ code }: { code: string }) => code).sort()).toEqual([
      'PATH_EXISTS',
      'REVISION_MISMATCH',
    ])
    expect(await remoteTree(to)).toEqual({
      'a.txt': 'changed',
      'b-new.txt': 'here first',
      'b.txt': 'two',
      'c-new.txt': 'three',
    })
  })

  it('keeps a file that it could not move, even if its local folder is gone', async () => {
    const to = box()
    write({
      'd/old/a.txt': 'one',
      'd/old/b.txt': 'two',
      'd/old/gone.txt': 'three',
      'd/other/c.txt': 'four',
    })
    await run('d', `:/${to}`)
    renameSync(at('d/old/a.txt'), at('d/a.txt'))
    renameSync(at('d/old/b.txt'), at('d/b.txt'))
    for (const folder of ['d/old', 'd/other']) rmSync(at(folder), { recursive: true })
    let meddled = false
    listen(async line => {
      if (line !== 'POST Move' || meddled) return
      meddled = true
      await replace(`${to}/old/a.txt`, 'changed')
    })
    const { code, failed } = await run('--parallel', '1', '--delete', 'd', `:/${to}`)
    expect([code, failed.map(({ code }: { code: string }) => code)]).toEqual([
      5,
      ['REVISION_MISMATCH'],
    ])
    expect(await remoteTree(to)).toEqual({ old: null, 'old/a.txt': 'changed', 'b.txt': 'two' })
  })

  it('succeeds with a warning when its state cannot be saved', async () => {
    const to = `:/${box()}`
    write({ 'd/a.txt': 'one' })
    await run('d', to)
    const folder = at('state/satchel/syncs')
    const [name = ''] = readdirSync(folder).filter(name => name.endsWith('.json'))
    rmSync(join(folder, name))
    mkdirSync(join(folder, name))
    write({ 'd/b.txt': 'two' })
    const { code, out, err } = await shell.satchel(['sync', 'd', to])
    expect([code, out]).toEqual([0, '1 uploaded (3 B), 1 unchanged.\n'])
    expect(err).toMatch(
      /^The state of this run could not be saved, so the next run reads both folders again: .+\n$/,
    )
  })

  it('deletes local files only after a confirmation, or with --yes', async () => {
    const from = box()
    await alice.upload(`${from}/a.txt`, 'a')
    write({ 'd/old.txt': 'old', 'd/sub/old.txt': 'old' })
    const before = tree('d')
    const refused = await shell.refused('sync', '--delete', `:/${from}`, 'd')
    expect(refused).toMatchObject({
      code: 2,
      error: { code: 'USAGE', message: expect.stringContaining('--yes') },
    })
    expect(tree('d')).toEqual(before)
    const typed = async (answer: string) => {
      const { program } = await import('../../support/command-line.ts')
      const { spawn } = await import('node:child_process')
      const command = `${process.execPath} ${program} sync --delete :/${from} d`
      const child = spawn('script', ['-qec', command, '/dev/null'], {
        cwd: shell.home,
        env: { ...shell.env, TERM: 'xterm' },
      })
      let said = ''
      child.stdout.on('data', chunk => {
        said += chunk
      })
      const over = ended(child)
      await until(() => said.includes('[y/N]'))
      child.stdin.write(`${answer}\n`)
      return (await over).out
    }
    expect(await typed('n')).toContain('Delete 3 local entries')
    expect(tree('d')).toEqual(before)
    await typed('y')
    expect(tree('d')).toEqual({ 'a.txt': 'a' })
    write({ 'd/old.txt': 'old' })
    expect(actionsOf(await run('--delete', '--yes', `:/${from}`, 'd'))).toEqual(['delete old.txt'])
  })

  it('deletes all remote files only with --yes when the local folder is empty or unmounted', async () => {
    const to = box()
    write({ 'd/a.txt': 'a', 'd/sub/b.txt': 'b' })
    await run('d', `:/${to}`)
    const before = await remoteTree(to)
    rmSync(at('d'), { recursive: true })
    mkdirSync(at('d/mount'), { recursive: true })
    const refused = await shell.refused('sync', '--delete', 'd', `:/${to}`)
    expect(refused).toMatchObject({
      code: 2,
      error: { code: 'USAGE', message: expect.stringContaining('--yes') },
    })
    expect(await remoteTree(to)).toEqual(before)
    expect(actionsOf(await run('--delete', '--dry-run', 'd', `:/${to}`))).toContain('delete a.txt')
    expect(await run('--delete', '--yes', 'd', `:/${to}`)).toMatchObject({ code: 0 })
    expect(await remoteTree(to)).toEqual({ mount: null })
  })

  it('with --dry-run shows the same plan, and changes nothing on either side', async () => {
    const there = box()
    await alice.upload(`${there}/a.txt`, 'a')
    await alice.upload(`${there}/b/c.txt`, 'c')
    write({ 'd/a.txt': 'other', 'd/new.txt': 'new' })
    const [local, remote] = [tree('d'), await remoteTree(there)]
    const dry = ['--dry-run', '--delete']
    const push = await run(...dry, 'd', `:/${there}`)
    expect([push.dry_run, actionsOf(push).sort()]).toEqual([
      true,
      ['delete b', 'replace a.txt', 'upload new.txt'],
    ])
    const pull = await run(...dry, `:/${there}`, 'd')
    expect(actionsOf(pull).sort()).toEqual(['delete new.txt', 'download b/c.txt', 'replace a.txt'])
    expect(await run(...dry, `:/${there}`, 'missing/d')).toMatchObject({ code: 0 })
    const { out } = await shell.satchel(['sync', ...dry, 'd', `:/${there}`])
    expect(out).toMatch(/^replace {3}a\.txt$/m)
    expect(out).toMatch(/Nothing was changed\.\n$/)
    expect([tree('d'), await remoteTree(there), existsSync(at('missing'))]).toEqual([
      local,
      remote,
      false,
    ])
    const real = await run('--delete', 'd', `:/${there}`)
    expect(actionsOf(real).sort()).toEqual(actionsOf(push).sort())
  })

  it('ignores excluded files on both sides', async () => {
    const to = box()
    await alice.upload(`${to}/node_modules/kept.js`, 'k')
    await alice.upload(`${to}/src/kept.tmp`, 'k')
    await alice.upload(`${to}/src/gone.js`, 'g')
    write({
      'd/src/a.js': 'a',
      'd/src/b.tmp': 'b',
      'd/node_modules/x/y.js': 'y',
      'd/a.md': 'm',
      'd/A.JS': 'A',
    })
    const exclude = ['--exclude', 'node_modules/', '--exclude', '*.tmp']
    expect(
      actionsOf(await run(...exclude, '--include', '*.js', '--delete', 'd', `:/${to}`)).sort(),
    ).toEqual(['delete src/gone.js', 'upload src/a.js'])
    expect(Object.keys(await remoteTree(to))).toEqual([
      ...['node_modules', 'node_modules/kept.js', 'src', 'src/a.js', 'src/kept.tmp'],
    ])
    const back = await run(...exclude, '--delete', '--yes', `:/${to}`, 'd')
    expect(actionsOf(back).sort()).toEqual(['delete A.JS', 'delete a.md'])
    expect(existsSync(at('d/node_modules/x/y.js')) && existsSync(at('d/src/b.tmp'))).toBe(true)
  })

  it('reads events of every kind instead of listing the folder again', async () => {
    const [from, elsewhere] = [box(), box()]
    for (const path of [
      'a.txt',
      'dir/b.txt',
      'dir/sub/c.txt',
      'moved/d.txt',
      'out/e.txt',
      'trash/f.txt',
    ])
      await alice.upload(`${from}/${path}`, path)
    await alice.upload(`${elsewhere}/in/deep/g.txt`, 'g')
    const sync = () => run('--delete', '--yes', `:/${from}`, 'd')
    await sync()
    const move = (kind: 'files' | 'folders', source: string, destination: string) =>
      alice.rest('POST', `/api/${kind}/move`, { json: { source, destination } })
    await replace(`${from}/a.txt`, 'replaced')
    await move('folders', `${from}/dir`, `${from}/renamed`)
    await move('files', `${from}/moved/d.txt`, `${from}/renamed/sub/d.txt`)
    await move('folders', `${elsewhere}/in`, `${from}/in`)
    await move('folders', `${from}/out`, `${elsewhere}/out`)
    await alice.upload(`${elsewhere}/out/while away.txt`, 'w')
    await move('folders', `${elsewhere}/out`, `${from}/out`)
    await alice.rest('DELETE', `/api/folders?path=${from}/trash&recursive=true`)
    const [item] = (await alice.rest('GET', '/api/trash')).response.items
    await alice.rest('POST', '/api/trash/restore', { json: { items: [item.id] } })
    await alice.rest('DELETE', `/api/files/delete?file=${from}/renamed/b.txt`)
    await alice.rest('POST', '/api/folders', { json: { path: `${from}/new/empty` } })
    listen()
    expect(await sync()).toMatchObject({ code: 0 })
    expect(tree('d')).toEqual(await remoteTree(from))
    // Only the moved folder is listed.
    listen()
    await replace(`${from}/a.txt`, 'again')
    expect(actionsOf(await sync())).toEqual(['replace a.txt'])
    expect([count(/SyncLevel/), count(/SyncEntries/)]).toEqual([0, 1])
    // The service sets the time of the file.
    const { files } = (await alice.rest('GET', `/api/files/tree?path=${from}`)).response
    expect(statSync(at('d/a.txt')).mtime.toISOString()).toBe(files[0].modified_at)
  })

  it('keeps the times of files in both directions, and has nothing to do afterwards', async () => {
    const to = box()
    write({
      't/small.txt': 'small',
      't/empty.txt': '',
      't/large.bin': randomBytes(LARGE),
      't/old.txt': 'of a clock that was never set',
    })
    const times = {
      'small.txt': '2011-03-05T01:02:03.456Z',
      'empty.txt': '2012-03-05T01:02:03.456Z',
      'large.bin': '2091-03-05T01:02:03.789Z',
    }
    for (const [name, time] of Object.entries(times))
      utimesSync(at(`t/${name}`), new Date(time), new Date(time))
    utimesSync(at('t/old.txt'), 0, 0)
    const before = Date.now()
    expect(await run('t', `:/${to}`)).toMatchObject({ code: 0 })
    const { files } = (await alice.rest('GET', `/api/files/tree?path=${to}`)).response
    const kept = files.map(({ name, modified_at: time }: Record<string, string>) => [
      name?.replace(/.*\//, ''),
      time,
    ])
    expect(Object.fromEntries(kept)).toMatchObject(times)
    expect(Date.parse(Object.fromEntries(kept)['old.txt'])).toBeGreaterThanOrEqual(before)
    await run(`:/${to}`, 'u')
    await shell.satchel(['get', to, '-o', './'])
    for (const folder of ['u', to])
      for (const [name, time] of Object.entries(times))
        expect(statSync(at(`${folder}/${name}`)).mtime.toISOString()).toBe(time)
    for (const pair of [
      ['u', `:/${to}`],
      ['t', `:/${to}`],
      [`:/${to}`, 'u'],
    ] as const)
      expect((await run(...pair)).changes).toEqual([])
    const { out } = await shell.satchel(['ls', to, '--json'])
    expect(
      JSON.parse(out).files.find(({ name }: { name: string }) => name === 'small.txt').modified_at,
    ).toBe(times['small.txt'])
  })

  it('matches a full listing after changes of all kinds, in any order', async () => {
    const seed = randomInt(1_000_000)
    const [from, elsewhere] = [box(), box()]
    const next = randomFrom(seed)
    const random = (bound: number) => Math.floor(next() * bound)
    const any = <T>(all: readonly T[]): T => all[random(all.length)] as T
    const folder = () => `${any([from, from, elsewhere])}${any(['', '/p', '/q', '/p/r', '/q/r'])}`
    const path = () => `${folder()}/${any(['1', '2', '3', 'p', 'r'])}`
    const trash: string[] = []
    // Invalid changes are refused.
    const changes = [
      () => alice.upload(path(), `${random(1000)}`),
      () => replace(path(), `${random(1000)}`, false),
      () => alice.rest('POST', '/api/folders', { json: { path: path() } }),
      () =>
        alice.rest('POST', '/api/files/move', { json: { source: path(), destination: path() } }),
      () =>
        alice.rest('POST', '/api/folders/move', { json: { source: path(), destination: path() } }),
      () =>
        alice.rest('POST', '/api/folders/move', {
          json: { source: folder(), destination: folder() },
        }),
      () => alice.rest('DELETE', `/api/files/delete?file=${path()}`),
      async () => {
        await alice.rest('DELETE', `/api/folders?path=${path()}&recursive=true`)
        trash.push((await alice.rest('GET', '/api/trash?limit=1')).response.items[0]?.id)
      },
      () =>
        alice.rest('POST', '/api/trash/restore', {
          json: { items: [any(trash)], on_conflict: 'keep_both' },
        }),
    ]
    for (let round = 0; round < 6; round++) {
      for (let i = 0; i < 25; i++) await any(changes)()
      await alice.rest('POST', '/api/folders', { json: { path: from } })
      listen()
      expect(await run('--delete', '--yes', `:/${from}`, 'd')).toMatchObject({ code: 0 })
      expect(await run(`:/${from}`, `fresh-${round}`)).toMatchObject({ code: 0 })
      expect({ seed, round, tree: tree('d') }).toEqual({
        seed,
        round,
        tree: tree(`fresh-${round}`),
      })
    }
  })

  it.each([
    ['your files', ''],
    ['a workspace', 'garden'],
  ])('works with keys, on all of %s, and pulls with a read-only key', async (_what, slug) => {
    const bob = await signInTo(t.app.db, service, `bob${n++}`)
    const id = slug && (await found(bob, slug))
    const make = (scopes?: string[]) =>
      id ? workspaceKey(t, bob, id, scopes) : privateKey(t, bob, scopes)
    const [all, reading] = [
      await make(),
      await make([`${id ? 'workspaces:files' : 'private_files'}:read`]),
    ]
    const by = async ({ key }: { key: string }, ...args: string[]) => {
      const { code, out } = await shell.satchel(['sync', '--json', ...args], {
        env: { SATCHEL_KEY: key, SATCHEL_SESSION: '' },
      })
      return { code, ...JSON.parse(out || '{}') }
    }
    write({ 'd/a.txt': 'a', 'd/b/c.txt': 'c', 'd/b/gone.txt': 'g' })
    expect(await by(all, 'd', `${id}:/`)).toMatchObject({ code: 0, unchanged: 0 })
    rmSync(at('d/b/gone.txt'))
    expect(actionsOf(await by(all, '--delete', 'd', `${id}:`))).toEqual(['delete b/gone.txt'])
    expect(await by(reading, `${id}:/`, 'back')).toMatchObject({ code: 0 })
    expect(tree('back')).toEqual(tree('d'))
    write({ 'd/a.txt': 'changed' })
    expect(await by(reading, 'd', `${id}:/`)).toMatchObject({ code: 3 })
    expect(await by(all, 'd', `${id}:/`)).toMatchObject({ code: 0, unchanged: 1 })
    expect(actionsOf(await by(reading, `${id}:/`, 'back'))).toEqual(['replace a.txt'])
  })

  it('lists everything when the events or its state are gone', async () => {
    const from = box()
    await alice.upload(`${from}/a.txt`, 'a')
    await run(`:/${from}`, 'd')
    await replace(`${from}/a.txt`, 'b')
    const drive = await driveOf(alice)
    const [row] = await t.app.db.rows<{ seq: number }>(
      'SELECT MAX(seq) AS seq FROM event WHERE log_id = ?',
      [drive],
    )
    await purgeEvents(t.app.db, drive, row?.seq ?? 0)
    listen()
    expect(actionsOf(await run(`:/${from}`, 'd'))).toEqual(['replace a.txt'])
    expect(count(/SyncLevel/)).toBe(1)
    const states = at('state/satchel/syncs')
    for (const name of readdirSync(states)) writeFileSync(join(states, name), '{"half')
    expect(await run(`:/${from}`, 'd')).toMatchObject({ code: 0, changes: [], unchanged: 1 })
  })

  it.each([
    ['replaced', 'a.txt', 'REVISION_MISMATCH'],
    ['made', 'new.txt', 'PATH_EXISTS'],
    ['replaced in parts', 'large.bin', 'REVISION_MISMATCH'],
  ])(
    'exits with 5 and overwrites nothing when a remote file is %s while it runs',
    async (_how, path, code) => {
      const to = box()
      write({ 'd/a.txt': 'one', 'd/large.bin': Buffer.alloc(LARGE, 1) })
      await run('d', `:/${to}`)
      write({
        [`d/${path}`]: path === 'large.bin' ? Buffer.alloc(LARGE, 2) : 'mine',
        'd/z.txt': 'z',
      })
      let isDone = false
      listen(async line => {
        if (isDone || !/upload$|BeginCompletion/.test(line)) return
        isDone = true
        await replace(`${to}/${path}`, 'theirs')
      })
      const { failed, ...ended } = await run('--parallel', '1', 'd', `:/${to}`)
      expect([ended.code, failed]).toEqual([5, [expect.objectContaining({ code, path })]])
      listen()
      const { out } = await shell.satchel(['get', `${to}/${path}`, '-o', '-'])
      expect(out).toBe('theirs')
      // On a second look, the target has this file.
      expect(actionsOf(await run('d', `:/${to}`))).toEqual([`replace ${path}`])
    },
  )

  it('keeps remote files that changed, and local files that change while it runs', async () => {
    const there = box()
    await alice.upload(`${there}/extra.txt`, 'extra')
    write({ 'd/a.txt': 'a' })
    listen(async line => {
      if (line === 'POST Delete') await replace(`${there}/extra.txt`, 'theirs')
    })
    const pushed = await run('--delete', 'd', `:/${there}`)
    expect([pushed.code, pushed.failed]).toEqual([
      5,
      [expect.objectContaining({ code: 'REVISION_MISMATCH' })],
    ])
    listen(line => {
      if (line.startsWith('GET /api/blobs')) write({ 'd/a.txt': 'typed meanwhile' })
    })
    await replace(`${there}/a.txt`, 'new')
    const pulled = await run('--parallel', '1', `:/${there}`, 'd')
    expect([pulled.code, pulled.failed]).toEqual([
      5,
      [expect.objectContaining({ code: 'TARGET_EXISTS' })],
    ])
    expect(tree('d')).toEqual({ 'a.txt': 'typed meanwhile', 'extra.txt': 'theirs' })
  })

  it('resumes after a kill, also in the middle of a large file', async () => {
    const to = box()
    write({ 'd/a.txt': 'a', 'd/large.bin': randomBytes(LARGE), 'd/z.txt': 'z' })
    const sums = readFileSync(at('d/large.bin'))
    const parts = new Map<string, number>()
    listen(line => {
      if (line.includes('/parts/')) parts.set(line, (parts.get(line) ?? 0) + 1)
    })
    const child = shell.begin(['sync', 'd', `:/${to}`, '--parallel', '2'])
    const over = ended(child)
    await until(() => parts.size >= 10)
    child.kill('SIGKILL')
    await over
    const before = parts.size
    expect(await run('d', `:/${to}`)).toMatchObject({ code: 0 })
    expect([...parts.values()].filter(times => times > 1).length).toBeLessThanOrEqual(2)
    expect([before < parts.size, parts.size]).toEqual([true, Math.ceil(LARGE / PART)])

    // The reverse direction: the change happens while the bytes arrive.
    let isHeld = false
    listen(line => {
      isHeld ||= line.startsWith('GET /api/blobs')
    })
    const pulling = shell.begin(['sync', `:/${to}`, 'back', '--parallel', '1'])
    const gone = ended(pulling)
    await until(() => isHeld && partsIn('back').length > 0)
    pulling.kill('SIGKILL')
    await gone
    expect(await run('--delete', '--yes', `:/${to}`, 'back')).toMatchObject({ code: 0 })
    expect(
      createHash('md5')
        .update(readFileSync(at('back/large.bin')))
        .digest('hex'),
    ).toBe(createHash('md5').update(sums).digest('hex'))
    expect(readdirSync(at('back')).sort()).toEqual(['a.txt', 'large.bin', 'z.txt'])
  })
  const partsIn = (folder: string) =>
    existsSync(at(folder)) ? readdirSync(at(folder)).filter(name => name.endsWith('.part')) : []

  it('exits with 5 while another satchel syncs the same two folders', async () => {
    const to = box()
    write({ 'd/a.txt': 'a' })
    let release = () => {}
    const held = new Promise<void>(resolve => {
      release = resolve
    })
    listen(line => (line.endsWith('/upload') ? held : undefined))
    const child = shell.begin(['sync', 'd', `:/${to}`])
    const over = ended(child)
    await until(() => count(/\/upload$/) > 0)
    for (const sides of [
      ['d', `:/${to}`],
      [`:/${to}`, 'd'],
    ] as const)
      expect(await shell.refused('sync', ...sides)).toMatchObject({
        code: 5,
        error: { code: 'SYNC_BUSY', pid: child.pid },
      })
    release()
    expect((await over).code).toBe(0)
  })

  it('reports symbolic links on both sides, and follows none', async () => {
    const there = box()
    write({ 'elsewhere/secret.txt': 's', 'd/a.txt': 'a' })
    symlinkSync('../elsewhere', at('d/link'))
    await alice.upload(`${there}/link/kept.txt`, 'kept')
    const pushed = await shell.satchel(['sync', '--delete', 'd', `:/${there}`])
    expect([pushed.code, pushed.err]).toEqual([
      0,
      expect.stringContaining('d/link is a symbolic link'),
    ])
    const quiet = await shell.satchel(['sync', '--exclude', 'link/', 'd', `:/${there}`])
    expect([quiet.code, quiet.err]).toEqual([0, ''])
    expect(await remoteTree(there)).toEqual({ 'a.txt': 'a', link: null, 'link/kept.txt': 'kept' })
    const pulled = await run('--delete', '--yes', `:/${there}`, 'd')
    expect([pulled.code, pulled.failed]).toEqual([
      5,
      [expect.objectContaining({ code: 'TARGET_EXISTS', path: 'link' })],
    ])
    expect(tree('elsewhere')).toEqual({ 'secret.txt': 's' })
  })

  it('sends nothing through a symbolic link that appears while it runs', async () => {
    const to = box()
    write({ 'out/b.txt': 'secret', 'd/a.txt': 'a', 'd/b.txt': 'b', 'd/c/b.txt': 'b' })
    let isDone = false
    listen(line => {
      if (isDone || !line.endsWith('/upload')) return
      isDone = true
      rmSync(at('d/b.txt'))
      symlinkSync('../out/b.txt', at('d/b.txt'))
      rmSync(at('d/c'), { recursive: true })
      symlinkSync('../out', at('d/c'))
    })
    const { code, failed } = await run('--parallel', '1', 'd', `:/${to}`)
    expect([code, failed.map(({ path }: { path: string }) => path).sort()]).toEqual([
      1,
      ['b.txt', 'c/b.txt'],
    ])
    expect(await remoteTree(to)).toEqual({ 'a.txt': 'a' })
  })

  it.each([
    ['leads elsewhere', () => symlinkSync('out', at('d'))],
    ['disappears', () => {}],
  ])('writes and deletes nothing when the local folder %s while it runs', async (_what, meddle) => {
    const from = box()
    for (const path of ['a.txt', 'b.txt', 'c/b.txt']) await alice.upload(`${from}/${path}`, path)
    write({ 'out/old.txt': 'old', 'd/old.txt': 'old' })
    let isDone = false
    listen(line => {
      if (isDone || !line.startsWith('GET /api/blobs')) return
      isDone = true
      renameSync(at('d'), at('away'))
      meddle()
    })
    const { code, failed } = await run('--parallel', '1', '--delete', '--yes', `:/${from}`, 'd')
    expect([code, failed.map(({ path }: { path: string }) => path)]).toEqual([
      1,
      expect.arrayContaining(['b.txt', 'c/b.txt', 'old.txt']),
    ])
    expect(tree('out')).toEqual({ 'old.txt': 'old' })
    expect(tree('away')['old.txt']).toBe('old')
    expect(existsSync(at('d/b.txt'))).toBe(false)
  })

  it('replaces files by folders and folders by files only with --delete', async () => {
    const there = box()
    await alice.upload(`${there}/x/inner.txt`, 'inner')
    await alice.upload(`${there}/y`, 'y')
    write({ 'd/x': 'file', 'd/y/z.txt': 'z' })
    const left = await run('d', `:/${there}`)
    expect([left.code, left.failed.map(({ path }: { path: string }) => path)]).toEqual([
      5,
      ['x', 'y'],
    ])
    expect(await run('--delete', 'd', `:/${there}`)).toMatchObject({ code: 0 })
    expect(await remoteTree(there)).toEqual(tree('d'))
    write({ 'e/x/inner.txt': 'inner', 'e/y': 'y' })
    expect(await run('--delete', '--yes', `:/${there}`, 'e')).toMatchObject({ code: 0 })
    expect(tree('e')).toEqual(tree('d'))
  })

  it('skips names that the service refuses, and deletes nothing after a read error', async () => {
    const to = box()
    await alice.upload(`${to}/extra.txt`, 'x')
    write({ 'd/a.txt': 'a', 'd/back\\slash': 'b', 'd/e\u0301.txt': '1', 'd/\u00e9.txt': '2' })
    const ended = await run('--delete', 'd', `:/${to}`)
    expect(ended.failed.map(({ code }: { code: string }) => code).sort()).toEqual([
      'INVALID_PATH',
      'UNSAFE_NAME',
    ])
    expect(Object.keys(await remoteTree(to)).sort()).toEqual(['a.txt', 'extra.txt', '\u00e9.txt'])
  })

  it('requires one remote side, a local folder to push, and a remote folder to pull', async () => {
    write({ 'file.txt': 'f', 'd/a.txt': 'a' })
    await alice.upload('a file', 'x')
    for (const [sides, exit] of [
      [['d', 'e'], 2],
      [[':/d', 'garden:/e'], 2],
      [['file.txt', ':/d'], 2],
      [['missing', ':/d'], 1],
      [[':/missing', 'd'], 4],
      [[':/missing', 'made/for/it'], 4],
      [['--reset', 'd', ':/d'], 2],
      [['--max-delete', '1', 'd', ':/d'], 2],
      [[':/a file', 'd'], 2],
      [['d', 'unknown:/d'], 4],
    ] as const)
      expect([sides, (await shell.satchel(['sync', ...sides])).code]).toEqual([sides, exit])
    expect(tree('d')).toEqual({ 'a.txt': 'a' })
    expect(existsSync(at('made'))).toBe(false)
  })
})
