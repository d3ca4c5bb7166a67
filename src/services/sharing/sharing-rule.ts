import type { Tx } from '../../../db/index.ts'
import type { GrantRules } from '../../../db/queries/grant.ts'
import type { Caller } from '../../access/caller.ts'
import type { Config } from '../../config/config.ts'
import { AppError, InvalidInput, Unauthenticated } from '../../runtime/errors.ts'
import { parseDuration } from '../../values/duration.ts'
import { type GrantKind, type SharingRule, sharingRules } from '../../values/grant.ts'
import type { Core } from '../core.ts'

/** The rules of the settings about what people may share. */
export type SharingRules = Pick<
  Config,
  'shareMaxDuration' | 'sharePassword' | 'shareOutside' | 'shareDomains'
>

/** The terms of a grant that the rules restrict. */
export interface RuledTerms {
  kind: GrantKind
  /** An e-mail address; null for links and requests. */
  recipient: string | null
  /** In milliseconds since 1970; null if it never expires. */
  expiresAt: number | null
  hasPassword: boolean
}

const isInside = (domains: readonly string[], recipient: string | null): boolean =>
  recipient !== null && domains.includes(recipient.slice(recipient.lastIndexOf('@') + 1))

/**
 * The rules that a grant would break if it were made or renewed now.
 * @param planId the plan of its sharer
 */
export function brokenRules(
  { shareMaxDuration, sharePassword, shareOutside, shareDomains }: SharingRules,
  { kind, recipient, expiresAt, hasPassword }: RuledTerms,
  planId: string,
  now = Date.now(),
): SharingRule[] {
  const max = shareMaxDuration === '' ? null : parseDuration(shareMaxDuration)
  const mayShareOutside =
    shareOutside === 'everyone' ||
    (shareOutside !== 'nobody' && shareOutside.plans.includes(planId))
  return [
    ...(max !== null && (expiresAt === null || expiresAt - now > max)
      ? (['duration'] as const)
      : []),
    // Recipients of a share sign in instead.
    ...(sharePassword && kind !== 'direct' && !hasPassword ? (['password'] as const) : []),
    ...(mayShareOutside || isInside(shareDomains, recipient) ? [] : (['outside'] as const)),
  ]
}

/** The rules as conditions on rows, to list the grants that break them now. */
export const boundsOf = (
  { shareMaxDuration, sharePassword, shareOutside, shareDomains }: SharingRules,
  now = Date.now(),
): GrantRules => ({
  latest: shareMaxDuration === '' ? null : now + parseDuration(shareMaxDuration),
  needsPassword: sharePassword,
  outside:
    shareOutside === 'everyone'
      ? null
      : { plans: shareOutside === 'nobody' ? [] : shareOutside.plans, domains: shareDomains },
})

/** When and how terms are checked. */
interface Moment {
  /** The time from which the duration counts. */
  now: number
  /** The rules to check, by default all. */
  among?: readonly SharingRule[]
  tx?: Tx
}

/**
 * The rules that a change of a grant must keep. A grant that breaks a newer rule can still get
 * another name or more protection, but cannot be renewed as it is.
 */
export const rulesOfChange = (change: {
  isRenewed: boolean
  removesPassword: boolean
}): readonly SharingRule[] =>
  change.isRenewed ? sharingRules : change.removesPassword ? ['password'] : []

/**
 * Enforces the rules for every interface, because all of them make and change grants with the same
 * services.
 */
export function sharingRuleService({ db, ...rules }: Core<'db'> & SharingRules) {
  const { shareMaxDuration, shareOutside, shareDomains } = rules
  // A setting out of bounds makes the start fail, and not each later share.
  boundsOf(rules)

  /** The plan of a person, where the rules depend on it. */
  async function planOf({ userId }: Caller, tx?: Tx): Promise<string> {
    if (typeof shareOutside === 'string') return ''
    const user = await db.User.findByPk(userId, {
      attributes: ['planId'],
      raw: true,
      ...(tx ? { transaction: tx } : {}),
    })
    if (!user) throw new Unauthenticated()
    return user.planId
  }

  const refusals: Record<SharingRule, (kind: GrantKind) => AppError> = {
    duration: () =>
      new AppError(
        'INVALID_DURATION',
        `This service shares for at most ${shareMaxDuration}. Choose a shorter duration.`,
        { field: 'duration' },
      ),
    password: () =>
      new InvalidInput('password', 'This service shares links only with a password. Choose one.'),
    outside: kind =>
      kind === 'direct'
        ? new InvalidInput(
            'email',
            shareDomains.length === 0
              ? 'Your account may not share with other people.'
              : `Your account may share only with addresses of ${shareDomains.join(', ')}.`,
          )
        : new InvalidInput(
            kind === 'link' ? 'entries' : 'folder',
            'Your account may not share with everyone who has a link. Share with a person instead.',
          ),
  }

  return {
    /**
     * A duration that keeps the rules: the default, or the longest one if the default is longer.
     */
    defaultDuration(text: string): string {
      if (shareMaxDuration === '') return text
      const isLonger = text === 'never' || parseDuration(text) > parseDuration(shareMaxDuration)
      return isLonger ? shareMaxDuration : text
    },

    /**
     * Requires that terms keep the rules.
     * @throws INVALID_DURATION, INVALID_INPUT
     */
    async require(
      caller: Caller,
      terms: RuledTerms,
      { now, among = sharingRules, tx }: Moment,
    ): Promise<void> {
      if (among.length === 0) return
      const [broken] = brokenRules(rules, terms, await planOf(caller, tx), now).filter(rule =>
        among.includes(rule),
      )
      if (broken) throw refusals[broken](terms.kind)
    },
  }
}

export type SharingRuleService = ReturnType<typeof sharingRuleService>
