import { createHash, randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BlobServiceClient } from '@azure/storage-blob'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { found } from '../../support/builders.ts'
import { expectConsistent, outlive } from '../../support/consistency.ts'
import { newDatabase, type Person, startApp, type TestApp } from '../../support/harness.ts'
import {
  type HttpProxy,
  startHttpProxy,
  startStoreProxy,
  storeRequest,
} from '../../support/http-proxy.ts'
import { until } from '../../support/until.ts'
import { faces, restUploader, type Uploader } from '../../support/uploader.ts'
import { type Azurite, startAzurite } from './azurite.ts'

const PART = 1024
const DAY_MS = 86_400_000

let t: TestApp
let proxy: HttpProxy
/** The address of the store through this proxy. */
let connectionString: string
let alice: Person
let garden: string
let up: Uploader

beforeAll(async () => {
  const made = await startStoreProxy()
  proxy = made
  connectionString = made.connectionString
  t = await startApp({
    UPLOAD_PART_BYTES: String(PART),
    AZURE_STORAGE_CONNECTION_STRING: connectionString,
  })
  alice = await t.signIn('alice')
  garden = await found(alice)
  up = restUploader(alice)
})
beforeEach(() => {
  proxy.interfere = () => {}
})
afterAll(async () => {
  await t.stop()
  await proxy.close()
})

/** Expects that nothing is left of any upload once all addresses have expired. */
const leavesNothing = () =>
  afterAll(async () => {
    await expectConsistent(t)
    await outlive(t)
    await expectConsistent(t)
    expect(await t.app.db.rows("SELECT id FROM blobs WHERE state <> 'live'")).toEqual([])
    expect(t.logs().match(/.*"level":50.*/g)).toBeNull()
  })

const md5 = (bytes: Uint8Array) => createHash('md5').update(bytes).digest('hex')
const bytes = randomBytes(2 * PART + 7)
const partOf = (n: number, of = bytes) => of.subarray((n - 1) * PART, n * PART)
let files = 0

interface Direct {
  id: string
  filename: string
  parts: { part_number: number; url: string }[]
  expires_at: string
}

async function begun(by = up, size = bytes.length): Promise<Direct> {
  const filename = `direct-${++files}.bin`
  const { value, msg } = await by.start({ filename, size, direct: true })
  if (!value) throw new Error(msg)
  return { id: value.upload_id, filename, parts: value.parts, expires_at: value.expires_at }
}

/** A request to the store. Only the query of the address counts, not its host. */
const ask = (
  method: string,
  url: string,
  body?: Uint8Array | string,
  headers: Record<string, string> = {},
) => fetch(url, { method, body: (body as Uint8Array<ArrayBuffer>) ?? null, headers })

const put = async (upload: Direct, n: number, part: Uint8Array) =>
  (await ask('PUT', upload.parts[n - 1]?.url ?? '', part)).status

/** An address with the same permission for the same blob, but for another request than a part. */
function other(upload: Direct, query: Record<string, string> = {}): string {
  const url = new URL(upload.parts[0]?.url ?? '')
  for (const name of ['comp', 'blockid']) url.searchParams.delete(name)
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
  return url.href
}

const blockOf = (upload: Direct, id: string) =>
  other(upload, { comp: 'block', blockid: Buffer.from(id).toString('base64') })
const listOf = (ids: string[]) =>
  `<BlockList>${ids.map(id => `<Latest>${Buffer.from(id).toString('base64')}</Latest>`).join('')}</BlockList>`

const usedBytes = async () =>
  (await alice.rest('GET', '/api/user/bucket')).response.bucket_data.used_bytes as number

async function downloaded(filename: string): Promise<Buffer> {
  const made = await alice.rest('POST', `/api/user/private/download_token?file=${filename}`)
  const { headers } = await alice.rest(
    'GET',
    `/api/d/private/${made.response.private_download_token}`,
  )
  return Buffer.from(await (await fetch(headers.get('location') ?? '')).arrayBuffer())
}

describe('The addresses of a direct upload', () => {
  leavesNothing()

  it.each(faces)('accept its parts in any order and at once, $face', async ({ by }) => {
    const mine = by(alice, garden)
    const upload = await begun(mine)
    expect(upload.parts.map(({ part_number }) => part_number)).toEqual([1, 2, 3])
    expect(await Promise.all([3, 1, 2].map(n => put(upload, n, partOf(n))))).toEqual([
      201, 201, 201,
    ])
    expect((await mine.look(upload.id)).value.received).toEqual([1, 2, 3])
    expect((await mine.complete(upload.id, { md5: md5(bytes) })).value.md5_checksum).toBe(
      md5(bytes),
    )
  })

  it('expire with the upload, and only permit writing', async () => {
    const upload = await begun()
    const ends = Date.parse(upload.expires_at)
    for (const { url } of upload.parts) {
      const query = new URL(url).searchParams
      expect([query.get('sp'), query.get('sr'), query.get('st')]).toEqual(['w', 'b', null])
      expect(Math.floor(ends / 1000)).toBe(Date.parse(query.get('se') ?? '') / 1000)
    }
    expect(Math.round((ends - Date.now()) / 60_000)).toBe(DAY_MS / 60_000)
    // New parts do not extend the upload, because the addresses cannot be extended.
    await up.part(upload.id, 1, { bytes: partOf(1) })
    expect((await up.look(upload.id)).value.expires_at).toBe(upload.expires_at)
    const [ended = ''] =
      (await t.app.store.addresses?.signParts(upload.id, 1, Date.now() - 1000)) ?? []
    expect((await ask('PUT', ended, partOf(1))).status).toBe(403)
  })

  it.each<[string, string, (upload: Direct) => string]>([
    ['read', 'GET', upload => other(upload)],
    ['look at', 'HEAD', upload => other(upload)],
    ['read the metadata of', 'GET', upload => other(upload, { comp: 'metadata' })],
    [
      'list the parts of',
      'GET',
      upload => other(upload, { comp: 'blocklist', blocklisttype: 'all' }),
    ],
    ['delete', 'DELETE', upload => other(upload)],
  ])('do not permit anyone to %s the sent bytes', async (_what, method, url) => {
    const upload = await begun()
    for (const n of [1, 2, 3]) await put(upload, n, partOf(n))
    await ask('PUT', other(upload, { comp: 'blocklist' }), listOf(['000001']))
    expect((await ask(method, url(upload))).status).toBe(403)
  })

  it('do not permit access to another blob, the container or the account', async () => {
    const [upload, another] = [await begun(), await begun()]
    const theirs = (url: string) => url.replace(upload.id, another.id)
    expect((await ask('PUT', theirs(upload.parts[0]?.url ?? ''), partOf(1))).status).toBe(403)
    expect(
      (await ask('PUT', theirs(other(upload)), 'x', { 'x-ms-blob-type': 'BlockBlob' })).status,
    ).toBe(403)
    const container = other(upload).replace(`/${upload.id}`, '')
    const account = container.replace(/\/[^/?]+\?/, '?')
    expect((await ask('GET', `${container}&restype=container&comp=list`)).status).toBe(403)
    expect((await ask('DELETE', `${container}&restype=container`)).status).toBe(403)
    expect((await ask('GET', `${account}&comp=list`)).status).toBe(403)
    expect((await ask('PUT', `${account}&restype=service&comp=properties`, '<x/>')).status).toBe(
      403,
    )
    expect((await up.look(another.id)).value.received).toEqual([])
  })
})

it.each([{ DIRECT_UPLOADS: 'false' }, { DOWNLOADS: 'proxy' }])(
  'Only direct uploads are refused when clients cannot reach the store: %j',
  async settings => {
    const closed = await startApp(settings)
    try {
      const carol = await closed.signIn('carol')
      const workspace = await found(carol)
      for (const { by } of faces) {
        const mine = by(carol, workspace)
        expect((await mine.start({ filename: 'a', size: 1, direct: true })).code).toBe(
          'INVALID_INPUT',
        )
        const { value } = await mine.start({ filename: 'a', size: 1, direct: false })
        expect([typeof value.upload_id, value.parts ?? null]).toEqual(['string', null])
      }
    } finally {
      await closed.stop()
    }
  },
)

describe('A direct upload', () => {
  leavesNothing()

  it('is refused with parts of a wrong size, and succeeds once they are sent again', async () => {
    const upload = await begun()
    await put(upload, 1, partOf(1).subarray(1))
    await put(upload, 2, Buffer.alloc(PART + 1))
    await put(upload, 3, Buffer.alloc(PART))
    expect((await up.look(upload.id)).value.received).toEqual([])
    expect((await up.complete(upload.id)).value).toMatchObject({
      code: 'UPLOAD_INCOMPLETE',
      missing: [1, 2, 3],
    })
    for (const n of [1, 3]) await put(upload, n, partOf(n))
    expect((await up.complete(upload.id)).value).toMatchObject({ missing: [2] })
    await put(upload, 2, partOf(2))
    expect((await up.complete(upload.id, { md5: md5(bytes) })).status).toBe(200)
  })

  it('consists of its own parts, whatever else was sent', async () => {
    const upload = await begun()
    for (const n of [1, 2, 3]) await put(upload, n, partOf(n))
    for (const id of ['000000', '000004', '050000', 'abcdef'])
      await ask('PUT', blockOf(upload, id), randomBytes(PART))
    expect((await up.look(upload.id)).value.received).toEqual([1, 2, 3])
    const used = await usedBytes()
    expect((await up.complete(upload.id)).value).toMatchObject({
      md5_checksum: md5(bytes),
      size: bytes.length,
    })
    expect(await usedBytes()).toBe(used + bytes.length)
  })

  it('is assembled by the service, even if its sender has assembled it differently', async () => {
    const upload = await begun()
    for (const n of [1, 2, 3]) await put(upload, n, partOf(n))
    const commit = await ask(
      'PUT',
      other(upload, { comp: 'blocklist' }),
      listOf(['000003', '000002', '000001', '000001']),
    )
    expect(commit.status).toBe(201)
    expect((await up.complete(upload.id)).value.md5_checksum).toBe(md5(bytes))
    expect(await downloaded(upload.filename)).toEqual(bytes)
  })

  it('accepts parts through the service, too', async () => {
    const upload = await begun()
    await put(upload, 2, randomBytes(PART))
    for (const n of [1, 2])
      expect((await up.part(upload.id, n, { bytes: partOf(n) })).status).toBe(200)
    await put(upload, 3, partOf(3))
    expect((await up.complete(upload.id, { md5: md5(bytes) })).status).toBe(200)
  })

  it('of an empty file has no addresses', async () => {
    const upload = await begun(up, 0)
    expect(upload.parts).toEqual([])
    expect((await up.complete(upload.id)).value).toMatchObject({
      size: 0,
      md5_checksum: md5(Buffer.alloc(0)),
    })
  })

  it('of 50,000 parts is signed at once', async () => {
    await t.limit({ maxFileSizeBytes: 100 * 1024 ** 3 })
    const start = performance.now()
    const upload = await begun(up, 50_000 * PART)
    expect(performance.now() - start).toBeLessThan(15_000)
    expect([upload.parts.length, new Set(upload.parts.map(({ url }) => url)).size]).toEqual([
      50_000, 50_000,
    ])
    const { code, msg } = await up.start({
      filename: 'more',
      size: 50_000 * PART + 1,
      direct: true,
    })
    expect([code, msg]).toEqual([
      'FILE_TOO_LARGE',
      expect.stringContaining(`up to ${50_000 * PART} bytes`),
    ])
    await up.abort(upload.id)
  })
})

describe('A direct upload that is completed in the background', () => {
  leavesNothing()

  /** Blocks the first read of a copy. */
  function whileReading() {
    let reads = 0
    let release = () => {}
    const released = new Promise<void>(resolve => {
      release = resolve
    })
    proxy.interfere = async passing => {
      if (storeRequest(passing) === 'read' && ++reads === 1) await released
    }
    return { reached: () => until(async () => reads > 0), release }
  }

  async function sent(by: Uploader): Promise<Direct> {
    const upload = await begun(by)
    for (const n of [1, 2, 3]) await put(upload, n, partOf(n))
    return upload
  }

  it.each(faces)(
    'contains the parts of its start, whatever is sent meanwhile, $face',
    async ({ front, by }) => {
      const mine = by(alice, garden)
      const upload = await sent(mine)
      const held = whileReading()
      expect(await mine.begin(upload.id, { md5: md5(bytes) })).toMatchObject({
        status: 202,
        value: { size: bytes.length, checked: 0 },
      })
      await held.reached()
      const blockBlob = { 'x-ms-blob-type': 'BlockBlob' }
      expect((await ask('PUT', other(upload), randomBytes(5000), blockBlob)).status).toBe(201)
      expect((await mine.outcome(upload.id)).status).toBe(202)
      held.release()
      await t.app.services.backgroundCompletions.idle()
      expect(await mine.outcome(upload.id)).toMatchObject({
        status: 200,
        value: { md5_checksum: md5(bytes), size: bytes.length },
      })
      if (!front) expect(await downloaded(upload.filename)).toEqual(bytes)
      await expectConsistent(t)
    },
  )

  it('can be resumed after the wrong bytes have arrived', async () => {
    const upload = await begun()
    for (const n of [1, 2, 3]) await put(upload, n, randomBytes(partOf(n).length))
    expect((await up.begin(upload.id, { md5: md5(bytes) }, 10)).code).toBe('CHECKSUM_MISMATCH')
    for (const n of [1, 2, 3]) await put(upload, n, partOf(n))
    expect((await up.begin(upload.id, { md5: md5(bytes) }, 10)).status).toBe(200)
  })

  it('is taken over from a dead instance with a new copy, and leaves no copy behind', async () => {
    const database = await newDatabase()
    const settings = {
      DATABASE_URL: database.url,
      SECRET_KEY: randomBytes(32).toString('base64url'),
      AZURE_STORAGE_CONNECTION_STRING: connectionString,
      AZURE_STORAGE_CONTAINER: 'two-instances',
      UPLOAD_PART_BYTES: String(PART),
    }
    const [first, second] = [await startApp(settings), await startApp(settings)]
    try {
      const bobs = restUploader(await first.signIn('bob'))
      const upload = await sent(bobs)
      const held = whileReading()
      await bobs.begin(upload.id, { md5: md5(bytes) })
      await held.reached()
      await first.app.db.run('UPDATE upload_session SET claim_until = 0 WHERE id = ?', [upload.id])
      await second.app.services.backgroundCompletions.idle()
      const said = await bobs.outcome(upload.id)
      expect([said.status, said.value.md5_checksum]).toEqual([200, md5(bytes)])
      held.release()
      await first.app.services.backgroundCompletions.idle()
      expect((await bobs.outcome(upload.id)).value).toEqual(said.value)
      await expectConsistent(first)
      await outlive(first)
      await expectConsistent(first)
      expect(await first.app.db.rows("SELECT id FROM blobs WHERE state <> 'live'")).toEqual([])
      expect([...first.failures(), ...second.failures()]).toEqual([])
    } finally {
      await Promise.all([first.stop(), second.stop()])
      await database.drop()
    }
  })
})

describe('A request to an address after the upload', () => {
  leavesNothing()

  const ways: [string, (upload: Direct) => Promise<number>][] = [
    ['another part', upload => put(upload, 1, randomBytes(PART))],
    [
      'another blob',
      async upload =>
        (await ask('PUT', other(upload), randomBytes(5000), { 'x-ms-blob-type': 'BlockBlob' }))
          .status,
    ],
    [
      'other parts, put together',
      async upload => {
        await put(upload, 1, randomBytes(3 * PART))
        return (await ask('PUT', other(upload, { comp: 'blocklist' }), listOf(['000001']))).status
      },
    ],
  ]

  it.each(ways)('changes neither the file nor the quota: %s', async (_what, send) => {
    const upload = await begun()
    for (const n of [1, 2, 3]) await put(upload, n, partOf(n))
    await up.complete(upload.id)
    const used = await usedBytes()
    expect(await send(upload)).toBe(201)
    expect(await downloaded(upload.filename)).toEqual(bytes)
    expect(await usedBytes()).toBe(used)
    await expectConsistent(t)
    expect((await up.complete(upload.id)).code).toBe('UPLOAD_NOT_FOUND')
    expect((await alice.rest('DELETE', `/api/files/delete?file=${upload.filename}`)).status).toBe(
      200,
    )
    expect(await usedBytes()).toBe(used - bytes.length)
  })

  it.each(ways)(
    'or after its abort is swept when the address has expired: %s',
    async (_what, send) => {
      const upload = await begun()
      await put(upload, 1, partOf(1))
      await up.abort(upload.id)
      await t.settle()
      expect(await send(upload)).toBe(201)
      await t.settle()
      const isThere = async () => {
        for await (const { key } of t.app.store.list()) if (key === upload.id) return true
        return false
      }
      expect(await isThere()).toBe(true)
      await outlive(t)
      expect(await isThere()).toBe(false)
    },
  )
})

describe('A sender who misuses the addresses', () => {
  leavesNothing()
  const blockBlob = { 'x-ms-blob-type': 'BlockBlob' }

  const ways: [string, (upload: Direct) => Promise<Response>][] = [
    ['an append blob', upload => ask('PUT', other(upload), '', { 'x-ms-blob-type': 'AppendBlob' })],
    [
      'an empty list of parts',
      upload => ask('PUT', other(upload, { comp: 'blocklist' }), listOf([])),
    ],
    [
      'a lease without an end',
      upload =>
        ask('PUT', other(upload, { comp: 'lease' }), '', {
          'x-ms-lease-action': 'acquire',
          'x-ms-lease-duration': '-1',
        }),
    ],
    [
      'snapshots, and a lease',
      async upload => {
        await ask(
          'PUT',
          other(upload, { comp: 'blocklist' }),
          listOf(['000001', '000002', '000003']),
        )
        await ask('PUT', other(upload, { comp: 'snapshot' }), '')
        return ask('PUT', other(upload, { comp: 'lease' }), '', {
          'x-ms-lease-action': 'acquire',
          'x-ms-lease-duration': '-1',
        })
      },
    ],
  ]

  it.each(ways)('gets an error instead of a file with %s, and can abort', async (_what, spoil) => {
    const upload = await begun()
    for (const n of [1, 2, 3]) await put(upload, n, partOf(n))
    expect((await spoil(upload)).status).toBe(201)
    expect((await up.look(upload.id)).status).toBe(200)
    expect(await up.complete(upload.id)).toMatchObject({ status: 400, code: 'UPLOAD_INCOMPLETE' })
    expect([200, 400]).toContain((await up.part(upload.id, 1, { bytes: partOf(1) })).status)
    expect((await up.abort(upload.id)).status).toBe(200)
    await t.settle()
  })

  it('and uses other block names, cannot send the right parts any more', async () => {
    const upload = await begun()
    expect((await ask('PUT', blockOf(upload, 'x'), partOf(1))).status).toBe(201)
    expect(await put(upload, 1, partOf(1))).toBe(400)
    expect(await up.part(upload.id, 1, { bytes: partOf(1) })).toMatchObject({
      status: 400,
      code: 'UPLOAD_INCOMPLETE',
    })
    expect((await up.complete(upload.id)).code).toBe('UPLOAD_INCOMPLETE')
    expect((await up.abort(upload.id)).status).toBe(200)
  })

  it.each([
    ['copy', 'CHECKSUM_MISMATCH'],
    ['look', undefined],
    ['read', undefined],
  ])('during a completion, before it reaches "%s": %s', async (step, code) => {
    const upload = await begun()
    for (const n of [1, 2, 3]) await put(upload, n, partOf(n))
    let done = false
    proxy.interfere = async passing => {
      if (done || storeRequest(passing) !== step) return
      done = true
      expect((await ask('PUT', other(upload), randomBytes(100 * PART), blockBlob)).status).toBe(201)
    }
    expect((await up.complete(upload.id)).code).toBe(code)
    if (!code) expect(await downloaded(upload.filename)).toEqual(bytes)
    await expectConsistent(t)
  })
})

describe('The CORS rule', () => {
  const dir = mkdtempSync(join(tmpdir(), 'satchel-cors-'))
  let azurite: Azurite
  let watched: HttpProxy
  let settings: Record<string, string>
  let service: BlobServiceClient
  const allowed = 'https://app.example.com'
  const foreign = {
    allowedOrigins: 'https://theirs.example.com',
    allowedMethods: 'GET',
    allowedHeaders: '*',
    exposedHeaders: '',
    maxAgeInSeconds: 5,
  }
  let written = 0
  let deaf = false

  beforeAll(async () => {
    azurite = await startAzurite({ dir })
    const port = Number(/:(\d+)\//.exec(azurite.connectionString)?.[1])
    watched = await startHttpProxy(port)
    watched.interfere = passing => {
      if (storeRequest(passing) !== 'describe') return
      if (deaf) throw new Error('The account takes no rules.')
      written++
    }
    const connectionString = azurite.connectionString.replace(`:${port}/`, `:${watched.port}/`)
    settings = {
      AZURE_STORAGE_CONNECTION_STRING: connectionString,
      AZURE_STORAGE_CONTAINER: 'files',
      BLOB_CORS: 'true',
      CORS_ORIGINS: allowed,
      UPLOAD_PART_BYTES: String(PART),
    }
    service = BlobServiceClient.fromConnectionString(azurite.connectionString)
  })
  beforeEach(async () => {
    await service.setProperties({ cors: [foreign] })
    written = 0
  })
  afterAll(async () => {
    await watched.close()
    await azurite.stop()
    rmSync(dir, { recursive: true, force: true })
  })

  const originsOf = async () =>
    ((await service.getProperties()).cors ?? []).map(rule => rule.allowedOrigins)

  async function started<T>(
    more: Record<string, string>,
    work: (app: TestApp) => Promise<T>,
  ): Promise<T> {
    const app = await startApp({ ...settings, ...more })
    try {
      return await work(app)
    } finally {
      await app.stop()
    }
  }

  it('permits only pages of this service and of allowed origins to send parts', async () => {
    const own = await started({}, async app => {
      const person = restUploader(await app.signIn('alice'))
      const upload = await begun(person)
      const preflight = async (origin: string, headers = 'content-md5,content-type') => {
        const { status, headers: said } = await ask(
          'OPTIONS',
          upload.parts[0]?.url ?? '',
          undefined,
          {
            origin,
            'access-control-request-method': 'PUT',
            'access-control-request-headers': headers,
          },
        )
        return [status, said.get('access-control-allow-origin')]
      }
      expect(await preflight(allowed)).toEqual([200, allowed])
      expect(await preflight(app.url)).toEqual([200, app.url])
      for (const origin of [
        'https://evil.example.com',
        `${app.url}1`,
        'https://theirs.example.com',
        'null',
      ])
        expect([origin, ...(await preflight(origin))]).toEqual([origin, 403, null])
      expect((await preflight(allowed, 'x-other'))[0]).toBe(403)
      const sent = await ask('PUT', upload.parts[0]?.url ?? '', partOf(1), { origin: allowed })
      expect([sent.status, sent.headers.get('access-control-allow-origin')]).toEqual([201, allowed])
      return app.url
    })
    expect(await originsOf()).toEqual([foreign.allowedOrigins, `${own},${allowed}`])
  })

  it('replaces its own earlier version, and leaves other rules alone', async () => {
    const address = { PUBLIC_URL: 'http://localhost:4711' }
    for (let round = 0; round < 2; round++) await started(address, async () => {})
    expect(written).toBe(1)
    await started({ ...address, CORS_ORIGINS: '' }, async () => {})
    expect(await originsOf()).toEqual([foreign.allowedOrigins, 'http://localhost:4711'])
    await started({ ...address, AZURE_STORAGE_CONTAINER: 'others' }, async () => {})
    expect(await originsOf()).toEqual([
      foreign.allowedOrigins,
      'http://localhost:4711',
      `http://localhost:4711,${allowed}`,
    ])
    const [kept] = (await service.getProperties()).cors ?? []
    expect(kept).toEqual(foreign)
    expect(written).toBe(3)
  })

  it('is not written with BLOB_CORS=false, and the service starts without it', async () => {
    await started({ BLOB_CORS: 'false' }, async () => {})
    deaf = true
    await started({}, async app => {
      expect((await app.anonymous.rest('GET', '/readyz')).status).toBe(200)
      expect(app.logs()).toMatch(/"level":40.*could not write the CORS rule/)
    })
    expect(await originsOf()).toEqual([foreign.allowedOrigins])
  })
})
