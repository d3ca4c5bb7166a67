import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { ask, codeOf } from '../support/ask.ts'
import { found, join, privateKey, ROOMY, UNHURRIED, workspaceKey } from '../support/builders.ts'
import { type Person, startApp, type TestApp } from '../support/harness.ts'

let t: TestApp
let alice: Person
let bob: Person
let carol: Person

beforeAll(async () => {
  t = await startApp(UNHURRIED)
  await t.limit(ROOMY)
  alice = await t.signIn('alice')
  bob = await t.signIn('bob')
  carol = await t.signIn('carol')
  for (const name of ['plan.txt', 'Budget.txt', 'Trip/photo.txt']) await alice.upload(name, name)
})
afterAll(() => t.stop())

const idOf = async (path: string, who = alice): Promise<string> =>
  (
    await ask(who, 'query ($path: String!) { me { drive { entry(path: $path) { id } } } }', {
      path,
    })
  ).me.drive.entry.id

const shareWith = async (to: Person, paths: string[], terms: object = {}): Promise<string> => {
  const files = await Promise.all(paths.map(async path => ({ id: await idOf(path) })))
  const input = { email: to.email, entries: files, together: files.length > 1, ...terms }
  const { createDirectShare } = await ask(
    alice,
    'mutation ($input: CreateDirectShareInput!) { createDirectShare(input: $input) { shares { id } } }',
    { input },
  )
  return createDirectShare.shares[0].id
}

const link = async (path: string, terms: object = {}): Promise<{ id: string; token: string }> => {
  const input = { entries: { id: await idOf(path) }, ...terms }
  const { createLink } = await ask(
    alice,
    'mutation ($input: CreateLinkInput!) { createLink(input: $input) { share { id token } } }',
    { input },
  )
  return createLink.share
}

const SHARES = `query ($search: String, $recipient: String, $entries: [ID!], $kind: ShareKind) {
  me { shares(search: $search, recipient: $recipient, entries: $entries, kind: $kind) { nodes { id } } } }`
const listed = async (args: object, who: Person = alice): Promise<string[]> =>
  (await ask(who, SHARES, args)).me.shares.nodes.map(({ id }: { id: string }) => id)

const ACCESS = `query ($email: String!) { me { accessOf(email: $email) {
  email shares { nodes { id } } receivedShares { nodes { id } } members { role isRemovable workspace { id } } } } }`
const accessOf = async (email: string, who = alice) =>
  (await ask(who, ACCESS, { email })).me.accessOf

const END = `mutation ($input: EndAccessInput!) { endAccess(input: $input) {
  revokedIds removedCount access { shares { nodes { id } } members { role } } viewer { id } } }`
const REVOKE =
  'mutation ($input: RevokeSharesInput!) { revokeShares(input: $input) { revokedIds } }'

const isOpen = async (id: string, who: Person): Promise<boolean> =>
  (await ask(who, 'query ($id: ID!) { node(id: $id) { id } }', { id })).node !== null

describe('the list of own shares', () => {
  let plan: string
  let both: string
  let trip: { id: string }

  beforeAll(async () => {
    plan = await shareWith(bob, ['plan.txt'], { label: 'For the adviser' })
    both = await shareWith(carol, ['Trip', 'Budget.txt'], { title: 'Äpfel' })
    trip = await link('Trip')
  })

  it('finds shares by a part of a name, a label, a title or a recipient', async () => {
    expect(await listed({ search: 'PLAN' })).toEqual([plan])
    expect(await listed({ search: 'adviser' })).toEqual([plan])
    expect(await listed({ search: 'pfel' })).toEqual([both])
    expect(await listed({ search: 'carol@' })).toEqual([both])
    // Of a share of several, any name is found.
    expect(await listed({ search: 'budget' })).toEqual([both])
    expect(await listed({ search: 'nothing of it' })).toEqual([])
    expect(await codeOf(alice, SHARES, { search: 'x'.repeat(256) })).toBe('INVALID_INPUT')
  })

  it('finds shares by recipient', async () => {
    expect(await listed({ recipient: ` ${bob.email.toUpperCase()} ` })).toEqual([plan])
    expect(await listed({ recipient: bob.email, kind: 'LINK' })).toEqual([])
    expect(await listed({ recipient: 'nobody@example.com' })).toEqual([])
  })

  it('finds shares that contain one of some entries', async () => {
    const [budget, folder] = [await idOf('Budget.txt'), await idOf('Trip')]
    expect((await listed({ entries: [budget] })).sort()).toEqual([both])
    expect((await listed({ entries: [budget, folder] })).sort()).toEqual([both, trip.id].sort())
    expect(await listed({ entries: [await idOf('plan.txt')] })).toEqual([plan])
    expect(await listed({ entries: ['Ünknown'] })).toEqual([])
    expect(await listed({ entries: [budget] }, bob)).toEqual([])
  })

  it('names the recipients', async () => {
    const { me } = await ask(alice, '{ me { shareRecipients { email shareCount } } }')
    expect(me.shareRecipients).toEqual([
      { email: bob.email, shareCount: 1 },
      { email: carol.email, shareCount: 1 },
    ])
  })

  it('ends several shares at once, and skips those of others', async () => {
    const one = await link('plan.txt')
    const two = await link('Budget.txt')
    const revoke = async (who: Person, shares: string[]): Promise<string[]> =>
      (await ask(who, REVOKE, { input: { shares } })).revokeShares.revokedIds
    expect(await revoke(bob, [one.id, two.id])).toEqual([])
    expect((await revoke(alice, [two.id, one.id, 'Ünknown', one.id])).sort()).toEqual(
      [one.id, two.id].sort(),
    )
    expect(await revoke(alice, [one.id])).toEqual([])
    for (const { token } of [one, two])
      expect((await bob.rest('GET', `/api/share/info/${token}`)).response.code).toBe(
        'SHARE_NOT_FOUND',
      )
  })

  it('ends shares by a key with the scope to share, in its own drive only', async () => {
    const { id } = await link('plan.txt')
    const garden = await found(alice, 'Orchard')
    const reader = (await privateKey(t, alice, ['private_files:read'])).caller
    expect(await codeOf(reader, REVOKE, { input: { shares: [id] } })).toBe('INSUFFICIENT_SCOPE')
    const key = (await workspaceKey(t, alice, garden)).caller
    expect(await codeOf(key, REVOKE, { input: { shares: [id] } })).toBe('KEY_OUT_OF_BOUNDS')
    const sharer = (await privateKey(t, alice, ['private_files:share'])).caller
    expect((await ask(sharer, REVOKE, { input: { shares: [id] } })).revokeShares).toEqual({
      revokedIds: [id],
    })
  })
})

describe('what a person can see', () => {
  it('lists shares in both directions and common workspaces', async () => {
    const dave = await t.signIn('dave')
    const id = await shareWith(dave, ['plan.txt'])
    await dave.upload('reply.txt', 'reply')
    const input = { email: alice.email, entries: [{ id: await idOf('reply.txt', dave) }] }
    const { createDirectShare } = await ask(
      dave,
      'mutation ($input: CreateDirectShareInput!) { createDirectShare(input: $input) { shares { id } } }',
      { input },
    )
    const garden = await found(alice)
    await join(t, garden, dave, 'viewer')
    await found(dave, 'Not with alice')
    expect(await accessOf('DAVE@example.com')).toEqual({
      email: dave.email,
      shares: { nodes: [{ id }] },
      receivedShares: { nodes: [{ id: createDirectShare.shares[0].id }] },
      members: [{ role: 'VIEWER', isRemovable: true, workspace: { id: garden } }],
    })
    expect((await accessOf(alice.email, dave)).members).toEqual([
      { role: 'OWNER', isRemovable: false, workspace: { id: garden } },
    ])
    expect(await codeOf(alice, ACCESS, { email: 'nonsense' })).toBe('INVALID_INPUT')
  })

  it('is for sessions only', async () => {
    const all = ['private_files:read', 'private_files:write', 'private_files:share']
    const key = (await privateKey(t, alice, all)).caller
    expect(await codeOf(key, ACCESS, { email: bob.email })).toBe('KEY_OUT_OF_BOUNDS')
    expect(await codeOf(key, END, { input: { email: bob.email } })).toBe('KEY_OUT_OF_BOUNDS')
    expect(await codeOf(key, '{ me { shareRecipients { email } } }')).toBe('KEY_OUT_OF_BOUNDS')
  })
})

describe('ending the access of a person', () => {
  it('ends all shares with the person, but neither links nor shares with others', async () => {
    const erna = await t.signIn('erna')
    const theirs = [await shareWith(erna, ['plan.txt']), await shareWith(erna, ['Trip'])]
    const kept = await shareWith(bob, ['Trip'])
    const open = await link('Trip')
    const { endAccess } = await ask(alice, END, { input: { email: erna.email } })
    expect(endAccess.revokedIds.sort()).toEqual(theirs.sort())
    expect(endAccess).toMatchObject({
      removedCount: 0,
      access: { shares: { nodes: [] }, members: [] },
      viewer: { id: `viewer:${alice.userId}` },
    })
    for (const id of theirs) expect(await isOpen(id, erna)).toBe(false)
    expect(await isOpen(kept, bob)).toBe(true)
    expect(await isOpen(open.id, alice)).toBe(true)
  })

  it('ends shares whose entry is in the trash, so that a restore does not bring them back', async () => {
    const fritz = await t.signIn('fritz')
    await alice.upload('secret.txt', 'secret')
    const id = await shareWith(fritz, ['secret.txt'])
    const stays = await shareWith(bob, ['secret.txt'])
    const { deleteEntries } = await ask(
      alice,
      'mutation ($input: DeleteEntriesInput!) { deleteEntries(input: $input) { trashItems { id } } }',
      { input: { entries: [{ id: await idOf('secret.txt') }] } },
    )
    await ask(alice, END, { input: { email: fritz.email } })
    await ask(
      alice,
      'mutation ($input: RestoreFromTrashInput!) { restoreFromTrash(input: $input) { entries { id } } }',
      { input: { items: deleteEntries.trashItems.map(({ id }: { id: string }) => id) } },
    )
    expect(await isOpen(stays, bob)).toBe(true)
    expect(await isOpen(id, fritz)).toBe(false)
    expect((await accessOf(fritz.email)).shares.nodes).toEqual([])
  })

  it('ends memberships with the shares: all or nothing', async () => {
    const gina = await t.signIn('gina')
    const id = await shareWith(gina, ['plan.txt'])
    const [one, two] = [await found(alice, 'One'), await found(alice, 'Two')]
    await join(t, one, gina, 'editor')
    const end = (workspaces: string[], who = alice, email = gina.email) =>
      codeOf(who, END, { input: { email, workspaces } })
    // She is not a member of the second.
    expect(await end([one, two])).toBe('MEMBER_NOT_FOUND')
    const hers = await found(gina, 'Hers')
    await join(t, hers, alice, 'admin')
    // An admin may not remove an owner.
    expect(await end([one, hers])).toBe('FORBIDDEN')
    expect(await end([await found(bob, 'Of Bob')])).toBe('FORBIDDEN')
    expect(await end([one], alice, 'nonsense')).toBe('INVALID_INPUT')
    expect(await isOpen(id, gina)).toBe(true)
    expect((await accessOf(gina.email)).members).toHaveLength(2)
    const { endAccess } = await ask(alice, END, {
      input: { email: gina.email, workspaces: [one, one] },
    })
    expect(endAccess).toMatchObject({ revokedIds: [id], removedCount: 1 })
    expect(endAccess.access.members).toEqual([{ role: 'OWNER' }])
  })
})
