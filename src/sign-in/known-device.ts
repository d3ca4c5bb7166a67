import type { IncomingMessage } from 'node:http'
import { parseCookie, stringifySetCookie } from 'cookie'
import { z } from 'zod'
import type { Tokens } from '../runtime/tokens.ts'

const NAME = 'known_device'
const PURPOSE = 'known device'
const YEAR_SECONDS = 365 * 86_400
/** More people than usually share a browser. */
const MOST_USERS = 10

const sealed = z.object({ users: z.array(z.string()).max(MOST_USERS) })

/**
 * Recognises browsers on which an account has signed in before, for the mails about new devices.
 * The browser keeps this in a sealed cookie, so nothing is stored here. The cookie is no
 * credential: a copy only prevents a mail.
 */
export function createKnownDevices({ tokens, secure }: { tokens: Tokens; secure: boolean }) {
  const cookie = { path: '/auth', httpOnly: true, sameSite: 'lax', secure } as const

  const usersOf = (req: IncomingMessage): string[] =>
    tokens.open(sealed, PURPOSE, parseCookie(req.headers.cookie ?? '')[NAME])?.users ?? []

  return {
    knows: (req: IncomingMessage, userId: string): boolean => usersOf(req).includes(userId),

    /** The cookie that remembers an account. The one that signed in last comes first. */
    remember(req: IncomingMessage, userId: string): string {
      const users = [userId, ...usersOf(req).filter(id => id !== userId)].slice(0, MOST_USERS)
      return stringifySetCookie(NAME, tokens.seal(PURPOSE, { users }, YEAR_SECONDS), {
        ...cookie,
        maxAge: YEAR_SECONDS,
      })
    },
  }
}
