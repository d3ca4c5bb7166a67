import { z } from 'zod'

/** The plans that claim values give, in the order of their precedence; null for none. */
export type PlanClaim = { claim: string; plans: { value: string; plan: string }[] } | null

/** Reads PLAN_CLAIM. */
export const planClaim = z.string().transform((text, context): PlanClaim => {
  if (text === '') return null
  // Claim names may contain colons, like cognito:groups and URLs. The last colon before the first =
  // ends the name.
  const [, claim = '', rest = ''] = /^([^=\s]+):([^:=]+=.+)$/.exec(text) ?? []
  const plans = rest.split(',').map(pair => {
    const [, value = '', plan = ''] = /^(.+)=([^=]+)$/.exec(pair.trim()) ?? []
    return { value: value.trim(), plan: plan.trim() }
  })
  if (claim && plans.every(({ value, plan }) => value && /^[a-z0-9][a-z0-9-]{0,31}$/.test(plan)))
    return { claim, plans }
  context.addIssue('must be <claim>:<value>=<plan>,... where each plan is named by its id')
  return z.NEVER
})
