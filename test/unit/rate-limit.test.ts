import { afterAll, describe, expect, it } from '@jest/globals'
import { Redis } from 'ioredis'
import { v7 as newId } from 'uuid'
import { localCoordination } from '../../src/coordination/local.ts'
import { redisCoordination } from '../../src/coordination/redis.ts'
import { createLog } from '../../src/runtime/log.ts'
import { rateLimitService } from '../../src/services/rate-limit.ts'

const redisUrl = process.env.TEST_REDIS_URL
const log = createLog({ logLevel: 'silent' })

type Rule = [max: number, seconds: number, now: () => number]
const stores: [string, (...rule: Rule) => ReturnType<typeof rateLimitService>[]][] = [
  ['in memory', (...rule) => [service(rule)]],
]
const redis = redisUrl ? new Redis(redisUrl) : undefined
if (redis)
  stores.push([
    'on two instances with Redis',
    (...rule) => [service(rule, redis), service(rule, redis)],
  ])
afterAll(async () => {
  await redis?.quit()
})

const everyRate = (rule: { max: number; seconds: number }) => ({
  sharing: rule,
  api_keys: rule,
  workspaces: rule,
  invites: rule,
  links: rule,
  protected_links: rule,
  folders: rule,
  notes: rule,
  webhooks: rule,
  exports: rule,
  device_logins: rule,
  sign_ins: rule,
  file_request_uploads: rule,
  searches: rule,
  assistants: rule,
})

function service([max, seconds, now]: Rule, shared?: Redis) {
  const rule = { max, seconds }
  return rateLimitService({
    rules: everyRate(rule),
    coordination: shared
      ? redisCoordination(shared, localCoordination(), log)
      : localCoordination(),
    now,
  })
}

describe.each(stores)('The window, %s,', (_where, instances) => {
  const hits = (...rule: Rule) => {
    const services = instances(...rule)
    const userId = newId()
    let n = 0
    return async () => {
      try {
        await services[n++ % services.length]?.hit('sharing', userId, {})
        return 'passes'
      } catch (error) {
        return Number((error as { details: { retry_after: number } }).details.retry_after)
      }
    }
  }

  it('slides: a slot is freed exactly when the oldest call leaves the window', async () => {
    let at = Date.now()
    const first = at
    const hit = hits(2, 20, () => at)
    expect(await hit()).toBe('passes')
    at = first + 10_000
    expect(await hit()).toBe('passes')
    expect(await hit()).toBe(10)
    at = first + 19_999
    expect(await hit()).toBe(1)
    at = first + 20_000
    // The first call has left the window, and the second has not. Refused calls do not count.
    expect(await hit()).toBe('passes')
    expect(await hit()).toBe(10)
    at = first + 30_000
    expect(await hit()).toBe('passes')
    expect(await hit()).toBe(10)
  })

  it('never asks for a wait longer than itself, even if the clock of another instance is ahead', async () => {
    let at = Date.now() + 10_000
    const hit = hits(1, 20, () => at)
    expect(await hit()).toBe('passes')
    at -= 10_000
    expect(await hit()).toBe(20)
  })

  it('admits calls again after the clock was set back', async () => {
    let at = Date.now() + 3_600_000
    const hit = hits(2, 20, () => at)
    expect([await hit(), await hit(), await hit()]).toEqual(['passes', 'passes', 20])
    at -= 3_600_000
    expect([await hit(), await hit(), await hit()]).toEqual(['passes', 'passes', 20])
    at += 20_000
    expect(await hit()).toBe('passes')
  })

  it('admits exactly the limit of 500 concurrent calls', async () => {
    const at = Date.now()
    const hit = hits(60, 60, () => at)
    const answers = await Promise.all(Array.from({ length: 500 }, hit))
    expect(answers.filter(a => a === 'passes')).toHaveLength(60)
    expect(new Set(answers)).toEqual(new Set(['passes', 60]))
  })
})
