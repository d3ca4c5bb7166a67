import { validate as isUuid } from 'uuid'
import type { Caller } from '../access/caller.ts'
import { isFromOwnPage } from '../access/origin.ts'
import { appScopes, type KeyScope } from '../access/scopes.ts'
import { AppError, Forbidden, InvalidInput } from '../runtime/errors.ts'
import {
  APP_CLIENT,
  type Authorization,
  GrantError,
  type LoginTerms,
  parametersOf,
  readAuthorization,
  readRedirect,
  readRegisteredAuthorization,
  readRegisteredRedirect,
  redirectTo,
} from '../services/accounts/login-term.ts'
import type { Services } from '../services/index.ts'
import { AUTHORIZE_PATH, DEVICE_PATH } from '../sign-in/authorization-server.ts'
import { readReturnTo } from '../sign-in/return-to.ts'
import { DAY_MS } from '../values/duration.ts'
import { truncateAddress } from '../values/network.ts'
import { oneLine } from '../values/one-line.ts'
import { donePage, sentenceOf } from './message.ts'
import type { TextKey } from './text.ts'
import type { AuthorizeView } from './views.ts'
import {
  leadingTo,
  type Page,
  page,
  proveFirst,
  type Redirect,
  type Reply,
  readForm,
  signInAt,
  type Visit,
} from './visit.ts'
import type { Words } from './words.ts'

interface Options {
  services: Pick<Services, 'loginRequests' | 'oauthClients' | 'rateLimits'>
  publicUrl: () => string
  /** Whether programs may register for the resource of assistants. */
  assistants: boolean
}

/** Scopes of a key, as messages. */
const rights: Partial<Record<KeyScope, TextKey>> = {
  'private_files:read': 'rightRead',
  'private_files:write': 'rightWrite',
  'private_files:delete': 'rightDelete',
  'private_files:share': 'rightShare',
  'workspaces:files:read': 'rightWorkspacesRead',
  'workspaces:files:write': 'rightWorkspacesWrite',
  'workspaces:files:delete': 'rightWorkspacesDelete',
}

/** The path of the resource for which registered programs get tokens. */
const RESOURCE_PATH = '/mcp'

const DAY_SECONDS = DAY_MS / 1000
const choices = [1, 7, 30, 90, 365].map(days => days * DAY_SECONDS)

/** `/authorize` and `/device`: a person approves or denies an API key for a program. */
export function authorizePages({
  services: { loginRequests, oauthClients, rateLimits },
  publicUrl,
  assistants,
}: Options) {
  /**
   * @throws FORBIDDEN unless the browser confirms that the form comes from a page of this service:
   * nothing else may approve
   */
  function requireOwnPage({ req }: Visit): void {
    if (!isFromOwnPage(req, publicUrl()))
      throw new Forbidden('Send this form from the page of this service.')
  }

  /**
   * Parses the authorization request in the query. Refusals that a program on the computer must
   * learn about are redirects.
   *
   * @throws INVALID_INPUT
   */
  async function read({ query }: Visit): Promise<Authorization | Redirect> {
    const given = repeatedRefused(query)
    const id = given('client_id')
    const client = assistants ? await oauthClients.find(id) : null
    // A forgotten program must not get a key instead of tokens.
    if (!client && (isUuid(id) || given('resource') !== undefined))
      throw new InvalidInput(
        'client_id',
        'This program is not registered here, or was forgotten. Remove this service from it, then add it again.',
      )
    const redirect = client ? readRegisteredRedirect(given, client) : readRedirect(given)
    try {
      return client
        ? readRegisteredAuthorization(given, redirect, client, publicUrl() + RESOURCE_PATH)
        : readAuthorization(given, redirect)
    } catch (error) {
      if (!(error instanceof GrantError)) throw error
      // Anyone may register a program, so the browser goes there only when the person has decided.
      // Otherwise a link to this service could redirect anywhere (RFC 9700, section 4.11.2).
      if (client) throw new InvalidInput(error.field ?? 'query', error.message)
      return {
        to: redirectTo(redirect, publicUrl(), {
          error: error.error,
          error_description: error.message,
        }),
      }
    }
  }

  /**
   * The path of this page with its query, for the return after sign-in.
   *
   * @throws INVALID_INPUT
   */
  function hereWith(path: string, query: URLSearchParams): string {
    const here = query.size > 0 ? `${path}?${query}` : path
    if (readReturnTo(here) === null)
      throw new InvalidInput(
        'state',
        'This URL is too long. Give the program a shorter name, and a shorter state.',
      )
    return here
  }

  const consent = (
    { words }: Visit,
    caller: Caller,
    here: string,
    terms: LoginTerms,
    more: Pick<AuthorizeView, 'redirect' | 'isHere' | 'choices' | 'device'>,
  ) =>
    page(
      'authorize',
      {
        action: here,
        account: caller.userId,
        name: oneLine(terms.name),
        clientId: terms.clientId,
        rights: terms.scopes.map(scope => {
          const right = rights[scope]
          return right ? words.say(right) : scope
        }),
        lifetimes: lifetimesWith(terms.lifetime, words),
        switchTo: leadingTo(here, '/logout'),
        ...more,
      },
      { title: words.say('letInTitle'), caller },
    )

  const asking = (visit: Visit, caller: Caller, here: string, asked: Authorization): Page => {
    const { host, protocol } = new URL(asked.redirectUri)
    const choices = asked.resource === undefined ? null : choicesOf(asked, visit.words)
    return consent(visit, caller, here, asked, {
      redirect: host,
      isHere: protocol === 'http:',
      choices,
      device: null,
    })
  }

  return {
    async ask(visit: Visit): Promise<Reply> {
      const asked = await read(visit)
      if ('to' in asked) return asked
      const here = hereWith(AUTHORIZE_PATH, visit.query)
      const caller = await visit.caller()
      return caller ? asking(visit, caller, here, asked) : { to: signInAt(here) }
    },

    async answer(visit: Visit): Promise<Reply> {
      requireOwnPage(visit)
      const asked = await read(visit)
      if ('to' in asked) return asked
      const here = hereWith(AUTHORIZE_PATH, visit.query)
      const form = await readForm(visit)
      const caller = await visit.caller()
      if (!caller) return { to: signInAt(here) }
      // Another account has signed in since the page was shown. It must see the request before it
      // approves.
      if (form.get('account') !== caller.userId) return asking(visit, caller, here, asked)
      const isApproved = readAnswer(form)
      if (isApproved) await rateLimits.hit('api_keys', caller.userId, {})
      let href: string
      try {
        href = isApproved
          ? await loginRequests.approve(
              caller,
              asked.resource === undefined ? asked : { ...asked, scopes: chosenIn(form) },
              form.get('key_expires_in'),
            )
          : loginRequests.refuse(asked)
      } catch (error) {
        return proveFirst(error, here)
      }
      // Browsers apply form-action to redirects after a form, and form-action cannot name an IPv6
      // address. So the page itself redirects.
      return page(
        'authorized',
        { isApproved, href },
        { title: visit.words.say(isApproved ? 'approved' : 'refused'), caller },
        { headers: { refresh: `0;url=${href}` } },
      )
    },

    async enterCode(visit: Visit): Promise<Reply> {
      const userCode = (visit.query.get('user_code') ?? '').slice(0, 20)
      const caller = await visit.caller()
      const here = hereWith(
        DEVICE_PATH,
        new URLSearchParams(userCode === '' ? {} : { user_code: userCode }),
      )
      return caller
        ? page('device', { userCode, problem: '' }, { title: visit.words.say('enterCode'), caller })
        : { to: signInAt(here) }
    },

    async answerDevice(visit: Visit): Promise<Reply> {
      requireOwnPage(visit)
      const form = await readForm(visit)
      const caller = await visit.caller()
      if (!caller) return { to: signInAt(DEVICE_PATH) }
      const userCode = (form.get('user_code') ?? '').slice(0, 20)
      const by = { userCode, address: visit.address }
      try {
        // Shows the page first if there is no decision yet, or if it was shown to another account.
        if (form.get('answer') === null || form.get('account') !== caller.userId) {
          const found = await loginRequests.find(userCode, visit.address)
          const { network, createdAt } = found
          const isElsewhere = network !== truncateAddress(visit.address)
          const device = {
            userCode: found.userCode,
            showsCode: found.clientId !== APP_CLIENT,
            network,
            isElsewhere,
            since: visit.words.momentOf(createdAt),
          }
          return consent(visit, caller, DEVICE_PATH, found, {
            redirect: null,
            isHere: false,
            choices: null,
            device,
          })
        }
        if (!readAnswer(form)) {
          await loginRequests.refuseDevice(caller, by)
          return donePage(visit.words, {
            heading: visit.words.say('refused'),
            sentence: visit.words.say('noAccess'),
            caller,
          })
        }
        await rateLimits.hit('api_keys', caller.userId, {})
        const { name } = await loginRequests.approveDevice(caller, by, form.get('key_expires_in'))
        return donePage(visit.words, {
          heading: visit.words.say('approved'),
          sentence: visit.words.say('getsKey', { name: oneLine(name) }),
          caller,
        })
      } catch (error) {
        if (!(error instanceof AppError) || error.code !== 'LOGIN_REQUEST_NOT_FOUND') {
          const query = new URLSearchParams({ user_code: userCode })
          return proveFirst(error, hereWith(DEVICE_PATH, query))
        }
        return page(
          'device',
          { userCode, problem: sentenceOf(error, visit.words) },
          { title: visit.words.say('enterCode'), caller },
          { status: error.status },
        )
      }
    },
  }
}

function repeatedRefused(query: URLSearchParams) {
  try {
    return parametersOf(query)
  } catch (error) {
    if (error instanceof GrantError) throw new InvalidInput('query', error.message)
    throw error
  }
}

function readAnswer(form: URLSearchParams): boolean {
  const answer = form.get('answer')
  if (answer !== 'approve' && answer !== 'refuse')
    throw new InvalidInput('answer', 'The answer must be approve or refuse.')
  return answer === 'approve'
}

/**
 * The rights that a person may give to an assistant. At first, only what it asks to read is chosen.
 */
const choicesOf = ({ scopes }: Authorization, { say }: Words): AuthorizeView['choices'] =>
  appScopes.map(scope => {
    const right = rights[scope]
    return {
      scope,
      label: right ? say(right) : scope,
      isAsked: scopes.includes(scope),
      isChosen: scopes.includes(scope) && scope.endsWith(':read'),
    }
  })

/** @throws INVALID_INPUT */
function chosenIn(form: URLSearchParams): KeyScope[] {
  const chosen = form.getAll('scope')
  const scopes = appScopes.filter(scope => chosen.includes(scope))
  if (scopes.length === 0)
    throw new InvalidInput(
      'scope',
      'Choose at least one right, or refuse. Go back, then try again.',
    )
  return scopes
}

/** The usual lifetimes and the requested one. */
const lifetimesWith = (asked: number, words: Words): AuthorizeView['lifetimes'] =>
  [...new Set([asked, ...choices])]
    .sort((a, b) => a - b)
    .map(seconds => ({
      value: `${seconds}s`,
      label: lengthOf(seconds, words),
      chosen: seconds === asked,
    }))

function lengthOf(seconds: number, { say }: Words): string {
  const units: [size: number, unit: 'days' | 'hours' | 'minutes'][] = [
    [DAY_SECONDS, 'days'],
    [3600, 'hours'],
    [60, 'minutes'],
  ]
  const [size, unit] = units.find(([each]) => seconds % each === 0) ?? [1, 'seconds' as const]
  return say(unit, { count: seconds / size })
}
