import { isKind } from './kinds.ts'

const LONGEST = 64
const names = ['person', 'kind', 'since', 'until', 'address', 'credential', 'about'] as const

/**
 * The filters as in the URL and the form: `person` without the prefix of an account id, times in
 * local time.
 */
export type AuditSearch = Partial<Record<(typeof names)[number], string>>

export const readSearch = (given: Record<string, unknown>): AuditSearch =>
  Object.fromEntries(
    names.flatMap(name => {
      const value = String(given[name] ?? '').trim()
      return value ? [[name, value.slice(0, LONGEST)]] : []
    }),
  )

const moment = (text: string | undefined): string | null => {
  const time = Date.parse(text ?? '')
  return Number.isNaN(time) ? null : new Date(time).toISOString()
}

/** The filters as query variables. */
export const filterOf = ({
  kind,
  since,
  until,
  person,
  address,
  credential,
  about,
}: AuditSearch) => ({
  kinds: kind && isKind(kind) ? [kind] : null,
  since: moment(since),
  until: moment(until),
  person: person ?? null,
  address: address ?? null,
  credential: credential ?? null,
  about: about ?? null,
})

/** URL of an export with the same filters. */
export function exportOf(search: AuditSearch, format: 'csv' | 'ndjson'): string {
  const { kinds, ...filter } = filterOf(search)
  const query = new URLSearchParams({ format })
  for (const [name, value] of Object.entries(filter)) if (value !== null) query.set(name, value)
  for (const kind of kinds ?? []) query.append('kind', kind)
  return `/audit/export?${query}`
}
