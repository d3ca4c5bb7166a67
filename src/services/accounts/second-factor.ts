import { randomInt } from 'node:crypto'
import { Secret, TOTP } from 'otpauth'
import type { Tx } from '../../../db/index.ts'
import {
  type LoginRow,
  loginById,
  useRecoveryCode,
  useTotpStep,
} from '../../../db/queries/login.ts'
import type { Origin } from '../../access/caller.ts'
import type { GuessLimiter } from '../../access/guessing.ts'
import type { Core } from '../core.ts'
import type { LoginNotices } from './login-notice.ts'

const PERIOD_SECONDS = 30
/** The number of time steps by which the app's clock may differ. */
const DRIFT = 1
const CODES = 10
// No characters that look alike.
const LETTERS = 'abcdefghjkmnpqrstuvwxyz23456789'
const PURPOSE = 'second factor'

interface Deps extends Core<'db' | 'change' | 'tokens'> {
  guesses: GuessLimiter
  notices: LoginNotices
}

const newCode = (): string =>
  Array.from({ length: CODES }, () => LETTERS[randomInt(LETTERS.length)]).join('')

const totpOf = (secret: string, label = '') =>
  new TOTP({
    issuer: 'Satchel',
    label,
    secret: Secret.fromBase32(secret),
    period: PERIOD_SECONDS,
  })

/** The time step of a code; null for a wrong code. */
function stepOf(secret: string, code: string, now: number): number | null {
  const delta = totpOf(secret).validate({ token: code, window: DRIFT, timestamp: now })
  return delta === null ? null : Math.floor(now / 1000 / PERIOD_SECONDS) + delta
}

/** The codes of an authenticator app (RFC 6238), and the recovery codes that replace them. */
export function secondFactorService({ db, change, tokens, guesses, notices }: Deps) {
  const hashOf = (loginId: string, code: string) =>
    tokens.digest('recovery code', `${loginId} ${code}`)

  /** Replaces the recovery codes. @returns the new ones, which are shown once */
  async function replaceCodes(loginId: string, tx: Tx): Promise<string[]> {
    const codes = Array.from({ length: CODES }, newCode)
    const createdAt = Date.now()
    await db.RecoveryCode.destroy({ where: { loginId }, transaction: tx })
    await db.RecoveryCode.bulkCreate(
      codes.map(code => ({ hash: hashOf(loginId, code), loginId, createdAt })),
      { transaction: tx },
    )
    return codes.map(code => `${code.slice(0, 5)}-${code.slice(5)}`)
  }

  const actor = ({ userId }: LoginRow, from: Origin) =>
    ({ userId, via: 'session', viaId: null, from }) as const

  return {
    /** Creates a secret, and the URI that apps read from a QR code. */
    begin({ email }: Pick<LoginRow, 'email'>): { secret: string; uri: string } {
      const secret = new Secret({ size: 20 }).base32
      return { secret, uri: totpOf(secret, email).toString() }
    },

    uriOf: (secret: string, email: string): string => totpOf(secret, email).toString(),

    /**
     * Turns the second factor on, if the app shows the right code.
     * @returns the recovery codes; null for a wrong code, or if it is already on
     */
    async enable(
      login: LoginRow,
      secret: string,
      code: string,
      { address, from }: { address: string; from: Origin },
    ): Promise<string[] | null> {
      let step: number | null = null
      const right = await guesses.attempt(`factor:${login.id}`, address, async () => {
        step = stepOf(secret, digitsOf(code), Date.now())
        return step !== null
      })
      if (!right) return null
      const codes = await change(actor(login, from), async ({ tx, record }) => {
        const totp = tokens.seal(PURPOSE, { secret }, 1)
        const row = { totp, totpStep: step, factorAt: Date.now() }
        // Another browser may have turned it on since this page was opened.
        const where = { id: login.id, totp: null }
        const [turnedOn] = await db.Login.update(row, { where, transaction: tx })
        if (turnedOn === 0) return null
        record(login.userId, { kind: 'factor.added', subject: login.id })
        await notices.queue(login, 'factor-added', tx)
        return replaceCodes(login.id, tx)
      })
      notices.wake()
      return codes
    },

    /**
     * Checks a code of the app or a recovery code. Each is valid once. @throws TOO_MANY_ATTEMPTS
     */
    async check(login: LoginRow, typed: string, address: string): Promise<boolean> {
      return guesses.attempt(`factor:${login.id}`, address, async () => {
        const now = await loginById(db, login.id)
        const sealed = now?.totp ? tokens.unseal(PURPOSE, now.totp)?.payload : null
        const secret = sealed && 'secret' in sealed ? String(sealed.secret) : null
        const digits = digitsOf(typed)
        if (secret && /^\d{6}$/.test(digits)) {
          const step = stepOf(secret, digits, Date.now())
          return step !== null && useTotpStep(db, login.id, step)
        }
        const code = typed.toLowerCase().replaceAll(/[\s-]/g, '')
        return code.length === CODES && useRecoveryCode(db, login.id, hashOf(login.id, code))
      })
    },

    async remove(login: LoginRow, from: Origin): Promise<void> {
      await change(actor(login, from), async ({ tx, record }) => {
        const none = { totp: null, totpStep: null, factorAt: null }
        await db.Login.update(none, { where: { id: login.id }, transaction: tx })
        await db.RecoveryCode.destroy({ where: { loginId: login.id }, transaction: tx })
        record(login.userId, { kind: 'factor.removed', subject: login.id })
        await notices.queue(login, 'factor-removed', tx)
      })
      notices.wake()
    },

    async renewCodes(login: LoginRow, from: Origin): Promise<string[]> {
      const codes = await change(actor(login, from), async ({ tx, record }) => {
        record(login.userId, { kind: 'codes.made', subject: login.id })
        await notices.queue(login, 'codes', tx)
        return replaceCodes(login.id, tx)
      })
      notices.wake()
      return codes
    },

    codesLeft: (loginId: string): Promise<number> => db.RecoveryCode.count({ where: { loginId } }),
  }
}

const digitsOf = (typed: string): string => typed.replaceAll(/\s/g, '')
