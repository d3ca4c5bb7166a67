import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/server'
import { v7 as newId } from 'uuid'
import { isDuplicate } from '../../../db/index.ts'
import type { Passkey } from '../../../db/models/passkey.ts'
import { type LoginRow, loginById } from '../../../db/queries/login.ts'
import { passkeyByCredential, passkeysOf, usePasskey } from '../../../db/queries/passkey.ts'
import type { Origin } from '../../access/caller.ts'
import { isLoopback } from '../../config/config.ts'
import { hashSecret, newSecret } from '../../runtime/tokens.ts'
import { parseJson } from '../../values/json.ts'
import type { Core } from '../core.ts'
import type { LoginNotices } from './login-notice.ts'

interface Deps extends Core<'db' | 'change' | 'publicUrl'> {
  notices: LoginNotices
}

const CHALLENGE_MS = 15 * 60_000
const MAX_NAME = 100
/** The maximum number of passkeys per account, more than anyone has devices. */
const MOST = 20
const hashOf = (text: string) => hashSecret(text).toString('hex')

/** Loaded on first use. */
const library = () => import('@simplewebauthn/server')

/** Passkeys (WebAuthn), which need no second factor: the device verifies its user. */
export function passkeyService({ db, change, publicUrl, notices }: Deps) {
  const rpId = () => new URL(publicUrl()).hostname
  const expected = (challenge: string) => ({
    expectedChallenge: challenge,
    expectedOrigin: publicUrl(),
    expectedRPID: rpId(),
    requireUserVerification: true,
  })

  /** Marks a challenge as used, for all instances. Returns whether it was unused. */
  async function useChallenge(challenge: string): Promise<boolean> {
    const now = Date.now()
    const used = {
      hash: hashOf(`challenge ${challenge}`),
      model: 'Challenge',
      grantHash: null,
      payload: '{}',
      consumedAt: now,
      createdAt: now,
      expiresAt: now + CHALLENGE_MS,
    }
    try {
      await db.SignInState.create(used)
      return true
    } catch (error) {
      if (isDuplicate(error)) return false
      throw error
    }
  }

  const actor = ({ userId }: LoginRow, from: Origin) =>
    ({ userId, via: 'session', viaId: null, from }) as const

  return {
    /** Browsers support passkeys only for https and localhost, and not for IP addresses. */
    isOffered(): boolean {
      const { protocol, hostname } = new URL(publicUrl())
      const isAddress = /^[\d.]+$|^\[/.test(hostname)
      return !isAddress && (protocol === 'https:' || isLoopback(publicUrl()))
    },

    newChallenge: (): string => newSecret(32),

    signInOptions(challenge: string): PublicKeyCredentialRequestOptionsJSON {
      return { challenge, rpId: rpId(), userVerification: 'required', allowCredentials: [] }
    },

    async addOptions(
      { id, email, name }: LoginRow,
      challenge: string,
    ): Promise<PublicKeyCredentialCreationOptionsJSON> {
      const { generateRegistrationOptions } = await library()
      const known = await passkeysOf(db, id)
      const options = await generateRegistrationOptions({
        rpName: 'Satchel',
        rpID: rpId(),
        userName: email,
        userDisplayName: name,
        userID: Buffer.from(id),
        attestationType: 'none',
        excludeCredentials: known.map(key => ({ id: key.credentialId })),
        authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      })
      return { ...options, challenge }
    },

    /** Adds a passkey. @returns whether the browser's response is valid */
    async add(
      login: LoginRow,
      answer: string,
      { challenge, name, from }: { challenge: string; name: string; from: Origin },
    ): Promise<boolean> {
      const { verifyRegistrationResponse } = await library()
      const response = parseJson(answer) as RegistrationResponseJSON | undefined
      if (!response || !(await useChallenge(challenge))) return false
      const verified = await verifyRegistrationResponse({
        response,
        ...expected(challenge),
      }).catch(() => null)
      if (!verified?.verified) return false
      if ((await db.Passkey.count({ where: { loginId: login.id } })) >= MOST) return false
      const { credential, credentialBackedUp: backedUp } = verified.registrationInfo
      const row = {
        id: newId(),
        loginId: login.id,
        credentialHash: hashOf(credential.id),
        credentialId: credential.id,
        publicKey: Buffer.from(credential.publicKey).toString('base64url'),
        counter: credential.counter,
        transports: (credential.transports ?? []).join(' ').slice(0, 100),
        name: name.trim().slice(0, MAX_NAME),
        backedUp,
        createdAt: Date.now(),
        lastUsedAt: null,
      }
      try {
        await change(actor(login, from), async ({ tx, record }) => {
          await db.Passkey.create(row, { transaction: tx })
          record(login.userId, { kind: 'passkey.added', subject: row.id })
          await notices.queue(login, 'passkey-added', tx)
        })
      } catch (error) {
        // Another account has this passkey.
        if (isDuplicate(error)) return false
        throw error
      }
      notices.wake()
      return true
    },

    /** The login of a passkey that has signed a challenge; null for an invalid response. */
    async check(answer: string, challenge: string): Promise<LoginRow | null> {
      const { verifyAuthenticationResponse } = await library()
      const response = parseJson(answer) as AuthenticationResponseJSON | undefined
      if (typeof response?.id !== 'string') return null
      const known = await passkeyByCredential(db, hashOf(response.id))
      if (!known) return null
      const handle = response.response?.userHandle
      if (handle && Buffer.from(handle, 'base64url').toString() !== known.loginId) return null
      if (!(await useChallenge(challenge))) return null
      // Also refuses a counter that does not increase, because the passkey may have been copied.
      const verified = await verifyAuthenticationResponse({
        response,
        ...expected(challenge),
        credential: {
          id: known.credentialId,
          publicKey: Buffer.from(known.publicKey, 'base64url'),
          counter: Number(known.counter),
        },
      }).catch(() => null)
      if (!verified?.verified) return null
      const { newCounter } = verified.authenticationInfo
      if (!(await usePasskey(db, known, newCounter, Date.now()))) return null
      const login = await loginById(db, known.loginId)
      return login?.status === 'active' ? login : null
    },

    list: (loginId: string): Promise<Passkey[]> => passkeysOf(db, loginId),

    async remove(login: LoginRow, id: string, from: Origin): Promise<boolean> {
      const removed = await change(actor(login, from), async ({ tx, record }) => {
        const where = { id, loginId: login.id }
        if ((await db.Passkey.destroy({ where, transaction: tx })) === 0) return false
        record(login.userId, { kind: 'passkey.removed', subject: id })
        await notices.queue(login, 'passkey-removed', tx)
        return true
      })
      notices.wake()
      return removed
    },
  }
}
