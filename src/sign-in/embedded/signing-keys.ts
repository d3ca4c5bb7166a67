import { generateKeyPairSync } from 'node:crypto'
import { type Db, isDuplicate } from '../../../db/index.ts'
import type { Tokens } from '../../runtime/tokens.ts'
import { DAY_MS } from '../../values/duration.ts'

/** A private key as a JWK. */
export interface SigningKey {
  kid: string
  [member: string]: unknown
}

/** A key signs for one period. */
const PERIOD_MS = 30 * DAY_MS
/** The next key is published before it signs. */
const AHEAD_MS = 2 * DAY_MS
/** How long the keys are cached before they are read from the database again. */
const FRESH_MS = 60_000
const PURPOSE = 'sign-in key'
/** The expiry of a sealed key is not checked. */
const SEALED_SECONDS = 86_400

/** The keys of the provider, in the database, so that all instances sign with the same one. */
export interface SigningKeys {
  /** The signing key first, then the other published keys. */
  current(): Promise<SigningKey[]>
}

export function createSigningKeys(
  db: Db,
  tokens: Tokens,
  now: () => number = Date.now,
): SigningKeys {
  let known: { keys: SigningKey[]; until: number } | undefined

  function open(sealed: string, period: number): SigningKey | null {
    const payload = tokens.unseal(PURPOSE, sealed)?.payload
    return payload ? { ...payload, kid: `satchel-${period}` } : null
  }

  async function make(period: number): Promise<void> {
    // Generating an elliptic key takes a millisecond, and an RSA key at least a tenth of a second.
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const jwk = { ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'ES256' }
    const row = { period, sealed: tokens.seal(PURPOSE, jwk, SEALED_SECONDS), createdAt: now() }
    try {
      await db.SignInKey.create(row)
    } catch (error) {
      // Another instance has inserted the key first.
      if (!isDuplicate(error)) throw error
    }
  }

  async function read(period: number): Promise<SigningKey | null> {
    const row = await db.SignInKey.findByPk(period, { raw: true })
    const key = row ? open(row.sealed, period) : null
    // Sealed with another SECRET_KEY.
    if (row && !key) await db.SignInKey.destroy({ where: { period, sealed: row.sealed } })
    return key
  }

  async function readOrMake(period: number): Promise<SigningKey> {
    const found = await read(period)
    if (found) return found
    await make(period)
    const made = await read(period)
    if (!made) throw new Error('Another instance uses another SECRET_KEY.')
    return made
  }

  return {
    async current() {
      const at = now()
      if (known && known.until > at) return known.keys
      const period = Math.floor(at / PERIOD_MS)
      const isNextDue = (period + 1) * PERIOD_MS - at < AHEAD_MS
      const signing = await readOrMake(period)
      const others = [isNextDue ? await readOrMake(period + 1) : null, await read(period - 1)]
      const keys = [signing, ...others].filter(key => key !== null)
      known = { keys, until: at + FRESH_MS }
      return keys
    },
  }
}
