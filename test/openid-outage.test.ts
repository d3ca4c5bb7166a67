import { once } from 'node:events'
import { createServer, request } from 'node:http'
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals'
import { readConfig } from '../src/config/config.ts'
import { createTokens, newSecret } from '../src/runtime/tokens.ts'
import { createOAuth } from '../src/sign-in/oauth.ts'
import type { SignInRequest } from '../src/sign-in/state.ts'
import { type OpenIdProvider, openOpenIdProvider } from './openid-provider.ts'

let sso: OpenIdProvider

beforeAll(async () => {
  sso = await openOpenIdProvider()
})
afterAll(() => sso?.close())
afterEach(() => {
  sso.alter = undefined
})

/** The round trips to the provider, without a service around them. */
const newOAuth = (timeoutMs = 10_000) =>
  createOAuth({
    providers: readConfig(sso.settings('SSO')).providers,
    tokens: createTokens(newSecret()),
    publicUrl: () => 'http://localhost',
    secure: false,
    linkTo: async () => null,
    timeoutMs,
  })

describe('a sign-in whose browser leaves', () => {
  it('ends while the configuration of the provider is read', async () => {
    const { promise: held, resolve: release } = Promise.withResolvers<void>()
    sso.alter = async () => void (await held)
    const oauth = newOAuth()
    const ended = Promise.withResolvers<void>()
    const server = createServer((req, res) => {
      res.once('close', release)
      oauth
        .begin(Object.assign(req, { query: {}, res }) as unknown as SignInRequest, 'sso')
        .then(ended.resolve, ended.reject)
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    const asked = request({ host: '127.0.0.1', port: typeof address === 'object' ? address?.port : 0 }).end()
    asked.on('error', () => {})
    await once(server, 'request')
    asked.destroy()
    expect(await ended.promise).toBeUndefined()
    server.close()
  }, 5000)
})
