import type { IncomingMessage, ServerResponse } from 'node:http'
import { parseCookie, stringifySetCookie } from 'cookie'
import { z } from 'zod'
import { newSecret, type Tokens } from '../../runtime/tokens.ts'
import { PREFIX } from './accounts-provider.ts'

const YEAR_SECONDS = 365 * 86_400
const PROVED_SECONDS = 120
/** More people than usually share a browser. */
const MOST_LOGINS = 10

const device = z.object({ id: z.string(), logins: z.array(z.string()).max(MOST_LOGINS) })
const proved = z.object({ login: z.string() })

/** The sealed cookies that a browser stores for the sign-in page. */
export function createSignInCookies({ tokens, secure }: { tokens: Tokens; secure: boolean }) {
  const cookie = { path: PREFIX, httpOnly: true, sameSite: 'lax', secure } as const

  const read = <T extends object>(req: IncomingMessage, name: string, schema: z.ZodType<T>) =>
    tokens.open(schema, `sign-in ${name}`, parseCookie(req.headers.cookie ?? '')[name])

  function write(res: ServerResponse, name: string, payload: object | null, seconds: number): void {
    const value = payload ? tokens.seal(`sign-in ${name}`, payload, seconds) : ''
    const maxAge = payload ? seconds : 0
    res.appendHeader('set-cookie', stringifySetCookie(name, value, { ...cookie, maxAge }))
  }

  return {
    read,
    write,

    /** The id of this browser if the login has signed in on it before; otherwise null. */
    deviceOf(req: IncomingMessage, loginId: string): string | null {
      const known = read(req, 'sign_in_device', device)
      return known?.logins.includes(loginId) ? known.id : null
    },

    rememberDevice(req: IncomingMessage, res: ServerResponse, loginId: string): void {
      const known = read(req, 'sign_in_device', device)
      const others = known?.logins.filter(id => id !== loginId) ?? []
      const logins = [loginId, ...others].slice(0, MOST_LOGINS)
      write(res, 'sign_in_device', { id: known?.id ?? newSecret(16), logins }, YEAR_SECONDS)
    },

    /**
     * Lets the next sign-in of this browser succeed, because its user has just been authenticated.
     */
    noteProved: (res: ServerResponse, login: string): void =>
      write(res, 'sign_in_proved', { login }, PROVED_SECONDS),

    /** Returns and removes the login that `noteProved` has stored. */
    takeProved(req: IncomingMessage, res: ServerResponse): string | null {
      const found = read(req, 'sign_in_proved', proved)
      if (found) write(res, 'sign_in_proved', null, 0)
      return found?.login ?? null
    },
  }
}

export type SignInCookies = ReturnType<typeof createSignInCookies>
