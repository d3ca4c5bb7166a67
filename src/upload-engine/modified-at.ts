import type { Fingerprint } from './job.ts'

/**
 * Range of valid modification times: three centuries, including the future, because clocks differ.
 * A time outside this range comes from a wrong unit or a clock that was never set
 * (docs/decisions/file-times.md).
 */
const EARLIEST = Date.UTC(1900, 0)
const END = Date.UTC(2200, 0)

/** The time in whole milliseconds since 1970; undefined if it is out of range. */
export function modifiedAtOf(ms: number): number | undefined {
  const whole = Math.floor(ms)
  return whole >= EARLIEST && whole < END ? whole : undefined
}

/** The modification time to send to the service; empty if it is invalid or unknown. */
export function timeOf({ mtimeMs }: Fingerprint): { modifiedAt?: string } {
  const time = modifiedAtOf(mtimeMs)
  return time ? { modifiedAt: new Date(time).toISOString() } : {}
}
