import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { signInTo, startApp, type TestApp } from '../support/harness.ts'
import { createFirst, PASSWORD, visit } from '../support/own-accounts.ts'
import type { Browser } from '../unit/sign-in-browser.ts'

let t: TestApp
let owner: Browser

beforeAll(async () => {
  t = await startApp({ SIGN_IN: 'accounts' })
  owner = (await createFirst(t)).browser
})
afterAll(() => t.stop())

const age = () =>
  t.app.db.run('UPDATE session SET created_at = ?, proved_at = NULL', [Date.now() - 11 * 60_000])
beforeEach(age)

async function ask(query: string, variables: object) {
  const headers = { 'content-type': 'application/json', origin: t.url }
  const body = JSON.stringify({ query, variables })
  const answer = await owner.get(`${t.url}/graphql`, { method: 'POST', headers, body })
  const { errors = [] } = (await answer.json()) as { errors?: { extensions: { code: string } }[] }
  return errors.map(({ extensions }) => extensions.code)
}

async function prove() {
  const url = `${t.url}/account/confirm?return_to=/admin`
  const body = new URLSearchParams({ password: PASSWORD })
  const answer = await owner.get(url, { method: 'POST', headers: { origin: t.url }, body })
  expect(answer.headers.get('location')).toBe('/admin')
}

const createKey = (scope: string) =>
  ask('mutation ($input: CreateApiKeyInput!) { createApiKey(input: $input) { secret } }', {
    input: { name: 'key', scopes: [scope] },
  })

const rest = (path: string, body: object) =>
  owner.get(`${t.url}${path}`, {
    method: path.includes('delete') ? 'DELETE' : 'POST',
    headers: { 'content-type': 'application/json', origin: t.url },
    body: JSON.stringify(body),
  })

describe('Ten minutes after the last proof', () => {
  it('a key that may write needs another one, in each interface', async () => {
    expect(await createKey('PRIVATE_FILES_WRITE')).toEqual(['PROOF_NEEDED'])
    expect(await createKey('PRIVATE_FILES_READ')).toEqual([])
    const path = '/api/api_keys/private/create'
    const key = { name: 'key', scopes: ['private_files:write'] }
    const refused = await rest(path, key)
    expect(await refused.text()).toContain('/account/confirm')
    await prove()
    expect(await createKey('PRIVATE_FILES_WRITE')).toEqual([])
    expect((await rest(path, key)).ok).toBe(true)
  })

  it('what operators do needs another one', async () => {
    const suspend = async () => {
      const bob = await signInTo(t.app.db, t.url, 'bob')
      await age()
      const input = { account: `account:${bob.userId}`, status: 'SUSPENDED' }
      const query = 'mutation ($input: UpdateAccountInput!) { updateAccount(input: $input) '
      return () => ask(`${query} { account { id } } }`, { input })
    }
    const send = await suspend()
    expect(await send()).toEqual(['PROOF_NEEDED'])
    await prove()
    expect(await send()).toEqual([])
  })

  it('the page of a program leads to the proof, and back', async () => {
    const query = new URLSearchParams({
      response_type: 'code',
      client_id: 'satchel-cli',
      redirect_uri: 'http://127.0.0.1:7777/',
      scope: 'private_files:write',
      code_challenge: 'x'.repeat(43),
      code_challenge_method: 'S256',
    })
    const path = `/authorize?${query}`
    const page = await visit(owner, `${t.url}${path}`)
    const account = /name="account" value="([^"]+)"/.exec(page.text)?.[1] ?? ''
    const body = new URLSearchParams({ account, answer: 'approve' })
    const headers = { origin: t.url, accept: 'text/html' }
    const answer = await owner.get(owner.last, { method: 'POST', headers, body })
    const to = new URL(answer.headers.get('location') ?? '', t.url)
    expect(to.pathname).toBe('/account/confirm')
    expect(to.searchParams.get('return_to')).toMatch(/^\/.*response_type=code/)
  })

  it('people without an account of the service are not asked', async () => {
    const carol = await signInTo(t.app.db, t.url, 'carol')
    await age()
    const created = await carol.rest('POST', '/api/api_keys/private/create', {
      json: { name: 'key', scopes: ['private_files:write'] },
    })
    expect(created.status).toBe(200)
  })

  it('the end of the account needs another one, in each interface', async () => {
    const query = 'mutation ($input: DeleteAccountInput!) { deleteAccount(input: $input) '
    const end = () => ask(`${query} { deletedId } }`, { input: { deleteUserData: true } })
    expect(await end()).toEqual(['PROOF_NEEDED'])
    const refused = await rest('/api/user/account/delete', { delete_user_data: true })
    expect([refused.status, await refused.text()]).toEqual([
      401,
      expect.stringContaining('/account/confirm'),
    ])
    await prove()
    expect(await end()).toEqual([])
  })
})
