import { validate as isUuid, v7 as newId } from 'uuid'
import { deleteFirstClients, hasClients, keepClient } from '../../../db/queries/oauth.ts'
import { AppError, Busy, ProtocolError } from '../../runtime/errors.ts'
import { DAY_MS, HOUR_MS } from '../../values/duration.ts'
import { parseJson } from '../../values/json.ts'
import { MAX_KEY_NAME, MAX_REDIRECT_URI } from '../../values/limits.ts'
import { truncateAddress } from '../../values/network.ts'
import type { Core } from '../core.ts'
import type { RateLimitService } from '../rate-limit.ts'
import { parseTitle } from '../title.ts'

/** A registered program. */
export interface RegisteredClient {
  id: string
  /** What it calls itself. */
  name: string
  redirectUris: string[]
  createdAt: number
}

/** A refusal in the words of RFC 7591, section 3.2.2. */
export class RegistrationError extends ProtocolError {
  readonly error: 'invalid_redirect_uri' | 'invalid_client_metadata'

  constructor(error: RegistrationError['error'], description: string) {
    super(description)
    this.error = error
  }
}

const MAX_REDIRECTS = 10
const MAX_CLIENTS = 20_000
/** How long a program is kept that nobody has approved, and one that somebody has. */
const WAITING_MS = 7 * DAY_MS
const APPROVED_MS = 400 * DAY_MS
/** How long a program is kept for its first approval even if too many are registered. */
const UNDISTURBED_MS = HOUR_MS
/** The number of programs that make room together. */
const ROOM = 100

const LOOPBACK = ['127.0.0.1', '[::1]', 'localhost']

const isLocal = (uri: string): boolean => {
  const { protocol, hostname } = new URL(uri)
  return protocol === 'http:' && LOOPBACK.includes(hostname)
}

/** Whether a browser may be sent there: by https, or to a program on its own computer. */
function mayRedirectTo(uri: unknown): uri is string {
  if (typeof uri !== 'string' || uri.length > MAX_REDIRECT_URI || !/^[\x21-\x7e]+$/.test(uri))
    return false
  if (!URL.canParse(uri) || uri.includes('\\') || uri.includes('#')) return false
  const { protocol, username, password, hostname } = new URL(uri)
  if (username !== '' || password !== '' || hostname === '') return false
  return protocol === 'https:' || isLocal(uri)
}

/** A URI without its port, which a program on the computer chooses anew each time (RFC 8252). */
function withoutPort(uri: string): string {
  const url = new URL(uri)
  url.port = ''
  return url.href
}

/** Whether a redirect leads where the program has registered. */
export const isRegistered = ({ redirectUris }: RegisteredClient, uri: string): boolean =>
  redirectUris.includes(uri) ||
  (mayRedirectTo(uri) &&
    isLocal(uri) &&
    redirectUris.some(one => isLocal(one) && withoutPort(one) === withoutPort(uri)))

/** Programs that register themselves (docs/decisions/assistants.md). */
export function oauthClientService({
  db,
  rateLimits,
}: Core<'db'> & { rateLimits: RateLimitService }) {
  return {
    /**
     * Registers a program.
     * @throws RegistrationError, RATE_LIMITED, UNAVAILABLE
     */
    async register(given: Record<string, unknown>, address: string): Promise<RegisteredClient> {
      await rateLimits.hit('device_logins', `registrations ${truncateAddress(address)}`, {})
      const uris = given.redirect_uris
      if (!Array.isArray(uris) || uris.length === 0 || uris.length > MAX_REDIRECTS)
        throw new RegistrationError(
          'invalid_redirect_uri',
          `Give 1 to ${MAX_REDIRECTS} redirect_uris.`,
        )
      if (!uris.every(mayRedirectTo))
        throw new RegistrationError(
          'invalid_redirect_uri',
          `Each of redirect_uris begins with https://, or with http:// and a loopback host, and has up to ${MAX_REDIRECT_URI} characters.`,
        )
      const [first = ''] = uris
      const name = nameOf(given.client_name ?? new URL(first).host)
      const [id, createdAt] = [newId(), Date.now()]
      // Those that nobody has approved make room. So a flood keeps no other program out for days.
      const replaceable = createdAt + WAITING_MS - UNDISTURBED_MS
      if (
        (await hasClients(db, MAX_CLIENTS)) &&
        (await deleteFirstClients(db, replaceable, ROOM)) === 0
      )
        throw new Busy('Too many programs are registered. Try again in an hour.', 3600)
      const redirectUris = [...new Set(uris)]
      await db.OAuthClient.create({
        id,
        name,
        redirectUris: JSON.stringify(redirectUris),
        createdAt,
        expiresAt: createdAt + WAITING_MS,
      })
      return { id, name, redirectUris, createdAt }
    },

    /** The program with this id; null if it has not registered, or was forgotten. */
    async find(id: string | undefined): Promise<RegisteredClient | null> {
      if (id === undefined || !isUuid(id)) return null
      const row = await db.OAuthClient.findByPk(id, { raw: true })
      if (!row) return null
      const { name, redirectUris, createdAt } = row
      return { id, name, redirectUris: parseJson(redirectUris) as string[], createdAt }
    },

    /** Keeps a program that a person has approved. */
    keep: (id: string) => keepClient(db, id, Date.now() + APPROVED_MS),
  }
}

export type OAuthClientService = ReturnType<typeof oauthClientService>

function nameOf(given: unknown): string {
  if (typeof given !== 'string')
    throw new RegistrationError('invalid_client_metadata', 'client_name is a text.')
  try {
    return parseTitle(given, MAX_KEY_NAME)
  } catch (error) {
    if (error instanceof AppError)
      throw new RegistrationError('invalid_client_metadata', error.message)
    throw error
  }
}
