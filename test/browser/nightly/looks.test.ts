import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { Page } from 'playwright-core'
import { keepPicture, ofColours, screenshot, signIn, visit } from '../browser.ts'
import { startWorld, tryPassword, until, type World } from '../share-world.ts'

/** Runs in the page under its own policy, which does not apply to the browser's tools. */
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const GiB = 1024 ** 3
const PASSWORD = 'päss wörd 🦊'
const csv = 'name,height\nEiger,3967\nMönch,4107\nJungfrau,4158\n'
const poem =
  'On the pass\n\nThe path goes up between two stones,\nthe clouds come down to meet it.\n\n'
const pdf = 'application/pdf'

let w: World

beforeAll(async () => {
  w = await startWorld()
}, 120_000)
afterAll(() => w?.stop())

/** Every state of every page, and how to get there. */
const states: Record<string, () => Promise<Page>> = {
  welcome: () => w.open(w.anonymous, '/'),
  'no-such-page': () => w.open(w.anonymous, '/nowhere'),
  login: () => w.open(w.anonymous, '/login'),
  'login-on-the-way': () => w.open(w.anonymous, '/login?return_to=/share/x'),
  'login-failed': () => w.open(w.anonymous, '/login?error=auth_failed'),
  'login-signed-in': () => w.open(w.alice, '/login?return_to=/graphql'),
  'home-empty': () => w.open(w.carol, '/'),
  'share-image': async () => {
    const page = await w.open(
      w.anonymous,
      await w.share('Sunrise above the ridge.png', w.media.png, 'image/png'),
    )
    await until(page, `document.querySelector('.preview img').naturalWidth === 1200`)
    return page
  },
  'share-pdf': async () =>
    w.open(w.anonymous, await w.share('Minutes of May.pdf', w.media.pdf, pdf)),
  'share-audio': async () => {
    const page = await w.open(
      w.anonymous,
      await w.share('Morning song.wav', w.media.wav, 'audio/wav'),
    )
    await until(page, `document.querySelector('audio').duration === 1`)
    return page
  },
  'share-video': async () => {
    const page = await w.open(
      w.anonymous,
      await w.share('Descent.webm', w.media.webm, 'video/webm'),
    )
    await until(page, `document.querySelector('video').videoWidth === 320`)
    return page
  },
  'share-text': async () => {
    const page = await w.open(
      w.anonymous,
      await w.share('poem.txt', poem.repeat(900), 'text/plain'),
    )
    await page.frameLocator('iframe').getByText('These are the first 64 KiB of').waitFor()
    return page
  },
  'share-folder': async () => {
    const link = await w.shareFolder('Ridge walk in May', [
      ['Day 1/Sunrise above the ridge.png', w.media.png, 'image/png'],
      ['Day 2/Descent.webm', w.media.webm, 'video/webm'],
      ['Minutes of May.pdf', w.media.pdf, pdf],
      ['Morning song.wav', w.media.wav, 'audio/wav'],
      ['peaks.csv', csv, 'text/csv'],
    ])
    return w.open(w.anonymous, link)
  },
  'share-file-in-folder': async () => {
    const link = await w.shareFolder('Ridge walk', [
      ['Day 1/Sunrise above the ridge.png', w.media.png, 'image/png'],
    ])
    const page = await w.open(w.anonymous, `${link}?file=Day+1%2FSunrise+above+the+ridge.png`)
    await page.getByRole('img', { name: 'Sunrise above the ridge.png' }).waitFor()
    return page
  },
  'share-table': async () => w.open(w.anonymous, await w.share('peaks.csv', csv, 'text/csv')),
  'share-file': async () =>
    w.open(w.anonymous, await w.share('Holidays 2026.zip', 'zip', 'application/zip')),
  'share-limited': async () =>
    w.open(w.anonymous, await w.share('ticket.pdf', w.media.pdf, pdf, { max_downloads: 1 })),
  'share-password': async () =>
    w.open(w.anonymous, await w.share('contract.pdf', w.media.pdf, pdf, { password: PASSWORD })),
  'share-wrong-password': async () => {
    const page = await w.open(
      w.anonymous,
      await w.share('contract.pdf', w.media.pdf, pdf, { password: PASSWORD }),
    )
    await tryPassword(page, 'wrong')
    await page.getByRole('alert').waitFor()
    return page
  },
  'share-blocked': async () => {
    const page = await w.open(
      w.anonymous,
      await w.share('contract.pdf', w.media.pdf, pdf, { password: PASSWORD }),
    )
    for (let i = 0; i < 10; i++)
      await w.anonymous.context.request.post(page.url(), { form: { password: 'wrong' } })
    await tryPassword(page, 'wrong')
    await page.getByText('Too many passwords were tried').waitFor()
    return page
  },
  'share-expired': async () => {
    const link = await w.share('old.txt', 'old', 'text/plain')
    await w.db.run('UPDATE share SET expires_at = 1 WHERE id = (SELECT MAX(id) FROM share)')
    return w.open(w.anonymous, link)
  },
  'share-unknown': () => w.open(w.anonymous, `/share/${'x'.repeat(43)}`),
  'share-used-up': async () => {
    const link = await w.share('ticket.txt', 'once', 'text/plain', { max_downloads: 1 })
    await w.anonymous.context.request.get(`${link}/download`)
    return w.open(w.anonymous, link)
  },
  'share-direct-anonymous': async () =>
    w.open(
      w.anonymous,
      await w.send('Letter to Bob.doc', 'dear', 'application/msword', 'bob@example.com'),
    ),
  'share-direct-received': async () =>
    w.open(w.bob, await w.send('Letter to Bob.txt', poem, 'text/plain', 'bob@example.com')),
  'share-direct-stranger': async () =>
    w.open(
      w.carol,
      await w.send('Letter to Bob.doc', 'dear', 'application/msword', 'bob@example.com'),
    ),
  'share-hostile-name': async () => {
    const name = `<img src=x onerror=alert(1)>"'&amp; ${'very'.repeat(20)} \u202Egnp.exe`
    return w.open(w.anonymous, await w.share(name, 'x', 'application/zip'))
  },
  'request-open': async () =>
    w.open(
      w.anonymous,
      await w.request('Pictures of the summit', {
        message: 'The large ones, please.\nUntil Sunday!',
        kinds: ['image/*', '.pdf'],
      }),
    ),
  'request-protected': async () =>
    w.open(w.anonymous, await w.request('Contracts', { password: PASSWORD, asks_name: true })),
  'request-wrong-password': async () => {
    const page = await w.open(
      w.anonymous,
      await w.request('Contracts', { password: PASSWORD, asks_name: true }),
    )
    await page.getByLabel('Your name').fill('Carol')
    await page.getByLabel('Password', { exact: true }).fill('wrong')
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByText('This is not the password.').waitFor()
    return page
  },
  'request-sent': async () => {
    const page = await w.open(
      w.anonymous,
      await w.request('Minutes', { max_file_size: 5000, duration: 'never' }),
    )
    const files = ['Minutes of May.pdf', 'Notes.txt', 'Too large.zip'].map((name, i) => ({
      name,
      mimeType: '',
      buffer: Buffer.alloc([900, 20, 6000][i] ?? 0),
    }))
    await page.locator('input[type=file]').setInputFiles(files)
    await page.locator('li.failed').getByText('This file is larger than').waitFor()
    return page
  },
  'request-full': async () => {
    const link = await w.request('One ticket', { max_files: 1 })
    const file = { name: 'ticket.pdf', mimeType: pdf, buffer: w.media.pdf }
    await w.anonymous.context.request.get(link)
    await w.anonymous.context.request.post(`${link}/upload`, { multipart: { file } })
    return w.open(w.anonymous, link)
  },
  'request-closed': async () => {
    const link = await w.request('Too late')
    await w.db.run(
      'UPDATE file_request SET closed_at = 1 WHERE id = (SELECT MAX(id) FROM file_request)',
    )
    return w.open(w.anonymous, link)
  },
  'request-unknown': () => w.open(w.anonymous, `/request/${'x'.repeat(43)}`),
  'request-long': async () =>
    w.open(
      w.anonymous,
      await w.request('W'.repeat(100), { message: `${'very '.repeat(180)}\nשלום עולם (1)` }),
    ),
  'invite-anonymous': async () =>
    w.open(w.anonymous, await w.invite(w.bob, 'bob@example.com', 'editor', 'Mountain Rescue')),
  'invite-signed-in': async () =>
    w.open(w.bob, await w.invite(w.bob, 'bob@example.com', 'admin', 'Alpine Club')),
  'invite-accepted': async () => {
    const page = await w.open(
      w.bob,
      await w.invite(w.bob, 'bob@example.com', 'viewer', 'Tea House'),
    )
    await page.getByRole('button', { name: 'Accept' }).click()
    await page.getByRole('heading', { name: 'Welcome to Tea House' }).waitFor()
    return page
  },
  'invite-declined': async () => {
    const page = await w.open(w.bob, await w.invite(w.bob, 'bob@example.com', 'viewer', 'Noise'))
    await page.getByRole('button', { name: 'Decline' }).click()
    await page.getByRole('heading', { name: 'You declined the invite' }).waitFor()
    return page
  },
  'invite-not-for-you': async () =>
    w.open(w.carol, await w.invite(w.bob, 'bob@example.com', 'editor', 'Mountain Rescue')),
  'invite-expired': async () => {
    const link = await w.invite(w.bob, 'bob@example.com', 'editor', 'Mountain Rescue')
    await w.db.run('UPDATE invite SET expires_at = 1 WHERE id = (SELECT MAX(id) FROM invite)')
    return w.open(w.bob, link)
  },
  'invite-already-member': async () => {
    const link = await w.invite(w.bob, 'bob@example.com', 'editor', 'Mountain Rescue')
    await w.db.run(
      `INSERT INTO member (workspace_id, user_id, role, joined_at)
       SELECT i.workspace_id, u.id, 'viewer', 1 FROM invite i JOIN user u ON u.email = i.email ORDER BY i.id DESC LIMIT 1`,
    )
    return w.open(w.bob, link)
  },
  'invite-unknown': () => w.open(w.bob, '/invite/nothing'),
  'share-limited-signed-in': async () =>
    w.open(w.carol, await w.share('ticket.pdf', w.media.pdf, pdf, { max_downloads: 1 })),
  'share-right-to-left': async () =>
    w.open(
      w.anonymous,
      await w.share('دليل المستخدم - الإصدار 2.pdf', w.media.pdf, pdf, { max_downloads: 1 }),
    ),
  'share-text-right-to-left': async () =>
    w.open(
      w.anonymous,
      await w.share('שיר.txt', 'שלום עולם (1)\n\nline two, left to right\n', 'text/plain'),
    ),
  'share-long-name': async () =>
    w.open(w.anonymous, await w.share('x'.repeat(255), poem, 'text/plain')),
  'share-broken-picture': async () => {
    const page = await w.open(w.anonymous, await w.share('broken.png', 'none', 'image/png'))
    await page.locator('.preview p', { hasText: 'This picture cannot be shown.' }).waitFor()
    return page
  },
  'invite-long-names': async () => {
    await w.db.run("UPDATE user SET name = ? WHERE email = 'alice@example.com'", [
      `Dr. ${'Wolfeschlegelstein'.repeat(7)}`,
    ])
    return w.open(w.bob, await w.invite(w.bob, 'bob@example.com', 'editor', 'W'.repeat(64)))
  },
  'invite-right-to-left': async () => {
    await w.db.run("UPDATE user SET name = 'שרה כהן' WHERE email = 'alice@example.com'")
    return w.open(w.bob, await w.invite(w.bob, 'bob@example.com', 'editor', 'גן ירוק (2)'))
  },
  'home-full': async () => {
    const email = `${'long-'.repeat(12)}name@${'deep.'.repeat(20)}example.com`
    const dora = await visit(w.browser, w.service.url)
    await signIn(dora, w.service.url, email, '/')
    for (const name of [
      'y'.repeat(255),
      'דוח שנתי 2026.pdf',
      `${'long name '.repeat(20)}.txt`,
      'a.csv',
      'b.zip',
      'c.mp3',
      'd.mp4',
    ])
      await w.send(name, 'x', 'text/plain', email)
    for (const name of ['Z'.repeat(64), 'גן ירוק (2)', 'Garden'])
      await w.invite(dora, email, 'admin', name)
    const me = [email]
    await w.db.run("UPDATE user SET name = 'محمد' WHERE email = ?", me)
    await w.db.run(
      'UPDATE bucket SET used_bytes = 5368709120, used_files = 10000 WHERE user_id = (SELECT id FROM user WHERE email = ?)',
      me,
    )
    await w.db.run(
      `INSERT INTO member (workspace_id, user_id, role, joined_at) SELECT w.id, u.id, 'viewer', 1 FROM workspace w, user u WHERE u.email = ?`,
      me,
    )
    return w.open(dora, '/')
  },
  // Last, because the others have sent Bob many mails by then.
  home: async () => {
    await w.send('Sunrise above the ridge.png', w.media.png, 'image/png', 'bob@example.com')
    await w.db.run('DELETE FROM invite WHERE id <> (SELECT MAX(id) FROM invite)')
    await w.db.run("UPDATE user SET name = 'Bob Miller' WHERE email = 'bob@example.com'")
    const bucket = "(SELECT id FROM user WHERE email = 'bob@example.com')"
    await w.db.run(
      `UPDATE bucket SET used_bytes = ?, used_files = 1284 WHERE user_id = ${bucket}`,
      [Math.round(3.2 * GiB)],
    )
    return w.open(w.bob, '/')
  },
  failure: async () => {
    await w.db.run('ALTER TABLE share RENAME TO lost')
    try {
      return await w.open(w.bob, '/')
    } finally {
      await w.db.run('ALTER TABLE lost RENAME TO share')
    }
  },
}

interface Findings {
  violations: { id: string; nodes: { html: string }[] }[]
  incomplete: { id: string; nodes: { html: string; any: { data?: { messageKey?: string } }[] }[] }[]
}

/**
 * The violations of axe-core, including text in exactly its background colour, about which axe is
 * unsure.
 */
async function findingsIn(page: Page, colorScheme: 'light' | 'dark'): Promise<string[]> {
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(axe)
  const options = {
    resultTypes: ['violations', 'incomplete'],
    ...(colorScheme === 'dark' && { runOnly: ofColours }),
  }
  const { violations, incomplete } = (await page.evaluate(
    `axe.run(${JSON.stringify(options)})`,
  )) as Findings
  const invisible = incomplete.flatMap(({ id, nodes }) => ({
    id,
    nodes: nodes.filter(({ any }) => any.some(({ data }) => data?.messageKey === 'equalRatio')),
  }))
  return [...violations, ...invisible.filter(({ nodes }) => nodes.length > 0)].map(
    ({ id, nodes }) => `${id}: ${nodes.map(node => node.html).join(' ')}`,
  )
}

describe('Every state of every page, on phone and desktop, light and dark, in each language', () => {
  it.each(Object.keys(states))('%s', async name => {
    const page = await states[name]?.()
    if (!page) throw new Error(`${name} leads to no page.`)
    await lookAt(page, name)
    expect(await page.locator('h1').count()).toBe(1)
    await keep(page, name)

    const language = { name: 'language', value: 'de', url: w.service.url }
    await page.context().addCookies([language])
    await page.reload()
    expect(await page.locator('html').getAttribute('lang')).toBe('de')
    await lookAt(page, `${name}-de`)
    await page.context().clearCookies({ name: 'language' })
  })

  /** Takes pictures of a page and checks its layout and accessibility. */
  async function lookAt(page: Page, name: string): Promise<void> {
    for (const colorScheme of ['dark', 'light'] as const) {
      await page.emulateMedia({ colorScheme })
      for (const [width, height] of [
        [390, 844],
        [1440, 900],
      ] as const) {
        await page.setViewportSize({ width, height })
        await screenshot(page, `${name}-${width}-${colorScheme}`)
        expect(await findingsIn(page, colorScheme)).toEqual([])
        expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
        // The page header is one line, however long an email address is.
        expect(await page.evaluate('document.querySelector("header").offsetHeight')).toBeLessThan(
          80,
        )
      }
    }
  }
})

/** The pages that the README shows. */
const kept: Record<string, string> = {
  'share-image': 'share',
  'invite-anonymous': 'invite',
  login: 'login',
}
async function keep(page: Page, name: string): Promise<void> {
  const as = kept[name]
  if (!as) return
  await page.setViewportSize({ width: 1000, height: 660 })
  expect(await keepPicture(page, as)).toBeLessThan(60 * 1024)
}
