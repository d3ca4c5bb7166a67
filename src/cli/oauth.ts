import { persist, type Repeatable } from '../upload-engine/retry.ts'
import { Failure } from './failure.ts'
import type { Patience } from './patience.ts'
import { readJson, retryAfterOf, send } from './wire.ts'

/** The OAuth client id of this program. */
export const CLIENT_ID = 'satchel-cli'

/** A refusal by an OAuth endpoint, with the OAuth error code in `error`. */
export class LoginRefusal extends Failure {
  readonly error: string

  constructor(error: string, description: string) {
    super(
      error === 'access_denied'
        ? 'LOGIN_REFUSED'
        : error === 'expired_token'
          ? 'LOGIN_TIMED_OUT'
          : 'LOGIN_FAILED',
      description,
      { oauth_error: error },
    )
    this.error = error
  }
}

/**
 * The issuer identifier of the service.
 *
 * @throws USAGE if the service is too old
 */
export async function issuerOf(url: string, patience: Patience): Promise<string> {
  const { issuer } = await persist(
    async () => {
      const { signal } = patience
      const path = '/.well-known/oauth-authorization-server'
      const response = await send(url + path, { headers: { accept: 'application/json' }, signal })
      return (await readJson(response, url, signal)) as { issuer?: unknown }
    },
    'repeatable',
    patience,
  )
  if (typeof issuer === 'string') return issuer
  throw new Failure(
    'USAGE',
    `${new URL(url).host} does not let programs sign in through a browser. Create an API key there, and run satchel login --key ${url}.`,
  )
}

/**
 * Sends a form to an endpoint.
 *
 * @throws LoginRefusal, RATE_LIMITED, UNAVAILABLE
 */
export function postForm<Result>(
  url: string,
  path: string,
  form: Record<string, string | undefined>,
  call: Repeatable,
  patience: Patience,
): Promise<Result> {
  const given = Object.entries(form).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value]],
  )
  return persist(
    async () => {
      const { signal } = patience
      const response = await send(url + path, {
        method: 'POST',
        headers: {
          accept: 'application/json',
          'content-type': 'application/x-www-form-urlencoded',
        },
        body: new URLSearchParams(given).toString(),
        signal,
      })
      const answer = (await readJson(response, url, signal)) as {
        error?: unknown
        error_description?: unknown
      }
      if (response.ok) return answer as Result
      const { status, headers } = response
      const { error, error_description: description } = answer
      if (typeof error !== 'string')
        throw new Failure(
          'BAD_ANSWER',
          `The service answered ${status} with a body that is not from Satchel.`,
        )
      const words = typeof description === 'string' ? description : error
      if (status === 429 || status >= 500)
        throw new Failure(status === 429 ? 'RATE_LIMITED' : 'UNAVAILABLE', words, {
          ...retryAfterOf(headers),
        })
      throw new LoginRefusal(error, words)
    },
    call,
    patience,
  )
}

/** Revokes a key. This needs no credential other than the key. */
export const revokeKey = (url: string, token: string, patience: Patience): Promise<object> =>
  postForm(url, '/oauth/revoke', { token }, 'repeatable', patience)
