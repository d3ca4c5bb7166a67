import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, describe, expect, it } from '@jest/globals'
import { Redis } from 'ioredis'
import {
  createGuessLimiter,
  type GuessLimiter,
  type GuessRules,
} from '../../../src/access/guessing.ts'
import { localCoordination } from '../../../src/coordination/local.ts'
import { redisCoordination } from '../../../src/coordination/redis.ts'
import { createLog } from '../../../src/runtime/log.ts'
import { blocksOf, networkOf } from '../../../src/values/network.ts'

const redisUrl = process.env.TEST_REDIS_URL
const redis = redisUrl ? new Redis(redisUrl, { maxRetriesPerRequest: 1 }) : undefined
const prefixes: string[] = []

afterAll(async () => {
  if (!redis) return
  for (const prefix of prefixes) {
    const keys = await redis.keys(`${prefix}*`)
    if (keys.length > 0) await redis.del(keys)
  }
  await redis.quit()
})

// Windows begin at round times. These windows are long enough that no test crosses the end of one.
const quick: Partial<GuessRules> = { windowSeconds: 86_400, delayStepMs: 1, longestDelayMs: 20 }

/**
 * A share with the password `right`, which counts its password checks and how many of them ran in
 * parallel.
 */
const over = (client: Redis) =>
  redisCoordination(client, localCoordination(), createLog({ logLevel: 'silent' }))

function aShare() {
  const share = {
    id: randomUUID(),
    checks: 0,
    mostAtOnce: 0,
    guess: (limiter: GuessLimiter, address: string, password: string) =>
      limiter.attempt(share.id, address, async () => {
        share.checks++
        share.mostAtOnce = Math.max(share.mostAtOnce, ++atOnce)
        await sleep(1)
        atOnce--
        return password === 'right'
      }),
  }
  let atOnce = 0
  return share
}

const refused = {
  code: 'TOO_MANY_ATTEMPTS',
  status: 403,
  details: { retry_after: expect.any(Number) },
}

const stores: [string, (changes?: Partial<GuessRules>) => GuessLimiter[]][] = [
  ['in memory', changes => [createGuessLimiter(localCoordination(), { ...quick, ...changes })]],
]
if (redis)
  stores.push([
    'on two instances with Redis',
    changes => {
      const prefix = `satchel-test:${randomUUID()}`
      prefixes.push(prefix)
      const rules = { ...quick, ...changes, prefix }
      return [createGuessLimiter(over(redis), rules), createGuessLimiter(over(redis), rules)]
    },
  ])

describe.each(stores)('guessing %s', (_where, instances) => {
  const any = (limiters: GuessLimiter[], i: number) => {
    const limiter = limiters[i % limiters.length]
    if (!limiter) throw new Error('no instance')
    return limiter
  }

  it('checks 10 of 1,000 wrong guesses from one address', async () => {
    const limiters = instances()
    const share = aShare()
    let refusals = 0
    for (let i = 0; i < 1000; i++) {
      try {
        expect(await share.guess(any(limiters, i), '198.51.100.1', 'wrong')).toBe(false)
      } catch (error) {
        expect(error).toMatchObject(refused)
        refusals++
      }
    }
    expect(share.checks).toBe(10)
    expect(refusals).toBe(990)
  })

  it('checks 10 of 1,000 concurrent guesses', async () => {
    const limiters = instances()
    const share = aShare()
    const guesses = Array.from({ length: 1000 }, (_, i) =>
      share.guess(any(limiters, i), '198.51.100.1', 'wrong'),
    )
    const settled = await Promise.allSettled(guesses)
    expect(share.checks).toBe(10)
    expect(settled.filter(result => result.status === 'fulfilled')).toHaveLength(10)
    expect(share.mostAtOnce).toBeLessThanOrEqual(limiters.length)
  })

  it('refuses the right password after too many wrong ones, only from that address for that share', async () => {
    const limiters = instances()
    const share = aShare()
    for (let i = 0; i < 10; i++) await share.guess(any(limiters, i), '198.51.100.1', 'wrong')
    for (const limiter of limiters) {
      await expect(share.guess(limiter, '198.51.100.1', 'right')).rejects.toMatchObject(refused)
      expect(await share.guess(limiter, '198.51.100.2', 'right')).toBe(true)
      expect(await aShare().guess(limiter, '198.51.100.1', 'right')).toBe(true)
    }
  })

  it('does not count right passwords, even many concurrent ones', async () => {
    const limiters = instances()
    const share = aShare()
    for (let round = 0; round < 3; round++) {
      const visits = Array.from({ length: 60 }, (_, i) =>
        share.guess(any(limiters, i), '198.51.100.1', 'right'),
      )
      expect(new Set(await Promise.all(visits))).toEqual(new Set([true]))
    }
    for (let i = 0; i < 10; i++)
      expect(await share.guess(any(limiters, i), '198.51.100.1', 'wrong')).toBe(false)
    await expect(share.guess(any(limiters, 0), '198.51.100.1', 'wrong')).rejects.toMatchObject(
      refused,
    )
  })

  it('keeps counted wrong guesses after a right password', async () => {
    const limiters = instances()
    const share = aShare()
    for (let i = 0; i < 10; i++) {
      await share.guess(any(limiters, i), '198.51.100.1', 'wrong')
      if (i < 9) expect(await share.guess(any(limiters, i), '198.51.100.1', 'right')).toBe(true)
    }
    await expect(share.guess(any(limiters, 0), '198.51.100.1', 'right')).rejects.toMatchObject(
      refused,
    )
  })

  it('does not count a check that failed', async () => {
    const limiters = instances()
    const share = aShare()
    const broken = () => Promise.reject(new Error('database is gone'))
    for (let i = 0; i < 20; i++)
      await expect(any(limiters, i).attempt(share.id, '198.51.100.1', broken)).rejects.toThrow(
        'database is gone',
      )
    expect(await share.guess(any(limiters, 0), '198.51.100.1', 'right')).toBe(true)
  })

  it('allows each of a crowd few guesses, and admits a visitor among them', async () => {
    const limiters = instances()
    const share = aShare()
    const crowd = Array.from({ length: 100 }, (_, i) => `203.0.113.${i}`)
    const guesses = crowd.flatMap(address =>
      Array.from({ length: 10 }, (_, i) => share.guess(any(limiters, i), address, 'wrong')),
    )
    await sleep(20)
    expect(await share.guess(any(limiters, 1), '198.51.100.1', 'right')).toBe(true)
    await Promise.allSettled(guesses)
    expect(share.checks).toBeLessThan(400)
    expect(share.mostAtOnce).toBeLessThanOrEqual(limiters.length)
    const before = share.checks
    for (const address of crowd)
      await share.guess(any(limiters, 0), address, 'wrong').catch(() => {})
    // An address without a count may be admitted whenever the block's next check is due.
    expect(share.checks - before).toBeLessThanOrEqual(2)
    expect(await share.guess(any(limiters, 0), '198.51.100.2', 'right')).toBe(true)
  })

  it('slows down a crowd, but delays a new visitor by at most the longest wait', async () => {
    const limiters = instances({ slowedBeyond: 5, delayStepMs: 60, longestDelayMs: 300 })
    const share = aShare()
    const time = async (address: string, password: string) => {
      const started = performance.now()
      await share.guess(any(limiters, 0), address, password)
      return performance.now() - started
    }
    for (let i = 0; i < 5; i++) expect(await time(`203.0.113.${i}`, 'wrong')).toBeLessThan(250)
    for (let i = 5; i < 12; i++) await time(`203.0.113.${i}`, 'wrong')
    const waited = await time('198.51.100.1', 'right')
    expect(waited).toBeGreaterThanOrEqual(299)
    expect(waited).toBeLessThan(1500)
  })

  it('allows guesses again after the announced time', async () => {
    const limiters = instances({ windowSeconds: 2, tries: 1 })
    const share = aShare()
    await sleep(2005 - (Date.now() % 2000))
    expect(await share.guess(any(limiters, 0), '198.51.100.1', 'wrong')).toBe(false)
    const error = await share.guess(any(limiters, 1), '198.51.100.1', 'right').catch(error => error)
    expect(error).toMatchObject(refused)
    expect([1, 2]).toContain(error.details.retry_after)
    await sleep(error.details.retry_after * 1000)
    expect(await share.guess(any(limiters, 1), '198.51.100.1', 'right')).toBe(true)
  })

  it('counts an IPv6 address by its /64', async () => {
    const limiters = instances()
    const share = aShare()
    for (let i = 0; i < 10; i++) await share.guess(any(limiters, i), `2001:db8:0:7::${i}`, 'wrong')
    await expect(
      share.guess(any(limiters, 0), '2001:db8:0:7:1:2:3:4', 'right'),
    ).rejects.toMatchObject(refused)
    expect(await share.guess(any(limiters, 0), '2001:db8:0:8::1', 'right')).toBe(true)
  })
})

describe.each(stores)('blocks of addresses, %s', (_where, instances) => {
  const guessAll = async (
    limiters: GuessLimiter[],
    share: ReturnType<typeof aShare>,
    addresses: string[],
  ) => {
    const [one] = limiters
    if (!one) throw new Error('no instance')
    const guesses = addresses.map((address, i) =>
      share.guess(limiters[i % limiters.length] ?? one, address, 'wrong'),
    )
    return (await Promise.allSettled(guesses)).filter(result => result.status === 'fulfilled')
      .length
  }
  const rules = { slowedBeyond: 10_000, attackedBeyond: 10_000, wayInSeconds: 86_400 }
  const hex = (n: number) => n.toString(16)

  it.each([
    ['a /24', 40, Array.from({ length: 250 }, (_, i) => `203.0.113.${i}`)],
    ['a /56', 20, Array.from({ length: 250 }, (_, i) => `2001:db8:1:${hex(i)}::1`)],
    ['a /48', 40, Array.from({ length: 400 }, (_, i) => `2001:db8:2:${hex(i * 160)}::1`)],
  ])(
    'checks few guesses of %s, and then one new address at a time',
    async (_what, most, addresses) => {
      for (const atOnce of [true, false]) {
        const limiters = instances(rules)
        const share = aShare()
        if (atOnce) await guessAll(limiters, share, addresses)
        else
          for (const [i, address] of addresses.entries())
            await guessAll(limiters.slice(i % limiters.length), share, [address])
        // The first refused address uses up the admission of the block. Instances check one address
        // each at the same time.
        expect(share.checks).toBeGreaterThanOrEqual(most)
        expect(share.checks).toBeLessThanOrEqual(most + 1)
        expect(await share.guess(limiters[0] as GuessLimiter, '198.51.100.1', 'right')).toBe(true)
      }
    },
  )

  it('admits an address without failures from a failing block', async () => {
    const limiters = instances({ ...rules, wayInSeconds: 1 })
    const share = aShare()
    await guessAll(
      limiters,
      share,
      Array.from({ length: 120 }, (_, i) => `203.0.113.${i}`),
    )
    let right: unknown
    for (let tries = 0; tries < 20 && right !== true; tries++) {
      right = await share
        .guess(limiters[0] as GuessLimiter, '203.0.113.200', 'right')
        .catch(error => error)
      if (right !== true)
        await sleep((right as { details: { retry_after: number } }).details.retry_after * 1000)
    }
    expect(right).toBe(true)
  })

  it('serves an office with simultaneous right passwords', async () => {
    const [limiter] = instances(rules)
    const share = aShare()
    const visits = Array.from({ length: 200 }, (_, i) =>
      share.guess(limiter as GuessLimiter, `203.0.113.${i}`, 'right'),
    )
    expect(new Set(await Promise.all(visits))).toEqual(new Set([true]))
  })

  it('serves an outside visitor before the rest of a crowd of networks', async () => {
    const limiters = instances({ longestDelayMs: 0 })
    const share = aShare()
    const crowd = Array.from({ length: 1500 }, (_, i) => `10.${i >> 8}.${i & 255}.1`)
    const guesses = guessAll(limiters, share, crowd)
    await sleep(30)
    expect(await share.guess(limiters[0] as GuessLimiter, '198.51.100.1', 'right')).toBe(true)
    expect(share.checks).toBeLessThan(600)
    await guesses
  })
})

describe('guessing at two workers', () => {
  it('checks one guess of a visitor at a time, so that right ones never cause a refusal', async () => {
    const shared = localCoordination()
    const workers = [createGuessLimiter(shared, quick), createGuessLimiter(shared, quick)]
    const share = aShare()
    const guesses = Array.from({ length: 60 }, (_, i) =>
      share.guess(workers[i % 2] as GuessLimiter, '198.51.100.1', 'right'),
    )
    expect(new Set(await Promise.all(guesses))).toEqual(new Set([true]))
    expect(share.mostAtOnce).toBe(1)
  })
})

describe('guessing during an outage of Redis', () => {
  it('counts in this process', async () => {
    const gone = new Redis('redis://127.0.0.1:1', { lazyConnect: true, retryStrategy: () => null })
    gone.on('error', () => {})
    const limiter = createGuessLimiter(over(gone), quick)
    const share = aShare()
    for (let i = 0; i < 10; i++)
      expect(await share.guess(limiter, '198.51.100.1', 'wrong')).toBe(false)
    await expect(share.guess(limiter, '198.51.100.1', 'right')).rejects.toMatchObject(refused)
    expect(await share.guess(limiter, '198.51.100.2', 'right')).toBe(true)
  })

  const onRedis = redisUrl ? it : it.skip

  onRedis('goes on when Redis stops answering, and when it is back', async () => {
    const prefix = `satchel-test:${randomUUID()}`
    prefixes.push(prefix)
    const client = new Redis(redisUrl ?? '', { maxRetriesPerRequest: 1 })
    client.on('error', () => {})
    const limiter = createGuessLimiter(over(client), { ...quick, prefix })
    const share = aShare()
    expect(await share.guess(limiter, '198.51.100.1', 'right')).toBe(true)
    client.disconnect()
    for (let i = 0; i < 10; i++)
      expect(await share.guess(limiter, '198.51.100.1', 'wrong')).toBe(false)
    await expect(share.guess(limiter, '198.51.100.1', 'right')).rejects.toMatchObject(refused)
    await client.connect()
    expect(await share.guess(limiter, '198.51.100.1', 'right')).toBe(true)
    client.disconnect()
  })

  onRedis('does not wait for a Redis that hangs', async () => {
    const prefix = `satchel-test:${randomUUID()}`
    prefixes.push(prefix)
    const client = new Redis(redisUrl ?? '')
    client.on('error', () => {})
    const limiter = createGuessLimiter(over(client), { ...quick, prefix })
    await client.ping()
    // A blocking read delays every later command on the same connection.
    const hanging = client.blpop(`${prefix}:nothing`, 5).catch(() => {})
    const started = performance.now()
    expect(await aShare().guess(limiter, '198.51.100.1', 'right')).toBe(true)
    expect(performance.now() - started).toBeLessThan(4000)
    client.disconnect()
    await hanging
  })
})

describe('networkOf', () => {
  it.each([
    ['198.51.100.1', '198.51.100.1'],
    ['198.51.100.1:4711', '198.51.100.1'],
    ['::ffff:198.51.100.1', '198.51.100.1'],
    ['::FFFF:c633:6401', '198.51.100.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:0DB8:0001:0002::', '2001:db8:1:2::/64'],
    ['[2001:db8:1:2::9]:4711', '2001:db8:1:2::/64'],
    ['2001:db8::', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['::', '0:0:0:0::/64'],
    ['1::2:3:4:5:6:7', '1:0:2:3::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['', 'unknown'],
    ['anything', 'unknown'],
    ['1.2.3', 'unknown'],
    [':::', 'unknown'],
  ])('counts %s as %s', (address, network) => {
    expect(networkOf(address)).toBe(network)
  })
})

describe('blocksOf', () => {
  it.each([
    ['198.51.100.1', ['198.51.100.1', '198.51.100.0/24', '198.51.0.0/16', '198.0.0.0/8']],
    [
      '2001:db8:1:2ff::1',
      ['2001:db8:1:2ff::/64', '2001:db8:1:200::/56', '2001:db8:1::/48', '2001:db8::/32'],
    ],
    ['2001:db8::1', ['2001:db8:0:0::/64', '2001:db8:0:0::/56', '2001:db8:0::/48', '2001:db8::/32']],
    ['nothing', ['unknown']],
  ])('of %s are %j', (address, names) => {
    expect(blocksOf(address).map(({ name }) => name)).toEqual(names)
  })
})
