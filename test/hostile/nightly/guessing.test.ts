import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { attack, expectHealthy, watchHealth } from '../../support/attackers.ts'
import type { BuiltService } from '../../support/built-service.ts'
import { wholeGuessWindow } from '../../support/guess-window.ts'
import { type Person, rest, startApp } from '../../support/harness.ts'
import { type ServiceProcess, startServiceProcess } from '../../support/service-process.ts'

const PASSWORD = 'open sesame'
/** Several times the 40 guesses that one block of addresses may make. */
const GUESSES = 120
/**
 * Each network has one guess checked. Together they are more than the service can check within a
 * second.
 */
const NETWORKS = 600
let service: ServiceProcess
const instances: BuiltService[] = []
let alice: Person

beforeAll(async () => {
  const redis = process.env.TEST_REDIS_URL ?? ''
  service = await startServiceProcess({
    TRUST_PROXY: 'loopback',
    SECRET_KEY: randomBytes(32).toString('base64url'),
    REDIS_URL: redis,
    RATE_LINKS: '1000000',
    RATE_PROTECTED_LINKS: '1000000',
  })
  instances.push(service)
  // Without Redis, instances count separately.
  if (redis) instances.push(await service.another())
  ;[alice] = (await service.signIn('alice')) as [Person]
  await alice.upload('a.txt', 'hello')
})
afterAll(() => service.stop())

async function protectedLink(): Promise<string> {
  const json = { object: 'a.txt', password: PASSWORD }
  return (await alice.rest('POST', '/api/files/quick_share', { json })).response.sharing_token
}

/** One guess at a link. The interface changes each time. */
function guessing(token: string, address: string, password: string, i = 0) {
  const { url } = instances[i % instances.length] ?? service
  const from = { 'x-forwarded-for': address }
  if (i % 3 === 0)
    return {
      url: `${url}/api/d/${token}`,
      method: 'GET',
      headers: { ...from, 'x-share-password': password },
    }
  const headers = { ...from, 'content-type': 'application/json', accept: 'application/json' }
  if (i % 3 === 1)
    return {
      url: `${url}/api/share/resolve/${token}`,
      method: 'POST',
      headers,
      body: JSON.stringify({ password }),
    }
  const query =
    'mutation ($input: OpenShareInput!) { openShare(input: $input) { download { url } } }'
  const body = JSON.stringify({ query, variables: { input: { token, password } } })
  return { url: `${url}/graphql`, method: 'POST', headers, body }
}

/** The code of a refusal, or '' if the password is right. */
const codeOf = ({ status, text }: { status: number; text: string }): string =>
  status === 0 ? 'BROKEN' : (/"code":"(\w+)"/.exec(text)?.[1] ?? '')

async function guess(token: string, address: string, password: string, i = 0): Promise<string> {
  const { url, ...request } = guessing(token, address, password, i)
  const { origin, pathname } = new URL(url)
  if (pathname !== '/graphql') return codeOf(await rest(origin, request.method, pathname, request))
  const answer = await fetch(url, { ...request, redirect: 'manual' })
  return codeOf({ status: answer.status, text: await answer.text() })
}

const counted = (codes: string[]) => {
  const counts: Record<string, number> = {}
  for (const code of codes) counts[code] = (counts[code] ?? 0) + 1
  return counts
}

describe('A guess at the password of a link', () => {
  beforeEach(wholeGuessWindow)

  it.each([
    [`${GUESSES} /64 of one /48`, (i: number) => `2001:db8:77:${(i * 320).toString(16)}::1`],
    ['a whole /24', (i: number) => `203.0.113.${i % 256}`],
  ])(
    'from %s is checked only a few times, across all instances and interfaces',
    async (_what, addressOf) => {
      const token = await protectedLink()
      const codes: string[] = []
      for (let i = 0; i < GUESSES; i += 60)
        codes.push(
          ...(await Promise.all(
            Array.from({ length: 60 }, (_, n) => guess(token, addressOf(i + n), 'wrong', i + n)),
          )),
        )
      const counts = counted(codes)
      expect(counts.WRONG_PASSWORD).toBeGreaterThanOrEqual(12)
      // Beyond 40 guesses the block is refused, except for one check a minute.
      expect(counts.WRONG_PASSWORD).toBeLessThanOrEqual(44)
      expect(counts.TOO_MANY_ATTEMPTS).toBe(GUESSES - (counts.WRONG_PASSWORD ?? 0))
      // The honest visitor from elsewhere gets in on each instance.
      for (const i of [0, 1, 2]) expect(await guess(token, `198.51.100.${i}`, PASSWORD, i)).toBe('')
    },
    120_000,
  )

  it(`from ${NETWORKS} networks at once locks out no visitor with the password, and the service responds`, async () => {
    const token = await protectedLink()
    const other = await protectedLink()
    const healthy = watchHealth(service)
    const crowd = attack(
      Array.from({ length: NETWORKS }, (_, i) =>
        guessing(token, `10.${i >> 8}.${i & 255}.1`, 'wrong', i),
      ),
    )
    await sleep(500)
    const honest = await Promise.all([
      guess(token, '198.51.100.77', PASSWORD, 0),
      guess(token, '2001:db8:99::1', PASSWORD, 1),
      guess(other, '198.51.100.78', PASSWORD, 2),
    ])
    const counts = counted((await crowd).map(codeOf))
    const health = await healthy()
    expect(honest).toEqual(['', '', ''])
    expect([counts[''], counts.BROKEN]).toEqual([undefined, undefined])
    expectHealthy(health)
    // Also after the attack.
    expect(await guess(token, '198.51.100.79', PASSWORD, 0)).toBe('')
  })
})

it('A warning is logged once about forwarded addresses from an untrusted peer', async () => {
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
  expect(service.said()).not.toContain('TRUST_PROXY')
})
