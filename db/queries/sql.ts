/** The placeholders of a list of values, for an IN. */
export const placeholders = (list: readonly unknown[]): string => list.map(() => '?').join(', ')

/** A value for each row by its id, as an expression; its values are an id and its value, for each row. Rows of other ids get NULL. */
export const byId = (count: number): string => `CASE id ${'WHEN ? THEN ? '.repeat(count)}END`

/** A list in parts of at most `size`. */
export const inParts = <T>(list: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(list.length / size) }, (_, i) => list.slice(i * size, (i + 1) * size))
