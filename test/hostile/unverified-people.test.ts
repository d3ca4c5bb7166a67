import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { found } from '../support/builders.ts'
import { type Person, startApp, type TestApp } from '../support/harness.ts'

let t: TestApp
let bob: Person

beforeAll(async () => {
  t = await startApp()
  bob = await t.signIn('bob')
})
afterAll(() => t?.stop())

const MARK = 'address not verified'
const page = async (path: string) =>
  (await bob.rest('GET', path, { headers: { accept: 'text/html' } })).text

it.each([
  ['eve', false],
  ['alice', true],
])(
  '%s is marked on every page, unless her address is verified (%s)',
  async (name, emailVerified) => {
    const sender = await t.signIn(name, { emailVerified })
    await sender.upload(`${name}.txt`, 'x')
    const share = { email: bob.email, objects: [`${name}.txt`] }
    const { response } = await sender.rest('POST', '/api/files/share', { json: share })
    const { sharing_token } = response.sharing_info[0]
    const invite = { workspace_id: await found(sender), email: bob.email, role: 'viewer' }
    await sender.rest('POST', '/api/workspaces/invites/create', { json: invite })
    const mine: { workspace_id: string; token: string }[] = (
      await bob.rest('GET', '/api/workspaces/invites/mine')
    ).response
    const token = mine.find(({ workspace_id }) => workspace_id === invite.workspace_id)?.token
    const row = (await page('/')).split('<li>').find(text => text.includes(sharing_token))
    for (const text of [
      row,
      await page(`/share/${sharing_token}`),
      await page(`/invite/${token}`),
    ]) {
      expect(text).toContain(sender.email)
      expect(text?.includes(MARK)).toBe(!emailVerified)
    }
  },
)
