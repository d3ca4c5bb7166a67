import { z } from 'zod'
import type { LoginRow } from '../../../db/queries/login.ts'
import { logSecurityEvent } from '../../access/audit-log.ts'
import type { Caller, Origin } from '../../access/caller.ts'
import { InvalidInput } from '../../runtime/errors.ts'
import { accountGate } from './account-gate.ts'
import type { Handler, PageDeps, Pages } from './page-deps.ts'
import {
  codeField,
  qrOf,
  type Refusal,
  readFields,
  refusalOf,
  showForm,
  type Visit,
} from './page-kit.ts'
import { passkeyChallenges } from './passkey-challenge.ts'
import { securitySections } from './security-sections.ts'

export const SECURITY_PATH = '/account/security'
const SECONDS = 900

const setup = z.object({ login: z.string(), secret: z.string() })
const noOrigin: Origin = { address: null, agent: null }

/** `/account/security`: the sign-in methods of a person. */
export function securityPages(deps: PageDeps): Pages {
  const { services, tokens } = deps
  const { logins, passkeys, secondFactors, sessions, appointments } = services
  const { callerOf, changerOf } = accountGate(deps)
  const challenges = passkeyChallenges(tokens)
  const sectionsOf = securitySections(deps)

  async function show(
    visit: Visit,
    caller: Caller,
    { refusal, done = '' }: { refusal?: Refusal; done?: string } = {},
  ): Promise<void> {
    const { say } = visit
    const login = await logins.ofUser(caller.userId)
    const parts = await sectionsOf(visit, caller, login)
    const isOperator = await appointments.isOperator(caller)
    visit.show(
      'sections',
      {
        heading: say('security_title'),
        icon: 'lock',
        lead: [login ? say('security_lead', { email: login.email }) : say('no_login')],
        links: [
          { label: say('other_ways'), href: '/identities' },
          ...(isOperator ? [{ label: say('people'), href: '/account/people' }] : []),
          { label: say('home'), href: '/' },
        ],
        action: SECURITY_PATH,
        problem: refusal?.problem ?? '',
        done,
        parts,
      },
      { status: refusal?.status ?? 200 },
    )
  }

  const setupForm = (visit: Visit, login: LoginRow, secret: string, refusal?: Refusal): void =>
    showForm(
      visit,
      {
        heading: visit.say('setup_title'),
        icon: 'lock',
        lead: [visit.say('setup_lead')],
        action: SECURITY_PATH,
        problem: '',
        hidden: [
          ['do', 'factor-on'],
          ['setup', tokens.seal('factor setup', { login: login.id, secret }, SECONDS)],
        ],
        picture: qrOf(secondFactors.uriOf(secret, login.email)),
        facts: [{ label: visit.say('secret'), value: secret }],
        fields: [{ ...codeField(visit.say), inputmode: 'numeric' }],
        buttons: [{ label: visit.say('turn_on') }],
        links: [{ label: visit.say('back'), href: SECURITY_PATH }],
      },
      refusal,
    )

  async function act(visit: Visit, caller: Caller, fields: URLSearchParams): Promise<void> {
    const { say, incoming } = visit
    const from = caller.from ?? noOrigin
    const [what = '', id = ''] = ['do', 'id'].map(name => fields.get(name) ?? '')
    if (what === 'back') return visit.lead(SECURITY_PATH)
    const by = { log: incoming.log, caller }
    const done = () => show(visit, caller, { done: say('saved') })
    if (what === 'password') {
      await logins.changePassword(caller, fields.get('password') ?? '')
      logSecurityEvent(by, 'password_changed')
      return done()
    }
    if (what === 'sign-out') {
      const ended = await sessions.endOthers(caller)
      logSecurityEvent(by, 'other_sessions_ended', { sessions: ended })
      return done()
    }
    if (what === 'address') {
      await logins.beginAddress(caller, fields.get('email') ?? '')
      return visit.show('message', {
        heading: say('sent_title'),
        icon: 'mail',
        lead: [say('change_address_hint')],
        links: [{ label: say('back'), href: SECURITY_PATH }],
      })
    }
    const login = await logins.ofUser(caller.userId)
    if (!login) throw new InvalidInput('do', 'This account has no credentials of its own.')
    if (what === 'add-passkey') {
      const own = challenges.read(caller, fields)
      const [answer, name] = ['passkey', 'name'].map(field => fields.get(field) ?? '')
      const right =
        own !== null &&
        (await passkeys.add(login, answer ?? '', { challenge: own, name: name ?? '', from }))
      if (!right)
        return show(visit, caller, {
          refusal: { status: 422, problem: say('wrong_passkey'), field: null, headers: {} },
        })
      logSecurityEvent(by, 'passkey_added')
      return done()
    }
    if (what === 'remove-passkey') {
      await passkeys.remove(login, id, from)
      logSecurityEvent(by, 'passkey_removed')
      return done()
    }
    if (what === 'factor-setup') return setupForm(visit, login, secondFactors.begin(login).secret)
    if (what === 'factor-on') {
      const begun = tokens.open(setup, 'factor setup', fields.get('setup'))
      if (begun?.login !== login.id) return visit.lead(SECURITY_PATH)
      const { address } = incoming
      const code = fields.get('code') ?? ''
      const codes = await secondFactors.enable(login, begun.secret, code, { address, from })
      if (!codes) return setupForm(visit, login, begun.secret, wrongCode(visit))
      logSecurityEvent(by, 'second_factor_added')
      return showCodes(visit, codes)
    }
    if (what === 'factor-off') {
      await secondFactors.remove(login, from)
      logSecurityEvent(by, 'second_factor_removed')
      return done()
    }
    if (what === 'new-codes') return showCodes(visit, await secondFactors.renewCodes(login, from))
    throw new InvalidInput('do', 'The form contains an unknown action.')
  }

  const open: Handler = async visit => {
    const caller = await callerOf(visit)
    if (caller) await show(visit, caller)
  }

  const change: Handler = async visit => {
    const fields = await readFields(visit)
    const caller = await changerOf(visit)
    if (!caller) return
    try {
      await act(visit, caller, fields)
    } catch (error) {
      const refusal = refusalOf(error, visit.say)
      if (!refusal) throw error
      await show(visit, caller, { refusal })
    }
  }

  return [
    ['GET', SECURITY_PATH, open],
    ['POST', SECURITY_PATH, change],
  ]
}

const showCodes = (visit: Visit, codes: string[]): void =>
  visit.show('codes', {
    heading: visit.say('codes_title'),
    icon: 'check',
    lead: [visit.say('codes_lead')],
    links: [],
    codes,
    action: SECURITY_PATH,
    hidden: [['do', 'back']],
    next: visit.say('continue'),
  })

const wrongCode = (visit: Visit): Refusal => ({
  status: 422,
  problem: visit.say('wrong_code'),
  field: 'code',
  headers: {},
})
