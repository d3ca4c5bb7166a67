import { setTimeout as sleep } from 'node:timers/promises'
import pLimit from 'p-limit'
import type { Coordination, Release } from '../coordination/coordination.ts'
import { AppError } from '../runtime/errors.ts'
import { createFairQueue, type FairQueue } from '../runtime/fair-queue.ts'
import { forWords, silentMeasures } from '../telemetry/telemetry.ts'
import { blocksOf } from '../values/network.ts'

/*
 * Limits on guessing the password of a share.
 *
 * Two goals conflict: many addresses together must not try passwords quickly, and they must not lock out a visitor who
 * knows the password. That visitor looks like one more guesser until the password is checked. So the first tries of an
 * unknown address are always checked, and all others are slowed down and limited:
 *
 * - An IP address has 10 wrong guesses on a share in 15 minutes; then it is refused without a check of its password.
 *   An IPv6 address counts as its /64, which is what one customer has.
 * - The limits of neighbouring addresses do not add up: a /56 has 20 wrong guesses, a /48 and an IPv4 /24 have 40.
 *   Beyond that, one address of the block that has not failed yet is admitted per minute.
 * - Wrong guesses on a share from everywhere are counted together for an hour. Beyond 20 every check is delayed, longer with
 *   every further wrong guess, up to 2 seconds. Beyond 50 all of the limits above drop to a third. An attack thus gains little by
 *   more guesses per address, only by more addresses; a visitor from a fresh address waits 2 seconds.
 * - A share has one check at a time. Addresses that have not failed go first, and blocks of addresses take turns (a /24, a /16 and a /8
 *   with the others of their size), so that 600 networks of one provider delay a visitor from elsewhere no longer than one does.
 *   When too many wait, the last in the queue are refused.
 *
 * A guess is counted before it is checked and uncounted if it was right, so that parallel guesses cannot all pass
 * the same check. The counts are shared by all workers, and by all instances through Redis; while Redis does not answer (or without
 * it) every instance counts for itself. The queues are those of a worker. The share itself is never touched.
 */

/** The parameters of the limits above. Tests shorten the times. */
export interface GuessRules {
  /** Wrong guesses per address, share and window, normally and beyond `attackedBeyond`. */
  tries: number
  triesUnderAttack: number
  windowSeconds: number
  /**
   * Interval in seconds at which one address without failures is admitted from a blocked network.
   */
  wayInSeconds: number
  /**
   * Wrong guesses per share and hour, from all addresses. Each further guess increases the delay.
   */
  slowedBeyond: number
  attackedBeyond: number
  delayStepMs: number
  longestDelayMs: number
  /** Prefix of the keys of the counts. */
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

// A page may load a hundred resources in parallel with the correct password.
const longestAddressQueue = 100
const longestShareQueue = 1000
/** The visitor has given up by then, so the password is no longer checked. */
const patienceMs = 30_000
/**
 * Milliseconds between checks whether another worker still verifies a guess of the same visitor.
 */
const RETRY_MS = 20
/** Turns that an address loses, per wrong guess, to addresses without failures. */
const turnsPerFailure = 10_000

/**
 * Limits guesses at share passwords. Create one per instance, and use it on every route that
 * accepts such a password.
 */
export interface GuessLimiter {
  /**
   * Verifies a password, unless this address has guessed wrong too often.
   * @param address IP address of the visitor, as determined by the trusted proxies
   * @param verify verifies the password; not called for a refused guess; if it throws, the guess is
   * not counted
   * @returns the result of `verify`
   * @throws AppError TOO_MANY_ATTEMPTS with `retry_after` in seconds
   */
  attempt(shareId: string, address: string, verify: () => Promise<boolean>): Promise<boolean>
}

export function createGuessLimiter(
  coordination: Coordination,
  changes: Partial<GuessRules> = {},
  measures = silentMeasures,
): GuessLimiter {
  const rules = { ...defaults, ...changes }
  const countOfAddress = createCounter(`${rules.prefix}:address`, rules.windowSeconds, coordination)
  const countOfShare = createCounter(`${rules.prefix}:share`, attackSeconds, coordination)
  const countOfWayIn = createCounter(`${rules.prefix}:way-in`, rules.wayInSeconds, coordination)
  const addressQueues = createQueues(() => pLimit(1), longestAddressQueue)
  const shareQueues = createQueues(
    () =>
      createFairQueue({
        atOnce: 1,
        longest: longestShareQueue,
        patience: patienceMs,
        full: () => tooManyAttempts(2),
      }),
    Number.POSITIVE_INFINITY,
  )

  const guesses = forWords(['right', 'wrong', 'refused'], outcome =>
    measures.counter('guesses', { outcome }),
  )

  /**
   * Counts a guess for the networks of an address.
   * @throws TOO_MANY_ATTEMPTS if a network has no tries left and `wayIn` does not admit the address
   */
  async function enterBlocks(
    shareId: string,
    address: string,
    own: Count,
    tries: number,
    counts: Count[],
  ) {
    const wider = blocksOf(address).flatMap(({ name, factor }) =>
      factor > 1 ? [{ key: `${shareId}:${name}`, factor }] : [],
    )
    const blocks = await Promise.all(
      wider.map(async ({ key, factor }) => ({ key, factor, count: await countOfAddress(key) })),
    )
    counts.push(...blocks.map(({ count }) => count))
    const over = blocks.findLast(({ count, factor }) => count.used > tries * factor)
    if (!over) return
    // An address with failures must wait until its network may guess again.
    if (own.used > 1) throw tooManyAttempts(over.count.secondsLeft)
    const wayIn = await countOfWayIn(over.key)
    if (wayIn.used > 1) throw tooManyAttempts(wayIn.secondsLeft)
  }

  async function check(
    shareId: string,
    address: string,
    own: Count,
    counts: Count[],
    verify: () => Promise<boolean>,
  ) {
    if (own.used > rules.tries) throw tooManyAttempts(own.secondsLeft)
    const all = await countOfShare(shareId)
    counts.push(all)
    const tries = all.used > rules.attackedBeyond ? rules.triesUnderAttack : rules.tries
    if (own.used > tries) throw tooManyAttempts(own.secondsLeft)
    const delay = Math.min(
      (all.used - rules.slowedBeyond) * rules.delayStepMs,
      rules.longestDelayMs,
    )
    if (delay > 0) await sleep(delay)
    const names = blocksOf(address).map(({ name }) => name)
    return shareQueues(shareId, (queue: FairQueue) =>
      queue.run(
        names,
        async () => {
          // Counted here, one at a time, so that parallel correct passwords from one office are not
          // refused.
          await enterBlocks(shareId, address, own, tries, counts)
          return verify()
        },
        (own.used - 1) * turnsPerFailure,
      ),
    )
  }

  async function checkOnce(
    shareId: string,
    address: string,
    visitor: string,
    verify: () => Promise<boolean>,
  ) {
    const own = await countOfAddress(visitor)
    // A refused guess was not checked, so it is uncounted.
    const counts = [own]
    let wrong = false
    try {
      const right = await check(shareId, address, own, counts, verify)
      guesses[right ? 'right' : 'wrong']()
      wrong = !right
      return right
    } finally {
      if (!wrong) await Promise.all(counts.map(count => count.uncount()))
    }
  }

  /**
   * Waits until no other worker verifies a guess of this visitor.
   * @throws TOO_MANY_ATTEMPTS
   */
  async function takeTurn(visitor: string): Promise<Release> {
    for (const end = performance.now() + patienceMs; ; await sleep(RETRY_MS)) {
      const release = await coordination.hold(1, [[`guess of ${visitor}`, 1]])
      if (release) return release
      if (performance.now() > end) throw tooManyAttempts(2)
    }
  }

  return {
    async attempt(shareId, address, verify) {
      const visitor = `${shareId}:${blocksOf(address)[0].name}`
      const attempted = addressQueues(visitor, oneByOne =>
        oneByOne(async () => {
          const release = await takeTurn(visitor)
          try {
            return await checkOnce(shareId, address, visitor, verify)
          } finally {
            release()
          }
        }),
      )
      return attempted.catch(error => {
        if (error instanceof AppError && error.code === 'TOO_MANY_ATTEMPTS') guesses.refused()
        throw error
      })
    },
  }
}

/** Wrong passwords per network and window, for all accounts together. */
const NETWORK_TRIES = 100

/**
 * Limits the wrong passwords that a network tries on many accounts. In addition, each account has
 * its own limit.
 */
export interface NetworkBound {
  /** @returns the result of `verify` @throws AppError TOO_MANY_ATTEMPTS */
  attempt(address: string, verify: () => Promise<boolean>): Promise<boolean>
}

/** @param prefix the prefix of the count keys */
export function createNetworkBound(
  coordination: Coordination,
  prefix: string,
  { tries = NETWORK_TRIES, windowSeconds = defaults.windowSeconds } = {},
): NetworkBound {
  const countOf = createCounter(prefix, windowSeconds, coordination)
  return {
    async attempt(address, verify) {
      const blocks = blocksOf(address).filter(({ factor }) => factor > 0)
      const counts = await Promise.all(
        blocks.map(async ({ name, factor }) => ({ factor, count: await countOf(name) })),
      )
      let wrong = false
      try {
        const over = counts.find(({ count, factor }) => count.used > tries * factor)
        if (over) throw tooManyAttempts(over.count.secondsLeft)
        const right = await verify()
        wrong = !right
        return right
      } finally {
        if (!wrong) await Promise.all(counts.map(({ count }) => count.uncount()))
      }
    },
  }
}

export function tooManyAttempts(seconds: number): AppError {
  const wait = seconds > 90 ? `${Math.ceil(seconds / 60)} minutes` : `${seconds} seconds`
  return new AppError(
    'TOO_MANY_ATTEMPTS',
    `Too many passwords were tried, so more are blocked for now. Try again in ${wait}.`,
    { retry_after: seconds },
  )
}

interface Count {
  /** The guesses in this window, including this one. */
  used: number
  secondsLeft: number
  uncount(): Promise<unknown>
}

/**
 * Counts by key in fixed windows that are the same in all processes. The window is part of the key,
 * so that uncounting a guess after its window has ended does not add a try to the next window.
 */
function createCounter(
  prefix: string,
  seconds: number,
  { add }: Coordination,
): (key: string) => Promise<Count> {
  return async key => {
    const now = Date.now() / 1000
    const window = Math.floor(now / seconds)
    const name = `${prefix}:${key}:${window}`
    return {
      used: await add(name, 1, seconds),
      secondsLeft: Math.max(1, Math.ceil((window + 1) * seconds - now)),
      uncount: () => add(name, -1, seconds),
    }
  }
}

/** A queue per key, created for the first task and removed after the last. */
function createQueues<Queue>(make: () => Queue, longest: number) {
  const queues = new Map<string, { queue: Queue; inside: number }>()
  return async <T>(key: string, enter: (queue: Queue) => Promise<T>): Promise<T> => {
    const known = queues.get(key) ?? { queue: make(), inside: 0 }
    if (known.inside >= longest) throw tooManyAttempts(2)
    queues.set(key, known)
    known.inside++
    try {
      return await enter(known.queue)
    } finally {
      known.inside--
      if (known.inside === 0) queues.delete(key)
    }
  }
}
