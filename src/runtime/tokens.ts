import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hash,
  hkdfSync,
  type KeyObject,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto'
import type { z } from 'zod'

/** Returns a new random secret as base64url. */
export function newSecret(bytes = 32): string {
  return randomBytes(bytes).toString('base64url')
}

/**
 * The stored form of a secret: its SHA-256, 32 bytes. A fast hash is right for secrets from
 * newSecret, which cannot be guessed, and wrong for anything that a person chose (see
 * auth/password.ts).
 */
export function hashSecret(secret: string): Buffer {
  return hash('sha256', secret, 'buffer')
}

/** Compares texts of equal length in constant time. */
export function isSame(given: string, wanted: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(wanted)]
  return a.length === b.length && timingSafeEqual(a, b)
}

/**
 * Creates and reads tokens with one key per purpose: a token of one purpose is invalid for another.
 */
export interface Tokens {
  /**
   * The token of a row: 43 characters of base64url with the id and a MAC. The same id gives the
   * same token, so it need not be stored to be shown again, and the database alone never suffices
   * to create one.
   * @param id a UUID
   */
  derive(purpose: string, id: string): string
  /**
   * The id (lower case) in a derived token; null for anything else. Rejects a forged token without
   * a query.
   */
  read(purpose: string, token: string): string | null
  /**
   * A keyed digest of a text, 64 hex digits: the stored form of an e-mail address that only needs
   * to be recognised.
   */
  digest(purpose: string, text: string): string
  /**
   * Seals a payload in an encrypted, authenticated token that expires.
   * @param payload any JSON value
   */
  seal(purpose: string, payload: object, seconds: number): string
  /** The payload of a sealed token; null for anything else. */
  unseal(purpose: string, token: string): Unsealed | null
  /** The payload of a sealed token that has not expired and matches the schema; null otherwise. */
  open<T extends object>(
    schema: z.ZodType<T>,
    purpose: string,
    token: string | null | undefined,
  ): T | null
}

/** The payload of a sealed token, and whether it has expired. */
export interface Unsealed {
  payload: object
  expired: boolean
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const idBytes = 16
const macBytes = 16
const derivedLength = 43

// AES-GCM with random nonces is safe for some 2^32 tokens of one purpose.
const nonceBytes = 12
const tagBytes = 16
const timeBytes = 6
const longestSealed = 8192

/**
 * @param secretKey the server's SECRET_KEY, the same on all instances; 32 characters or more
 */
export function createTokens(secretKey: string): Tokens {
  if (secretKey.length < 32) throw new TypeError('The secret key must have 32 characters or more')
  // HKDF is slower than the MAC itself. The purposes are few and come from the code.
  const keys = new Map<string, KeyObject>()
  const keyOf = (use: 'derive' | 'digest' | 'seal', purpose: string): KeyObject => {
    const label = `satchel ${use} ${purpose}`
    const known = keys.get(label)
    if (known) return known
    const key = createSecretKey(Buffer.from(hkdfSync('sha256', secretKey, '', label, 32)))
    keys.set(label, key)
    return key
  }
  const macOf = (purpose: string, id: Buffer): Buffer =>
    createHmac('sha256', keyOf('derive', purpose)).update(id).digest().subarray(0, macBytes)

  return {
    derive(purpose, id) {
      if (!uuid.test(id)) throw new TypeError('Tokens are derived from UUIDs only')
      const bytes = Buffer.from(id.replaceAll('-', ''), 'hex')
      return Buffer.concat([bytes, macOf(purpose, bytes)]).toString('base64url')
    },

    read(purpose, token) {
      if (token.length !== derivedLength) return null
      const bytes = decode(token)
      if (!bytes) return null
      const id = bytes.subarray(0, idBytes)
      if (!timingSafeEqual(bytes.subarray(idBytes), macOf(purpose, id))) return null
      const hex = id.toString('hex')
      return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
    },

    digest: (purpose, text) =>
      createHmac('sha256', keyOf('digest', purpose)).update(text).digest('hex'),

    seal(purpose, payload, seconds) {
      const nonce = randomBytes(nonceBytes)
      const expires = Buffer.alloc(timeBytes)
      expires.writeUIntBE(Date.now() + Math.ceil(seconds * 1000), 0, timeBytes)
      const cipher = createCipheriv('aes-256-gcm', keyOf('seal', purpose), nonce)
      const sealed = [
        nonce,
        cipher.update(expires),
        cipher.update(JSON.stringify(payload), 'utf8'),
        cipher.final(),
      ]
      return Buffer.concat([...sealed, cipher.getAuthTag()]).toString('base64url')
    },

    unseal(purpose, token) {
      if (token.length > longestSealed) return null
      const bytes = decode(token)
      if (!bytes || bytes.length < nonceBytes + timeBytes + tagBytes) return null
      const key = keyOf('seal', purpose)
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, nonceBytes), {
        authTagLength: tagBytes,
      })
      decipher.setAuthTag(bytes.subarray(-tagBytes))
      const opened = decipher.update(bytes.subarray(nonceBytes, -tagBytes))
      try {
        decipher.final()
      } catch {
        return null
      }
      return {
        payload: JSON.parse(opened.toString('utf8', timeBytes)),
        expired: opened.readUIntBE(0, timeBytes) <= Date.now(),
      }
    },

    open(schema, purpose, token) {
      const unsealed = token ? this.unseal(purpose, token) : null
      return unsealed && !unsealed.expired
        ? (schema.safeParse(unsealed.payload).data ?? null)
        : null
    },
  }
}

// Node decodes leniently: padding, the other alphabet, foreign characters and stray last bits. Each
// token must have a single spelling, because variants would evade a list of refused or counted
// tokens.
function decode(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64url')
  return bytes.toString('base64url') === text ? bytes : null
}
