import { encodeQR } from 'qr'
import { readWhole } from '../../http/body.ts'
import type { ShownBrand } from '../../http/brand.ts'
import type { Incoming } from '../../http/incoming.ts'
import { languageOf, languageVary } from '../../http/language.ts'
import { write } from '../../http/write.ts'
import { type Language, locales } from '../../language/languages.ts'
import { pageHeaders } from '../../pages/headers.ts'
import { AppError, InvalidInput } from '../../runtime/errors.ts'
import { LoginProblem } from '../../services/accounts/login-problem.ts'
import { SignInRefused } from '../../services/accounts/profile.ts'
import { type Say, sayIn } from './text.ts'
import { type AccountViews, type Field, type FormView, renderAccountPage } from './views.ts'

const MAX_FORM_BYTES = 16 * 1024

/** A request for a page of the service's own accounts, with functions that send the response. */
export interface Visit {
  incoming: Incoming
  language: Language
  say: Say
  show<V extends keyof AccountViews>(
    view: V,
    data: AccountViews[V],
    more?: { status?: number; headers?: Record<string, string> },
  ): void
  lead(to: string): void
}

export function visitOf(incoming: Incoming, brand: ShownBrand): Visit {
  const { req, res } = incoming
  const language = languageOf(req)
  const say = sayIn(language, brand)
  return {
    incoming,
    language,
    say,
    show(view, data, { status = 200, headers = {} } = {}) {
      const hasProblem =
        ('problem' in data && data.problem) ||
        ('fields' in data && data.fields.some(field => field.problem))
      const title = `${hasProblem ? say('error_prefix') : ''}${data.heading}`
      const body = renderAccountPage(view, language, title, data, brand)
      const all = { ...pageHeaders, vary: languageVary, ...headers }
      write(res, req, { status, headers: all, body })
    },
    lead(to) {
      const headers = { location: to, 'cache-control': 'no-store' }
      write(res, req, { status: 303, headers, body: '' })
    },
  }
}

/** Shows a message with a link to continue. */
export function showMessage(
  { show, say }: Visit,
  kind: 'not_set_up' | 'link_gone' | 'ended' | 'failed',
  status: number,
  sentence = say(kind),
): void {
  const icons = { not_set_up: 'lock', link_gone: 'link', ended: 'clock', failed: 'cloud' } as const
  const again = { label: say('again'), href: '/login' }
  const view = {
    heading: say(`${kind}_title`),
    icon: icons[kind],
    lead: [sentence],
    links: kind === 'not_set_up' ? [] : [again],
  }
  show('message', view, { status })
}

/** @throws INVALID_INPUT */
export async function readFields({ incoming: { req } }: Visit): Promise<URLSearchParams> {
  if (!/^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(req.headers['content-type'] ?? ''))
    throw new InvalidInput('content-type', 'Send the form as application/x-www-form-urlencoded.')
  const bytes = await readWhole(req, MAX_FORM_BYTES, {
    tooLarge: () => new InvalidInput('body', 'A form of this kind may have up to 16 KiB.'),
    broken: () => new InvalidInput('body', 'The form ended before it was complete. Send it again.'),
  })
  return new URLSearchParams(bytes.toString('utf8'))
}

/** The error message of a refused form, and the status of its page. */
export interface Refusal {
  status: number
  problem: string
  field: string | null
  headers: Record<string, string>
}

/** Converts an error to the refusal of a form; undefined for an error that forms cannot show. */
export function refusalOf(error: unknown, say: Say): Refusal | undefined {
  if (error instanceof LoginProblem)
    return { status: 422, problem: say(error.code), field: error.field, headers: {} }
  if (error instanceof SignInRefused)
    return { status: 403, problem: say('refused'), field: null, headers: {} }
  if (!(error instanceof AppError)) return undefined
  if (error.code === 'TOO_MANY_ATTEMPTS' || error.code === 'RATE_LIMITED') {
    const seconds = Number(error.details.retry_after ?? 60)
    const wait =
      seconds > 90
        ? say('minutes', { count: Math.ceil(seconds / 60) })
        : say('seconds', { count: seconds })
    const headers = { 'retry-after': String(seconds) }
    return { status: 429, problem: say('too_many', { wait }), field: null, headers }
  }
  if (error.code === 'UNAVAILABLE')
    return { status: 503, problem: say('busy'), field: null, headers: { 'retry-after': '5' } }
  return undefined
}

/** Shows a form, with the error if it was refused. */
export function showForm(visit: Visit, form: FormView, refusal?: Refusal): void {
  const isOfField = (field: Field) => refusal?.field === field.name
  const hasField = form.fields.some(isOfField)
  const editable = form.fields.findIndex(field => !field.readonly)
  const first = hasField ? form.fields.findIndex(isOfField) : Math.max(0, editable)
  const fields = form.fields.map((field, i) => ({
    ...field,
    problem: isOfField(field) ? refusal?.problem : undefined,
    autofocus: i === first,
  }))
  const problem = refusal && !hasField ? refusal.problem : ''
  const { status = 200, headers = {} } = refusal ?? {}
  visit.show('form', { ...form, fields, problem }, { status, headers })
}

/** The address with which an account signs in. */
export const emailField = (say: Say, value = ''): Field => ({
  name: 'email',
  label: say('email'),
  type: 'email',
  autocomplete: 'username',
  value,
  required: true,
  maxlength: 254,
})

export const passwordField = (say: Say): Field => ({
  name: 'password',
  label: say('password'),
  type: 'password',
  autocomplete: 'current-password',
  required: true,
  maxlength: 512,
})

export const newPasswordField = (say: Say): Field => ({
  ...passwordField(say),
  label: say('new_password'),
  hint: say('password_hint'),
  autocomplete: 'new-password',
})

export const nameField = (say: Say, value = ''): Field => ({
  name: 'name',
  label: say('name'),
  hint: say('name_hint'),
  type: 'text',
  autocomplete: 'name',
  value,
  maxlength: 200,
})

export const codeField = (say: Say): Field => ({
  name: 'code',
  label: say('code'),
  type: 'text',
  autocomplete: 'one-time-code',
  required: true,
  maxlength: 20,
})

/** A QR code as an SVG. */
export const qrOf = (text: string): string => encodeQR(text, 'svg', { ecc: 'medium' })

/** A day in the language of the page. */
export const dayIn = (language: Language, at: number): string =>
  new Intl.DateTimeFormat(locales[language], {
    dateStyle: 'medium',
    timeZone: 'UTC',
  }).format(Number(at))
