import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, describe, expect, it } from '@jest/globals'
import { Redis } from 'ioredis'
import { v7 as newId } from 'uuid'
import { createLog } from '../../src/log.ts'
import { type RateName, rateLimitService } from '../../src/services/rate-limit.ts'

const redisUrl = process.env.TEST_REDIS_URL
const log = createLog({ logLevel: 'silent' })

const stores: [string, (max: number, seconds: number) => ReturnType<typeof rateLimitService>[]][] = [
  ['in memory', (max, seconds) => [service(max, seconds)]],
]
const redis = redisUrl ? new Redis(redisUrl) : undefined
if (redis)
  stores.push([
    'on two instances with Redis',
    (max, seconds) => [service(max, seconds, redis), service(max, seconds, redis)],
  ])
afterAll(async () => {
  await redis?.quit()
})

function service(max: number, seconds: number, shared?: Redis) {
  const rule = { max, seconds }
  return rateLimitService({
    rules: { sharing: rule, api_keys: rule, workspaces: rule, invites: rule },
    redis: shared,
    log,
  })
}

describe.each(stores)('The window, %s,', (_where, instances) => {
  const hits = (max: number, seconds: number, name: RateName = 'sharing') => {
    const services = instances(max, seconds)
    const userId = newId()
    let n = 0
    return async () => {
      try {
        await services[n++ % services.length]?.hit(name, userId, {})
        return 'passes'
      } catch (error) {
        return Number((error as { details: { retry_after: number } }).details.retry_after)
      }
    }
  }

  it('slides: a place is free as soon as the oldest call is so old, and not sooner', async () => {
    const hit = hits(2, 2)
    expect(await hit()).toBe('passes')
    const first = Date.now()
    await sleep(1000)
    expect(await hit()).toBe('passes')
    expect(await hit()).toBe(1)
    await sleep(first + 1900 - Date.now())
    expect(await hit()).toBe(1)
    await sleep(first + 2050 - Date.now())
    // The first call is over, the second one is not; what was refused in between does not count.
    expect(await hit()).toBe('passes')
    expect(await hit()).toBe(1)
    await sleep(first + 3100 - Date.now())
    expect(await hit()).toBe('passes')
    expect(await hit()).toBe(1)
  })

  it('lets exactly as many through of 500 at once', async () => {
    const hit = hits(60, 60)
    const answers = await Promise.all(Array.from({ length: 500 }, hit))
    expect(answers.filter(a => a === 'passes')).toHaveLength(60)
    expect(new Set(answers)).toEqual(new Set(['passes', 60]))
  })
})
