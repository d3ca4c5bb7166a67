import { isKind } from './kinds.ts'

const LONGEST = 64
const names = ['person', 'kind', 'since', 'until', 'address', 'credential', 'about'] as const

/**
 * What is looked for, as the URL and the form have it: `person` without the prefix of an account,
 * times of the local clock.
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

/** The same as the service reads it. */
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

/** Where the service sends the same as a file. */
export function exportOf(search: AuditSearch, format: 'csv' | 'ndjson'): string {
  const { kinds, ...filter } = filterOf(search)
  const query = new URLSearchParams({ format })
  for (const [name, value] of Object.entries(filter)) if (value !== null) query.set(name, value)
  for (const kind of kinds ?? []) query.append('kind', kind)
  return `/audit/export?${query}`
}
