import { setTimeout as sleep } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import pLimit from 'p-limit'
import { RateLimiterMemory, RateLimiterRedis, RLWrapperTimeouts } from 'rate-limiter-flexible'
import { AppError } from '../errors.ts'
import { createFairQueue, type FairQueue } from '../fair-queue.ts'
import { blocksOf } from '../network.ts'

/*
 * How guessing the password of a share is bounded.
 *
 * Two things are wanted that pull apart: a crowd of addresses must not try passwords at speed, and no crowd may lock out
 * a visitor who knows the password. That visitor cannot be told from one more guesser before the password is checked.
 * So the first tries of a stranger are always checked, and everything else is made slow and few:
 *
 * - An address has 10 wrong guesses on a share in 15 minutes; then it is refused without a look at its password.
 *   An IPv6 address counts as its /64, which is what one customer has.
 * - Who has many addresses side by side has not as many times that: a /56 has 20 wrong guesses, a /48 and an IPv4 /24 have 40.
 *   Beyond that, one address of the block that has not failed yet is let in a minute.
 * - Wrong guesses on a share from everywhere are counted together for an hour. Beyond 20 every check waits, longer with
 *   every further wrong guess, up to 2 seconds. Beyond 50 all of the bounds above are a third. A crowd thus gains little by trying
 *   harder, only by being bigger; a visitor from a fresh address waits 2 seconds and is in.
 * - A share has one check at a time. Those who have not failed go first, and blocks of addresses take turns (a /24, a /16 and a /8
 *   with the others of their size), so that 600 networks of one provider hold up a visitor from elsewhere no longer than one does.
 *   When too many wait, those are refused whose turn is last.
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
  /** How often an address that has not failed is let in from a block that has failed too often: once in so many seconds. */
  wayInSeconds: number
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
  wayInSeconds: 60,
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
const longestShareLine = 1000
/** A visitor has given up by then, and the password need not be checked. */
const patienceMs = 30_000
/** So many turns does each wrong guess put an address behind those that have not failed. */
const turnsPerFailure = 10_000

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
  const countOfWayIn = createCounter(`${rules.prefix}:way-in`, rules.wayInSeconds, redis)
  const addressLines = createLines(() => pLimit(1), longestAddressLine)
  const shareLines = createLines(
    () => createFairQueue({ atOnce: 1, longest: longestShareLine, patience: patienceMs, full: () => tooMany(2) }),
    Number.POSITIVE_INFINITY,
  )

  /** Counts a guess in the blocks around an address. @throws TOO_MANY_ATTEMPTS unless they have tries left, or a way in */
  async function enterBlocks(shareId: string, address: string, own: Count, tries: number, counts: Count[]) {
    const wider = blocksOf(address).flatMap(({ name, factor }) =>
      factor > 1 ? [{ key: `${shareId}:${name}`, factor }] : [],
    )
    const blocks = await Promise.all(
      wider.map(async ({ key, factor }) => ({ key, factor, count: await countOfAddress(key) })),
    )
    counts.push(...blocks.map(({ count }) => count))
    const over = blocks.findLast(({ count, factor }) => count.used > tries * factor)
    if (!over) return
    // Who has failed already has to wait until the block may guess again.
    if (own.used > 1) throw tooMany(over.count.secondsLeft)
    const wayIn = await countOfWayIn(over.key)
    if (wayIn.used > 1) throw tooMany(wayIn.secondsLeft)
  }

  async function check(shareId: string, address: string, own: Count, counts: Count[], verify: () => Promise<boolean>) {
    if (own.used > rules.tries) throw tooMany(own.secondsLeft)
    const all = await countOfShare(shareId)
    counts.push(all)
    const tries = all.used > rules.attackedBeyond ? rules.triesUnderAttack : rules.tries
    if (own.used > tries) throw tooMany(own.secondsLeft)
    const delay = Math.min((all.used - rules.slowedBeyond) * rules.delayStepMs, rules.longestDelayMs)
    if (delay > 0) await sleep(delay)
    const names = blocksOf(address).map(({ name }) => name)
    return shareLines(shareId, (line: FairQueue) =>
      line.run(
        names,
        async () => {
          // Counted here, one at a time: right passwords that come at once from one office must not add up to a refusal.
          await enterBlocks(shareId, address, own, tries, counts)
          return verify()
        },
        (own.used - 1) * turnsPerFailure,
      ),
    )
  }

  return {
    attempt(shareId, address, verify) {
      const visitor = `${shareId}:${blocksOf(address)[0].name}`
      return addressLines(visitor, oneByOne =>
        oneByOne(async () => {
          const own = await countOfAddress(visitor)
          // What was not checked was no guess, so refusing takes it back as well.
          const counts = [own]
          let wrong = false
          try {
            const right = await check(shareId, address, own, counts, verify)
            wrong = !right
            return right
          } finally {
            if (!wrong) await Promise.all(counts.map(count => count.giveBack()))
          }
        }),
      )
    },
  }
}

function tooMany(seconds: number): AppError {
  const wait = seconds > 90 ? `${Math.ceil(seconds / 60)} minutes` : `${seconds} seconds`
  return new AppError(
    'TOO_MANY_ATTEMPTS',
    `Too many passwords were tried, so more are blocked for now. Try again in ${wait}.`,
    { retry_after: seconds },
  )
}

interface Count {
  /** Guesses of this window, this one included. */
  used: number
  secondsLeft: number
  giveBack(): Promise<unknown>
}

/**
 * Counts by key in windows that start at the same moments everywhere. The window is part of the key: a guess that is
 * given back after its window has ended must not add a try to the next one.
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

/** A line for every key; made for the first one in it and gone with the last. */
function createLines<Line>(make: () => Line, longest: number) {
  const lines = new Map<string, { line: Line; inside: number }>()
  return async <T>(key: string, enter: (line: Line) => Promise<T>): Promise<T> => {
    const known = lines.get(key) ?? { line: make(), inside: 0 }
    if (known.inside >= longest) throw tooMany(2)
    lines.set(key, known)
    known.inside++
    try {
      return await enter(known.line)
    } finally {
      known.inside--
      if (known.inside === 0) lines.delete(key)
    }
  }
}
