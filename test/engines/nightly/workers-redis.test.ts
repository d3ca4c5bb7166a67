import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { ROOMY } from '../../support/builders.ts'
import { type FlakyProxy, startFlakyProxy } from '../../support/flaky-proxy.ts'
import { type Person, startApp, type TestApp } from '../../support/harness.ts'

declare const engine: 'sqlite' | 'mysql'

// SQLite has no workers.
const withBoth = engine === 'mysql' && process.env.TEST_REDIS_URL ? describe : describe.skip
const SHARES = 'subscription { shareReceived { fileName } }'
const MAX = 20

withBoth('Two workers during a Redis outage', () => {
  let proxy: FlakyProxy
  let t: TestApp
  let people = 0

  beforeAll(async () => {
    const { hostname, port } = new URL(process.env.TEST_REDIS_URL ?? '')
    proxy = await startFlakyProxy({ host: hostname, port: Number(port || 6379) })
    t = await startApp({ REDIS_URL: `redis://127.0.0.1:${proxy.port}`, RATE_SHARING: String(MAX) })
    await t.limit(ROOMY)
  })
  afterAll(async () => {
    await t?.stop()
    await proxy?.close()
  })

  const share = (who: Person, email: string) =>
    who.rest('POST', '/api/files/share', { json: { email, objects: ['a.txt'] } })
  async function sharer(): Promise<Person> {
    const who = await t.signIn(`sharer-${people++}`)
    await who.upload('a.txt', 'x')
    return who
  }

  it.each<[string, 'refuse' | 'freeze']>([
    ['Redis is down', 'refuse'],
    ['Redis accepts commands and never replies', 'freeze'],
  ])(
    'share limits, accept sign-ins and notify each other when %s',
    async (_how, fail) => {
      const [alice, bob] = [await sharer(), await t.signIn(`bob-${people++}`)]
      // One for each worker, because connections are assigned alternately.
      const streams = [await bob.subscribe(SHARES), await bob.subscribe(SHARES)]
      await proxy[fail]()
      try {
        // Each worker detects the outage within two seconds. Its earlier requests to Redis may be
        // lost.
        await Promise.all(
          Array.from({ length: 4 }, () => sharer().then(who => share(who, 'nobody@example.com'))),
        )
        await sleep(500)
        const answers = await Promise.all(
          Array.from({ length: 2 * MAX }, () => share(alice, bob.email)),
        )
        const count = (status: number) => answers.filter(answer => answer.status === status).length
        expect([count(200), count(429)]).toEqual([MAX, MAX])
        // Requests alternate, so each worker has to notify both.
        const dave = await sharer()
        for (let i = 0; i < 4; i++) {
          await Promise.all(streams.map(stream => stream.quiet()))
          const before = streams.map(stream => stream.messages.length)
          expect((await share(dave, bob.email)).status).toBe(200)
          await Promise.all(streams.map(stream => stream.quiet()))
          expect(streams.map(stream => stream.messages.length)).toEqual(before.map(n => n + 1))
        }
        const carol = await t.signIn(`carol-${people++}`)
        for (let i = 0; i < 4; i++)
          expect((await carol.rest('GET', '/api/user/data')).status).toBe(200)
        expect((await carol.rest('GET', '/auth/logout')).status).toBe(200)
        for (let i = 0; i < 4; i++)
          expect((await carol.rest('GET', '/api/user/data')).status).toBe(401)
      } finally {
        await proxy.heal()
        for (const stream of streams) stream.close()
      }
    },
    40_000,
  )
})
