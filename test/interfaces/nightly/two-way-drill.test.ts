import { execFileSync } from 'node:child_process'
import { createHash, randomInt } from 'node:crypto'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { privateKey, UNHURRIED } from '../../support/builders.ts'
import { ended, openWarmShell, type Shell } from '../../support/command-line.ts'
import { type FlakyProxy, startFlakyProxy } from '../../support/flaky-proxy.ts'
import { freePort } from '../../support/free-port.ts'
import { randomFrom } from '../../support/fuzz.ts'
import { type Person, signInTo, startApp, type TestApp } from '../../support/harness.ts'
import { isSatchels, textsBelow } from '../../support/sync-folders.ts'

const ROUNDS = Number(process.env.TWO_WAY_ROUNDS ?? 40)

let t: TestApp
let alice: Person
let shell: Shell
let network: FlakyProxy
beforeAll(async () => {
  const port = await freePort()
  network = await startFlakyProxy({ host: '127.0.0.1', port })
  const url = `http://127.0.0.1:${network.port}`
  t = await startApp({ ...UNHURRIED, PORT: String(port), PUBLIC_URL: url })
  // People reach the service directly, so network failures affect only the command.
  alice = await signInTo(t.app.db, `http://127.0.0.1:${port}`, 'alice')
  const { key } = await privateKey(t, alice)
  shell = openWarmShell({ SATCHEL_URL: url, SATCHEL_KEY: key })
})
afterAll(async () => {
  shell.close()
  await network.close()
  await t.stop()
})

/** Ignores the state files of satchel in a folder. */
const texts = (root: string, own = false) =>
  new Map(textsBelow(root).filter(([path]) => isSatchels(path) === own))
const keptHere = (root: string) => new Set(texts(root, true).values())
const md5Of = (text: string | Buffer) => createHash('md5').update(text).digest('hex')
/** The digests of all contents of the service: in folders, in the trash, and in versions. */
async function keptThere(): Promise<Set<string>> {
  const rows = await t.app.db.rows<{ md5: string }>(
    'SELECT md5 FROM entry UNION SELECT md5 FROM version',
  )
  return new Set(rows.map(({ md5 }) => md5))
}
/** The digests of the files below a remote folder by path. Null for folders. */
async function remoteSums(root: string): Promise<Map<string, string | null>> {
  const rows = await t.app.db.rows<{ path: string; md5: string }>(
    `WITH RECURSIVE below AS (SELECT id, '' AS path, md5 FROM entry WHERE name = ? AND parent_id IS NOT NULL
       UNION ALL SELECT e.id, b.path || '/' || e.name, e.md5 FROM entry e JOIN below b ON e.parent_id = b.id)
     SELECT path, md5 FROM below WHERE path <> '' ORDER BY path`,
    [root],
  )
  return new Map(rows.map(({ path, md5 }) => [path.slice(1), md5 || null]))
}
const sumsOf = (root: string) =>
  new Map(
    [...texts(root)].map(([path, text]) => [path, text === null ? null : md5Of(text)] as const),
  )

/** A person who works on one side without knowing about the sync. */
interface Worker {
  write(path: string, text: string): Promise<unknown>
  remove(path: string): Promise<unknown>
  makeFolder(path: string): Promise<unknown>
  move(path: string, to: string): Promise<unknown>
}

function localWorker(
  root: string,
  random: (bound: number) => number,
  ends: (text: string) => void,
): Worker {
  const at = (path: string) => join(root, path)
  const end = (path: string) => {
    try {
      for (const text of texts(at(path)).values()) if (text !== null) ends(text)
    } catch {
      ends(readFileSync(at(path), 'utf8'))
    }
  }
  return {
    async write(path, text) {
      mkdirSync(dirname(at(path)), { recursive: true })
      const there = readdirSync(dirname(at(path))).includes(path.slice(path.lastIndexOf('/') + 1))
      if (there) end(path)
      if (random(2) === 0) writeFileSync(at(path), text)
      else {
        writeFileSync(`${root}.new`, text)
        renameSync(`${root}.new`, at(path))
      }
      // Clocks jump.
      if (random(3) === 0) {
        const time = new Date(random(2) * 4_000_000_000_000)
        utimesSync(at(path), time, time)
      }
    },
    async remove(path) {
      end(path)
      rmSync(at(path), { recursive: true })
    },
    async makeFolder(path) {
      mkdirSync(at(path))
    },
    async move(path, to) {
      if (readdirSync(dirname(at(to))).includes(to.slice(to.lastIndexOf('/') + 1))) return
      renameSync(at(path), at(to))
    },
  }
}

function remoteWorker(root: string, endsSum: (md5: string) => void): Worker {
  const at = (path: string) => `${root}/${path}`
  const end = async (path: string) => {
    for (const [each, md5] of await remoteSums(root))
      if (md5 !== null && (each === path || each.startsWith(`${path}/`))) endsSum(md5)
  }
  return {
    async write(path, text) {
      await end(path)
      const form = new FormData()
      form.append('folder', dirname(at(path)))
      form.append('on_conflict', 'replace')
      form.append('file', new Blob([text]), path.slice(path.lastIndexOf('/') + 1))
      const { status } = await alice.rest('POST', '/api/files/upload', { form })
      if (status !== 200) throw new Error('refused')
    },
    async remove(path) {
      await end(path)
      await alice.rest('DELETE', `/api/files/delete?file=${at(path)}`)
      await alice.rest('DELETE', `/api/folders?path=${at(path)}&recursive=true`)
    },
    makeFolder: path => alice.rest('POST', '/api/folders', { json: { path: at(path) } }),
    async move(path, to) {
      await alice.rest('POST', '/api/files/move', {
        json: { source: at(path), destination: at(to) },
      })
      await alice.rest('POST', '/api/folders/move', {
        json: { source: at(path), destination: at(to) },
      })
    },
  }
}

describe('Two synced folders', () => {
  it.each(Array.from({ length: ROUNDS }, (_, i) => i))(
    'end up identical and lose nothing, whatever fails in between (%i)',
    async round => {
      const seed = randomInt(1_000_000)
      const next = randomFrom(seed)
      const random = (bound: number) => Math.floor(next() * bound)
      const [local, remote] = [join(shell.home, `d${round}`), `box${round}`]
      /** The written contents that must not be lost: texts by their digests. */
      const alive = new Map<string, string>()
      const ends = (md5: string) => alive.delete(md5)
      mkdirSync(local)
      await alice.rest('POST', '/api/folders', { json: { path: remote } })
      const sides = [
        localWorker(local, random, text => ends(md5Of(text))),
        remoteWorker(remote, ends),
      ] as const
      const name = () => 'abc'[random(3)]
      const path = () => Array.from({ length: 1 + random(3) }, name).join('/')
      let n = 0
      const work = async (side: Worker) => {
        const text = `${seed}-${n++}`
        const deeds = [
          async () => {
            await side.write(path(), text)
            alive.set(md5Of(text), text)
          },
          () => side.remove(path()),
          () => side.makeFolder(path()),
          () => side.move(path(), path()),
        ]
        // Impossible changes are refused.
        await deeds[Math.min(random(6), 5) < 3 ? 0 : random(4)]?.().catch(() => {})
      }

      const args = [
        'sync',
        '--two-way',
        '--retries',
        '0',
        '--max-delete',
        '1000',
        local,
        `:/${remote}`,
      ]
      for (let i = 0; i < 4; i++) {
        for (let k = 0; k < 4; k++) for (const side of sides) await work(side)
        const child = shell.begin(args)
        const over = ended(child)
        const lasts = random(2) === 0 ? 150 + random(700) : 5000
        const kill = setTimeout(() => child.kill('SIGKILL'), lasts)
        if (random(3) === 0) {
          await sleep(random(500))
          await network.refuse()
        }
        for (let k = 0; k < 4; k++) for (const side of sides) await work(side)
        await over
        clearTimeout(kill)
        await network.heal()
      }
      // Until nothing is left to do.
      const last = await shell.satchel(['--json', ...args])
      const again = await shell.satchel(['--json', ...args])
      expect({ seed, code: last.code, err: last.err }).toEqual({ seed, code: 0, err: '' })
      expect({ seed, ...JSON.parse(again.out) }).toMatchObject({ seed, changes: [] })
      expect({ seed, tree: sumsOf(local) }).toEqual({ seed, tree: await remoteSums(remote) })
      const [here, there] = [keptHere(local), await keptThere()]
      const found = new Set(sumsOf(local).values())
      const lost = [...alive].filter(
        ([md5, text]) => !found.has(md5) && !here.has(text) && !there.has(md5),
      )
      expect({ seed, lost }).toEqual({ seed, lost: [] })
    },
    120_000,
  )
})

/** A separate file system. Undefined if this user may not mount one. */
function mounted(): string | undefined {
  const dir = mkdtempSync(join(tmpdir(), 'satchel-full-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', dir], { stdio: 'ignore' })
    return dir
  } catch {
    rmSync(dir, { recursive: true })
    return undefined
  }
}
const full = mounted()
afterAll(() => {
  if (!full) return
  execFileSync('umount', [full])
  rmSync(full, { recursive: true })
})

const withMount = full ? it : it.skip
withMount(
  'A full disk loses nothing, and the same command continues when there is space',
  async () => {
    const dir = join(full ?? '', 'd')
    mkdirSync(dir)
    writeFileSync(join(dir, 'mine.txt'), 'mine')
    writeFileSync(join(dir, 'filler'), Buffer.alloc(300_000))
    const upload = async (name: string, bytes: number) => {
      const form = new FormData()
      form.append('folder', 'full')
      form.append('on_conflict', 'replace')
      form.append('file', new Blob([Buffer.alloc(bytes, name)]), name)
      expect((await alice.rest('POST', '/api/files/upload', { form })).status).toBe(200)
    }
    const sync = () => shell.satchel(['--json', 'sync', '--two-way', dir, ':/full'])
    await upload('theirs.bin', 100_000)
    expect(await sync()).toMatchObject({ code: 0 })
    await upload('theirs.bin', 900_000)
    writeFileSync(join(dir, 'other.txt'), 'other')
    const { code, out } = await sync()
    expect([code, JSON.parse(out).failed]).toEqual([
      1,
      [expect.objectContaining({ code: 'LOCAL_FILE', system_code: 'ENOSPC' })],
    ])
    expect(readFileSync(join(dir, 'theirs.bin')).length).toBe(100_000)
    expect((await remoteSums('full')).get('other.txt')).toBe(md5Of('other'))
    rmSync(join(dir, 'filler'))
    execFileSync('mount', ['-o', 'remount,size=4m', full ?? ''])
    expect(await sync()).toMatchObject({ code: 0 })
    expect(readFileSync(join(dir, 'theirs.bin')).length).toBe(900_000)
    expect(sumsOf(dir)).toEqual(await remoteSums('full'))
  },
)
