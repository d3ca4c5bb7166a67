import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { plainFileName, plainName } from '../../../src/jobs/mail-name.ts'
import { ask } from '../../support/ask.ts'
import { found, join, ROOMY, UNHURRIED } from '../../support/builders.ts'
import { type Person, startApp, type TestApp } from '../../support/harness.ts'
import {
  type MailServer,
  polite,
  type ReceivedMail,
  startMailServer,
} from '../../support/mail-server.ts'

const FROM_ONE = 3
const FROM_ALL = 5
const HOUR = 3_600_000

let server: MailServer
let t: TestApp
let alice: Person
/** A new address for every test, without an account. */
let bob: string
let round = 0

beforeAll(async () => {
  server = await startMailServer()
  t = await startApp({
    ...UNHURRIED,
    SMTP_URL: server.url,
    MAILS_FROM_ONE: String(FROM_ONE),
    MAILS_FROM_ALL: String(FROM_ALL),
  })
  await t.limit(ROOMY)
})
afterAll(async () => {
  await t?.stop()
  await server?.stop()
})
beforeEach(async () => {
  server.manners = polite()
  alice = await person(`alice${++round}`)
  bob = `bob${round}@example.com`
})

async function person(name: string, options?: { emailVerified: boolean }): Promise<Person> {
  const who = await t.signIn(name, options)
  for (const file of ['a.txt', 'b.txt', 'c.txt', 'd.txt', 'e.txt', 'f.txt'])
    await who.upload(file, 'x')
  return who
}

const share = async (who: Person, objects: string[], email = bob) => {
  const { status, response } = await who.rest('POST', '/api/files/share', {
    json: { email, objects, send_email: true },
  })
  return [status, response.notification_status]
}
const invite = (who: Person, workspace_id: string, email = bob) =>
  who.rest('POST', '/api/workspaces/invites/create', {
    json: { workspace_id, email, role: 'editor' },
  })

/** The mails that an action causes, after all are sent. */
async function mailsOf(act: () => Promise<unknown>): Promise<ReceivedMail[]> {
  await t.app.worker.idle()
  const before = server.received.length
  await act()
  await t.app.worker.idle()
  return server.received.slice(before)
}

const later = (ms: number) => t.app.db.run('UPDATE mail_notice SET sent_at = sent_at - ?', [ms])
const received = async (email: string) =>
  (await (await t.signIn(email)).rest('GET', '/api/files/received')).response.files.length

const QUEUED = [200, 'queued']
const NOT_SENT = [200, 'not_sent']

describe('Mails from one user to one address', () => {
  it('are limited per day; sharing still works', async () => {
    const files = ['a.txt', 'b.txt', 'c.txt', 'd.txt']
    const answers: unknown[] = []
    const mails = await mailsOf(async () => {
      for (const file of files) answers.push(await share(alice, [file]))
    })
    expect(answers).toEqual([QUEUED, QUEUED, QUEUED, NOT_SENT])
    expect(mails.map(mail => mail.to)).toEqual(Array(FROM_ONE).fill([bob]))
    expect(await received(bob)).toBe(files.length)
    // Another address and another day have separate limits.
    expect(await share(alice, ['a.txt'], `other-${bob}`)).toEqual(QUEUED)
    await later(24 * HOUR)
    expect(await share(alice, ['d.txt'])).toEqual(QUEUED)
  })

  it('are limited together with invites; inviting still works', async () => {
    const places = [await found(alice, 'A'), await found(alice, 'B'), await found(alice, 'C')]
    const mails = await mailsOf(async () => {
      await share(alice, ['a.txt'])
      for (const place of places) expect((await invite(alice, place)).status).toBe(200)
    })
    expect(mails).toHaveLength(FROM_ONE)
    const guest = await t.signIn(bob)
    expect((await guest.rest('GET', '/api/workspaces/invites/mine')).response).toHaveLength(
      places.length,
    )
  })

  it('are limited exactly when they are requested at once', async () => {
    const files = ['a.txt', 'b.txt', 'c.txt', 'd.txt', 'e.txt', 'f.txt']
    const mails = await mailsOf(() => Promise.all(files.map(file => share(alice, [file]))))
    expect(mails).toHaveLength(FROM_ONE)
  })
})

describe('Mails from all users to one address', () => {
  it('are limited per day, however many users send them, also at once', async () => {
    const people = await Promise.all(
      Array.from({ length: FROM_ALL + 3 }, (_, i) => person(`crowd${round}-${i}`)),
    )
    const mails = await mailsOf(() => Promise.all(people.map(who => share(who, ['a.txt']))))
    expect(mails).toHaveLength(FROM_ALL)
    expect(await share(alice, ['a.txt'])).toEqual(NOT_SENT)
    await later(24 * HOUR)
    expect(await share(alice, ['a.txt'])).toEqual(QUEUED)
  })
})

describe('A renewal', () => {
  it('of a share sends no mail within an hour, and one afterwards', async () => {
    const mails = await mailsOf(async () => {
      expect(await share(alice, ['a.txt', 'b.txt'])).toEqual(QUEUED)
      expect(await share(alice, ['b.txt', 'a.txt'])).toEqual(NOT_SENT)
    })
    expect(mails).toHaveLength(1)
    await later(HOUR)
    expect(await share(alice, ['a.txt', 'b.txt'])).toEqual(QUEUED)
  })

  it('of an invite sends no mail within an hour, even by another member or after a withdrawal', async () => {
    const place = await found(alice)
    const carol = await t.signIn(`carol${round}`)
    await join(t, place, carol, 'admin')
    const mails = await mailsOf(async () => {
      const { response } = await invite(alice, place)
      await invite(carol, place)
      await alice.rest(
        'DELETE',
        `/api/workspaces/invites/delete?workspace_id=${place}&invite_id=${response.id}`,
      )
      await invite(alice, place)
    })
    expect(mails).toHaveLength(1)
    await later(HOUR)
    expect(await mailsOf(() => invite(alice, place))).toHaveLength(1)
  })
})

describe('A user without a verified address', () => {
  it('sends no mail; sharing and inviting still work', async () => {
    const eve = await person(`eve${round}`, { emailVerified: false })
    const place = await found(eve)
    const mails = await mailsOf(async () => {
      expect(await share(eve, ['a.txt'])).toEqual(NOT_SENT)
      expect((await invite(eve, place)).status).toBe(200)
      const SHARE =
        'mutation ($input: CreateDirectShareInput!) { createDirectShare(input: $input) { mail } }'
      const input = { email: bob, entries: [{ at: { path: 'b.txt' } }], sendEmail: true }
      expect(await ask(eve, SHARE, { input })).toEqual({ createDirectShare: { mail: 'NOT_SENT' } })
    })
    expect(mails).toEqual([])
    expect(await received(bob)).toBe(2)
    const guest = await t.signIn(bob)
    expect((await guest.rest('GET', '/api/workspaces/invites/mine')).response).toHaveLength(1)
  })
})

describe('Names in mails', () => {
  it.each([
    ['Alice Example', 'Alice Example'],
    ['J. R. R. Tolkien', 'J. R. R. Tolkien'],
    ['Build 1.2', 'Build 1.2'],
    [
      'Your account at https://evil.example/login is locked',
      'Your account at evil example login is locked',
    ],
    ['www.evil.example', 'evil example'],
    ['HTTPS://EVIL.EXAMPLE', 'EVIL EXAMPLE'],
    ['go to evil。example now', 'go to evil example now'],
    ['10.0.0.1/x', '10 0 0 1/x'],
    ['Garden & "Co"', 'Garden & "Co"'],
    ['evil.\u200bexample', 'evil example'],
    ['support@bank.example', 'support at bank example'],
    ['two\r\nlines\u202e\u2028', 'two lines'],
    ['x'.repeat(200), `${'x'.repeat(63)}…`],
  ])('are shortened to a plausible name: %s', (name, shown) => {
    expect(plainName(name)).toBe(shown)
  })

  it.each([
    ['report.pdf', 'report.pdf'],
    ['archive.tar.gz', 'archive.tar.gz'],
    ['photo@2x.png', 'photo at 2x.png'],
    ['Makefile', 'Makefile'],
    ['evil.com', 'evil com'],
    ['login.bank.example', 'login bank example'],
    ['visit evil.com now.pdf', 'visit evil com now.pdf'],
    ['http:evil.example.pdf', 'http:evil example.pdf'],
    ['www.evil.example.pdf', 'evil example.pdf'],
    ['evil.com?invoice.pdf', 'evil com invoice.pdf'],
    ['evil.com#your-bill.pdf', 'evil com your-bill.pdf'],
    ['evil.com:8080.pdf', 'evil com 8080.pdf'],
    ['evil.com\u2044login.pdf', 'evil com login.pdf'],
    ['login.microsoft.zip', 'login microsoft zip'],
    [`${'x'.repeat(200)}.pdf`, `${'x'.repeat(59)}….pdf`],
    ['\u202e', ''],
  ])('of files are shortened as well: %s', (name, shown) => {
    expect(plainFileName(name)).toBe(shown)
  })

  it('are followed by the sender’s address, which no name can hide', async () => {
    const evil =
      'Bank security https://evil.example/pay — your account is locked, call us at once or lose all of it'
    await t.app.db.run('UPDATE user SET name = ? WHERE id = ?', [evil, alice.userId])
    const place = await found(alice, `http://evil.example/${'y'.repeat(40)}`)
    const mails = await mailsOf(async () => {
      await share(alice, ['a.txt'])
      await invite(alice, place)
    })
    expect(mails).toHaveLength(2)
    for (const mail of mails) {
      const subject = mail.header('subject') ?? ''
      expect(subject).toMatch(/^Bank security evil example pay — /)
      expect(mail.text).toContain(`(${alice.email})`)
      expect(mail.html).toContain(`(<span dir="auto">${alice.email}</span>)`)
      for (const body of [mail.text, mail.html]) {
        expect(body.replaceAll(t.url, '')).not.toMatch(/https?:|evil\.example/)
      }
      expect(subject).not.toMatch(/https?:|evil\.example/)
    }
  })
})

describe('The unsubscribe link of a mail', () => {
  const page = (
    method: string,
    path: string,
    headers: Record<string, string> = {},
    body?: string,
  ) =>
    fetch(`${t.url}${path}`, {
      method,
      headers: { accept: 'text/html', ...headers },
      ...(body ? { body } : {}),
    })
  async function linkIn(): Promise<string> {
    const [mail] = await mailsOf(() => share(alice, ['a.txt']))
    const link = mail?.header('list-unsubscribe') ?? ''
    expect(link).toBe(`<${t.url}/unsubscribe/${link.slice(-44, -1)}>`)
    expect(mail?.header('list-unsubscribe-post')).toBe('List-Unsubscribe=One-Click')
    // A header may be folded before the link, but not within it.
    expect(mail?.raw.replace(/:\s+</, ': <')).toContain(`\r\nList-Unsubscribe: ${link}\r\n`)
    for (const body of [mail?.text, mail?.html]) expect(body).toContain(link.slice(1, -1))
    return link.slice(t.url.length + 1, -1)
  }

  it('opens a page whose form unsubscribes without an account, and can be undone', async () => {
    const path = await linkIn()
    for (const method of ['GET', 'HEAD', 'GET']) {
      const looked = await page(method, path)
      expect(looked.status).toBe(200)
      const html = await looked.text()
      if (method === 'GET')
        expect(html).toContain(`<form class="actions" method="post" action="${path}">`)
      expect(html).not.toContain(bob)
    }
    expect(await share(alice, ['b.txt'])).toEqual(QUEUED)
    const stopped = await page('POST', path, { origin: t.url })
    expect([stopped.status, await stopped.text()]).toEqual([
      200,
      expect.stringContaining(`action="${path}/resume"`),
    ])
    const none = await mailsOf(async () => {
      expect(await share(alice, ['c.txt'])).toEqual(NOT_SENT)
      expect((await invite(alice, await found(alice))).status).toBe(200)
      // The limit ignores the case of the address.
      expect(await share(await person(`dave${round}`), ['c.txt'], bob.toUpperCase())).toEqual(
        NOT_SENT,
      )
    })
    expect(none).toEqual([])
    expect((await page('GET', path)).status).toBe(200)
    expect((await page('POST', `${path}/resume`, { origin: t.url })).status).toBe(200)
    expect(await share(alice, ['d.txt'])).toEqual(QUEUED)
  })

  it.each([
    [
      'as a form',
      { 'content-type': 'application/x-www-form-urlencoded' },
      'List-Unsubscribe=One-Click',
    ],
    [
      'as multipart',
      { 'content-type': 'multipart/form-data; boundary=b' },
      '--b\r\nContent-Disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--b--\r\n',
    ],
    [
      'from a mail program in a browser',
      {
        'content-type': 'application/x-www-form-urlencoded',
        origin: 'https://mail.example',
        'sec-fetch-site': 'cross-site',
      },
      'List-Unsubscribe=One-Click',
    ],
  ])('works with one click %s', async (_how, headers, body) => {
    const path = await linkIn()
    expect((await page('POST', path, headers, body)).status).toBe(200)
    expect(await share(alice, ['b.txt'])).toEqual(NOT_SENT)
  })

  it('also stops queued mails', async () => {
    const path = await linkIn()
    server.manners.onRcptTo = async () => {
      await page('POST', path)
      throw Object.assign(new Error('Later'), { responseCode: 451 })
    }
    const mails = await mailsOf(async () => {
      await share(alice, ['b.txt'])
      await t.app.worker.idle()
      server.manners = polite()
      await t.app.db.run("UPDATE outbox SET due_at = 0 WHERE kind = 'mail'")
      t.app.worker.wake()
    })
    expect(mails).toEqual([])
    expect(await t.app.db.rows("SELECT id FROM outbox WHERE kind = 'mail'")).toEqual([])
  })

  it('cannot be guessed or forged', async () => {
    const path = await linkIn()
    const last = path.at(-2) === 'A' ? 'B' : 'A'
    for (const bad of [
      `${path.slice(0, -2)}${last}${path.at(-1)}`,
      '/unsubscribe/x',
      `/unsubscribe/${'A'.repeat(43)}`,
    ])
      for (const method of ['GET', 'POST']) expect((await page(method, bad)).status).toBe(404)
    expect(await share(alice, ['b.txt'])).toEqual(QUEUED)
  })

  it('stores no address, only a keyed hash', async () => {
    await linkIn()
    const rows = await t.app.db.rows<object>('SELECT * FROM mail_recipient')
    expect(JSON.stringify(rows)).not.toContain('@')
    expect(JSON.stringify(await t.app.db.rows<object>('SELECT * FROM mail_notice'))).not.toContain(
      '@',
    )
    await later(24 * HOUR)
    await t.settle()
    expect(await t.app.db.rows('SELECT id FROM mail_notice')).toEqual([])
  })
})
