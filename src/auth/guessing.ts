import { isIPv4, isIPv6 } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import pLimit, { type LimitFunction } from 'p-limit'
import { RateLimiterMemory, RateLimiterRedis, RLWrapperTimeouts } from 'rate-limiter-flexible'
import { AppError } from '../errors.ts'

/*
 * How guessing the password of a share is bounded.
 *
 * Two things are wanted that pull apart: a crowd of addresses must not try passwords at speed, and no crowd may lock out
 * a visitor who knows the password. Nobody can tell that visitor from one more guesser before the password is checked.
 * So a stranger's first tries are always checked, and everything else is made slow and few:
 *
 * - An address has 10 wrong guesses on a share in 15 minutes; then it is refused without a look at its password.
 *   An IPv6 address counts as its /64, which is what one customer has.
 * - Wrong guesses on a share from everywhere are counted together for an hour. Beyond 20 every check waits, longer with
 *   every further wrong guess, up to 2 seconds. Beyond 50 an address has 3 wrong guesses instead of 10. A crowd thus
 *   gains little by trying harder, only by being bigger; a visitor from a fresh address waits 2 seconds and is in.
 * - An address has one check at a time on a share, and a share has one at a time (after the wait), so an attack on one
 *   share leaves the checks of others alone.
 *
 * A guess is counted before it is checked and taken back if it was right, so that guesses sent at once cannot all slip
 * through the same gap. The counts are shared by all instances through Redis; while Redis does not answer (or without
 * it) every instance counts for itself. The share itself is never touched.
 */

/** Numbers of the rules above; tests shorten the times. */
export interface GuessRules {
  /** Wrong guesses of one address on one share in a window, in ordinary times and beyond `attackedBeyond`. */
  tries: number
  triesUnderAttack: number
  windowSeconds: number
  /** Wrong guesses on one share from everywhere in an hour, beyond which each one more adds a step to the wait. */
  slowedBeyond: number
  attackedBeyond: number
  delayStepMs: number
  longestDelayMs: number
  /** First part of the keys in Redis. */
  prefix: string
}

const defaults: GuessRules = {
  tries: 10,
  triesUnderAttack: 3,
  windowSeconds: 15 * 60,
  slowedBeyond: 20,
  attackedBeyond: 50,
  delayStepMs: 100,
  longestDelayMs: 2000,
  prefix: 'satchel:guess',
}

const attackSeconds = 60 * 60
const redisTimeoutMs = 500

// A page that loads a hundred things at once with the right password is served; more is no visitor.
const longestAddressLine = 100
const longestShareLine = 500

/** Guards the passwords of shares. Make one for an instance and use it on every route that takes such a password. */
export interface GuessLimiter {
  /**
   * Checks a password, unless this address has guessed wrong too often.
   * @param address of the visitor, as believed after the trusted proxies
   * @param verify does the check; not called when the guess is refused. A check that throws counts as no guess.
   * @returns what `verify` says
   * @throws AppError TOO_MANY_ATTEMPTS with `retry_after` in seconds
   */
  attempt(shareId: string, address: string, verify: () => Promise<boolean>): Promise<boolean>
}

/**
 * @param redis counts together with the other instances; without it, in this process
 */
export function createGuessLimiter(redis?: Redis, changes: Partial<GuessRules> = {}): GuessLimiter {
  const rules = { ...defaults, ...changes }
  const countOfAddress = createCounter(`${rules.prefix}:address`, rules.windowSeconds, redis)
  const countOfShare = createCounter(`${rules.prefix}:share`, attackSeconds, redis)
  const addressLines = createLines(longestAddressLine)
  const shareLines = createLines(longestShareLine)

  // Refusing takes the guess back as well: what was not checked was no guess, and right passwords that crossed each
  // other on several instances must not add up to a lock.
  const refuse = async (counts: Count[]): Promise<never> => {
    await giveBack(counts)
    throw tooMany(counts[0]?.secondsLeft ?? 1)
  }

  const check = async (shareId: string, visitor: string, verify: () => Promise<boolean>) => {
    const own = await countOfAddress(visitor)
    if (own.used > rules.tries) return refuse([own])
    const all = await countOfShare(shareId)
    if (all.used > rules.attackedBeyond && own.used > rules.triesUnderAttack) return refuse([own, all])

    const delay = Math.min((all.used - rules.slowedBeyond) * rules.delayStepMs, rules.longestDelayMs)
    let wrong = false
    try {
      const right = await shareLines(shareId, async oneByOne => {
        if (delay > 0) await sleep(delay)
        return oneByOne(verify)
      })
      wrong = !right
      return right
    } finally {
      if (!wrong) await giveBack([own, all])
    }
  }

  return {
    attempt(shareId, address, verify) {
      const visitor = `${shareId}:${networkOf(address)}`
      return addressLines(visitor, oneByOne => oneByOne(check, shareId, visitor, verify))
    },
  }
}

function tooMany(seconds: number): AppError {
  const wait = seconds > 90 ? `${Math.ceil(seconds / 60)} minutes` : `${seconds} seconds`
  return new AppError(
    'TOO_MANY_ATTEMPTS',
    `Too many passwords were tried, so more are blocked for now. Try again in ${wait}.`,
    {
      retry_after: seconds,
    },
  )
}

interface Count {
  /** Guesses of this window, this one included. */
  used: number
  secondsLeft: number
  giveBack(): Promise<unknown>
}

const giveBack = (counts: Count[]) => Promise.all(counts.map(count => count.giveBack()))

/**
 * Counts by key in windows that start at the same moments everywhere. The window is part of the key: a guess that is
 * given back after its window has ended must not make room in the next one.
 */
function createCounter(keyPrefix: string, seconds: number, redis?: Redis): (key: string) => Promise<Count> {
  const options = { keyPrefix, points: 1, duration: seconds }
  const memory = new RateLimiterMemory(options)
  const store = redis
    ? new RLWrapperTimeouts({
        limiter: new RateLimiterRedis({ ...options, storeClient: redis, rejectIfRedisNotReady: true }),
        timeoutMs: redisTimeoutMs,
        insuranceLimiter: memory,
      })
    : memory
  return async key => {
    const now = Date.now() / 1000
    const window = Math.floor(now / seconds)
    const { consumedPoints } = await store.penalty(`${key}:${window}`)
    return {
      used: consumedPoints,
      secondsLeft: Math.max(1, Math.ceil((window + 1) * seconds - now)),
      giveBack: () => store.reward(`${key}:${window}`),
    }
  }
}

/** A line for every key, where one at a time is served; made for the first one in it and gone with the last. */
function createLines(longest: number) {
  const lines = new Map<string, { oneByOne: LimitFunction; inside: number }>()
  return async <T>(key: string, enter: (oneByOne: LimitFunction) => Promise<T>): Promise<T> => {
    const line = lines.get(key) ?? { oneByOne: pLimit(1), inside: 0 }
    if (line.inside >= longest) throw tooMany(2)
    lines.set(key, line)
    line.inside++
    try {
      return await enter(line.oneByOne)
    } finally {
      line.inside--
      if (line.inside === 0) lines.delete(key)
    }
  }
}

/**
 * What an address is counted as: an IPv4 address as it is, an IPv6 address as its /64. Some proxies append a port.
 * Whatever is no address counts as one and the same, so that inventing some gains nothing.
 */
export function networkOf(address: string): string {
  const plain = address
    .replace(/^\[(.*)\](?::\d+)?$/, '$1')
    .replace(/^([\d.]+):\d+$/, '$1')
    .replace(/%.*$/, '')
  if (isIPv4(plain)) return plain
  if (!isIPv6(plain)) return 'unknown'
  // The URL parser writes an address in its one canonical form.
  const [head = '', tail] = new URL(`http://[${plain}]`).hostname.slice(1, -1).split('::')
  const before = head.split(':').filter(Boolean)
  const after = tail?.split(':').filter(Boolean) ?? []
  const groups = [...before, ...Array<string>(8 - before.length - after.length).fill('0'), ...after]
  const mapped = groups.slice(0, 6).join(':') === '0:0:0:0:0:ffff'
  if (!mapped) return `${groups.slice(0, 4).join(':')}::/64`
  return groups
    .slice(6)
    .flatMap(group => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 255])
    .join('.')
}
