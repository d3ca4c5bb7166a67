import { createHash, randomBytes } from 'node:crypto'
import { privateScopes } from '../../src/access/scopes.ts'
import type { Person } from './harness.ts'

export const CALLBACK = 'https://assistant.example/callback'

/** An answer of the authorization server. */
export interface Said {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  said: any
}

async function answer(sent: Promise<Response>): Promise<Said> {
  const response = await sent
  return { status: response.status, said: await response.json() }
}

export const register = (url: string, metadata: object): Promise<Said> =>
  answer(
    fetch(`${url}/oauth/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(metadata),
    }),
  )

export const token = (url: string, form: Record<string, string>): Promise<Said> =>
  answer(fetch(`${url}/oauth/token`, { method: 'POST', body: new URLSearchParams(form) }))

/** A login of a registered program: its verifier, and the path of the page of consent. */
export function loginOf(clientId: string, more: Record<string, string> = {}) {
  const verifier = randomBytes(32).toString('base64url')
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: CALLBACK,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    scope: privateScopes.join(' '),
    state: 'a state',
    ...more,
  })
  return { verifier, path: `/authorize?${query}` }
}

/** Sends the form of the page of consent. @returns the redirect URL; null if there is none */
export async function consent(
  url: string,
  who: Person,
  path: string,
  { scopes = ['private_files:read'], answer: given = 'approve' } = {},
): Promise<{ status: number; text: string; to: URL | null }> {
  const body = new URLSearchParams({ account: who.userId, answer: given })
  for (const scope of scopes) body.append('scope', scope)
  const response = await fetch(url + path, {
    method: 'POST',
    body,
    redirect: 'manual',
    headers: { cookie: who.cookie, origin: url },
  })
  const refresh = response.headers.get('refresh')
  return {
    status: response.status,
    text: await response.text(),
    to: refresh === null ? null : new URL(refresh.replace(/^0;url=/, '')),
  }
}

/** Registers a program and lets a person approve it. @returns its tokens */
export async function connect(
  url: string,
  who: Person,
  scopes: string[] = ['private_files:read'],
  name = 'Helper',
) {
  const { said: client } = await register(url, { redirect_uris: [CALLBACK], client_name: name })
  const clientId: string = client.client_id
  const { verifier, path } = loginOf(clientId)
  const { to } = await consent(url, who, path, { scopes })
  const { said } = await token(url, {
    grant_type: 'authorization_code',
    client_id: clientId,
    redirect_uri: CALLBACK,
    code: to?.searchParams.get('code') ?? '',
    code_verifier: verifier,
  })
  return {
    clientId,
    access: said.access_token as string,
    refresh: said.refresh_token as string,
    said,
  }
}
