import { spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { BlobServiceClient } from '@azure/storage-blob'
import { afterEach, describe, expect, it } from '@jest/globals'
import { transformFileSync } from '@swc/core'
import { type Azurite, startAzurite } from '../../src/embedded/azurite.ts'
import { Unavailable } from '../../src/errors.ts'
import { type BlobStore, createBlobStore } from '../../src/storage/azure.ts'
import { stagePart } from '../stage-part.ts'
import { until } from '../until.ts'

const MiB = 1024 * 1024
const dirs: string[] = []
const running: Azurite[] = []

function newDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'satchel-azurite-test-'))
  dirs.push(dir)
  return dir
}

async function start(options: Partial<Parameters<typeof startAzurite>[0]> = {}): Promise<Azurite> {
  const azurite = await startAzurite({ dir: newDir(), port: 0, ...options })
  running.push(azurite)
  return azurite
}

async function storeOf({ connectionString }: { connectionString: string }): Promise<BlobStore> {
  const store = createBlobStore({ connectionString, container: 'files', publicUrl: '' })
  await store.ensureContainer()
  return store
}

const put = (store: BlobStore, key: string, bytes: Uint8Array) =>
  store.put(key, Readable.from([bytes]), { contentType: 'text/plain', admit: async () => {} })

async function keys(store: BlobStore): Promise<string[]> {
  const found: string[] = []
  for await (const { key } of store.list()) found.push(key)
  return found.sort()
}

async function bytesOf(store: BlobStore, key: string): Promise<Buffer> {
  return Buffer.concat(await (await store.open(key)).toArray())
}

/** All that is written of a table. */
const textOf = (dir: string, table: string) =>
  readdirSync(dir)
    .filter(file => file.startsWith(table))
    .map(file => readFileSync(join(dir, file), 'utf8'))
    .join('')

const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

const portOf = ({ connectionString }: Azurite) => Number(/:(\d+)\//.exec(connectionString)?.[1])

afterEach(async () => {
  for (const azurite of running.splice(0)) await azurite.stop()
  for (const dir of dirs.splice(0)) rmSync(dir, { recursive: true, force: true })
})

describe('the embedded blob store', () => {
  it('has a key of its own, which nobody else can read', async () => {
    const [one, other] = [await start(), await start()]
    const keyOf = (azurite: Azurite) => /AccountKey=([^;]+)/.exec(azurite.connectionString)?.[1]
    expect(keyOf(one)?.length).toBeGreaterThan(40)
    expect(keyOf(one)).not.toBe(keyOf(other))
    expect(statSync(join(one.dir, 'account.key')).mode & 0o777).toBe(0o600)
    const forged = one.connectionString.replace(/AccountKey=[^;]+/, `AccountKey=${keyOf(other)}`)
    await expect(storeOf({ connectionString: forged })).rejects.toThrow(/refused.*403/)
  })

  it('has its blobs and its key again after a restart', async () => {
    const first = await start()
    await put(await storeOf(first), 'a', Buffer.from('kept'))
    await first.stop()
    await first.stop()
    const second = await start({ dir: first.dir })
    expect(second.connectionString).toBe(first.connectionString)
    expect(String(await bytesOf(await storeOf(second), 'a'))).toBe('kept')
  })

  it('is where signed addresses say, also after a restart; elsewhere when somebody has taken that port', async () => {
    const first = await start()
    const store = await storeOf(first)
    await put(store, 'a', Buffer.from('kept'))
    const address = store.signUrl('a', { contentType: 'text/plain', disposition: 'inline', seconds: 600 })
    await first.stop()
    const second = await start({ dir: first.dir })
    expect(await (await fetch(address)).text()).toBe('kept')
    await second.stop()
    const other = createServer().listen(portOf(first), '127.0.0.1')
    await once(other, 'listening')
    try {
      const third = await start({ dir: first.dir })
      expect(portOf(third)).not.toBe(portOf(first))
      expect(String(await bytesOf(await storeOf(third), 'a'))).toBe('kept')
    } finally {
      other.close()
    }
    writeFileSync(join(first.dir, 'port'), 'no port')
    await running.at(-1)?.stop()
    expect(portOf(await start({ dir: first.dir }))).toBeGreaterThan(0)
  })

  it('refuses a folder that is in use, in plain words', async () => {
    const azurite = await start()
    const store = await storeOf(azurite)
    await expect(start({ dir: azurite.dir })).rejects.toThrow(
      /could not be started in .*another process uses this folder/,
    )
    await put(store, 'a', Buffer.from('unharmed'))
    expect(await keys(store)).toEqual(['a'])
  })

  it('says that its port is taken', async () => {
    const azurite = await start()
    await expect(start({ port: portOf(azurite) })).rejects.toThrow(/EADDRINUSE/)
  })

  it('comes back on the same port when it is killed, and has forgotten nothing', async () => {
    const exits: (number | null)[] = []
    const azurite = await start({ onExit: code => exits.push(code) })
    const store = await storeOf(azurite)
    const large = randomBytes(9 * MiB)
    for (let round = 1; round <= 3; round++) {
      await Promise.all(Array.from({ length: 20 }, (_, n) => put(store, `${round}-${n}`, Buffer.from(`${round} ${n}`))))
      await put(store, `${round}-large`, large)
      await store.remove([`${round}-0`, `${round}-1`])
      const { pid } = azurite
      process.kill(Number(pid), 'SIGKILL')
      await until(() => exits.length === round && azurite.pid !== pid, 5000)
      // The requests wait for it: a kill is a delay for clients, not an error.
      expect(String(await bytesOf(store, `${round}-19`))).toBe(`${round} 19`)
      expect(large.equals(await bytesOf(store, `${round}-large`))).toBe(true)
    }
    expect(await keys(store)).toHaveLength(3 * 19)
    await put(store, '1-2', Buffer.from('again'))
    await azurite.stop()
    const again = await start({ dir: azurite.dir })
    const after = await storeOf(again)
    expect(await keys(after)).toHaveLength(3 * 19)
    expect(String(await bytesOf(after, '1-2'))).toBe('again')
    expect(String(await bytesOf(after, '2-2'))).toBe('2 2')
  })

  it('has every part that it has acknowledged when it is killed, the latest of each number', async () => {
    const exits: (number | null)[] = []
    const azurite = await start({ onExit: code => exits.push(code) })
    const store = await storeOf(azurite)
    const parts = Array.from({ length: 60 }, () => randomBytes(50_000))
    const acknowledged = new Set<number>()
    const stage = async (n: number) => {
      await stagePart(store, 'a', n, parts[n - 1] ?? Buffer.alloc(0))
      acknowledged.add(n)
    }
    const kill = async () => {
      const { pid } = azurite
      const ends = exits.length + 1
      process.kill(Number(pid), 'SIGKILL')
      await until(() => exits.length === ends && azurite.pid !== pid, 5000)
    }
    await stagePart(store, 'a', 1, randomBytes(10))
    for (const first of [1, 21, 41]) {
      const sending = Array.from({ length: 20 }, (_, i) => stage(first + i))
      await until(() => acknowledged.size >= first + 5, 5000)
      const before = [...acknowledged]
      await kill()
      const there = await store.partsOf('a')
      expect(before.filter(n => there.get(n) !== 50_000)).toEqual([])
      await Promise.all(sending)
    }
    await store.commitParts('a', parts.length, { contentType: 'text/plain' })
    expect(Buffer.concat(parts).equals(await bytesOf(store, 'a'))).toBe(true)

    parts[1] = randomBytes(70_000)
    await stage(2)
    await kill()
    expect((await store.partsOf('a')).get(2)).toBe(70_000)
    await store.commitParts('a', parts.length, { contentType: 'text/plain' })
    expect(Buffer.concat(parts).equals(await bytesOf(store, 'a'))).toBe(true)
  })

  const asMany = async (store: BlobStore) => {
    const parts = Array.from({ length: 16 }, () => randomBytes(300_000))
    const key = (n: number) => `after-${n}`
    await Promise.all(parts.map((bytes, n) => stagePart(store, key(n), 1, bytes)))
    for (const [n, bytes] of parts.entries()) {
      await store.commitParts(key(n), 1, { contentType: 'text/plain' })
      expect(bytes.equals(await bytesOf(store, key(n)))).toBe(true)
    }
  }

  it('goes on after it could make no file, and tells why', async () => {
    const told: string[] = []
    const azurite = await start({ log: line => told.push(line) })
    const store = await storeOf(azurite)
    const files = join(azurite.dir, '__blobstorage__')
    renameSync(files, `${files}-away`)
    const refused = await Promise.allSettled(
      Array.from({ length: 60 }, (_, n) => stagePart(store, `${n}`, 1, randomBytes(1000))),
    )
    expect(refused.filter(({ status }) => status === 'fulfilled')).toEqual([])
    expect(told).toContainEqual(expect.stringContaining('ENOENT'))
    renameSync(`${files}-away`, files)
    await asMany(store)
  })

  // What a full disk does, a limit of the size of files does, too; util-linux can set one for a process that runs.
  const limit = (pid: number | undefined, size: string) => spawnSync('prlimit', [`--pid=${pid}`, `--fsize=${size}:`])
  const itWithLimit = limit(process.pid, 'unlimited').status === 0 ? it : it.skip

  itWithLimit('refuses at once what a full disk does not take, and others are served meanwhile', async () => {
    const told: string[] = []
    const azurite = await start({ log: line => told.push(line) })
    const store = await storeOf(azurite)
    await stagePart(store, 'a', 1, randomBytes(100_000))
    limit(azurite.pid, '200000')
    for (let i = 0; i < 3; i++) {
      await expect(stagePart(store, 'a', 2, randomBytes(4 * MiB))).rejects.toThrow(Unavailable)
      await store.ping()
    }
    await expect(put(store, 'b', randomBytes(4 * MiB - 1))).rejects.toThrow(Unavailable)
    expect(told).toContainEqual(expect.stringMatching(/EFBIG.*write/))
    expect(await store.partsOf('a')).toEqual(new Map([[1, 100_000]]))
    limit(azurite.pid, 'unlimited')
    await asMany(store)
  })

  itWithLimit('acknowledges nothing that its tables have no room for, and keeps what it has acknowledged', async () => {
    const azurite = await start()
    const store = await storeOf(azurite)
    for (const key of ['a', 'b']) await put(store, key, Buffer.from(key))
    await stagePart(store, 'c', 1, Buffer.from('kept'))
    limit(azurite.pid, '1')
    await expect(store.remove(['a'])).rejects.toThrow(Unavailable)
    expect(textOf(azurite.dir, '__azurite_db_blob__.json').endsWith('}]]\n')).toBe(true)
    const { pid } = azurite
    process.kill(Number(pid), 'SIGKILL')
    await until(() => azurite.pid !== pid, 5000)
    expect(await keys(store)).toEqual(['a', 'b', 'c'])
    expect(await store.partsOf('c')).toEqual(new Map([[1, 4]]))
    await store.remove(['a'])
    expect(await keys(store)).toEqual(['b', 'c'])
  })

  it('takes the bytes of others while many senders stand still', async () => {
    const azurite = await start()
    const store = await storeOf(azurite)
    const [address = ''] = store.signParts('slow', 1, Date.now() + 600_000)
    const { port, host, pathname, search } = new URL(address)
    const standing = await Promise.all(
      Array.from({ length: 300 }, async () => {
        const socket = connect(Number(port), '127.0.0.1').on('error', () => {})
        await once(socket, 'connect')
        socket.write(`PUT ${pathname}${search} HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 1000\r\n\r\nx`)
        return socket
      }),
    )
    const made = () => readdirSync(join(azurite.dir, '__blobstorage__'))
    await until(() => made().length >= 300)
    await asMany(store)
    // What is not in the table would never be swept.
    const table = () => textOf(azurite.dir, '__azurite_db_blob_extent__.json')
    await until(() => made().every(id => table().includes(id)))
    for (const socket of standing) socket.resetAndDestroy()
    await asMany(store)
    if (process.platform !== 'linux') return
    const fds = `/proc/${azurite.pid}/fd`
    const nameOf = (fd: string) => {
      try {
        return readlinkSync(join(fds, fd))
      } catch {
        return 'closed meanwhile'
      }
    }
    const held = () => readdirSync(fds).filter(fd => nameOf(fd).includes('__blobstorage__'))
    await until(() => held().length <= 50)
  })

  it('has the rules for browsers that it has acknowledged when it is killed', async () => {
    const azurite = await start()
    const account = BlobServiceClient.fromConnectionString(azurite.connectionString)
    const rule = { allowedMethods: 'PUT', allowedHeaders: 'a', exposedHeaders: 'b', maxAgeInSeconds: 60 }
    for (const allowedOrigins of ['https://one.example.com', 'https://two.example.com']) {
      await account.setProperties({ cors: [{ ...rule, allowedOrigins }] })
      const { pid } = azurite
      process.kill(Number(pid), 'SIGKILL')
      await until(() => azurite.pid !== pid, 5000)
      expect((await account.getProperties()).cors).toEqual([{ ...rule, allowedOrigins }])
    }
  })

  it('stays gone after stop, also while it is about to come back', async () => {
    const azurite = await start()
    const pid = Number(azurite.pid)
    process.kill(pid, 'SIGKILL')
    await until(() => !isAlive(pid), 1000)
    await azurite.stop()
    await sleep(300)
    expect(azurite.pid).toBe(pid)
  })

  it('ignores the signals that a terminal sends to all, and ends with its parent, whatever that dies of', async () => {
    const dir = newDir()
    const program = newDir()
    symlinkSync(resolve('node_modules'), join(program, 'node_modules'))
    writeFileSync(join(program, 'package.json'), '{ "type": "module" }')
    for (const name of ['azurite', 'azurite-child', 'azurite-files', 'azurite-tables', 'secrets']) {
      const { code } = transformFileSync(`src/embedded/${name}.ts`, {
        jsc: { parser: { syntax: 'typescript' }, target: 'es2023' },
        module: { type: 'es6' },
        swcrc: false,
      })
      writeFileSync(join(program, `${name}.js`), code.replaceAll(/(from ['"]\.\/[a-z-]+)\.ts/g, '$1.js'))
    }
    writeFileSync(
      join(program, 'parent.js'),
      `import { startAzurite } from './azurite.js'
       const { pid, connectionString } = await startAzurite({ dir: ${JSON.stringify(dir)}, port: 0 })
       console.log(JSON.stringify({ pid, connectionString }))`,
    )
    const parent = spawn(process.execPath, [join(program, 'parent.js')], { stdio: ['ignore', 'pipe', 'inherit'] })
    const lines = createInterface(parent.stdout)
    const [line = ''] = (await new Promise<string[]>(done => lines.once('line', text => done([text])))) ?? []
    const child: { pid: number; connectionString: string } = JSON.parse(line)
    await put(await storeOf(child), 'a', Buffer.from('kept'))
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.kill(child.pid, signal)
    await sleep(100)
    expect(isAlive(child.pid)).toBe(true)
    parent.kill('SIGKILL')
    await until(() => !isAlive(child.pid), 5000)
    // At once, while the last owner may still be saving: the folder is waited for.
    expect(String(await bytesOf(await storeOf(await start({ dir })), 'a'))).toBe('kept')
  })
})
