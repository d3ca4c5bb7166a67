import type { Fingerprint } from './job.ts'

/**
 * When a file was last modified, as the computer says that it comes from: any time of these three
 * centuries, the future included, because clocks differ. What is outside of them is no time of a
 * file, but a unit that was mistaken or a clock that was never set (docs/decisions/file-times.md).
 */
const EARLIEST = Date.UTC(1900, 0)
const END = Date.UTC(2200, 0)

/** The time as whole milliseconds since 1970; undefined for what is no time of a file. */
export function modifiedAtOf(ms: number): number | undefined {
  const whole = Math.floor(ms)
  return whole >= EARLIEST && whole < END ? whole : undefined
}

/** What is said to the service of the time of a file: nothing where it is none, or not known. */
export function timeOf({ mtimeMs }: Fingerprint): { modifiedAt?: string } {
  const time = modifiedAtOf(mtimeMs)
  return time ? { modifiedAt: new Date(time).toISOString() } : {}
}
