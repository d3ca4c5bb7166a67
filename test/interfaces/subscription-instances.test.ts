import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { ROOMY, UNHURRIED } from '../support/builders.ts'
import type { EventStream } from '../support/event-stream.ts'
import { type FlakyProxy, startFlakyProxy } from '../support/flaky-proxy.ts'
import { newDatabase, type Person, signInTo, startApp, type TestApp } from '../support/harness.ts'
import { meetAll } from '../support/right-ends.ts'
import { until } from '../support/until.ts'

declare const engine: 'sqlite' | 'mysql'

const withRedis = process.env.TEST_REDIS_URL ? describe : describe.skip

const SHARES = 'subscription { shareReceived { fileName } }'
const MISSED = 'events of other instances are missed'
const USAGE = 'subscription { driveChanged { usage { fileCount } } }'

withRedis('Two instances with a Redis', () => {
  let proxy: FlakyProxy
  let database: Awaited<ReturnType<typeof newDatabase>>
  let near: TestApp
  let far: TestApp
  let alice: Person
  /** Bob at one instance and at the other. */
  let bob: Person
  let bobFar: Person

  beforeAll(async () => {
    const { hostname, port } = new URL(process.env.TEST_REDIS_URL ?? '')
    proxy = await startFlakyProxy({ host: hostname, port: Number(port || 6379) })
    database = await newDatabase()
    const settings = {
      ...UNHURRIED,
      DATABASE_URL: database.url,
      SECRET_KEY: randomBytes(32).toString('base64url'),
      SUBSCRIPTION_CHECK_SECONDS: '1',
    }
    near = await startApp({ ...settings, REDIS_URL: process.env.TEST_REDIS_URL ?? '' })
    far = await startApp({ ...settings, REDIS_URL: `redis://127.0.0.1:${proxy.port}` })
    await near.limit(ROOMY)
    alice = await near.signIn('alice')
    bob = await near.signIn('bob')
    bobFar = await signInTo(far.app.db, far.url, 'bob')
    await alice.upload('a.txt', 'a')
  })
  afterAll(async () => {
    await near?.stop()
    await far?.stop()
    await proxy?.close()
    await database?.drop()
  })

  const share = () =>
    alice.rest('POST', '/api/files/share', { json: { email: bob.email, objects: ['a.txt'] } })

  /**
   * Shares until the instance delivers it, because an instance takes a moment to connect to the
   * others.
   */
  async function heardBy(stream: EventStream): Promise<boolean> {
    const before = stream.messages.length
    for (let tries = 0; tries < 60; tries++) {
      await share()
      await sleep(250)
      if (stream.messages.length > before) return true
    }
    return false
  }

  it('notify each other of each event exactly once', async () => {
    const streams = [await bob.subscribe(SHARES), await bobFar.subscribe(SHARES)] as const
    expect(await heardBy(streams[1])).toBe(true)
    await Promise.all(streams.map(stream => stream.quiet()))
    const before = streams.map(stream => stream.messages.length)
    await share()
    await Promise.all(streams.map(stream => stream.quiet()))
    expect(streams.map(stream => stream.messages.length)).toEqual(before.map(n => n + 1))
    for (const stream of streams) {
      expect(stream.messages.at(-1)).toEqual({ data: { shareReceived: { fileName: 'a.txt' } } })
      stream.close()
    }
  })

  it('show the same usage, wherever the change was made', async () => {
    const usage = await bob.subscribe(USAGE)
    await bobFar.upload('far.txt', 'x')
    expect(await usage.next()).toEqual({ data: { driveChanged: { usage: { fileCount: 1 } } } })
    usage.close()
  })

  it('close a subscription whose access is revoked on the other instance', async () => {
    const { said, wanted } = await meetAll(near, far)
    expect(said).toEqual(wanted)
  })

  const outages: [string, () => Promise<void>][] = [
    ['no longer responds', async () => proxy.freeze()],
    ['is gone', () => proxy.refuse()],
  ]
  // The waits are long, and the database does not matter.
  it.each(engine === 'sqlite' ? outages : outages.slice(1))(
    'work separately while Redis %s, and notify each other again afterwards',
    async (_how, die) => {
      const stream = await bobFar.subscribe(SHARES)
      expect(await heardBy(stream)).toBe(true)
      await die()
      await stream.quiet()
      const before = stream.messages.length
      await share()
      await stream.quiet()
      expect(stream.messages.length).toBe(before)
      await bobFar.upload('own.txt', 'x')
      const own = await bobFar.subscribe(USAGE)
      await bobFar.rest('DELETE', '/api/files/delete?file=own.txt')
      expect(await own.next()).toMatchObject({
        data: { driveChanged: { usage: { fileCount: expect.any(Number) } } },
      })
      own.close()
      // A silently broken connection looks idle until a ping.
      await until(() => far.logs().includes(MISSED))
      await proxy.heal()
      expect(await heardBy(stream)).toBe(true)
      stream.close()
    },
    40_000,
  )
})
