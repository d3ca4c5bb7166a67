import type { Caller } from '../../access/caller.ts'
import { isFromOwnPage } from '../../access/origin.ts'
import { Forbidden } from '../../runtime/errors.ts'
import { readReturnTo } from '../return-to.ts'
import { accountGate } from './account-gate.ts'
import type { Handler, PageDeps, Pages } from './page-deps.ts'
import {
  emailField,
  passwordField,
  type Refusal,
  readFields,
  refusalOf,
  showForm,
  type Visit,
} from './page-kit.ts'
import { passkeyChallenges } from './passkey-challenge.ts'
import { SECURITY_PATH } from './security-pages.ts'

const CONFIRM = '/account/confirm'

/** `/account/confirm`: the confirmation of identity before a change. */
export function confirmPages(deps: PageDeps): Pages {
  const { services, tokens, otherProviders, publicUrl } = deps
  const { logins, passkeys, proofs } = services
  const { callerOf } = accountGate(deps)
  const challenges = passkeyChallenges(tokens)

  const nextOf = ({ incoming }: Visit) =>
    readReturnTo(incoming.query.get('return_to') ?? undefined) ?? SECURITY_PATH

  async function showConfirm(visit: Visit, caller: Caller, refusal?: Refusal): Promise<void> {
    const { say } = visit
    const next = nextOf(visit)
    const login = await logins.ofUser(caller.userId)
    const hasPasskey =
      login !== undefined && passkeys.isOffered() && (await passkeys.list(login.id)).length > 0
    const own = passkeys.newChallenge()
    const again = (provider: string) =>
      `/auth/oauth?${new URLSearchParams({ provider, return_to: next })}`
    const hasPassword = login?.password != null && logins.hasPasswords
    const form = {
      heading: say('confirm_title'),
      icon: 'lock' as const,
      lead: [say('confirm_lead')],
      action: `${CONFIRM}?${new URLSearchParams({ return_to: next })}`,
      problem: '',
      hidden: [
        ['passkey', ''],
        ['challenge', challenges.seal(caller, own)],
      ] as [string, string][],
      fields: hasPassword
        ? [{ ...emailField(say, login.email), readonly: true as const }, passwordField(say)]
        : [],
      buttons: hasPassword ? [{ label: say('confirm') }] : [],
      links:
        hasPassword || hasPasskey
          ? []
          : otherProviders.map(name => ({ label: say('confirm_again'), href: again(name) })),
      passkey: hasPasskey
        ? {
            kind: 'get' as const,
            options: JSON.stringify(passkeys.signInOptions(own)),
            label: say('confirm_with_passkey'),
          }
        : undefined,
    }
    showForm(visit, form, refusal)
  }

  const openConfirm: Handler = async visit => {
    const caller = await callerOf(visit)
    if (caller) await showConfirm(visit, caller)
  }

  const confirm: Handler = async visit => {
    const { req, address } = visit.incoming
    if (!isFromOwnPage(req, publicUrl))
      throw new Forbidden('Send this form from the page of this service.')
    const fields = await readFields(visit)
    const caller = await callerOf(visit)
    if (!caller) return
    const login = await logins.ofUser(caller.userId)
    const answer = fields.get('passkey')
    try {
      const own = answer ? challenges.read(caller, fields) : null
      const deviceOf = () => `session ${caller.credentialId}`
      const proved = answer
        ? own !== null && (await passkeys.check(answer, own))
        : login &&
          (await logins.check(
            { email: login.email, password: fields.get('password') ?? '' },
            { address, deviceOf },
          ))
      if (proved && proved.userId === caller.userId) {
        await proofs.note(caller)
        return visit.lead(nextOf(visit))
      }
      const problem = visit.say(answer ? 'wrong_passkey' : 'wrong')
      await showConfirm(visit, caller, { status: 422, problem, field: null, headers: {} })
    } catch (error) {
      const refusal = refusalOf(error, visit.say)
      if (!refusal) throw error
      await showConfirm(visit, caller, refusal)
    }
  }

  return [
    ['GET', CONFIRM, openConfirm],
    ['POST', CONFIRM, confirm],
  ]
}
