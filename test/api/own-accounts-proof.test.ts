import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { schema } from '../../schema/index.ts'
import { graphRows } from '../support/authorization-graph.ts'
import { World } from '../support/authorization-world.ts'
import { found, UNHURRIED } from '../support/builders.ts'
import { type Person, signInTo, startApp, type TestApp } from '../support/harness.ts'
import {
  createFirst,
  PASSWORD,
  passwordSignIn,
  personIn,
  visit,
  whoIs,
} from '../support/own-accounts.ts'
import type { Browser } from '../unit/sign-in-browser.ts'

let t: TestApp
let owner: Browser
let ownerPerson: Person
let world: World

beforeAll(async () => {
  t = await startApp({ ...UNHURRIED, SIGN_IN: 'accounts' })
  owner = (await createFirst(t)).browser
  ownerPerson = personIn(t, owner)
  world = new World(t)
})
afterAll(() => t.stop())

const age = () =>
  t.app.db.run('UPDATE session SET created_at = ?, proved_at = NULL', [Date.now() - 11 * 60_000])
beforeEach(age)

async function ask(query: string, variables: object) {
  const { errors = [] } = await ownerPerson.graphql(query, variables)
  return errors.map(({ extensions }) => extensions.code)
}

async function prove() {
  const url = `${t.url}/account/confirm?return_to=/admin`
  const body = new URLSearchParams({ password: PASSWORD })
  const answer = await owner.get(url, { method: 'POST', headers: { origin: t.url }, body })
  expect(answer.headers.get('location')).toBe('/admin')
}

const needed = () => ({ code: 'PROOF_NEEDED', url: `${t.url}/account/confirm` })

const createKey = (scope: string) =>
  ask('mutation ($input: CreateApiKeyInput!) { createApiKey(input: $input) { secret } }', {
    input: { name: 'key', scopes: [scope] },
  })

const rest = (path: string, json: object) =>
  ownerPerson.rest(path.includes('delete') ? 'DELETE' : 'POST', path, { json })

/** The code that a program shows which asks for a key that may write. */
async function codeOfWriter(): Promise<string> {
  const terms = { clientId: 'program', name: 'program', lifetime: 3600 }
  const scopes = ['private_files:write' as const]
  return (await t.app.services.loginRequests.begin({ ...terms, scopes }, '192.0.2.1')).userCode
}

describe('Ten minutes after the last proof', () => {
  it('a key that may write needs another one, in each interface', async () => {
    expect(await createKey('PRIVATE_FILES_WRITE')).toEqual(['PROOF_NEEDED'])
    expect(await createKey('PRIVATE_FILES_READ')).toEqual([])
    const path = '/api/api_keys/private/create'
    const key = { name: 'key', scopes: ['private_files:write'] }
    const refused = await rest(path, key)
    expect([refused.status, refused.response]).toEqual([401, needed()])
    const team = `/api/api_keys/${await found(ownerPerson)}/create`
    const teamKey = { name: 'key', scopes: ['workspaces:files:write'] }
    const alsoRefused = await rest(team, teamKey)
    expect([alsoRefused.status, alsoRefused.response]).toEqual([403, needed()])
    await prove()
    expect(await createKey('PRIVATE_FILES_WRITE')).toEqual([])
    expect((await rest(path, key)).status).toBe(200)
    expect((await rest(team, teamKey)).status).toBe(200)
  })

  it('what operators do needs another one', async () => {
    const suspend = async () => {
      const bob = await signInTo(t.app.db, t.url, 'bob')
      await age()
      const input = { account: `account:${bob.userId}`, status: 'SUSPENDED' }
      const query =
        'mutation ($input: OperatorUpdateAccountInput!) { operatorUpdateAccount(input: $input) '
      return () => ask(`${query} { account { id } } }`, { input })
    }
    const send = await suspend()
    expect(await send()).toEqual(['PROOF_NEEDED'])
    await prove()
    expect(await send()).toEqual([])
  })

  // Every change by an operator needs one. These three need one for certain inputs.
  const critical: Record<string, () => object | Promise<object>> = {
    createApiKey: () => ({ scopes: ['PRIVATE_FILES_WRITE'] }),
    approveLogin: () => ({ scopes: ['PRIVATE_FILES_WRITE'] }),
    approveDeviceLogin: async () => ({ userCode: await codeOfWriter() }),
  }
  const mutations = Object.values(schema.getMutationType()?.getFields() ?? {})
    .filter(({ extensions: { fails } }) => fails?.includes('PROOF_NEEDED'))
    .map(({ name }) => name)

  it.each(mutations)('%s needs another one', async name => {
    const row = graphRows.find(({ at }) => at === name)
    if (!row) throw new Error(`No row of graphRows calls ${name}.`)
    const things = await world.things()
    const given: { input?: object } = await row.variables(things, ownerPerson)
    const input = { ...given.input, ...(await critical[name]?.()) }
    const { errors } = await ownerPerson.graphql(row.document, { input })
    expect(errors?.map(({ path, extensions }) => [path, extensions])).toContainEqual([
      [name],
      needed(),
    ])
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

  it('removing an identity needs another one, by REST and on its page', async () => {
    const identity = crypto.randomUUID()
    const remove = () =>
      ownerPerson.rest('DELETE', `/api/user/identities?identity_id=${identity}`, {})
    const refused = await remove()
    expect([refused.status, refused.response]).toEqual([401, needed()])
    const headers = { origin: t.url, accept: 'text/html' }
    const body = new URLSearchParams({ identity_id: identity })
    const url = `${t.url}/identities/remove`
    const answer = await owner.get(url, { method: 'POST', headers, body })
    expect(answer.headers.get('location')).toBe('/account/confirm?return_to=%2Fidentities')
    await prove()
    expect((await remove()).response.code).toBe('IDENTITY_NOT_FOUND')
  })

  it('an operator can sign in and give one during a maintenance, to end it', async () => {
    const { maintenance } = t.app.services
    await maintenance.start({ endsAt: Date.now() + 600_000, message: '' }, null)
    const given = { email: 'owner@example.com', password: PASSWORD }
    const { browser } = await passwordSignIn(t, given)
    expect(await whoIs(t, browser)).toBe(given.email)
    await age()
    const end = () => ask('mutation { operatorEndMaintenance { ended } }', {})
    expect(await end()).toEqual(['PROOF_NEEDED'])
    await prove()
    expect(await end()).toEqual([])
    expect(maintenance.current()).toBeNull()
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
    expect([refused.status, refused.response]).toEqual([401, needed()])
    await prove()
    expect(await end()).toEqual([])
  })
})
