import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { newDatabase, type Person, rest, startApp, type TestApp } from '../harness.ts'

const PASSWORD = 'open sesame'
let database: Awaited<ReturnType<typeof newDatabase>>
const apps: TestApp[] = []
let alice: Person

beforeAll(async () => {
  database = await newDatabase()
  const settings = {
    TRUST_PROXY: 'loopback',
    DATABASE_URL: database.url,
    SECRET_KEY: randomBytes(32).toString('base64url'),
    REDIS_URL: process.env.TEST_REDIS_URL ?? '',
  }
  apps.push(await startApp(settings))
  // Without Redis, instances count for themselves.
  if (settings.REDIS_URL) apps.push(await startApp(settings))
  alice = await first().signIn('alice')
  await alice.upload('a.txt', 'hello')
})
afterAll(async () => {
  for (const app of apps) await app.stop()
  await database.drop()
})

function first(): TestApp {
  const [app] = apps
  if (!app) throw new Error('no instance')
  return app
}

async function protectedLink(): Promise<string> {
  const json = { object: 'a.txt', password: PASSWORD }
  return (await alice.rest('POST', '/api/files/quick_share', { json })).response.sharing_token
}

/** One guess at a link, by another door each time. Answers the code of the refusal; '' when the password is right. */
async function guess(token: string, address: string, password: string, i = 0): Promise<string> {
  const { url } = apps[i % apps.length] ?? first()
  const from = { 'x-forwarded-for': address }
  if (i % 3 === 0) {
    const answer = await rest(url, 'GET', `/api/d/${token}`, { headers: { ...from, 'x-share-password': password } })
    return answer.response?.code ?? ''
  }
  if (i % 3 === 1) {
    const answer = await rest(url, 'POST', `/api/share/resolve/${token}`, { headers: from, json: { password } })
    return answer.response?.code ?? ''
  }
  const query = 'mutation ($input: ResolveShareInput!) { resolveShare(input: $input) { url } }'
  const answer = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { ...from, 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify({ query, variables: { input: { token, password } } }),
  })
  const { errors } = (await answer.json()) as { errors?: { extensions: { code: string } }[] }
  return errors?.[0]?.extensions.code ?? ''
}

const counted = (codes: string[]) => {
  const counts: Record<string, number> = {}
  for (const code of codes) counts[code] = (counts[code] ?? 0) + 1
  return counts
}

/** How long health checks took while something else went on: nine of ten were faster, in milliseconds. */
async function healthDuring<T>(work: () => Promise<T>): Promise<{ health: number; value: T }> {
  let over = false
  const took: number[] = []
  const watching = (async () => {
    while (!over) {
      const started = performance.now()
      await fetch(`${first().url}/healthz`)
      took.push(performance.now() - started)
      await sleep(20)
    }
  })()
  const value = await work().finally(() => {
    over = true
  })
  await watching
  return { health: took.sort((x, y) => x - y)[Math.floor(took.length * 0.9)] ?? 0, value }
}

describe('Guessing the password of a link', () => {
  it.each([
    ['400 /64 of one /48', (i: number) => `2001:db8:77:${(i * 160).toString(16)}::1`],
    ['a whole /24', (i: number) => `203.0.113.${i % 256}`],
  ])(
    'from %s is checked a few times, on all instances and doors together',
    async (_what, addressOf) => {
      const token = await protectedLink()
      const codes: string[] = []
      for (let i = 0; i < 400; i += 100)
        codes.push(
          ...(await Promise.all(Array.from({ length: 100 }, (_, n) => guess(token, addressOf(i + n), 'wrong', i + n)))),
        )
      const counts = counted(codes)
      expect(counts.WRONG_PASSWORD).toBeGreaterThanOrEqual(12)
      // Beyond 40 the block is refused, but for one way in a minute.
      expect(counts.WRONG_PASSWORD).toBeLessThanOrEqual(44)
      expect(counts.TOO_MANY_ATTEMPTS).toBe(400 - (counts.WRONG_PASSWORD ?? 0))
      // The honest visitor from elsewhere is in, on each instance.
      for (const i of [0, 1, 2]) expect(await guess(token, `198.51.100.${i}`, PASSWORD, i)).toBe('')
    },
    120_000,
  )

  it('from 600 networks at once keeps no visitor out who knows it, and the service answers', async () => {
    const token = await protectedLink()
    const other = await protectedLink()
    const { health, value } = await healthDuring(async () => {
      const crowd = Array.from({ length: 600 }, (_, i) => guess(token, `10.${i >> 8}.${i & 255}.1`, 'wrong', i))
      await sleep(200)
      const honest = await Promise.all([
        guess(token, '198.51.100.77', PASSWORD, 0),
        guess(token, '2001:db8:99::1', PASSWORD, 1),
        guess(other, '198.51.100.78', PASSWORD, 2),
      ])
      return { honest, crowd: counted(await Promise.all(crowd)) }
    })
    expect(value.honest).toEqual(['', '', ''])
    expect(value.crowd['']).toBeUndefined()
    // The crowd sends its requests from the process of the service, so the burst of its beginning is left out.
    expect(health).toBeLessThan(1500)
    // And afterwards, too.
    expect(await guess(token, '198.51.100.79', PASSWORD, 0)).toBe('')
  }, 120_000)
})

it('Forwarded addresses from a peer that is not trusted are warned of, once', async () => {
  const t = await startApp()
  try {
    const warnings = () =>
      t
        .logs()
        .split('\n')
        .filter(line => line.includes('TRUST_PROXY'))
    await t.anonymous.rest('GET', '/api/share/info/x')
    expect(warnings()).toEqual([])
    for (const name of ['x-forwarded-for', 'forwarded'])
      await t.anonymous.rest('GET', '/api/share/info/x', { headers: { [name]: '198.51.100.1' } })
    expect(warnings()).toHaveLength(1)
    expect(warnings()[0]).toContain('"level":40')
  } finally {
    await t.stop()
  }
  expect(first().logs()).not.toContain('TRUST_PROXY')
})
