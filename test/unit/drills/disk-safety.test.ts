import { execFile } from 'node:child_process'
import { lstatSync, mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmSync } from 'node:fs'
import {
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  unlink,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { afterAll, beforeEach, describe, expect, it } from '@jest/globals'
import { createDiskStore } from '../../../src/storage/disk.ts'
import { locked } from '../../../src/storage/file-lock.ts'
import { type BlobStore, ForeignStore } from '../../../src/storage/store.ts'
import { put } from '../../stores/contract.ts'

const root = mkdtempSync(join(tmpdir(), 'satchel-disk-safety-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

const source = (name: string) => new URL(`../../../src/storage/${name}`, import.meta.url).href
/** Runs code in its own process. Returns its JSON output. */
async function elsewhere(code: string): Promise<unknown> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--input-type=module', '-e', code],
    {
      timeout: 60_000,
    },
  )
  return JSON.parse(stdout)
}

const SIZE = 1000
const keyOf = (n: number) => `0190aaaa-0000-7000-8000-${String(n).padStart(12, '0')}`
const key = keyOf(1)
const isPart = (path: string) => path.endsWith('.in')
async function* once(bytes: Uint8Array) {
  yield bytes
}
const send = (store: BlobStore, number: number, value = number, to = key) =>
  store.stagePart(to, number, once(Buffer.alloc(SIZE, value)), {
    size: SIZE,
    offset: (number - 1) * SIZE,
  })
const commit = (store: BlobStore, count: number, of = key) =>
  store.commitParts(of, count, { contentType: '' })
const putOne = (store: BlobStore, to: string) => put(store, to, once(Buffer.alloc(SIZE)))
const contentOf = async (store: BlobStore, of = key) =>
  Buffer.concat(await (await store.open(of)).toArray())

let serial = 0
let dir: string
let store: BlobStore
beforeEach(async () => {
  dir = join(root, `${serial++}`)
  store = createDiskStore({ dir })
  await store.prepare()
  await store.bind('this', false)
})
const unavailable = { code: 'UNAVAILABLE' }

describe('Parts', () => {
  it('survive a commit whose last sync fails, and can be committed again', async () => {
    const outcome = await elsewhere(`
      import fs from 'node:fs/promises'
      import { syncBuiltinESMExports } from 'node:module'
      const { open } = fs
      let failing = false
      fs.open = (path, flags, mode) => failing && flags === 'r' && path.includes('/blobs/')
        ? Promise.reject(Object.assign(new Error('too many open files'), { code: 'EMFILE', syscall: 'open' }))
        : open(path, flags, mode)
      syncBuiltinESMExports()
      const { createDiskStore } = await import(${JSON.stringify(source('disk.ts'))})
      const store = createDiskStore({ dir: ${JSON.stringify(dir)} })
      await store.bind('this', false)
      const once = async function* (bytes) { yield bytes }
      for (const n of [1, 2])
        await store.stagePart('${key}', n, once(Buffer.alloc(${SIZE}, n)), { size: ${SIZE}, offset: (n - 1) * ${SIZE} })
      failing = true
      const first = await store.commitParts('${key}', 2, {}).then(() => 'done', error => error.code)
      failing = false
      await store.commitParts('${key}', 2, {})
      console.log(JSON.stringify(first))`)
    expect(outcome).toBe('UNAVAILABLE')
    expect(await contentOf(store)).toEqual(
      Buffer.concat([1, 2].map(value => Buffer.alloc(SIZE, value))),
    )
  })

  it('can be sent again when the disk has lost them', async () => {
    for (const n of [1, 2]) await send(store, n)
    await unlink(join(dir, 'drafts', key, 'data'))
    await expect(commit(store, 2)).rejects.toMatchObject(unavailable)
    expect(await store.partsOf(key)).toEqual(new Map())
    for (const n of [1, 2]) await send(store, n, n + 2)
    await commit(store, 2)
    expect(await contentOf(store)).toEqual(
      Buffer.concat([3, 4].map(value => Buffer.alloc(SIZE, value))),
    )
  })

  it('can be replaced during a commit: each stays intact, and neither waits for long', async () => {
    let longest = 0
    for (let round = 1; round <= 40; round++) {
      const start = performance.now()
      const of = keyOf(round)
      const numbers = [1, 2, 3, 4]
      for (const n of numbers) await send(store, n, n, of)
      const again = numbers.map(n => send(store, n, n + 4, of))
      await sleep(round % 5)
      await Promise.all([...again, commit(store, 4, of)])
      await commit(store, 4, of)
      longest = Math.max(longest, performance.now() - start)
      expect(await contentOf(store, of)).toEqual(
        Buffer.concat(numbers.map(n => Buffer.alloc(SIZE, n + 4))),
      )
    }
    // A deadlock would take ten seconds.
    expect(longest).toBeLessThan(9000)
  })

  it('sent concurrently are refused or kept, never mixed', async () => {
    const large = 512 * 1024
    for (let round = 1; round <= 5; round++) {
      const sent = Array.from({ length: 12 }, (_, i) =>
        store.stagePart(keyOf(round), 1, once(Buffer.alloc(large, i + 1)), {
          size: large,
          offset: 0,
        }),
      )
      const refused = (await Promise.allSettled(sent)).flatMap(one =>
        one.status === 'rejected' ? [one.reason.extensions?.code] : [],
      )
      expect(refused).toEqual(refused.map(() => 'UNAVAILABLE'))
      expect(refused.length).toBeLessThan(sent.length)
      await commit(store, 1, keyOf(round))
      const bytes = await contentOf(store, keyOf(round))
      expect(bytes).toEqual(Buffer.alloc(large, bytes[0]))
    }
  })

  it('that stall use at most twice their size, and give way to the next part', async () => {
    const size = 100_000
    let end = () => {}
    const ended = new Promise<void>(resolve => {
      end = resolve
    })
    async function* stalled() {
      yield Buffer.alloc(size - 1)
      await ended
    }
    const outcomes = Array.from({ length: 4 }, () =>
      store.stagePart(key, 1, stalled(), { size, offset: 0 }).then(
        () => 'done',
        error => error.code ?? error.name,
      ),
    )
    // The buffers are freed after a while.
    const files = () =>
      readdirSync(join(dir, 'drafts'), { recursive: true, encoding: 'utf8' }).filter(isPart)
    while (files().length < 2) await sleep(10)
    await sleep(500)
    expect(files()).toHaveLength(2)
    await store.stagePart(key, 1, once(Buffer.alloc(size, 7)), { size, offset: 0 })
    await commit(store, 1)
    expect(await contentOf(store)).toEqual(Buffer.alloc(size, 7))
    end()
    expect(new Set(await Promise.all(outcomes))).toEqual(new Set(['UNAVAILABLE', 'TypeError']))
  })
})

describe('A lock', () => {
  it('admits one process at a time', async () => {
    const path = join(dir, 'lock')
    const contend = `
      import { open, unlink } from 'node:fs/promises'
      const { locked } = await import(${JSON.stringify(source('file-lock.ts'))})
      let [done, overlaps] = [0, 0]
      const work = async () => {
        for (const end = Date.now() + 4000; Date.now() < end; done++)
          await locked(${JSON.stringify(path)}, async held => {
            const inside = await open(${JSON.stringify(join(dir, 'inside'))}, 'wx').catch(() => undefined)
            if (!inside) return void overlaps++
            await inside.close()
            await held()
            await unlink(${JSON.stringify(join(dir, 'inside'))})
          })
      }
      await Promise.all(Array.from({ length: 4 }, work))
      console.log(JSON.stringify({ done, overlaps }))`
    const outcomes = (await Promise.all(Array.from({ length: 4 }, () => elsewhere(contend)))) as {
      done: number
    }[]
    for (const outcome of outcomes)
      expect(outcome).toEqual({ done: expect.any(Number), overlaps: 0 })
    expect(outcomes.reduce((sum, { done }) => sum + done, 0)).toBeGreaterThan(50)
  })

  it('of a killed process is taken over immediately, or after a timeout from another machine', async () => {
    const path = join(dir, 'lock')
    const killed = `
      const { locked } = await import(${JSON.stringify(source('file-lock.ts'))})
      await locked(${JSON.stringify(path)}, async () => { console.log('"held"'); process.exit() })`
    expect(await elsewhere(killed)).toBe('held')
    const owner = readlinkSync(path)
    const start = performance.now()
    await locked(path, async () => {})
    expect(performance.now() - start).toBeLessThan(5000)

    const boot = (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim()
    await symlink(owner.replace(boot, '00000000-0000-0000-0000-000000000000'), path)
    let taken = false
    const waiting = locked(path, async () => {
      taken = true
    })
    await sleep(1000)
    expect(taken).toBe(false)
    await unlink(path)
    await waiting
    expect(taken).toBe(true)
    expect(await readdir(dir)).toEqual(expect.not.arrayContaining([expect.stringMatching(/^lock/)]))
  })

  it('that is held for long is refreshed, so that it does not expire', async () => {
    const path = join(dir, 'lock')
    await locked(path, async held => {
      const { mtimeMs } = lstatSync(path)
      await sleep(2500)
      expect(lstatSync(path).mtimeMs).toBeGreaterThan(mtimeMs)
      await held()
    })
  })
})

describe('A folder that is not the volume', () => {
  it('is left unchanged by a refused start', async () => {
    const bare = join(root, 'bare')
    mkdirSync(bare)
    const other = createDiskStore({ dir: bare })
    await other.prepare()
    await expect(other.bind('this', true)).rejects.toThrow(ForeignStore)
    expect(readdirSync(bare)).toEqual([])
  })

  it.each([
    ['is missing', async () => {}],
    [
      'is bare',
      async () => {
        await mkdir(join(dir, 'blobs'), { recursive: true })
        await mkdir(join(dir, 'drafts'))
      },
    ],
    [
      "is another database's",
      async () => {
        const other = createDiskStore({ dir })
        await other.prepare()
        await other.bind('other', false)
      },
    ],
  ])('and %s accepts nothing, and loses nothing', async (_how, show) => {
    await putOne(store, keyOf(1))
    await send(store, 1, 1, keyOf(2))
    await rename(dir, `${dir}.away`)
    await show()
    await expect(putOne(store, keyOf(3))).rejects.toMatchObject(unavailable)
    await expect(store.open(keyOf(1))).rejects.toMatchObject(unavailable)
    await expect(store.look(keyOf(1))).rejects.toMatchObject(unavailable)
    await expect(store.copy(keyOf(1), keyOf(4))).rejects.toMatchObject(unavailable)
    await expect(store.remove([keyOf(1)])).rejects.toMatchObject(unavailable)
    await expect(store.partsOf(keyOf(2))).rejects.toMatchObject(unavailable)
    await expect(send(store, 2, 2, keyOf(2))).rejects.toMatchObject(unavailable)
    await expect(commit(store, 1, keyOf(2))).rejects.toMatchObject(unavailable)
    await expect(store.list()[Symbol.asyncIterator]().next()).rejects.toMatchObject(unavailable)
    await expect(store.ping()).rejects.toMatchObject(unavailable)
    await expect(store.space()).rejects.toMatchObject(unavailable)
    await rm(dir, { recursive: true, force: true })
    await rename(`${dir}.away`, dir)
    expect(await store.look(keyOf(1))).toEqual({ size: SIZE })
    await commit(store, 1, keyOf(2))
    await putOne(store, keyOf(3))
  })

  it('is distinguished from a volume restored with another number', async () => {
    await putOne(store, key)
    await rename(join(dir, 'installation'), join(dir, 'old'))
    await writeFile(join(dir, 'installation'), 'this\n')
    await putOne(store, keyOf(2))
  })
})

describe('A file that cannot be removed', () => {
  it('is reported, and does not stop the rest', async () => {
    const keys = Array.from({ length: 20 }, (_, n) => keyOf(n))
    for (const each of keys) await putOne(store, each)
    const path = join(dir, 'blobs', key.slice(0, 7), key)
    await unlink(path)
    await mkdir(path)
    await expect(store.remove(keys)).rejects.toMatchObject({ name: 'BlobsKept', keys: [key] })
    for (const each of keys.filter(of => of !== key)) expect(await store.look(each)).toBeNull()
  })

  it('is not listed if its name is foreign', async () => {
    await mkdir(join(dir, 'drafts', 'lost+found'))
    await putOne(store, key)
    const found = []
    for await (const each of store.list()) found.push(each.key)
    expect(found).toEqual([key])
    await store.tidy(async () => [])
    expect((await stat(join(dir, 'drafts', 'lost+found'))).isDirectory()).toBe(true)
  })
})
