import { once } from 'node:events'
import { createServer, request, type ServerResponse } from 'node:http'
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals'
import { UnsecuredJWT } from 'jose'
import { readConfig } from '../../src/config/config.ts'
import { createTokens, newSecret } from '../../src/runtime/tokens.ts'
import { createOAuth } from '../../src/sign-in/oauth.ts'
import type { SignInRequest } from '../../src/sign-in/state.ts'
import { startApp } from '../support/harness.ts'
import { type OpenIdProvider, openOpenIdProvider } from '../support/openid-provider.ts'
import { Browser } from '../unit/sign-in-browser.ts'

let sso: OpenIdProvider

beforeAll(async () => {
  sso = await openOpenIdProvider()
})
afterAll(() => sso?.close())
afterEach(() => {
  sso.alter = undefined
  sso.setDown(false)
  jest.restoreAllMocks()
})

/** The requests to the provider, on a server without the rest of the service. */
async function serve({
  timeoutMs = 10_000,
  onBegin = (_ended: Promise<void>, _res: ServerResponse) => {},
} = {}) {
  let url = ''
  const oauth = createOAuth({
    providers: readConfig(sso.settings('SSO')).providers,
    tokens: createTokens(newSecret()),
    publicUrl: () => url,
    secure: false,
    linkTo: async () => null,
    timeoutMs,
  })
  const server = createServer((incoming, res) => {
    const query = Object.fromEntries(new URL(incoming.url ?? '', url).searchParams)
    const req = Object.assign(incoming, { query, res }) as unknown as SignInRequest
    const pending = oauth.take(req)
    if (!pending) return onBegin(oauth.begin(req, 'sso'), res)
    oauth.finish(req, pending).then(
      ({ profile }) => res.end(profile.email),
      ({ reason, cause }) => res.end(`${reason}: ${cause.message}`),
    )
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const address = server.address()
  url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`
  return { url, server }
}

describe('a sign-in', () => {
  it("stops reading the provider's configuration when the browser leaves", async () => {
    const { promise: held, resolve: release } = Promise.withResolvers<void>()
    const { promise: begun, resolve: onEnd } = Promise.withResolvers<Promise<void>>()
    sso.alter = async () => void (await held)
    const { url, server } = await serve({
      onBegin(ended, res) {
        res.once('close', release)
        onEnd(ended)
      },
    })
    const asked = request(url).end()
    asked.on('error', () => {})
    await once(server, 'request')
    asked.destroy()
    expect(await await begun).toBeUndefined()
    server.close()
  }, 5000)

  it('has one deadline for all responses of the provider', async () => {
    const { url, server } = await serve({ timeoutMs: 1000 })
    const signIn = async () => {
      const browser = new Browser()
      return (
        await browser.get(await sso.visit(browser, await browser.get(`${url}/auth/oauth`)))
      ).text()
    }
    const asked: string[] = []
    sso.alter = async path => {
      asked.push(path)
      if (['token', 'jwks', 'me'].includes(path)) await new Promise(done => setTimeout(done, 750))
      return undefined
    }
    expect(await signIn()).toBe('auth_failed: The provider takes too long to answer.')
    expect(asked).toEqual(expect.arrayContaining(['token', 'jwks', 'me']))
    sso.alter = undefined
    expect(await signIn()).toBe(sso.user.email)
    server.close()
  })
})

describe('unauthenticated logout tokens', () => {
  /** The number of requests to the provider at paths with this ending. */
  function countAsked(end: string): () => number {
    const real = globalThis.fetch
    let asked = 0
    jest.spyOn(globalThis, 'fetch').mockImplementation((input, init) => {
      if (String(input).startsWith(sso.issuer) && String(input).endsWith(end)) asked += 1
      return real(input, init)
    })
    return () => asked
  }
  async function send(url: string, token: string): Promise<string> {
    const body = new URLSearchParams({ logout_token: token })
    const answer = await fetch(`${url}/auth/backchannel_logout`, { method: 'POST', body })
    expect(answer.status).toBe(400)
    return ((await answer.json()) as { msg: string }).msg
  }
  const unsigned = (iss?: string) => new UnsecuredJWT(iss === undefined ? {} : { iss }).encode()

  it('send no requests to a dead provider, and log one line', async () => {
    sso.setDown(true)
    const asked = countAsked('/.well-known/openid-configuration')
    const t = await startApp(sso.settings('SSO'))
    try {
      // The request of the start.
      expect(await send(t.url, unsigned(sso.issuer))).toContain(
        'Its issuer does not respond at the moment',
      )
      expect(asked()).toBe(1)
      for (const token of [
        '',
        'x.y.z',
        unsigned(),
        unsigned('https://other.example.com'),
        unsigned(sso.issuer),
      ])
        await send(t.url, token)
      expect(asked()).toBe(1)
      const now = Date.now()
      jest.spyOn(Date, 'now').mockImplementation(() => now + 6000)
      // Only the issuer that a token names is called.
      for (const token of ['x.y.z', unsigned(), unsigned('https://other.example.com')])
        await send(t.url, token)
      expect(asked()).toBe(1)
      await send(t.url, unsigned(sso.issuer))
      expect(asked()).toBe(2)
      expect(t.logs().split('the sign-in provider cannot be used')).toHaveLength(2)
    } finally {
      await t.stop()
    }
  })

  it.each([
    ['that cannot be read', '/nothing', 'answers 404'],
    ['that are none', '/.well-known/openid-configuration', 'is no set of keys'],
  ])('fetch keys %s only once in some seconds', async (_, path, reason) => {
    sso.alter = async (asked, answer) =>
      asked === '.well-known/openid-configuration'
        ? { ...answer, jwks_uri: sso.issuer + path }
        : undefined
    const t = await startApp(sso.settings('SSO'))
    const header = Buffer.from(JSON.stringify({ alg: 'ES256', kid: 'any' })).toString('base64url')
    const token = `${header}.${unsigned(sso.issuer).split('.')[1]}.AAAA`
    try {
      // Refused after the configuration was read, but before its keys are read.
      await send(t.url, unsigned(sso.issuer))
      const asked = countAsked(path)
      for (let count = 0; count < 4; count++) expect(await send(t.url, token)).toContain(reason)
      expect(asked()).toBe(1)
    } finally {
      await t.stop()
    }
  })
})
