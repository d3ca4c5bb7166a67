import { randomBytes, randomUUID } from 'node:crypto'
import dns from 'node:dns'
import { once } from 'node:events'
import { createServer, get, type IncomingMessage, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { PassThrough } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { Unavailable } from '../../../src/runtime/errors.ts'
import { createS3Store, type S3Options } from '../../../src/storage/s3.ts'
import { connect } from '../../../src/storage/s3-client.ts'
import { unfinishedOf } from '../../../src/storage/s3-listing.ts'
import {
  type BlobStore,
  BlobsKept,
  ForeignStore,
  StoreRefusal,
} from '../../../src/storage/store.ts'
import { elementsOf, textOf } from '../../../src/storage/xml.ts'
import { until } from '../../support/until.ts'
import { describeContract, pieces, put as putInto } from '../contract.ts'
import { type Radosgw, startRadosgw } from './radosgw.ts'
import { serverOf } from './server.ts'

const MiB = 1024 * 1024
const server = serverOf()
const optionsOf = (more: Partial<S3Options> = {}): S3Options => ({
  ...server,
  bucket: `t${randomUUID()}`,
  region: 'us-east-1',
  pathStyle: true,
  publicUrl: '',
  ...more,
})
const own = optionsOf()
const store = createS3Store(own)
const client = connect(own)
const { signal } = new AbortController()

const put = (key: string, source: AsyncIterable<Uint8Array>, into: BlobStore = store) =>
  putInto(into, key, source)
const bytesOf = async (key: string, of = store) =>
  Buffer.concat(await (await of.open(key)).toArray())
const keysOf = async (of: BlobStore) => {
  const keys: [string, number][] = []
  for await (const { key, size } of of.list()) keys.push([key, size])
  return keys
}
const newStore = async (more: Partial<S3Options> = {}) => {
  const options = optionsOf(more)
  const made = createS3Store(options)
  await made.prepare()
  return { made, options, ask: connect(options).ask }
}

async function elapsed(task: Promise<unknown>): Promise<number> {
  const start = performance.now()
  await task.catch(() => {})
  return performance.now() - start
}

/** A store whose responses the test controls. */
async function fakeStore(onRequest: RequestListener, more: Partial<S3Options> = {}) {
  const http = createServer({ keepAliveTimeout: 60_000 }, onRequest).listen(0, '127.0.0.1')
  await once(http, 'listening')
  const { port } = http.address() as AddressInfo
  return {
    of: createS3Store(optionsOf({ endpoint: `http://127.0.0.1:${port}`, ...more })),
    close: () => {
      http.close()
      http.closeAllConnections()
    },
  }
}

beforeAll(() => store.prepare())

describeContract(async () => ({
  store,
  blockSize: 8 * MiB,
  another: async () => (await newStore()).made,
  async leftovers(key) {
    if (await store.look(key)) return Number.POSITIVE_INFINITY
    let count = 0
    for await (const { object, uploadId } of unfinishedOf(client, `blobs/${key}`)) {
      if (object !== `blobs/${key}`) continue
      const { body } = await client.ask({ method: 'GET', object, query: { uploadId } }, signal)
      count += elementsOf(body, 'Part').length
    }
    return count
  },
}))

describe('bind', () => {
  it('labels a bucket, which no other installation can then use', async () => {
    const { made } = await newStore()
    await made.bind('one', false)
    await made.bind('one', true)
    await expect(made.bind('two', false)).rejects.toThrow(ForeignStore)
  })

  it('gives a bucket to one of several installations that start at once', async () => {
    const { made, options } = await newStore()
    const stores = [made, createS3Store(options), createS3Store(options)]
    const bound = await Promise.allSettled(
      stores.map((each, i) => each.bind(`installation-${i}`, false)),
    )
    expect(bound.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  })

  it('refuses an empty bucket if the files are elsewhere, and a bucket with files of unknown origin', async () => {
    const { made } = await newStore()
    await expect(made.bind('one', true)).rejects.toThrow(/does not contain the files/)
    await put('foreign', pieces(randomBytes(3)), made)
    await expect(made.bind('one', false)).rejects.toThrow(/unknown origin/)
  })
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
    expect([response.status, response.headers.get('content-range')]).toEqual([206, 'bytes 2-4/10'])
    expect(await response.text()).toBe('234')
  })

  it('expires', async () => {
    const url = await sign(1)
    expect((await fetch(url)).status).toBe(200)
    await until(async () => (await fetch(url)).status === 403)
  })

  it('does not permit writing, deleting, listing or reading another blob', async () => {
    expect((await fetch(await sign(), { method: 'PUT', body: 'x' })).status).toBe(403)
    expect((await fetch(await sign(), { method: 'DELETE' })).status).toBe(403)
    expect((await fetch((await sign()).replace('/signed?', '/other?'))).status).toBe(403)
    expect((await fetch((await sign()).replace('/blobs/signed?', '?list-type=2&'))).status).toBe(
      403,
    )
    expect(
      (await fetch((await sign()).replace(/X-Amz-Expires=\d+/, 'X-Amz-Expires=9999'))).status,
    ).toBe(403)
    expect((await fetch((await sign()).replace('a%3Db', 'a%3Dc'))).status).toBe(403)
    expect(String(await bytesOf('signed'))).toBe('0123456789')
  })

  it('contains no secret, and uses the URL for clients if one is set', async () => {
    expect(await sign()).not.toContain(server.secretAccessKey)
    const shown = async (more: Partial<S3Options>) => {
      const options = optionsOf({ bucket: 'files', endpoint: 'https://s3.internal', ...more })
      const right = { contentType: '', disposition: '', seconds: 5 }
      return (await createS3Store(options).addresses?.signUrl('a b', right))?.url
    }
    expect(await shown({ publicUrl: 'https://s3.example.org' })).toMatch(
      'https://s3.example.org/files/blobs/a%20b?',
    )
    expect(await shown({ publicUrl: 'https://s3.example.org', pathStyle: false })).toMatch(
      'https://files.s3.example.org/blobs/a%20b?',
    )
    expect(
      await shown({ endpoint: 'https://s3.eu-central-1.amazonaws.com', pathStyle: false }),
    ).toMatch(/^https:\/\/files\.s3\.eu-central-1\.amazonaws\.com\/blobs\/a%20b\?/)
  })
})

describe('signParts', () => {
  const send = (url: string, body: Uint8Array) =>
    fetch(url, { method: 'PUT', body: body as Uint8Array<ArrayBuffer> })

  it('lets clients send the parts of one blob, and nothing else', async () => {
    const { made } = await newStore()
    const [first = '', second = ''] =
      (await made.addresses?.signParts('direct', 2, Date.now() + 60_000)) ?? []
    const bytes = randomBytes(30)
    expect((await send(second, bytes.subarray(20))).status).toBe(200)
    expect((await send(first, bytes.subarray(0, 20))).status).toBe(200)
    for (const [method, url] of [
      ['GET', first],
      ['DELETE', first],
      ['PUT', first.replace('/direct/', '/other/')],
      ['PUT', first.replace('/parts/direct/000001', '/blobs/direct')],
    ] as const)
      expect((await fetch(url, { method })).status).toBe(403)
    expect(await made.partsOf('direct')).toEqual(
      new Map([
        [1, 20],
        [2, 10],
      ]),
    )
    await made.commitParts('direct', 2, { contentType: 'text/plain' })
    expect(bytes.equals(await bytesOf('direct', made))).toBe(true)
  })

  it('expires at its time', async () => {
    const [url = ''] = (await store.addresses?.signParts('ended', 1, Date.now() + 1000)) ?? []
    await until(async () => (await send(url, randomBytes(3))).status === 403)
  })
})

describe('parts', () => {
  it.each([5, 21])(
    'of %i MiB in total become one blob, with the checksums of the stored bytes',
    async size => {
      const bytes = randomBytes(size * MiB + 3)
      const { made } = await newStore()
      const [part, count] = [3 * MiB, Math.ceil(bytes.length / (3 * MiB))]
      for (let i = 0; i < count; i++) {
        const some = bytes.subarray(i * part, (i + 1) * part)
        await made.stagePart('large', i + 1, pieces(some), { size: some.length, offset: i * part })
      }
      const expected = await put('same', pieces(bytes), made)
      const { md5, crc32 } = await made.commitParts('large', count, { contentType: 'text/plain' })
      expect({ size: bytes.length, md5, crc32 }).toEqual(expected)
      expect(bytes.equals(await bytesOf('large', made))).toBe(true)
    },
  )

  it('that take long to join are abandoned at the signal', async () => {
    const { made } = await newStore()
    for (const n of [1, 2, 3])
      await made.stagePart('slow', n, pieces(randomBytes(4 * MiB)), { size: 4 * MiB, offset: 0 })
    const abort = new AbortController()
    const joined = made.commitParts('slow', 3, { contentType: 'text/plain', signal: abort.signal })
    abort.abort(new Error('over'))
    await expect(joined).rejects.toThrow('over')
    expect(await made.look('slow')).toBeNull()
  })

  it('and unfinished uploads of existing blobs are cleaned up, and others are kept', async () => {
    const { made, ask } = await newStore()
    for (const key of ['done', 'going']) {
      await made.stagePart(key, 1, pieces(randomBytes(10)), { size: 10, offset: 0 })
      await ask({ method: 'POST', object: `blobs/${key}`, query: { uploads: '' } }, signal)
    }
    await made.commitParts('done', 1, { contentType: 'text/plain' })
    await made.tidy(async keys => keys.filter(key => key === 'done'))
    expect(await made.partsOf('done')).toEqual(new Map())
    expect(await made.partsOf('going')).toEqual(new Map([[1, 10]]))
    const { body } = await ask({ method: 'GET', query: { uploads: '' } }, signal)
    expect(elementsOf(body, 'Upload').map(xml => textOf(xml, 'Key'))).toEqual(['blobs/going'])
    expect(await keysOf(made)).toEqual([
      ['done', 10],
      ['going', 0],
    ])
    await made.remove(['going'])
    expect(await keysOf(made)).toEqual([['done', 10]])
    expect((await ask({ method: 'GET', query: { uploads: '' } }, signal)).body).not.toContain(
      '<Upload>',
    )
  })

  it('of many blobs are removed with them', async () => {
    const { made } = await newStore()
    const keys = Array.from({ length: 12 }, (_, i) => `many-${i}`)
    for (const key of [...keys, 'stays'])
      await made.stagePart(key, 1, pieces(randomBytes(3)), { size: 3, offset: 0 })
    await made.remove(keys)
    expect(await keysOf(made)).toEqual([['stays', 0]])
  })
})

it('lists and removes more blobs than fit into one response', async () => {
  const { made } = await newStore()
  const keys = Array.from({ length: 1050 }, () => randomUUID()).sort()
  for (let at = 0; at < keys.length; at += 50)
    await Promise.all(keys.slice(at, at + 50).map(key => put(key, pieces(Buffer.from('x')), made)))
  expect((await keysOf(made)).map(([key]) => key)).toEqual(keys)
  await made.remove(keys)
  expect(await keysOf(made)).toEqual([])
})

it('puts the bucket into the host name if configured', async () => {
  const { lookup } = dns
  // Names below localhost point to this machine (RFC 6761), but not every resolver knows that.
  const local = (name: string, ...rest: unknown[]) =>
    Reflect.apply(lookup, dns, [name.endsWith('.localhost') ? '127.0.0.1' : name, ...rest])
  Object.assign(dns, { lookup: local })
  const { port } = new URL(server.endpoint)
  const bytes = randomBytes(17 * MiB)
  try {
    const { made, options } = await newStore({
      endpoint: `http://s3.localhost:${port}`,
      pathStyle: false,
    })
    await put('hosted', pieces(bytes), made)
    await made.stagePart('parts', 1, pieces(Buffer.from('part')), { size: 4, offset: 0 })
    await made.copy('hosted', 'copied')
    expect(bytes.equals(await bytesOf('copied', made))).toBe(true)
    await made.addresses?.allowOrigins(['https://a.example.com'])
    const url = new URL(
      (await made.addresses?.signUrl('hosted', { contentType: '', disposition: '', seconds: 60 }))
        ?.url ?? '',
    )
    expect(url.host).toBe(`${options.bucket}.s3.localhost:${port}`)
    const answer = await new Promise<IncomingMessage>(resolve => void get(url, resolve))
    expect(bytes.equals(Buffer.concat(await answer.toArray()))).toBe(true)
    await made.remove(['hosted', 'parts'])
    expect(await keysOf(made)).toEqual([['copied', bytes.length]])
  } finally {
    Object.assign(dns, { lookup })
  }
})

it('requests the configured encryption for every new object, and signs the request for it', async () => {
  const made: string[] = []
  const { of, close } = await fakeStore(
    async (req, res) => {
      await req.resume().toArray()
      const {
        'x-amz-server-side-encryption': how,
        'x-amz-server-side-encryption-aws-kms-key-id': key,
      } = req.headers
      if (how)
        made.push(`${req.method} ${req.url?.replace(/.*\/(blobs|parts)/, '$1')} ${how} ${key}`)
      if (how) expect(req.headers.authorization).toContain('x-amz-server-side-encryption;')
      const size = req.method === 'HEAD' ? { 'content-length': 3 } : {}
      res
        .writeHead(200, { etag: '"e"', ...size })
        .end(req.method === 'POST' ? '<a><UploadId>u</UploadId></a>' : undefined)
    },
    { encryption: 'aws:kms', kmsKeyId: 'key-1' },
  )
  try {
    await put('small', pieces(randomBytes(3)), of)
    await put('large', pieces(randomBytes(9 * MiB)), of)
    await of.copy('small', 'copy')
    await of.stagePart('staged', 1, pieces(randomBytes(3)), { size: 3, offset: 0 })
    expect(made).toEqual([
      'PUT blobs/small aws:kms key-1',
      'POST blobs/large?uploads= aws:kms key-1',
      'PUT blobs/copy aws:kms key-1',
      'PUT parts/staged/000001 aws:kms key-1',
    ])
  } finally {
    close()
  }
})

describe('the CORS rule', () => {
  const rulesOf = async (ask: Awaited<ReturnType<typeof newStore>>['ask']) => {
    const { body } = await ask({ method: 'GET', query: { cors: '' } }, signal)
    return elementsOf(body, 'CORSRule').map(rule => elementsOf(rule, 'AllowedOrigin'))
  }

  it('replaces its own earlier version, and leaves other rules alone', async () => {
    const { made, ask } = await newStore()
    const theirs =
      '<CORSConfiguration><CORSRule><ID>theirs</ID><AllowedOrigin>https://theirs.example.com</AllowedOrigin><AllowedMethod>GET</AllowedMethod></CORSRule></CORSConfiguration>'
    await ask({ method: 'PUT', query: { cors: '' }, body: theirs }, signal)
    await made.addresses?.allowOrigins(['https://a.example.com'])
    await made.addresses?.allowOrigins(['https://a.example.com', 'https://b.example.com'])
    await made.addresses?.allowOrigins(['https://a.example.com', 'https://b.example.com'])
    const rules = await rulesOf(ask)
    expect(rules.map(origins => origins.sort()).sort()).toEqual([
      ['https://a.example.com', 'https://b.example.com'],
      ['https://theirs.example.com'],
    ])
  })

  it('permits only pages of these origins to send parts and read blobs', async () => {
    const { made } = await newStore()
    await made.addresses?.allowOrigins(['https://a.example.com'])
    const [url = ''] = (await made.addresses?.signParts('direct', 1, Date.now() + 60_000)) ?? []
    const preflight = async (origin: string) => {
      const headers = {
        origin,
        'access-control-request-method': 'PUT',
        'access-control-request-headers': 'content-md5,content-type',
      }
      const answer = await fetch(url, { method: 'OPTIONS', headers })
      return [answer.status, answer.headers.get('access-control-allow-origin')]
    }
    expect(await preflight('https://a.example.com')).toEqual([200, 'https://a.example.com'])
    expect((await preflight('https://evil.example.com'))[1]).toBeNull()
    const sent = await fetch(url, {
      method: 'PUT',
      body: 'x',
      headers: { origin: 'https://a.example.com' },
    })
    expect([sent.status, sent.headers.get('access-control-allow-origin')]).toEqual([
      200,
      'https://a.example.com',
    ])
  })
})

describe('an incomplete part', () => {
  it.each([403, 503])(
    'fails when the store responds %s too early, and closes its connection',
    async status => {
      let [closed, tries, left] = [0, 0, false]
      const { of, close } = await fakeStore((req, res) => {
        tries += 1
        req.socket.once('close', () => {
          closed += 1
        })
        req.once('data', () => res.writeHead(status).end())
      })
      let goOn = () => {}
      const told = new Promise<void>(resolve => {
        goOn = resolve
      })
      async function* halves() {
        try {
          yield* pieces(randomBytes(MiB))
          await told
          yield* pieces(randomBytes(MiB))
        } finally {
          left = true
        }
      }
      try {
        await expect(
          of.stagePart('early', 1, halves(), { size: 2 * MiB, offset: 0 }),
        ).rejects.toThrow(status === 403 ? StoreRefusal : Unavailable)
        await until(() => closed === tries)
        goOn()
        await until(() => left)
      } finally {
        close()
      }
    },
  )
})

it('removes the other blobs when the store refuses to delete some, and names those', async () => {
  const { of, close } = await fakeStore(async (req, res) => {
    const body = Buffer.concat(await req.toArray()).toString()
    if (req.method !== 'POST') return void res.writeHead(200).end('<a></a>')
    const busy = elementsOf(body, 'Key').filter(key => key.includes('busy'))
    const errors = busy.map(
      key => `<Error><Key>${key}</Key><Code>AccessDenied</Code><Message>no</Message></Error>`,
    )
    res.writeHead(200).end(`<DeleteResult>${errors.join('')}</DeleteResult>`)
  })
  try {
    const error = await of.remove(['busy-0', 'free-0', 'busy-1']).catch(e => e)
    expect(error).toBeInstanceOf(BlobsKept)
    expect(error.keys.sort()).toEqual(['busy-0', 'busy-1'])
    expect(error.message).toContain('AccessDenied')
  } finally {
    close()
  }
})

it('detects a copy that fails after its response has begun', async () => {
  const { of, close } = await fakeStore((req, res) => {
    if (req.method === 'HEAD') return void res.writeHead(200, { 'content-length': 3 }).end()
    res
      .writeHead(200)
      .end(
        '<?xml version="1.0"?>\n<Error><Code>InternalError</Code><Message>Again.</Message></Error>',
      )
  })
  try {
    await expect(of.copy('a', 'b')).rejects.toThrow(Unavailable)
  } finally {
    close()
  }
})

describe('an unreachable store', () => {
  let gateway: Radosgw
  let gone: BlobStore

  beforeAll(async () => {
    gateway = await startRadosgw()
    const { endpoint, accessKeyId, secretAccessKey } = gateway
    gone = createS3Store(optionsOf({ endpoint, accessKeyId, secretAccessKey }))
    await gone.prepare()
    await put('kept', pieces(randomBytes(10)), gone)
  })
  afterAll(() => gateway.stop())

  const requests: [string, (of: BlobStore) => Promise<unknown>][] = [
    ['ping', of => of.ping()],
    ['prepare', of => of.prepare()],
    ['put of a small file', of => put('new', pieces(randomBytes(10)), of)],
    ['put of a large file', of => put('new', pieces(randomBytes(17 * MiB)), of)],
    ['open', of => of.open('kept')],
    ['remove', of => of.remove(['kept'])],
    ['list', of => keysOf(of)],
  ]

  it('is Unavailable within five seconds when nothing listens, and recovers', async () => {
    await gone.ping()
    await gateway.end()
    const times = await Promise.all(
      requests.map(async ([, request]) => {
        const made = request(gone)
        const time = elapsed(made)
        await expect(made).rejects.toThrow(Unavailable)
        return time
      }),
    )
    expect(Math.max(...times)).toBeLessThan(5000)
    await gateway.begin()
    await gone.ping()
    await put('new', pieces(randomBytes(17 * MiB)), gone)
    expect(await bytesOf('kept', gone)).toHaveLength(10)
  })

  it('aborts a running upload, and logs no secrets', async () => {
    const source = new PassThrough({ highWaterMark: 64 * MiB })
    source.write(randomBytes(9 * MiB))
    const made = put('broken', source, gone)
    const failed = expect(made).rejects.toThrow(Unavailable)
    await sleep(100)
    await gateway.end()
    source.write(randomBytes(17 * MiB))
    await failed
    const error = await made.catch(e => e)
    const told = JSON.stringify([
      error,
      error.originalError,
      error.originalError?.message,
      error.stack,
    ])
    expect(told).toMatch(/ECONNREFUSED|ECONNRESET/)
    expect(told).not.toContain(gateway.secretAccessKey)
    expect(told).not.toMatch(/Signature/)
    await gateway.begin()
  })

  it('is Unavailable within its limit when it hangs, and after two seconds for a ping', async () => {
    process.kill(gateway.pid(), 'SIGSTOP')
    try {
      const made = gone.ping()
      expect(await elapsed(made)).toBeLessThan(4500)
      await expect(made).rejects.toThrow(Unavailable)
    } finally {
      process.kill(gateway.pid(), 'SIGCONT')
    }
    await gone.ping()
  })

  it.each([500, 503, 502, 429])('is Unavailable when it responds %i', async status => {
    const { of, close } = await fakeStore((_req, res) => res.writeHead(status).end())
    try {
      await Promise.all(
        requests.map(async ([, request]) => expect(request(of)).rejects.toThrow(Unavailable)),
      )
    } finally {
      close()
    }
  })

  it('reports a wrong secret as such, once', async () => {
    let asked = 0
    const { of, close } = await fakeStore((_req, res) => {
      asked += 1
      res
        .writeHead(403)
        .end('<Error><Code>SignatureDoesNotMatch</Code><Message>No.</Message></Error>')
    })
    try {
      await expect(of.list()[Symbol.asyncIterator]().next()).rejects.toMatchObject({
        unauthorized: true,
      })
      expect(asked).toBe(1)
    } finally {
      close()
    }
  })
})
