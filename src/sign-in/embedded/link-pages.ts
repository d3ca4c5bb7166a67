import { accountsName } from '../../config/config.ts'
import { AppError } from '../../runtime/errors.ts'
import { PREFIX } from './accounts-provider.ts'
import type { Handler, PageDeps, Pages } from './page-deps.ts'
import {
  emailField,
  nameField,
  newPasswordField,
  type Refusal,
  readFields,
  refusalOf,
  showForm,
  showMessage,
  type Visit,
} from './page-kit.ts'
import type { FormView } from './views.ts'

type RegisterKind = 'first' | 'invite' | 'sign-up'

/** The pages of one-time links, and the pages that request such links. */
export function linkPages({ services, cookies, originOf }: PageDeps): Pages {
  const { logins, invites } = services

  /** Signs in the browser that has just created an account or reset its password. */
  function signInNow(visit: Visit, login: string, to = '/'): void {
    cookies.noteProved(visit.incoming.res, login)
    visit.lead(`/auth/oauth?${new URLSearchParams({ provider: accountsName, return_to: to })}`)
  }

  /** @param email the address of the link; null if the person enters it */
  function registerForm(
    { say, incoming }: Visit,
    email: string | null,
    typed: { email: string; name: string },
  ): FormView {
    const address = emailField(say, email ?? typed.email)
    return {
      heading: say(email === null ? 'first_title' : 'welcome_title'),
      icon: 'satchel',
      lead: [email === null ? say('first_lead') : say('welcome_lead', { email })],
      action: incoming.path,
      problem: '',
      hidden: [],
      fields: [
        email === null ? address : { ...address, readonly: true },
        nameField(say, typed.name),
        newPasswordField(say),
      ],
      buttons: [{ label: say('create_account') }],
      links: [],
    }
  }

  const resetForm = ({ say, incoming }: Visit, email: string): FormView => ({
    heading: say('reset_title'),
    icon: 'lock',
    lead: [say('reset_lead')],
    action: incoming.path,
    problem: '',
    hidden: [],
    fields: [{ ...emailField(say, email), readonly: true }, newPasswordField(say)],
    buttons: [{ label: say('save') }],
    links: [],
  })

  const mailForm = ({ say, incoming }: Visit, isNew: boolean, email = ''): FormView => ({
    heading: say(isNew ? 'register' : 'forgot_title'),
    icon: 'mail',
    lead: [say(isNew ? 'register_lead' : 'forgot_lead')],
    action: incoming.path,
    problem: '',
    hidden: [],
    fields: [emailField(say, email), ...(isNew ? [nameField(say)] : [])],
    buttons: [{ label: say('send_link') }],
    links: [{ label: say('sign_in'), href: '/login' }],
  })

  const namesOf = (fields: URLSearchParams) => ({
    email: fields.get('email') ?? '',
    name: fields.get('name') ?? '',
    password: fields.get('password') ?? '',
  })

  /** Processes a form. Shows it again with the error if it is refused. */
  async function tryForm(
    visit: Visit,
    work: () => Promise<void>,
    again: (refusal: Refusal) => void,
  ): Promise<void> {
    try {
      await work()
    } catch (error) {
      const refusal = refusalOf(error, visit.say)
      if (!refusal) throw error
      if (refusal.problem === visit.say('link_gone')) return showMessage(visit, 'link_gone', 404)
      again(refusal)
    }
  }

  const isGone = (error: unknown) =>
    error instanceof AppError && /^INVITE_/.test(error.code) ? null : Promise.reject(error)

  const register = (kind: RegisterKind): Record<'show' | 'send', Handler> => ({
    async show(visit, secret) {
      const link = await logins.findLink(secret)
      if (link?.kind !== kind) return showMessage(visit, 'link_gone', 404)
      const email = kind === 'first' ? null : link.email
      showForm(visit, registerForm(visit, email, { email: '', name: link.name }))
    },
    async send(visit, secret) {
      const { req, address } = visit.incoming
      const given = namesOf(await readFields(visit))
      const link = await logins.findLink(secret)
      if (link?.kind !== kind) return showMessage(visit, 'link_gone', 404)
      await tryForm(
        visit,
        async () => signInNow(visit, await logins.register(secret, given, originOf(req, address))),
        refusal =>
          showForm(
            visit,
            registerForm(visit, kind === 'first' ? null : link.email, given),
            refusal,
          ),
      )
    },
  })

  const join: Record<'show' | 'send', Handler> = {
    async show(visit, token) {
      const invite = await invites.find(token).catch(isGone)
      if (!invite || invite.expiresAt <= Date.now()) return showMessage(visit, 'link_gone', 404)
      showForm(visit, registerForm(visit, invite.email, { email: '', name: '' }))
    },
    async send(visit, token) {
      const { req, address } = visit.incoming
      const given = namesOf(await readFields(visit))
      const invite = await invites.find(token).catch(isGone)
      if (!invite) return showMessage(visit, 'link_gone', 404)
      await tryForm(
        visit,
        async () => {
          const login = await logins.join(token, given, originOf(req, address))
          signInNow(visit, login, `/invite/${token}`)
        },
        refusal => showForm(visit, registerForm(visit, invite.email, given), refusal),
      )
    },
  }

  const reset: Record<'show' | 'send', Handler> = {
    async show(visit, secret) {
      const link = await logins.findLink(secret)
      if (link?.kind !== 'reset' && link?.kind !== 'reset-all')
        return showMessage(visit, 'link_gone', 404)
      showForm(visit, resetForm(visit, link.email))
    },
    async send(visit, secret) {
      const { req, address } = visit.incoming
      const { password } = namesOf(await readFields(visit))
      const link = await logins.findLink(secret)
      if (!link) return showMessage(visit, 'link_gone', 404)
      await tryForm(
        visit,
        async () => {
          const login = await logins.reset(secret, password, originOf(req, address))
          // Accounts with a second factor must still sign in with it.
          const found = await logins.find(login)
          if (found?.totp == null && found && !(await logins.needsFactor(found)))
            return signInNow(visit, login)
          visit.lead('/login')
        },
        refusal => showForm(visit, resetForm(visit, link.email), refusal),
      )
    },
  }

  const sent = (visit: Visit): void =>
    visit.show('message', {
      heading: visit.say('sent_title'),
      icon: 'mail',
      lead: [visit.say('sent')],
      links: [{ label: visit.say('sign_in'), href: '/login' }],
    })

  const noMail = (visit: Visit): void =>
    visit.show('message', {
      heading: visit.say('forgot_title'),
      icon: 'mail',
      lead: [visit.say('forgot_no_mail')],
      links: [{ label: visit.say('sign_in'), href: '/login' }],
    })

  const forgot: Record<'show' | 'send', Handler> = {
    async show(visit) {
      if (!logins.hasMail) return noMail(visit)
      showForm(visit, mailForm(visit, false))
    },
    async send(visit) {
      if (!logins.hasMail) return noMail(visit)
      const { email } = namesOf(await readFields(visit))
      logins.forgot(email, visit.incoming.address)
      sent(visit)
    },
  }

  const signUp: Record<'show' | 'send', Handler> = {
    async show(visit) {
      if (!logins.mayRegister() || !(await logins.isSetUp()))
        return showMessage(visit, 'link_gone', 404)
      showForm(visit, mailForm(visit, true))
    },
    async send(visit) {
      if (!logins.mayRegister() || !(await logins.isSetUp()))
        return showMessage(visit, 'link_gone', 404)
      logins.signUp(namesOf(await readFields(visit)), visit.incoming.address)
      sent(visit)
    },
  }

  const address: Record<'show' | 'send', Handler> = {
    async show(visit, secret) {
      const { say, incoming } = visit
      const link = await logins.findLink(secret)
      if (link?.kind !== 'address-from' && link?.kind !== 'address-to')
        return showMessage(visit, 'link_gone', 404)
      showForm(visit, {
        heading: say('address_title'),
        icon: 'mail',
        lead: [say('address_lead', { email: link.email })],
        action: incoming.path,
        problem: '',
        hidden: [],
        fields: [],
        buttons: [{ label: say('confirm') }],
        links: [],
      })
    },
    async send(visit, secret) {
      const { req, address: from } = visit.incoming
      await readFields(visit)
      await tryForm(
        visit,
        async () => {
          const isDone = await logins.confirmAddress(secret, originOf(req, from))
          const what = isDone ? 'address_done' : 'address_next'
          visit.show('message', {
            heading: visit.say(`${what}_title`),
            icon: isDone ? 'check' : 'mail',
            lead: [visit.say(what)],
            links: [{ label: visit.say('home'), href: '/' }],
          })
        },
        refusal => showMessage(visit, 'failed', refusal.status, refusal.problem),
      )
    },
  }

  const both = (path: string, { show, send }: Record<'show' | 'send', Handler>): Pages => [
    ['GET', `${PREFIX}/${path}`, show],
    ['POST', `${PREFIX}/${path}`, send],
  ]
  return [
    ...both('first/:token', register('first')),
    ...both('invite/:token', register('invite')),
    ...both('sign-up/:token', register('sign-up')),
    ...both('join/:token', join),
    ...both('reset/:token', reset),
    ...both('address/:token', address),
    ...both('forgot', forgot),
    ...both('register', signUp),
  ]
}
