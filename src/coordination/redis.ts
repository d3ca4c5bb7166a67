import type { Redis } from 'ioredis'
import { RateLimiterRedis, RLWrapperTimeouts } from 'rate-limiter-flexible'
import { v4 as newHit } from 'uuid'
import { type Log, outageLog } from '../runtime/log.ts'
import { CLOCK_SKEW_MS, type Coordination } from './coordination.ts'

/** Connects to Redis, whose driver is loaded here. Logs the start and the end of an outage. */
export async function connectRedis(url: string, log: Log): Promise<Redis> {
  const { Redis } = await import('ioredis')
  // A Redis that accepts commands but never responds counts as down.
  const redis = new Redis(url, {
    maxRetriesPerRequest: 1,
    enableOfflineQueue: false,
    commandTimeout: 2000,
  })
  const outage = outageLog(log, {
    down: 'Redis does not answer; limits are counted in this instance meanwhile',
    up: 'connected to Redis again; limits are shared by all instances',
  })
  redis.on('error', outage.begins).on('ready', outage.ends)
  return redis
}

const hitScript = `
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', ARGV[1] - ARGV[2])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '(' .. (ARGV[1] + ARGV[5]), '+inf')
local count = redis.call('ZCARD', KEYS[1])
local oldest = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')[2]
if count < tonumber(ARGV[3]) then
  redis.call('ZADD', KEYS[1], ARGV[1], ARGV[4])
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return {count, oldest}`

/**
 * Milliseconds without a new attempt after a failed hit, so that not every call waits for Redis.
 */
const ALONE_MS = 2000
/** The timeout for adding to a count, in milliseconds. */
const ADD_MS = 500
/** Milliseconds between two pings of Redis. */
const PULSE = 5000
/** The timeout of a ping, in milliseconds. */
const PATIENCE = 2000

/**
 * Shares counts and messages between all instances through Redis. While Redis is down, each
 * instance counts for itself rather than fail.
 * @param instance the coordination within the instance, which keeps the held amounts; not closed
 * here
 */
export function redisCoordination(redis: Redis, instance: Coordination, log: Log): Coordination {
  const limiter = new RateLimiterRedis({
    keyPrefix: '',
    points: 1,
    duration: 1,
    storeClient: redis,
    rejectIfRedisNotReady: true,
  })
  const counts = new RLWrapperTimeouts({ limiter, timeoutMs: ADD_MS })
  const endings: (() => void)[] = []
  let aloneUntil = 0
  let closed = false

  function subscribe(channel: string, heard: (text: string) => void): void {
    // A Redis connection in subscriber mode cannot publish.
    const subscriber = redis.duplicate({ commandTimeout: PATIENCE, autoResubscribe: false })
    const outage = outageLog(log, {
      down: 'Redis does not answer; events of other instances are missed',
      up: 'subscribed to Redis again; events of other instances arrive again',
    })
    const again = (error: unknown) => {
      if (closed) return
      outage.begins(error)
      subscriber.disconnect(true)
    }
    subscriber.on('error', outage.begins)
    subscriber.on('ready', () => subscriber.subscribe(channel).then(outage.ends, again))
    subscriber.on('message', (_channel, text) => heard(text))
    // Receives messages that are published locally while Redis is down.
    instance.subscribe(channel, heard)
    // A dead connection is indistinguishable from a silent one, hence the pings.
    const pulse = setInterval(
      () => subscriber.status === 'ready' && subscriber.ping().catch(again),
      PULSE,
    )
    pulse.unref()
    endings.push(() => {
      clearInterval(pulse)
      subscriber.disconnect()
    })
  }

  return {
    async hit(key, window, now) {
      if (performance.now() < aloneUntil) return instance.hit(key, window, now)
      try {
        const [count = 0, oldest] = (await redis.eval(
          hitScript,
          1,
          `satchel:rate:${key}`,
          now,
          window.seconds * 1000,
          window.max,
          `${now}:${newHit()}`,
          CLOCK_SKEW_MS,
        )) as [number?, string?]
        return { count, oldest: oldest === undefined ? undefined : Number(oldest) }
      } catch (error) {
        log.warn({ err: error }, 'Redis does not answer; this instance counts alone')
        aloneUntil = performance.now() + ALONE_MS
        return instance.hit(key, window, now)
      }
    },

    async add(key, by, seconds) {
      try {
        return (await counts.penalty(key, by, { customDuration: seconds })).consumedPoints
      } catch {
        return instance.add(key, by, seconds)
      }
    },

    hold: instance.hold,
    holdOften: instance.holdOften,

    publish(channel, text) {
      // The outage has been logged, and must not fail a committed change.
      redis.publish(channel, text).catch(() => instance.publish(channel, text))
    },

    subscribe,

    close() {
      closed = true
      for (const end of endings) end()
      redis.disconnect()
    },
  }
}
