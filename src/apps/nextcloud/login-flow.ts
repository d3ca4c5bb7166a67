import { logSecurityEvent } from '../../access/audit-log.ts'
import { appScopes } from '../../access/scopes.ts'
import { readWhole } from '../../http/body.ts'
import { nobody } from '../../http/callers.ts'
import { type Answer, jsonHeaders } from '../../http/envelope.ts'
import type { Incoming } from '../../http/incoming.ts'
import { nothingHere, type Passage } from '../../http/threshold.ts'
import { write } from '../../http/write.ts'
import { InvalidInput } from '../../runtime/errors.ts'
import { APP_CLIENT, GrantError } from '../../services/accounts/login-term.ts'
import type { Services } from '../../services/index.ts'
import { MAX_KEY_NAME } from '../../values/limits.ts'
import { oneLine } from '../../values/one-line.ts'

export const LOGIN_PATH = '/index.php/login/v2'
const POLL_PATH = `${LOGIN_PATH}/poll`
/** A phone keeps its password for a year. */
const LIFETIME_SECONDS = 365 * 24 * 60 * 60
const MAX_BODY_BYTES = 4 * 1024

const json = (status: number, value: unknown): Answer => ({
  status,
  headers: jsonHeaders,
  body: JSON.stringify(value),
})

/** The name of a device, from its User-Agent. */
export const deviceName = ({ req }: Pick<Incoming, 'req'>): string =>
  oneLine(req.headers['user-agent'] ?? '')
    .trim()
    .slice(0, MAX_KEY_NAME) || 'Nextcloud app'

/** The token of a poll: desktops send it in a form, phones in the query. */
async function tokenOf({ req, query }: Incoming): Promise<string> {
  const inQuery = query.get('token')
  if (inQuery) return inQuery
  const bytes = await readWhole(req, MAX_BODY_BYTES, {
    tooLarge: () => new InvalidInput('body', 'The body may have up to 4 KiB.'),
    broken: () => new InvalidInput('body', 'The body ended before it was complete. Send it again.'),
  })
  return new URLSearchParams(bytes.toString('utf8')).get('token') ?? ''
}

/**
 * The login flow of Nextcloud's clients, version 2, over the login of devices
 * (docs/decisions/program-logins.md): the client opens a page in a browser and polls until the
 * person has approved it there. The password that it gets is an API key of the person.
 */
export function loginFlow(
  { loginRequests }: Pick<Services, 'loginRequests'>,
  publicUrl: () => string,
): Passage[] {
  async function begin(incoming: Incoming): Promise<void> {
    const { req, res, address } = incoming
    const terms = {
      clientId: APP_CLIENT,
      name: deviceName(incoming),
      scopes: [...appScopes],
      lifetime: LIFETIME_SECONDS,
    }
    const { deviceCode, userCode } = await loginRequests.begin(terms, address)
    const page = `${publicUrl()}/device?${new URLSearchParams({ user_code: userCode })}`
    const poll = { token: deviceCode, endpoint: `${publicUrl()}${POLL_PATH}` }
    write(res, req, json(200, { poll, login: page }))
  }

  async function poll(incoming: Incoming): Promise<void> {
    const { req, res, from, log } = incoming
    const deviceCode = await tokenOf(incoming)
    try {
      const given = { deviceCode, clientId: APP_CLIENT, isPaced: false }
      const { caller, key } = await loginRequests.poll(given, from)
      const scopes = key.scopes.join(' ')
      logSecurityEvent({ log, caller }, 'key_created', { key_id: key.id, scopes, flow: 'device' })
      const granted = { server: publicUrl(), loginName: caller.email, appPassword: key.key }
      write(res, req, json(200, granted))
    } catch (error) {
      // Clients treat 404 as "not yet", and give up after a while.
      throw error instanceof GrantError ? nothingHere() : error
    }
  }

  const open = (route: string, handle: (incoming: Incoming) => Promise<void>): Passage<null> => ({
    route,
    methods: ['POST'],
    guards: 'nothing',
    caller: nobody,
    writes: true,
    handle,
  })
  return [open(LOGIN_PATH, begin), open(POLL_PATH, poll)]
}
