import { z } from 'zod'
import { groupRoles } from './group-roles.ts'
import { planClaim } from './plan-claim.ts'
import { signUpRule } from './sign-up-rule.ts'

/**
 * Settings for provider claims: who may have an account, on which plan, and which roles groups
 * give.
 */
export const claimSettings = {
  SIGN_UP: {
    help: 'who may create an account: open, domains:example.com,example.org (verified e-mail addresses), invited (a pending invite to the verified e-mail address, or a file shared with it), claim:groups=staff,admins (a claim of the provider), or closed',
    default: '',
    shown: 'open',
    read: signUpRule,
  },
  PLAN_CLAIM: {
    help: 'plans by a claim of the provider, such as groups:staff=business,students=basic; each sign-in assigns the first match, unless an operator has chosen the plan',
    default: '',
    read: planClaim,
  },
  GROUP_CLAIM: {
    help: 'claim of the sign-in providers that lists the groups of a user',
    default: 'groups',
    read: z.string().min(1),
  },
  GROUP_ROLES: {
    help: 'roles that groups of the sign-in providers give in workspaces, comma separated: <provider>:<group>=<id of the workspace>/<admin, editor or viewer>; a single provider need not be named; applied at each sign-in',
    default: '',
    read: groupRoles,
  },
} as const
