/*
 * Row numbers of the index. The upper bits are the number of a drive, so that the rows of a drive
 * are one range. Within a drive, rows have the order of the ids of the entries, which is that of
 * their creation. Numbers have gaps, so that an entry with an older id fits between two others.
 */

const PLACE_BITS = 43n
/**
 * The distance of new rows. Each word of an entry costs a byte more for each factor of 128. Entries
 * that are committed in another order than that of their ids need room, those of a drive that is
 * filled hardly do.
 */
export const GAP = 1n << 18n
export const FILLING_GAP = 1n << 6n
/** Numbers of drives are below this one. */
export const MOST_DRIVES = 2 ** 20

export const firstRow = (drive: number): bigint => BigInt(drive) << PLACE_BITS
/** Exclusive. */
export const endRow = (drive: number): bigint => BigInt(drive + 1) << PLACE_BITS
export const driveOfRow = (row: bigint): number => Number(row >> PLACE_BITS)

/** An id as 16 bytes, which sort like the id. */
export const bytesOf = (id: string): Buffer => Buffer.from(id.replaceAll('-', ''), 'hex')

export function idOf(bytes: Uint8Array): string {
  const hex = Buffer.from(bytes).toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}
