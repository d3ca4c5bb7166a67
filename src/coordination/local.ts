import { RateLimiterMemory } from 'rate-limiter-flexible'
import type { Coordination, Hits, Window } from './coordination.ts'
import { Held } from './held.ts'

/** Counts the hits of sliding windows; forgets keys without hits for a window. */
function slidingWindows() {
  const hits = new Map<string, { at: number[]; until: number }>()
  let swept = 0
  return (key: string, { max, seconds }: Window, now: number): Hits => {
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
  }
}

/** Counts in this process, which is alone. */
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
