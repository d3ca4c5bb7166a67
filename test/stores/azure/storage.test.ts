import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { BlobServiceClient } from '@azure/storage-blob'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { Unavailable } from '../../../src/runtime/errors.ts'
import { createAzureStore } from '../../../src/storage/azure.ts'
import { within } from '../../../src/storage/request.ts'
import { type BlobStore, BlobsKept, StoreRefusal } from '../../../src/storage/store.ts'
import { until } from '../../support/until.ts'
import { describeContract, pieces, put as putInto } from '../contract.ts'
import { type Azurite, startAzurite } from './azurite.ts'

const MiB = 1024 * 1024
const connectionString = process.env.TEST_AZURE ?? ''
const container = `storage-${randomUUID()}`
const store = createAzureStore({ connectionString, container, publicUrl: '' })
const client =
  BlobServiceClient.fromConnectionString(connectionString).getContainerClient(container)

const md5 = (bytes: Uint8Array) => createHash('md5').update(bytes).digest('hex')

const put = (key: string, source: AsyncIterable<Uint8Array>, into: BlobStore = store) =>
  putInto(into, key, source)

const bytesOf = async (key: string) => Buffer.concat(await (await store.open(key)).toArray())

async function leftovers(key: string): Promise<number> {
  if (await client.getBlobClient(key).exists()) return Number.POSITIVE_INFINITY
  try {
    return (
      (await client.getBlockBlobClient(key).getBlockList('uncommitted')).uncommittedBlocks
        ?.length ?? 0
    )
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
  await store.prepare()
  await store.prepare()
})
afterAll(async () => {
  await client.delete()
})

describeContract(async () => ({
  store,
  forgetsNothing: true,
  async another() {
    const own = createAzureStore({
      connectionString,
      container: `other-${randomUUID()}`,
      publicUrl: '',
    })
    await own.prepare()
    return own
  },
  leftovers,
}))

it('keeps the type and MD5 of a blob where clients see them', async () => {
  const bytes = randomBytes(5 * MiB)
  await put('described', pieces(bytes))
  const properties = await client.getBlobClient('described').getProperties()
  expect(Buffer.from(properties.contentMD5 ?? []).toString('hex')).toBe(md5(bytes))
  expect(properties.contentType).toBe('text/plain')
})

describe('signUrl', () => {
  const bytes = Buffer.from('0123456789')
  const disposition = `attachment; filename="r_sum_.txt"; filename*=UTF-8''r%C3%A9sum%C3%A9%20%26%20%F0%9F%98%80.txt`
  const sign = async (seconds = 60) => {
    const right = { contentType: 'image/x-odd; a=b', disposition, seconds }
    return (await store.addresses?.signUrl('signed', right))?.url ?? ''
  }

  beforeAll(async () => {
    await put('signed', pieces(bytes))
    await put('other', pieces(bytes))
  })

  it('returns the bytes with the given type and name', async () => {
    const response = await fetch(await sign())
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('image/x-odd; a=b')
    expect(response.headers.get('content-disposition')).toBe(disposition)
    expect(await response.text()).toBe('0123456789')
  })

  it('serves ranges', async () => {
    const response = await fetch(await sign(), { headers: { range: 'bytes=2-4' } })
    expect(response.status).toBe(206)
    expect(response.headers.get('content-range')).toBe('bytes 2-4/10')
    expect(await response.text()).toBe('234')
  })

  it('expires', async () => {
    const url = await sign(1)
    expect((await fetch(url)).status).toBe(200)
    await sleep(2100)
    expect((await fetch(url)).status).toBe(403)
  })

  it('does not permit writing, deleting, listing or reading another blob', async () => {
    const headers = { 'x-ms-blob-type': 'BlockBlob' }
    expect((await fetch(await sign(), { method: 'PUT', headers, body: 'x' })).status).toBe(403)
    expect((await fetch(await sign(), { method: 'DELETE' })).status).toBe(403)
    expect((await fetch((await sign()).replace('/signed?', '/other?'))).status).toBe(403)
    expect(
      (await fetch((await sign()).replace('/signed?', '?restype=container&comp=list&'))).status,
    ).toBe(403)
    expect(
      (await fetch((await sign()).replace(/se=[^&]+/, 'se=2099-01-01T00%3A00%3A00Z'))).status,
    ).toBe(403)
    expect(String(await bytesOf('signed'))).toBe('0123456789')
  })

  it('contains no key, and uses the address for clients if one is set', async () => {
    const key = /AccountKey=([^;]+)/.exec(connectionString)?.[1] ?? ''
    expect(await sign()).not.toContain(key)
    const shown = async (publicUrl: string) => {
      const { addresses } = createAzureStore({ connectionString, container, publicUrl })
      const right = { contentType: '', disposition: '', seconds: 5 }
      return (await addresses?.signUrl('a b', right))?.url
    }
    expect(await shown('https://files.example.org')).toMatch(
      `https://files.example.org/satchel/${container}/a%20b?`,
    )
    expect(await shown('https://example.org/blobs/')).toMatch(
      `https://example.org/blobs/${container}/a%20b?`,
    )
  })
})

describe('parts', () => {
  const name = `parts-${randomUUID()}`
  const own = createAzureStore({ connectionString, container: name, publicUrl: '' })
  const listed = async () => {
    const keys: [string, number][] = []
    for await (const { key, size } of own.list()) keys.push([key, size])
    return keys
  }
  beforeAll(() => own.prepare())

  it('are removed even from a blob with a lease and snapshots', async () => {
    const service = BlobServiceClient.fromConnectionString(connectionString)
    const blob = service.getContainerClient(name).getBlockBlobClient('held')
    await blob.upload('bytes', 5)
    await blob.createSnapshot()
    await blob.getBlobLeaseClient().acquireLease(-1)
    await own.remove(['held', 'held'])
    expect(await listed()).toEqual([])
  })
})

describe('an incomplete part', () => {
  /** A store whose responses the test controls. */
  async function fakeStore(onRequest: RequestListener) {
    const server = createServer({ keepAliveTimeout: 60_000 }, onRequest).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const of = createAzureStore({
      connectionString: connectionString.replace(
        /(BlobEndpoint=http:\/\/127\.0\.0\.1):\d+/,
        `$1:${port}`,
      ),
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
  /** Yields one half, and the other half when it is released. */
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

  it.each([403, 503])(
    'fails when the store responds %s too early, and closes its connection',
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
        await expect(of.stagePart('early', 1, source, { size, offset: 0 })).rejects.toThrow(
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

describe('the timeout of a request', () => {
  it('expires at its limit', async () => {
    const endless = within(50, undefined, signal =>
      once(signal, 'abort').then(() => Promise.reject(new Error('cut'))),
    )
    await expect(endless).rejects.toThrow(Unavailable)
  })

  it('does not run while the request waits for bytes', async () => {
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

  it('runs again when bytes arrive', async () => {
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

it('removes the other blobs when the store refuses to delete some', async () => {
  const asked: string[] = []
  const server = createServer(({ url = '' }, response) => {
    const key = url.slice(url.lastIndexOf('/') + 1)
    asked.push(key)
    if (key.startsWith('busy')) response.writeHead(409).end()
    else response.writeHead(202).end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const of = createAzureStore({
    connectionString: connectionString.replace(
      /(BlobEndpoint=http:\/\/127\.0\.0\.1):\d+/,
      `$1:${port}`,
    ),
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

it('reaches a local store without the proxy of the environment', async () => {
  process.env.HTTPS_PROXY = 'http://127.0.0.1:1'
  try {
    await createAzureStore({ connectionString, container, publicUrl: '' }).ping()
  } finally {
    delete process.env.HTTPS_PROXY
  }
})

describe('an unreachable store', () => {
  const dir = mkdtempSync(join(tmpdir(), 'satchel-storage-test-'))
  let azurite: Azurite
  let own: BlobStore
  const port = () => Number(/:(\d+)\//.exec(azurite.connectionString)?.[1])

  beforeAll(async () => {
    azurite = await startAzurite({ dir })
    own = createAzureStore({
      connectionString: azurite.connectionString,
      container: 'own',
      publicUrl: '',
    })
    await own.prepare()
    await put('kept', pieces(randomBytes(10)), own)
  })
  afterAll(async () => {
    await azurite.stop()
    rmSync(dir, { recursive: true, force: true })
  })

  const requests: [string, (of: BlobStore) => Promise<unknown>][] = [
    ['ping', of => of.ping()],
    ['prepare', of => of.prepare()],
    ['put of a small file', of => put('new', pieces(randomBytes(10)), of)],
    ['put of a large file', of => put('new', pieces(randomBytes(9 * MiB)), of)],
    ['open', of => of.open('kept')],
    ['remove', of => of.remove(['kept'])],
    [
      'list',
      async of => {
        for await (const _ of of.list());
      },
    ],
  ]

  it('is Unavailable within five seconds when nothing listens, and recovers', async () => {
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
    await put('new', pieces(randomBytes(9 * MiB)), own)
    expect(await (await own.open('kept')).toArray()).toHaveLength(1)
  })

  it('aborts a running upload, and logs no secrets', async () => {
    const source = new PassThrough({ highWaterMark: 64 * MiB })
    source.write(randomBytes(5 * MiB))
    const made = put('broken', source, own)
    const failed = expect(made).rejects.toThrow(Unavailable)
    await sleep(100)
    await azurite.stop()
    source.write(randomBytes(9 * MiB))
    await failed
    const error = await made.catch(e => e)
    const key = /AccountKey=([^;]+)/.exec(azurite.connectionString)?.[1] ?? ''
    const told = JSON.stringify([
      error,
      error.originalError,
      error.originalError?.message,
      error.stack,
    ])
    expect(told).toContain('ECONNREFUSED')
    expect(told).not.toContain(key)
    expect(told).not.toMatch(/SharedKey|sig=/)
    azurite = await startAzurite({ dir, port: port() })
  })

  it('is Unavailable within its limit when it hangs, and after two seconds for a ping', async () => {
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

  it.each([500, 503, 502, 429])('is Unavailable when it responds %i', async status => {
    const server = createServer((_request, response) => response.writeHead(status).end()).listen(
      0,
      '127.0.0.1',
    )
    await once(server, 'listening')
    const { port: broken } = server.address() as AddressInfo
    const of = createAzureStore({
      connectionString: azurite.connectionString.replace(`:${port()}/`, `:${broken}/`),
      container: 'own',
      publicUrl: '',
    })
    try {
      await Promise.all(
        requests.map(async ([, request]) => expect(request(of)).rejects.toThrow(Unavailable)),
      )
    } finally {
      server.close()
      server.closeAllConnections()
    }
  })
})
