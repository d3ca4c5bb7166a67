import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { auth, type OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type {
  OAuthClientInformationMixed,
  OAuthTokens,
} from '@modelcontextprotocol/sdk/shared/auth.js'
import { ask } from '../support/ask.ts'
import { privateKey, UNHURRIED } from '../support/builders.ts'
import { type Person, startApp, type TestApp } from '../support/harness.ts'
import { assistant, assistantOf, rpc } from '../support/mcp.ts'
import { CALLBACK, connect, consent, loginOf, register, token } from '../support/oauth-client.ts'

const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list' }

let t: TestApp
let alice: Person
let people = 0
beforeAll(async () => {
  t = await startApp(UNHURRIED)
})
afterAll(() => t?.stop())
beforeEach(async () => {
  alice = await t.signIn(`alice${++people}`)
})

const statusWith = async (access: string) => (await rpc(t.url, access, LIST)).status
const refresh = (clientId: string, refresh_token: string, more = {}) =>
  token(t.url, { grant_type: 'refresh_token', client_id: clientId, refresh_token, ...more })

describe('The client of the SDK', () => {
  it('finds the authorization server, registers, and gets in through the page of consent', async () => {
    let client: OAuthClientInformationMixed | undefined
    let tokens: OAuthTokens | undefined
    let verifier = ''
    let page: URL | undefined
    const provider: OAuthClientProvider = {
      redirectUrl: CALLBACK,
      clientMetadata: { redirect_uris: [CALLBACK], client_name: 'Helper of the SDK' },
      state: () => 'some state',
      clientInformation: () => client,
      saveClientInformation: given => {
        client = given
      },
      tokens: () => tokens,
      saveTokens: given => {
        tokens = given
      },
      redirectToAuthorization: url => {
        page = url
      },
      saveCodeVerifier: given => {
        verifier = given
      },
      codeVerifier: () => verifier,
    }
    const url = new URL('/mcp', t.url)
    const first = new StreamableHTTPClientTransport(url, { authProvider: provider })
    await expect(new Client({ name: 'x', version: '1' }).connect(first)).rejects.toThrow()
    expect(page?.origin).toBe(t.url)
    expect(page?.searchParams.get('resource')).toBe(`${t.url}/mcp`)
    expect(page?.searchParams.get('scope')).toBe('private_files:read')
    const path = `${page?.pathname}${page?.search}`
    const shown = await (await fetch(t.url + path, { headers: { cookie: alice.cookie } })).text()
    for (const one of ['Helper of the SDK', 'assistant.example', alice.email])
      expect(shown).toContain(one)
    const { to } = await consent(t.url, alice, path)
    expect(to?.origin).toBe('https://assistant.example')
    expect(to?.searchParams.get('iss')).toBe(t.url)
    expect(to?.searchParams.get('state')).toBe('some state')
    const authorizationCode = to?.searchParams.get('code') ?? ''
    expect(await auth(provider, { serverUrl: url, authorizationCode })).toBe('AUTHORIZED')
    const second = new Client({ name: 'x', version: '1' })
    await second.connect(new StreamableHTTPClientTransport(url, { authProvider: provider }))
    await alice.upload('hello.txt', 'hello')
    const one = await assistantOf(second)
    expect((await one.call('list_folder')).entries).toHaveLength(1)
    // It refreshes by itself.
    await t.app.db.run("UPDATE oauth_token SET expires_at = 1 WHERE kind = 'access'")
    expect((await one.call('list_folder')).entries).toHaveLength(1)
    expect(tokens?.expires_in).toBeLessThanOrEqual(900)
    await second.close()
  })
})

describe('Discovery', () => {
  it('leads from the refusal to the authorization server', async () => {
    const { status, headers } = await rpc(t.url, null, LIST)
    expect(status).toBe(401)
    const place = `${t.url}/.well-known/oauth-protected-resource/mcp`
    expect(headers.get('www-authenticate')).toBe(
      `Bearer scope="private_files:read", resource_metadata="${place}"`,
    )
    for (const at of [place, place.replace(/\/mcp$/, '')])
      expect(await (await fetch(at)).json()).toMatchObject({
        resource: `${t.url}/mcp`,
        authorization_servers: [t.url],
        scopes_supported: ['private_files:read'],
      })
    const server = await (await fetch(`${t.url}/.well-known/oauth-authorization-server`)).json()
    expect(server).toMatchObject({
      issuer: t.url,
      registration_endpoint: `${t.url}/oauth/register`,
      grant_types_supported: expect.arrayContaining(['refresh_token']),
      code_challenge_methods_supported: ['S256'],
    })
    const wrong = await rpc(t.url, 'satchel_at_wrong', LIST)
    expect(wrong.headers.get('www-authenticate')).toContain('error="invalid_token"')
  })

  it('names the scopes that a call lacks', async () => {
    const { access } = await connect(t.url, alice)
    const params = { name: 'create_link', arguments: {} }
    const { status, headers } = await rpc(t.url, access, { ...LIST, method: 'tools/call', params })
    expect(status).toBe(403)
    expect(headers.get('www-authenticate')).toMatch(
      /error="insufficient_scope", scope="private_files:read private_files:share"/,
    )
  })

  it('is absent while assistants are off', async () => {
    const off = await startApp({ ASSISTANTS: 'false' })
    try {
      const made = await register(off.url, { redirect_uris: [CALLBACK] }).catch(() => null)
      expect(made?.status ?? 404).toBe(404)
      const metadata = await fetch(`${off.url}/.well-known/oauth-authorization-server`)
      expect(await metadata.json()).not.toHaveProperty('registration_endpoint')
      const resource = await fetch(`${off.url}/.well-known/oauth-protected-resource`)
      expect(resource.status).toBe(404)
    } finally {
      await off.stop()
    }
  })
})

describe('Registration', () => {
  it('accepts only redirects to https or to the own computer', async () => {
    for (const uri of [
      CALLBACK,
      'http://127.0.0.1:4711/x',
      'http://localhost/callback',
      'http://[::1]/',
    ])
      expect((await register(t.url, { redirect_uris: [uri] })).status).toBe(201)
    for (const uris of [
      undefined,
      [],
      ['http://evil.example/'],
      ['javascript:alert(1)'],
      ['data:text/html,x'],
      ['myapp://callback'],
      ['https://user:password@evil.example/'],
      ['https://evil.example/#fragment'],
      ['http://localhost.evil.example/'],
      ['http://127.0.0.1@evil.example/'],
      ['https:\\\\evil.example'],
      ['https://evil.example/\r\nx'],
      [CALLBACK, 'http://evil.example/'],
      [7],
      [`https://a.example/${'x'.repeat(300)}`],
      Array.from({ length: 11 }, (_, i) => `https://a.example/${i}`),
    ]) {
      const { status, said } = await register(t.url, { redirect_uris: uris })
      expect([uris, status, said.error]).toEqual([uris, 400, 'invalid_redirect_uri'])
    }
    const named = await register(t.url, { redirect_uris: [CALLBACK], client_name: 'x'.repeat(101) })
    expect([named.status, named.said.error]).toEqual([400, 'invalid_client_metadata'])
    const few = await startApp({ RATE_DEVICE_LOGINS: '1' })
    try {
      expect((await register(few.url, { redirect_uris: [CALLBACK] })).status).toBe(201)
      expect((await register(few.url, { redirect_uris: [CALLBACK] })).status).toBe(429)
    } finally {
      await few.stop()
    }
  })

  it('forgets programs that nobody approves', async () => {
    const { said } = await register(t.url, { redirect_uris: [CALLBACK] })
    const kept = await connect(t.url, alice)
    const later = Date.now() + 8 * 24 * 3_600_000
    await t.app.db.run('UPDATE oauth_client SET expires_at = expires_at - ?', [later - Date.now()])
    await t.app.sweeper.run()
    const { path } = loginOf(said.client_id)
    expect((await consent(t.url, alice, path)).status).toBe(400)
    expect((await consent(t.url, alice, loginOf(kept.clientId).path)).status).toBe(200)
  })

  it('makes room for others when too many programs wait, but keeps the approved ones', async () => {
    const full = await startApp(UNHURRIED)
    try {
      const carol = await full.signIn('carol')
      const kept = await connect(full.url, carol)
      const week = 7 * 24 * 3_600_000
      const now = Date.now()
      for (let part = 0; part < 20; part++) {
        const rows = Array.from({ length: 1000 }, () => [randomUUID(), 'x', '[]', now, now + week])
        await full.app.db.run(
          `INSERT INTO oauth_client (id, name, redirect_uris, created_at, expires_at) VALUES ${rows.map(() => '(?, ?, ?, ?, ?)').join()}`,
          rows.flat(),
        )
      }
      const metadata = { redirect_uris: [CALLBACK] }
      const refused = await register(full.url, metadata)
      expect([refused.status, refused.said.error]).toEqual([503, 'temporarily_unavailable'])
      // They have waited for more than an hour.
      await full.app.db.run('UPDATE oauth_client SET expires_at = expires_at - 3700000')
      expect((await register(full.url, metadata)).status).toBe(201)
      expect((await consent(full.url, carol, loginOf(kept.clientId).path)).status).toBe(200)
    } finally {
      await full.stop()
    }
  })
})

describe('The page of consent', () => {
  it('lets the person choose the rights, and chooses only reading at first', async () => {
    const { said: client } = await register(t.url, { redirect_uris: [CALLBACK], client_name: 'H' })
    const { path } = loginOf(client.client_id)
    for (const [language, word] of [
      ['en', 'Nobody has verified its name'],
      ['de', 'Niemand hat seinen Namen geprüft'],
    ]) {
      const headers = { cookie: alice.cookie, 'accept-language': language ?? '' }
      const text = await (await fetch(t.url + path, { headers })).text()
      expect(text).toContain(word)
      const checked = [...text.matchAll(/value="([\w:]+)" checked/g)].map(([, scope]) => scope)
      expect(checked).toEqual(['private_files:read'])
      expect(text).toContain('value="private_files:share"')
      expect(text).toContain('value="workspaces:files:read"')
    }
    expect((await consent(t.url, alice, path, { scopes: [] })).status).toBe(400)
    expect((await consent(t.url, alice, path, { scopes: ['workspaces:delete'] })).status).toBe(400)
    const { to } = await consent(t.url, alice, path, { answer: 'refuse' })
    expect(to?.searchParams.get('error')).toBe('access_denied')
  })

  it('grants exactly what was chosen', async () => {
    const { access, said } = await connect(t.url, alice, ['private_files:read'])
    expect(said.scope).toBe('private_files:read')
    const one = await assistant(t.url, access)
    expect(await one.tools()).not.toContain('create_link')
    await one.client.close()
    const more = await connect(t.url, alice, ['private_files:read', 'private_files:write'])
    const two = await assistant(t.url, more.access)
    expect(await two.tools()).toContain('write_text_file')
    expect(await two.tools()).not.toContain('move_to_trash')
    await two.client.close()
  })

  it('never sends the browser where the program has not registered', async () => {
    const { said: client } = await register(t.url, { redirect_uris: [CALLBACK] })
    for (const more of [
      { redirect_uri: 'https://evil.example/callback' },
      { redirect_uri: `${CALLBACK}/more` },
      { redirect_uri: 'http://127.0.0.1:1/' },
      { client_id: '0190f0a8-0000-7000-8000-000000000000' },
      { client_id: 'unregistered', redirect_uri: 'http://127.0.0.1:1/', resource: `${t.url}/mcp` },
    ]) {
      const { path } = loginOf(client.client_id, more)
      const { status, to } = await consent(t.url, alice, path)
      expect([more, status, to]).toEqual([more, 400, null])
    }
  })

  it('sends no browser to a program before the person has decided', async () => {
    const { said: client } = await register(t.url, { redirect_uris: [CALLBACK] })
    for (const [more, told] of [
      [{ resource: 'https://other.example/mcp' }, 'resource must be'],
      [{ code_challenge_method: 'plain' }, 'code_challenge_method S256'],
      [{ response_type: 'token' }, 'response_type must be code'],
    ] as const)
      for (const cookie of [alice.cookie, '']) {
        const { path } = loginOf(client.client_id, more)
        const response = await fetch(t.url + path, { redirect: 'manual', headers: { cookie } })
        expect([more, response.status, response.headers.get('location')]).toEqual([more, 400, null])
        expect(await response.text()).toContain(told)
      }
  })

  it('lets a program on the computer choose its port', async () => {
    const { said: client } = await register(t.url, { redirect_uris: ['http://localhost/cb'] })
    const { path } = loginOf(client.client_id, { redirect_uri: 'http://localhost:51234/cb' })
    expect((await consent(t.url, alice, path)).to?.port).toBe('51234')
    const elsewhere = loginOf(client.client_id, { redirect_uri: 'http://127.0.0.1:51234/cb' })
    expect((await consent(t.url, alice, elsewhere.path)).status).toBe(400)
  })
})

describe('A grant', () => {
  it('is one of the keys of the person, and ends at once with it', async () => {
    const { access, refresh: later, clientId } = await connect(t.url, alice, undefined, 'Robot')
    expect(await statusWith(access)).toBe(200)
    const { me } = await ask(alice, '{ me { apiKeys { nodes { id name description scopes } } } }')
    const keys = me.apiKeys.nodes
    expect(keys).toEqual([
      expect.objectContaining({
        name: 'Robot',
        description: expect.stringContaining('assistant.example'),
        scopes: ['PRIVATE_FILES_READ'],
      }),
    ])
    const end =
      'mutation ($input: DeleteApiKeyInput!) { deleteApiKey(input: $input) { deletedId } }'
    await ask(alice, end, { input: { apiKey: keys[0].id } })
    expect(await statusWith(access)).toBe(401)
    expect((await refresh(clientId, later)).said.error).toBe('invalid_grant')
  })

  it('ends with the suspension of the person, and by its own revocation', async () => {
    const { access } = await connect(t.url, alice)
    await t.app.db.run("UPDATE user SET status = 'suspended' WHERE id = ?", [alice.userId])
    expect(await statusWith(access)).toBe(401)
    await t.app.db.run("UPDATE user SET status = 'active' WHERE id = ?", [alice.userId])
    expect(await statusWith(access)).toBe(200)
    const { refresh: second, access: other } = await connect(t.url, alice)
    const body = new URLSearchParams({ token: second })
    expect((await fetch(`${t.url}/oauth/revoke`, { method: 'POST', body })).status).toBe(200)
    expect(await statusWith(other)).toBe(401)
    expect(await statusWith(access)).toBe(200)
  })

  it('has tokens for this resource only', async () => {
    const { access, refresh: later } = await connect(t.url, alice)
    for (const path of ['/api/files/tree', '/api/folders', '/dav/files'])
      expect((await t.withKey(access).rest('GET', path)).status).toBe(401)
    expect((await t.withKey(access).graphql('{ me { id } }')).code).toBe('UNAUTHENTICATED')
    expect(await statusWith(later)).toBe(401)
    // A token that was issued for another address of the service.
    await t.app.db.run('UPDATE oauth_token SET resource = ?', ['https://other.example/mcp'])
    expect(await statusWith(access)).toBe(401)
  })

  it('rotates its refresh token, and ends when one is used again', async () => {
    const { clientId, refresh: first, access } = await connect(t.url, alice)
    expect((await refresh('another', first)).said.error).toBe('invalid_grant')
    const target = await refresh(clientId, first, { resource: 'https://other.example/' })
    expect(target.said.error).toBe('invalid_target')
    // The page of consent and the exchange of the code ignore the slash, too.
    const { said } = await refresh(clientId, first, { resource: `${t.url}/mcp/` })
    expect(said).toMatchObject({ token_type: 'Bearer', scope: 'private_files:read' })
    expect(said.refresh_token).not.toBe(first)
    expect(await statusWith(said.access_token)).toBe(200)
    // A program that did not get the answer may repeat the request for a moment.
    expect((await refresh(clientId, first)).status).toBe(200)
    await t.app.db.run('UPDATE oauth_token SET used_at = used_at - 60000')
    expect((await refresh(clientId, first)).said.error).toBe('invalid_grant')
    for (const one of [access, said.access_token]) expect(await statusWith(one)).toBe(401)
    expect((await refresh(clientId, said.refresh_token)).said.error).toBe('invalid_grant')
  })

  it('does not hide that the grant of a stolen token could not be ended', async () => {
    const { clientId, refresh: first } = await connect(t.url, alice)
    expect((await refresh(clientId, first)).status).toBe(200)
    await t.app.db.run('UPDATE oauth_token SET used_at = used_at - 60000')
    const fails = {
      sqlite: "BEGIN SELECT RAISE(ABORT, 'kept'); END",
      mysql: "SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'kept'",
    }[t.app.db.dialect]
    await t.app.db.run(`CREATE TRIGGER keeps_keys BEFORE DELETE ON api_key FOR EACH ROW ${fails}`)
    try {
      const { status, said } = await refresh(clientId, first)
      expect([status, said.error]).toEqual([500, 'server_error'])
    } finally {
      await t.app.db.run('DROP TRIGGER keeps_keys')
    }
    expect((await refresh(clientId, first)).said.error).toBe('invalid_grant')
    const kept = 'SELECT id FROM api_key WHERE created_by = ?'
    expect(await t.app.db.rows(kept, [alice.userId])).toEqual([])
  })

  it('may refresh its tokens only so often in a minute', async () => {
    const few = await startApp({ RATE_API_KEYS: '2' })
    try {
      const { clientId, refresh: first } = await connect(few.url, await few.signIn('carol'))
      const again = (refresh_token: string) =>
        token(few.url, { grant_type: 'refresh_token', client_id: clientId, refresh_token })
      const second = await again(first)
      const third = await again(second.said.refresh_token)
      expect([second.status, third.status]).toEqual([200, 200])
      const limited = await again(third.said.refresh_token)
      expect([limited.status, limited.said.error]).toEqual([429, 'temporarily_unavailable'])
      // A stolen token ends the grant nevertheless.
      await few.app.db.run('UPDATE oauth_token SET used_at = used_at - 60000')
      expect((await again(first)).said.error).toBe('invalid_grant')
      expect((await rpc(few.url, third.said.access_token, LIST)).status).toBe(401)
    } finally {
      await few.stop()
    }
  })

  it('is bound to its program, its redirect and its verifier', async () => {
    const { said: client } = await register(t.url, { redirect_uris: [CALLBACK] })
    const { said: thief } = await register(t.url, { redirect_uris: [CALLBACK] })
    for (const wrong of [
      { client_id: thief.client_id },
      { redirect_uri: 'https://assistant.example/other' },
      { code_verifier: 'x'.repeat(43) },
      { resource: 'https://other.example/' },
    ]) {
      const { verifier, path } = loginOf(client.client_id)
      const { to } = await consent(t.url, alice, path)
      const form = {
        grant_type: 'authorization_code',
        client_id: client.client_id,
        redirect_uri: CALLBACK,
        code: to?.searchParams.get('code') ?? '',
        code_verifier: verifier,
      }
      expect((await token(t.url, { ...form, ...wrong })).said.error).toBe('invalid_grant')
      expect((await token(t.url, form)).said.error).toBe('invalid_grant')
    }
  })

  it('is named in the audit trail', async () => {
    const { access } = await connect(t.url, alice, undefined, 'Robot')
    const one = await assistant(t.url, access)
    await one.call('list_folder')
    await one.client.close()
    const [row] = await t.app.db.rows<{ details: string }>(
      "SELECT details FROM event WHERE kind = 'assistant.called' AND actor_id = ?",
      [alice.userId],
    )
    expect(JSON.parse(row?.details ?? '')).toMatchObject({ tool: 'list_folder', name: 'Robot' })
  })

  it('does not keep keys of the person from working', async () => {
    const { key } = await privateKey(t, alice, ['private_files:read'])
    expect(await statusWith(key)).toBe(200)
  })
})
