import { randomBytes, randomInt, randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { request } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import tls from 'node:tls'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { Unavailable } from '../../../src/runtime/errors.ts'
import { type AzureOptions, createAzureStore } from '../../../src/storage/azure.ts'
import type { BlobStore } from '../../../src/storage/store.ts'
import { killUploads } from '../../support/kill-uploads.ts'
import { openSite } from '../../support/upload-site.ts'
import { describeContract, pieces, put } from '../contract.ts'
import { type AzureWorld, startAzureWorld } from './identity-world.ts'

const MiB = 1024 * 1024
let world: AzureWorld
const authorities = tls.getCACertificates('default')

function within(env: Record<string, string>): void {
  for (const name of Object.keys(process.env))
    if (/^(AZURE|IDENTITY)_/.test(name)) delete process.env[name]
  Object.assign(process.env, env)
}

const newStore = async (more: Partial<AzureOptions> = {}) => {
  const container = `t${randomUUID()}`
  const made = createAzureStore({ accountUrl: world.accountUrl, container, publicUrl: '', ...more })
  await made.prepare()
  return made
}
const bytesOf = async (of: BlobStore, key: string) =>
  Buffer.concat(await (await of.open(key)).toArray())
const right = { contentType: 'text/plain', disposition: '', seconds: 60 }

/** A `fetch` that trusts the authorities with which the process began. */
async function ask(url: string, method = 'GET', body?: Uint8Array) {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; text: string }>()
  const sent = request(
    url,
    { method, headers: body ? { 'content-length': body.length } : {} },
    async answer => {
      const text = String(Buffer.concat(await answer.toArray()))
      resolve({ status: answer.statusCode ?? 0, text })
    },
  )
  sent.on('error', reject)
  sent.end(body)
  return promise
}

beforeAll(async () => {
  world = await startAzureWorld()
  tls.setDefaultCACertificates([...authorities, readFileSync(world.cert, 'utf8')])
  // For client programs that send parts directly.
  process.env.NODE_EXTRA_CA_CERTS = world.cert
  within(world.managed)
})
afterAll(async () => {
  within({})
  delete process.env.NODE_EXTRA_CA_CERTS
  tls.setDefaultCACertificates(authorities)
  await world.close()
})

describe('a store with constantly renewed tokens', () => {
  let store: BlobStore
  beforeAll(async () => {
    store = await newStore()
  })
  describeContract(async () => ({
    store,
    forgetsNothing: true,
    another: () => newStore(),
    leftovers: async key =>
      (await store.look(key)) ? Number.POSITIVE_INFINITY : (await store.partsOf(key)).size,
  }))
})

it('sends and reads a large file while tokens and delegation keys are renewed', async () => {
  const store = await newStore({ delegation: { lifeMs: 4000, refreshMs: 1000 } })
  const bytes = randomBytes(40 * MiB)
  const keys = new Set<string>()
  const noteKey = async () => {
    const signed = await store.addresses?.signUrl('large', right)
    const key = new URL(signed?.url ?? '').searchParams
    expect(Date.parse(key.get('se') ?? '')).toBeLessThanOrEqual(Date.parse(key.get('ske') ?? ''))
    keys.add(key.get('ske') ?? '')
  }
  world.asked = []
  world.lifeSeconds = 8
  async function* slowly() {
    for (let at = 0; at < bytes.length; at += MiB) {
      yield bytes.subarray(at, at + MiB)
      await sleep(250)
      await noteKey()
    }
  }
  await put(store, 'large', slowly())
  const read: Uint8Array[] = []
  for await (const chunk of await store.open('large')) {
    read.push(chunk)
    await sleep(4)
  }
  expect(bytes.equals(Buffer.concat(read))).toBe(true)
  world.lifeSeconds = 30
  expect(world.asked.length).toBeGreaterThan(2)
  expect(keys.size).toBeGreaterThan(2)
})

describe('a signed URL', () => {
  it('is signed with a user delegation key, and only works over https', async () => {
    const store = await newStore()
    await put(store, 'signed', pieces(Buffer.from('0123456789')))
    const signed = await store.addresses?.signUrl('signed', right)
    const url = signed?.url ?? ''
    expect(Object.fromEntries(new URL(url).searchParams)).toMatchObject({
      spr: 'https',
      sp: 'r',
      skoid: expect.any(String),
    })
    expect(await ask(url)).toEqual({ status: 200, text: '0123456789' })
    expect((await ask(url, 'DELETE')).status).toBe(403)
    expect((await ask(url.replace('/signed?', '/other?'))).status).toBe(403)
    const left = (signed?.expiresAt ?? 0) - Date.now()
    expect([left > 55_000, left < 62_000]).toEqual([true, true])
  })

  it('lets a client send parts for a day, signed with a key that lives longer', async () => {
    const store = await newStore()
    const until = Date.now() + 86_400_000
    const [first = '', second = ''] = (await store.addresses?.signParts('parts', 2, until)) ?? []
    const fields = new URL(first).searchParams
    expect(Date.parse(fields.get('se') ?? '')).toBeGreaterThan(until - 2000)
    expect(Date.parse(fields.get('ske') ?? '')).toBeGreaterThan(until + 5 * 86_400_000)
    expect((await ask(second, 'PUT', Buffer.from('56789'))).status).toBe(201)
    expect((await ask(first, 'PUT', Buffer.from('01234'))).status).toBe(201)
    await store.commitParts('parts', 2, { contentType: 'text/plain' })
    expect(String(await bytesOf(store, 'parts'))).toBe('0123456789')
    await store.copy('parts', 'copied')
    expect(String(await bytesOf(store, 'copied'))).toBe('0123456789')
  })
})

describe('the identity', () => {
  it.each(['secret', 'workload'] as const)('can be a %s at an authority', async kind => {
    within(world[kind])
    try {
      const store = await newStore({ ownAuthority: true })
      await put(store, 'blob', pieces(Buffer.from('bytes')))
      expect(String(await bytesOf(store, 'blob'))).toBe('bytes')
    } finally {
      within(world.managed)
    }
  })

  it('causes an error with its reason while no tokens are issued, and recovers', async () => {
    within({ ...world.secret, AZURE_CLIENT_SECRET: 'a-wrong-one' })
    try {
      const error = await newStore({ ownAuthority: true }).catch(e => e)
      expect(error).toBeInstanceOf(Unavailable)
      expect(error.cause?.message ?? error.originalError?.message).toMatch(
        /No token .*Nobody knows/,
      )
      expect(JSON.stringify([error, error.stack])).not.toContain('a-wrong-one')
    } finally {
      within(world.managed)
    }
    await (await newStore()).ping()
  })
})

it('loses no upload in kills of the service while its tokens are renewed', async () => {
  const site = await openSite(
    {
      databaseUrl: '',
      store: {
        AZURE_STORAGE_ACCOUNT_URL: world.accountUrl,
        AZURE_STORAGE_CONTAINER: `t${randomBytes(8).toString('hex')}`,
        NODE_EXTRA_CA_CERTS: world.cert,
        ...world.managed,
      },
    },
    { UPLOAD_PART_BYTES: String(256 * 1024), SHUTDOWN_SECONDS: '2' },
  )
  try {
    world.asked = []
    await killUploads({
      site,
      rounds: 3,
      size: 30 * 256 * 1024,
      partBytes: 256 * 1024,
      seed: randomInt(2 ** 31),
    })
    expect(world.asked.length).toBeGreaterThan(3)
    await site.expectHealed(30_000)
  } finally {
    await site.close()
  }
})
