import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { v7 as newId } from 'uuid'
import { ask, codeOf } from '../support/ask.ts'
import {
  type Person,
  type RestAnswer,
  type RestOptions,
  startApp,
  type TestApp,
} from '../support/harness.ts'
import { anId, aSentence, aTime, at } from '../support/shapes.ts'

let t: TestApp
let alice: Person
let bob: Person
let carol: Person

beforeAll(async () => {
  t = await startApp({ RATE_SHARING: '1000000' })
  // The worker is stopped, so that mails stay in the outbox and deleted folders are not purged.
  await t.app.worker.stop()
  alice = await t.signIn('alice')
  bob = await t.signIn('bob')
  carol = await t.signIn('carol')
  await alice.upload('docs/a.txt', 'hello', 'text/plain')
  await alice.upload('docs/b.txt', 'bee', 'text/plain')
})
afterAll(() => t.stop())

const day = 24 * 3600 * 1000
const HELLO = '5d41402abc4b2a76b9719d911017c592'
const aToken = expect.stringMatching(/^[\w-]{43}$/)

const send = (json: object, person = alice) =>
  person.rest('POST', '/api/files/share', {
    json: { email: 'bob@example.com', objects: ['docs/a.txt'], ...json },
  })
const received = (person: Person, query = '') => person.rest('GET', `/api/files/received${query}`)
const sent = (person: Person, query = '') => person.rest('GET', `/api/files/shared_by_user${query}`)
const seen = (sharing_token: string, person: Person) =>
  person.rest('POST', '/api/files/received/mark_seen', { json: { sharing_token } })
const count = async (person: Person) =>
  (await person.rest('GET', '/api/files/received/unseen_count')).response.count
const open = (token: string, person: Person, options: RestOptions = {}) =>
  person.rest('GET', `/api/d/${token}`, options)
const resolve = (token: string, person: Person, json: object = {}) =>
  person.rest('POST', `/api/share/resolve/${token}`, { json })
const revoke = (token: string, person: Person) => person.rest('POST', `/api/share/revoke/${token}`)
const statusAndCode = ({ status, response }: RestAnswer) => [status, response.code]
const namesOf = ({ response }: RestAnswer): string[] =>
  response.files.map((f: { file_name: string }) => f.file_name)
const tokensOf = ({ response }: RestAnswer): string[] =>
  response.files.map((f: { sharing_token: string }) => f.sharing_token)

const rows = (what = '*') =>
  t.app.db.rows<Record<string, unknown>>(`SELECT ${what} FROM share ORDER BY id`)
const mails = async () => {
  const jobs = await t.app.db.rows<{ payload: string }>(
    "SELECT payload FROM outbox WHERE kind = 'mail' ORDER BY id",
  )
  return jobs.map(job => JSON.parse(job.payload))
}

/** Shares files of a person. Returns the tokens. */
async function share(json: object = {}, person = alice): Promise<string[]> {
  const { status, response } = await send(json, person)
  expect(status).toBe(200)
  return response.sharing_info.map((info: { sharing_token: string }) => info.sharing_token)
}

/** A new person with a file, and the token of a share of this file. */
async function newShare(
  name: string,
  recipient: Person,
  json: object = {},
): Promise<{ sharer: Person; token: string }> {
  const sharer = await t.signIn(name)
  await sharer.upload('file.txt', 'hello', 'text/plain')
  const [token = ''] = await share(
    { email: recipient.email, objects: ['file.txt'], ...json },
    sharer,
  )
  return { sharer, token }
}

const expire = (recipient: Person) =>
  t.app.db.run('UPDATE share SET expires_at = ? WHERE recipient = ?', [
    Date.now() - 1,
    recipient.email,
  ])

describe('POST /api/files/share', () => {
  it('200 shares files with one user for 7 days, and notifies nobody by mail', async () => {
    const before = Date.now()
    const { status, msg, response } = await send({
      objects: ['/docs/a.txt', 'docs/b.txt/', 'docs/a.txt'],
    })
    expect([status, msg]).toEqual([200, 'ok'])
    const [a, b] = response.sharing_info
    expect(response).toEqual({
      sharing_info: [
        {
          file: 'docs/a.txt',
          file_name: 'a.txt',
          checksum: HELLO,
          shared_for: 'bob@example.com',
          shared_by: 'alice@example.com',
          sharing_token: aToken,
          sharing_link: `${t.url}/share/${a.sharing_token}`,
          expires_at: aTime,
        },
        expect.objectContaining({ file: 'docs/b.txt', file_name: 'b.txt', sharing_token: aToken }),
      ],
      notification_status: 'not_sent',
    })
    expect(b.sharing_token).not.toBe(a.sharing_token)
    expect(at(a.expires_at) - before - 7 * day).toBeGreaterThanOrEqual(0)
    expect(at(a.expires_at) - Date.now() - 7 * day).toBeLessThanOrEqual(0)
    const made = await rows()
    expect(made).toHaveLength(2)
    expect(made[0]).toMatchObject({
      user_id: alice.userId,
      recipient: 'bob@example.com',
      max_downloads: null,
      downloads: 0,
    })
    expect(JSON.stringify(made)).not.toContain(a.sharing_token)
    expect(await mails()).toEqual([])
  })

  it.each([
    ['1m', 60_000],
    ['30d', 30 * day],
    ['5y', 5 * 365 * day],
    ['', 7 * day],
  ])('200 for a duration of "%s"', async (duration, ms) => {
    const { response } = await send({ duration })
    expect(Math.abs(at(response.sharing_info[0].expires_at) - Date.now() - ms)).toBeLessThan(30_000)
  })

  it.each(['BOB@EXAMPLE.COM', '  bob@example.com ', 'Bob@Example.com'])(
    '200 for "%s", who is bob',
    async email => {
      const [known] = await share()
      const { response } = await send({ email })
      expect(response.sharing_info[0]).toMatchObject({
        shared_for: 'bob@example.com',
        sharing_token: known,
      })
    },
  )

  it('200 shares 100 files with the longest names at once, and queues one mail about them', async () => {
    const dora = await t.signIn('dora')
    const names = Array.from(
      { length: 100 },
      (_, i) => `${'"'.repeat(252)}${String(i).padStart(3, '0')}`,
    )
    for (const name of names)
      await dora.rest('POST', '/api/files/upload', {
        form: (() => {
          const form = new FormData()
          form.append('folder', '')
          form.append('file', new Blob(['x']), name.replaceAll('"', 'q'))
          return form
        })(),
      })
    await t.app.db.run(
      "UPDATE entry SET name = REPLACE(name, 'q', '\"') WHERE bucket_id IN (SELECT id FROM bucket WHERE user_id = ?)",
      [dora.userId],
    )
    const made = await share({ objects: names, send_email: true }, dora)
    expect(new Set(made).size).toBe(100)
    expect((await mails()).at(-1).values.files).toEqual(names)
    await t.app.db.run("DELETE FROM outbox WHERE kind = 'mail'")
    await t.app.db.run('DELETE FROM share WHERE user_id = ?', [dora.userId])
  })

  it('200 with a private API key that may share', async () => {
    const { response } = await alice.rest('POST', '/api/api_keys/private/create', {
      json: { name: 'sharer', scopes: ['private_files:share'] },
    })
    const key = { cookie: '', 'x-api-key': response.api_key.key }
    const answer = await alice.rest('POST', '/api/files/share', {
      json: { email: 'bob@example.com', objects: ['docs/a.txt'] },
      headers: key,
    })
    expect([answer.status, answer.response.sharing_info[0].shared_by]).toEqual([
      200,
      'alice@example.com',
    ])
    for (const path of [
      '/api/files/received',
      '/api/files/shared_by_user',
      '/api/files/received/unseen_count',
    ])
      expect(statusAndCode(await alice.rest('GET', path, { headers: key }))).toEqual([
        401,
        'INSUFFICIENT_SCOPE',
      ])
    const marked = await alice.rest('POST', '/api/files/received/mark_seen', {
      json: { sharing_token: 'x' },
      headers: key,
    })
    expect(marked.response).toEqual({ code: 'INSUFFICIENT_SCOPE', required: 'private_files:write' })
  })

  it.each<[string, object, string, string?]>([
    ['no files', { objects: [] }, 'INVALID_INPUT', 'objects'],
    ['101 files', { objects: Array(101).fill('docs/a.txt') }, 'INVALID_INPUT', 'objects'],
    ['files that are not a list', { objects: 'docs/a.txt' }, 'INVALID_INPUT', 'objects'],
    ['a file that is not a string', { objects: [1] }, 'INVALID_INPUT', 'objects'],
    ['a file that is null', { objects: ['docs/a.txt', null] }, 'INVALID_INPUT', 'objects'],
    ['an invalid path', { objects: ['docs/../a.txt'] }, 'INVALID_PATH', 'objects'],
    ['no address', { email: '' }, 'INVALID_INPUT', 'email'],
    ['an invalid address', { email: 'bob' }, 'INVALID_INPUT', 'email'],
    ['two addresses', { email: 'bob@example.com,carol@example.com' }, 'INVALID_INPUT', 'email'],
    ['an address with a name', { email: 'Bob <bob@example.com>' }, 'INVALID_INPUT', 'email'],
    [
      'an address with a line of its own',
      { email: 'bob@example.com\r\nBcc: carol@example.com' },
      'INVALID_INPUT',
      'email',
    ],
    [
      'an address that is far too long',
      { email: `${'b'.repeat(310)}@example.com` },
      'INVALID_INPUT',
      'email',
    ],
    ['an invalid duration', { duration: '7 d' }, 'INVALID_DURATION', 'duration'],
    ['a duration that is too long', { duration: '6y' }, 'INVALID_DURATION', 'duration'],
    ['a password that is too long', { password: 'x'.repeat(129) }, 'INVALID_INPUT', 'password'],
    ['a password that is not a string', { password: 1 }, 'INVALID_INPUT', 'password'],
    ['an invalid send_email', { send_email: 'yes' }, 'INVALID_INPUT', 'send_email'],
    ['an unknown field', { max_downloads: 1 }, 'INVALID_INPUT', 'max_downloads'],
    ['oneself', { email: 'ALICE@example.com' }, 'INVALID_INPUT', 'email'],
  ])('400 for %s, and nothing is shared', async (_what, json, code, field) => {
    const before = await rows()
    const { status, msg, response } = await send({ send_email: true, duration: '1h', ...json })
    expect([status, response.code, response.field]).toEqual([400, code, field])
    expect(msg).toEqual(aSentence)
    expect(await rows()).toEqual(before)
    expect(await mails()).toEqual([])
  })

  it.each([
    ['a file that is missing', 'docs/none.txt'],
    ['a folder', 'docs'],
    ['a file of another user', 'secret.txt'],
  ])('400 for %s among others: shares all files or none', async (_what, path) => {
    await bob.upload('secret.txt', 'bob')
    const before = await rows()
    for (const objects of [
      [path, 'docs/a.txt'],
      ['docs/a.txt', 'docs/b.txt', path],
    ]) {
      const answer = await send({
        email: 'carol@example.com',
        objects,
        send_email: true,
        duration: '1d',
      })
      expect([answer.status, answer.response]).toEqual([400, { code: 'FILE_NOT_FOUND', path }])
    }
    expect(await rows()).toEqual(before)
    expect(await mails()).toEqual([])
  })

  it('400 for an empty or missing body', async () => {
    for (const options of [{}, { json: [] }, { json: {} }, { body: 'email=bob@example.com' }])
      expect((await alice.rest('POST', '/api/files/share', options)).status).toBe(400)
  })

  it('renews a share: keeps the token, and replaces expiry, password and "unseen"', async () => {
    const [token = ''] = await share({ duration: '1h', password: 'first' })
    await seen(token, bob)
    const [before] = (await received(bob)).response.files
    expect(before).toMatchObject({ seen: true, password_protected: true })
    expect(await share({ duration: '2h', password: 'second' })).toEqual([token])
    const [after] = (await received(bob)).response.files
    expect(after).toEqual({ ...before, seen: false, expires_at: after.expires_at })
    expect(at(after.expires_at) - at(before.expires_at)).toBeGreaterThan(3_500_000)
    expect(statusAndCode(await resolve(token, bob, { password: 'first' }))).toEqual([
      403,
      'WRONG_PASSWORD',
    ])
    expect((await resolve(token, bob, { password: 'second' })).status).toBe(200)
    expect(await share({ duration: '1h' })).toEqual([token])
    const [last] = (await received(bob)).response.files
    expect(last.password_protected).toBe(false)
    expect(at(last.expires_at)).toBeLessThan(at(after.expires_at))
    expect((await resolve(token, bob)).status).toBe(200)
  })

  it('renews an expired share, also under another path, but never a revoked one', async () => {
    const { sharer, token } = await newShare('erin', bob)
    await t.app.db.run('UPDATE share SET expires_at = ? WHERE user_id = ?', [
      Date.now() - 1,
      sharer.userId,
    ])
    expect(statusAndCode(await open(token, bob))).toEqual([403, 'SHARE_EXPIRED'])
    await sharer.rest('POST', '/api/files/move', {
      json: { source: 'file.txt', destination: 'moved/there.txt' },
    })
    expect(await share({ objects: ['moved/there.txt'] }, sharer)).toEqual([token])
    expect((await open(token, bob)).status).toBe(302)
    await revoke(token, sharer)
    const [fresh] = await share({ objects: ['moved/there.txt'] }, sharer)
    expect(fresh).not.toBe(token)
    expect(statusAndCode(await open(token, bob))).toEqual([404, 'SHARE_NOT_FOUND'])
  })

  it('creates one row when many share the same file with the same person at once', async () => {
    const fred = await t.signIn('fred')
    await fred.upload('1', 'one')
    await fred.upload('2', 'two')
    const answers = await Promise.all(
      Array.from({ length: 24 }, (_, i) =>
        send(
          {
            email: i % 2 ? 'BOB@example.com' : 'bob@example.com',
            objects: i % 3 ? ['1', '2'] : ['2', '1'],
          },
          fred,
        ),
      ),
    )
    expect(answers.map(a => a.status)).toEqual(Array(24).fill(200))
    const byFile = new Map<string, Set<string>>()
    for (const { response } of answers)
      for (const { file, sharing_token } of response.sharing_info)
        byFile.set(file, (byFile.get(file) ?? new Set()).add(sharing_token))
    expect([...byFile.values()].map(tokens => tokens.size)).toEqual([1, 1])
    expect((await rows()).filter(row => row.user_id === fred.userId)).toHaveLength(2)
  })

  it('creates separate shares for separate recipients', async () => {
    const [forBob] = await share()
    const [forCarol] = await share({ email: 'carol@example.com' })
    expect(forCarol).not.toBe(forBob)
  })
})

describe('With send_email', () => {
  it('200 queues a mail to the recipient in the same transaction', async () => {
    const [token] = await share({ duration: '2d' })
    const { response } = await send({ send_email: true, duration: '2d', password: 'a pass phrase' })
    expect(response.notification_status).toBe('queued')
    expect(await mails()).toEqual([
      {
        template: 'share',
        to: 'bob@example.com',
        stop: expect.stringMatching(/\/unsubscribe\/[\w-]{43}$/),
        values: {
          files: ['a.txt'],
          links: [`${t.url}/share/${token}`],
          by: 'alice',
          address: 'alice@example.com',
          expires: response.sharing_info[0].expires_at,
          protected: true,
          sizes: [expect.any(Number)],
          message: '',
          all: `${t.url}/shared`,
        },
      },
    ])
    expect(JSON.stringify(await mails())).not.toContain('a pass phrase')
    await t.app.db.run("DELETE FROM outbox WHERE kind = 'mail'")
  })

  it('500 and shares nothing when the mail cannot be queued', async () => {
    const { sharer } = await newShare('gina', bob)
    const before = await rows()
    await t.app.db.run('ALTER TABLE outbox RENAME TO outbox_away')
    try {
      const both = { send_email: true, duration: '1h', objects: ['file.txt'] }
      for (const email of ['bob@example.com', 'carol@example.com'])
        expect(statusAndCode(await send({ ...both, email }, sharer))).toEqual([500, 'INTERNAL'])
      expect(await rows()).toEqual(before)
    } finally {
      await t.app.db.run('ALTER TABLE outbox_away RENAME TO outbox')
    }
    expect(await mails()).toEqual([])
  })
})

describe('The owner of the verified address', () => {
  it('receives the share now, or when they sign up later', async () => {
    const { token } = await newShare('hank', { ...bob, email: 'Late@Example.com' })
    const late = await t.signIn('LATE@example.COM')
    expect(tokensOf(await received(late))).toEqual([token])
    expect(await count(late)).toBe(1)
    expect((await open(token, late)).status).toBe(302)
  })

  it('does not receive the share until the address is verified', async () => {
    const { token } = await newShare('iris', { ...bob, email: 'claim@example.com' })
    const claim = await t.signIn('claim@example.com', { emailVerified: false })
    expect((await received(claim)).response).toEqual({ files: [], next_cursor: null })
    expect(await count(claim)).toBe(0)
    expect(statusAndCode(await seen(token, claim))).toEqual([400, 'SHARE_NOT_FOUND'])
    for (const answer of [await open(token, claim), await resolve(token, claim)])
      expect(statusAndCode(answer)).toEqual([403, 'FORBIDDEN'])
    const proven = await t.signIn('claim@example.com')
    expect(proven.userId).toBe(claim.userId)
    expect(tokensOf(await received(claim))).toEqual([token])
    expect((await open(token, claim)).status).toBe(302)
  })

  it('is not the owner of a similar address', async () => {
    const { token } = await newShare('jack', { ...bob, email: 'straße@example.com' })
    for (const email of [
      'strasse@example.com',
      'straße@example.com.evil.org',
      'straße@example.co',
    ]) {
      const other = await t.signIn(email)
      expect((await received(other)).response.files).toEqual([])
      expect((await open(token, other)).status).toBe(403)
    }
    const { token: elsewhere } = await newShare('june', { ...bob, email: 'straße@example.net' })
    expect((await open(elsewhere, await t.signIn('STRASSE@example.net'))).status).toBe(403)
    expect((await open(token, await t.signIn('Straße@Example.com'))).status).toBe(302)
  })
})

describe('GET /api/files/received', () => {
  it('200 shows a share as its recipient sees it', async () => {
    const kate = await t.signIn('kate')
    const { sharer, token } = await newShare('liam', kate, { duration: '1d', password: 'pw' })
    await resolve(token, kate, { password: 'pw' })
    const { status, msg, response } = await received(kate)
    expect([status, msg]).toEqual([200, 'ok'])
    const { response: tree } = await sharer.rest('GET', '/api/files/tree')
    expect(response).toEqual({
      files: [
        {
          sharing_token: token,
          sharing_link: `${t.url}/share/${token}`,
          file_id: tree.files[0].id,
          file_name: 'file.txt',
          file_type: 'text/plain',
          size: 5,
          md5_checksum: HELLO,
          shared_by: 'liam@example.com',
          shared_for: 'kate@example.com',
          created_at: aTime,
          expires_at: aTime,
          seen: false,
          password_protected: true,
          downloads: 1,
          entry_count: 1,
          max_downloads: null,
          may_edit: false,
          label: '',
          message: '',
          title: '',
          allow_download: true,
          workspace_id: null,
        },
      ],
      next_cursor: null,
    })
    expect((await sent(sharer)).response).toEqual(response)
    expect((await sent(kate)).response.files).toEqual([])
    expect((await received(sharer)).response.files).toEqual([])
  })

  it('200 shows only live shares, and all files that remain of a moved one', async () => {
    const mona = await t.signIn('mona')
    const ned = await t.signIn('ned')
    const objects = ['expired', 'revoked', 'deleted', 'bin/deep/deleted', 'moved', 'bin/kept']
    for (const name of objects) await ned.upload(name, name)
    const tokens = await share({ email: mona.email, objects }, ned)
    const tokenOf = (name: string) => tokens[objects.indexOf(name)] ?? ''
    expect(namesOf(await received(mona))).toEqual(objects)
    await t.app.db.run(
      "UPDATE share SET expires_at = ? WHERE entry_id = (SELECT id FROM entry WHERE name = 'expired' AND kind = 1)",
      [Date.now() - 1],
    )
    await revoke(tokenOf('revoked'), ned)
    await ned.rest('DELETE', '/api/files/delete?file=deleted')
    await ned.rest('POST', '/api/files/move', {
      json: { source: 'moved', destination: 'over/here.bin' },
    })
    await ned.rest('POST', '/api/files/move', { json: { source: 'bin/kept', destination: 'kept' } })
    await ned.rest('DELETE', '/api/folders?path=bin&recursive=true')
    expect(await rows('id')).not.toHaveLength(0)
    for (const list of [await received(mona), await sent(ned)]) {
      expect(namesOf(list)).toEqual(['over/here.bin', 'kept'])
      expect(tokensOf(list)).toEqual([tokenOf('moved'), tokenOf('bin/kept')])
    }
    expect(await count(mona)).toBe(2)
    expect((await open(tokenOf('moved'), mona)).status).toBe(302)
    expect(statusAndCode(await open(tokenOf('expired'), mona))).toEqual([403, 'SHARE_EXPIRED'])
    for (const name of ['revoked', 'deleted', 'bin/deep/deleted'])
      expect(statusAndCode(await open(tokenOf(name), mona))).toEqual([404, 'SHARE_NOT_FOUND'])
    await t.app.db.run("UPDATE user SET status = 'suspended' WHERE id = ?", [ned.userId])
    expect((await received(mona)).response.files).toEqual([])
    expect(await count(mona)).toBe(0)
  })

  it('200 with the same number of statements for any number of shares', async () => {
    const olga = await t.signIn('olga')
    const pete = await t.signIn('pete')
    const objects = Array.from({ length: 12 }, (_, i) => `${i % 4}/${i}`)
    for (const name of objects) await pete.upload(name, '')
    const statementsOf = async () => {
      t.statements()
      await received(olga)
      await sent(pete)
      return t.statements().length
    }
    await share({ email: olga.email, objects: objects.slice(0, 1) }, pete)
    const few = await statementsOf()
    await share({ email: olga.email, objects }, pete)
    expect(await statementsOf()).toBe(few)
  })
})

describe('Pages of received and sent shares', () => {
  let quin: Person
  let rosa: Person
  const names = Array.from({ length: 25 }, (_, i) => `f/${String(i).padStart(2, '0')}`)

  beforeAll(async () => {
    quin = await t.signIn('quin')
    rosa = await t.signIn('rosa')
    for (const name of names) {
      await quin.upload(name, '')
      await share({ email: rosa.email, objects: [name] }, quin)
    }
  })

  async function walk(list: typeof received, person: Person, limit: number) {
    const pages: string[][] = []
    let cursor: string | null = ''
    do {
      const answer: RestAnswer = await list(person, `?limit=${limit}&cursor=${cursor}`)
      pages.push(namesOf(answer))
      cursor = answer.response.next_cursor
    } while (cursor !== null)
    return { names: pages.flat(), sizes: pages.map(page => page.length) }
  }

  it('are read 25 by 7, each share once and in order', async () => {
    for (const [list, person] of [
      [received, rosa],
      [sent, quin],
    ] as const) {
      expect(await walk(list, person, 7)).toEqual({ names, sizes: [7, 7, 7, 4] })
      expect((await walk(list, person, 25)).sizes).toEqual([25])
    }
  })

  it('are read to the end while shares expire meanwhile', async () => {
    const first = await received(rosa, '?limit=5')
    await revoke(tokensOf(first)[4] ?? '', quin)
    const rest = await received(rosa, `?cursor=${first.response.next_cursor}`)
    expect([...namesOf(first), ...namesOf(rest)]).toEqual(names)
    await share({ email: rosa.email, objects: [names[4]] }, quin)
  })

  it('use the nearest allowed limit, and start over with an unknown cursor', async () => {
    for (const [list, person] of [
      [received, rosa],
      [sent, quin],
    ] as const) {
      for (const query of [
        '',
        '?limit=10000',
        '?limit=10001',
        '?limit=many',
        '?limit=',
        '?cursor=x',
        '?cursor=',
      ])
        expect(namesOf(await list(person, query))).toHaveLength(25)
      for (const query of ['?limit=1', '?limit=0', '?limit=-5'])
        expect(namesOf(await list(person, query))).toHaveLength(1)
    }
  })
})

describe('POST /api/files/received/mark_seen', () => {
  it('200 marks a share as seen, repeatedly', async () => {
    const sara = await t.signIn('sara')
    const { sharer, token } = await newShare('tina', sara)
    expect(await count(sara)).toBe(1)
    for (let i = 0; i < 2; i++) {
      const { status, msg, response } = await seen(token, sara)
      expect([status, msg, response]).toEqual([200, 'ok', { seen: true }])
    }
    const [at] = await t.app.db.rows<{ seenAt: number }>(
      'SELECT seen_at AS seenAt FROM share WHERE user_id = ?',
      [sharer.userId],
    )
    await seen(token, sara)
    expect(
      await t.app.db.rows('SELECT seen_at AS seenAt FROM share WHERE user_id = ?', [sharer.userId]),
    ).toEqual([at])
    expect((await received(sara)).response.files[0].seen).toBe(true)
    expect((await sent(sharer)).response.files[0].seen).toBe(true)
    expect(await count(sara)).toBe(0)
  })

  it('400 for a share that the caller has not received', async () => {
    const { sharer, token } = await newShare('ugo', bob)
    await sharer.upload('open.txt', 'x')
    const { response } = await sharer.rest('POST', '/api/files/quick_share', {
      json: { object: 'open.txt' },
    })
    for (const [what, who] of [
      [token, carol],
      [token, sharer],
      [response.sharing_token, bob],
      [response.sharing_token, sharer],
      ['x'.repeat(43), bob],
    ] as const)
      expect(statusAndCode(await seen(what, who))).toEqual([400, 'SHARE_NOT_FOUND'])
    expect((await sent(sharer)).response.files.map((f: { seen: boolean }) => f.seen)).toEqual([
      false,
      false,
    ])
    const missing = await bob.rest('POST', '/api/files/received/mark_seen', { json: {} })
    expect(missing.response).toEqual({ code: 'INVALID_INPUT', field: 'sharing_token' })
  })
})

describe('GET /api/files/received/unseen_count', () => {
  it('200 counts live, received shares that are unseen', async () => {
    const vera = await t.signIn('vera')
    const { status, msg, response } = await vera.rest('GET', '/api/files/received/unseen_count')
    expect([status, msg, response]).toEqual([200, 'ok', { count: 0 }])
    const { sharer, token } = await newShare('walt', vera)
    await sharer.upload('more.txt', 'x')
    await share({ email: vera.email, objects: ['more.txt'] }, sharer)
    expect([await count(vera), await count(sharer)]).toEqual([2, 0])
    await seen(token, vera)
    expect(await count(vera)).toBe(1)
    await share({ email: vera.email, objects: ['file.txt'] }, sharer)
    expect(await count(vera)).toBe(2)
    await expire(vera)
    expect(await count(vera)).toBe(0)
  })

  it('200 omits shares below a deleted folder, and counts beyond 10,000', async () => {
    const rita = await t.signIn('rita')
    const { sharer } = await newShare('saul', rita)
    await sharer.upload('bin/deep/a.txt', 'x')
    await sharer.upload('bin/b.txt', 'x')
    await share({ email: rita.email, objects: ['bin/deep/a.txt', 'bin/b.txt'] }, sharer)
    expect(await count(rita)).toBe(3)
    await sharer.rest('DELETE', '/api/folders?path=bin&recursive=true')
    expect(await count(rita)).toBe(1)
    const [left] = await t.app.db.Share.findAll({
      where: { userId: sharer.userId },
      order: ['id'],
      limit: 1,
      raw: true,
    })
    if (!left) throw new Error('The share is not there.')
    await t.app.db.Share.bulkCreate(
      Array.from({ length: 10_000 }, () => ({ ...left, id: newId() })),
    )
    expect(await count(rita)).toBe(10_001)
  })
})

describe('GET /api/files/shared_by_user', () => {
  it('200 shows only the caller’s own direct and public shares', async () => {
    const { sharer, token } = await newShare('xena', bob)
    const link = { object: 'file.txt', password: 'pw', max_downloads: 3 }
    const { response } = await sharer.rest('POST', '/api/files/quick_share', { json: link })
    const { files } = (await sent(sharer)).response
    expect(files.map((f: { sharing_token: string }) => f.sharing_token)).toEqual([
      token,
      response.sharing_token,
    ])
    expect(files[0]).toMatchObject({
      shared_for: 'bob@example.com',
      password_protected: false,
      max_downloads: null,
    })
    expect(files[1]).toMatchObject({
      shared_for: '',
      password_protected: true,
      downloads: 0,
      max_downloads: 3,
      seen: false,
    })
    expect(files[1].file_id).toEqual(anId)
    expect(tokensOf(await sent(carol))).toEqual([])
    expect(tokensOf(await received(bob))).not.toContain(response.sharing_token)
  })
})

describe('The token of a direct share', () => {
  let token: string
  beforeAll(async () => {
    ;[token = ''] = await share()
  })

  it('opens the file for its recipient and its sharer', async () => {
    for (const person of [bob, alice]) {
      const { status, response } = await resolve(token, person)
      expect([status, response.file_name]).toEqual([200, 'a.txt'])
      expect(await (await fetch(response.url)).text()).toBe('hello')
      const { headers } = await open(token, person)
      expect(await (await fetch(headers.get('location') ?? '')).text()).toBe('hello')
    }
  })

  it('401 without a sign-in, 403 for everybody else', async () => {
    for (const answer of [await open(token, t.anonymous), await resolve(token, t.anonymous)])
      expect(statusAndCode(answer)).toEqual([401, 'UNAUTHENTICATED'])
    for (const answer of [await open(token, carol), await resolve(token, carol)])
      expect(statusAndCode(answer)).toEqual([403, 'FORBIDDEN'])
    expect((await sent(alice)).response.files.at(-1).downloads).toBe(0)
  })

  it('is revoked only by its sharer', async () => {
    const { sharer, token: own } = await newShare('yara', bob)
    expect(statusAndCode(await revoke(own, bob))).toEqual([403, 'FORBIDDEN'])
    expect((await open(own, bob)).status).toBe(302)
    expect((await revoke(own, sharer)).status).toBe(200)
    expect(statusAndCode(await open(own, bob))).toEqual([404, 'SHARE_NOT_FOUND'])
  })

  it('requires the password of the share, also from its recipient', async () => {
    const { sharer, token: own } = await newShare('zoe', bob, { password: 'päss 🦊' })
    for (const person of [bob, sharer]) {
      expect(statusAndCode(await resolve(own, person))).toEqual([401, 'PASSWORD_REQUIRED'])
      expect(statusAndCode(await resolve(own, person, { password: 'x' }))).toEqual([
        403,
        'WRONG_PASSWORD',
      ])
      expect((await resolve(own, person, { password: 'päss 🦊' })).status).toBe(200)
    }
    const headers = { 'x-share-password': Buffer.from('päss 🦊').toString('latin1') }
    expect((await open(own, bob, { headers })).status).toBe(302)
    // A caller without access learns nothing about the password.
    for (const password of ['x', 'päss 🦊'])
      expect((await resolve(own, carol, { password })).response.code).toBe('FORBIDDEN')
  })

  it('is opened by a private key with the read scope, and by no other key', async () => {
    const keyOf = async (scopes: string[], path = 'private') => {
      const { response } = await bob.rest('POST', `/api/api_keys/${path}/create`, {
        json: { name: 'key', scopes },
      })
      return { headers: { cookie: '', 'x-api-key': response.api_key.key as string } }
    }
    expect((await open(token, bob, await keyOf(['private_files:read']))).status).toBe(302)
    const writing = await keyOf(['private_files:write'])
    expect(statusAndCode(await open(token, bob, writing))).toEqual([403, 'INSUFFICIENT_SCOPE'])
    const { response } = await bob.rest('POST', '/api/workspaces/create', { json: { name: 'Bob' } })
    const foreign = await keyOf(['workspaces:files:read'], response.workspace.workspace_id)
    expect(statusAndCode(await open(token, bob, foreign))).toEqual([403, 'KEY_OUT_OF_BOUNDS'])
  })
})

describe('GraphQL', () => {
  const SHARE = `mutation ($input: CreateDirectShareInput!) { createDirectShare(input: $input) { mail shares {
    __typename id token url file { path shareCount } fileName md5 recipient sharedBy { email } seen expiresAt } } }`
  const FIELDS = `{ nodes { id token url fileName contentType size md5 recipient seen sharedBy { id email name } createdAt expiresAt
    passwordProtected downloads maxDownloads file { path } } pageInfo { hasNextPage endCursor } }`
  const RECEIVED = `query ($first: Int, $after: String, $seen: Boolean) { me { unseenShareCount
    receivedShares(first: $first, after: $after, seen: $seen) ${FIELDS} } }`
  const SENT = `query ($first: Int, $after: String) { me { shares(first: $first, after: $after, kind: DIRECT) {
    nodes { id token url fileName contentType size md5 ... on DirectShare { recipient seen } sharedBy { id email name } createdAt expiresAt
      passwordProtected downloads maxDownloads file { path } } pageInfo { hasNextPage endCursor } } } }`
  interface Page {
    nodes: { fileName: string }[]
    pageInfo: { hasNextPage: boolean; endCursor: string }
  }
  const SEEN = `mutation ($input: MarkShareSeenInput!) { markShareSeen(input: $input) {
    share { id seen } viewer { unseenShareCount } } }`

  const files = (...paths: string[]) => paths.map(path => ({ at: { path } }))

  it('createDirectShare shares with one person, and queues the mail', async () => {
    const [adam, eve] = [await t.signIn('adam'), await t.signIn('eve')]
    for (const name of ['a', 'b', 'c']) await adam.upload(name, 'hello', 'text/plain')
    const id = (await ask(adam, '{ me { drive { entry(path: "c") { id } } } }')).me.drive.entry.id
    const input = {
      email: 'EVE@example.com',
      entries: [...files('a', 'b'), { id }],
      duration: '1h',
      sendEmail: true,
    }
    const { mail, shares } = (await ask(adam, SHARE, { input })).createDirectShare
    expect(mail).toBe('QUEUED')
    expect(shares).toEqual(
      ['a', 'b', 'c'].map((path, i) => ({
        __typename: 'DirectShare',
        id: anId,
        token: aToken,
        url: `${t.url}/share/${shares[i].token}`,
        file: { path, shareCount: 1 },
        fileName: path,
        md5: HELLO,
        recipient: 'eve@example.com',
        sharedBy: { email: 'adam@example.com' },
        seen: false,
        expiresAt: aTime,
      })),
    )
    expect(await mails()).toEqual([expect.objectContaining({ to: 'eve@example.com' })])
    await t.app.db.run("DELETE FROM outbox WHERE kind = 'mail'")
    const again = (await ask(adam, SHARE, { input: { email: eve.email, entries: files('a') } }))
      .createDirectShare
    expect(again).toMatchObject({
      mail: 'NOT_SENT',
      shares: [{ id: shares[0].id, token: shares[0].token }],
    })
  })

  it('me.receivedShares and me.shares show both sides, page by page', async () => {
    const [ida, jon] = [await t.signIn('ida'), await t.signIn('jon')]
    for (const name of ['a', 'b', 'c']) await ida.upload(`deep/${name}`, 'hello', 'text/plain')
    const input = {
      email: jon.email,
      entries: files('deep/a', 'deep/b', 'deep/c'),
      password: 'open up',
    }
    const { shares } = (await ask(ida, SHARE, { input })).createDirectShare
    const sides = [
      [
        ida,
        (variables: object) => ask(ida, SENT, variables),
        (name: string) => ({ path: `deep/${name}` }),
      ],
      [jon, (variables: object) => ask(jon, RECEIVED, variables), () => null],
    ] as const
    for (const [, page, fileOf] of sides) {
      const first = Object.values<Page>((await page({ first: 2 })).me).find(
        value => typeof value === 'object',
      )
      expect(first?.nodes).toEqual(
        ['a', 'b'].map((fileName, i) => ({
          id: shares[i].id,
          token: shares[i].token,
          url: shares[i].url,
          fileName,
          contentType: 'text/plain',
          size: 5,
          md5: HELLO,
          recipient: jon.email,
          seen: false,
          sharedBy: { id: ida.userId, email: ida.email, name: 'ida' },
          createdAt: aTime,
          expiresAt: shares[i].expiresAt,
          passwordProtected: true,
          downloads: 0,
          maxDownloads: null,
          // Only the owner may know the path of a file.
          file: fileOf(fileName),
        })),
      )
      expect(first?.pageInfo.hasNextPage).toBe(true)
      const rest = Object.values<Page>((await page({ after: first?.pageInfo.endCursor })).me).find(
        value => typeof value === 'object',
      )
      expect(rest?.nodes.map(({ fileName }) => fileName)).toEqual(['c'])
      expect(rest?.pageInfo.hasNextPage).toBe(false)
    }
    const NEWEST = '{ me { receivedShares(first: 2, newestFirst: true) { nodes { fileName } } } }'
    expect((await ask(jon, NEWEST)).me.receivedShares.nodes).toEqual([
      { fileName: 'c' },
      { fileName: 'b' },
    ])
  })

  it('markShareSeen marks a share by its id or its token', async () => {
    const [kim, leo] = [await t.signIn('kim'), await t.signIn('leo')]
    for (const name of ['a', 'b', 'c']) await kim.upload(name, 'hello')
    const { shares } = (
      await ask(kim, SHARE, { input: { email: leo.email, entries: files('a', 'b', 'c') } })
    ).createDirectShare
    const [a, b, c] = shares.map(({ id }: { id: string }) => id)
    const mark = (share: object, person = leo) => ask(person, SEEN, { input: { share } })
    expect(await mark({ token: shares[0].token })).toEqual({
      markShareSeen: { share: { id: a, seen: true }, viewer: { unseenShareCount: 2 } },
    })
    expect(await mark({ id: b })).toEqual({
      markShareSeen: { share: { id: b, seen: true }, viewer: { unseenShareCount: 1 } },
    })
    const idsOf = async (variables: object) => {
      const { me } = await ask(leo, RECEIVED, variables)
      return [me.unseenShareCount, me.receivedShares.nodes.map(({ id }: { id: string }) => id)]
    }
    expect(await idsOf({})).toEqual([1, [a, b, c]])
    expect(await idsOf({ seen: true })).toEqual([1, [a, b]])
    expect(await idsOf({ seen: false })).toEqual([1, [c]])
    for (const [share, person] of [
      [{ id: c }, kim],
      [{ id: c }, carol],
      [{ token: 'x' }, leo],
      [{ id: newId() }, leo],
    ] as const)
      expect(await codeOf(person, SEEN, { input: { share } })).toBe('SHARE_NOT_FOUND')
  })

  it('node finds a share only for its sharer and its recipient', async () => {
    const { sharer, token } = await newShare('mo', bob)
    const NODE = 'query ($id: ID!) { node(id: $id) { ... on DirectShare { token } } }'
    const { nodes } = (await ask(sharer, SENT)).me.shares
    const id = nodes[0].id
    for (const person of [sharer, bob])
      expect(await ask(person, NODE, { id })).toEqual({ node: { token } })
    expect(await ask(carol, NODE, { id })).toEqual({ node: null })
  })

  it('createDirectShare and markShareSeen refuse invalid and unauthenticated requests', async () => {
    const input = { email: 'bob@example.com', entries: files('docs/a.txt') }
    expect(await codeOf(t.anonymous, SHARE, { input })).toBe('UNAUTHENTICATED')
    expect(await codeOf(t.anonymous, RECEIVED)).toBe('UNAUTHENTICATED')
    expect(await codeOf(t.anonymous, SEEN, { input: { share: { token: 'x' } } })).toBe(
      'UNAUTHENTICATED',
    )
    const before = await rows()
    const refusal = async (changes: object) =>
      (await alice.graphql(SHARE, { input: { ...input, ...changes } })).errors?.[0]?.extensions
    expect(await refusal({ email: 'alice@example.com' })).toEqual({
      code: 'INVALID_INPUT',
      field: 'input.email',
    })
    expect(await refusal({ entries: files('docs/a.txt', 'none') })).toEqual({
      code: 'FILE_NOT_FOUND',
      path: 'none',
    })
    expect(await refusal({ entries: files('a/../b') })).toMatchObject({ code: 'INVALID_PATH' })
    expect(await refusal({ entries: [] })).toEqual({
      code: 'INVALID_INPUT',
      field: 'input.entries',
    })
    expect(await refusal({ duration: 'x' })).toEqual({
      code: 'INVALID_DURATION',
      field: 'input.duration',
    })
    const foreign = (await ask(await t.signIn('nia'), '{ me { drive { id } } }')).me.drive.id
    expect(await refusal({ entries: [{ at: { drive: foreign, path: 'a' } }] })).toEqual({
      code: 'FORBIDDEN',
    })
    expect(await rows()).toEqual(before)
  })
})
