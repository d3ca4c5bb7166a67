/**
 * The tokens of a query. The service parses them in src/values/search-query.ts, and a test compares
 * the two.
 */
const PART = /(-?)(?:([\p{L}]+):)?(?:"([^"]*)(?:"|$)|(\S+))/gu

export interface Part {
  /** The token as written. */
  whole: string
  isNot: boolean
  key: string | undefined
  value: string
}

export const partsOf = (text: string): Part[] =>
  [...text.matchAll(PART)].map(([whole, minus, key, quoted, bare = '']) => ({
    whole,
    isNot: minus === '-',
    key: key?.toLowerCase(),
    value: quoted ?? bare,
  }))

/** The values of a filter. */
export const valuesOf = (text: string, key: string): string[] =>
  partsOf(text).flatMap(part => (part.key === key && !part.isNot ? part.value : []))

const written = (key: string, value: string) => {
  const plain = value.replaceAll('"', ' ').trim()
  return /\s/.test(plain) ? `${key}:"${plain}"` : `${key}:${plain}`
}

/**
 * Sets or removes (null) filters in a query. Filters go first, because the last word of a query
 * also matches as a prefix.
 */
export function withFilters(
  text: string,
  filters: Record<string, string | readonly string[] | null>,
): string {
  const rest = partsOf(text).filter(
    ({ key, isNot }) => isNot || key === undefined || !(key in filters),
  )
  const given = Object.entries(filters).flatMap(([key, values]) =>
    (values === null ? [] : [values].flat()).map(value => written(key, value)),
  )
  const isOver = /\s$/.test(text) && rest.length > 0
  return [...given, ...rest.map(({ whole }) => whole)].join(' ') + (isOver ? ' ' : '')
}
