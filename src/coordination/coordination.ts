import type { Bound } from './held.ts'

/** How many hits of a key may count in a sliding window. */
export interface Window {
  max: number
  seconds: number
}

/**
 * Milliseconds by which the clocks of processes may differ. A hit that is further in the future was
 * recorded before the clock was set back, and no longer counts.
 */
export const CLOCK_SKEW_MS = 10_000

/** The hits that still counted when a new one came. */
export interface Hits {
  count: number
  /**
   * When the first of them came, in milliseconds since the epoch; undefined where there is none.
   */
  oldest: number | undefined
}

/** Gives back what was acquired. Idempotent. */
export type Release = () => void

/** A release; nothing where a limit would be exceeded. In one process it is there at once. */
export type Acquired = Release | undefined | Promise<Release | undefined>

/**
 * What processes must count together, and what they tell each other: in one process (local.ts),
 * between the workers of an instance (src/workers/link.ts), or between instances (redis.ts). See
 * docs/decisions/workers.md.
 */
export interface Coordination {
  /**
   * Records a hit unless `max` hits count already, and answers those before it, in one step:
   * parallel calls cannot exceed the limit.
   * @param now milliseconds since the epoch
   */
  hit(key: string, window: Window, now: number): Promise<Hits>
  /**
   * Adds to a count, which is forgotten so many seconds after its begin. @returns the count, with
   * this
   */
  add(key: string, by: 1 | -1, seconds: number): Promise<number>
  /**
   * Acquires an amount under every key, or under none if a limit would be exceeded. What a process
   * holds ends with it.
   */
  hold(amount: number, bounds: readonly Bound[]): Acquired
  /**
   * The same, for what every request holds: a worker that holds little does not ask the others. The
   * limits are never exceeded; up to a sixteenth of one may stay unused.
   */
  holdOften(amount: number, bounds: readonly Bound[]): Acquired
  /** Tells the other processes. Best effort; it never fails. */
  publish(channel: string, text: string): void
  /** Hears what the other processes publish. `heard` must not throw. */
  subscribe(channel: string, heard: (text: string) => void): void
  close(): void
}
