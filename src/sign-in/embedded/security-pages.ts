import { z } from 'zod'
import type { LoginRow } from '../../../db/queries/login.ts'
import { logSecurityEvent } from '../../access/audit-log.ts'
import type { Caller, Origin } from '../../access/caller.ts'
import { isFromOwnPage } from '../../access/origin.ts'
import { Forbidden, InvalidInput } from '../../runtime/errors.ts'
import { readReturnTo } from '../return-to.ts'
import { accountGate } from './account-gate.ts'
import type { Handler, PageDeps, Pages } from './page-deps.ts'
import {
  codeField,
  dayIn,
  emailField,
  newPasswordField,
  passwordField,
  qrOf,
  type Refusal,
  readFields,
  refusalOf,
  showForm,
  type Visit,
} from './page-kit.ts'
import type { Section } from './views.ts'

const PATH = '/account/security'
const CONFIRM = '/account/confirm'
const SECONDS = 900

const challenge = z.object({ session: z.string(), challenge: z.string() })
const setup = z.object({ login: z.string(), secret: z.string() })
const noOrigin: Origin = { address: null, agent: null }

/**
 * `/account/security`: the sign-in methods of a person. `/account/confirm`: the confirmation of
 * identity before a change.
 */
export function securityPages(deps: PageDeps): Pages {
  const { services, tokens, otherProviders, publicUrl } = deps
  const { logins, passkeys, proofs, secondFactors, sessions, appointments } = services
  const { callerOf, changerOf } = accountGate(deps)

  const sealChallenge = (caller: Caller, own: string) =>
    tokens.seal('passkey', { session: caller.credentialId, challenge: own }, SECONDS)
  const challengeOf = (caller: Caller, fields: URLSearchParams): string | null => {
    const asked = tokens.open(challenge, 'passkey', fields.get('challenge'))
    return asked?.session === caller.credentialId ? asked.challenge : null
  }

  async function passkeySection(visit: Visit, caller: Caller, login: LoginRow): Promise<Section> {
    const { say, language } = visit
    const rows = await passkeys.list(login.id)
    const isOffered = passkeys.isOffered()
    const own = passkeys.newChallenge()
    const options = isOffered ? JSON.stringify(await passkeys.addOptions(login, own)) : ''
    return {
      id: 'passkeys',
      heading: say('passkeys'),
      lead: [
        say(isOffered ? 'passkeys_hint' : 'no_passkeys'),
        ...(rows.length === 0 ? [say('no_passkey_yet')] : []),
      ],
      rows: rows.map(({ id, name, createdAt, lastUsedAt }) => ({
        id,
        title: name || 'Passkey',
        text: [
          say('added_on', { day: dayIn(language, createdAt) }),
          lastUsedAt === null
            ? say('never_used')
            : say('used_on', { day: dayIn(language, lastUsedAt) }),
        ].join(', '),
        buttons: [{ do: 'remove-passkey', label: say('remove') }],
      })),
      forms: isOffered
        ? [
            {
              do: 'add-passkey',
              label: say('add_passkey'),
              hidden: [
                ['passkey', ''],
                ['challenge', sealChallenge(caller, own)],
              ],
              fields: [
                {
                  name: 'name',
                  label: say('passkey_name'),
                  type: 'text',
                  autocomplete: 'off',
                  maxlength: 100,
                },
              ],
              passkey: { kind: 'create', options, label: say('add_passkey') },
            },
          ]
        : [],
    }
  }

  async function factorSection({ say }: Visit, login: LoginRow): Promise<Section> {
    const isOn = login.totp !== null
    const count = isOn ? await secondFactors.codesLeft(login.id) : 0
    const button = (what: string, label: string) => ({ do: what, label, hidden: [], fields: [] })
    return {
      id: 'factor',
      heading: say('factor'),
      lead: [isOn ? say('factor_on', { count }) : say('factor_off')],
      rows: [],
      forms: isOn
        ? [button('new-codes', say('new_codes')), button('factor-off', say('turn_off'))]
        : [button('factor-setup', say('turn_on'))],
    }
  }

  async function show(
    visit: Visit,
    caller: Caller,
    { refusal, done = '' }: { refusal?: Refusal; done?: string } = {},
  ): Promise<void> {
    const { say } = visit
    const login = await logins.ofUser(caller.userId)
    const password: Section = {
      id: 'password',
      heading: say(login?.password ? 'change_password' : 'set_password'),
      lead: [say('change_password_hint')],
      rows: [],
      forms: [
        {
          do: 'password',
          label: say('save'),
          hidden: [['username', login?.email ?? caller.email]],
          fields: [newPasswordField(say)],
        },
      ],
    }
    const address: Section = {
      id: 'address',
      heading: say('change_address'),
      lead: [say('change_address_hint')],
      rows: [],
      forms: [
        {
          do: 'address',
          label: say('continue'),
          hidden: [],
          fields: [{ ...emailField(say), label: say('new_email'), autocomplete: 'email' }],
        },
      ],
    }
    const signOut: Section = {
      id: 'sessions',
      heading: say('sign_out_all'),
      lead: [],
      rows: [],
      forms: [{ do: 'sign-out', label: say('sign_out_all'), hidden: [], fields: [] }],
    }
    const parts = [
      ...(login ? [await passkeySection(visit, caller, login)] : []),
      ...(logins.hasPasswords && (login || caller.verifiedEmail !== null) ? [password] : []),
      ...(login?.password ? [await factorSection(visit, login)] : []),
      ...(login && logins.hasMail ? [address] : []),
      signOut,
    ]
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
        action: PATH,
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
        action: PATH,
        problem: '',
        hidden: [
          ['do', 'factor-on'],
          ['setup', tokens.seal('factor setup', { login: login.id, secret }, SECONDS)],
        ],
        picture: qrOf(secondFactors.uriOf(secret, login.email)),
        facts: [{ label: visit.say('secret'), value: secret }],
        fields: [{ ...codeField(visit.say), inputmode: 'numeric' }],
        buttons: [{ label: visit.say('turn_on') }],
        links: [{ label: visit.say('back'), href: PATH }],
      },
      refusal,
    )

  const showCodes = (visit: Visit, codes: string[]): void =>
    visit.show('codes', {
      heading: visit.say('codes_title'),
      icon: 'check',
      lead: [visit.say('codes_lead')],
      links: [],
      codes,
      action: PATH,
      hidden: [['do', 'back']],
      next: visit.say('continue'),
    })

  const wrongCode = (visit: Visit): Refusal => ({
    status: 422,
    problem: visit.say('wrong_code'),
    field: 'code',
    headers: {},
  })

  async function act(visit: Visit, caller: Caller, fields: URLSearchParams): Promise<void> {
    const { say, incoming } = visit
    const from = caller.from ?? noOrigin
    const [what = '', id = ''] = ['do', 'id'].map(name => fields.get(name) ?? '')
    if (what === 'back') return visit.lead(PATH)
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
        links: [{ label: say('back'), href: PATH }],
      })
    }
    const login = await logins.ofUser(caller.userId)
    if (!login) throw new InvalidInput('do', 'This account has no credentials of its own.')
    if (what === 'add-passkey') {
      const own = challengeOf(caller, fields)
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
      if (begun?.login !== login.id) return visit.lead(PATH)
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

  const nextOf = ({ incoming }: Visit) =>
    readReturnTo(incoming.query.get('return_to') ?? undefined) ?? PATH

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
        ['challenge', sealChallenge(caller, own)],
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
      const own = answer ? challengeOf(caller, fields) : null
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
    ['GET', PATH, open],
    ['POST', PATH, change],
    ['GET', CONFIRM, openConfirm],
    ['POST', CONFIRM, confirm],
  ]
}
