import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { ask, codeOf } from '../support/ask.ts'
import { found, privateKey, workspaceKey } from '../support/builders.ts'
import {
  type Person,
  type RestAnswer,
  type RestOptions,
  startApp,
  type TestApp,
} from '../support/harness.ts'

let t: TestApp
let alice: Person
let bob: Person

beforeAll(async () => {
  t = await startApp()
  alice = await t.signIn('alice')
  bob = await t.signIn('bob')
  await alice.upload('trip/day 1/sea.txt', 'blue', 'text/plain')
  await alice.upload('trip/plan.txt', 'walk', 'text/plain')
  await alice.upload('trip/zebra.txt', 'stripes', 'text/plain')
  await alice.upload('private.txt', 'mine', 'text/plain')
})
afterAll(() => t.stop())

const statusAndCode = ({ status, response }: RestAnswer) => [status, response.code]
const quickShare = (json: object, person = alice) =>
  person.rest('POST', '/api/folders/quick_share', { json })
const entries = (token: string, query = '', options: RestOptions = {}, person = t.anonymous) =>
  person.rest('GET', `/api/share/entries/${token}${query}`, options)
const resolve = (token: string, path?: string, options: RestOptions = {}, person = t.anonymous) =>
  person.rest(
    'POST',
    `/api/share/resolve/${token}${path === undefined ? '' : `?${new URLSearchParams({ path })}`}`,
    options,
  )

/** Creates a link to a folder of alice. Returns its token. */
async function shareFolder(path: string, terms: object = {}): Promise<string> {
  const { status, response } = await quickShare({ path, ...terms })
  expect(status).toBe(200)
  return response.sharing_token
}

/** The names in a shared folder as its visitors see them. */
async function namesIn(token: string, query = ''): Promise<string[]> {
  const { status, response } = await entries(token, query)
  expect(status).toBe(200)
  return [...response.folders, ...response.files].map(({ name }: { name: string }) => name)
}

const bytesOf = async (url: string) => (await fetch(url)).text()
const move = (source: string, destination: string, what = 'files') =>
  alice.rest('POST', `/api/${what}/move`, { json: { source, destination } })

describe('POST /api/folders/quick_share', () => {
  it('200 creates a link to a folder, by session and by key', async () => {
    for (const person of [alice, (await privateKey(t, alice, ['private_files:share'])).caller]) {
      const { status, response } = await quickShare({ path: 'trip', duration: '7d' }, person)
      expect(status).toBe(200)
      expect(response.sharing_link).toMatch(new RegExp(`/share/${response.sharing_token}$`))
      expect(await namesIn(response.sharing_token)).toEqual(['day 1', 'plan.txt', 'zebra.txt'])
    }
  })

  it.each([
    [{ path: '' }, 400, 'INVALID_PATH'],
    [{ path: 'trip/../trip' }, 400, 'INVALID_PATH'],
    [{ path: 'trip', duration: 'soon' }, 400, 'INVALID_DURATION'],
    [{ path: 'trip', max_downloads: 0 }, 400, 'INVALID_INPUT'],
    [{ path: 'none' }, 404, 'FOLDER_NOT_FOUND'],
    [{ path: 'private.txt' }, 404, 'FOLDER_NOT_FOUND'],
  ])('refuses %j', async (json, status, code) => {
    expect(statusAndCode(await quickShare(json))).toEqual([status, code])
  })

  it('400 at the limit of links, 404 for another person’s folder', async () => {
    await t.limit({ maxPublicLinks: 0 })
    expect(statusAndCode(await quickShare({ path: 'trip' }))).toEqual([400, 'QUOTA_EXCEEDED'])
    await t.limit({ maxPublicLinks: null })
    expect(statusAndCode(await quickShare({ path: 'trip' }, bob))).toEqual([
      404,
      'FOLDER_NOT_FOUND',
    ])
  })
})

describe('GET /api/share/entries/{token}', () => {
  it('200 lists the folder page by page, and nothing above it', async () => {
    const token = await shareFolder('trip/day 1')
    const { response } = await entries(token)
    expect(response).toEqual({
      path: '',
      folders: [],
      files: [
        {
          name: 'sea.txt',
          path: 'sea.txt',
          file_type: 'text/plain',
          size: 4,
          md5_checksum: '48d6215903dff56238e52e8891380c8f',
          modified_at: expect.any(String),
          updated_at: expect.any(String),
        },
      ],
      next_cursor: null,
    })
    const whole = await shareFolder('trip')
    const seen: string[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: RestAnswer = await entries(whole, `?limit=1${cursor && `&cursor=${cursor}`}`)
      seen.push(...[...page.response.folders, ...page.response.files].map(({ name }) => name))
      cursor = page.response.next_cursor
    }
    expect(seen).toEqual(['day 1', 'plan.txt', 'zebra.txt'])
    expect(await namesIn(whole, '?path=day 1')).toEqual(['sea.txt'])
  })

  it('400 for a path that leads out, 404 for a missing folder', async () => {
    const token = await shareFolder('trip/day 1')
    expect(statusAndCode(await entries(token, '?path=..'))).toEqual([400, 'INVALID_PATH'])
    expect(statusAndCode(await entries(token, '?limit=0'))).toEqual([400, 'INVALID_INPUT'])
    for (const path of ['trip', 'plan.txt', 'sea.txt', 'none'])
      expect(statusAndCode(await entries(token, `?path=${path}`))).toEqual([
        404,
        'FOLDER_NOT_FOUND',
      ])
    const { response } = await alice.rest('POST', '/api/files/quick_share', {
      json: { object: 'private.txt' },
    })
    expect(statusAndCode(await entries(response.sharing_token))).toEqual([404, 'FOLDER_NOT_FOUND'])
    expect(statusAndCode(await entries('x'.repeat(43)))).toEqual([404, 'SHARE_NOT_FOUND'])
  })

  it('401 and 403 without the password, or after the share has ended', async () => {
    const token = await shareFolder('trip', { password: 'sesame' })
    const sent = (password: string) =>
      entries(token, '', { headers: { 'x-share-password': password } })
    expect(statusAndCode(await entries(token))).toEqual([401, 'PASSWORD_REQUIRED'])
    expect(statusAndCode(await sent('guess'))).toEqual([403, 'WRONG_PASSWORD'])
    expect((await sent('sesame')).status).toBe(200)
    expect(statusAndCode(await resolve(token, 'plan.txt'))).toEqual([401, 'PASSWORD_REQUIRED'])
    expect((await resolve(token, 'plan.txt', { json: { password: 'sesame' } })).status).toBe(200)
    await t.app.db.run('UPDATE share SET expires_at = ?', [Date.now() - 1])
    expect(statusAndCode(await sent('sesame'))).toEqual([403, 'SHARE_EXPIRED'])
  })

  it('limits guesses of its password together with the other routes', async () => {
    const token = await shareFolder('trip', { password: 'sesame' })
    const codes: unknown[] = []
    for (let i = 0; i < 12; i++)
      codes.push(
        (await entries(token, '', { headers: { 'x-share-password': `guess ${i}` } })).response.code,
      )
    expect(codes.at(0)).toBe('WRONG_PASSWORD')
    expect(codes.at(-1)).toBe('TOO_MANY_ATTEMPTS')
  })
})

describe('A file below a shared folder', () => {
  it('is downloaded by its path, and counts as one download', async () => {
    const token = await shareFolder('trip', { max_downloads: 2 })
    const { response } = await resolve(token, 'day 1/sea.txt')
    expect(response.file_name).toBe('sea.txt')
    expect(await bytesOf(response.url)).toBe('blue')
    expect(await bytesOf(`${t.url}/api/d/${token}?path=plan.txt`)).toBe('walk')
    expect(statusAndCode(await resolve(token, 'plan.txt'))).toEqual([403, 'SHARE_USED_UP'])
    expect(statusAndCode(await entries(token))).toEqual([403, 'SHARE_USED_UP'])
  })

  it('is not found by a path outside the folder', async () => {
    const token = await shareFolder('trip')
    expect(statusAndCode(await resolve(token, '../private.txt'))).toEqual([400, 'INVALID_PATH'])
    for (const path of ['private.txt', 'trip/plan.txt', 'day 2'])
      expect(statusAndCode(await resolve(token, path))).toEqual([404, 'FILE_NOT_FOUND'])
    const one = await alice.rest('POST', '/api/files/quick_share', {
      json: { object: 'private.txt' },
    })
    expect(statusAndCode(await resolve(one.response.sharing_token, 'private.txt'))).toEqual([
      404,
      'FILE_NOT_FOUND',
    ])
    const above = await t.anonymous.rest('GET', `/api/d/${token}?path=../plan.txt`)
    expect([above.status, above.response.code]).toEqual([400, 'INVALID_PATH'])
    const { status, response } = await t.anonymous.rest('GET', `/api/d/${token}?path=none`)
    expect([status, response.code]).toEqual([404, 'FILE_NOT_FOUND'])
  })
})

describe('The visible entries of a share', () => {
  it('follow moves, renames, deletions and restores', async () => {
    await alice.upload('live/in/a.txt', 'a')
    const token = await shareFolder('live')
    const { url } = (await resolve(token, 'in/a.txt')).response
    expect(await bytesOf(url)).toBe('a')

    await move('live/in/a.txt', 'a.txt')
    expect(await namesIn(token, '?path=in')).toEqual([])
    expect(statusAndCode(await resolve(token, 'in/a.txt'))).toEqual([404, 'FILE_NOT_FOUND'])
    // The URL was issued while the file was in the share.
    expect((await fetch(url)).status).toBe(404)

    await move('a.txt', 'live/in/b.txt')
    expect(await bytesOf((await resolve(token, 'in/b.txt')).response.url)).toBe('a')
    await alice.rest('DELETE', '/api/files/delete?file=live/in/b.txt')
    expect(await namesIn(token, '?path=in')).toEqual([])
    const [item] = (await alice.rest('GET', '/api/trash?limit=1')).response.items
    await alice.rest('POST', '/api/trash/restore', { json: { items: [item.id] } })
    expect(await namesIn(token, '?path=in')).toEqual(['b.txt'])

    await move('live', 'elsewhere/renamed', 'folders')
    expect(await namesIn(token)).toEqual(['in'])
    await alice.rest('DELETE', '/api/folders?path=elsewhere/renamed/in&recursive=true')
    expect(await namesIn(token)).toEqual([])
  })

  it.each([
    ['itself', 'gone 1/shared'],
    ['a folder above', 'gone 1'],
    ['itself, empty', 'gone 2/empty'],
    ['a parent folder that contains only folders', 'gone 2'],
  ])('are hidden by the deletion of %s, and return when it is undone', async (_, path) => {
    await alice.upload('gone 1/shared/a.txt', 'a')
    await alice.rest('POST', '/api/folders', { json: { path: 'gone 2/empty' } })
    const token = await shareFolder(path.startsWith('gone 1') ? 'gone 1/shared' : 'gone 2/empty')
    await alice.rest('DELETE', `/api/folders?path=${path}&recursive=true`)
    expect(statusAndCode(await entries(token))).toEqual([404, 'SHARE_NOT_FOUND'])
    const [item] = (await alice.rest('GET', '/api/trash?limit=1')).response.items
    await alice.rest('POST', '/api/trash/restore', { json: { items: [item.id] } })
    expect(statusAndCode(await entries(token))).toEqual([200, undefined])
    await alice.rest('DELETE', `/api/folders?path=${path.slice(0, 6)}&recursive=true`)
  })

  it('are hidden while the sharer is suspended', async () => {
    const carol = await t.signIn('carol')
    await carol.upload('c/c.txt', 'of carol')
    const token = (await quickShare({ path: 'c' }, carol)).response.sharing_token
    await t.app.db.run("UPDATE user SET status = 'suspended' WHERE id = ?", [carol.userId])
    expect(statusAndCode(await entries(token))).toEqual([404, 'SHARE_NOT_FOUND'])
    await t.app.db.run("UPDATE user SET status = 'active' WHERE id = ?", [carol.userId])
    expect(await namesIn(token)).toEqual(['c.txt'])
  })

  it('are separate from another share, nested or beside it', async () => {
    const outer = await shareFolder('trip')
    const inner = await shareFolder('trip/day 1')
    expect(await namesIn(inner)).toEqual(['sea.txt'])
    expect(statusAndCode(await resolve(inner, 'plan.txt'))).toEqual([404, 'FILE_NOT_FOUND'])
    await alice.rest('POST', `/api/share/revoke/${inner}`)
    expect(await namesIn(outer, '?path=day 1')).toEqual(['sea.txt'])
    expect(statusAndCode(await entries(inner))).toEqual([404, 'SHARE_NOT_FOUND'])
  })
})

describe('GraphQL', () => {
  const LINK = `mutation ($input: CreateLinkInput!) { createLink(input: $input) {
    share { token entryKind fileName contentType size entry { __typename name } file { id } } entry { id } file { id } } }`
  const FOLDER = `query ($token: String!, $password: String, $path: String, $first: Int, $after: String) {
    sharedFolder(token: $token, password: $password, path: $path, first: $first, after: $after) {
      path endCursor entries { kind name size contentType md5 } } }`
  const OPEN =
    'mutation ($input: OpenShareInput!) { openShare(input: $input) { download { url } } }'

  it('createLink shares a folder, and the folder shows it', async () => {
    const { share, entry, file } = (
      await ask(alice, LINK, { input: { entries: { at: { path: 'trip' } } } })
    ).createLink
    expect(share).toMatchObject({
      entryKind: 'FOLDER',
      fileName: 'trip',
      contentType: '',
      size: 15,
      file: null,
    })
    expect(share.entry).toEqual({ __typename: 'Folder', name: 'trip' })
    expect(file).toBeNull()
    const of = `query ($id: ID!) { node(id: $id) { ... on Folder { shareCount permissions shares(newestFirst: true, first: 1) { nodes { token } } } } }`
    const { node } = await ask(alice, of, { id: entry.id })
    expect(node.shareCount).toBeGreaterThan(0)
    expect(node.permissions).toContain('SHARE')
    expect(node.shares.nodes).toEqual([{ token: share.token }])
    const { share: preview } = await ask(
      t.anonymous,
      'query ($token: String!) { share(token: $token) { entryKind fileName size } }',
      {
        token: share.token,
      },
    )
    expect(preview).toEqual({ entryKind: 'FOLDER', fileName: 'trip', size: 15 })
  })

  it('sharedFolder reads a folder page by page, and openShare opens a file in it', async () => {
    const token = await shareFolder('trip', { password: 'sesame' })
    const asked = { token, password: 'sesame' }
    const { sharedFolder: first } = await ask(t.anonymous, FOLDER, { ...asked, first: 2 })
    expect(first.path).toBe('')
    expect(first.entries.map(({ kind, name }: Record<string, string>) => [kind, name])).toEqual([
      ['FOLDER', 'day 1'],
      ['FILE', 'plan.txt'],
    ])
    const { sharedFolder: next } = await ask(t.anonymous, FOLDER, {
      ...asked,
      first: 2,
      after: first.endCursor,
    })
    expect([next.entries.length, next.endCursor]).toEqual([1, null])
    expect(await codeOf(t.anonymous, FOLDER, { token })).toBe('PASSWORD_REQUIRED')
    expect(await codeOf(t.anonymous, FOLDER, { ...asked, password: 'no' })).toBe('WRONG_PASSWORD')
    expect(await codeOf(t.anonymous, FOLDER, { ...asked, path: '..' })).toBe('INVALID_PATH')
    expect(await codeOf(t.anonymous, FOLDER, { ...asked, path: 'plan.txt' })).toBe(
      'FOLDER_NOT_FOUND',
    )
    const { openShare } = await ask(t.anonymous, OPEN, {
      input: { ...asked, path: 'day 1/sea.txt' },
    })
    expect(await bytesOf(openShare.download.url)).toBe('blue')
    expect(await codeOf(t.anonymous, OPEN, { input: { ...asked, path: '../x' } })).toBe(
      'INVALID_PATH',
    )
    expect(await codeOf(t.anonymous, OPEN, { input: { ...asked, path: 'none' } })).toBe(
      'FILE_NOT_FOUND',
    )
  })

  it('sharedFolder names its own arguments in errors', async () => {
    const token = await shareFolder('trip')
    const fieldOf = async (variables: object) =>
      (await t.anonymous.graphql(FOLDER, { token, ...variables })).errors?.[0]?.extensions.field
    expect(await fieldOf({ first: 0 })).toBe('first')
    expect(await fieldOf({ first: 1001 })).toBe('first')
    expect(await fieldOf({ after: 'nowhere' })).toBe('after')
  })

  it('createDirectShare shares a folder with one person only', async () => {
    const input = { entries: [{ at: { path: 'trip' } }], email: bob.email }
    const { createDirectShare } = await ask(
      alice,
      'mutation ($input: CreateDirectShareInput!) { createDirectShare(input: $input) { shares { token entryKind } } }',
      { input },
    )
    const [{ token, entryKind }] = createDirectShare.shares
    expect(entryKind).toBe('FOLDER')
    const received = await ask(
      bob,
      '{ me { receivedShares { nodes { token fileName entry { id } } } } }',
    )
    expect(received.me.receivedShares.nodes).toEqual([{ token, fileName: 'trip', entry: null }])
    for (const person of [alice, bob])
      expect((await entries(token, '', {}, person)).status).toBe(200)
    expect((await entries(token)).status).toBe(401)
    expect(statusAndCode(await entries(token, '', {}, await t.signIn('mallory')))).toEqual([
      403,
      'FORBIDDEN',
    ])
    const key = await privateKey(t, bob, ['private_files:write'])
    expect(statusAndCode(await entries(token, '', {}, key.caller))).toEqual([
      403,
      'INSUFFICIENT_SCOPE',
    ])
    const inWorkspace = await workspaceKey(t, bob, await found(bob), ['workspaces:read'])
    expect(statusAndCode(await entries(token, '', {}, inWorkspace.caller))).toEqual([
      403,
      'KEY_OUT_OF_BOUNDS',
    ])
    expect(await bytesOf((await resolve(token, 'plan.txt', {}, bob)).response.url)).toBe('walk')
    // REST lists a folder by its media type.
    const { files } = (await bob.rest('GET', '/api/files/received')).response
    expect(files).toMatchObject([{ file_name: 'trip', file_type: 'inode/directory' }])
  })
})
