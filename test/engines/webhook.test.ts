import { createHmac } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { webhookBacklog } from '../../db/queries/backlog.ts'
import { claimWebhook } from '../../db/queries/webhook.ts'
import { ask, codeOf } from '../support/ask.ts'
import {
  driveOf,
  expel,
  found,
  join,
  privateKey,
  put,
  ROOMY,
  UNHURRIED,
} from '../support/builders.ts'
import type { Anything } from '../support/event-model.ts'
import { newDatabase, type Person, startApp, type TestApp } from '../support/harness.ts'
import { type MailServer, startMailServer } from '../support/mail-server.ts'
import { until } from '../support/until.ts'
import {
  type Answer,
  type Received,
  type Receiver,
  startReceiver,
  status,
  verified,
} from '../support/webhook-receiver.ts'

declare const engine: 'sqlite' | 'mysql'

const WEBHOOK = `id url source kinds state firstFailedAt nextAttemptAt responsible { email }
  deliveries { eventId kind attempt status failure } workspace { id }`
const CREATE = `mutation ($input: CreateWebhookInput!) { createWebhook(input: $input) { secret webhook { ${WEBHOOK} } } }`
const UPDATE = `mutation ($input: UpdateWebhookInput!) { updateWebhook(input: $input) { webhook { ${WEBHOOK} } } }`
const ROTATE =
  'mutation ($input: RotateWebhookSecretInput!) { rotateWebhookSecret(input: $input) { secret webhook { oldSecretEndsAt } } }'
const PING =
  'mutation ($input: PingWebhookInput!) { pingWebhook(input: $input) { webhook { id } } }'
const REDELIVER =
  'mutation ($input: RedeliverEventInput!) { redeliverEvent(input: $input) { webhook { id } } }'
const DELETE =
  'mutation ($input: DeleteWebhookInput!) { deleteWebhook(input: $input) { deletedId } }'
const FILES = { kinds: ['FILE_CREATED'] }

let t: TestApp
let mails: MailServer
let receiver: Receiver
let alice: Person
/** The resolved addresses of names, one per look-up. The last one is repeated. */
let answers: string[]
let people = 0

beforeAll(async () => {
  mails = await startMailServer()
  const settings = { ...UNHURRIED, SMTP_URL: mails.url, WEBHOOK_ALLOW_ADDRESSES: '127.0.0.1' }
  const resolveName = async () => {
    const address = (answers.length > 1 ? answers.shift() : answers[0]) ?? ''
    return [{ address, family: 4 }]
  }
  t = await startApp(settings, { webhookHabits: { resolveName, retryMs: () => 0 } })
  await t.limit(ROOMY)
})
afterAll(async () => {
  await t.stop()
  await mails.stop()
})
beforeEach(async () => {
  answers = ['127.0.0.1']
  receiver = await startReceiver()
  alice = await t.signIn(`alice${++people}`)
})
afterEach(async () => {
  await t.app.db.Webhook.destroy({ where: {} })
  await t.app.webhooks.idle()
  await receiver.stop()
})

async function create(who: Person, input: object = {}): Promise<{ id: string; secret: string }> {
  const { createWebhook } = await ask(who, CREATE, { input: { url: receiver.url, ...input } })
  return { id: createWebhook.webhook.id, secret: createWebhook.secret }
}
const update = async (who: Person, webhook: string, input: object) =>
  (await ask(who, UPDATE, { input: { webhook, ...input } })).updateWebhook.webhook
const look = async (who: Person, id: string): Promise<Anything> =>
  (await ask(who, `query ($id: ID!) { node(id: $id) { ... on Webhook { ${WEBHOOK} } } }`, { id }))
    .node
const settled = async () => {
  await t.app.webhooks.idle()
  await t.app.worker.idle()
}
const pathsOf = (requests: Received[]) => requests.map(({ event }) => event.data.details.path)
const upload = async (...paths: string[]) => {
  for (const path of paths) expect((await alice.upload(path, path)).status).toBe(200)
}

describe('A webhook', () => {
  it('receives events from its creation on, in order, signed by Standard Webhooks', async () => {
    await upload('before')
    const { secret } = await create(alice)
    await upload('one', 'two', 'three')
    await settled()
    expect(pathsOf(receiver.received)).toEqual(['one', 'two', 'three'])
    const { data } = await alice.graphql<Anything>(
      '{ me { drive { events(first: 9) { nodes { id happenedAt } } } } }',
    )
    const ids = data.me.drive.events.nodes.map(({ id }: Anything) => id).slice(1)
    expect(receiver.received.map(({ id }) => id)).toEqual(ids)
    for (const request of receiver.received) {
      expect(verified(secret, request)).toEqual(request.event)
      expect(request.headers['content-type']).toBe('application/json')
      expect(() =>
        verified(secret, { ...request, body: request.body.replace('"file', '"File') }),
      ).toThrow()
    }
    // The specification, implemented again without its library.
    const [first] = receiver.received
    const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
    expect(key).toHaveLength(32)
    const signed = `${first?.id}.${first?.headers['webhook-timestamp']}.${first?.body}`
    const signature = createHmac('sha256', key).update(signed).digest('base64')
    expect(first?.headers['webhook-signature']).toBe(`v1,${signature}`)
    const event = (await alice.rest('GET', '/api/events')).response.events[1]
    expect(first?.event).toEqual({
      type: 'file.created',
      timestamp: event.happened_at,
      data: event,
    })
  })

  it('is looked up after webhooks change, and not at every event', async () => {
    const { db } = t.app
    const rows = db.rows
    let looks = 0
    await create(alice)
    await settled()
    try {
      Object.assign(db, {
        rows: (...args: Parameters<typeof rows>) => {
          if (/^SELECT DISTINCT log_id/.test(args[0])) looks++
          return rows.apply(db, args)
        },
      })
      await upload('one', 'two', 'three')
      await until(() => receiver.received.length === 3)
      expect(looks).toBe(0)
      await create(alice, { url: `${receiver.url}/other` })
      await until(() => looks > 0)
    } finally {
      Object.assign(db, { rows })
    }
  })

  it('receives the selected kinds of a drive, a person or a workspace', async () => {
    const id = await found(alice)
    await create(alice, { url: `${receiver.url}/drive`, kinds: ['FILE_CREATED', 'FILE_DELETED'] })
    await create(alice, { url: `${receiver.url}/person`, source: 'PERSON', kinds: ['KEY_CREATED'] })
    await create(alice, { url: `${receiver.url}/workspace`, workspace: id, ...FILES })
    await upload('a')
    await alice.rest('POST', '/api/folders', { json: { path: 'b' } })
    await alice.rest('DELETE', '/api/files/delete?file=a')
    await privateKey(t, alice)
    await put(alice, id, '/c')
    await settled()
    const got = (of: string) =>
      receiver.received
        .filter(({ path }) => path.endsWith(of))
        .map(({ event }) => `${event.type} ${event.data.details.path}`)
    expect(got('/drive')).toEqual(['file.created a', 'file.deleted a'])
    expect(got('/person')).toEqual(['key.created null'])
    expect(got('/workspace')).toEqual(['file.created /c'])
  })

  it('never shows its secret again, not even in the database or the log', async () => {
    const { id, secret } = await create(alice)
    await upload('a')
    await settled()
    const rows = JSON.stringify([
      await t.app.db.Webhook.findAll({ raw: true }),
      await t.app.db.Event.findAll({ raw: true }),
    ])
    const plain = secret.replace('whsec_', '')
    for (const form of [plain, Buffer.from(plain, 'base64').toString('hex')]) {
      expect(rows).not.toContain(form)
      expect(t.logs()).not.toContain(form)
    }
    expect(JSON.stringify(await look(alice, id))).not.toContain(plain)
    const { data } = await alice.graphql<Anything>(
      '{ __type(name: "Webhook") { fields { name } } }',
    )
    expect(data.__type.fields.map(({ name }: Anything) => name)).not.toContain('secret')
  })

  it('signs with the new secret and, for a day, also with the replaced one', async () => {
    const { id, secret } = await create(alice, FILES)
    const rotate = async () =>
      (await ask(alice, ROTATE, { input: { webhook: id } })).rotateWebhookSecret
    const sent = async (name: string) => {
      await upload(name)
      await settled()
      const request = receiver.received.at(-1)
      if (!request) throw new Error('Nothing was sent.')
      return request
    }
    const second = await rotate()
    expect(second.secret).not.toBe(secret)
    const left = Date.parse(second.webhook.oldSecretEndsAt) - Date.now()
    expect(left).toBeGreaterThan(23 * 3_600_000)
    expect(left).toBeLessThanOrEqual(24 * 3_600_000)
    const both = await sent('a')
    for (const valid of [secret, second.secret])
      expect(verified(valid, both)).toMatchObject({ type: 'file.created' })
    const third = await rotate()
    const later = await sent('b')
    expect(() => verified(secret, later)).toThrow()
    for (const valid of [second.secret, third.secret]) expect(verified(valid, later)).toBeTruthy()
    await t.app.db.Webhook.update({ oldSecretEndsAt: Date.now() - 1 }, { where: { id } })
    const last = await sent('c')
    expect(() => verified(second.secret, last)).toThrow()
    expect(verified(third.secret, last)).toBeTruthy()
    expect(last.headers['webhook-signature']).toMatch(/^v1,[^ ]+$/)
  })

  it('hides its secret from keys, whatever their scopes', async () => {
    const { id } = await create(alice)
    const { caller } = await privateKey(t, alice)
    expect(await codeOf(caller, ROTATE, { input: { webhook: id } })).toBe('KEY_OUT_OF_BOUNDS')
  })

  it('retries an event with the same id until it is accepted, before it sends the next', async () => {
    const { id } = await create(alice, FILES)
    const internal = await startReceiver()
    receiver.next = [
      status(500),
      status(302, { location: internal.url }),
      status(307, { location: internal.url }),
      res => res.destroy(),
      status(404),
    ]
    await upload('one', 'two')
    await settled()
    expect(pathsOf(receiver.received)).toEqual(['one', 'one', 'one', 'one', 'one', 'one', 'two'])
    expect(new Set(receiver.received.map(request => request.id)).size).toBe(2)
    expect(internal.received).toEqual([])
    await internal.stop()
    const { deliveries, firstFailedAt, nextAttemptAt } = await look(alice, id)
    expect(
      deliveries.map(({ attempt, status, failure }: Anything) => [attempt, status, failure]),
    ).toEqual([
      [1, 204, null],
      [6, 204, null],
      [5, 404, 'status'],
      [4, null, 'ECONNRESET'],
      [3, 307, 'redirect'],
      [2, 302, 'redirect'],
      [1, 500, 'status'],
    ])
    expect([firstFailedAt, nextAttemptAt]).toEqual([null, null])
    expect(deliveries[0].kind).toBe('file.created')
  })

  it('treats a protocol switch as a failure', async () => {
    const { id } = await create(alice, FILES)
    receiver.next = [
      res => void res.writeHead(101, { connection: 'upgrade', upgrade: 'websocket' }).end(),
      res => void res.socket?.end('HTTP/1.1 101 Switching Protocols\r\n\r\n'),
    ]
    await upload('one')
    await settled()
    expect(pathsOf(receiver.received)).toEqual(['one', 'one', 'one'])
    const { deliveries } = await look(alice, id)
    expect(deliveries.map(({ status, failure }: Anything) => [status, failure])).toEqual([
      [204, null],
      [101, 'status'],
      [101, 'status'],
    ])
  })

  it('delivers all events to a receiver that was down, once it is back', async () => {
    const { id } = await create(alice, FILES)
    await upload('one')
    await settled()
    await receiver.stop()
    await upload('two', 'three')
    // It fails immediately and is due again immediately. The next success resets that.
    const failing = await until(async () => {
      const webhook = await look(alice, id)
      return webhook.firstFailedAt !== null && webhook
    })
    expect(failing).toMatchObject({ state: 'ACTIVE', nextAttemptAt: expect.any(String) })
    expect(failing.deliveries[0]).toMatchObject({ status: null, failure: 'ECONNREFUSED' })
    await receiver.again()
    await settled()
    expect(pathsOf(receiver.received)).toEqual(['one', 'two', 'three'])
    expect(await look(alice, id)).toMatchObject({ firstFailedAt: null })
  })

  it('receives nothing while paused, and the missed events when resumed', async () => {
    const { id } = await create(alice, FILES)
    expect(await update(alice, id, { paused: true })).toMatchObject({ state: 'PAUSED' })
    await upload('one', 'two')
    await settled()
    expect(receiver.received).toEqual([])
    expect(await update(alice, id, { paused: false })).toMatchObject({ state: 'ACTIVE' })
    await settled()
    expect(pathsOf(receiver.received)).toEqual(['one', 'two'])
    // Another URL and other kinds.
    await update(alice, id, { url: `${receiver.url}/new`, kinds: ['FILE_DELETED'] })
    await upload('three')
    await alice.rest('DELETE', '/api/files/delete?file=one')
    await settled()
    expect(receiver.received.slice(2).map(({ path, event }) => `${path} ${event.type}`)).toEqual([
      '/hook/new file.deleted',
    ])
    expect(await update(alice, id, { kinds: null })).toMatchObject({
      kinds: null,
      url: `${receiver.url}/new`,
    })
  })

  it('is disabled after three days of failures, with a mail, and continues where it stopped when resumed', async () => {
    const { id } = await create(alice, FILES)
    const [hour, three] = [3_600_000, 3 * 86_400_000]
    /** Simulates that it has failed for so long and is due again. */
    const failOnce = async (ms: number) => {
      const since = { failingSince: Date.now() - ms, attempts: 40, state: 'active' } as const
      receiver.next = [status(500)]
      await t.app.db.Webhook.update(since, { where: { id } })
      await settled()
    }
    await update(alice, id, { paused: true })
    await upload('zero')
    await failOnce(three - hour)
    expect(pathsOf(receiver.received)).toEqual(['zero', 'zero'])
    expect(await look(alice, id)).toMatchObject({ state: 'ACTIVE', firstFailedAt: null })
    await update(alice, id, { paused: true })
    await upload('one', 'two')
    await failOnce(three)
    expect(await look(alice, id)).toMatchObject({ state: 'DISABLED' })
    const attempts = receiver.received.length
    expect(attempts).toBe(3)
    const mail = await until(() => mails.received.find(({ to }) => to.includes(alice.email)))
    expect(mail.text).toContain('webhook')
    expect(mail.text).toContain(new URL(receiver.url).host)
    expect(mail.text).not.toContain('/hook')
    await upload('three')
    await settled()
    expect(receiver.received).toHaveLength(attempts)
    const { data } = await alice.graphql<Anything>(
      '{ me { events(kinds: [WEBHOOK_DISABLED]) { nodes { subjectId via } } } }',
    )
    expect(data.me.events.nodes).toEqual([{ subjectId: id, via: 'SYSTEM' }])
    await update(alice, id, { paused: false })
    await settled()
    expect(pathsOf(receiver.received.slice(attempts))).toEqual(['one', 'two', 'three'])
  })

  it('gets another three days when the failing event is no longer selected', async () => {
    const { id } = await create(alice, FILES)
    await update(alice, id, { paused: true })
    await upload('one')
    await update(alice, id, { kinds: ['FILE_DELETED'] })
    const failed = {
      failingSince: Date.now() - 4 * 86_400_000,
      attempts: 40,
      state: 'active',
    } as const
    await t.app.db.Webhook.update(failed, { where: { id } })
    await settled()
    expect(await look(alice, id)).toMatchObject({ state: 'ACTIVE', firstFailedAt: null })
    receiver.next = [status(500)]
    await alice.rest('DELETE', '/api/files/delete?file=one')
    await settled()
    const { state, deliveries } = await look(alice, id)
    expect(state).toBe('ACTIVE')
    expect(deliveries.map(({ attempt, status }: Anything) => [attempt, status])).toEqual([
      [2, 204],
      [1, 500],
    ])
  })

  it('is disabled immediately when its receiver returns 410', async () => {
    const { id } = await create(alice, FILES)
    receiver.next = [status(410)]
    await upload('one', 'two')
    await settled()
    expect(await look(alice, id)).toMatchObject({ state: 'DISABLED' })
    expect(receiver.received).toHaveLength(1)
  })

  it('ignores the result of an attempt that began before a change of the URL or a pause', async () => {
    const { id } = await create(alice, FILES)
    const held: ServerResponse[] = []
    const hold: Answer = res => void held.push(res)
    receiver.next = [hold]
    await upload('one')
    await until(() => held.length === 1)
    await update(alice, id, { url: `${receiver.url}/new` })
    held[0]?.writeHead(410).end()
    await settled()
    expect(receiver.received.map(({ path }) => path)).toEqual(['/hook', '/hook/new'])
    expect(await look(alice, id)).toMatchObject({ state: 'ACTIVE', firstFailedAt: null })
    receiver.next = [hold]
    await upload('two')
    await until(() => held.length === 2)
    await update(alice, id, { paused: true })
    held[1]?.writeHead(410).end()
    await settled()
    expect(await look(alice, id)).toMatchObject({ state: 'PAUSED' })
    await update(alice, id, { paused: false })
    await settled()
    expect(pathsOf(receiver.received)).toEqual(['one', 'one', 'two', 'two'])
  })

  it('resets its failures for another URL, but not for the same one', async () => {
    const { id } = await create(alice, FILES)
    const [since, later] = [Date.now() - 4 * 86_400_000, Date.now() + 86_400_000]
    await t.app.db.Webhook.update(
      { failingSince: since, attempts: 40, dueAt: later },
      { where: { id } },
    )
    await upload('one')
    await update(alice, id, { url: receiver.url })
    await settled()
    expect(receiver.received).toEqual([])
    receiver.next = [status(500)]
    await update(alice, id, { url: `${receiver.url}/new` })
    await settled()
    const { state, deliveries } = await look(alice, id)
    expect(state).toBe('ACTIVE')
    expect(deliveries.map(({ attempt, status }: Anything) => [attempt, status])).toEqual([
      [2, 204],
      [1, 500],
    ])
  })

  it('can send a ping and single events again on request, even while paused', async () => {
    const { id, secret } = await create(alice, FILES)
    await upload('one')
    await settled()
    await update(alice, id, { paused: true })
    await ask(alice, PING, { input: { webhook: id } })
    await settled()
    expect(receiver.received[1]?.event).toMatchObject({ type: 'ping', data: {} })
    const event = receiver.received[0]?.id ?? ''
    receiver.next = [status(500)]
    await ask(alice, REDELIVER, { input: { webhook: id, event } })
    await settled()
    // Sent once, whatever the result.
    expect(receiver.received[2]).toMatchObject({ id: event, body: receiver.received[0]?.body })
    expect(receiver.received).toHaveLength(3)
    for (const request of receiver.received) verified(secret, request)
    const { deliveries } = await look(alice, id)
    expect(deliveries.map(({ kind, status }: Anything) => [kind, status])).toEqual([
      ['file.created', 500],
      ['ping', 204],
      ['file.created', 204],
    ])
    const bob = await t.signIn('bob')
    await bob.upload('b', 'b')
    const other = `event:${await driveOf(bob)}:1`
    for (const wrong of [other, 'event:x', `${event}0`])
      expect(await codeOf(alice, REDELIVER, { input: { webhook: id, event: wrong } })).toBe(
        'INVALID_INPUT',
      )
  })

  it('limits the number of requested deliveries per minute', async () => {
    const hurried = await startApp({
      ...UNHURRIED,
      WEBHOOK_ALLOW_ADDRESSES: '127.0.0.1',
      RATE_WEBHOOKS: '2',
    })
    const carol = await hurried.signIn('carol')
    const { id } = await create(carol, FILES)
    await carol.upload('one', 'x')
    await until(() => receiver.received.length === 1)
    const ping = { input: { webhook: id } }
    const again = { input: { webhook: id, event: receiver.received[0]?.id } }
    await ask(carol, PING, ping)
    await ask(carol, REDELIVER, again)
    expect(await codeOf(carol, PING, ping)).toBe('RATE_LIMITED')
    expect(await codeOf(carol, REDELIVER, again)).toBe('RATE_LIMITED')
    await hurried.app.worker.idle()
    expect(receiver.received).toHaveLength(3)
    await hurried.stop()
  })

  it('shows its last 100 attempts', async () => {
    const { id } = await create(alice, FILES)
    const { db } = t.app
    const one = {
      webhookId: id,
      eventId: 'x',
      kind: 'ping',
      at: 0,
      attempt: 1,
      status: 200,
      failure: null,
      milliseconds: 0,
    }
    await db.WebhookDelivery.bulkCreate(
      Array.from({ length: 150 }, (_, i) => ({
        ...one,
        id: `00000000-0000-7000-8000-${String(i).padStart(12, '0')}`,
      })),
    )
    await upload('a')
    await settled()
    expect((await look(alice, id)).deliveries).toHaveLength(100)
    expect((await look(alice, id)).deliveries[0]).toMatchObject({ kind: 'file.created' })
    expect(await db.WebhookDelivery.count({ where: { webhookId: id } })).toBe(100)
  })

  it('continues at the start of the log when undelivered events were purged', async () => {
    const { id } = await create(alice, FILES)
    await update(alice, id, { paused: true })
    await upload('one', 'two')
    await t.app.db.Event.update({ at: 0 }, { where: { logId: await driveOf(alice) } })
    await t.app.sweeper.run()
    await upload('three')
    await update(alice, id, { paused: false })
    await settled()
    expect(pathsOf(receiver.received)).toEqual(['three'])
  })

  it('is limited to ten, needs a valid URL, and is deleted with its attempts', async () => {
    const { id } = await create(alice, FILES)
    await upload('a')
    await settled()
    const url = receiver.url
    for (const wrong of [
      'ftp://a.example/',
      'http://user:word@a.example/',
      'https://a.example/#b',
      `https://a.example/${'x'.repeat(2000)}`,
    ]) {
      expect(await codeOf(alice, CREATE, { input: { url: wrong } })).toBe('INVALID_INPUT')
      expect(await codeOf(alice, UPDATE, { input: { webhook: id, url: wrong } })).toBe(
        'INVALID_INPUT',
      )
    }
    expect(await codeOf(alice, CREATE, { input: { url, kinds: [] } })).toBe('INVALID_INPUT')
    const made = await Promise.all(
      Array.from({ length: 12 }, () => alice.graphql<Anything>(CREATE, { input: { url } })),
    )
    expect(
      made.filter(({ errors }) => errors?.[0]?.extensions.limit === 'max_webhooks'),
    ).toHaveLength(3)
    expect((await ask(alice, '{ me { webhooks { id } } }')).me.webhooks).toHaveLength(10)
    expect((await ask(alice, DELETE, { input: { webhook: id } })).deleteWebhook).toEqual({
      deletedId: id,
    })
    expect(await codeOf(alice, DELETE, { input: { webhook: id } })).toBe('WEBHOOK_NOT_FOUND')
    expect(await t.app.db.WebhookDelivery.count({ where: { webhookId: id } })).toBe(0)
  })
})

it('every mutation rejects a deleted webhook', async () => {
  const { id } = await create(alice)
  const input = { webhook: id }
  await ask(alice, DELETE, { input })
  for (const [document, more] of [
    ...[UPDATE, PING, ROTATE].map(query => [query, { input }] as const),
    [REDELIVER, { input: { ...input, event: 'x' } }],
  ] as const)
    expect(await codeOf(alice, document, more)).toBe('WEBHOOK_NOT_FOUND')
})

describe('A webhook of a workspace', () => {
  it('receives nothing while its responsible member may not manage the workspace', async () => {
    const id = await found(alice)
    const admin = await t.signIn(`admin${people}`)
    await join(t, id, admin, 'admin')
    const webhook = await create(admin, { workspace: id, ...FILES })
    const told = async (name: string) => {
      await put(alice, id, `/${name}`)
      await settled()
      return pathsOf(receiver.received)
    }
    expect(await told('one')).toEqual(['/one'])
    await join(t, id, admin, 'editor')
    expect(await told('two')).toEqual(['/one'])
    // Pings and repeated events are refused as well, whoever requests them.
    const event = receiver.received[0]?.id
    await ask(alice, PING, { input: { webhook: webhook.id } })
    await ask(alice, REDELIVER, { input: { webhook: webhook.id, event } })
    await settled()
    expect(receiver.received).toHaveLength(1)
    await expel(t, id, admin)
    expect(await told('three')).toEqual(['/one'])
    // The member who changes it becomes responsible.
    expect(await update(alice, webhook.id, { paused: false })).toMatchObject({
      responsible: { email: alice.email },
    })
    expect(await told('four')).toEqual(['/one', '/two', '/three', '/four'])
    await t.app.db.User.update({ status: 'suspended' }, { where: { id: alice.userId } })
    await join(t, id, admin, 'owner')
    await put(admin, id, '/five')
    await settled()
    expect(receiver.received).toHaveLength(4)
    await t.app.db.User.update({ status: 'active' }, { where: { id: alice.userId } })
    expect(await told('six')).toEqual(['/one', '/two', '/three', '/four', '/five', '/six'])
  })

  it('is recorded in the log of the workspace', async () => {
    const id = await found(alice)
    const webhook = await create(alice, { workspace: id, ...FILES })
    await update(alice, webhook.id, { paused: true })
    await ask(alice, DELETE, { input: { webhook: webhook.id } })
    const kinds = '[WEBHOOK_CREATED, WEBHOOK_CHANGED, WEBHOOK_DELETED]'
    const query = `query ($id: ID!) { workspace(id: $id) { drive { events(kinds: ${kinds}) { nodes { kind subjectId details { name } } } } } }`
    const { nodes } = (await ask(alice, query, { id })).workspace.drive.events
    const details = { name: new URL(receiver.url).host }
    expect(nodes).toEqual(
      ['WEBHOOK_CREATED', 'WEBHOOK_CHANGED', 'WEBHOOK_DELETED'].map(kind => ({
        kind,
        subjectId: webhook.id,
        details,
      })),
    )
  })
})

describe('The backlog of webhooks', () => {
  const WEEK_MS = 7 * 86_400_000

  it('counts events from the moment they happen, and excludes webhooks that may not be delivered', async () => {
    const { db } = t.app
    const backlog = () => webhookBacklog(db, Date.now())
    const { id } = await create(alice)
    await settled()
    // Idle for a week. The claim keeps it from being delivered to.
    const since = Date.now() - WEEK_MS
    await db.Webhook.update(
      { dueAt: since, leaseUntil: Date.now() + 600_000, attempts: 1 },
      { where: { id } },
    )
    expect(await backlog()).toEqual({ due: 0, oldestMs: 0, failing: 1 })
    await upload('one')
    const late = await backlog()
    expect(late).toMatchObject({ due: 1, failing: 1 })
    expect(late.oldestMs).toBeLessThan(60_000)
    await db.run(
      'UPDATE event SET at = ? WHERE log_id = (SELECT log_id FROM webhook WHERE id = ?)',
      [since - WEEK_MS, id],
    )
    expect((await backlog()).oldestMs).toBeGreaterThanOrEqual(WEEK_MS)
    expect((await backlog()).oldestMs).toBeLessThan(WEEK_MS + 60_000)
    await db.User.update({ status: 'suspended' }, { where: { id: alice.userId } })
    expect(await backlog()).toEqual({ due: 0, oldestMs: 0, failing: 0 })
  })
})

describe('A webhook of a workspace whose responsible member deletes their account', () => {
  it.each(['a member', 'none any more'])(
    'is deleted, and the log of the workspace records it: who is %s',
    async which => {
      const bob = await t.signIn(`bob${++people}`)
      const id = await found(bob)
      await join(t, id, alice, 'owner')
      const kept = await create(bob, { workspace: id, ...FILES })
      const gone = await create(alice, { workspace: id, ...FILES })
      await create(alice, FILES)
      await create(alice, { workspace: await found(alice), ...FILES })
      if (which === 'none any more') await expel(t, id, alice)
      await alice.rest('DELETE', '/api/user/account/delete', { json: { delete_user_data: true } })
      const query = `query ($id: ID!) { workspace(id: $id) { webhooks { id }
      drive { events(kinds: [WEBHOOK_DELETED]) { nodes { kind subjectId actor { id } details { name } } } } } }`
      const { webhooks, drive } = (await ask(bob, query, { id })).workspace
      expect(webhooks).toEqual([{ id: kept.id }])
      const details = { name: new URL(receiver.url).host }
      expect(drive.events.nodes).toEqual([
        { kind: 'WEBHOOK_DELETED', subjectId: gone.id, actor: null, details },
      ])
    },
  )
})

describe('A webhook to a private address', () => {
  it.each([
    'http://127.0.0.2/',
    'http://[::1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://0x7f.0.0.2/',
    'http://2130706434/',
  ])('is rejected because of its URL: %s', async url => {
    expect(await codeOf(alice, CREATE, { input: { url } })).toBe('INVALID_INPUT')
  })

  it('is refused at each connection, even if its name resolved to a public address before', async () => {
    const internal = await startReceiver('127.0.0.2', receiver.port)
    const { id } = await create(alice, { url: `http://hook.example:${receiver.port}/`, ...FILES })
    answers = ['127.0.0.1', '127.0.0.2', '10.0.0.1', '127.0.0.1']
    await upload('one', 'two')
    await settled()
    expect(internal.received).toEqual([])
    expect(pathsOf(receiver.received)).toEqual(['one', 'two'])
    const { deliveries } = await look(alice, id)
    expect(deliveries.map(({ failure }: Anything) => failure)).toEqual([
      null,
      'forbidden_address',
      'forbidden_address',
      null,
    ])
    await internal.stop()
  })
})

describe('A hanging receiver', () => {
  it('gets the event in the end, and does not delay other receivers', async () => {
    const hurried = await startApp(
      { ...UNHURRIED, WEBHOOK_ALLOW_ADDRESSES: '127.0.0.0/8' },
      { webhookHabits: { timeoutMs: 300, retryMs: () => 0 } },
    )
    const [carol, dora] = [await hurried.signIn('carol'), await hurried.signIn('dora')]
    const idle = await startReceiver()
    receiver.next = [() => {}, () => {}]
    await ask(carol, CREATE, { input: { url: receiver.url, ...FILES } })
    await ask(dora, CREATE, { input: { url: idle.url, ...FILES } })
    await carol.upload('slow', 'x')
    await dora.upload('quick', 'x')
    await until(() => idle.received.length > 0)
    await until(() => receiver.received.length > 2)
    await hurried.app.webhooks.idle()
    expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(1)
    const [webhook] = (await ask(carol, `{ me { webhooks { ${WEBHOOK} } } }`)).me.webhooks
    expect(webhook.deliveries.map(({ failure }: Anything) => failure)).toEqual(
      expect.arrayContaining(['timeout', null]),
    )
    await hurried.stop()
    await idle.stop()
  })
})

describe('Slow receivers', () => {
  it('yield their slots to others after each turn', async () => {
    const hurried = await startApp(
      { ...UNHURRIED, WEBHOOK_ALLOW_ADDRESSES: '127.0.0.1' },
      { webhookHabits: { turnMs: 0, timeoutMs: 30_000 } },
    )
    const [carol, dora] = [await hurried.signIn('carol'), await hurried.signIn('dora')]
    const other = await startReceiver()
    const waiting: ServerResponse[] = []
    receiver.next = Array.from({ length: 30 }, () => res => void waiting.push(res))
    for (let i = 0; i < 10; i++)
      await ask(carol, CREATE, { input: { url: receiver.url, ...FILES } })
    await ask(dora, CREATE, { input: { url: other.url, ...FILES } })
    await carol.upload('one', 'x')
    // All slots are taken, and each of the ten webhooks has two more events to send.
    await until(() => waiting.length === 10)
    await carol.upload('two', 'x')
    await carol.upload('three', 'x')
    await dora.upload('quick', 'x')
    for (const res of waiting.splice(0)) res.writeHead(204).end()
    await until(() => other.received.length === 1)
    receiver.next = []
    for (const res of waiting.splice(0)) res.writeHead(204).end()
    await hurried.app.webhooks.idle()
    expect(receiver.received).toHaveLength(30)
    await hurried.stop()
    await other.stop()
  })
})

describe('A database that refuses to write', () => {
  // Users of the other engine seldom have the privilege for a trigger.
  const onFile = engine === 'sqlite' ? it : it.skip

  onFile('is not asked again before the next poll', async () => {
    const { id } = await create(alice, FILES)
    await t.app.db.run(
      "CREATE TRIGGER refused BEFORE UPDATE ON webhook BEGIN SELECT RAISE(ABORT, 'refused'); END",
      [],
    )
    await upload('one')
    // It would never become idle.
    await settled()
    expect(receiver.received).toEqual([])
    await t.app.db.run('DROP TRIGGER refused', [])
    await settled()
    expect(pathsOf(receiver.received)).toEqual(['one'])
    expect((await look(alice, id)).deliveries).toHaveLength(1)
  })
})

describe('Two instances', () => {
  it('do not claim a webhook that the other one has just handled and deferred', async () => {
    const { id } = await create(alice, FILES)
    await update(alice, id, { paused: true })
    const { db } = t.app
    const now = Date.now()
    await db.Webhook.update({ dueAt: now + 5000, leaseUntil: 0 }, { where: { id } })
    expect(await claimWebhook(db, { id, leaseUntil: 0 }, now, now + 60_000)).toBe(false)
    await db.Webhook.update({ dueAt: now }, { where: { id } })
    expect(await claimWebhook(db, { id, leaseUntil: 0 }, now, now + 60_000)).toBe(true)
    expect(await claimWebhook(db, { id, leaseUntil: 0 }, now, now + 60_000)).toBe(false)
  })

  // SQLite allows only one process.
  const onServers = engine === 'mysql' ? it : it.skip

  onServers('deliver each event once, and in order', async () => {
    const database = await newDatabase()
    const settings = {
      ...UNHURRIED,
      DATABASE_URL: database.url,
      WEBHOOK_ALLOW_ADDRESSES: '127.0.0.1',
      SECRET_KEY: 'the same for all instances, 32 or more',
    }
    const [near, far] = [await startApp(settings), await startApp(settings)]
    const carol = await near.signIn('carol')
    await ask(carol, CREATE, { input: { url: receiver.url, ...FILES } })
    const paths = Array.from({ length: 12 }, (_, i) => `f${i}`)
    for (const path of paths) {
      await carol.upload(path, path)
      far.app.webhooks.wake()
    }
    await Promise.all([near.app.webhooks.idle(), far.app.webhooks.idle()])
    await near.app.webhooks.idle()
    expect(pathsOf(receiver.received)).toEqual(paths)
    await near.stop()
    await far.stop()
    await database.drop()
  })
})
