import { z } from 'zod'
import { flag, list } from './readers.ts'

/** Who may share outside: everyone, nobody, or the accounts on some plans. */
export type Outside = 'everyone' | 'nobody' | { plans: readonly string[] }

const outside = z.string().transform((text, context): Outside => {
  if (text === 'everyone' || text === 'nobody') return text
  const plans = /^plans:(.+)$/
    .exec(text)?.[1]
    ?.split(',')
    .map(plan => plan.trim())
  if (plans?.every(plan => /^[a-z0-9][a-z0-9-]{0,31}$/.test(plan))) return { plans }
  context.addIssue('must be everyone, nobody, or plans: followed by ids of plans')
  return z.NEVER
})

// The service checks the bounds, from 1 minute to 5 years, when it starts.
const duration = z
  .string()
  .regex(/^([1-9][0-9]{0,6}(m|h|d|w|mo|y))?$/, 'must be a duration from 1m to 5y, such as 90d')

/** Settings for what people may share, and with whom. */
export const sharingSettings = {
  SHARE_MAX_DURATION: {
    help: 'the longest duration of links, shares and file requests, such as 90d; with it, nothing is shared without an expiry',
    default: '',
    read: duration,
  },
  SHARE_PASSWORD: {
    help: 'whether links and file requests must have a password',
    default: 'false',
    read: flag,
  },
  SHARE_OUTSIDE: {
    help: 'who may share outside (by links, by file requests, and with e-mail addresses outside of SHARE_DOMAINS): everyone, nobody, or plans:business,team for the accounts on these plans',
    default: 'everyone',
    read: outside,
  },
  SHARE_DOMAINS: {
    help: 'domains of the e-mail addresses with which everyone may share, comma separated',
    default: '',
    read: list.transform(domains => domains.map(domain => domain.toLowerCase())),
  },
} as const
