import { randomBytes, randomInt, randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { Unavailable } from '../../../src/runtime/errors.ts'
import { createS3Store, type S3Options } from '../../../src/storage/s3.ts'
import { connect } from '../../../src/storage/s3-client.ts'
import { unfinishedOf } from '../../../src/storage/s3-listing.ts'
import type { BlobStore } from '../../../src/storage/store.ts'
import { elementsOf } from '../../../src/storage/xml.ts'
import { type HttpProxy, startHttpProxy } from '../../support/http-proxy.ts'
import { killUploads } from '../../support/kill-uploads.ts'
import { openSite } from '../../support/upload-site.ts'
import { describeContract, pieces, put } from '../contract.ts'
import { containerOf, type KeySource, keyIdOf, startKeySource } from './identity-world.ts'
import { serverOf } from './server.ts'

const MiB = 1024 * 1024
const server = serverOf()
const dir = mkdtempSync(join(tmpdir(), 'satchel-aws-'))

let source: KeySource
/**
 * The proxy before the store. It rejects expired keys, which the store of the tests does only
 * later.
 */
let proxy: HttpProxy
let used: { id: string; late: number; path: string }[] = []

/** The environment variables from which the AWS SDK reads an identity. */
function within(env: Record<string, string>): void {
  for (const name of Object.keys(process.env)) if (name.startsWith('AWS_')) delete process.env[name]
  const none = { AWS_CONFIG_FILE: '/dev/null', AWS_SHARED_CREDENTIALS_FILE: '/dev/null' }
  Object.assign(process.env, none, env)
}

const optionsOf = (more: Partial<S3Options> = {}): S3Options => ({
  endpoint: proxy.url,
  accessKeyId: '',
  secretAccessKey: '',
  bucket: `t${randomUUID()}`,
  region: 'us-east-1',
  pathStyle: true,
  publicUrl: '',
  ...more,
})
const newStore = async (more: Partial<S3Options> = {}) => {
  const made = createS3Store(optionsOf(more))
  await made.prepare()
  return made
}
const bytesOf = async (of: BlobStore, key: string) =>
  Buffer.concat(await (await of.open(key)).toArray())
const right = { contentType: 'text/plain', disposition: '', seconds: 60 }

beforeAll(async () => {
  source = await startKeySource(server)
  proxy = await startHttpProxy(Number(new URL(server.endpoint).port))
  proxy.interfere = ({ path, headers }) => {
    const id = keyIdOf(headers.authorization ?? path)
    used.push({ id, late: Date.now() - (source.ends.get(id) ?? Number.NaN), path })
  }
  within(containerOf(source))
})
afterAll(async () => {
  within({})
  await proxy.close()
  await source.close()
  rmSync(dir, { recursive: true, force: true })
})

describe('a store with constantly renewed keys', () => {
  const bucket = `t${randomUUID()}`
  let store: BlobStore
  beforeAll(async () => {
    store = await newStore({ bucket })
  })

  describeContract(async () => ({
    store,
    blockSize: 8 * MiB,
    another: () => newStore(),
    async leftovers(key) {
      if (await store.look(key)) return Number.POSITIVE_INFINITY
      const client = connect(optionsOf({ bucket }))
      const { signal } = new AbortController()
      let count = 0
      for await (const { object, uploadId } of unfinishedOf(client, `blobs/${key}`)) {
        if (object !== `blobs/${key}`) continue
        const { body } = await client.ask({ method: 'GET', object, query: { uploadId } }, signal)
        count += elementsOf(body, 'Part').length
      }
      return count
    },
  }))

  it('has used no expired key', () => {
    expect(new Set(used.map(({ id }) => id)).size).toBeGreaterThan(2)
    // On a busy machine, a request that was signed in time may arrive a moment late.
    expect(used.filter(({ late }) => !(late < 1000))).toEqual([])
  })
})

describe('a large file', () => {
  const bytes = randomBytes(40 * MiB)

  it('can be sent and read while the key is renewed', async () => {
    const store = await newStore()
    used = []
    async function* slowly() {
      for (let at = 0; at < bytes.length; at += MiB) {
        yield bytes.subarray(at, at + MiB)
        await sleep(200)
      }
    }
    await put(store, 'large', slowly())
    const keys = new Set(used.map(({ id }) => id))
    expect(keys.size).toBeGreaterThan(2)
    const read: Uint8Array[] = []
    for await (const chunk of await store.open('large')) {
      read.push(chunk)
      await sleep(5)
    }
    expect(bytes.equals(Buffer.concat(read))).toBe(true)
    for (let part = 1; part <= 4; part++) {
      const some = bytes.subarray((part - 1) * MiB, part * MiB)
      await store.stagePart('parts', part, pieces(some), { size: MiB, offset: (part - 1) * MiB })
      await sleep(1000)
    }
    await store.commitParts('parts', 4, { contentType: 'text/plain' })
    expect(bytes.subarray(0, 4 * MiB).equals(await bytesOf(store, 'parts'))).toBe(true)
    expect(used.filter(({ late }) => !(late < 0))).toEqual([])
  })
})

describe('a signed URL', () => {
  it('contains the session token, and expires with its key', async () => {
    const store = await newStore()
    await put(store, 'signed', pieces(Buffer.from('0123456789')))
    for (const [seconds, life] of [
      [1, 1],
      [60, 3],
    ] as const) {
      const signed = await store.addresses?.signUrl('signed', { ...right, seconds })
      const url = new URL(signed?.url ?? '')
      const end = source.ends.get(keyIdOf(url.href)) ?? 0
      expect(url.searchParams.get('X-Amz-Security-Token')).toMatch(/.{100}/)
      expect(Number(url.searchParams.get('X-Amz-Expires'))).toBeLessThanOrEqual(life)
      expect(signed?.expiresAt).toBeLessThanOrEqual(end)
      expect(await (await fetch(url)).text()).toBe('0123456789')
      url.searchParams.delete('X-Amz-Security-Token')
      expect((await fetch(url)).status).toBe(403)
    }
  })

  it('for a part expires with its key, and a new one can be requested', async () => {
    const store = await newStore()
    const bytes = randomBytes(100)
    const urls = async () =>
      (await store.addresses?.signParts('direct', 2, Date.now() + 86_400_000)) ?? []
    const [first = ''] = await urls()
    expect(Number(new URL(first).searchParams.get('X-Amz-Expires'))).toBeLessThanOrEqual(3)
    const send = (url: string, body: Uint8Array) =>
      fetch(url, { method: 'PUT', body: body as Uint8Array<ArrayBuffer> })
    expect((await send(first, bytes.subarray(0, 50))).status).toBe(200)
    await sleep(4000)
    expect((await send(first, bytes)).status).toBe(403)
    const [, second = ''] = await urls()
    expect((await send(second, bytes.subarray(50))).status).toBe(200)
    await store.commitParts('direct', 2, { contentType: 'text/plain' })
    expect(bytes.equals(await bytesOf(store, 'direct'))).toBe(true)
  })
})

describe('the identity', () => {
  const works = async (more: Partial<S3Options> = {}) => {
    const store = await newStore(more)
    await put(store, 'blob', pieces(Buffer.from('bytes')))
    expect(String(await bytesOf(store, 'blob'))).toBe('bytes')
  }
  const tokens = join(dir, 'token')
  const profiles = join(dir, 'config')

  it.each<[string, () => Record<string, string>]>([
    [
      'the metadata service of EC2, version 2',
      () => ({ AWS_EC2_METADATA_SERVICE_ENDPOINT: source.url }),
    ],
    [
      'a web identity (IRSA)',
      () => {
        writeFileSync(tokens, 'a-token')
        return {
          AWS_WEB_IDENTITY_TOKEN_FILE: tokens,
          AWS_ROLE_ARN: 'arn:aws:iam::123456789012:role/files',
          AWS_ENDPOINT_URL_STS: source.url,
        }
      },
    ],
  ])('comes from %s', async (_, env) => {
    within(env())
    try {
      source.asked = []
      await works()
      expect(source.asked.length).toBeGreaterThan(0)
    } finally {
      within(containerOf(source))
    }
  })

  it('comes from a profile', async () => {
    const { accessKeyId, secretAccessKey } = server
    writeFileSync(
      profiles,
      `[profile files]\naws_access_key_id = ${accessKeyId}\naws_secret_access_key = ${secretAccessKey}\n`,
    )
    within({ AWS_CONFIG_FILE: profiles })
    try {
      await works({ profile: 'files' })
    } finally {
      within(containerOf(source))
    }
  })

  it('is used until it expires while the source is down, then causes errors, and recovers', async () => {
    const store = await newStore()
    source.isDown = true
    try {
      await store.ping()
      await sleep(3500)
      const error = await store.look('blob').catch(e => e)
      expect(error).toBeInstanceOf(Unavailable)
      await expect(store.addresses?.signUrl('blob', right)).rejects.toThrow(Unavailable)
    } finally {
      source.isDown = false
    }
    await store.ping()
  })

  it('is fetched again when the store refuses a key before its expiry', async () => {
    source.lifeMs = 600_000
    const refused = new Set<string>()
    const { interfere } = proxy
    try {
      const store = await newStore()
      refused.add(keyIdOf((await store.addresses?.signUrl('a', right))?.url ?? ''))
      proxy.interfere = passing => {
        // The store does not know this key, as if it had been revoked.
        if (refused.has(keyIdOf(passing.headers.authorization ?? '')))
          passing.headers.authorization = passing.headers.authorization?.replace(
            /Credential=[^/]+/,
            'Credential=REVOKED',
          )
      }
      await put(store, 'blob', pieces(Buffer.from('bytes')))
      expect(await store.look('blob')).toEqual({ size: 5 })
    } finally {
      source.lifeMs = 3000
      proxy.interfere = interfere
    }
  })
})

it('loses no upload in kills of the service while its keys are renewed', async () => {
  const site = await openSite(
    {
      databaseUrl: '',
      store: {
        S3_BUCKET: `t${randomBytes(8).toString('hex')}`,
        S3_ENDPOINT: proxy.url,
        ...containerOf(source),
      },
    },
    { UPLOAD_PART_BYTES: String(256 * 1024), SHUTDOWN_SECONDS: '2' },
  )
  try {
    const before = source.ends.size
    await killUploads({
      site,
      rounds: 3,
      size: 30 * 256 * 1024,
      partBytes: 256 * 1024,
      seed: randomInt(2 ** 31),
    })
    expect(source.ends.size - before).toBeGreaterThan(3)
    await site.expectHealed()
  } finally {
    await site.close()
  }
})
