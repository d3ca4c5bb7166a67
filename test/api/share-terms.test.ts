import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { v7 as newId } from 'uuid'
import { ask, codeOf } from '../support/ask.ts'
import { type Person, type RestAnswer, startApp, type TestApp } from '../support/harness.ts'
import { aTime, at } from '../support/shapes.ts'

let t: TestApp
let alice: Person
let bob: Person

beforeAll(async () => {
  t = await startApp({ LINK_DURATION: '3d' })
  alice = await t.signIn('alice')
  bob = await t.signIn('bob')
  await alice.upload('docs/a.txt', 'hello', 'text/plain')
  await alice.upload('docs/b.bin', 'bytes', 'application/octet-stream')
})
afterAll(() => t.stop())

const DAY = 24 * 3600 * 1000

interface Made {
  token: string
  id: string
}

/** Creates a link to a file of alice. */
async function link(json: object = {}): Promise<Made> {
  const { status, response } = await alice.rest('POST', '/api/files/quick_share', {
    json: { object: 'docs/a.txt', ...json },
  })
  expect(status).toBe(200)
  const rows = await t.app.db.rows<{ id: string }>('SELECT id FROM share ORDER BY id DESC LIMIT 1')
  return { token: response.sharing_token, id: rows[0]?.id ?? '' }
}

const patch = (token: string, json: object, person = alice) =>
  person.rest('PATCH', `/api/share/${token}`, { json })
const info = (token: string) => t.anonymous.rest('GET', `/api/share/info/${token}`)
const resolve = (token: string, json: object = {}) =>
  t.anonymous.rest('POST', `/api/share/resolve/${token}`, { json })
const end = (id: string) =>
  t.app.db.run('UPDATE share SET expires_at = ? WHERE id = ?', [Date.now() - 1, id])
const statusAndCode = ({ status, response }: RestAnswer) => [status, response?.code]

const UPDATE = `mutation ($input: UpdateShareInput!) { updateShare(input: $input) {
  share { id url label expiresAt passwordProtected maxDownloads downloads allowDownload notifies usage { openCount } }
  entry { id shareCount } viewer { id } } }`
const update = async (share: object, terms: object = {}, person = alice) =>
  (await ask(person, UPDATE, { input: { share, ...terms } })).updateShare
const refusal = async (share: object, terms: object = {}, person = alice) =>
  codeOf(person, UPDATE, { input: { share, ...terms } })

describe('A new link', () => {
  it('gets the default lifetime, or no expiry when requested', async () => {
    const made = await link()
    const { response } = await info(made.token)
    expect(Math.abs(at(response.expires_at) - Date.now() - 3 * DAY)).toBeLessThan(30_000)
    const forever = await alice.rest('POST', '/api/files/quick_share', {
      json: {
        object: 'docs/a.txt',
        duration: 'never',
        label: ' For\tthe\nadviser ',
        allow_download: false,
        notifies: true,
      },
    })
    expect(forever.response.expires_at).toBeNull()
    expect((await info(forever.response.sharing_token)).response).toMatchObject({
      expires_at: null,
      allow_download: false,
    })
    const { files } = (await alice.rest('GET', '/api/files/shared_by_user?limit=1000')).response
    expect(
      files.find(
        (f: { sharing_token: string }) => f.sharing_token === forever.response.sharing_token,
      ),
    ).toMatchObject({
      label: 'For the adviser',
      expires_at: null,
      allow_download: false,
    })
  })

  it('applies the same terms to a share with a person, who does not see the sharer’s label', async () => {
    const json = {
      email: bob.email,
      objects: ['docs/a.txt'],
      duration: 'never',
      label: 'private word',
      notifies: true,
    }
    const { response } = await alice.rest('POST', '/api/files/share', { json })
    expect(response.sharing_info[0].expires_at).toBeNull()
    const [received] = (await bob.rest('GET', '/api/files/received')).response.files
    expect(received).toMatchObject({ label: '', expires_at: null, allow_download: true })
    const SEEN =
      '{ me { receivedShares { nodes { label notifies usage { openCount } expiresAt } } } }'
    expect((await ask(bob, SEEN)).me.receivedShares.nodes).toEqual([
      { label: '', notifies: null, usage: null, expiresAt: null },
    ])
  })
})

describe('PATCH /api/share/{token}', () => {
  it('200 changes the given fields, and keeps the others, the address and the counts', async () => {
    const { token } = await link({ password: 'first', max_downloads: 3, label: 'one' })
    expect((await resolve(token, { password: 'first' })).status).toBe(200)
    const { status, response } = await patch(token, {
      label: 'two',
      duration: 'never',
      notifies: true,
    })
    expect([status, response]).toEqual([
      200,
      expect.objectContaining({
        sharing_token: token,
        sharing_link: `${t.url}/share/${token}`,
        file_name: 'docs/a.txt',
        label: 'two',
        expires_at: null,
        password_protected: true,
        downloads: 1,
        max_downloads: 3,
        allow_download: true,
        created_at: aTime,
      }),
    ])
    expect(
      (await patch(token, { clear: ['password', 'max_downloads', 'label'] })).response,
    ).toMatchObject({
      label: '',
      password_protected: false,
      max_downloads: null,
      downloads: 1,
      expires_at: null,
    })
    expect(
      (await patch(token, { duration: '1h', password: 'second', max_downloads: 2 })).response,
    ).toMatchObject({
      password_protected: true,
      max_downloads: 2,
      expires_at: aTime,
    })
    expect(statusAndCode(await resolve(token, { password: 'first' }))).toEqual([
      403,
      'WRONG_PASSWORD',
    ])
    expect((await resolve(token, { password: 'second' })).status).toBe(200)
    expect(statusAndCode(await resolve(token, { password: 'second' }))).toEqual([
      403,
      'SHARE_USED_UP',
    ])
  })

  it('200 renews an ended link under the same address', async () => {
    const { token, id } = await link()
    await end(id)
    expect(statusAndCode(await info(token))).toEqual([403, 'SHARE_EXPIRED'])
    expect((await patch(token, { duration: '7d' })).response.sharing_token).toBe(token)
    expect((await info(token)).status).toBe(200)
    await patch(token, { max_downloads: 1 })
    await resolve(token)
    expect(statusAndCode(await resolve(token))).toEqual([403, 'SHARE_USED_UP'])
    const { status, response } = await patch(token, { max_downloads: 1 })
    expect([status, response]).toEqual([400, { code: 'INVALID_INPUT', field: 'max_downloads' }])
    await patch(token, { max_downloads: 2 })
    expect((await resolve(token)).status).toBe(200)
  })

  it('200 changes an ended link without renewing it', async () => {
    const { token, id } = await link()
    await end(id)
    expect((await patch(token, { label: 'over' })).response).toMatchObject({ label: 'over' })
    expect(statusAndCode(await info(token))).toEqual([403, 'SHARE_EXPIRED'])
  })

  it('is recorded in the log, and delivered to webhooks', async () => {
    const { token, id } = await link()
    await patch(token, { label: 'x' })
    const { events } = (await alice.rest('GET', '/api/events?limit=1000')).response
    expect(events.at(-1)).toMatchObject({ kind: 'share.changed', subject_id: id, via: 'session' })
  })

  it.each<[string, object, string, string]>([
    ['a label of 101 characters', { label: 'x'.repeat(101) }, 'INVALID_INPUT', 'label'],
    ['an invalid duration', { duration: 'soon' }, 'INVALID_DURATION', 'duration'],
    ['no downloads', { max_downloads: 0 }, 'INVALID_INPUT', 'max_downloads'],
    ['removing an invalid tag', { clear: ['token'] }, 'INVALID_INPUT', 'clear'],
    ['a word for a choice', { allow_download: 'no' }, 'INVALID_INPUT', 'allow_download'],
    ['an unknown field', { email: 'x' }, 'INVALID_INPUT', 'email'],
  ])('400 for %s', async (_what, json, code, field) => {
    const { token } = await link()
    const { status, response } = await patch(token, json)
    expect([status, response]).toEqual([400, { code, field }])
  })

  it('404 for an unknown share', async () => {
    expect(statusAndCode(await patch('nothing', {}))).toEqual([404, 'SHARE_NOT_FOUND'])
  })

  it('400 QUOTA_EXCEEDED for renewing a link beyond the limit of the plan', async () => {
    const carol = await t.signIn('carol')
    await carol.upload('c.txt', 'c', 'text/plain')
    const make = () => carol.rest('POST', '/api/files/quick_share', { json: { object: 'c.txt' } })
    const { sharing_token } = (await make()).response
    await t.app.db.run('UPDATE share SET expires_at = ? WHERE user_id = ?', [
      Date.now() - 1,
      carol.userId,
    ])
    const { maxPublicLinks: most } = (await t.app.db.Plan.findByPk('free', { raw: true })) ?? {}
    await t.app.db.run("UPDATE plan SET max_public_links = 1 WHERE id = 'free'")
    await t.app.db.run('UPDATE bucket SET link_count = 0 WHERE user_id = ?', [carol.userId])
    expect((await make()).status).toBe(200)
    const refused = await patch(sharing_token, { duration: '1d' }, carol)
    expect(statusAndCode(refused)).toEqual([400, 'QUOTA_EXCEEDED'])
    expect((await patch(sharing_token, { label: 'over' }, carol)).status).toBe(200)
    await t.app.db.run("UPDATE plan SET max_public_links = ? WHERE id = 'free'", [most ?? null])
    expect((await patch(sharing_token, { duration: '1d' }, carol)).status).toBe(200)
  })
})

describe('updateShare', () => {
  it('changes a share by its id or its token; null removes a term', async () => {
    const { id, token } = await link({ password: 'secret', max_downloads: 5, label: 'old' })
    const { share, entry } = await update(
      { id },
      { label: 'new', password: null, maxDownloads: null, duration: 'never' },
    )
    expect(share).toEqual({
      id,
      url: `${t.url}/share/${token}`,
      label: 'new',
      expiresAt: null,
      passwordProtected: false,
      maxDownloads: null,
      downloads: 0,
      allowDownload: true,
      notifies: false,
      usage: { openCount: 0 },
    })
    expect(entry.shareCount).toBeGreaterThan(0)
    expect((await update({ token }, { allowDownload: false, notifies: true })).share).toMatchObject(
      {
        label: 'new',
        allowDownload: false,
        notifies: true,
        expiresAt: null,
      },
    )
  })

  it('changes a share with a person', async () => {
    const SHARE =
      'mutation ($input: CreateDirectShareInput!) { createDirectShare(input: $input) { shares { id allowDownload notifies label } } }'
    const input = {
      entries: [{ at: { path: 'docs/b.bin' } }],
      email: bob.email,
      allowDownload: false,
      label: 'b',
    }
    const [made] = (await ask(alice, SHARE, { input })).createDirectShare.shares
    expect(made).toMatchObject({ allowDownload: false, notifies: false, label: 'b' })
    expect((await update({ id: made.id }, { allowDownload: true })).share).toMatchObject({
      allowDownload: true,
    })
    // Sharing again keeps the fields that are not given.
    await update({ id: made.id }, { allowDownload: false })
    const again = { entries: input.entries, email: bob.email }
    expect((await ask(alice, SHARE, { input: again })).createDirectShare.shares).toEqual([
      { id: made.id, allowDownload: false, notifies: false, label: 'b' },
    ])
  })

  it('rejects invalid changes', async () => {
    const { id, token } = await link()
    expect(await refusal({ id }, {}, bob)).toBe('SHARE_NOT_FOUND')
    expect(await refusal({ token }, {}, bob)).toBe('FORBIDDEN')
    expect(await refusal({ id: 'nothing' })).toBe('SHARE_NOT_FOUND')
    expect(await refusal({ id }, { duration: 'soon' })).toBe('INVALID_DURATION')
    expect(await refusal({ id }, { maxDownloads: 0 })).toBe('INVALID_INPUT')
    expect(await refusal({ id }, {}, t.anonymous)).toBe('UNAUTHENTICATED')
  })

  it('renews an expired link only within the limit of the plan', async () => {
    const { id } = await link()
    await end(id)
    await t.limit({ maxPublicLinks: 0 })
    try {
      expect(await refusal({ id }, { duration: '1d' })).toBe('QUOTA_EXCEEDED')
      expect(await refusal({ id }, { label: 'over' })).toBeUndefined()
    } finally {
      await t.limit({ maxPublicLinks: 1000 })
    }
    expect(await refusal({ id }, { duration: '1d' })).toBeUndefined()
  })

  it('does not renew a link that was deleted in the meantime', async () => {
    await alice.upload('docs/gone.txt', 'x', 'text/plain')
    const { token } = await link({ object: 'docs/gone.txt' })
    const answers = await Promise.all([
      patch(token, { duration: '7d' }),
      alice.rest('DELETE', '/api/files/delete?file=docs/gone.txt'),
    ])
    expect([200, 404]).toContain(answers[0].status)
    expect(statusAndCode(await info(token))).toEqual([404, 'SHARE_NOT_FOUND'])
  })
})

describe('A view-only link', () => {
  const page = (path: string) => fetch(`${t.url}${path}`, { redirect: 'manual' })

  it('shows the file on its page, and refuses every download route', async () => {
    const { token } = await link({ allow_download: false, max_downloads: 1 })
    const html = await (await page(`/share/${token}`)).text()
    expect(html).toContain(`/share/${token}/preview`)
    expect(html).not.toContain(`/share/${token}/download`)
    expect(html).toContain('has turned downloads off')
    const preview = await page(`/share/${token}/preview`)
    expect([preview.status, await preview.text()]).toEqual([200, expect.stringContaining('hello')])
    expect((await page(`/share/${token}/download`)).status).toBe(403)
    for (const mode of ['download', 'inline']) {
      expect(statusAndCode(await t.anonymous.rest('GET', `/api/d/${token}?mode=${mode}`))).toEqual([
        403,
        'FORBIDDEN',
      ])
      const resolved = await t.anonymous.rest('POST', `/api/share/resolve/${token}?mode=${mode}`, {
        json: {},
      })
      expect(statusAndCode(resolved)).toEqual([403, 'FORBIDDEN'])
    }
    const OPEN =
      'mutation ($input: OpenShareInput!) { openShare(input: $input) { download { url } } }'
    expect(await codeOf(t.anonymous, OPEN, { input: { token } })).toBe('FORBIDDEN')
    expect(
      (
        await ask(
          t.anonymous,
          'query ($token: String!) { share(token: $token) { allowDownload } }',
          { token },
        )
      ).share,
    ).toEqual({ allowDownload: false })
  })

  it('reports a file that cannot be shown', async () => {
    const { token } = await link({ object: 'docs/b.bin', allow_download: false })
    const html = await (await page(`/share/${token}`)).text()
    expect(html).toContain('cannot be shown on a page')
  })

  it('invalidates download addresses that were issued before', async () => {
    const { token, id } = await link()
    const { url } = (await resolve(token)).response
    expect((await fetch(url)).status).toBe(200)
    await update({ id }, { allowDownload: false })
    expect((await fetch(url)).status).toBe(403)
    await update({ id }, { allowDownload: true })
    expect((await fetch(url)).status).toBe(200)
  })

  it('lists a folder, and allows no downloads from it', async () => {
    await alice.upload('album/a.txt', 'hello', 'text/plain')
    const made = await alice.rest('POST', '/api/folders/quick_share', {
      json: { path: 'album', allow_download: false },
    })
    const token = made.response.sharing_token
    expect(
      (await t.anonymous.rest('GET', `/api/share/entries/${token}`)).response.files,
    ).toHaveLength(1)
    expect((await page(`/share/${token}?file=a.txt`)).status).toBe(200)
    expect((await page(`/share/${token}/preview?path=a.txt`)).status).toBe(200)
    expect((await page(`/share/${token}/download?path=a.txt`)).status).toBe(403)
    expect(statusAndCode(await t.anonymous.rest('GET', `/api/d/${token}?path=a.txt`))).toEqual([
      403,
      'FORBIDDEN',
    ])
    // Archives of the folder or its contents are refused as well.
    expect(statusAndCode(await resolve(token))).toEqual([403, 'FORBIDDEN'])
    expect(statusAndCode(await resolve(token, { entries: ['a.txt'] }))).toEqual([403, 'FORBIDDEN'])
    expect(await (await page(`/share/${token}`)).text()).not.toContain('Download all')
    await patch(token, { allow_download: true })
    expect(await (await page(`/share/${token}`)).text()).toContain('Download all')
    const { url } = (await resolve(token)).response
    expect((await fetch(url)).status).toBe(200)
    await patch(token, { allow_download: false })
    expect((await fetch(url)).status).toBe(403)
  })
})

describe('The use of a share', () => {
  const USAGE = `query ($id: ID!) { node(id: $id) { ... on Share {
    usage { openCount lastOpenedAt downloadCount lastDownloadedAt refusedCount } } } }`
  const jobs = (id: string) =>
    t.app.db.rows<{ kind: string; dueAt: number; payload: string }>(
      // On a busy machine, a mail about other links of this file may be due meanwhile.
      "SELECT kind, due_at AS dueAt, payload FROM outbox WHERE payload LIKE ? OR payload LIKE '%share-used%The contract%' ORDER BY created_at, id",
      [`%${id}%`],
    )

  it('is counted for the sharer', async () => {
    const { token, id } = await link({ password: 'secret' })
    expect((await ask(alice, USAGE, { id })).node.usage).toEqual({
      openCount: 0,
      lastOpenedAt: null,
      downloadCount: 0,
      lastDownloadedAt: null,
      refusedCount: 0,
    })
    await info(token)
    await info(token)
    await resolve(token, { password: 'secret' })
    await resolve(token, { password: 'wrong' })
    expect((await ask(alice, USAGE, { id })).node.usage).toEqual({
      openCount: 2,
      lastOpenedAt: aTime,
      downloadCount: 1,
      lastDownloadedAt: aTime,
      refusedCount: 1,
    })
  })

  it('is mailed to the sharer on request, at most hourly', async () => {
    // The test inspects waiting jobs, and other work could wake the worker at any time.
    await t.app.worker.stop()
    const { token, id } = await link({ notifies: true, label: 'The contract' })
    // Visits by the sharer cause no mail.
    await alice.rest('GET', `/api/share/info/${token}`)
    expect(await jobs(id)).toEqual([])
    await info(token)
    await info(token)
    await resolve(token)
    const [waiting, ...others] = await jobs(id)
    expect([waiting?.kind, others]).toEqual(['share-mail', []])
    expect(Number(waiting?.dueAt) - Date.now()).toBeLessThanOrEqual(60_000)
    await t.app.services.shareNotices.tellUses({ shareId: id })
    const mail = (await jobs(id)).find(({ kind }) => kind === 'mail')
    expect(JSON.parse(mail?.payload ?? '{}')).toMatchObject({
      template: 'share-used',
      to: alice.email,
      values: { name: 'The contract', opened: 2, downloaded: 1, link: `${t.url}/links` },
    })
    // The ids that follow a clock in the future do not make earlier uses new.
    const ahead = newId({ msecs: Date.now() + 3_600_000 })
    await t.app.db.run("UPDATE share_event SET id = ? WHERE share_id = ? AND kind = 'downloaded'", [
      ahead,
      id,
    ])
    await t.app.services.shareNotices.tellUses({ shareId: id })
    expect((await jobs(id)).filter(({ kind }) => kind === 'mail')).toHaveLength(1)
    await t.app.db.run("DELETE FROM outbox WHERE kind IN ('mail', 'share-mail')")
    await info(token)
    const [next] = await jobs(id)
    expect(Number(next?.dueAt) - Date.now()).toBeGreaterThan(59 * 60_000)
    // Notifications were switched off meanwhile, or the share is gone.
    await update({ id }, { notifies: false })
    await t.app.services.shareNotices.tellUses({ shareId: id })
    await t.app.services.shareNotices.tellUses({ shareId: 'gone' })
    expect((await jobs(id)).filter(({ kind }) => kind === 'mail')).toEqual([])
  })

  it('is not mailed without a request', async () => {
    const { token, id } = await link()
    await info(token)
    expect(await jobs(id)).toEqual([])
  })
})
