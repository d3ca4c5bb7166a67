/**
 * The parts of the text of a search, as the service reads them (src/values/search-query.ts; a test
 * compares them).
 */
const PART = /(-?)(?:([\p{L}]+):)?(?:"([^"]*)(?:"|$)|(\S+))/gu

export interface Part {
  /** As it is written. */
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
 * The text with other values of some filters; null takes a filter away. Filters stand first: the
 * last word of a search may be the beginning of one.
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
