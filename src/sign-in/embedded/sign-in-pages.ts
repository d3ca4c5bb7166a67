import { z } from 'zod'
import type { LoginRow } from '../../../db/queries/login.ts'
import { writeSecurityEvent } from '../../access/audit-log.ts'
import { accountsName } from '../../config/config.ts'
import { PREFIX } from './accounts-provider.ts'
import type { PageDeps, Pages } from './page-deps.ts'
import {
  codeField,
  emailField,
  passwordField,
  qrOf,
  type Refusal,
  readFields,
  refusalOf,
  showForm,
  showMessage,
  type Visit,
} from './page-kit.ts'
import type { FormView } from './views.ts'

/** A sign-in that has passed its first step. It is valid only in its own interaction. */
const step = z.object({
  uid: z.string(),
  login: z.string(),
  next: z.enum(['factor', 'setup', 'done']),
  secret: z.string(),
  /** A fingerprint of the password and second factor. The step is invalid once either changes. */
  stamp: z.string(),
})
type Step = z.infer<typeof step>

const challenge = z.object({ uid: z.string(), challenge: z.string() })
const trusted = z.object({ login: z.string(), factorAt: z.number() })

const STEP_SECONDS = 600
const CHALLENGE_SECONDS = 900
const TRUSTED_SECONDS = 30 * 86_400
const wrong = (problem: string): Refusal => ({ status: 422, problem, field: null, headers: {} })

/** `/sign-in/interaction/{uid}`: the sign-in itself, with a password, a code or a passkey. */
export function signInPages({ services, tokens, provider, cookies, originOf }: PageDeps): Pages {
  const { logins, passkeys, secondFactors } = services

  async function isOpen({ incoming: { req, res } }: Visit, uid: string) {
    const { oidc } = await provider.current()
    const found = await oidc.interactionDetails(req, res).catch(noSession)
    return found?.uid === uid ? found : undefined
  }

  async function finish(visit: Visit, login: string): Promise<void> {
    const { req, res } = visit.incoming
    await logins.noteSignIn(login)
    cookies.rememberDevice(req, res, login)
    visit.lead(await provider.finish(req, res, login))
  }

  function refused(visit: Visit, reason: string): void {
    const subject = { reason, provider: accountsName }
    writeSecurityEvent(visit.incoming.log, 'sign_in_refused', {}, subject)
  }

  function signInForm(visit: Visit, uid: string, email: string): FormView {
    const { say, incoming } = visit
    const isOffered = passkeys.isOffered()
    const own = passkeys.newChallenge()
    const sealed = tokens.seal('passkey', { uid, challenge: own }, CHALLENGE_SECONDS)
    const links = [
      ...(logins.hasPasswords ? [{ label: say('forgot'), href: `${PREFIX}/forgot` }] : []),
      ...(logins.mayRegister() ? [{ label: say('register'), href: `${PREFIX}/register` }] : []),
    ]
    const field = emailField(say, email)
    return {
      heading: say('sign_in_title'),
      icon: 'satchel',
      lead: [say('sign_in_lead')],
      action: incoming.path,
      problem: '',
      hidden: isOffered
        ? [
            ['passkey', ''],
            ['challenge', sealed],
          ]
        : [],
      fields: logins.hasPasswords
        ? [
            { ...field, autocomplete: isOffered ? 'username webauthn' : field.autocomplete },
            passwordField(say),
          ]
        : [],
      buttons: logins.hasPasswords ? [{ label: say('sign_in') }] : [],
      links,
      note: isOffered ? '' : say('no_passkeys'),
      passkey: isOffered
        ? {
            kind: 'get',
            options: JSON.stringify(passkeys.signInOptions(own)),
            label: say('with_passkey'),
          }
        : undefined,
    }
  }

  const stampOf = ({ password, factorAt }: LoginRow): string =>
    tokens.digest('sign-in step', `${password} ${factorAt}`)

  const sealStep = (of: Step) => tokens.seal('sign-in step', of, STEP_SECONDS)

  const factorForm = ({ say, incoming }: Visit, of: Step): FormView => ({
    heading: say('factor_title'),
    icon: 'lock',
    lead: [say('factor_lead')],
    action: incoming.path,
    problem: '',
    hidden: [['step', sealStep(of)]],
    fields: [codeField(say)],
    tick: { name: 'remember', label: say('remember') },
    buttons: [{ label: say('continue') }],
    links: [],
  })

  const setupForm = ({ say, incoming }: Visit, of: Step, email: string): FormView => ({
    heading: say('setup_title'),
    icon: 'lock',
    lead: [say('setup_required'), say('setup_lead')],
    action: incoming.path,
    problem: '',
    hidden: [['step', sealStep(of)]],
    picture: qrOf(secondFactors.uriOf(of.secret, email)),
    facts: [{ label: say('secret'), value: of.secret }],
    fields: [{ ...codeField(say), inputmode: 'numeric' }],
    buttons: [{ label: say('continue') }],
    links: [],
  })

  /**
   * Continues after the password: asks for the second factor, or for its setup if one is required.
   */
  async function afterPassword(visit: Visit, uid: string, login: LoginRow): Promise<void> {
    const of = { uid, login: login.id, secret: '', stamp: stampOf(login) }
    if (login.totp !== null) {
      const known = cookies.read(visit.incoming.req, 'sign_in_trusted', trusted)
      const isTrusted = known?.login === login.id && known.factorAt === Number(login.factorAt)
      if (isTrusted) return finish(visit, login.id)
      return showForm(visit, factorForm(visit, { ...of, next: 'factor' }))
    }
    if (!(await logins.needsFactor(login))) return finish(visit, login.id)
    const { secret } = secondFactors.begin(login)
    showForm(visit, setupForm(visit, { ...of, next: 'setup', secret }, login.email))
  }

  async function takeStep(visit: Visit, of: Step, fields: URLSearchParams): Promise<void> {
    const { req, res, address, path } = visit.incoming
    const { say } = visit
    const login = await logins.find(of.login)
    if (login?.status !== 'active' || of.stamp !== stampOf(login))
      return showMessage(visit, 'ended', 400)
    if (of.next === 'done') return finish(visit, login.id)
    const code = fields.get('code') ?? ''
    const again = (refusal: Refusal) =>
      showForm(
        visit,
        of.next === 'factor' ? factorForm(visit, of) : setupForm(visit, of, login.email),
        { ...refusal, field: 'code' },
      )
    try {
      if (of.next === 'factor') {
        if (!(await secondFactors.check(login, code, address))) {
          refused(visit, 'wrong_code')
          return again(wrong(say('wrong_code')))
        }
        const now = await logins.find(of.login)
        if (fields.has('remember') && now?.factorAt) {
          const kept = { login: login.id, factorAt: Number(now.factorAt) }
          cookies.write(res, 'sign_in_trusted', kept, TRUSTED_SECONDS)
        }
        return await finish(visit, login.id)
      }
      const from = originOf(req, address)
      const codes = await secondFactors.enable(login, of.secret, code, { address, from })
      if (!codes) return again(wrong(say('wrong_code')))
      const enabled = await logins.find(login.id)
      if (!enabled) return showMessage(visit, 'ended', 400)
      const stamp = stampOf(enabled)
      visit.show('codes', {
        heading: say('codes_title'),
        icon: 'check',
        lead: [say('codes_lead')],
        links: [],
        codes,
        action: path,
        hidden: [['step', sealStep({ ...of, next: 'done', stamp })]],
        next: say('continue'),
      })
    } catch (error) {
      const refusal = refusalOf(error, say)
      if (!refusal) throw error
      again(refusal)
    }
  }

  const open: Pages[number][2] = async (visit, uid) => {
    const interaction = await isOpen(visit, uid)
    if (!interaction) return showMessage(visit, 'ended', 400)
    const { req, res } = visit.incoming
    const proved = cookies.takeProved(req, res)
    if (proved) return finish(visit, proved)
    if (!(await logins.isSetUp())) return showMessage(visit, 'not_set_up', 503)
    const hint = interaction.params.login_hint
    showForm(visit, signInForm(visit, uid, typeof hint === 'string' ? hint : ''))
  }

  const send: Pages[number][2] = async (visit, uid) => {
    if (!(await isOpen(visit, uid))) return showMessage(visit, 'ended', 400)
    const { req, address } = visit.incoming
    const fields = await readFields(visit)
    const of = tokens.open(step, 'sign-in step', fields.get('step'))
    if (of) return of.uid === uid ? takeStep(visit, of, fields) : showMessage(visit, 'ended', 400)
    const [email = '', password = ''] = ['email', 'password'].map(name => fields.get(name) ?? '')
    const again = (refusal: Refusal) => showForm(visit, signInForm(visit, uid, email), refusal)
    const answer = fields.get('passkey')
    if (answer) {
      const asked = tokens.open(challenge, 'passkey', fields.get('challenge'))
      const isOurs = asked?.uid === uid && passkeys.isOffered()
      const login = isOurs ? await passkeys.check(answer, asked.challenge) : null
      if (login) return finish(visit, login.id)
      refused(visit, 'wrong_passkey')
      return again(wrong(visit.say('wrong_passkey')))
    }
    try {
      const deviceOf = (login: string) => cookies.deviceOf(req, login)
      const login = await logins.check({ email, password }, { address, deviceOf })
      if (login) return await afterPassword(visit, uid, login)
      refused(visit, 'wrong_password')
      again(wrong(visit.say('wrong')))
    } catch (error) {
      const refusal = refusalOf(error, visit.say)
      if (!refusal) throw error
      again(refusal)
    }
  }

  return [
    ['GET', `${PREFIX}/interaction/:token`, open],
    ['POST', `${PREFIX}/interaction/:token`, send],
  ]
}

function noSession(error: unknown): undefined {
  if (error instanceof Error && error.name === 'SessionNotFound') return undefined
  throw error
}
