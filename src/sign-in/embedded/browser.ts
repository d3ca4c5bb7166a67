import { createHmac, randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { parseCookie, stringifySetCookie } from 'cookie'
import { isSame } from '../../runtime/tokens.ts'

const name = 'sign_in_browser'
const seconds = 90 * 86_400

/**
 * Marks browsers with a signed cookie once their user has proved to be on this machine.
 */
export function createKnownBrowsers(key: Buffer, path: string) {
  const sign = (id: string) =>
    createHmac('sha256', key).update(`embedded sign-in: browser ${id}`).digest('base64url')

  return {
    knows({ headers }: IncomingMessage): boolean {
      const [id = '', signature = ''] = (parseCookie(headers.cookie ?? '')[name] ?? '').split('.')
      return isSame(signature, sign(id))
    },

    /** The value of a Set-Cookie header. */
    remember(): string {
      const id = randomBytes(16).toString('base64url')
      return stringifySetCookie(name, `${id}.${sign(id)}`, {
        path,
        httpOnly: true,
        sameSite: 'lax',
        maxAge: seconds,
      })
    },
  }
}
