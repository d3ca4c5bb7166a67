import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { BlobServiceClient } from '@azure/storage-blob'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { type Azurite, startAzurite } from '../../src/embedded/azurite.ts'
import { Unavailable } from '../../src/errors.ts'
import {
  BlobMissing,
  type BlobStore,
  BlobsKept,
  BytesDiffer,
  createBlobStore,
  type PutOptions,
  StoreRefusal,
} from '../../src/storage/azure.ts'
import { within } from '../../src/storage/request.ts'
import { stagePart } from '../stage-part.ts'
import { until } from '../until.ts'

const MiB = 1024 * 1024
const connectionString = process.env.TEST_AZURE ?? ''
const container = `storage-${randomUUID()}`
const store = createBlobStore({ connectionString, container, publicUrl: '' })
const client = BlobServiceClient.fromConnectionString(connectionString).getContainerClient(container)

const md5 = (bytes: Uint8Array) => createHash('md5').update(bytes).digest('hex')

/** In uneven pieces, as a network gives them. */
async function* pieces(bytes: Uint8Array, size = 60_001) {
  for (let from = 0; from < bytes.length; from += size) yield bytes.subarray(from, from + size)
}

function put(key: string, source: AsyncIterable<Uint8Array>, options: Partial<PutOptions> = {}, into = store) {
  return into.put(key, source, { contentType: 'text/plain', admit: async () => {}, ...options })
}

const bytesOf = async (key: string, options?: Parameters<BlobStore['open']>[1]) =>
  Buffer.concat(await (await store.open(key, options)).toArray())

async function leftovers(key: string): Promise<number> {
  if (await client.getBlobClient(key).exists()) return Number.POSITIVE_INFINITY
  try {
    return (await client.getBlockBlobClient(key).getBlockList('uncommitted')).uncommittedBlocks?.length ?? 0
  } catch {
    return 0
  }
}

async function elapsed(task: Promise<unknown>): Promise<number> {
  const start = performance.now()
  await task.catch(() => {})
  return performance.now() - start
}

beforeAll(async () => {
  await store.ensureContainer()
  await store.ensureContainer()
})
afterAll(async () => {
  await client.delete()
})

describe('put', () => {
  it.each([0, 1, 65_536, 65_537, 512 * 1024 + 1, 4 * MiB - 1, 4 * MiB, 4 * MiB + 1, 8 * MiB, 9 * MiB + 12_345])(
    'keeps %i bytes and knows their size and MD5',
    async size => {
      const bytes = randomBytes(size)
      const key = `size-${size}`
      expect(await put(key, pieces(bytes))).toEqual({ size, md5: md5(bytes) })
      expect(bytes.equals(await bytesOf(key))).toBe(true)
      const properties = await client.getBlobClient(key).getProperties()
      expect(Buffer.from(properties.contentMD5 ?? []).toString('hex')).toBe(md5(bytes))
      expect(properties.contentType).toBe('text/plain')
    },
  )

  it('takes one chunk that spans blocks, and empty ones', async () => {
    const bytes = randomBytes(9 * MiB)
    const source = Readable.from([bytes.subarray(0, 0), bytes, bytes.subarray(0, 0)])
    expect(await put('chunk', source)).toEqual({ size: bytes.length, md5: md5(bytes) })
    expect(bytes.equals(await bytesOf('chunk'))).toBe(true)
  })

  it('keeps many at once apart', async () => {
    const files = Array.from({ length: 12 }, (_, n) => randomBytes(n * MiB + n))
    const results = await Promise.all(files.map((bytes, n) => put(`many-${n}`, pieces(bytes, 200_003))))
    expect(results.map(result => result.md5)).toEqual(files.map(md5))
    for (const [n, bytes] of files.entries()) expect(bytes.equals(await bytesOf(`many-${n}`))).toBe(true)
  })

  it('asks once per block, before it is sent, and says when the source has ended', async () => {
    const asked: [number, boolean][] = []
    const admit = async (total: number, ended: boolean) => {
      asked.push([total, ended])
      // The first block is on its way at the earliest when the second is asked for.
      if (asked.length === 1) expect(await leftovers('asked')).toBe(0)
    }
    await put('asked', pieces(new Uint8Array(8 * MiB + 5)), { admit })
    expect(asked).toEqual([
      [4 * MiB, false],
      [8 * MiB, false],
      [8 * MiB + 5, true],
    ])
    asked.length = 1
    await put('asked', pieces(new Uint8Array(4 * MiB)), { admit })
    await put('asked', pieces(new Uint8Array(0)), { admit })
    expect(asked.slice(1)).toEqual([
      [4 * MiB, true],
      [0, true],
    ])
  })

  it.each([1, 3])('leaves nothing behind when block %i is refused', async refused => {
    const key = `refused-${refused}`
    const source = Readable.from(pieces(randomBytes(13 * MiB)))
    let asked = 0
    const admit = async () => {
      asked += 1
      if (asked === refused) throw new Error('over the limit')
    }
    await expect(put(key, source, { admit })).rejects.toThrow('over the limit')
    expect(source.destroyed).toBe(true)
    expect(await client.getBlobClient(key).exists()).toBe(false)
    await store.remove([key])
    expect(await leftovers(key)).toBe(0)
  })

  it('rejects with the reason of an abort, though the source is silent', async () => {
    const abort = new AbortController()
    const source = new PassThrough({ highWaterMark: 16 * MiB })
    source.write(randomBytes(9 * MiB))
    const reason = new Error('the client has left')
    until(async () => (await leftovers('aborted')) > 0).then(() => abort.abort(reason))
    await expect(put('aborted', source, { signal: abort.signal })).rejects.toBe(reason)
    expect(await client.getBlobClient('aborted').exists()).toBe(false)
    expect(await leftovers('aborted')).toBeGreaterThan(0)
    await store.remove(['aborted'])
    expect(await leftovers('aborted')).toBe(0)
    await expect(put('aborted', pieces(randomBytes(1)), { signal: abort.signal })).rejects.toBe(reason)
    expect(await client.getBlobClient('aborted').exists()).toBe(false)
  })

  it('rejects with what the source throws', async () => {
    const hungUp = new Error('hung up')
    const source = async function* () {
      yield* pieces(randomBytes(10 * MiB))
      throw hungUp
    }
    await expect(put('hung-up', source())).rejects.toBe(hungUp)
    expect(await client.getBlobClient('hung-up').exists()).toBe(false)
    const broken = new PassThrough()
    broken.write('start')
    setTimeout(() => broken.destroy(hungUp), 50)
    await expect(put('hung-up', broken)).rejects.toBe(hungUp)
    expect(await client.getBlobClient('hung-up').exists()).toBe(false)
  })
})

describe('signUrl', () => {
  const bytes = Buffer.from('0123456789')
  const disposition = `attachment; filename="r_sum_.txt"; filename*=UTF-8''r%C3%A9sum%C3%A9%20%26%20%F0%9F%98%80.txt`
  const sign = (seconds = 60) => store.signUrl('signed', { contentType: 'image/x-odd; a=b', disposition, seconds })

  beforeAll(async () => {
    await put('signed', pieces(bytes))
    await put('other', pieces(bytes))
  })

  it('gives the bytes under the given type and name', async () => {
    const response = await fetch(sign())
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('image/x-odd; a=b')
    expect(response.headers.get('content-disposition')).toBe(disposition)
    expect(await response.text()).toBe('0123456789')
  })

  it('serves ranges', async () => {
    const response = await fetch(sign(), { headers: { range: 'bytes=2-4' } })
    expect(response.status).toBe(206)
    expect(response.headers.get('content-range')).toBe('bytes 2-4/10')
    expect(await response.text()).toBe('234')
  })

  it('expires', async () => {
    const url = sign(1)
    expect((await fetch(url)).status).toBe(200)
    await sleep(2100)
    expect((await fetch(url)).status).toBe(403)
  })

  it('cannot write, delete, list or reach another blob', async () => {
    const headers = { 'x-ms-blob-type': 'BlockBlob' }
    expect((await fetch(sign(), { method: 'PUT', headers, body: 'x' })).status).toBe(403)
    expect((await fetch(sign(), { method: 'DELETE' })).status).toBe(403)
    expect((await fetch(sign().replace('/signed?', '/other?'))).status).toBe(403)
    expect((await fetch(sign().replace('/signed?', '?restype=container&comp=list&'))).status).toBe(403)
    expect((await fetch(sign().replace(/se=[^&]+/, 'se=2099-01-01T00%3A00%3A00Z'))).status).toBe(403)
    expect(String(await bytesOf('signed'))).toBe('0123456789')
  })

  it('carries no key, and an address for clients where one is set', () => {
    const key = /AccountKey=([^;]+)/.exec(connectionString)?.[1] ?? ''
    expect(sign()).not.toContain(key)
    const shown = (publicUrl: string) =>
      createBlobStore({ connectionString, container, publicUrl }).signUrl('a b', {
        contentType: '',
        disposition: '',
        seconds: 5,
      })
    expect(shown('https://files.example.org')).toMatch(`https://files.example.org/satchel/${container}/a%20b?`)
    expect(shown('https://example.org/blobs/')).toMatch(`https://example.org/blobs/${container}/a%20b?`)
  })
})

describe('open', () => {
  const bytes = randomBytes(3 * MiB)
  beforeAll(async () => {
    await put('opened', pieces(bytes))
  })

  it('gives all, or a part', async () => {
    expect(bytes.equals(await bytesOf('opened'))).toBe(true)
    expect(await bytesOf('opened', { offset: 10 })).toHaveLength(bytes.length - 10)
    expect(bytes.subarray(MiB, MiB + 7).equals(await bytesOf('opened', { offset: MiB, count: 7 }))).toBe(true)
    expect(await bytesOf('opened', { offset: 5, count: 0 })).toHaveLength(0)
    await put('nothing', pieces(bytes.subarray(0, 0)))
    expect(await bytesOf('nothing')).toHaveLength(0)
  })

  it('throws BlobMissing for a key that has none', async () => {
    await expect(store.open('missing')).rejects.toThrow(BlobMissing)
    await expect(store.open('missing')).rejects.toMatchObject({ key: 'missing' })
  })

  it('stops at a signal, before and within', async () => {
    const abort = new AbortController()
    const stream = await store.open('opened', { signal: abort.signal })
    abort.abort()
    await expect(stream.toArray()).rejects.toThrow(/aborted/)
    await expect(store.open('opened', { signal: abort.signal })).rejects.toThrow(/aborted/)
  })
})

describe('remove and list', () => {
  it('removes what is there and does not mind the rest', async () => {
    await put('gone-1', pieces(randomBytes(10)))
    await put('gone-2', pieces(randomBytes(5 * MiB)))
    const keys = ['gone-1', 'never', 'gone-2', 'gone-1']
    await store.remove(keys)
    await store.remove(keys)
    await store.remove([])
    await expect(store.open('gone-1')).rejects.toThrow(BlobMissing)
    await expect(store.open('gone-2')).rejects.toThrow(BlobMissing)
  })

  it('lists key, size and time of every blob', async () => {
    const own = createBlobStore({ connectionString, container: `list-${randomUUID()}`, publicUrl: '' })
    await own.ensureContainer()
    const start = Date.now() - 2000
    for (const size of [0, 1, 2]) await put(`listed-${size}`, pieces(new Uint8Array(size)), {}, own)
    const found = []
    for await (const each of own.list()) found.push(each)
    expect(found.map(({ key, size }) => [key, size])).toEqual([
      ['listed-0', 0],
      ['listed-1', 1],
      ['listed-2', 2],
    ])
    for (const { createdAt } of found) expect(createdAt.getTime()).toBeGreaterThan(start)
  })
})

describe('parts', () => {
  const name = `parts-${randomUUID()}`
  const own = createBlobStore({ connectionString, container: name, publicUrl: '' })
  const stage = (key: string, number: number, bytes = randomBytes(10)) => stagePart(own, key, number, bytes)
  const listed = async () => {
    const keys: [string, number][] = []
    for await (const { key, size } of own.list()) keys.push([key, size])
    return keys
  }
  beforeAll(() => own.ensureContainer())

  it('are listed while they are no blob, and known by their numbers', async () => {
    expect(await own.partsOf('whole')).toEqual(new Map())
    for (const n of [3, 1, 3]) await stage('whole', n, randomBytes(n))
    expect(await own.partsOf('whole')).toEqual(new Map([1, 3].map(n => [n, n])))
    expect(await listed()).toEqual([['whole', 0]])
    await stage('whole', 2, randomBytes(2))
    await own.commitParts('whole', 3, { contentType: 'text/plain' })
    await stage('whole', 2, randomBytes(7))
    expect(await own.partsOf('whole')).toEqual(new Map([1, 2, 3].map(n => [n, n === 2 ? 7 : n])))
    expect(await listed()).toEqual([['whole', 6]])
    await expect(own.commitParts('whole', 4, { contentType: 'text/plain' })).rejects.toThrow(StoreRefusal)
    await own.remove(['whole'])
  })

  it.each([
    ['before it was a blob', async () => {}],
    [
      'after it was a blob, with parts that came later',
      async (key: string) => {
        await own.commitParts(key, 2, { contentType: 'text/plain' })
        await stage(key, 2)
      },
    ],
  ])('are gone for ever when what they belong to is removed %s', async (_when, meanwhile) => {
    const key = randomUUID()
    for (const n of [1, 2]) await stage(key, n)
    await meanwhile(key)
    await own.remove([key])
    expect(await listed()).toEqual([])
    // A later part would bring the forgotten ones to light.
    await stage(key, 3)
    expect([...(await own.partsOf(key)).keys()]).toEqual([3])
    await own.remove([key])
  })

  it('are removed though somebody holds a lease, and has taken snapshots', async () => {
    const service = BlobServiceClient.fromConnectionString(connectionString)
    const blob = service.getContainerClient(name).getBlockBlobClient('held')
    await blob.upload('bytes', 5)
    await blob.createSnapshot()
    await blob.getBlobLeaseClient().acquireLease(-1)
    await own.remove(['held', 'held'])
    expect(await listed()).toEqual([])
  })

  it('are refused when their sum is wrong', async () => {
    await expect(stagePart(own, 'sum', 1, randomBytes(10), { sum: md5(randomBytes(10)) })).rejects.toThrow(BytesDiffer)
    expect(await own.partsOf('sum')).toEqual(new Map())
  })
})

describe('a part that is still coming', () => {
  /** A store of which the test says what it does with a request. */
  async function fakeStore(onRequest: RequestListener) {
    const server = createServer({ keepAliveTimeout: 60_000 }, onRequest).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const of = createBlobStore({
      connectionString: connectionString.replace(/(BlobEndpoint=http:\/\/127\.0\.0\.1):\d+/, `$1:${port}`),
      container,
      publicUrl: '',
    })
    return {
      of,
      close: () => {
        server.close()
        server.closeAllConnections()
      },
    }
  }
  const half = randomBytes(MiB)
  /** Gives one half, and the other when it is told to. */
  function halves() {
    let goOn = () => {}
    let fail = (_error: Error) => {}
    const told = new Promise<void>((resolve, reject) => {
      goOn = resolve
      fail = reject
    })
    let left = false
    async function* source() {
      try {
        yield* pieces(half)
        await told
        yield* pieces(half)
      } finally {
        left = true
      }
    }
    return { source: source(), goOn, fail, wasLeft: () => left }
  }
  const size = 2 * MiB

  it('leaves nothing when its source fails, and says why', async () => {
    const { source, fail } = halves()
    const staged = store.stagePart('failing', 1, source, { size })
    setTimeout(() => fail(new Error('no more')), 50)
    await expect(staged).rejects.toThrow('no more')
    expect(await store.partsOf('failing')).toEqual(new Map())
  })

  it.each([403, 503])(
    'is over when the store answers %s before it has everything, and its connection, too',
    async status => {
      let closed = 0
      let tries = 0
      const { of, close } = await fakeStore((req, res) => {
        tries += 1
        req.socket.once('close', () => {
          closed += 1
        })
        req.once('data', () => res.writeHead(status).end())
      })
      const { source, goOn, wasLeft } = halves()
      try {
        await expect(of.stagePart('early', 1, source, { size })).rejects.toThrow(
          status === 403 ? StoreRefusal : Unavailable,
        )
        await until(() => closed === tries)
        goOn()
        await until(wasLeft)
      } finally {
        close()
      }
    },
  )
})

describe('the time of a request', () => {
  it('is over at its limit', async () => {
    const endless = within(50, undefined, signal => once(signal, 'abort').then(() => Promise.reject(new Error('cut'))))
    await expect(endless).rejects.toThrow(Unavailable)
  })

  it('stands still while the request waits for bytes', async () => {
    const slow = within(100, undefined, async (signal, { pause, resume }) => {
      for (let i = 0; i < 3; i++) {
        pause()
        await sleep(100)
        resume()
      }
      return signal.aborted
    })
    expect(await slow).toBe(false)
  })

  it('goes on when the bytes are there', async () => {
    const slow = within(100, undefined, async (signal, { pause, resume }) => {
      pause()
      await sleep(50)
      resume()
      await once(signal, 'abort')
      throw new Error('cut')
    })
    await expect(slow).rejects.toThrow(Unavailable)
  })
})

it('removes the others when the store does not let go of some', async () => {
  const asked: string[] = []
  const server = createServer(({ url = '' }, response) => {
    const key = url.slice(url.lastIndexOf('/') + 1)
    asked.push(key)
    if (key.startsWith('busy')) response.writeHead(409).end()
    else response.writeHead(202).end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const of = createBlobStore({
    connectionString: connectionString.replace(/(BlobEndpoint=http:\/\/127\.0\.0\.1):\d+/, `$1:${port}`),
    container,
    publicUrl: '',
  })
  try {
    const busy = Array.from({ length: 6 }, (_, i) => `busy-${i}`)
    const keys = [...busy, 'free-0', 'free-1']
    const error = await of.remove(keys).catch(e => e)
    expect(error).toBeInstanceOf(BlobsKept)
    expect(error.keys.sort()).toEqual(busy)
    expect(error.message).toContain('409')
    expect(asked.sort()).toEqual(keys)
  } finally {
    server.close()
    server.closeAllConnections()
  }
})

it('reaches a store of this machine past the proxy that the environment names', async () => {
  process.env.HTTPS_PROXY = 'http://127.0.0.1:1'
  try {
    await createBlobStore({ connectionString, container, publicUrl: '' }).ping()
  } finally {
    delete process.env.HTTPS_PROXY
  }
})

describe('a store that is not there', () => {
  const dir = mkdtempSync(join(tmpdir(), 'satchel-storage-test-'))
  let azurite: Azurite
  let own: BlobStore
  const port = () => Number(/:(\d+)\//.exec(azurite.connectionString)?.[1])

  beforeAll(async () => {
    azurite = await startAzurite({ dir, port: 0 })
    own = createBlobStore({ connectionString: azurite.connectionString, container: 'own', publicUrl: '' })
    await own.ensureContainer()
    await put('kept', pieces(randomBytes(10)), {}, own)
  })
  afterAll(async () => {
    await azurite.stop()
    rmSync(dir, { recursive: true, force: true })
  })

  const requests: [string, (of: BlobStore) => Promise<unknown>][] = [
    ['ping', of => of.ping()],
    ['ensureContainer', of => of.ensureContainer()],
    ['put of a small file', of => put('new', pieces(randomBytes(10)), {}, of)],
    ['put of a large file', of => put('new', pieces(randomBytes(9 * MiB)), {}, of)],
    ['open', of => of.open('kept')],
    ['remove', of => of.remove(['kept'])],
    [
      'list',
      async of => {
        for await (const _ of of.list());
      },
    ],
  ]

  it('is Unavailable within five seconds when nothing listens, and there again by itself', async () => {
    await own.ping()
    await azurite.stop()
    await Promise.all(
      requests.map(async ([, request]) => {
        const made = request(own)
        await expect(made).rejects.toThrow(Unavailable)
      }),
    )
    const times = await Promise.all(requests.map(([, request]) => elapsed(request(own))))
    expect(Math.max(...times)).toBeLessThan(5000)
    azurite = await startAzurite({ dir, port: port() })
    await own.ping()
    await put('new', pieces(randomBytes(9 * MiB)), {}, own)
    expect(await (await own.open('kept')).toArray()).toHaveLength(1)
  })

  it('breaks off an upload that is under way, and tells no secrets', async () => {
    const source = new PassThrough({ highWaterMark: 64 * MiB })
    source.write(randomBytes(5 * MiB))
    const made = put('broken', source, {}, own)
    const failed = expect(made).rejects.toThrow(Unavailable)
    await sleep(100)
    await azurite.stop()
    source.write(randomBytes(9 * MiB))
    await failed
    const error = await made.catch(e => e)
    const key = /AccountKey=([^;]+)/.exec(azurite.connectionString)?.[1] ?? ''
    const told = JSON.stringify([error, error.originalError, error.originalError?.message, error.stack])
    expect(told).toContain('ECONNREFUSED')
    expect(told).not.toContain(key)
    expect(told).not.toMatch(/SharedKey|sig=/)
    azurite = await startAzurite({ dir, port: port() })
  })

  it('is Unavailable within its limit when it hangs: ping after two seconds', async () => {
    process.kill(Number(azurite.pid), 'SIGSTOP')
    try {
      const made = own.ping()
      expect(await elapsed(made)).toBeLessThan(4500)
      await expect(made).rejects.toThrow(Unavailable)
    } finally {
      process.kill(Number(azurite.pid), 'SIGCONT')
    }
    await own.ping()
  })

  it.each([500, 503, 502, 429])('is Unavailable when it answers %i', async status => {
    const server = createServer((_request, response) => response.writeHead(status).end()).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port: broken } = server.address() as AddressInfo
    const of = createBlobStore({
      connectionString: azurite.connectionString.replace(`:${port()}/`, `:${broken}/`),
      container: 'own',
      publicUrl: '',
    })
    try {
      await Promise.all(requests.map(async ([, request]) => expect(request(of)).rejects.toThrow(Unavailable)))
    } finally {
      server.close()
      server.closeAllConnections()
    }
  })
})
