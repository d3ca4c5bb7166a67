import { hash } from 'node:crypto'
import { decodeJwt, decodeProtectedHeader, type JWTPayload, jwtVerify } from 'jose'
import { isSame } from '../runtime/tokens.ts'
import type { OpenId } from './discovery.ts'

/** The accepted difference between the clocks of the provider and this machine. */
const CLOCK_SECONDS = 60

/** The verified claims of an ID token. */
export type IdClaims = JWTPayload & { sub: string; iat: number }

/**
 * Verifies an ID token according to OpenID Connect Core 1.0, section 3.1.3.7: signature, issuer,
 * audience, authorized party, expiry, nonce and, if present, the hash of the access token.
 * @throws Error with the reason
 */
export async function checkIdToken(
  token: string,
  {
    openId,
    clientId,
    nonce,
    accessToken,
  }: { openId: OpenId; clientId: string; nonce: string; accessToken: string },
): Promise<IdClaims> {
  const claims = await checkSigned(token, openId, clientId, ['sub', 'iat', 'exp'])
  const { sub, aud, azp, nonce: stated, at_hash: accessHash } = claims
  if (typeof sub !== 'string' || sub === '') throw new Error('The ID token names no subject.')
  if (azp === undefined ? Array.isArray(aud) && aud.length > 1 : azp !== clientId)
    throw new Error('The ID token was issued to another client.')
  if (typeof stated !== 'string' || !isSame(stated, nonce))
    throw new Error('The ID token belongs to another sign-in.')
  if (
    accessHash !== undefined &&
    accessHash !== halfHash(accessToken, decodeProtectedHeader(token).alg ?? '')
  )
    throw new Error('The ID token belongs to another access token.')
  return { ...claims, sub, iat: claims.iat ?? 0 }
}

const logoutEvent = 'http://schemas.openid.net/event/backchannel-logout'
/** How long a logout token is valid after its issue, so that a leaked old token has no effect. */
const LOGOUT_SECONDS = 300

/**
 * Checks a logout token (OpenID Connect Back-Channel Logout 1.0, section 2.6).
 * @returns the user or the session that it names (at least one is not null); sessions that began by
 * `issuedAt` end
 * @throws Error with the reason
 */
export async function checkLogoutToken(
  token: string,
  openId: OpenId,
  clientId: string,
): Promise<{ subject: string | null; sid: string | null; issuedAt: number }> {
  const claims = await checkSigned(
    token,
    openId,
    clientId,
    ['iat', 'jti', 'events'],
    LOGOUT_SECONDS,
  )
  const { typ } = decodeProtectedHeader(token)
  if (typ !== undefined && !/^(application\/)?(logout\+)?jwt$/i.test(typ))
    throw new Error('It is of another type.')
  const { events, nonce, sub, sid, iat = 0 } = claims
  if (typeof events !== 'object' || events === null || !(logoutEvent in events))
    throw new Error('It contains no logout event.')
  // An ID token has one, and must not serve as a logout token.
  if (nonce !== undefined) throw new Error('It has a nonce.')
  const subject = typeof sub === 'string' && sub !== '' ? sub : null
  const session = typeof sid === 'string' && sid !== '' ? sid : null
  if (subject === null && session === null)
    throw new Error('It names neither a subject nor a session.')
  return { subject, sid: session, issuedAt: iat * 1000 }
}

/** Checks signature, issuer, audience and times of a token of the provider. @throws Error */
async function checkSigned(
  token: string,
  { issuer, keys, algorithms }: OpenId,
  clientId: string,
  requiredClaims: string[],
  maxSeconds?: number,
): Promise<JWTPayload> {
  const required = {
    requiredClaims,
    clockTolerance: CLOCK_SECONDS,
    ...(maxSeconds ? { maxTokenAge: maxSeconds } : {}),
  }
  const options = { ...required, issuer: issuersOf(issuer, token), audience: clientId, algorithms }
  return (await jwtVerify(token, keys, options)).payload
}

function issuersOf(issuer: string, token: string): string[] {
  // Google documents both.
  if (issuer === 'https://accounts.google.com') return [issuer, 'accounts.google.com']
  if (!issuer.includes('{tenantid}')) return [issuer]
  const { tid } = decodeJwt(token)
  if (typeof tid !== 'string' || !/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/.test(tid))
    throw new Error('The ID token names no tenant.')
  return [issuer.replace('{tenantid}', tid)]
}

/**
 * The left half of the hash that belongs to the algorithm of the signature (OpenID Connect Core
 * 1.0, section 3.1.3.6).
 */
function halfHash(text: string, algorithm: string): string {
  const bits = algorithm.startsWith('Ed') ? '512' : algorithm.slice(-3)
  const whole = hash(`sha${bits}`, text, 'buffer')
  return whole.subarray(0, whole.length / 2).toString('base64url')
}
