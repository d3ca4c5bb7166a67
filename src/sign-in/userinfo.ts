import { z } from 'zod'
import type { OAuthProvider } from '../config/config.ts'
import type { ProviderProfile } from '../services/accounts/account.ts'
import { parseJson } from '../values/json.ts'
import { fetchBounded, readClaims } from './claims.ts'
import type { IdClaims } from './id-token.ts'

interface Request {
  provider: OAuthProvider
  /** "" for none. */
  userinfoUrl: string
  accessToken: string
  /** Null for plain OAuth 2. */
  idClaims: IdClaims | null
  timeoutMs: number
}

/**
 * The profile of an authenticated user.
 * @throws Error for a response that does not identify the user
 */
export async function readProfileOf(request: Request): Promise<ProviderProfile> {
  return readClaims(request.provider.name, await claimsOf(request))
}

async function claimsOf(request: Request): Promise<object> {
  const { provider, userinfoUrl, idClaims } = request
  // Its userinfo contains less than the ID token, and never states whether an address is verified.
  if (provider.dialect === 'microsoft' && idClaims) return readMicrosoft(idClaims)
  if (userinfoUrl === '') return idClaims ?? {}
  const stated = record.parse(await ask(userinfoUrl, request))
  if (provider.dialect === 'github') return { ...stated, ...(await readGithubEmail(request)) }
  return idClaims ? joined(idClaims, stated) : stated
}

const record = z.record(z.string(), z.unknown())

/**
 * Userinfo supplements the ID token, and must belong to the same user (OpenID Connect Core 1.0,
 * section 5.3.2).
 */
function joined(idClaims: IdClaims, userinfo: Record<string, unknown>): object {
  if (userinfo.sub !== idClaims.sub)
    throw new Error('The userinfo response is for another user than the ID token.')
  const { email_verified, ...rest } = idClaims
  // If userinfo has a different address, the ID token does not verify it.
  const isSameAddress = userinfo.email === undefined || userinfo.email === idClaims.email
  return { ...rest, ...(isSameAddress ? { email_verified } : {}), ...userinfo }
}

const githubEmails = z.array(
  z.object({ email: z.string(), primary: z.boolean(), verified: z.boolean() }),
)

/**
 * GitHub's profile contains only the public address. A separate endpoint has the primary one and
 * whether it is verified.
 */
async function readGithubEmail(request: Request): Promise<object> {
  const emails = githubEmails.parse(await ask(`${request.userinfoUrl}/emails`, request))
  const primary = emails.find(email => email.primary)
  return { email: primary?.email ?? '', email_verified: primary?.verified === true }
}

/**
 * Any administrator of a tenant can set Microsoft's `email`, so it counts as verified only with the
 * optional claim `xms_edov`. A subject is unique only within its tenant. The picture needs an
 * access token.
 */
function readMicrosoft({ sub, tid, xms_edov: owned, ...claims }: IdClaims): object {
  if (typeof tid !== 'string') throw new Error('The ID token names no tenant.')
  const isOwned = owned === true || owned === 1 || owned === '1' || owned === 'true'
  return { ...claims, tid, sub: `${tid}.${sub}`, email_verified: isOwned, picture: '' }
}

async function ask(url: string, { accessToken, timeoutMs }: Request): Promise<unknown> {
  const headers = { Authorization: `Bearer ${accessToken}` }
  const { ok, status, text } = await fetchBounded(url, { headers }, timeoutMs)
  if (!ok) throw new Error(`${new URL(url).pathname} answered ${status}.`)
  return parseJson(text)
}
