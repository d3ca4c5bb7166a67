import type { IncomingMessage } from 'node:http'
import type { Caller } from '../access/caller.ts'
import { type CallerFinder, noteCaller } from '../access/credential.ts'
import type { GuessLimiter } from '../access/guessing.ts'
import type { Incoming } from '../http/incoming.ts'
import { DavError } from './refusal.ts'

export interface SignInDeps {
  /** Finds the caller by an API key, or by the headers that the other interfaces accept. */
  findCaller: CallerFinder
  guesses: GuessLimiter
}

const challenge = { 'www-authenticate': 'Basic realm="Satchel", charset="UTF-8"' }

const refused = (message: string) => new DavError(401, message, { headers: challenge })

/** Finds the caller of a request. @throws DavError 401, TOO_MANY_ATTEMPTS */
export type DavSignIn = (incoming: Incoming) => Promise<Caller>

/**
 * Authenticates a request. The password of Basic (RFC 7617) is an API key, and its user is the
 * e-mail address or name of the key's user. A key as Bearer or X-API-Key works as well. Cookies are
 * ignored, so that pages of other origins cannot use a browser's session.
 * @throws DavError 401, TOO_MANY_ATTEMPTS
 */
export function davSignIn({ findCaller, guesses }: SignInDeps): DavSignIn {
  async function find(req: IncomingMessage): Promise<Caller | null> {
    const given = basicOf(req)
    if (!given) {
      const caller = await findCaller(req)
      return caller?.via === 'api_key' ? caller : null
    }
    const caller = await findCaller.byKey(given.password)
    if (!caller || !isNamed(caller, given.user)) return null
    noteCaller(req, caller)
    return caller
  }

  return async ({ req, address, from }) => {
    const { authorization, 'x-api-key': key } = req.headers
    if (authorization === undefined && key === undefined)
      throw refused('Sign in with your e-mail address as the user, and an API key as the password.')
    const caller = await find(req)
    if (caller) return { ...caller, face: 'webdav', from }
    // Keys cannot be guessed, so a valid key is never refused. Invalid keys are slowed down and
    // counted like guesses.
    await guesses.attempt('webdav', address, async () => false)
    throw refused('This user or API key is wrong, or the key has been deleted. Use a valid key.')
  }
}

/** The user and password of a Basic credential. */
function basicOf({ headers }: IncomingMessage): { user: string; password: string } | undefined {
  const encoded = /^Basic +([A-Za-z0-9+/=_-]+) *$/i.exec(headers.authorization ?? '')?.[1]
  if (encoded === undefined || encoded.length > 2048) return undefined
  const text = Buffer.from(encoded, 'base64').toString('utf8')
  const colon = text.indexOf(':')
  return colon < 0 ? undefined : { user: text.slice(0, colon), password: text.slice(colon + 1) }
}

const plain = (text: string) => text.normalize('NFC').trim().toLowerCase()

const isNamed = ({ email, name }: Caller, user: string): boolean =>
  [email, name].some(one => one !== '' && plain(one) === plain(user))
