import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { tagColours } from '../../../db/models/tag.ts'
import { colours } from '../../../src/cli/words.ts'
import { found, privateKey, put } from '../../support/builders.ts'
import { openWarmShell, type Shell } from '../../support/command-line.ts'
import { type Person, startApp, type TestApp } from '../../support/harness.ts'
import { anId, aTime } from '../../support/shapes.ts'

let t: TestApp
let alice: Person
let bob: Person
let hers: Shell
let his: Shell

const secretOf = ({ cookie }: Person) => cookie.replace('session_id=', '')
const pathsOf = (entries: { path: string }[]) => entries.map(({ path }) => path)

beforeAll(async () => {
  t = await startApp()
  alice = await t.signIn('alice')
  bob = await t.signIn('bob')
  const garden = await found(alice)
  hers = openWarmShell({ SATCHEL_URL: t.url, SATCHEL_SESSION: secretOf(alice) })
  his = openWarmShell({ SATCHEL_URL: t.url, SATCHEL_SESSION: secretOf(bob) })
  for (const path of ['docs/march.pdf', 'docs/inner/april.pdf', 'docsmith/may.pdf', 'x.txt'])
    await alice.upload(path, path)
  await put(alice, garden, 'plans/beds.txt', 'x')
})
afterAll(async () => {
  hers?.close()
  his?.close()
  await t.stop()
})

it('has the colours of the service', () => expect(colours).toEqual(tagColours))

describe('satchel tag', () => {
  it('creates, lists, renames, recolours and deletes tags', async () => {
    expect(await hers.json('tag', 'create', 'Invoices', '--colour', 'green')).toEqual({
      tag: { id: anId, name: 'Invoices', colour: 'green', entry_count: 0 },
    })
    await hers.json('tag', 'create', 'Drafts')
    expect((await hers.json('tag', 'list')).tags).toMatchObject([
      { name: 'Drafts', colour: 'grey' },
      { name: 'Invoices', colour: 'green' },
    ])
    expect((await hers.satchel(['tag', 'list'])).out).toBe(
      'Drafts    grey   0 entries\nInvoices  green  0 entries\n',
    )
    const { tag } = await hers.json(
      'tag',
      'edit',
      'DRAFTS',
      '--name',
      'Entwürfe',
      '--colour',
      'pink',
    )
    expect(tag).toMatchObject({ name: 'Entwürfe', colour: 'pink' })
    // Tag names are compared without case and accents.
    expect(await hers.json('tag', 'delete', 'entwurfe')).toEqual({ deleted_id: tag.id })
    expect((await hers.json('tag', 'list')).tags).toHaveLength(1)
  })

  it('adds a tag to entries of a drive, and removes it', async () => {
    expect(await hers.json('tag', 'add', 'invoices', 'docs/march.pdf', '/docs/inner')).toEqual({
      tag: 'Invoices',
      entries: [
        { path: '/docs/march.pdf', tags: ['Invoices'] },
        { path: '/docs/inner', tags: ['Invoices'] },
      ],
    })
    await hers.json('tag', 'add', 'invoices', 'docs/inner/april.pdf', 'docsmith/may.pdf')
    expect(
      await hers.json(
        'tag',
        'add',
        'Beds',
        'garden:/plans/beds.txt',
        '--create',
        '--colour',
        'red',
      ),
    ).toEqual({
      tag: 'Beds',
      entries: [{ path: 'garden:/plans/beds.txt', tags: ['Beds'] }],
    })
    expect((await hers.json('tag', 'list', 'garden')).tags).toMatchObject([
      { name: 'Beds', colour: 'red', entry_count: 1 },
    ])
    expect((await hers.json('tag', 'remove', 'beds', 'garden:/plans/beds.txt')).entries).toEqual([
      { path: 'garden:/plans/beds.txt', tags: [] },
    ])
    await hers.json('tag', 'add', 'Beds', 'garden:/plans/beds.txt')
    await hers.json('tag', 'edit', 'beds', '--in', 'garden', '--name', 'Flower beds')
    expect(await hers.satchel(['tag', 'add', 'flower beds', 'garden:/plans'])).toEqual({
      code: 0,
      out: '',
      err: '',
    })
  })

  it.each<[string, string[], number, RegExp]>([
    ['an unknown tag', ['add', 'nothing', 'x.txt'], 4, /There is no tag "nothing" in \/\./],
    ['a tag of another drive', ['add', 'invoices', 'garden:/plans'], 4, /in garden:\//],
    [
      'entries of two drives',
      ['add', 'invoices', 'x.txt', 'garden:/plans'],
      2,
      /belongs to one drive/,
    ],
    ['an unknown entry', ['add', 'invoices', 'no.txt'], 4, /FILE_NOT_FOUND/],
    ['an existing tag name', ['create', 'INVOICES'], 5, /TAG_EXISTS/],
    ['an unknown colour', ['create', 'a', '--colour', 'mauve'], 2, /choices are grey, red/i],
    ['no change', ['edit', 'invoices'], 2, /--name or --colour/],
    ['to delete an unknown tag', ['delete', 'nothing'], 4, /no tag "nothing"/],
    ['a name with a comma', ['create', 'a,b'], 2, /comma/],
  ])('refuses %s', async (_what, args, code, says) => {
    const refused = await hers.satchel(['tag', ...args])
    expect([refused.code, refused.out]).toEqual([code, ''])
    expect(refused.err).toMatch(says)
  })
})

describe('satchel ls --tag', () => {
  it('shows every tagged entry in a folder and below', async () => {
    const all = await hers.json('ls', '--tag', 'invoices')
    expect(all).toMatchObject({ tag: 'Invoices', path: '/' })
    expect(pathsOf(all.entries)).toEqual([
      '/docs/inner',
      '/docs/inner/april.pdf',
      '/docs/march.pdf',
      '/docsmith/may.pdf',
    ])
    expect(all.entries[2]).toEqual({
      id: anId,
      name: 'march.pdf',
      path: '/docs/march.pdf',
      kind: 'file',
      size: 14,
      updated_at: aTime,
    })
    expect(pathsOf((await hers.json('ls', '--tag', 'invoices', 'docs/')).entries)).toEqual([
      ...['/docs/inner', '/docs/inner/april.pdf', '/docs/march.pdf'],
    ])
    expect(pathsOf((await hers.json('ls', '--tag', 'flower beds', 'garden:/')).entries)).toEqual([
      ...['garden:/plans', 'garden:/plans/beds.txt'],
    ])
    expect((await hers.satchel(['ls', '--tag', 'invoices', 'docs'])).out).toBe(
      '/docs/inner/\n/docs/inner/april.pdf\n/docs/march.pdf\n',
    )
    expect((await hers.satchel(['ls', '-l', '--tag', 'invoices', 'docs'])).out).toMatch(
      /^20 B +\d{4}-.*\/docs\/inner\/$/m,
    )
    expect((await hers.satchel(['ls', '--tag', 'none'])).code).toBe(4)
  })

  it('omits entries in the trash', async () => {
    await hers.json('rm', 'docsmith/may.pdf')
    expect(pathsOf((await hers.json('ls', '--tag', 'invoices', 'docsmith')).entries)).toEqual([])
    await hers.json('trash', 'restore', 'docsmith/may.pdf')
    expect(pathsOf((await hers.json('ls', '--tag', 'invoices', 'docsmith')).entries)).toEqual([
      '/docsmith/may.pdf',
    ])
  })
})

describe('satchel star, unstar and favourites', () => {
  it('mark entries of all drives and received shares, in order', async () => {
    const shared = await hers.json('share', 'docs/march.pdf', '--with', 'bob@example.com')
    const url: string = shared.shares[0].sharing_link
    await bob.upload('own.txt', 'x')
    expect(await his.json('star', 'own.txt', url)).toEqual({
      starred: [{ path: 'own.txt' }, { path: url }],
    })
    const { favourites } = await his.json('favourites')
    expect(favourites).toEqual([
      {
        id: anId,
        entry_id: anId,
        name: 'own.txt',
        path: '/own.txt',
        kind: 'file',
        size: 1,
        updated_at: aTime,
        shared_by: null,
        created_at: aTime,
      },
      {
        id: anId,
        entry_id: null,
        name: 'march.pdf',
        path: url,
        kind: 'share',
        size: null,
        updated_at: null,
        shared_by: 'alice@example.com',
        created_at: aTime,
      },
    ])
    // Repeating the command changes nothing.
    await his.json('star', 'own.txt')
    expect((await his.json('favorites')).favourites).toHaveLength(2)
    expect(await his.json('unstar', url)).toEqual({ unstarred: [{ path: url }] })
    expect((await his.satchel(['favourites'])).out).toMatch(/^1 B {4}\/own\.txt\n$/)
    await hers.json('star', 'garden:/plans', 'docs')
    expect(pathsOf((await hers.json('favourites')).favourites)).toEqual(['garden:/plans', '/docs'])
    expect((await hers.satchel(['favourites'])).out).toMatch(/garden:\/plans\/$/m)
    expect(await hers.satchel(['unstar', 'garden:/plans'])).toEqual({ code: 0, out: '', err: '' })
    expect(pathsOf((await hers.json('favourites')).favourites)).toEqual(['/docs'])
  })

  it.each<[string, string[], number, RegExp]>([
    ['an unknown entry', ['star', 'no.txt'], 4, /NOT_FOUND/],
    ['the same', ['unstar', 'no.txt'], 4, /NOT_FOUND/],
    ['the root', ['star', '/'], 2, /root|INVALID_INPUT|INVALID_PATH/],
  ])('refuses %s', async (_what, args, code, says) => {
    const refused = await hers.satchel(args)
    expect([refused.code, refused.out]).toEqual([code, ''])
    expect(refused.err).toMatch(says)
  })

  it('refuses entries that are not shared with the user, and entries inside a share', async () => {
    const nothing = await his.satchel(['star', `${t.url}/share/unknown`])
    expect([nothing.code, nothing.err]).toEqual([4, expect.stringContaining('SHARE_NOT_FOUND')])
    const inside = await his.satchel(['star', `${t.url}/share/unknown/a.txt`])
    expect([inside.code, inside.err]).toEqual([
      2,
      expect.stringContaining('Only the share as a whole'),
    ])
  })

  it('continues after a failure, and reports it', async () => {
    const partly = await hers.satchel(['star', 'no.txt', 'x.txt', '--json'])
    expect([partly.code, JSON.parse(partly.out).starred]).toEqual([4, [{ path: 'x.txt' }]])
  })

  it('requires a key with the scope', async () => {
    const { key } = await privateKey(t, alice, ['private_files:read'])
    const reader = openWarmShell({ SATCHEL_URL: t.url, SATCHEL_KEY: key })
    expect((await reader.json('favourites')).favourites).not.toEqual([])
    expect((await reader.satchel(['star', 'x.txt'])).code).toBe(3)
    expect((await reader.satchel(['tag', 'create', 'a'])).code).toBe(3)
    expect((await reader.json('tag', 'list')).tags).toHaveLength(1)
    reader.close()
  })
})

describe('satchel recent', () => {
  it('lists your recent work, latest first', async () => {
    await alice.upload('latest.txt', 'x')
    await hers.json('mv', 'x.txt', 'y.txt')
    const { recent, has_more } = await hers.json('recent', '-n', '2')
    expect([pathsOf(recent), has_more]).toEqual([['/y.txt', '/latest.txt'], true])
    expect(recent[0]).toMatchObject({
      kind: 'file',
      did: expect.stringMatching(/^file\.(renamed|moved)$/),
      happened_at: aTime,
    })
    expect(recent[1].did).toBe('file.created')
    expect((await hers.satchel(['recent', '-n', '1'])).out).toMatch(
      /^\d{4}-.* file\.(renamed|moved) +\/y\.txt\n$/,
    )
    expect(pathsOf((await hers.json('recent')).recent)).toContain('garden:/plans/beds.txt')
    expect((await hers.satchel(['recent', '-n', '0'])).code).toBe(2)
  })
})
