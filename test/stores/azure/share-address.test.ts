import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { startApp, type TestApp } from '../../support/harness.ts'

let t: TestApp

beforeAll(async () => {
  t = await startApp()
})
afterAll(() => t.stop())

it('A share address reads this file for a minute, and permits nothing else', async () => {
  const alice = await t.signIn('alice')
  await alice.upload('docs/a.txt', 'hello', 'text/plain')
  const shared = await alice.rest('POST', '/api/files/quick_share', {
    json: { object: 'docs/a.txt' },
  })
  const { response } = await t.anonymous.rest(
    'POST',
    `/api/share/resolve/${shared.response.sharing_token}`,
  )
  const signed = new URL(response.url)
  expect([signed.searchParams.get('sp'), signed.searchParams.get('sr')]).toEqual(['r', 'b'])
  expect(Date.parse(signed.searchParams.get('se') ?? '') - Date.now()).toBeLessThanOrEqual(61_000)
  const overwrite = await fetch(signed, {
    method: 'PUT',
    headers: { 'x-ms-blob-type': 'BlockBlob' },
    body: 'x',
  })
  expect(overwrite.status).toBe(403)
  expect((await fetch(signed, { method: 'DELETE' })).status).toBe(403)
  expect(await (await fetch(signed)).text()).toBe('hello')
})
