import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { ask, codeOf } from '../support/ask.ts'
import { expel, found, join, workspaceKey } from '../support/builders.ts'
import { basic, type Dav, davOf, davPerson, lockInfo, lockOf } from '../support/dav-client.ts'
import { type Person, startApp, type TestApp } from '../support/harness.ts'

let t: TestApp
beforeAll(async () => {
  t = await startApp()
})
afterAll(() => t.stop())

const statusOf = async (answer: Promise<{ status: number }>) => (await answer).status
const unlock = (dav: Dav, path: string, token: string) =>
  statusOf(dav('UNLOCK', path, { headers: { 'lock-token': `<${token}>` } }))

/** A workspace with an owner and another member, each with a WebDAV client. */
async function workspaceOfTwo(name: string, role: 'admin' | 'editor') {
  const [owner, other] = [await t.signIn(`${name}-owner`), await t.signIn(`${name}-other`)]
  const id = await found(owner, name)
  await join(t, id, other, role)
  const { slug = '' } = (await t.app.db.Workspace.findByPk(id, { raw: true })) ?? {}
  // Only owners and admins create workspace keys.
  await join(t, id, other, 'admin')
  const clientOf = async (who: Person) =>
    davOf(t.url, basic(who.email, (await workspaceKey(t, who, id)).key))
  const clients = { owner: await clientOf(owner), other: await clientOf(other) }
  await join(t, id, other, role)
  return { id, owner, other, clients, root: `/workspaces/${slug}` }
}

describe('A WebDAV lock', () => {
  it.each(['', '/f'])('ends when its owner leaves the workspace (at "%s")', async at => {
    const { id, other, clients, root } = await workspaceOfTwo(`left${at.length}`, 'editor')
    await clients.owner('PUT', `${root}/f`, { body: 'f' })
    await lockOf(clients.other, `${root}${at}`)
    expect(await statusOf(clients.owner('PUT', `${root}/f`, { body: 'x' }))).toBe(423)
    await expel(t, id, other)
    expect(await statusOf(clients.owner('PUT', `${root}/f`, { body: 'x' }))).toBe(204)
    const { text } = await clients.owner('PROPFIND', `${root}${at}`, { headers: { depth: '0' } })
    expect(text).not.toContain('activelock')
    expect(await statusOf(clients.owner('LOCK', root, { body: lockInfo() }))).toBe(200)
  })

  it('ends when its owner becomes a viewer', async () => {
    const { id, other, clients, root } = await workspaceOfTwo('demoted', 'editor')
    await lockOf(clients.other, root)
    await join(t, id, other, 'viewer')
    expect(await statusOf(clients.owner('PUT', `${root}/f`, { body: 'x' }))).toBe(201)
  })

  it('ends when its owner’s share ends, or when the entry leaves that share', async () => {
    const { person: owner, dav } = await davPerson(t, 'sharer')
    const { person: guest, dav: theirs } = await davPerson(t, 'guest')
    await owner.upload('box/f', 'f')
    await owner.upload('box/g', 'g')
    const { createDirectShare } = await ask(
      owner,
      'mutation ($input: CreateDirectShareInput!) { createDirectShare(input: $input) { shares { token } } }',
      { input: { entries: [{ at: { path: 'box' } }], email: guest.email, mayEdit: true } },
    )
    const { token } = createDirectShare.shares[0]
    await lockOf(theirs, '/shared/box/f')
    await lockOf(theirs, '/shared/box/g')
    expect(await statusOf(dav('PUT', '/files/box/f', { body: 'x' }))).toBe(423)
    await owner.rest('POST', '/api/files/move', { json: { source: 'box/g', destination: 'g' } })
    expect(await statusOf(dav('PUT', '/files/g', { body: 'x' }))).toBe(204)
    expect(await statusOf(dav('PUT', '/files/box/f', { body: 'x' }))).toBe(423)
    await owner.rest('POST', `/api/share/revoke/${token}`)
    expect(await statusOf(dav('PUT', '/files/box/f', { body: 'x' }))).toBe(204)
  })

  it('can be removed by the owner of the drive', async () => {
    const { person: owner, dav } = await davPerson(t, 'sharer2')
    const { person: guest, dav: theirs } = await davPerson(t, 'guest2')
    await owner.upload('box/f', 'f')
    await ask(
      owner,
      'mutation ($input: CreateDirectShareInput!) { createDirectShare(input: $input) { shares { token } } }',
      { input: { entries: [{ at: { path: 'box' } }], email: guest.email, mayEdit: true } },
    )
    const mine = await lockOf(dav, '/files/box/f')
    expect(await unlock(theirs, '/shared/box/f', mine)).toBe(403)
    expect(await unlock(dav, '/files/box/f', mine)).toBe(204)
    const lock = await lockOf(theirs, '/shared/box/f')
    expect(await unlock(dav, '/files/box/f', lock)).toBe(204)
    expect(await statusOf(dav('PUT', '/files/box/f', { body: 'x' }))).toBe(204)
  })

  it('can be removed by owners and admins of a workspace, not by editors', async () => {
    const { id, other, clients, root } = await workspaceOfTwo('roles', 'editor')
    const lock = await lockOf(clients.owner, root)
    expect(await unlock(clients.other, root, lock)).toBe(403)
    await join(t, id, other, 'admin')
    expect(await unlock(clients.other, root, lock)).toBe(204)
    expect(await statusOf(clients.other('PUT', `${root}/f`, { body: 'x' }))).toBe(201)
  })

  it('is listed and ended in GraphQL by owners and admins of a workspace, not by editors', async () => {
    const { id, owner, other, clients, root } = await workspaceOfTwo('graph', 'editor')
    await clients.owner('PUT', `${root}/f`, { body: 'f' })
    const token = await lockOf(clients.owner, root)
    const listed = async (who: Person) =>
      (
        await ask(
          who,
          `query ($id: ID!) { workspace(id: $id) { drive { root { entries { nodes {
            locks { id isShared isDeep mayEnd expiresAt holder { email } entry { path } }
          } } } } } }`,
          { id },
        )
      ).workspace.drive.root.entries.nodes[0].locks
    const end =
      'mutation ($input: EndLockInput!) { endLock(input: $input) { endedId entry { id } } }'
    const lock = token.replace('urn:uuid:', '')
    const given = { input: { lock } }
    const shown = {
      id: lock,
      isShared: false,
      isDeep: true,
      holder: { email: owner.email },
      entry: { path: '/' },
    }
    expect(await listed(other)).toEqual([expect.objectContaining({ ...shown, mayEnd: false })])
    expect(await codeOf(other, end, given)).toBe('FORBIDDEN')
    expect(await statusOf(clients.other('PUT', `${root}/f`, { body: 'x' }))).toBe(423)
    await join(t, id, other, 'admin')
    expect(await listed(other)).toEqual([expect.objectContaining({ ...shown, mayEnd: true })])
    expect((await ask(other, end, given)).endLock.endedId).toBe(lock)
    expect(await listed(owner)).toEqual([])
    expect(await statusOf(clients.other('PUT', `${root}/f`, { body: 'x' }))).toBe(204)
    expect(await codeOf(owner, end, given)).toBe('LOCK_NOT_FOUND')
  })
})
