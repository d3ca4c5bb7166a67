/** The bits of a number that tell apart the ids of one millisecond. */
const LOW = 21n
const STEP = 2 ** Number(LOW)
const MILLION = 1_000_000

/**
 * The number of an entry for programs that cannot handle UUIDs: 63 bits, positive, in decimal. It
 * is derived from the id, so it survives renaming, moving, overwriting and restoring. The upper 42
 * bits are the time of the UUIDv7 in milliseconds, which suffices until 2109. The lower 21 bits are
 * taken from the counter with which the package `uuid` keeps the ids of one millisecond apart. Two
 * instances that create entries in the same millisecond choose the same number with a probability
 * of one in two million, and then nearly always for different people.
 */
export function entryNumber(id: string): string {
  // The hex digits of the time, and those of the counter.
  const time = Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
  const counter = Number.parseInt(id.slice(19, 23) + id.slice(24, 26), 16) & (STEP - 1)
  // In two parts, because a BigInt takes several times as long.
  const low = (time % MILLION) * STEP + counter
  const high = Math.floor(time / MILLION) * STEP + Math.floor(low / MILLION)
  return high === 0 ? String(low) : high + String(low % MILLION).padStart(6, '0')
}

/** An id of this version before all ids of a time, in milliseconds. */
export function idBefore(time: number): string {
  const hex = time.toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`
}

/**
 * The time of an entry number, in milliseconds since 1970: all ids with this number begin with it.
 * @returns undefined for a text that is no entry number
 */
export function timeOfNumber(number: string): number | undefined {
  if (!/^[1-9]\d{0,18}$/.test(number)) return undefined
  const value = BigInt(number)
  return value < 1n << 63n ? Number(value >> LOW) : undefined
}
