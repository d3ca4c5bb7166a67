import type { Caller } from '../access/caller.ts'
import type { Config } from '../config/config.ts'
import type { Coordination } from '../coordination/coordination.ts'
import { AppError } from '../runtime/errors.ts'
import { type Measures, silentMeasures } from '../telemetry/telemetry.ts'

/** How many calls a user may make in a sliding window. Fields that share a name share the count. */
export type RateRules = Config['rates']
export type RateName = keyof RateRules

/**
 * Rates that count people only. A program that syncs or backs up makes thousands of folders in a
 * minute. The plan bounds them, as it bounds the files, which have no rate.
 */
const ofPeople: ReadonlySet<RateName> = new Set(['folders'])

interface Identity {
  contextIdentity: string
  fieldIdentity: string
}

/**
 * The library is loaded with the first call that is counted: it brings a library of permissions
 * along, which nothing here uses.
 */
async function createLimiter(coordination: Coordination, rules: RateRules, now: () => number) {
  const { getGraphQLRateLimiter, Store } = await import('graphql-rate-limit')

  /**
   * Records the hit as it asks for those before it. (The library reads first and writes afterwards,
   * so its own stores let parallel calls through.) A refused call is not counted.
   */
  class AtomicStore extends Store {
    override async getForIdentity({ contextIdentity, fieldIdentity }: Identity): Promise<number[]> {
      const rule = rules[fieldIdentity as RateName]
      const { count } = await coordination.hit(`${fieldIdentity}:${contextIdentity}`, rule, now())
      // What counts was decided above; the library reads the clock again, a moment later. It copies
      // what it is given several times.
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
  coordination: Coordination
  /** Milliseconds since the epoch. */
  now?: () => number
  measures?: Measures
}

/**
 * Request rates by graphql-rate-limit, exact under parallel requests, across workers and instances
 * (docs/contract.md, section 7).
 */
export function rateLimitService({
  rules,
  coordination,
  now = Date.now,
  measures = silentMeasures,
}: Options) {
  let limiter: ReturnType<typeof createLimiter> | undefined

  return {
    /** Reports whether a rate counts the calls of a caller. Some rates exempt API keys. */
    counts: (name: RateName, caller: Pick<Caller, 'via'> | null | undefined): boolean =>
      caller?.via !== 'api_key' || !ofPeople.has(name),

    /** Counts a call of a user. @throws RATE_LIMITED with `retry_after` in seconds */
    async hit(name: RateName, userId: string, info: object): Promise<void> {
      const { max, seconds } = rules[name]
      const call = {
        parent: {},
        args: {},
        context: { userId },
        info: { ...info, fieldName: name } as never,
      }
      limiter ??= createLimiter(coordination, rules, now)
      const limited = await (await limiter)(call, {
        max,
        window: `${seconds}s`,
        uncountRejected: true,
      })
      if (!limited) return
      measures.counter('rateLimited', { policy: name })()
      const retryAfter = await this.retryAfter(name, userId)
      throw rateLimited(name, { max, seconds }, retryAfter)
    },

    /** Seconds until the oldest call that counts no longer does. */
    async retryAfter(name: RateName, userId: string): Promise<number> {
      const at = now()
      // The clock of another instance may be ahead.
      const { oldest = at } = await coordination.hit(
        `${name}:${userId}`,
        { ...rules[name], max: 0 },
        at,
      )
      return Math.max(1, Math.ceil((Math.min(oldest, at) + rules[name].seconds * 1000 - at) / 1000))
    },
  }
}

export type RateLimitService = ReturnType<typeof rateLimitService>

/** @param retryAfter in seconds */
export const rateLimited = (
  policy: string,
  { max, seconds }: { max: number; seconds: number },
  retryAfter: number,
) =>
  new AppError(
    'RATE_LIMITED',
    `This request is allowed ${max} times in ${seconds} seconds. Try again in ${retryAfter} seconds.`,
    { retry_after: retryAfter, policy, limit: max, window: seconds },
  )
