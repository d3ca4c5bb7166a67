import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { ask } from '../support/ask.ts'
import { type Person, startApp, type TestApp } from '../support/harness.ts'
import { picture } from '../support/pictured.ts'
import { until } from '../support/until.ts'

let t: TestApp
let alice: Person
let bob: Person
beforeAll(async () => {
  t = await startApp({ PREVIEWS: 'true', DERIVE_PROCESSES: '1' })
  ;[alice, bob] = await Promise.all([t.signIn('alice'), t.signIn('bob')])
  for (const name of ['a.png', 'sub/b.png'])
    await alice.upload(`album/${name}`, picture, 'image/png')
  await alice.upload('album/words.txt', 'words', 'text/plain')
  await until(async () => {
    await t.settle()
    return (await t.app.db.rows("SELECT digest FROM preview WHERE state = 'made'")).length === 1
  })
})
afterAll(() => t.stop())

const LINK =
  'mutation ($input: CreateLinkInput!) { createLink(input: $input) { share { id token url } } }'
const link = async (more: object = {}): Promise<{ id: string; token: string; url: string }> =>
  (await ask(alice, LINK, { input: { entries: [{ at: { path: 'album' } }], ...more } })).createLink
    .share

const FOLDER = `query ($token: String!, $password: String, $path: String) {
  sharedFolder(token: $token, password: $password, path: $path) { entries { name thumbnail } } }`
type Thumbnails = Record<string, string | null>
async function listed(person: Person, variables: object): Promise<Thumbnails> {
  const { entries } = (await ask(person, FOLDER, variables)).sharedFolder
  return Object.fromEntries(
    entries.map((entry: { name: string; thumbnail: string | null }) => [
      entry.name,
      entry.thumbnail,
    ]),
  )
}
const get = (url: string, headers: Record<string, string> = {}) =>
  fetch(url, { headers, redirect: 'manual' })
/** The thumbnails in the tiles of a page. */
const picturesOn = async (url: string, headers: Record<string, string> = {}): Promise<string[]> =>
  [...(await (await get(url, headers)).text()).matchAll(/<img src="([^"]*)"/g)].map(
    ([, src = '']) => src.replaceAll('&amp;', '&'),
  )

it('The page and the list of a shared folder show thumbnails, which browsers cache', async () => {
  const { token, url } = await link()
  const [src = '', ...others] = await picturesOn(url)
  expect(others).toEqual([])
  expect(src).toMatch(/\/preview\?path=a\.png&small=[0-9a-f]{16}$/)
  const shown = await get(new URL(src, t.url).href)
  expect([
    shown.status,
    shown.headers.get('content-type'),
    shown.headers.get('cache-control'),
  ]).toEqual([200, 'image/webp', 'private, max-age=86400, immutable'])
  const thumbnails = await listed(bob, { token })
  expect(thumbnails).toEqual({
    sub: null,
    'a.png': expect.stringContaining('small='),
    'words.txt': null,
  })
  expect((await get(thumbnails['a.png'] ?? '')).status).toBe(200)
  const below = (await listed(bob, { token, path: 'sub' }))['b.png'] ?? ''
  expect((await get(below)).headers.get('content-type')).toBe('image/webp')
  // An address with another version is not cached.
  const other = await get(below.replace(/small=.*/, 'small=0123456789abcdef'))
  expect([other.status, other.headers.get('cache-control')]).toEqual([200, 'private, no-cache'])
  // Paths cannot name anything above or beside the shared folder.
  expect((await get(below.replace('sub%2Fb.png', '..%2Falbum%2Fa.png'))).status).not.toBe(200)
  await ask(
    alice,
    'mutation ($input: RevokeShareInput!) { revokeShare(input: $input) { entry { id } } }',
    {
      input: { share: { token } },
    },
  )
  expect((await get(below)).status).toBe(404)
})

it('Thumbnails are hidden for shares with a download limit, and shown when view-only or unlocked', async () => {
  const limited = await link({ maxDownloads: 5 })
  expect(await picturesOn(limited.url)).toEqual([])
  expect(await listed(bob, { token: limited.token })).toEqual({
    sub: null,
    'a.png': null,
    'words.txt': null,
  })
  const version = (await listed(bob, { token: (await link()).token }))['a.png']?.replace(
    /.*small=/,
    '',
  )
  const guessed = await get(`${limited.url}/preview?path=a.png&small=${version}`)
  expect([guessed.status, guessed.headers.get('content-type')]).not.toEqual([200, 'image/webp'])

  const viewed = await link({ allowDownload: false })
  expect(await picturesOn(viewed.url)).toHaveLength(1)

  const locked = await link({ password: 'open sesame' })
  const closed = await get(`${locked.url}/preview?path=a.png&small=${version}`)
  expect(closed.status).toBe(303)
  // Thumbnail requests of a page contain no password, so the console shows icons.
  expect((await listed(bob, { token: locked.token, password: 'open sesame' }))['a.png']).toBeNull()
  const unlocked = await fetch(`${locked.url}`, {
    method: 'POST',
    body: new URLSearchParams({ password: 'open sesame' }),
    headers: { origin: new URL(t.url).origin },
    redirect: 'manual',
  })
  const cookie = unlocked.headers.get('set-cookie')?.replace(/;.*/, '') ?? ''
  const [src = ''] = await picturesOn(locked.url, { cookie })
  expect((await get(new URL(src, t.url).href, { cookie })).headers.get('content-type')).toBe(
    'image/webp',
  )
})

it('A thumbnail that is shared with one person is visible to them alone, until the share ends', async () => {
  const SHARE =
    'mutation ($input: CreateDirectShareInput!) { createDirectShare(input: $input) { shares { id token } } }'
  const RECEIVED =
    '{ me { receivedShares(newestFirst: true) { nodes { ... on DirectShare { fileName thumbnail } } } } }'
  const share = async () =>
    (
      await ask(alice, SHARE, {
        input: { entries: [{ at: { path: 'album/a.png' } }], email: 'bob@example.com' },
      })
    ).createDirectShare.shares[0]
  const newest = async (): Promise<string | null> =>
    (await ask(bob, RECEIVED)).me.receivedShares.nodes[0].thumbnail
  const { token } = await share()
  const url = (await newest()) ?? ''
  expect(url).toMatch(/\/preview\?small=[0-9a-f]{16}$/)
  const statusFor = async (person?: Person) =>
    (await get(url, person ? { cookie: person.cookie } : {})).status
  expect(await statusFor(bob)).toBe(200)
  expect(await statusFor()).not.toBe(200)
  expect(await statusFor(await t.signIn('carol'))).toBe(403)
  await ask(
    alice,
    'mutation ($input: RevokeShareInput!) { revokeShare(input: $input) { entry { id } } }',
    {
      input: { share: { token } },
    },
  )
  expect(await statusFor(bob)).toBe(404)
  const { token: limited } = await share()
  expect(await newest()).not.toBeNull()
  await t.app.db.run('UPDATE share SET max_downloads = 3 WHERE id = ?', [
    t.app.services.shareLinks.idOf(limited),
  ])
  expect(await newest()).toBeNull()
})

it('Thumbnails add one statement to a page of a shared folder', async () => {
  const { token } = await link()
  const counts = async (path: string) => {
    t.statements()
    await listed(t.anonymous, { token, path })
    return t.statements().length
  }
  await alice.upload('album/texts/a.txt', 'text', 'text/plain')
  await counts('sub')
  expect((await counts('sub')) - (await counts('texts'))).toBe(1)
})
