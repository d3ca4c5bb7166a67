import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { attack, expectHealthy, watchHealth } from '../../support/attackers.ts'
import { type Person, rest } from '../../support/harness.ts'
import { type ServiceProcess, startServiceProcess } from '../../support/service-process.ts'

const PASSWORD = 'open sesame'
/** More than the queue of password hashes allows per caller: src/access/passwords.ts. */
const MANY = 200
let service: ServiceProcess
let alice: Person
let mallory: Person

beforeAll(async () => {
  service = await startServiceProcess({
    TRUST_PROXY: 'loopback',
    RATE_LINKS: '1000000',
    RATE_PROTECTED_LINKS: '1000000',
  })
  ;[alice, mallory] = (await service.signIn('alice', 'mallory')) as [Person, Person]
  for (const person of [alice, mallory]) await person.upload('a.txt', 'hello')
})
afterAll(() => service.stop())

const json = { object: 'a.txt', password: PASSWORD }
const protect = (person: Person) => person.rest('POST', '/api/files/quick_share', { json })
const tokenOf = async (person: Person): Promise<string> =>
  (await protect(person)).response.sharing_token
const headers = { 'content-type': 'application/json' }
const opening = (token: string, address: string) => ({
  url: `${service.url}/api/share/resolve/${token}`,
  method: 'POST',
  headers: { ...headers, 'x-forwarded-for': address },
  body: JSON.stringify({ password: PASSWORD }),
})
const open = (token: string, address: string) =>
  rest(service.url, 'POST', `/api/share/resolve/${token}`, {
    json: { password: PASSWORD },
    headers: { 'x-forwarded-for': address },
  })

/**
 * Runs an attack, and expects that an honest sharer and her visitors are served, and that the
 * service responds.
 */
async function heldUpNobody(requests: Parameters<typeof attack>[0]) {
  const links = await Promise.all(Array.from({ length: 4 }, () => tokenOf(alice)))
  const healthy = watchHealth(service)
  const attacking = attack(requests)
  await sleep(500)
  const statuses: number[] = []
  for (let round = 0; round < 2; round++) {
    const made = protect(alice)
    const opened = links.map((token, i) => open(token, `198.51.${100 + i}.${round + 1}`))
    for (const answer of await Promise.all([made, ...opened])) statuses.push(answer.status)
  }
  const outcomes = await attacking
  const health = await healthy()
  expect(statuses).toEqual(Array(10).fill(200))
  expectHealthy(health)
  return outcomes
}

it('An account that creates protected links endlessly delays no one else', async () => {
  const requests = Array.from({ length: MANY }, () => ({
    url: `${service.url}/api/files/quick_share`,
    method: 'POST',
    headers: { ...headers, cookie: mallory.cookie },
    body: JSON.stringify(json),
  }))
  // On a busy machine attackers may send no faster than the service hashes.
  let refused: Awaited<ReturnType<typeof attack>> = []
  for (let round = 0; round < 5 && refused.length === 0; round++)
    refused = (await heldUpNobody(requests)).filter(({ status }) => status !== 200)
  expect(refused.length).toBeGreaterThan(0)
  for (const { status, retryAfter, text } of refused)
    expect([status, retryAfter, text]).toEqual([503, '5', expect.stringContaining('UNAVAILABLE')])
}, 300_000)

it('An account whose links are opened from everywhere delays no one else', async () => {
  const tokens = await Promise.all(Array.from({ length: 20 }, () => tokenOf(mallory)))
  await heldUpNobody(
    Array.from({ length: MANY }, (_, i) =>
      opening(tokens[i % 20] ?? '', `10.${i >> 8}.${i & 255}.1`),
    ),
  )
})

it('An address that opens the links of many users delays no one else', async () => {
  const sharers = await service.signIn(...Array.from({ length: 20 }, (_, i) => `sharer-${i}`))
  const tokens = (
    await Promise.all(
      sharers.map(async sharer => {
        await sharer.upload('a.txt', 'hello')
        return Promise.all(Array.from({ length: 4 }, () => tokenOf(sharer)))
      }),
    )
  ).flat()
  await heldUpNobody(
    Array.from({ length: MANY }, (_, i) => opening(tokens[i % tokens.length] ?? '', '203.0.113.9')),
  )
})

it('Refusals are not errors in the log: one warning a minute, without a stack', () => {
  const lines = service.said().split('\n')
  expect(lines.filter(line => line.includes('"level":50'))).toEqual([])
  const warnings = lines.filter(line => line.includes('passwords of links'))
  expect(warnings.length).toBeGreaterThan(0)
  expect(warnings.length).toBeLessThan(10)
  for (const line of lines) expect(line).not.toContain('"stack"')
})
