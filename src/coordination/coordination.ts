import type { Bound } from './held.ts'

/** The maximum number of hits of a key in a sliding window. */
export interface Window {
  max: number
  seconds: number
}

/**
 * The tolerated clock difference between processes in milliseconds. A hit further in the future was
 * recorded before the clock was set back, and is ignored.
 */
export const CLOCK_SKEW_MS = 10_000

/** The hits in the window before a new hit. */
export interface Hits {
  count: number
  /** The time of the oldest hit, in milliseconds since the epoch; undefined without hits. */
  oldest: number | undefined
}

/** Releases what was acquired. Idempotent. */
export type Release = () => void

/**
 * A release, or undefined if a limit would be exceeded. Within one process it is returned
 * synchronously.
 */
export type Acquired = Release | undefined | Promise<Release | undefined>

/**
 * Shared counts and messages of processes: in one process (local.ts), between the workers of an
 * instance (src/workers/link.ts), or between instances (redis.ts). See docs/decisions/workers.md.
 */
export interface Coordination {
  /**
   * Atomically records a hit unless `max` hits already count, and returns the earlier hits.
   * Parallel calls cannot exceed the limit.
   * @param now milliseconds since the epoch
   */
  hit(key: string, window: Window, now: number): Promise<Hits>
  /**
   * Adds to a count, which expires this many seconds after its start.
   * @returns the new count
   */
  add(key: string, by: 1 | -1, seconds: number): Promise<number>
  /**
   * Acquires an amount under every key, or under none if a limit would be exceeded. It is released
   * when the process ends.
   */
  hold(amount: number, bounds: readonly Bound[]): Acquired
  /**
   * Like `hold`, for what every request acquires: a worker that holds little does not ask the
   * others. Limits are never exceeded, but up to a sixteenth may stay unused.
   */
  holdOften(amount: number, bounds: readonly Bound[]): Acquired
  /** Publishes to the other processes. Best effort, and never fails. */
  publish(channel: string, text: string): void
  /** Receives messages of the other processes. `heard` must not throw. */
  subscribe(channel: string, heard: (text: string) => void): void
  close(): void
}
