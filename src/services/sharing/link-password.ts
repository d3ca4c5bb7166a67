import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { logSecurityEvent } from '../../access/audit-log.ts'
import type { Caller } from '../../access/caller.ts'
import type { GuessLimiter } from '../../access/guessing.ts'
import type { Passwords } from '../../access/password.ts'
import { AppError } from '../../runtime/errors.ts'
import type { Log } from '../../runtime/log.ts'
import { hashSecret, type Tokens } from '../../runtime/tokens.ts'
import { blocksOf } from '../../values/network.ts'

/** A password-protected share or file request, with its creator. */
interface Protected {
  id: string
  userId: string
  passwordHash: string | null
}

/** A visitor's password or pass. */
export interface PasswordGiven {
  password?: string | null | undefined
  /** The pass from an earlier request with the right password (see passFor). */
  pass?: string | null | undefined
}

/** The visitor of a link. */
interface Visitor extends PasswordGiven {
  caller: Caller | null
  /** The IP address. */
  address: string
  log: Log
}

/** How long a page does not ask for the password again, in seconds. */
const PASS_SECONDS = 4 * 3600
const sealedPass = z.object({ share: z.string(), password: z.string() })

interface Deps {
  tokens: Tokens
  guesses: GuessLimiter
  passwords: Passwords
  /** A pass of one purpose is invalid for another. */
  purpose: string
}

/** The passwords of links, with limits on guessing them. */
export function linkPasswords({ tokens, guesses, passwords, purpose }: Deps) {
  /**
   * A pass is bound to one link and its password: when the password changes, it becomes invalid.
   */
  const passOf = (id: string, hashed: string) => ({
    share: id,
    password: hashSecret(hashed).toString('base64url'),
  })

  function isPass({ id, passwordHash }: Protected, pass: string | null | undefined): boolean {
    const opened = tokens.open(sealedPass, purpose, pass)
    return (
      opened !== null &&
      passwordHash !== null &&
      isDeepStrictEqual(opened, passOf(id, passwordHash))
    )
  }

  return {
    isPass,

    /** A sealed token that replaces the password of this link for four hours. */
    passFor: ({ id, passwordHash }: Protected): string =>
      tokens.seal(purpose, passOf(id, passwordHash ?? ''), PASS_SECONDS),

    /**
     * @param refused called after a wrong password
     * @throws PASSWORD_REQUIRED, WRONG_PASSWORD, TOO_MANY_ATTEMPTS
     */
    async check(link: Protected, visitor: Visitor, refused?: () => Promise<void>): Promise<void> {
      const { caller, password, pass, address } = visitor
      const hashed = link.passwordHash
      if (!hashed || isPass(link, pass)) return
      if (!password) throw passwordRequired()
      // Hashing is queued per key, so that a client with many links, IP addresses or accounts still
      // gets one turn at a time.
      const networks = blocksOf(address).flatMap(({ name, factor }) =>
        factor > 0 ? [`network ${name}`] : [],
      )
      const keys = [
        `sharer ${link.userId}`,
        ...networks,
        ...(caller ? [`caller ${caller.userId}`] : []),
      ]
      const right = await guesses
        .attempt(link.id, address, () => passwords.verify(hashed, password, keys))
        .catch((error: unknown) => {
          if (error instanceof AppError && error.code === 'TOO_MANY_ATTEMPTS')
            logSecurityEvent(visitor, 'guesses_blocked', { share_id: link.id })
          throw error
        })
      if (right) return
      await refused?.()
      throw wrongPassword()
    },
  }
}

export const passwordRequired = () =>
  new AppError('PASSWORD_REQUIRED', 'This link is protected. Send its password.')

export const wrongPassword = () =>
  new AppError('WRONG_PASSWORD', 'This is not the password of this link. Check it and try again.')
