import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { v7 as newId } from 'uuid'
import { createLog } from '../../src/runtime/log.ts'
import { ROOMY, UNHURRIED } from '../support/builders.ts'
import type { Anything } from '../support/event-model.ts'
import { type Person, startApp, type TestApp } from '../support/harness.ts'

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
const receiptsOf = async (person: Person): Promise<Anything> =>
  (await person.graphql<Anything>(RECEIPTS)).data.me
/** Ages the events by ten seconds. */
const tenSecondsLater = () => t.app.db.sequelize.query('UPDATE share_event SET at = at - 10000')

it('A sharer sees how a link was used: by whom, from which network, with which client', async () => {
  const { response } = await alice.rest('POST', '/api/files/quick_share', {
    json: { object: 'plan.txt', password: 'open sesame please' },
  })
  const token = response.sharing_token as string
  const headers = { 'user-agent': 'curl/8.5.0' }
  await t.anonymous.rest('GET', `/api/share/info/${token}`, { headers })
  // Viewing the page does not count as a use.
  expect((await t.anonymous.rest('HEAD', `/api/share/info/${token}`, { headers })).status).toBe(200)
  const json = { password: 'open sesame please' }
  const path = `/api/share/resolve/${token}`
  expect(
    (await t.anonymous.rest('POST', path, { headers, json: { password: 'wrong' } })).status,
  ).toBe(403)
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

it('The uses of a link are listed newest first, page by page', async () => {
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

it('The recipient of a share does not see how it was used', async () => {
  await alice.rest('POST', '/api/files/share', {
    json: { email: bob.email, objects: ['plan.txt'] },
  })
  expect((await receiptsOf(bob)).receivedShares.nodes).toEqual([{ events: null }])
})

it('Concurrent uses are all recorded', async () => {
  const id = newId()
  const log = createLog({ logLevel: 'warn' })
  const user = { caller: null, address: '203.0.113.7', client: undefined, log }
  await Promise.all(
    Array.from({ length: 1200 }, () => t.app.services.shareEvents.note(id, 'opened', user)),
  )
  expect(
    await t.app.db.ShareEvent.count({ where: { shareId: id, network: '203.0.113.0/24' } }),
  ).toBe(1200)
})

/** A link without a limit: its token, its id, and its counters. */
async function newLink() {
  const { response } = await alice.rest('POST', '/api/files/quick_share', {
    json: { object: 'plan.txt' },
  })
  const token = response.sharing_token as string
  const id = t.app.services.shareLinks.find(token).then(share => share.id)
  const open = async () => (await t.anonymous.rest('GET', `/api/d/${token}`)).status
  const used = async () => {
    const { downloads } = await t.app.services.shareLinks.find(token)
    return [
      downloads,
      await t.app.db.ShareEvent.count({ where: { shareId: await id, kind: 'downloaded' } }),
    ]
  }
  return { id: await id, open, used }
}

it('Concurrent downloads are all counted and recorded, for one link and for several', async () => {
  const [hot, warm, cold] = await Promise.all([newLink(), newLink(), newLink()])
  const at = (times: number, link: { open(): Promise<number> }) =>
    Array.from({ length: times }, () => link.open())
  const answers = await Promise.all([...at(40, hot), ...at(10, warm), ...at(1, cold)])
  expect(new Set(answers)).toEqual(new Set([302]))
  expect(await Promise.all([hot.used(), warm.used(), cold.used()])).toEqual([
    [40, 40],
    [10, 10],
    [1, 1],
  ])
})

it('A download does not wait for another link that is locked, whose count follows later', async () => {
  // SQLite has one writer at a time.
  if (t.app.db.dialect === 'sqlite') return
  const [changing, other] = await Promise.all([newLink(), newLink()])
  let opened: Promise<number> | undefined
  await t.app.db.transaction(async tx => {
    await t.app.db.run('UPDATE share SET seen_at = 1 WHERE id = ?', [changing.id], tx)
    opened = changing.open()
    for (let i = 0; i < 3; i++) expect(await other.open()).toBe(302)
    expect(await other.used()).toEqual([3, 3])
    expect(await changing.used()).toEqual([0, 0])
  })
  expect(await opened).toBe(302)
  expect(await changing.used()).toEqual([1, 1])
})

it('A download of a link that was just revoked is refused, and neither counted nor recorded', async () => {
  const { id } = await newLink()
  await t.app.db.run('DELETE FROM share WHERE id = ?', [id])
  const log = createLog({ logLevel: 'warn' })
  const user = { caller: null, address: '203.0.113.7', client: undefined, log }
  expect(await t.app.services.shareEvents.noteDownload(id, user)).toBe(false)
  expect(await t.app.db.ShareEvent.count({ where: { shareId: id } })).toBe(0)
})

it('Recording a batch of downloads runs as many statements as recording one', async () => {
  const { id, used } = await newLink()
  const log = createLog({ logLevel: 'warn' })
  const user = { caller: null, address: '203.0.113.7', client: undefined, log }
  t.statements()
  await Promise.all(
    Array.from({ length: 40 }, () => t.app.services.shareEvents.noteDownload(id, user)),
  )
  // Locks, counts and records the share. Background work may add statements.
  expect(t.statements().length).toBeLessThan(10)
  expect(await used()).toEqual([40, 40])
})

it('Downloads succeed and are counted even when recording them fails', async () => {
  const { open, used } = await newLink()
  const rename = (from: string, to: string) => t.app.db.run(`ALTER TABLE ${from} RENAME TO ${to}`)
  await rename('share_event', 'share_event_away')
  try {
    expect(await Promise.all(Array.from({ length: 4 }, open))).toEqual([302, 302, 302, 302])
  } finally {
    await rename('share_event_away', 'share_event')
  }
  expect(await used()).toEqual([4, 0])
})

const DAY = 24 * 3600 * 1000
interface Daily {
  startsAt: string
  openCount: number
  downloadCount: number
}

it('A sharer sees the uses of a link per day, in their own time zone', async () => {
  await alice.upload('days.txt', 'days')
  const { response } = await alice.rest('POST', '/api/files/quick_share', {
    json: { object: 'days.txt' },
  })
  const token = response.sharing_token as string
  const info = () => t.anonymous.rest('GET', `/api/share/info/${token}`)
  for (let i = 0; i < 4; i++) await info()
  expect((await t.anonymous.rest('POST', `/api/share/resolve/${token}`)).status).toBe(200)
  const list = '{ me { shares(newestFirst: true, first: 1) { nodes { id } } } }'
  const { id } = (await alice.graphql<Anything>(list)).data.me.shares.nodes[0]
  const ask = async (args: string, who = alice) =>
    who.graphql<Anything>(
      `{ node(id: "${id}") { ... on Share { dailyUsage${args} { startsAt openCount downloadCount } } } }`,
    )
  const days = async (args: string): Promise<Daily[]> => (await ask(args)).data.node.dailyUsage
  const rows = await t.app.db.rows<{ id: string; kind: string }>(
    "SELECT id, kind FROM share_event WHERE share_id = (SELECT id FROM share ORDER BY id DESC LIMIT 1) AND kind = 'opened' ORDER BY id",
  )
  const midnight = Math.floor(Date.now() / DAY) * DAY
  // One use at half past eleven the day before yesterday, one an hour later, and one before the
  // requested period.
  const times = [midnight - DAY - 1_800_000, midnight - DAY + 1_800_000, midnight - 5 * DAY]
  for (const [i, at] of times.entries())
    await t.app.db.run('UPDATE share_event SET id = ?, at = ? WHERE id = ?', [
      newId({ msecs: at }),
      at,
      rows[i]?.id ?? '',
    ])
  const utc = await days('(days: 3)')
  expect(utc.map(day => [Date.parse(day.startsAt), day.openCount, day.downloadCount])).toEqual([
    [midnight - 2 * DAY, 1, 0],
    [midnight - DAY, 1, 0],
    [midnight, 1, 1],
  ])
  // One hour further east, both belong to one day.
  const ahead = await days('(days: 4, utcOffset: 60)')
  expect(ahead.map(day => (Date.parse(day.startsAt) + 3_600_000) % DAY)).toEqual([0, 0, 0, 0])
  expect(ahead.map(({ openCount }) => openCount).filter(Boolean)).toContain(2)
  expect(await days('')).toHaveLength(30)
  expect((await days('(days: 6)')).reduce((sum, { openCount }) => sum + openCount, 0)).toBe(4)
  for (const [args, field] of [
    ['(days: 0)', 'days'],
    ['(days: 91)', 'days'],
    ['(utcOffset: 900)', 'utcOffset'],
    ['(utcOffset: -900)', 'utcOffset'],
  ] as const)
    expect((await ask(args)).errors?.[0]?.extensions).toMatchObject({
      code: 'INVALID_INPUT',
      field,
    })
})
