import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { v7 as newId } from 'uuid'
import { type Db, openDatabase } from '../../db/index.ts'
import { GIVEN_UP } from '../../db/queries/job.ts'
import { ownBrand } from '../../src/config/brand.ts'
import { readConfig } from '../../src/config/config.ts'
import { createMailer } from '../../src/jobs/mail.ts'
import { backoff, createWorker, type Worker, type WorkerOptions } from '../../src/jobs/worker.ts'
import { createLog } from '../../src/runtime/log.ts'
import { sessionService } from '../../src/services/accounts/session.ts'
import { type Job, type JobKind, type JobRun, USUAL_AT_A_TIME } from '../../src/services/job.ts'
import { type Mail, mailJob } from '../../src/services/notices/mail.ts'
import { contentsJob } from '../../src/services/search/search-text.ts'
import { purgeFolderJob } from '../../src/services/tree/purge.ts'
import { momentText } from '../../src/values/moment.ts'
import { ask, codeOf } from '../support/ask.ts'
import { startBuilt } from '../support/built-service.ts'
import { findingsOf } from '../support/consistency.ts'
import {
  blobFolderOf,
  newDatabase,
  type Person,
  startApp,
  type TestApp,
} from '../support/harness.ts'
import {
  type MailServer,
  parseMail,
  polite,
  type ReceivedMail,
  refusal,
  startMailServer,
} from '../support/mail-server.ts'
import { anId } from '../support/shapes.ts'
import { until } from '../support/until.ts'

const DAY = 86_400_000

let server: MailServer
let database: { url: string; drop(): Promise<void> }
let t: TestApp
let alice: Person

beforeAll(async () => {
  server = await startMailServer()
  database = await newDatabase()
  t = await startApp({
    DATABASE_URL: database.url,
    SMTP_URL: server.url,
    MAIL_FROM: 'Satchel, the service <satchel@files.example>',
    RATE_SHARING: '1000000',
    RATE_INVITES: '1000000',
    MAILS_FROM_ONE: '1000000',
    MAILS_FROM_ALL: '1000000',
  })
  alice = await t.signIn('alice')
  await alice.upload('docs/a.txt', 'hello', 'text/plain')
})
afterAll(async () => {
  await t.stop()
  await server.stop()
  await database.drop()
})
afterEach(() => {
  server.manners = polite()
})

/** Waits for a condition. */
/** The mails that an action causes, after all are sent. */
async function mailsOf(act: () => Promise<unknown>): Promise<ReceivedMail[]> {
  const before = server.received.length
  await act()
  await t.app.worker.idle()
  return server.received.slice(before)
}

const share = (json: object, person = alice) =>
  person.rest('POST', '/api/files/share', {
    json: { email: 'bob@example.com', objects: ['docs/a.txt'], send_email: true, ...json },
  })

const HEADERS =
  'from to subject message-id auto-submitted list-unsubscribe list-unsubscribe-post content-transfer-encoding date mime-version content-type'

/** The unsubscribe link. */
const stopOf = (mail: ReceivedMail) => mail.header('list-unsubscribe')?.slice(1, -1) ?? ''

/** Checks the rules for every mail, whatever names it contains. */
function expectHarmless(mail: ReceivedMail, to: string): void {
  expect([mail.from, mail.to]).toEqual(['satchel@files.example', [to]])
  const names = mail.headers.map(([name]) => name)
  expect(names.filter(name => !HEADERS.split(' ').includes(name))).toEqual([])
  expect(new Set(names).size).toBe(names.length)
  expect(mail.header('subject')?.length).toBeLessThan(500)
  expect(mail.header('from')).toBe('"Satchel, the service" <satchel@files.example>')
  expect(mail.header('to')).toBe(to)
  expect(mail.header('message-id')).toMatch(/^<[0-9a-f-]{36}@satchel>$/)
  expect(mail.raw.split('\r\n').filter(line => line.length > 998)).toEqual([])
  for (const [, value] of mail.headers)
    expect(value).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Cs}\ufffd]/u)
  for (const body of [mail.text, mail.html]) expect(body).not.toMatch(/[\p{Bidi_Control}\ufffd]/u)
  // Only Outlook reads these comments. The style sheet is the same in each mail.
  const html = mail.html
    .replace(/<!--\[if mso\]>.*?<!\[endif\]-->/g, '')
    .replace(/<style>[^<]*<\/style>/, '')
  const tags = html.match(/<[^>]*>/g) ?? []
  const tag =
    /^<\/?(html|head|meta|title|body|table|tr|td|p|a|br|span|strong)( (lang|dir|charset|name|content|class|role|width|border|cellpadding|cellspacing|align|style)="[\w:;,.#%!()'= -]*"| href="http:\/\/[\w./:-]+")*>$/
  expect(tags.slice(1).filter(one => !tag.test(one))).toEqual([])
  expect(mail.html).not.toMatch(/url\(|@import/)
  expect(html.replace(/<[^>]*>/g, '')).not.toMatch(/[<>]|&(?!(amp|lt|gt|quot|#39);)/)
}

/** The HTML of a mail without its layout. */
const saidIn = (mail: ReceivedMail | undefined) =>
  (mail?.html ?? '')
    .replace(/<style>[^<]*<\/style>|<title>[^<]*<\/title>|<[^>]*>/g, '')
    .replace(/\s+/g, ' ')
    .trim()

/** The targets of its buttons and links, by their labels. */
const linksIn = (mail: ReceivedMail | undefined) =>
  Array.from(
    (mail?.html ?? '').matchAll(/<a [^>]*?href="([^"]+)"[^>]*>([^<]*)<\/a>/g),
    ([, url, title]) => [title, url],
  )

describe('The language of a mail', () => {
  const speak = (name: string, language: string | null) =>
    t.app.db.run('UPDATE user SET language = ? WHERE email = ?', [language, `${name}@example.com`])

  it('is that of a known recipient, else that of the sender', async () => {
    const dora = await t.signIn('dora')
    await alice.upload('docs/other.txt', 'hello', 'text/plain')
    const to = { email: dora.email }
    await speak('dora', 'de')
    await speak('alice', 'en')
    const [german] = await mailsOf(() => share(to))
    expect(german?.header('subject')).toBe('alice teilt „a.txt“ mit dir')
    expect(german?.html).toContain('<html lang="de"')
    expect(german?.text).toContain('Solche Mails an deine Adresse abbestellen')
    await speak('dora', 'en')
    const [english] = await mailsOf(() => share({ ...to, objects: ['docs/other.txt'] }))
    expect(english?.header('subject')).toBe('alice shares "other.txt" with you')
    await speak('alice', 'de')
    const [unknown] = await mailsOf(() => share({ email: 'new@example.com' }))
    expect(unknown?.header('subject')).toBe('alice teilt „a.txt“ mit dir')
    await speak('alice', null)
  })

  it('is kept from the first sign-in', async () => {
    const franz = await t.signIn('franz')
    const sessions = sessionService({ db: t.app.db, sessionSeconds: 60 })
    const enter = async (language: 'de' | 'en') => {
      await sessions.start(franz.userId, { device: '', address: '', known: true, language })
      return t.app.db.row('SELECT language FROM user WHERE id = ?', [franz.userId])
    }
    expect(await enter('de')).toEqual({ language: 'de' })
    expect(await enter('en')).toEqual({ language: 'de' })
  })
})

describe('A mail about shared files', () => {
  it('names the sender, the file, the expiry and the link', async () => {
    let made: { sharing_link: string; expires_at: string } | undefined
    const [mail, ...more] = await mailsOf(async () => {
      const { response } = await share({ email: 'Bob@Example.com' })
      made = response.sharing_info[0]
    })
    if (!mail || !made) throw new Error('There is no mail.')
    expect(more).toEqual([])
    expectHarmless(mail, 'bob@example.com')
    expect(mail.header('subject')).toBe('alice shares "a.txt" with you')
    expect(mail.header('auto-submitted')).toBe('auto-generated')
    expect(mail.header('content-type')).toMatch(/^multipart\/alternative;/)
    expect(Math.abs(Date.parse(mail.header('date') ?? '') - Date.now())).toBeLessThan(60_000)
    expect(mail.text).toBe(
      [
        'alice (alice@example.com) shares "a.txt" with you.',
        'a.txt (5 B)',
        `Until: ${momentText(Date.parse(made.expires_at))}`,
        `Open:\n${made.sharing_link}`,
        `--\nYou get this mail because alice@example.com gave your address to Satchel. If you do not know them, ignore it.\nStop such mails to your address: ${stopOf(mail)}`,
      ].join('\n\n'),
    )
    expect(linksIn(mail)).toEqual([
      ['Open', made.sharing_link],
      ['Stop such mails to your address', stopOf(mail)],
    ])
    expect(saidIn(mail)).toContain('alice (alice@example.com) shares &quot;a.txt&quot; with you.')
    expect(await t.app.db.rows("SELECT id FROM outbox WHERE kind = 'mail'")).toEqual([])
  })

  it('names all files, and mentions a password without revealing it', async () => {
    for (const name of ['b', 'c']) await alice.upload(`docs/${name}.txt`, name)
    const objects = ['docs/a.txt', 'docs/b.txt', 'docs/c.txt']
    const [mail] = await mailsOf(() => share({ objects, password: 'hush hush' }))
    expect(mail?.header('subject')).toBe('alice shares 3 files with you')
    for (const body of [mail?.text, mail?.html]) {
      expect(body).toContain('You need a password, which the sender will give you in another way.')
      for (const name of ['a.txt', 'b.txt', 'c.txt']) expect(body).toContain(name)
    }
    expect(mail?.text.match(/http:\/\/\S+\/share\/[\w-]{43}/g)).toHaveLength(3)
    expect(mail?.raw).not.toContain('hush')
    expect(linksIn(mail).map(([title]) => title)).toEqual([
      ...['a.txt', 'b.txt', 'c.txt'],
      ...['See everything shared with you', 'Stop such mails to your address'],
    ])
    expect(linksIn(mail)[3]?.[1]).toBe(`${t.url}/shared`)
  })

  it('lists several files of one share together', async () => {
    for (const name of ['b', 'c']) await alice.upload(`docs/${name}.txt`, name)
    const SHARE =
      'mutation ($input: CreateDirectShareInput!) { createDirectShare(input: $input) { mail } }'
    const entries = ['a', 'b', 'c'].map(name => ({ at: { path: `docs/${name}.txt` } }))
    const input = { email: 'heidi@example.com', entries, together: true, sendEmail: true }
    const [mail] = await mailsOf(() => ask(alice, SHARE, { input }))
    expect(mail?.header('subject')).toBe('alice shares "a.txt and 2 more" with you')
    expect(mail?.text.match(/http:\/\/\S+\/share\/[\w-]{43}/g)).toHaveLength(1)
  })

  it('includes the message of the sender, as text without links', async () => {
    const SHARE =
      'mutation ($input: CreateDirectShareInput!) { createDirectShare(input: $input) { mail } }'
    const message =
      'Dear Bob,\r\n\r\nsee <b>page 3</b> & call me.\nhttps://evil.example/pay?now  bob@evil.example\n\n\n\nשלום\u202e'
    const input = {
      email: 'frida@example.com',
      entries: [{ at: { path: 'docs/a.txt' } }],
      sendEmail: true,
      message,
    }
    const [mail] = await mailsOf(() => ask(alice, SHARE, { input }))
    if (!mail) throw new Error('There is no mail.')
    expectHarmless(mail, 'frida@example.com')
    expect(mail.text).toContain(
      [
        'alice writes:',
        ...[
          '> Dear Bob,',
          '>',
          '> see <b>page 3</b> & call me.',
          '> evil example pay?now bob at evil example',
        ],
        ...['>', '> שלום', '', 'a.txt (5 B)'],
      ].join('\n'),
    )
    expect(saidIn(mail)).toContain('see &lt;b&gt;page 3&lt;/b&gt; &amp; call me.')
    const json = {
      email: 'gerda@example.com',
      objects: ['docs/a.txt'],
      send_email: true,
      message: 'By REST.',
    }
    const [plain] = await mailsOf(() => alice.rest('POST', '/api/files/share', { json }))
    expect(plain?.text).toContain('alice writes:\n> By REST.')
    const longer = { input: { ...input, message: 'x'.repeat(1001) } }
    expect(await codeOf(alice, SHARE, longer)).toBe('INVALID_INPUT')
    expect(await t.app.db.rows("SELECT id FROM outbox WHERE payload LIKE '%Dear Bob%'")).toEqual([])
  })

  it('links to the file', async () => {
    const [mail] = await mailsOf(() => share({ email: 'carol@example.com' }))
    const token = /\/share\/([\w-]{43})/.exec(mail?.text ?? '')?.[1]
    const carol = await t.signIn('carol')
    const { headers } = await carol.rest('GET', `/api/d/${token}`)
    expect(await (await fetch(headers.get('location') ?? '')).text()).toBe('hello')
  })

  it('is sent only on request, and only if something was shared', async () => {
    const none = await mailsOf(async () => {
      await share({ send_email: false })
      await share({ objects: ['docs/a.txt', 'docs/none'] })
      await share({ email: 'alice@example.com' })
    })
    expect(none).toEqual([])
  })
})

describe('A mail about an invite', () => {
  it('names the inviter, the workspace, the role and the link', async () => {
    const { response } = await alice.rest('POST', '/api/workspaces/create', {
      json: { name: 'Garden & "Co"' },
    })
    const { workspace_id } = response.workspace
    const invite = { workspace_id, email: 'DORA@example.com', role: 'editor' }
    const [mail, ...more] = await mailsOf(() =>
      alice.rest('POST', '/api/workspaces/invites/create', { json: invite }),
    )
    if (!mail) throw new Error('There is no mail.')
    expect(more).toEqual([])
    expectHarmless(mail, 'dora@example.com')
    expect(mail.header('subject')).toBe('alice invites you to Garden & "Co"')
    const dora = await t.signIn('dora')
    const [{ token }] = (await dora.rest('GET', '/api/workspaces/invites/mine')).response
    const link = `${t.url}/invite/${token}`
    expect(mail.text).toContain(
      `alice (alice@example.com) invites you to the workspace "Garden & "Co"" as editor.\n\nValid for: 7 days`,
    )
    expect(mail.text).toContain(`Open the invite:\n${link}\n`)
    expect(saidIn(mail)).toContain(
      'the workspace &quot;Garden &amp; &quot;Co&quot;&quot; as editor',
    )
    expect(linksIn(mail)[0]).toEqual(['Open the invite', link])
  })

  it('includes the message of the sender, in text and HTML', async () => {
    const { response } = await alice.rest('POST', '/api/workspaces/create', {
      json: { name: 'Orchard' },
    })
    const { workspace_id: workspace } = response.workspace
    const INVITE =
      'mutation ($input: CreateInviteInput!) { createInvite(input: $input) { invite { id } } }'
    const input = {
      workspace,
      email: 'emil@example.com',
      role: 'VIEWER',
      message: 'Dear Emil,\nsee https://evil.example/',
    }
    const [mail] = await mailsOf(() => ask(alice, INVITE, { input }))
    if (!mail) throw new Error('There is no mail.')
    expectHarmless(mail, 'emil@example.com')
    expect(mail.text).toContain('alice writes:\n> Dear Emil,\n> see evil example')
    const json = {
      workspace_id: workspace,
      email: 'hans@example.com',
      role: 'viewer',
      message: 'By REST.',
    }
    const invite = () => alice.rest('POST', '/api/workspaces/invites/create', { json })
    expect((await mailsOf(invite))[0]?.text).toContain('alice writes:\n> By REST.')
    const message = 'x'.repeat(1001)
    expect(await codeOf(alice, INVITE, { input: { ...input, message } })).toBe('INVALID_INPUT')
    expect(
      (await alice.rest('POST', '/api/workspaces/invites/create', { json: { ...json, message } }))
        .status,
    ).toBe(400)
  })
})

describe('Malicious names', () => {
  const names = [
    'a"b\'c.txt',
    '<script>alert(1)</script>.txt'.replace('/', '\u2215'),
    '"><img src=x onerror=alert(1)>.txt',
    '&lt;b&gt;&amp;.txt',
    'annex\u202egpj.exe',
    '\u2066hidden\u2069 \u200fmark\u200e\u061c.txt',
    'line\u2028separator\u2029.txt',
    '=?utf-8?B?QmNjOiBldmVAZXhhbXBsZS5jb20=?=',
    'Bcc: eve@example.com',
    `${'🦊'.repeat(62)}.txt`,
    'ü'.repeat(127),
    '.',
    'שלום.txt',
  ].filter(name => name !== '.')

  /** Names with more than a name in them. */
  const cut = new Map([
    ['Bcc: eve@example.com', 'Bcc: eve at example com'],
    [`${'🦊'.repeat(62)}.txt`, `${'🦊'.repeat(59)}….txt`],
    ['ü'.repeat(127), `${'ü'.repeat(63)}…`],
  ])

  it.each(names)('of files stay plain text: %s', async name => {
    const eve = await t.signIn('eve')
    const form = new FormData()
    form.append('file', new Blob(['x']), 'plain')
    await eve.rest('POST', '/api/files/upload', { form })
    const moved = await eve.rest('POST', '/api/files/move', {
      json: { source: 'plain', destination: name },
    })
    expect(moved.status).toBe(200)
    const [mail] = await mailsOf(() => share({ objects: [name] }, eve))
    if (!mail) throw new Error('There is no mail.')
    expectHarmless(mail, 'bob@example.com')
    const line = name.replace(/[\p{Zl}\p{Zp}\p{Bidi_Control}]+/gu, ' ').trim()
    const shown = cut.get(name) ?? line.replace(/ +/g, ' ').replace(' .', '.')
    expect(mail.header('subject')).toBe(`eve shares "${shown}" with you`)
    expect(mail.text).toContain(`\n${shown} (1 B)\n`)
    await eve.rest('DELETE', `/api/files/delete?file=${encodeURIComponent(name)}`)
  })

  it('of people and workspaces stay plain text, even if they come from the database', async () => {
    const evil =
      'Eve\r\nBcc: victim@example.com\r\nSubject: you won\r\n\r\n<a href="http://evil.example">click</a>\u202e\0'
    const long = `${'x'.repeat(199)}🦊${'y'.repeat(5000)}`
    const mails: Mail[] = [
      {
        template: 'invite',
        to: 'bob@example.com',
        values: { workspace: evil, role: 'editor', by: evil, link: `${t.url}/invite/x` },
      },
      {
        template: 'invite',
        to: 'bob@example.com',
        values: { workspace: long, role: 'editor', by: long, link: `${t.url}/invite/x` },
      },
      {
        template: 'share',
        to: 'bob@example.com',
        values: {
          by: evil,
          files: [evil, long],
          links: [`${t.url}/share/1`, `${t.url}/share/2`],
          expires: '2030-01-01T00:00:00.000Z',
          protected: true,
        },
      },
    ]
    const sent = await mailsOf(async () => {
      for (const mail of mails) await queue(mail)
    })
    expect(sent).toHaveLength(3)
    for (const mail of sent) {
      expectHarmless(mail, 'bob@example.com')
      expect(mail.text).not.toMatch(/^(Bcc|Subject):/m)
    }
    expect(sent.map(mail => mail.header('subject')).sort()[0]).toMatch(
      /^Eve Bcc: victim at example com Subject: you won <a href=/,
    )
  })

  it.each([
    'bob+tag_1.x@example.com',
    "o'neill@example.com",
    'bob@exämple.com',
    'jürgen@example.com',
  ])('of addresses stay plain text: %s', async email => {
    const [mail, ...more] = await mailsOf(() => share({ email }))
    expect([mail?.to, more]).toEqual([[email], []])
  })
})

/** Queues a mail in a transaction, as a change does. */
async function queue(
  mail: Partial<Mail> = {},
  { createdAt = Date.now(), on = t.app.db } = {},
): Promise<string> {
  const id = newId()
  const whole = {
    template: 'invite',
    to: 'bob@example.com',
    values: { workspace: 'W', role: 'editor', by: 'alice', link: `${t.url}/invite/${id}` },
    ...mail,
  }
  await on.run(
    "INSERT INTO outbox (id, kind, payload, attempts, due_at, last_error, created_at) VALUES (?, 'mail', ?, 0, ?, '', ?)",
    [id, JSON.stringify(whole), Date.now(), createdAt],
  )
  return id
}

const idOf = (mail: ReceivedMail) =>
  /<(.+)@satchel>/.exec(mail.header('message-id') ?? '')?.[1] ?? ''

interface Row {
  id: string
  attempts: number
  dueAt: number
  lastError: string
}
const rows = (id = '') =>
  t.app.db.rows<Row>(
    `SELECT id, attempts, due_at AS dueAt, last_error AS lastError FROM outbox WHERE kind = 'mail' AND ${id ? 'id = ?' : "id > ''"} ORDER BY id`,
    id ? [id] : [],
  )

describe('The outbox', () => {
  const workers: Worker[] = []
  let other: Db
  const silent = createLog({ logLevel: 'silent' })

  beforeAll(async () => {
    // From here on, the tests create the workers, to accelerate, duplicate and kill them.
    await t.app.worker.stop()
    other = openDatabase(readConfig({ DATABASE_URL: database.url }).database, { pool: 3 })
  })
  beforeEach(async () => {
    await t.app.db.run('DELETE FROM outbox')
    server.received.length = 0
    server.begun = 0
  })
  afterEach(() => end(workers.splice(0)))
  afterAll(() => other.close())

  const end = (some: Worker[]) => Promise.all(some.map(worker => worker.stop()))

  /** A kind of job that does something else. */
  const jobLike = <Payload>(
    job: Job<JobKind, Payload>,
    act: (payload: Payload, run: JobRun) => Promise<void>,
  ): Job<JobKind, never, object> => ({
    ...job,
    atATime: USUAL_AT_A_TIME,
    run: (_needs, payload: Payload, run) => act(payload, run),
  })

  /** A worker like that of an instance. `done` collects the ids of sent mails. */
  function work(options: Partial<WorkerOptions<object>> & { smtpUrl?: string } = {}): {
    worker: Worker
    done: string[]
  } {
    const { smtpUrl = server.url, ...changes } = options
    const mailer = createMailer({
      smtpUrl,
      mailFrom: 'satchel@files.example',
      dataDir: tmpdir(),
      brand: ownBrand,
    })
    const done: string[] = []
    const worker = createWorker({
      db: t.app.db,
      log: silent,
      pollMs: 20,
      leaseMs: 60_000,
      retryMs: () => 30,
      needs: {},
      jobs: [
        jobLike(mailJob, async (mail, { id }) => {
          await mailer.send(mail, { id, language: 'en' })
          done.push(id)
        }),
      ],
      ...changes,
    })
    workers.push(worker)
    worker.start()
    return { worker, done }
  }

  const empty = async () => (await rows()).length === 0
  const arrived = () => server.received.map(idOf).sort()

  it('runs other jobs beside a slow one', async () => {
    const ids: string[] = []
    for (let i = 0; i < 8; i++) ids.push(await queue())
    const ended: string[] = []
    const others = Promise.withResolvers<void>()
    async function run(_mail: Mail, { id }: { id: string }) {
      if (id === ids[0]) await others.promise
      ended.push(id)
      if (ended.length === ids.length - 1) others.resolve()
    }
    work({ jobs: [jobLike(mailJob, run)] })
    await until(empty)
    expect(ended.at(-1)).toBe(ids[0])
  })

  it('is shared by two workers before a slow server, and sends every mail once', async () => {
    server.manners.onData = () => sleep(60)
    const ids: string[] = []
    for (let i = 0; i < 60; i++) ids.push(await queue())
    const [one, two] = [work(), work({ db: other })]
    await until(empty)
    expect(arrived()).toEqual(ids)
    expect([...one.done, ...two.done].sort()).toEqual(ids)
    for (const { done } of [one, two]) expect(done.length).toBeGreaterThan(5)
    expect(server.begun).toBe(60)
  })

  it('does not delay other jobs when the mail server is slow', async () => {
    let release = () => {}
    const held = new Promise<void>(resolve => {
      release = resolve
    })
    server.manners.onData = () => held
    const mails = await Promise.all(Array.from({ length: 12 }, () => queue()))
    let purged = false
    const mailer = createMailer({
      brand: ownBrand,
      smtpUrl: server.url,
      mailFrom: 'satchel@files.example',
      dataDir: tmpdir(),
    })
    work({
      jobs: [
        jobLike(purgeFolderJob, async () => {
          purged = true
        }),
        jobLike(mailJob, (mail, { id }) => mailer.send(mail, { id, language: 'en' })),
      ],
    })
    await until(() => server.begun > 0)
    await t.app.db.run(
      "INSERT INTO outbox (id, kind, payload, attempts, due_at, last_error, created_at) VALUES (?, 'purge-folder', '{}', 0, 0, '', 0)",
      [newId()],
    )
    await until(() => purged)
    expect(server.received).toEqual([])
    release()
    await until(empty)
    expect(arrived()).toEqual(mails.sort())
  })

  it('tries to extract the text of a file three times, however long the job has waited', async () => {
    const id = newId()
    let tries = 0
    work({
      jobs: [
        jobLike(contentsJob, async () => {
          tries += 1
          throw new Error('A hiccup.')
        }),
      ],
    })
    await t.app.db.run(
      "INSERT INTO outbox (id, kind, payload, attempts, due_at, last_error, created_at) VALUES (?, 'contents', '{}', 0, 0, '', 0)",
      [id],
    )
    await until(async () => (await t.app.db.Job.count({ where: { id, dueAt: GIVEN_UP } })) === 1)
    expect(tries).toBe(3)
  })

  it('gives up immediately on a permanent refusal, and reports it to the doctor', async () => {
    server.manners.onRcptTo = async to => {
      if (to === 'gone@example.com') throw refusal(550, 'No such mailbox here')
    }
    server.manners.onData = async mail => {
      if (mail.to.includes('strict@example.com')) throw refusal(554, 'Looks like spam')
    }
    const gone = await queue({ to: 'gone@example.com' })
    const strict = await queue({ to: 'strict@example.com' })
    const good = await queue()
    work()
    await until(async () => (await rows()).every(row => row.dueAt === GIVEN_UP))
    await sleep(150)
    expect(arrived()).toEqual([good])
    expect(server.begun).toBe(3)
    expect(await rows()).toEqual([
      {
        id: gone,
        attempts: 1,
        dueAt: GIVEN_UP,
        lastError: expect.stringContaining('550 No such mailbox here'),
      },
      {
        id: strict,
        attempts: 1,
        dueAt: GIVEN_UP,
        lastError: expect.stringContaining('554 Looks like spam'),
      },
    ])
    await t.app.sweeper.run()
    const findings = await findingsOf(t.app, { repair: true })
    expect(findings).toEqual([
      {
        kind: 'job-given-up',
        id: gone,
        message: expect.stringMatching(
          /^A job "mail" was given up after 1 try: .*550 No such mailbox here/,
        ),
        repaired: false,
      },
      expect.objectContaining({ kind: 'job-given-up', id: strict }),
    ])
    // Reported for a month, and then forgotten.
    await t.app.db.run('UPDATE outbox SET created_at = ? WHERE id = ?', [
      Date.now() - 31 * DAY,
      gone,
    ])
    await t.app.db.run('UPDATE outbox SET created_at = ? WHERE id = ?', [
      Date.now() - 29 * DAY,
      strict,
    ])
    await t.app.sweeper.run()
    expect((await rows()).map(row => row.id)).toEqual([strict])
  })

  it('retries after a temporary refusal', async () => {
    let refusals = 0
    server.manners.onRcptTo = async () => {
      if (++refusals <= 3) throw refusal(451, 'Greylisted, come back')
    }
    const id = await queue()
    work({ retryMs: () => 100 })
    await until(async () => (await rows(id))[0]?.attempts === 2)
    expect((await rows(id))[0]?.lastError).toContain('451 Greylisted')
    await until(empty)
    expect([arrived(), server.begun]).toEqual([[id], 4])
  })

  it('retries when the server refuses the sender or the login, not the mail', async () => {
    server.manners.onMailFrom = async () => {
      throw refusal(550, 'This sender may not send here')
    }
    const id = await queue()
    work()
    await until(async () => ((await rows(id))[0]?.attempts ?? 0) >= 3)
    server.manners = polite()
    await until(empty)
    expect(arrived()).toEqual([id])
  })

  it('waits longer after every try, up to an hour', async () => {
    expect([1, 2, 3, 4, 5, 10, 11, 50].map(backoff)).toEqual(
      [5, 10, 20, 40, 80, 2560, 3600, 3600].map(seconds => seconds * 1000),
    )
    server.manners.onRcptTo = async () => {
      throw refusal(421, 'Too busy')
    }
    const id = await queue()
    const { worker } = work({ retryMs: backoff })
    for (const [attempt, seconds] of [5, 10, 20, 40].entries()) {
      await until(
        async () =>
          (await rows(id))[0]?.attempts === attempt + 1 && (await rows(id))[0]?.lastError !== '',
      )
      await worker.idle()
      const [row] = await rows(id)
      const wait = Number(row?.dueAt) - Date.now()
      expect(wait).toBeGreaterThan((seconds - 2) * 1000)
      expect(wait).toBeLessThanOrEqual(seconds * 1000)
      await t.app.db.run("UPDATE outbox SET due_at = ?, last_error = '' WHERE id = ?", [
        Date.now(),
        id,
      ])
    }
  })

  it('gives up on a mail after five days, and no sooner', async () => {
    server.manners.onRcptTo = async () => {
      throw refusal(451, 'Not now')
    }
    const young = await queue({}, { createdAt: Date.now() - 5 * DAY + 60_000 })
    const old = await queue({}, { createdAt: Date.now() - 5 * DAY - 1000 })
    const { worker } = work({ retryMs: () => 60_000 })
    await until(async () => (await rows()).every(row => row.lastError !== ''))
    await worker.idle()
    expect((await rows()).map(row => [row.id, row.dueAt === GIVEN_UP])).toEqual([
      [young, false],
      [old, true],
    ])
  })

  it('survives a server that is down for a while, and one that drops the connection', async () => {
    await server.stop()
    const ids = await Promise.all(Array.from({ length: 10 }, () => queue()))
    work({ db: other })
    work()
    await until(async () => (await rows()).every(row => row.attempts >= 2))
    expect((await rows()).map(row => row.lastError)).toEqual(
      Array(10).fill(expect.stringContaining('ECONNREFUSED')),
    )
    // The server is back, but drops two mails without a response and crashes.
    let answered = 0
    server.manners.onRcptTo = async () => {
      if (++answered <= 2)
        await server.stop().then(() => Promise.reject(refusal(421, 'Shutting down')))
    }
    await server.again()
    await until(() => answered >= 1)
    await sleep(100)
    server.manners = polite()
    await server.stop()
    await server.again()
    await until(empty)
    expect(arrived()).toEqual(ids.sort())
  })

  it('recovers the jobs of a dead worker', async () => {
    const id = await queue()
    const { db } = t.app
    let taken = 0
    const never = () => new Promise<never>(() => {})
    const hang = () => {
      taken++
      return never()
    }
    const dead = createWorker({
      // Once it has claimed a job, none of its messages arrive any more.
      db: {
        ...db,
        run: (...statement) => (taken > 0 ? never() : db.run(...statement)),
        changed: (...statement) => (taken > 0 ? never() : db.changed(...statement)),
      },
      log: silent,
      pollMs: 10_000,
      leaseMs: 400,
      needs: {},
      jobs: [jobLike(mailJob, hang)],
    })
    dead.wake()
    await until(() => taken === 1)
    const since = Date.now()
    work()
    await until(empty)
    expect(Date.now() - since).toBeGreaterThan(250)
    expect(arrived()).toEqual([id])
  })

  it('keeps a job with its live worker, even beyond the lease', async () => {
    let release = () => {}
    const held = new Promise<void>(resolve => {
      release = resolve
    })
    server.manners.onData = () => held
    const id = await queue()
    const first = work({ leaseMs: 400 })
    await until(() => server.begun === 1)
    const [taken] = await rows(id)
    const second = work({ db: other, leaseMs: 400 })
    // After several leases.
    await until(async () => Number((await rows(id))[0]?.dueAt) > Number(taken?.dueAt) + 1200)
    release()
    await until(empty)
    expect([first.done, second.done, server.begun]).toEqual([[id], [], 1])
  })

  it('ignores a worker that lost its job to another worker', async () => {
    const id = await queue()
    let fail = () => {}
    const { worker, done } = work({
      leaseMs: 60_000,
      jobs: [
        jobLike(
          mailJob,
          () =>
            new Promise((_, reject) => {
              fail = () => reject(new Error('Too late'))
            }),
        ),
      ],
    })
    await until(async () => (await rows(id))[0]?.attempts === 1)
    const another = Date.now() + 120_000
    await t.app.db.run('UPDATE outbox SET due_at = ?, attempts = 2 WHERE id = ?', [another, id])
    fail()
    await worker.stop()
    expect(await rows(id)).toEqual([{ id, attempts: 2, dueAt: another, lastError: '' }])
    expect(done).toEqual([])
    await t.app.db.run('DELETE FROM outbox')
  })

  it('logs in where SMTP_URL has credentials, and retries while the login is refused', async () => {
    const strict = await startMailServer({ login: true })
    strict.manners.onAuth = (user, password) => user === 'satchel@x' && password === 'p@ss:wörd/'
    const id = await queue()
    const url = (password: string) =>
      `smtp://${encodeURIComponent('satchel@x')}:${encodeURIComponent(password)}@127.0.0.1:${strict.port}`
    const { worker } = work({ smtpUrl: url('wrong') })
    await until(async () => ((await rows(id))[0]?.attempts ?? 0) >= 2)
    await worker.stop()
    expect((await rows(id))[0]?.lastError).toContain('535')
    expect((await rows(id))[0]?.dueAt).toBeLessThan(GIVEN_UP)
    work({ smtpUrl: url('p@ss:wörd/') })
    await until(empty)
    expect(strict.received.map(idOf)).toEqual([id])
    await strict.stop()
  })
})

describe('A service that is killed while it sends a mail', () => {
  let dir: string
  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), 'satchel-killed-'))
  })
  afterAll(() => rmSync(dir, { recursive: true, force: true }))

  it('releases the mail, which arrives once', async () => {
    await t.app.db.run('DELETE FROM outbox')
    server.received.length = 0
    server.begun = 0
    const settings = {
      DATA_DIR: dir,
      DATABASE_URL: database.url,
      BLOB_DIR: blobFolderOf(database.url),
      SMTP_URL: server.url,
      SWEEP_SECONDS: '1',
      LEASE_SECONDS: '3',
    }
    server.manners.onRcptTo = () => new Promise(() => {})
    const id = await queue()
    const first = await startBuilt(settings)
    await until(() => server.begun === 1)
    expect(await first.end('SIGKILL')).toBe('SIGKILL')
    const [row] = await rows(id)
    expect(row).toMatchObject({ id, attempts: 1 })
    server.manners = polite()
    const second = await startBuilt(settings)
    await until(() => server.received.length > 0)
    expect(Date.now()).toBeGreaterThan(Number(row?.dueAt))
    expect(await second.end('SIGTERM')).toBe(0)
    expect(server.received.map(idOf)).toEqual([id])
    expect(await rows()).toEqual([])
  })
})

describe('Without SMTP_URL', () => {
  let dir: string
  let quiet: TestApp
  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'satchel-eml-'))
    mkdirSync(join(dir, 'data'))
    quiet = await startApp({ DATA_DIR: join(dir, 'data') })
  })
  afterAll(async () => {
    await quiet.stop()
    rmSync(dir, { recursive: true, force: true })
  })

  it('mails are written to files that any mail program opens and only the owner can read', async () => {
    const erin = await quiet.signIn('erin')
    await erin.upload('ü.txt', 'x')
    const { response } = await share({ objects: ['ü.txt'] }, erin)
    await quiet.app.worker.idle()
    const folder = join(dir, 'data', 'mail')
    const [file, ...more] = readdirSync(folder)
    expect([file?.replace('.eml', ''), more]).toEqual([anId, []])
    expect([
      statSync(folder).mode & 0o777,
      statSync(join(folder, file ?? '')).mode & 0o777,
    ]).toEqual([0o700, 0o600])
    const mail = parseMail(readFileSync(join(folder, file ?? ''), 'utf8'))
    expect(mail.header('to')).toBe('bob@example.com')
    expect(mail.header('from')).toBe('Satchel <satchel@localhost>')
    expect(mail.header('subject')).toBe('erin shares "ü.txt" with you')
    expect(mail.text).toContain(response.sharing_info[0].sharing_link)
    expect(mail.html).toContain('>ü.txt</span>')
    expect(await quiet.app.db.rows('SELECT id FROM outbox')).toEqual([])
  })
})
