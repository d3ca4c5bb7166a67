import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { v7 as newId } from 'uuid'
import { createLog } from '../src/log.ts'
import { ROOMY, UNHURRIED } from './builders.ts'
import type { Anything } from './event-model.ts'
import { type Person, startApp, type TestApp } from './harness.ts'

let t: TestApp
let alice: Person
let bob: Person

beforeAll(async () => {
  t = await startApp(UNHURRIED)
  await t.limit(ROOMY)
  alice = await t.signIn('alice')
  bob = await t.signIn('bob')
  await alice.upload('plan.txt', 'the plan')
})
afterAll(() => t.stop())

const RECEIPTS = `{ me { shares { nodes { id events { nodes { kind person { email } network client } } } }
  receivedShares { nodes { events { nodes { kind } } } } } }`
const receiptsOf = async (person: Person): Promise<Anything> => (await person.graphql<Anything>(RECEIPTS)).data.me
/** Time goes by: what was done is ten seconds old. */
const tenSecondsLater = () => t.app.db.sequelize.query('UPDATE share_event SET at = at - 10000')

it('A sharer is told how a link was used: by whom, from which network, by what kind of client', async () => {
  const { response } = await alice.rest('POST', '/api/files/quick_share', {
    json: { object: 'plan.txt', password: 'open sesame please' },
  })
  const token = response.sharing_token as string
  const headers = { 'user-agent': 'curl/8.5.0' }
  await t.anonymous.rest('GET', `/api/share/info/${token}`, { headers })
  // Looking is no use.
  expect((await t.anonymous.rest('HEAD', `/api/share/info/${token}`, { headers })).status).toBe(200)
  const json = { password: 'open sesame please' }
  const path = `/api/share/resolve/${token}`
  expect((await t.anonymous.rest('POST', path, { headers, json: { password: 'wrong' } })).status).toBe(403)
  expect((await bob.rest('POST', path, { headers, json })).status).toBe(200)
  expect((await receiptsOf(alice)).shares.nodes[0].events.nodes).toEqual([])
  await tenSecondsLater()
  const use = { network: '127.0.0.0/24', client: 'curl' }
  expect((await receiptsOf(alice)).shares.nodes[0].events.nodes).toEqual([
    { ...use, kind: 'OPENED', person: null },
    { ...use, kind: 'REFUSED', person: null },
    { ...use, kind: 'DOWNLOADED', person: { email: bob.email } },
  ])
})

it('The uses of a link are read from the newest one back, too, page by page', async () => {
  const query = (after: string | null) =>
    `{ me { shares { nodes { events(first: 2, newestFirst: true, after: ${JSON.stringify(after)}) {
      nodes { kind } pageInfo { endCursor hasNextPage } } } } } }`
  const page = async (after: string | null) =>
    (await alice.graphql<Anything>(query(after))).data.me.shares.nodes[0].events
  const newest = await page(null)
  expect(newest.nodes).toEqual([{ kind: 'DOWNLOADED' }, { kind: 'REFUSED' }])
  expect(newest.pageInfo.hasNextPage).toBe(true)
  expect((await page(newest.pageInfo.endCursor)).nodes).toEqual([{ kind: 'OPENED' }])
})

it('The recipient of a share is not told how it was used', async () => {
  await alice.rest('POST', '/api/files/share', { json: { email: bob.email, objects: ['plan.txt'] } })
  expect((await receiptsOf(bob)).receivedShares.nodes).toEqual([{ events: null }])
})

it('Many uses at once are all noted', async () => {
  const id = newId()
  const log = createLog({ logLevel: 'warn' })
  const user = { caller: null, address: '203.0.113.7', client: undefined, log }
  await Promise.all(Array.from({ length: 1200 }, () => t.app.services.shareEvents.note(id, 'opened', user)))
  expect(await t.app.db.ShareEvent.count({ where: { shareId: id, network: '203.0.113.0/24' } })).toBe(1200)
})
