import { RateLimiterMemory } from 'rate-limiter-flexible'
import { CLOCK_SKEW_MS, type Coordination, type Hits, type Window } from './coordination.ts'
import { Held } from './held.ts'

/** Counts hits in sliding windows. Forgets keys without hits for a window. */
function slidingWindows() {
  const hits = new Map<string, { at: number[]; window: number }>()
  let swept = 0
  return (key: string, { max, seconds }: Window, now: number): Hits => {
    const window = seconds * 1000
    const counts = (at: number, within: number) => at > now - within && at <= now + CLOCK_SKEW_MS
    if (Math.abs(now - swept) > window) {
      for (const [k, of] of hits) if (!of.at.some(at => counts(at, of.window))) hits.delete(k)
      swept = now
    }
    const at = (hits.get(key)?.at ?? []).filter(each => counts(each, window))
    const before = { count: at.length, oldest: at[0] }
    if (before.count < max) {
      at.push(now)
      hits.set(key, { at, window })
    }
    return before
  }
}

/** The coordination of a single process. */
export function localCoordination(): Coordination {
  const hit = slidingWindows()
  const counts = new RateLimiterMemory({ keyPrefix: '', points: 1, duration: 1 })
  const held = new Held()
  return {
    hit: async (key, window, now) => hit(key, window, now),
    add: async (key, by, seconds) =>
      (await counts.penalty(key, by, { customDuration: seconds })).consumedPoints,
    hold: (amount, bounds) => held.acquire(amount, bounds),
    holdOften: (amount, bounds) => held.acquire(amount, bounds),
    publish() {},
    subscribe() {},
    close() {},
  }
}
