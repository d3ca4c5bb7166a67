/**
 * Three instances at the three nodes of a Galera cluster, with a shared Redis and store, under a
 * mixed load of clients that retry as instructed. Instances, nodes and Redis are killed at random
 * and restarted. Finally everything that was acknowledged is compared with what is stored: `npm run
 * bench:scale`. Options: --kills 12, --workers 2 (for each of three accounts). Exits with 1 if
 * something was lost, duplicated or refused.
 */
import { randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { createDiskStore } from '../../src/storage/disk.ts'
import { expectHealed } from '../support/consistency.ts'
import { missingForGalera } from '../support/galera.ts'
import { signInTo } from '../support/harness.ts'
import { startMailServer } from '../support/mail-server.ts'
import { until } from '../support/until.ts'
import { startReceiver } from '../support/webhook-receiver.ts'
import { type Client, createClient, createWorker, md5, PART, type Tally } from './scale-client.ts'
import { type Killable, openScaleSite } from './scale-site.ts'

const { values } = parseArgs({
  options: { kills: { type: 'string', default: '12' }, workers: { type: 'string', default: '2' } },
})
if (missingForGalera.length > 0)
  throw new Error(`This machine lacks ${missingForGalera.join(', ')}.`)

const PEOPLE = ['alice', 'bob', 'carol']
const CREATE =
  'mutation ($input: CreateWebhookInput!) { createWebhook(input: $input) { webhook { id } } }'
const RATES = ['SHARING', 'LINKS', 'NOTES', 'FOLDERS', 'PROTECTED_LINKS', 'WEBHOOKS'].map(name => [
  `RATE_${name}`,
  '1000000',
])

const say = (text: string) =>
  process.stdout.write(`${new Date().toISOString().slice(11, 19)} ${text}\n`)
const mails = await startMailServer()
const receiver = await startReceiver()
const site = await openScaleSite(3, {
  ...Object.fromEntries(RATES),
  SMTP_URL: mails.url,
  UPLOAD_PART_BYTES: String(PART),
  WEBHOOK_ALLOW_ADDRESSES: '127.0.0.1',
  CONNECTIONS_PER_ADDRESS: '1000000',
})
say('three instances, three nodes and Redis are up')
await site.db.Plan.update(
  { maxTotalStorageBytes: 2 ** 43, maxPublicLinks: null, maxNotes: null },
  { where: { id: 'free' } },
)

const tally: Tally = { requests: 0, retries: 0, failures: [], operations: {} }
const kills: Record<string, number> = {}
let over = false

interface Account {
  name: string
  client: Client
  bucketId: string
  /** Ids of events in the order in which they were read. */
  followed: string[]
}
const accounts: Account[] = []
for (const name of PEOPLE) {
  const person = await signInTo(site.db, site.urls[0] ?? '', name)
  const client = createClient(site.urls, person.cookie, tally)
  const json = { query: CREATE, variables: { input: { url: receiver.url } } }
  const made = await client.ask({ method: 'POST', path: '/graphql', json })
  if (!made.body.data?.createWebhook) throw new Error(JSON.stringify(made.body))
  const bucket = await site.db.Bucket.findOne({ where: { userId: person.userId }, raw: true })
  accounts.push({ name, client, bucketId: bucket?.id ?? '', followed: [] as string[] })
}

const workers = accounts.flatMap(({ name, client }) =>
  Array.from({ length: Number(values.workers) }, (_, i) =>
    createWorker(client, `${name}-${i}`, tally),
  ),
)
const working = workers.map(async worker => {
  while (!over) await worker.step()
})

/**
 * Follows the events of an account by cursor, at any instance. @returns whether it has reached the
 * end
 */
async function follow(account: Account, from: { cursor: string }): Promise<boolean> {
  const after = from.cursor ? `&after=${encodeURIComponent(from.cursor)}` : ''
  const { status, body } = await account.client.ask({
    method: 'GET',
    path: `/api/events?limit=100${after}`,
  })
  if (status !== 200) {
    tally.failures.push(`events of ${account.name}: ${status} ${JSON.stringify(body)}`)
    return true
  }
  for (const event of body.response.events) account.followed.push(event.id)
  from.cursor = body.response.cursor ?? from.cursor
  return !body.response.has_more
}
const following = accounts.map(async account => {
  const from = { cursor: '' }
  while (!over) {
    await follow(account, from)
    await sleep(300)
  }
  await Promise.all(working)
  while (!(await follow(account, from)));
})

const most = Number(values.kills)
const killed = () => Object.values(kills).reduce((sum, n) => sum + n, 0)
/** Kills one of these repeatedly, each time after the last one is back. */
async function kill(from: Killable[], [least, longest]: [number, number]): Promise<void> {
  while (killed() < most) {
    await sleep(randomInt(least, longest))
    if (killed() >= most) return
    const victim = from[randomInt(from.length)]
    if (!victim) return
    const kind = victim.name.split(' ')[0] ?? ''
    kills[kind] = (kills[kind] ?? 0) + 1
    say(`${killed()} of ${most}: ${victim.name} is killed`)
    await victim.kill()
    await sleep(randomInt(0, 2000))
    await victim.start()
  }
}
await sleep(3000)
await Promise.all([
  kill(site.instances, [1000, 4000]),
  kill(site.nodes, [2000, 6000]),
  kill([site.redis], [15_000, 40_000]),
])
await sleep(5000)
over = true
await Promise.all(working)
await Promise.all(following)
say('the load has ended')

const problems = [...tally.failures]
const db = site.db
const outbox = async () =>
  Number(
    (await db.row<{ n: number }>("SELECT COUNT(*) AS n FROM outbox WHERE kind = 'mail'"))?.n,
  ) === 0
await until(outbox, 120_000, 500).catch(() => problems.push('mails wait in the outbox'))

const lost = { operations: 0, events: 0, deliveries: 0, mails: 0 }
for (const [i, { name, bucketId, followed }] of accounts.entries()) {
  const rows = await db.rows<{ name: string; md5: string }>(
    'SELECT name, md5 FROM entry WHERE blob_id IS NOT NULL AND bucket_id = ? AND parent_id IS NOT NULL',
    [bucketId],
  )
  const there = new Map(rows.map(row => [row.name, row.md5]))
  const mine = workers.slice(i * Number(values.workers), (i + 1) * Number(values.workers))
  for (const { files } of mine)
    for (const [file, sum] of files)
      if (there.get(file) !== sum) {
        lost.operations++
        problems.push(`${file} is not as acknowledged`)
      }
  const expected = mine.reduce((sum, { files }) => sum + files.size, 0)
  if (there.size !== expected)
    problems.push(`${name} has ${there.size} files instead of ${expected}`)

  const events = await db.rows<{ seq: number }>(
    'SELECT seq FROM event WHERE log_id = ? ORDER BY seq',
    [bucketId],
  )
  if (events.some(({ seq }, at) => Number(seq) !== at + 1))
    problems.push(`the events of ${name} have gaps`)
  const missed = events.length - new Set(followed).size
  lost.events += missed
  if (missed !== 0 || followed.length !== events.length)
    problems.push(`a follower of ${name} has seen ${followed.length} events of ${events.length}`)
  const arrived = () => new Set(receiver.received.map(({ id }) => id))
  const waiting = () => followed.filter(id => !arrived().has(id))
  await until(() => waiting().length === 0, 120_000, 500).catch(() => {
    lost.deliveries += waiting().length
    problems.push(
      `${waiting().length} events of ${name} were not delivered, such as ${waiting()[0]}`,
    )
  })
}

/** The number of events that arrived more than once. */
const doubled = (keys: string[]) => keys.length - new Set(keys).size
const delivered = receiver.received.map(({ id }) => id)
const arrived = new Map(Map.groupBy(mails.received, ({ to }) => to[0] ?? ''))
for (const address of workers.flatMap(({ mailedTo }) => mailedTo))
  if (!arrived.has(address)) {
    lost.mails++
    problems.push(`the mail to ${address} is lost`)
  }
const twice = {
  deliveries: doubled(delivered),
  mails: doubled(mails.received.map(mail => mail.header('message-id') ?? mail.raw)),
}
// Each kill may hit one account's delivery, and all mails that are being sent, between the response
// and its record.
const MAILS_AT_ONCE = 5
if (twice.deliveries > killed() * accounts.length)
  problems.push(`${twice.deliveries} deliveries came twice`)
if (twice.mails > killed() * MAILS_AT_ONCE) problems.push(`${twice.mails} mails came twice`)

// Every byte, compared with the digests of the files.
const store = createDiskStore({ dir: site.blobDir })
// Clients that got no response to the start of an upload have started another, and the first would
// wait for a day.
await db.run(
  'UPDATE upload_session SET claim_until = 0, writable_until = writable_until - 100000000',
)
await db.run("UPDATE blobs SET lease_until = 0 WHERE state <> 'live'")
await expectHealed({ db, store }).catch(error =>
  problems.push(String(error.message).slice(0, 2000)),
)
const blobs = await db.rows<{ id: string; md5: string; name: string }>(
  'SELECT blob_id AS id, md5, name FROM entry WHERE blob_id IS NOT NULL',
)
for (const { id, md5: sum, name } of blobs) {
  const chunks: Uint8Array[] = []
  for await (const chunk of await store.open(id)) chunks.push(chunk as Uint8Array)
  if (md5(Buffer.concat(chunks)) !== sum) problems.push(`${name} has other bytes`)
}

await site.stop()
await mails.stop()
await receiver.stop()
const counts = {
  kills,
  ...tally,
  failures: tally.failures.length,
  lost,
  twice,
  delivered: delivered.length,
  mails: mails.received.length,
}
process.stdout.write(`${JSON.stringify(counts, null, 2)}
`)
const errors = site
  .said()
  .split('\n')
  .filter(line => line.includes('"level":50'))
if (problems.length > 0) {
  process.stdout.write(`${problems.slice(0, 40).join('\n')}\n${errors.slice(-20).join('\n')}\n`)
  process.exit(1)
}
process.stdout.write(`${killed()} kills: nothing was lost, and no client was refused.\n`)
process.exit(0)
