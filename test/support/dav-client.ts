import { randomUUID } from 'node:crypto'
import { type Program, privateKey } from './builders.ts'
import type { Person, TestApp } from './harness.ts'

export interface DavAnswer {
  status: number
  headers: Headers
  text: string
}

export interface DavOptions {
  headers?: Record<string, string>
  body?: string | Uint8Array | ReadableStream
}

export type Dav = (method: string, path: string, options?: DavOptions) => Promise<DavAnswer>

export const basic = (user: string, password: string) =>
  `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`

/** A client for /dav with a credential. */
export const davOf =
  (url: string, authorization?: string): Dav =>
  async (method, path, { headers = {}, body } = {}) => {
    const answer = await fetch(`${url}/dav${path}`, {
      method,
      headers: { ...(authorization ? { authorization } : {}), ...headers },
      ...(body === undefined ? {} : { body: body as BodyInit, duplex: 'half' }),
    } as RequestInit)
    return { status: answer.status, headers: answer.headers, text: await answer.text() }
  }

/** A person with a key of these scopes, and their WebDAV client. */
export async function davPerson(
  t: TestApp,
  name = `dav-${randomUUID().slice(0, 8)}`,
  scopes?: readonly string[],
): Promise<{ person: Person; dav: Dav; key: Program; authorization: string }> {
  const person = await t.signIn(name)
  const key = await privateKey(t, person, scopes)
  const authorization = basic(person.email, key.key)
  return { person, key, authorization, dav: davOf(t.url, authorization) }
}

/** The URLs in a multistatus response. */
export const hrefsIn = (text: string): string[] =>
  [...text.matchAll(/<d:response><d:href>([^<]*)<\/d:href>/g)].map(([, href]) => href ?? '')

export const lockInfo = (scope = 'exclusive', owner = 'someone') =>
  `<?xml version="1.0"?><d:lockinfo xmlns:d="DAV:"><d:lockscope><d:${scope}/></d:lockscope><d:locktype><d:write/></d:locktype><d:owner>${owner}</d:owner></d:lockinfo>`

/** Creates a lock. Returns its token. */
export async function lockOf(
  dav: Dav,
  path: string,
  headers: Record<string, string> = {},
  scope = 'exclusive',
) {
  const answer = await dav('LOCK', path, { headers, body: lockInfo(scope) })
  if (answer.status >= 300) throw new Error(`${answer.status} ${answer.text}`)
  return /^<(.*)>$/.exec(answer.headers.get('lock-token') ?? '')?.[1] ?? ''
}
