/** The URL parameters: which grants are listed. */
export interface GrantsSearch {
  kind?: 'link' | 'direct' | 'request'
  /** The id of a person. */
  person?: string
  /** The id of a workspace. */
  workspace?: string
  forever?: true
  unprotected?: true
  breaking?: true
}

const kinds = ['link', 'direct', 'request'] as const

const id = (value: unknown): string | undefined =>
  typeof value === 'string' && /^[0-9a-f-]{36}$/i.test(value) ? value : undefined
const flag = (value: unknown): true | undefined =>
  value === true || value === 'true' ? true : undefined

/** Parses the URL parameters, and drops unknown values. */
export const readSearch = (given: Record<string, unknown>): GrantsSearch => ({
  kind: kinds.find(kind => kind === given.kind),
  person: id(given.person),
  workspace: id(given.workspace),
  forever: flag(given.forever),
  unprotected: flag(given.unprotected),
  breaking: flag(given.breaking),
})

const kindOf = { link: 'LINK', direct: 'DIRECT', request: 'REQUEST' } as const

/** The filters as query variables. */
export const filterOf = ({
  kind,
  person,
  workspace,
  forever,
  unprotected,
  breaking,
}: GrantsSearch) => ({
  kinds: kind ? [kindOf[kind]] : null,
  person: person ?? null,
  workspace: workspace ?? null,
  neverExpires: forever ?? null,
  withoutPassword: unprotected ?? null,
  breaksRules: breaking ?? null,
})
