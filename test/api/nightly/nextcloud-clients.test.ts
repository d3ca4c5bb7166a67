import { type ChildProcess, spawn } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect } from '@jest/globals'
import { type Dav, davPerson } from '../../support/dav-client.ts'
import { randomFrom } from '../../support/fuzz.ts'
import { startApp, type TestApp } from '../../support/harness.ts'
import { testWith } from '../../support/programs.ts'

// The command line clients of Nextcloud (Debian: nextcloud-desktop-cmd) and ownCloud
// (owncloud-client-cmd), which sync like the desktop programs.

const programs = ['nextcloudcmd', 'owncloudcmd'] as const
type Program = (typeof programs)[number]

let t: TestApp
const dir = mkdtempSync(join(tmpdir(), 'satchel-nextcloud-'))
beforeAll(async () => {
  t = await startApp()
})
afterAll(async () => {
  await t.stop()
  rmSync(dir, { recursive: true })
})

interface Account {
  dav: Dav
  email: string
  key: string
}

function begin(program: Program, { email, key }: Account, local: string): ChildProcess {
  const home = join(dir, `home-${local}`)
  mkdirSync(home, { recursive: true })
  const where =
    program === 'nextcloudcmd' ? [join(dir, local), t.url] : [join(dir, local), `${t.url}/`]
  // Debian installs the list of ignored names only with the desktop program.
  const ignored = join(home, 'ignored')
  writeFileSync(ignored, '')
  const args = ['--non-interactive', '--exclude', ignored, '-u', email, '-p', key, ...where]
  const env = { ...process.env, HOME: home, XDG_CONFIG_HOME: home, XDG_DATA_HOME: home }
  return spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
}

/** Runs one sync. Returns the output of the program. */
function sync(program: Program, account: Account, local: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = begin(program, account, local)
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', data => (output += data))
    child.on('error', reject)
    child.on('exit', code =>
      code === 0
        ? resolve(output)
        : reject(new Error(`${program}: ${code}\n${output.slice(-4000)}`)),
    )
  })
}

/**
 * The files and folders below a local folder with their contents, except the state files of the
 * client.
 */
function localTree(local: string, path = ''): Map<string, string> {
  const found = new Map<string, string>()
  for (const entry of readdirSync(join(dir, local, path), { withFileTypes: true })) {
    if (/^\._?sync|^\.owncloudsync|^\.sync_|\.log$/.test(entry.name)) continue
    const below = path === '' ? entry.name : `${path}/${entry.name}`
    if (!entry.isDirectory()) found.set(below, readFileSync(join(dir, local, below), 'latin1'))
    else {
      found.set(`${below}/`, '')
      for (const [name, bytes] of localTree(local, below)) found.set(name, bytes)
    }
  }
  return found
}

/** The files and folders of the service with their contents. */
async function remoteTree({ dav }: Account, path = ''): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  const { text } = await dav('PROPFIND', `/files${path}/`, { headers: { depth: '1' } })
  const hrefs = [...text.matchAll(/<d:href>\/dav\/files(.*?)<\/d:href>/g)].map(([, href]) => href)
  for (const href of hrefs.slice(1)) {
    const name = decodeURIComponent(href ?? '').slice(1)
    if (name.endsWith('/')) {
      found.set(name, '')
      for (const [below, bytes] of await remoteTree({ dav } as Account, (href ?? '').slice(0, -1)))
        found.set(below, bytes)
    } else {
      const response = await fetch(`${t.url}/dav/files${href}`, {
        headers: { authorization: authorizationOf.get(dav) ?? '' },
      })
      found.set(name, Buffer.from(await response.arrayBuffer()).toString('latin1'))
    }
  }
  return found
}
const authorizationOf = new Map<Dav, string>()

async function account(name: string): Promise<Account> {
  const { person, dav, key, authorization } = await davPerson(t, name)
  authorizationOf.set(dav, authorization)
  return { dav, email: person.email, key: key.key }
}

async function expectSame(of: Account, local: string): Promise<void> {
  const [here, there] = [localTree(local), await remoteTree(of)]
  expect([...here.keys()].sort()).toEqual([...there.keys()].sort())
  for (const [name, bytes] of here) expect([name, bytes === there.get(name)]).toEqual([name, true])
}

const put = async ({ dav }: Account, path: string, body: string | Uint8Array) => {
  const { status } = await dav('PUT', `/files/${path}`, { body })
  expect(status).toBeLessThan(300)
}
const write = (local: string, path: string, bytes: string | Uint8Array) =>
  writeFileSync(join(dir, local, path), bytes)
/** Clients detect a local change by its time in seconds, and skip files that have just changed. */
let seconds = 1_700_000_000
const later = (local: string, path: string) => {
  const time = ++seconds
  utimesSync(join(dir, local, path), time, time)
}

/** How many rounds of changes the random test makes. */
const ROUNDS = Number(process.env.ROUNDS ?? 20)

describe.each(programs)('%s', program => {
  const test = testWith(program)

  test('syncs both ways: chunks, renames, deletions and conflicts', async () => {
    const of = await account(program)
    const local = program
    mkdirSync(join(dir, local, 'folder'), { recursive: true })
    const large = Buffer.alloc(25_000_000, 'large file ')
    write(local, 'large.bin', large)
    write(local, 'folder/ümläut and space.txt', 'umlaut')
    write(local, 'old.txt', 'old')
    utimesSync(join(dir, local, 'old.txt'), 1_600_000_000, 1_600_000_000)
    await put(of, 'there.txt', 'from the service')
    await sync(program, of, local)
    await expectSame(of, local)
    expect(statSync(join(dir, local, 'old.txt')).mtimeMs).toBe(1_600_000_000_000)
    const { text } = await of.dav('PROPFIND', '/files/old.txt', { headers: { depth: '0' } })
    expect(text).toContain(new Date(1_600_000_000_000).toUTCString())

    // Changes on both sides at the same time.
    await of.dav('MOVE', '/files/folder', { headers: { destination: '/dav/files/renamed' } })
    await of.dav('DELETE', '/files/there.txt')
    await put(of, 'renamed/new.txt', 'new at the service')
    write(local, 'large.bin', Buffer.alloc(25_000_000, 'changed file '))
    later(local, 'large.bin')
    renameSync(join(dir, local, 'old.txt'), join(dir, local, 'older.txt'))
    mkdirSync(join(dir, local, 'made here'))
    await sync(program, of, local)
    await sync(program, of, local)
    await expectSame(of, local)

    // Changes to the same file on both sides.
    await put(of, 'older.txt', 'changed at the service')
    write(local, 'older.txt', 'changed here')
    later(local, 'older.txt')
    await sync(program, of, local)
    const both = [...localTree(local).keys()].filter(name => /^older.*\.txt$/.test(name))
    expect(both).toHaveLength(2)
    await sync(program, of, local)
  }, 300_000)

  test('sends few requests when nothing has changed, and detects each change below', async () => {
    const of = await account(`${program}-quiet`)
    const local = `${program}-quiet`
    mkdirSync(join(dir, local), { recursive: true })
    for (const folder of ['a', 'a/b', 'a/b/c']) await of.dav('MKCOL', `/files/${folder}`)
    for (let i = 0; i < 20; i++) await put(of, `a/b/c/${i}.txt`, String(i))
    await sync(program, of, local)
    await expectSame(of, local)
    const output = await sync(program, of, local)
    expect(output.match(/Depth|PROPFIND/g)?.length ?? 0).toBeLessThan(40)
    await put(of, 'a/b/c/3.txt', 'X')
    await sync(program, of, local)
    await expectSame(of, local)
  }, 300_000)

  test('sends four requests if nothing has changed, however large the tree is', async () => {
    const of = await account(`${program}-four`)
    const local = `${program}-four`
    mkdirSync(join(dir, local), { recursive: true })
    for (let i = 0; i < 20; i++) {
      await of.dav('MKCOL', `/files/${i}`)
      await of.dav('MKCOL', `/files/${i}/below`)
      for (let j = 0; j < 5; j++) await put(of, `${i}/below/${j}.txt`, `${i} ${j}`)
    }
    await sync(program, of, local)
    await expectSame(of, local)
    const logged = t.logged()
    await sync(program, of, local)
    const requests = t
      .logs(logged)
      .split('\n')
      .filter(line => line.includes('"msg":"request"'))
    // status.php, which ownCloud's client does not read; capabilities, user, and the ETag of the
    // root.
    expect(requests.length).toBe(program === 'nextcloudcmd' ? 4 : 3)
  }, 300_000)

  test('loses nothing in many changes on both sides, while it is killed now and then', async () => {
    const of = await account(`${program}-model`)
    const local = `${program}-model`
    const random = randomFrom(4711)
    const pick = <T>(list: readonly T[]): T | undefined => list[Math.floor(random() * list.length)]
    const model = new Map<string, string>()
    const folders = ['', 'a/', 'a/b/', 'c/']
    mkdirSync(join(dir, local, 'a/b'), { recursive: true })
    mkdirSync(join(dir, local, 'c'))
    await sync(program, of, local)
    let made = 0

    /** One change at a side, which changes only its own files, so that there are no conflicts. */
    async function change(side: 'local' | 'remote'): Promise<void> {
      const own = [...model.keys()].filter(path => path.includes(`${side}-`))
      const [path, kind] = [pick(own), random()]
      const target = `${pick(folders)}${side}-${++made}.txt`
      const bytes = `${side} ${made} ${'x'.repeat(Math.floor(random() * 5000))}`
      if (path === undefined || kind < 0.4) {
        model.set(target, bytes)
        return store(side, target, bytes)
      }
      if (kind < 0.65) {
        model.set(path, bytes)
        return store(side, path, bytes)
      }
      if (kind < 0.85) {
        model.set(target, model.get(path) ?? '')
        model.delete(path)
        if (side === 'local') return renameSync(join(dir, local, path), join(dir, local, target))
        const destination = `/dav/files/${target}`
        expect((await of.dav('MOVE', `/files/${path}`, { headers: { destination } })).status).toBe(
          201,
        )
        return
      }
      model.delete(path)
      if (side === 'local') return rmSync(join(dir, local, path))
      expect((await of.dav('DELETE', `/files/${path}`)).status).toBe(204)
    }
    async function store(side: 'local' | 'remote', path: string, bytes: string): Promise<void> {
      if (side === 'remote') return put(of, path, bytes)
      write(local, path, bytes)
      later(local, path)
    }

    for (let round = 0; round < ROUNDS; round++) {
      for (let i = 0; i < 4; i++) await change(random() < 0.5 ? 'local' : 'remote')
      if (random() < 0.4) {
        const child = begin(program, of, local)
        setTimeout(() => child.kill('SIGKILL'), 50 + random() * 1000)
        await new Promise(resolve => child.on('exit', resolve))
      }
      await sync(program, of, local)
      await sync(program, of, local)
      const here = localTree(local)
      const files = [...here].filter(([path]) => !path.endsWith('/'))
      expect(new Map(files.sort())).toEqual(new Map([...model].sort()))
      await expectSame(of, local)
    }
  }, 1_800_000)
})
