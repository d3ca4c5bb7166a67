import { validate as isUuid } from 'uuid'
import { logSecurityEvent } from '../../access/audit-log.ts'
import type { Caller } from '../../access/caller.ts'
import { InvalidInput } from '../../runtime/errors.ts'
import { oneLine } from '../../values/one-line.ts'
import { accountGate } from './account-gate.ts'
import type { Handler, PageDeps, Pages } from './page-deps.ts'
import {
  dayIn,
  emailField,
  nameField,
  type Refusal,
  readFields,
  refusalOf,
  showForm,
  type Visit,
} from './page-kit.ts'
import type { Section } from './views.ts'

const PATH = '/account/people'

/** `/account/people`: operators invite people, and help those who cannot sign in. */
export function peoplePages(deps: PageDeps): Pages {
  const { logins, appointments } = deps.services
  const { callerOf, changerOf } = accountGate(deps)

  async function isRefused(visit: Visit, caller: Caller): Promise<boolean> {
    if (await appointments.isOperator(caller)) return false
    const { say } = visit
    visit.show(
      'message',
      {
        heading: say('forbidden_title'),
        icon: 'lock',
        lead: [say('forbidden')],
        links: [{ label: say('home'), href: '/' }],
      },
      { status: 403 },
    )
    return true
  }

  async function show(visit: Visit, refusal?: Refusal): Promise<void> {
    const { say, language } = visit
    const people = await logins.people()
    const invite: Section = {
      id: 'invite',
      heading: say('invite'),
      lead: [say('invite_hint')],
      rows: [],
      forms: [
        {
          do: 'invite',
          label: say('invite'),
          hidden: [],
          fields: [
            { ...emailField(say), autocomplete: 'off' },
            { ...nameField(say), autocomplete: 'off' },
          ],
        },
      ],
    }
    const rows = people.map(person => ({
      id: person.userId,
      title: `${oneLine(person.name)} (${oneLine(person.email)})`,
      text: [
        person.lastSignInAt === null
          ? say('no_sign_in')
          : say('last_sign_in', { day: dayIn(language, person.lastSignInAt) }),
        ...(person.hasPassword ? [say('has_password')] : []),
        ...(person.hasFactor ? [say('has_factor')] : []),
        ...(Number(person.passkeys) > 0 ? [say('has_passkeys', { count: person.passkeys })] : []),
      ].join(', '),
      buttons: [
        { do: 'reset', label: say('reset_person') },
        { do: 'reset-all', label: say('reset_all') },
      ],
    }))
    const list: Section = { id: 'list', heading: say('people'), lead: [], rows, forms: [] }
    visit.show(
      'sections',
      {
        heading: say('people_title'),
        icon: 'person',
        lead: [say('people_lead')],
        links: [{ label: say('home'), href: '/' }],
        action: PATH,
        problem: refusal?.problem ?? '',
        done: '',
        parts: [invite, list],
      },
      { status: refusal?.status ?? 200 },
    )
  }

  /** The link, in a field to copy from. */
  const showLink = (visit: Visit, url: string, email: string): void =>
    showForm(visit, {
      heading: visit.say('link_title'),
      icon: 'link',
      lead: [visit.say('link_lead', { email })],
      action: PATH,
      problem: '',
      hidden: [['do', 'back']],
      fields: [
        {
          name: 'link',
          label: visit.say('link_label'),
          type: 'text',
          autocomplete: 'off',
          value: url,
          readonly: true,
          copy: true,
        },
      ],
      buttons: [{ label: visit.say('back') }],
      links: [],
    })

  const open: Handler = async visit => {
    const caller = await callerOf(visit)
    if (caller && !(await isRefused(visit, caller))) await show(visit)
  }

  const change: Handler = async visit => {
    const fields = await readFields(visit)
    const caller = await changerOf(visit)
    if (!caller || (await isRefused(visit, caller))) return
    const field = (name: string) => fields.get(name) ?? ''
    const by = { log: visit.incoming.log, caller }
    try {
      if (field('do') === 'back') return visit.lead(PATH)
      if (field('do') === 'invite') {
        const email = field('email').trim()
        const url = await logins.invite(caller, { email, name: field('name') })
        logSecurityEvent(by, 'account_invited')
        return showLink(visit, url, email)
      }
      const id = field('id').toLowerCase()
      const isAll = field('do') === 'reset-all'
      if ((field('do') !== 'reset' && !isAll) || !isUuid(id))
        throw new InvalidInput('do', 'The form contains an unknown action.')
      const url = await logins.resetFor(caller, id, isAll)
      logSecurityEvent(by, 'account_reset', { user_id: id })
      const login = await logins.ofUser(id)
      showLink(visit, url, login?.email ?? '')
    } catch (error) {
      const refusal = refusalOf(error, visit.say)
      if (!refusal) throw error
      await show(visit, refusal)
    }
  }

  return [
    ['GET', PATH, open],
    ['POST', PATH, change],
  ]
}
