import { parseCookie } from 'cookie'
import type { CookieOptions, Request, Response } from 'express'
import { z } from 'zod'
import type { Tokens } from '../tokens.ts'

const NAME = 'known_device'
const PURPOSE = 'known device'
const YEAR_SECONDS = 365 * 86_400
/** More people than share a browser. */
const MOST_USERS = 10

const sealed = z.object({ users: z.array(z.string()).max(MOST_USERS) })

/**
 * Recognises the browsers on which an account has signed in before, for the mails about new devices. A sealed cookie of the browser holds
 * that, so nothing is stored here. It is no credential: who copies it is spared a mail, and let into nothing.
 */
export function createKnownDevices({ tokens, secure }: { tokens: Tokens; secure: boolean }) {
  const cookie: CookieOptions = { path: '/auth', httpOnly: true, sameSite: 'lax', secure }

  function usersOf(req: Request): string[] {
    const token = parseCookie(req.headers.cookie ?? '')[NAME]
    const unsealed = token ? tokens.unseal(PURPOSE, token) : null
    const read = sealed.safeParse(unsealed?.expired ? null : unsealed?.payload)
    return read.success ? read.data.users : []
  }

  return {
    knows: (req: Request, userId: string): boolean => usersOf(req).includes(userId),

    /** The account that signed in last comes first. */
    remember(req: Request, res: Response, userId: string): void {
      const users = [userId, ...usersOf(req).filter(id => id !== userId)].slice(0, MOST_USERS)
      res.cookie(NAME, tokens.seal(PURPOSE, { users }, YEAR_SECONDS), { ...cookie, maxAge: YEAR_SECONDS * 1000 })
    },
  }
}
