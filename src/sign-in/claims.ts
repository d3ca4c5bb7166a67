import { z } from 'zod'
import type { ProviderProfile } from '../services/accounts/account.ts'
import { parseJson } from '../values/json.ts'

const longestAnswer = 256 * 1024

/**
 * Sends a request to a provider without following redirects, which could leak a secret.
 * @throws Error for a timeout, or a response of more than 256 KiB
 */
export async function fetchBounded(
  url: string,
  init: RequestInit,
  timeoutMs: number,
): Promise<{ ok: boolean; status: number; text: string }> {
  const headers = { Accept: 'application/json', 'User-Agent': 'satchel', ...init.headers }
  const answer = await fetch(url, {
    ...init,
    headers,
    redirect: 'error',
    signal: AbortSignal.timeout(timeoutMs),
  })
  const parts: Uint8Array[] = []
  let bytes = 0
  for await (const part of answer.body ?? []) {
    bytes += part.byteLength
    if (bytes > longestAnswer) throw new Error('The response of the provider is too large.')
    parts.push(part)
  }
  return { ok: answer.ok, status: answer.status, text: Buffer.concat(parts).toString('utf8') }
}

// Without OpenID Connect, some providers write an empty or null ID token.
const tokens = z.object({
  access_token: z.string().min(1),
  id_token: z.string().min(1).optional().catch(undefined),
})

/**
 * Parses the tokens of a response: JSON, or a form that some providers always send. Null without an
 * access token.
 */
export function readTokens(
  text: string,
): { accessToken: string; idToken: string | undefined } | null {
  const { data } = tokens.safeParse(
    parseJson(text) ?? Object.fromEntries(new URLSearchParams(text)),
  )
  return data ? { accessToken: data.access_token, idToken: data.id_token } : null
}

const text = z.string().catch('')
// A larger number has lost digits in JSON, and could be another user's id.
const id = z.union([z.string(), z.int().transform(String)]).catch('')

const claims = z.object({
  sub: id,
  id,
  email: text,
  email_verified: z.union([z.boolean(), z.literal('true').transform(() => true)]).catch(false),
  name: text,
  display_name: text,
  login: text,
  given_name: text,
  family_name: text,
  picture: text,
  avatar_url: text,
  locale: text,
})

const distributed = z.object({ _claim_names: z.record(z.string(), z.unknown()).catch({}) })

/**
 * Reads a user's claims under the names of OpenID Connect or of its predecessors. Missing claims
 * and claims of another type are "". An e-mail address is unverified unless the provider states
 * otherwise.
 * @throws Error for anything but a JSON object
 */
export function readClaims(provider: string, value: unknown): ProviderProfile {
  const said = claims.parse(value)
  return {
    provider,
    providerUserId: said.sub || said.id,
    email: said.email,
    emailVerified: said.email_verified,
    name: said.name || said.display_name || said.login,
    givenName: said.given_name,
    familyName: said.family_name,
    picture: said.picture || said.avatar_url,
    locale: said.locale,
    ...readTexts(value),
    elsewhere: Object.keys(distributed.parse(value)._claim_names),
  }
}

const oneText = z.union([z.string(), z.boolean(), z.int()]).transform(String)
const oneOrNone = z.union([oneText.transform(one => [one]), z.unknown().transform(() => [])])

/**
 * All claims that are a text or a list with texts. Numbers and booleans are converted to text, and
 * null counts as missing. Any other claim is unreadable.
 */
function readTexts(value: unknown): { claims: Record<string, string[]>; unreadable: string[] } {
  const claims: Record<string, string[]> = Object.create(null)
  const unreadable: string[] = []
  for (const [name, claim] of Object.entries(z.record(z.string(), z.unknown()).parse(value))) {
    if (claim === null) continue
    const parts = Array.isArray(claim) ? claim : [claim]
    const read = parts.flatMap(part => oneOrNone.parse(part))
    if (read.length === 0 && parts.length > 0) unreadable.push(name)
    else claims[name] = read
  }
  return { claims, unreadable }
}
