import type { Redis } from 'ioredis'
import { v4 as newHit } from 'uuid'
import type { Config } from '../config/config.ts'
import { AppError } from '../runtime/errors.ts'
import type { Log } from '../runtime/log.ts'

/** How many calls a user may make in a sliding window. Fields that share a name share the count. */
export type RateRules = Config['rates']
export type RateName = keyof RateRules
type RateRule = RateRules[RateName]

interface Identity {
  contextIdentity: string
  fieldIdentity: string
}

/** The calls that still counted when a new one came. */
interface Earlier {
  count: number
  /** When the first of them came, in milliseconds since the epoch; undefined where there is none. */
  oldest: number | undefined
}

/**
 * Records a hit and tells of those before it atomically, so that parallel calls cannot exceed the limit. (The library reads
 * first and writes afterwards, so its own stores let parallel calls through.) A refused call is not counted.
 */
interface HitTaker {
  take(key: string, rule: RateRule, now: number): Promise<Earlier>
}

/** Counts in this process; forgets users without calls for a window. */
function memoryHits(): HitTaker {
  const hits = new Map<string, { at: number[]; until: number }>()
  let swept = 0
  return {
    async take(key, { max, seconds }, now) {
      const window = seconds * 1000
      if (now - swept > window) {
        for (const [k, { until }] of hits) if (until <= now) hits.delete(k)
        swept = now
      }
      const at = hits.get(key)?.at ?? []
      const first = at.findIndex(each => each > now - window)
      at.splice(0, first < 0 ? at.length : first)
      const before = { count: at.length, oldest: at[0] }
      if (before.count < max) {
        at.push(now)
        hits.set(key, { at, until: now + window })
      }
      return before
    },
  }
}

const script = `
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', ARGV[1] - ARGV[2])
local count = redis.call('ZCARD', KEYS[1])
local oldest = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')[2]
if count < tonumber(ARGV[3]) then
  redis.call('ZADD', KEYS[1], ARGV[1], ARGV[4])
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return {count, oldest}`

/** Milliseconds without a new attempt after Redis has failed, so that not every call waits for it. */
const ALONE_MS = 2000

/** Counts for all instances in Redis. While Redis does not answer, each instance counts its own calls rather than fail. */
function redisHits(redis: Redis, log: Log): HitTaker {
  const alone = memoryHits()
  let aloneUntil = 0
  return {
    async take(key, rule, now) {
      if (now < aloneUntil) return alone.take(key, rule, now)
      try {
        const [count = 0, oldest] = (await redis.eval(
          script,
          1,
          `satchel:rate:${key}`,
          now,
          rule.seconds * 1000,
          rule.max,
          `${now}:${newHit()}`,
        )) as [number?, string?]
        return { count, oldest: oldest === undefined ? undefined : Number(oldest) }
      } catch (error) {
        log.warn({ err: error }, 'Redis does not answer; this instance counts for itself')
        aloneUntil = Date.now() + ALONE_MS
        return alone.take(key, rule, now)
      }
    },
  }
}

/** The library is loaded with the first call that is counted: it brings a library of permissions along, which nothing here uses. */
async function createLimiter(hits: HitTaker, rules: RateRules, now: () => number) {
  const { getGraphQLRateLimiter, Store } = await import('graphql-rate-limit')

  class AtomicStore extends Store {
    override async getForIdentity({ contextIdentity, fieldIdentity }: Identity): Promise<number[]> {
      const rule = rules[fieldIdentity as RateName]
      const { count } = await hits.take(`${fieldIdentity}:${contextIdentity}`, rule, now())
      // What counts was decided above; the library reads the clock again, a moment later. It copies what it is given several times.
      return count < rule.max ? [] : new Array(rule.max).fill(Number.POSITIVE_INFINITY)
    }

    // The hit is recorded already.
    override setForIdentity(): void {}
  }

  return getGraphQLRateLimiter({
    identifyContext: ({ userId }: { userId: string }) => userId,
    store: new AtomicStore(),
    formatError: () => 'limited',
  })
}

interface Options {
  rules: RateRules
  redis: Redis | undefined
  log: Log
  /** Milliseconds since the epoch. */
  now?: () => number
}

/** Request rates by graphql-rate-limit, exact under parallel requests and across instances (docs/contract.md, section 7). */
export function rateLimitService({ rules, redis, log, now = Date.now }: Options) {
  const hits = redis ? redisHits(redis, log) : memoryHits()
  let limiter: ReturnType<typeof createLimiter> | undefined

  return {
    /** Counts a call of a user. @throws RATE_LIMITED with `retry_after` in seconds */
    async hit(name: RateName, userId: string, info: object): Promise<void> {
      const { max, seconds } = rules[name]
      const call = { parent: {}, args: {}, context: { userId }, info: { ...info, fieldName: name } as never }
      limiter ??= createLimiter(hits, rules, now)
      const limited = await (await limiter)(call, { max, window: `${seconds}s`, uncountRejected: true })
      if (!limited) return
      const retryAfter = await this.retryAfter(name, userId)
      throw new AppError(
        'RATE_LIMITED',
        `This is allowed ${max} times in ${seconds} seconds. Try again in ${retryAfter} seconds.`,
        {
          retry_after: retryAfter,
          policy: name,
          limit: max,
          window: seconds,
        },
      )
    },

    /** Seconds until the oldest call that counts no longer does. */
    async retryAfter(name: RateName, userId: string): Promise<number> {
      const at = now()
      // The clock of another instance may be ahead.
      const { oldest = at } = await hits.take(`${name}:${userId}`, { ...rules[name], max: 0 }, at)
      return Math.max(1, Math.ceil((Math.min(oldest, at) + rules[name].seconds * 1000 - at) / 1000))
    },
  }
}
