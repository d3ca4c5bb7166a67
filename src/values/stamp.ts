import { createHash } from 'node:crypto'

/**
 * A change stamp of several things together: a number of 48 bits that is another one when any of
 * their descriptions is.
 */
export const stampOf = (descriptions: readonly (string | number | null)[]): number =>
  createHash('sha256').update(JSON.stringify(descriptions)).digest().readUIntBE(0, 6)
