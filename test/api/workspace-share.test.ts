import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { ask, codeOf } from '../support/ask.ts'
import { driveOf, found, join, privateKey, put, workspaceKey } from '../support/builders.ts'
import { type Person, type RestAnswer, startApp, type TestApp } from '../support/harness.ts'

let t: TestApp
let owner: Person
let editor: Person
let viewer: Person
let carol: Person
let garden: string

beforeAll(async () => {
  t = await startApp()
  owner = await t.signIn('owner')
  editor = await t.signIn('editor')
  viewer = await t.signIn('viewer')
  carol = await t.signIn('carol')
  garden = await found(owner)
  await join(t, garden, editor, 'editor')
  await join(t, garden, viewer, 'viewer')
})
afterAll(() => t.stop())

const LINK = `mutation ($input: CreateLinkInput!) { createLink(input: $input) {
  share { id token entry { path } } entry { path shareCount } } }`
const SHARE = `mutation ($input: CreateDirectShareInput!) { createDirectShare(input: $input) { shares { id token entry { path } } } }`
let made = 0

/** A new file in the workspace: its id and its path. */
async function file(bytes = 'roses'): Promise<{ id: string; path: string }> {
  const path = `beds/${++made}/rose.txt`
  await put(owner, garden, path, bytes)
  const drive = await driveOf(owner, garden)
  const { node } = await ask(
    owner,
    'query ($id: ID!, $path: String!) { node(id: $id) { ... on Drive { entry(path: $path) { id } } } }',
    {
      id: drive,
      path,
    },
  )
  return { id: node.entry.id, path: `/${path}` }
}

interface Made {
  id: string
  token: string
}

const link = async (id: string, person = editor): Promise<Made> =>
  (await ask(person, LINK, { input: { entries: { id } } })).createLink.share
const linkCode = (id: string, person: Person) =>
  codeOf(person, LINK, { input: { entries: { id } } })
const resolve = (token: string, person = t.anonymous) =>
  person.rest('POST', `/api/share/resolve/${token}`, { json: {} })
const statusAndCode = ({ status, response }: RestAnswer) => [status, response?.code]
const gone = [404, 'SHARE_NOT_FOUND']
const changeRole = (person: Person, role: string) =>
  owner.rest('PATCH', '/api/workspaces/members/role', {
    json: { workspace_id: garden, user_id: person.userId, role },
  })

describe('An entry of a workspace', () => {
  it('can be shared by its writers, by a link and with a person', async () => {
    const { id, path } = await file()
    const drive = await driveOf(editor, garden)
    const { createLink } = await ask(editor, LINK, {
      input: { entries: { at: { drive, path } }, duration: 'never' },
    })
    expect(createLink).toMatchObject({ share: { entry: { path } }, entry: { path, shareCount: 1 } })
    const { url } = (await resolve(createLink.share.token)).response
    expect(await (await fetch(url)).text()).toBe('roses')
    const [direct] = (
      await ask(editor, SHARE, { input: { entries: [{ id }], email: carol.email } })
    ).createDirectShare.shares
    expect(direct.entry).toEqual({ path })
    expect((await resolve(direct.token, carol)).status).toBe(200)
    const received = (await carol.rest('GET', '/api/files/received')).response.files
    expect(received).toMatchObject([
      { sharing_token: direct.token, workspace_id: null, shared_by: editor.email },
    ])
  })

  it('is shared with its folders, and later changes are visible', async () => {
    const { path } = await file()
    const folder = path.split('/').slice(0, 3).join('/')
    const drive = await driveOf(editor, garden)
    const { share } = (
      await ask(editor, LINK, { input: { entries: { at: { drive, path: folder } } } })
    ).createLink
    await put(owner, garden, `${folder.slice(1)}/tulip.txt`, 'tulips')
    const { files } = (await t.anonymous.rest('GET', `/api/share/entries/${share.token}`)).response
    expect(files.map(({ name }: { name: string }) => name)).toEqual(['rose.txt', 'tulip.txt'])
  })

  it('cannot be shared by viewers, strangers or keys', async () => {
    const { id } = await file()
    expect(await linkCode(id, viewer)).toBe('FORBIDDEN')
    expect(await linkCode(id, carol)).toBe('FILE_NOT_FOUND')
    const { caller } = await workspaceKey(t, owner, garden)
    expect(await linkCode(id, caller)).toBe('KEY_OUT_OF_BOUNDS')
    expect(await linkCode(id, (await privateKey(t, owner)).caller)).toBe('KEY_OUT_OF_BOUNDS')
    expect(await codeOf(viewer, SHARE, { input: { entries: [{ id }], email: carol.email } })).toBe(
      'FORBIDDEN',
    )
    const mine = (await owner.upload('own.txt', 'x')).response
    const files = [{ id }, { at: { path: 'own.txt' } }]
    expect([
      mine !== undefined,
      await codeOf(owner, SHARE, { input: { entries: files, email: carol.email } }),
    ]).toEqual([true, 'INVALID_INPUT'])
  })

  it('is listed for the member who shared it, but only in a session', async () => {
    const { id, path } = await file()
    const { token } = await link(id)
    const mine = async (person: Person) =>
      (await person.rest('GET', '/api/files/shared_by_user?limit=1000')).response.files.filter(
        (share: { sharing_token: string }) => share.sharing_token === token,
      )
    expect(await mine(editor)).toMatchObject([{ file_name: path, workspace_id: garden }])
    const key = (await privateKey(t, editor)).caller
    expect(await mine(key)).toEqual([])
    expect(statusAndCode(await key.rest('POST', `/api/share/revoke/${token}`))).toEqual([
      403,
      'FORBIDDEN',
    ])
    const COUNT =
      'query ($id: ID!) { node(id: $id) { ... on File { shareCount shares { nodes { token } } } } }'
    expect((await ask(editor, COUNT, { id })).node).toEqual({
      shareCount: 1,
      shares: { nodes: [{ token }] },
    })
    expect((await ask(owner, COUNT, { id })).node).toEqual({ shareCount: 0, shares: { nodes: [] } })
    expect((await ask(viewer, COUNT, { id })).node).toEqual({ shareCount: null, shares: null })
    const ofWorkspace = (await workspaceKey(t, owner, garden)).caller
    expect((await ask(ofWorkspace, COUNT, { id })).node).toEqual({ shareCount: null, shares: null })
    expect(
      (await editor.rest('PATCH', `/api/share/${token}`, { json: { label: 'For the fair' } }))
        .status,
    ).toBe(200)
    expect((await editor.rest('POST', `/api/share/revoke/${token}`)).status).toBe(200)
  })

  it('is recorded in the log of the workspace', async () => {
    const { id, path } = await file()
    const share = await link(id)
    await editor.rest('POST', `/api/share/revoke/${share.token}`)
    const EVENTS = `query ($id: ID!) { node(id: $id) { ... on Drive { events(newestFirst: true, first: 2) {
      nodes { kind actor { id } } } } } }`
    const drive = await driveOf(editor, garden)
    const actor = { id: editor.userId }
    expect((await ask(owner, EVENTS, { id: drive })).node.events.nodes).toMatchObject([
      { kind: 'SHARE_REVOKED', actor },
      { kind: 'SHARE_CREATED', actor },
    ])
    const seen = (await ask(viewer, EVENTS, { id: drive })).node.events.nodes
    expect(seen.map(({ kind }: { kind: string }) => kind)).not.toContain('SHARE_CREATED')
    expect(path).toContain('rose')
  })
})

describe('A share from a workspace ends', () => {
  it('when its file is deleted, until that is undone', async () => {
    const { id, path } = await file()
    const { token } = await link(id)
    await owner.rest('DELETE', `/api/workspaces/${garden}/files/delete?path=${path}`)
    expect(statusAndCode(await resolve(token))).toEqual(gone)
    const { items } = (await owner.rest('GET', `/api/workspaces/${garden}/trash`)).response
    const [item] = items.filter((each: { path?: string; name?: string }) =>
      JSON.stringify(each).includes(path.slice(1)),
    )
    await owner.rest('POST', `/api/workspaces/${garden}/trash/restore`, {
      json: { items: [item.id] },
    })
    expect(statusAndCode(await resolve(token))).toEqual([200, undefined])
  })

  it('when its creator loses the role, and does not return with the role', async () => {
    const { id } = await file()
    const { token } = await link(id)
    expect((await changeRole(editor, 'admin')).status).toBe(200)
    expect((await resolve(token)).status).toBe(200)
    expect((await changeRole(editor, 'viewer')).status).toBe(200)
    expect(statusAndCode(await resolve(token))).toEqual(gone)
    await changeRole(editor, 'editor')
    expect(statusAndCode(await resolve(token))).toEqual(gone)
  })

  it('when its creator leaves, whose other shares are kept', async () => {
    const dave = await t.signIn('dave')
    await join(t, garden, dave, 'editor')
    await dave.upload('own.txt', 'mine')
    const own = (await dave.rest('POST', '/api/files/quick_share', { json: { object: 'own.txt' } }))
      .response
    const { token } = await link((await file()).id, dave)
    const others = await link((await file()).id)
    const { url } = (await resolve(token)).response
    await owner.rest(
      'DELETE',
      `/api/workspaces/members/remove?workspace_id=${garden}&user_id=${dave.userId}`,
    )
    expect(statusAndCode(await resolve(token))).toEqual(gone)
    expect((await fetch(url)).status).toBe(404)
    expect((await resolve(own.sharing_token)).status).toBe(200)
    expect((await resolve(others.token)).status).toBe(200)
    await join(t, garden, dave, 'editor')
    expect(statusAndCode(await resolve(token))).toEqual(gone)
  })

  it('at once, even when the role is lost outside the service', async () => {
    const { id } = await file()
    const erin = await t.signIn('erin')
    await join(t, garden, erin, 'editor')
    const share = await link(id, erin)
    await t.app.db.run('UPDATE member SET role = ? WHERE workspace_id = ? AND user_id = ?', [
      'viewer',
      garden,
      erin.userId,
    ])
    expect(statusAndCode(await resolve(share.token))).toEqual(gone)
    expect((await ask(erin, '{ me { shares { nodes { id } } } }')).me.shares.nodes).toEqual([])
    await t.app.db.run('UPDATE member SET role = ? WHERE workspace_id = ? AND user_id = ?', [
      'editor',
      garden,
      erin.userId,
    ])
    // The member shares and loses the right at the same time: no share is left.
    for (let i = 0; i < 10; i++) {
      const [, changed] = await Promise.all([
        codeOf(erin, LINK, { input: { entries: { id } } }),
        changeRole(erin, 'viewer'),
      ])
      expect(changed.status).toBe(200)
      const rows = await t.app.db.rows('SELECT id FROM share WHERE user_id = ?', [erin.userId])
      expect(rows).toEqual([])
      await changeRole(erin, 'editor')
    }
  })

  it('with the workspace', async () => {
    const orchard = await found(owner, 'Orchard')
    await put(owner, orchard, 'apple.txt', 'red')
    const drive = await driveOf(owner, orchard)
    const { share } = (
      await ask(owner, LINK, {
        input: { entries: { at: { drive, path: 'apple.txt' } }, duration: 'never' },
      })
    ).createLink
    expect((await resolve(share.token)).status).toBe(200)
    expect(
      (await owner.rest('DELETE', `/api/workspaces/delete?workspace_id=${orchard}`)).status,
    ).toBe(200)
    expect(statusAndCode(await resolve(share.token))).toEqual(gone)
    expect(await t.app.db.rows('SELECT id FROM share WHERE id = ?', [share.id])).toEqual([])
  })
})
