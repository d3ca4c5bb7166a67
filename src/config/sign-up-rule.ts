import { z } from 'zod'

const domain = /^[a-z\d]([a-z\d-]*[a-z\d])?(\.[a-z\d]([a-z\d-]*[a-z\d])?)*$/

/** Who may create an account. Existing users can always sign in. */
export type SignUp =
  | { rule: 'open' | 'invited' | 'closed' }
  /** Users with verified addresses in these domains. */
  | { rule: 'domains'; domains: string[] }
  /** Users whose claim has one of these values. */
  | { rule: 'claim'; claim: string; values: string[] }

/** Parses SIGN_UP; null if it is not set. */
export const signUpRule = z.string().transform((text, context): SignUp | null => {
  const [, rule = text, rest = ''] = /^([a-z]+):(.*)$/.exec(text) ?? []
  const values = (of: string) => of.split(',').map(value => value.trim())
  const [, claim = '', given = ''] = /^([^=\s]+)=(.+)$/.exec(rest) ?? []
  if (text === '') return null
  if (text === 'open' || text === 'invited' || text === 'closed') return { rule: text }
  const domains = values(rest.toLowerCase())
  if (rule === 'domains' && domains.every(name => domain.test(name))) return { rule, domains }
  if (rule === 'claim' && claim && values(given).every(Boolean))
    return { rule, claim, values: values(given) }
  context.addIssue(
    'must be open, invited, closed, domains:<domain>,... or claim:<name>=<value>,...',
  )
  return z.NEVER
})
