import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { entryIdsWithTag, hasTag } from '../../db/queries/tag.ts'
import { tagKey } from '../../src/values/tag-key.ts'
import { ask, codeOf } from '../support/ask.ts'
import {
  driveOf,
  found,
  join,
  privateKey,
  put,
  UNHURRIED,
  workspaceKey,
} from '../support/builders.ts'
import { expectConsistent, findingsOf } from '../support/consistency.ts'
import { type Person, startApp, type TestApp } from '../support/harness.ts'
import { rounds } from '../support/rounds.ts'

let t: TestApp
beforeAll(async () => {
  t = await startApp(UNHURRIED)
})
afterAll(() => t.stop())

let serial = 0
/** A new person with these files. */
async function personWith(...paths: string[]): Promise<Person> {
  const person = await t.signIn(`tagger${serial++}`)
  for (const path of paths) await person.upload(path, `content of ${path}`)
  return person
}

const CREATE =
  'mutation ($input: CreateTagInput!) { createTag(input: $input) { tag { id name colour entryCount drive { id } } } }'
const UPDATE =
  'mutation ($input: UpdateTagInput!) { updateTag(input: $input) { tag { id name colour } } }'
const DELETE =
  'mutation ($input: DeleteTagInput!) { deleteTag(input: $input) { deletedId drive { tags { name } } } }'
const TAG = `mutation ($input: TagEntriesInput!) { tagEntries(input: $input) { entries { id path tags { name colour } } drive { id } } }`
const ENTRY = 'query ($path: String!) { me { drive { entry(path: $path) { id tags { name } } } } }'

const create = async (person: Person, name: string, more: object = {}) =>
  (await ask(person, CREATE, { input: { name, ...more } })).createTag.tag
const idOf = async (person: Person, name: string, more: object = {}): Promise<string> =>
  (await create(person, name, more)).id
const at = (...paths: string[]) => paths.map(path => ({ at: { path } }))
const tag = async (
  person: Person,
  paths: string[],
  change: { add?: string[]; remove?: string[] },
) => (await ask(person, TAG, { input: { entries: at(...paths), ...change } })).tagEntries
const namesAt = async (person: Person, path: string): Promise<string[]> =>
  (await ask(person, ENTRY, { path })).me.drive.entry.tags.map(({ name }: { name: string }) => name)
const tagsOf = async (person: Person) =>
  (await ask(person, '{ me { drive { tags { id name colour entryCount } } } }')).me.drive.tags
const withTag = async (person: Person, id: string, page = ''): Promise<string[]> =>
  (
    await ask(
      person,
      `query ($id: ID!) { node(id: $id) { ... on Tag { entries${page} { nodes { path } } } } }`,
      { id },
    )
  ).node.entries.nodes.map(({ path }: { path: string }) => path)

describe('A tag', () => {
  it('has a name and a colour, and is listed by name', async () => {
    const person = await personWith()
    await create(person, '  Rechnungen \u00a0 2026 ', { colour: 'GREEN' })
    await create(person, 'äpfel')
    const tags = await tagsOf(person)
    expect(tags).toEqual([
      { id: expect.any(String), name: 'äpfel', colour: 'GREY', entryCount: 0 },
      { id: expect.any(String), name: 'Rechnungen 2026', colour: 'GREEN', entryCount: 0 },
    ])
    const { node } = await ask(
      person,
      'query ($id: ID!) { node(id: $id) { __typename ... on Tag { name } } }',
      tags[0],
    )
    expect(node).toEqual({ __typename: 'Tag', name: 'äpfel' })
  })

  it('is unique in its drive, ignoring case and accents', async () => {
    const person = await personWith()
    await create(person, 'Müller')
    for (const name of ['müller', 'MULLER', 'Mu\u0308ller', ' muller ', 'muller \u0301'])
      expect(await codeOf(person, CREATE, { input: { name } })).toBe('TAG_EXISTS')
    const strasse = await idOf(person, 'Straße')
    expect(await codeOf(person, CREATE, { input: { name: 'STRASSE' } })).toBe('TAG_EXISTS')
    expect(await codeOf(person, UPDATE, { input: { tag: strasse, name: 'mÜller' } })).toBe(
      'TAG_EXISTS',
    )
    // Another case of its own name is not a different name.
    expect(
      (await ask(person, UPDATE, { input: { tag: strasse, name: 'STRASSE' } })).updateTag.tag.name,
    ).toBe('STRASSE')
    const other = await personWith()
    await create(other, 'Müller')
  })

  it.each([
    ['σίσυφος', 'ΣΊΣΥΦΟΣ'],
    ['istanbul', 'İSTANBUL'],
    ['ＡＢＣ', 'ａｂｃ'],
    ['a \u0301', 'a'],
  ])('%s equals %s', (a, b) => expect(tagKey(a)).toBe(tagKey(b)))

  it('distinguishes names by marks that are vowels', () =>
    expect(tagKey('कि')).not.toBe(tagKey('की')))

  it.each([
    ['', 'empty'],
    ['   ', 'blank'],
    ['a,b', 'a comma'],
    ['x'.repeat(51), 'too long'],
    ['a\u202eb', 'turned around'],
    ['\u0301', 'an accent alone'],
  ])('refuses %j as a name: %s', async name => {
    const person = await personWith()
    expect(await codeOf(person, CREATE, { input: { name } })).toBe('INVALID_INPUT')
  })

  it('can be renamed and recoloured on all its entries', async () => {
    const person = await personWith('a.txt')
    const id = await idOf(person, 'draft', { colour: 'RED' })
    await tag(person, ['a.txt'], { add: [id] })
    await ask(person, UPDATE, { input: { tag: id, name: 'final', colour: 'TEAL' } })
    expect(await namesAt(person, 'a.txt')).toEqual(['final'])
    expect(await tagsOf(person)).toMatchObject([{ name: 'final', colour: 'TEAL', entryCount: 1 }])
    expect(await codeOf(person, UPDATE, { input: { tag: id } })).toBe('INVALID_INPUT')
  })

  it('is removed from all entries when deleted', async () => {
    const person = await personWith('a.txt', 'b/c.txt')
    const [one, two] = [await idOf(person, 'one'), await idOf(person, 'two')]
    await tag(person, ['a.txt', 'b', 'b/c.txt'], { add: [one, two] })
    expect((await ask(person, DELETE, { input: { tag: one } })).deleteTag).toEqual({
      deletedId: one,
      drive: { tags: [{ name: 'two' }] },
    })
    expect(await namesAt(person, 'b/c.txt')).toEqual(['two'])
    expect(await codeOf(person, DELETE, { input: { tag: one } })).toBe('TAG_NOT_FOUND')
    expect(await codeOf(person, UPDATE, { input: { tag: one, name: 'x' } })).toBe('TAG_NOT_FOUND')
    expect(await t.app.db.rows('SELECT entry_id FROM entry_tag WHERE tag_id = ?', [one])).toEqual(
      [],
    )
  })

  it('is removed from many entries in batches, and not from those of another drive', async () => {
    const [person, other] = [await personWith(), await personWith()]
    const id = await idOf(person, 'of many')
    const {
      id: drive,
      root: { id: root },
    } = (await ask(person, '{ me { drive { id root { id } } } }')).me.drive
    const ids = Array.from({ length: 1001 }, () => crypto.randomUUID())
    const folders = ids
      .map(one => `('${one}', '${drive}', '${root}', 0, '${one}', 1, 1)`)
      .join(', ')
    await t.app.db.run(
      `INSERT INTO entry (id, bucket_id, parent_id, kind, name, created_at, updated_at) VALUES ${folders}`,
    )
    await t.app.db.run('UPDATE bucket SET used_folders = 1001 WHERE id = ?', [drive])
    const marks = ids.map(one => `('${id}', '${one}')`).join(', ')
    await t.app.db.run(`INSERT INTO entry_tag (tag_id, entry_id) VALUES ${marks}`)
    const left = () => t.app.db.rows('SELECT entry_id FROM entry_tag WHERE tag_id = ?', [id])
    expect((await other.rest('DELETE', `/api/tags/${id}`)).response.code).toBe('TAG_NOT_FOUND')
    expect(await left()).toHaveLength(1001)
    t.statements()
    expect((await person.rest('DELETE', `/api/tags/${id}`)).status).toBe(200)
    expect(t.statements().filter(sql => /DELETE FROM entry_tag/.test(sql))).toHaveLength(2)
    expect(await left()).toEqual([])
    await expectConsistent(t)
  })

  it('triggers events for readers of the log and subscribers of the drive', async () => {
    const person = await personWith('a.txt')
    const stream = await person.subscribe(
      'subscription { driveChanged { tags { name } entry(path: "a.txt") { tags { name } } } }',
      {},
    )
    const id = await idOf(person, 'told')
    await tag(person, ['a.txt'], { add: [id] })
    let latest: { tags: unknown; entry: unknown } | undefined
    do latest = ((await stream.next()).data as { driveChanged: typeof latest }).driveChanged
    while (JSON.stringify(latest?.entry) !== JSON.stringify({ tags: [{ name: 'told' }] }))
    expect(latest?.tags).toEqual([{ name: 'told' }])
    stream.close()
    await ask(person, DELETE, { input: { tag: id } })
    const { events } = (await person.rest('GET', '/api/events')).response
    expect(events.filter(({ kind }: { kind: string }) => kind.startsWith('tag.'))).toMatchObject([
      { kind: 'tag.created', subject_id: id, details: { name: 'told' } },
      { kind: 'tag.deleted', subject_id: id, details: { name: 'told' } },
    ])
  })
})

describe('Tagging', () => {
  it('adds and removes tags for several entries at once, or for none', async () => {
    const person = await personWith('a.txt', 'b/c.txt')
    const [x, y] = [await idOf(person, 'x'), await idOf(person, 'y', { colour: 'PINK' })]
    await tag(person, ['a.txt'], { add: [x] })
    const { entries } = await tag(person, ['a.txt', 'b'], { add: [y, y], remove: [x] })
    expect(entries).toEqual(
      ['a.txt', 'b'].map(path => ({
        id: expect.any(String),
        path,
        tags: [{ name: 'y', colour: 'PINK' }],
      })),
    )
    const input = { entries: at('a.txt', 'none.txt'), add: [x] }
    expect(await codeOf(person, TAG, { input })).toBe('FILE_NOT_FOUND')
    expect(await namesAt(person, 'a.txt')).toEqual(['y'])
  })

  it.each([
    ['no tag', async () => ({ entries: at('a.txt') }), 'INVALID_INPUT'],
    [
      'one tag in both lists',
      async (id: string) => ({ entries: at('a.txt'), add: [id], remove: [id] }),
      'INVALID_INPUT',
    ],
    ['no entry', async (id: string) => ({ entries: [], add: [id] }), 'INVALID_INPUT'],
    ['the root', async (id: string) => ({ entries: at(''), add: [id] }), 'INVALID_PATH'],
    ['a missing tag', async () => ({ entries: at('a.txt'), add: ['ünknown'] }), 'TAG_NOT_FOUND'],
    [
      'a tag of another drive',
      async () => ({ entries: at('a.txt'), add: [await idOf(await personWith(), 'foreign')] }),
      'TAG_NOT_FOUND',
    ],
  ])('is refused for %s', async (_what, inputOf, code) => {
    const person = await personWith('a.txt')
    expect(await codeOf(person, TAG, { input: await inputOf(await idOf(person, 'x')) })).toBe(code)
  })

  it('survives renaming, moving, replacing, deleting and restoring the entry', async () => {
    const person = await personWith('a.txt', 'f/x.txt')
    await tag(person, ['a.txt', 'f', 'f/x.txt'], { add: [await idOf(person, 'kept')] })
    await person.rest('POST', '/api/files/move', {
      json: { source: 'a.txt', destination: 'there/b.txt' },
    })
    const form = new FormData()
    form.append('on_conflict', 'replace')
    form.append('folder', 'there')
    form.append('file', new Blob(['another']), 'b.txt')
    expect((await person.rest('POST', '/api/files/upload', { form })).status).toBe(200)
    expect(await namesAt(person, 'there/b.txt')).toEqual(['kept'])
    await person.rest('DELETE', '/api/folders?path=f&recursive=true')
    const [{ id, entryCount }] = await tagsOf(person)
    // It is still in the trash.
    expect([entryCount, await withTag(person, id)]).toEqual([3, ['there/b.txt']])
    const { items } = (await person.rest('GET', '/api/trash')).response
    await person.rest('POST', '/api/trash/restore', {
      json: { items: items.map((item: { id: string }) => item.id) },
    })
    expect((await withTag(person, id)).sort()).toEqual(['f', 'f/x.txt', 'there/b.txt'])
    await person.rest('DELETE', '/api/folders?path=f&recursive=true')
    await person.rest('DELETE', '/api/trash')
    await t.settle()
    expect((await tagsOf(person))[0].entryCount).toBe(1)
    await expectConsistent(t)
  })

  it('is preserved by copies in the drive, and matched by name in other drives', async () => {
    const person = await personWith('a.txt', 'f/x.txt')
    const [both, own] = [await idOf(person, 'Both'), await idOf(person, 'own')]
    await tag(person, ['f', 'f/x.txt'], { add: [both, own] })
    const COPY =
      'mutation ($input: CopyEntriesInput!) { copyEntries(input: $input) { entries { path tags { id } } } }'
    await ask(person, COPY, { input: { entries: at('f'), to: { at: { path: 'copies' } } } })
    expect(await namesAt(person, 'copies/f/x.txt')).toEqual(['Both', 'own'])
    const workspace = await found(person, 'With tags')
    const drive = await driveOf(person, workspace)
    const there = await idOf(person, 'BOTH', { drive })
    const copied = await ask(person, COPY, {
      input: { entries: at('f/x.txt'), to: { at: { drive, path: '' } } },
    })
    expect(copied.copyEntries.entries).toEqual([{ path: '/x.txt', tags: [{ id: there }] }])
  })

  it('is limited to 20 tags per entry, also under parallel requests', async () => {
    const person = await personWith('a.txt', 'b.txt')
    const ids = await Promise.all(Array.from({ length: 24 }, (_, i) => idOf(person, `tag ${i}`)))
    expect(await codeOf(person, TAG, { input: { entries: at('a.txt'), add: ids } })).toBe(
      'INVALID_INPUT',
    )
    const answers = await Promise.all(
      ids.map(id => person.graphql(TAG, { input: { entries: at('a.txt', 'b.txt'), add: [id] } })),
    )
    expect(answers.filter(({ code }) => code === 'QUOTA_EXCEEDED')).toHaveLength(4)
    expect(await namesAt(person, 'a.txt')).toHaveLength(20)
    // Tagging it again with its present tags adds none, and one tag can replace another.
    const [first = '', second = ''] = ids.filter((_, i) => !answers[i]?.code)
    const refused = ids.find((_, i) => answers[i]?.code) ?? ''
    await tag(person, ['a.txt'], { add: [first, second] })
    await tag(person, ['a.txt'], { add: [refused], remove: [first] })
    expect(await namesAt(person, 'a.txt')).toHaveLength(20)
    await expectConsistent(t)
  })

  it('never leaves rows behind when the tag is deleted concurrently', async () => {
    const person = await personWith('a.txt', 'b.txt', 'c.txt')
    for (let round = 0; round < rounds(3, 30); round++) {
      const id = await idOf(person, `short ${round}`)
      const outcomes = await Promise.all([
        ...['a.txt', 'b.txt', 'c.txt'].map(path =>
          person.graphql(TAG, { input: { entries: at(path), add: [id] } }),
        ),
        person.graphql(DELETE, { input: { tag: id } }),
      ])
      for (const { code } of outcomes) expect([undefined, 'TAG_NOT_FOUND']).toContain(code)
      expect(await t.app.db.rows('SELECT entry_id FROM entry_tag WHERE tag_id = ?', [id])).toEqual(
        [],
      )
    }
  })
})

describe('Tags of a drive', () => {
  it('are limited to 200, also under parallel requests', async () => {
    const person = await personWith()
    const { id: drive } = (await ask(person, '{ me { drive { id } } }')).me.drive
    const now = Date.now()
    const rows = Array.from(
      { length: 197 },
      (_, i) => `('${crypto.randomUUID()}', '${drive}', 't${i}', 't${i}', 'red', ${now})`,
    )
    await t.app.db.run(
      `INSERT INTO tag (id, bucket_id, name, name_key, colour, created_at) VALUES ${rows.join(', ')}`,
    )
    const names = Array.from({ length: 8 }, (_, i) => `more ${i}`)
    const answers = await Promise.all(
      names.map(name => person.graphql(CREATE, { input: { name } })),
    )
    expect(answers.filter(({ code }) => code === 'QUOTA_EXCEEDED')).toHaveLength(5)
    expect(await tagsOf(person)).toHaveLength(200)
  })

  it('are created once per name by parallel requests', async () => {
    const person = await personWith()
    const names = ['Same', 'same', 'SAME', 'sâme']
    const answers = await Promise.all(
      names.map(name => person.graphql(CREATE, { input: { name } })),
    )
    expect(answers.filter(({ code }) => code === 'TAG_EXISTS')).toHaveLength(3)
  })

  it('filter a folder by all the given tags', async () => {
    const person = await personWith('f/a.txt', 'f/b.txt', 'f/g/c.txt')
    const [x, y] = [await idOf(person, 'x'), await idOf(person, 'y')]
    await tag(person, ['f/a.txt', 'f/g', 'f/g/c.txt'], { add: [x] })
    await tag(person, ['f/a.txt', 'f/b.txt'], { add: [y] })
    const FILTER = `query ($tags: [ID!], $order: EntryOrder) { me { drive { entry(path: "f") { ... on Folder {
      entries(orderBy: $order, filter: { tags: $tags }) { nodes { name } } } } } } }`
    const named = async (tags: string[], order?: object): Promise<string[]> =>
      (
        await ask(person, FILTER, { tags, ...(order ? { order } : {}) })
      ).me.drive.entry.entries.nodes.map(({ name }: { name: string }) => name)
    expect(await named([x])).toEqual(['g', 'a.txt'])
    expect(await named([x, y])).toEqual(['a.txt'])
    expect(await named([y], { field: 'NAME', direction: 'DESC' })).toEqual(['b.txt', 'a.txt'])
    expect(await named([x], { field: 'SIZE', direction: 'ASC' })).toEqual(['a.txt', 'g'])
    expect(await named([])).toHaveLength(3)
    expect(await named(['ünknown'])).toEqual([])
  })

  it('are matched by name in searches', async () => {
    const person = await personWith('a.txt', 'b.txt')
    await tag(person, ['b.txt'], { add: [await idOf(person, 'Größe')] })
    const [drive, key] = [await driveOf(person), tagKey('GRÖSSE')]
    const { id } = (await ask(person, ENTRY, { path: 'b.txt' })).me.drive.entry
    expect(await entryIdsWithTag(t.app.db, drive, key, 10)).toEqual([id])
    const among = hasTag('entry.id', 't.bucket_id = ? AND t.name_key = ?')
    expect(await t.app.db.rows(`SELECT id FROM entry WHERE ${among}`, [drive, key])).toEqual([
      { id },
    ])
  })

  it('list their entries page by page', async () => {
    const person = await personWith('a.txt', 'b/c.txt', 'd.txt')
    const id = await idOf(person, 'x')
    await tag(person, ['d.txt', 'a.txt', 'b/c.txt'], { add: [id] })
    expect(await withTag(person, id)).toEqual(['a.txt', 'b/c.txt', 'd.txt'])
    const page = await person.rest('GET', `/api/tags/${id}/entries?limit=2`)
    expect(page.response).toMatchObject({
      entries: [
        { kind: 'file', name: 'a.txt', path: 'a.txt', size: 16, file_count: 1 },
        { kind: 'file', name: 'c.txt', path: 'b/c.txt' },
      ],
    })
    const next = await person.rest(
      'GET',
      `/api/tags/${id}/entries?limit=2&cursor=${page.response.next_cursor}`,
    )
    expect(next.response).toMatchObject({ entries: [{ path: 'd.txt' }], next_cursor: null })
  })

  it('are hidden from recipients of a share, and their copies have none', async () => {
    const [alice, bob] = [await personWith('shared/a.txt'), await t.signIn(`taker${serial++}`)]
    const secret = await idOf(alice, 'secret')
    await tag(alice, ['shared', 'shared/a.txt'], { add: [secret] })
    await create(bob, 'secret')
    const SHARE =
      'mutation ($input: CreateDirectShareInput!) { createDirectShare(input: $input) { shares { id token } } }'
    const input = { email: bob.email, mayEdit: true, entries: at('shared') }
    const [share] = (await ask(alice, SHARE, { input })).createDirectShare.shares
    const MAKE = `mutation ($input: MoveEntriesInput!) { moveEntries(input: $input) { entries { path tags { name } } } }`
    const moved = await ask(bob, MAKE, {
      input: { entries: [{ at: { drive: share.id, path: 'a.txt' } }], name: 'b.txt' },
    })
    expect(moved.moveEntries.entries).toEqual([{ path: 'b.txt', tags: [] }])
    const SAVE =
      'mutation ($input: SaveSharedEntriesInput!) { saveSharedEntries(input: $input) { entries { path tags { name } } } }'
    const saved = await ask(bob, SAVE, { input: { token: share.token, to: { at: { path: '' } } } })
    expect(saved.saveSharedEntries.entries).toEqual([{ path: 'shared', tags: [] }])
    expect(await namesAt(bob, 'shared/b.txt')).toEqual([])
    expect(
      await codeOf(bob, TAG, {
        input: { entries: [{ at: { drive: share.id, path: 'b.txt' } }], add: [secret] },
      }),
    ).toBe('FORBIDDEN')
    const { node } =
      (
        await bob.graphql<{ node: unknown }>('query ($id: ID!) { node(id: $id) { id } }', {
          id: secret,
        })
      ).data ?? {}
    expect(node).toBeNull()
  })

  it('can be changed by writers of a workspace, and seen by all its members', async () => {
    const owner = await personWith()
    const workspace = await found(owner, 'Room of tags')
    const [editor, viewer] = [
      await t.signIn(`editor${serial++}`),
      await t.signIn(`viewer${serial++}`),
    ]
    await join(t, workspace, editor, 'editor')
    await join(t, workspace, viewer, 'viewer')
    await put(owner, workspace, '/a.txt')
    const base = `/api/workspaces/${workspace}`
    const made = await editor.rest('POST', `${base}/tags`, {
      json: { name: 'Team', colour: 'blue' },
    })
    const json = { entries: ['/a.txt'], add: [made.response.tag.id] }
    expect((await editor.rest('POST', `${base}/entries/tags`, { json })).response).toMatchObject({
      entries: [{ path: '/a.txt', tags: [{ name: 'Team', colour: 'blue' }] }],
    })
    expect((await viewer.rest('GET', `${base}/tags`)).response).toMatchObject({
      tags: [{ name: 'Team' }],
    })
    expect((await viewer.rest('POST', `${base}/entries/tags`, { json })).response.code).toBe(
      'FORBIDDEN',
    )
    const reader = (await workspaceKey(t, owner, workspace, ['workspaces:files:read'])).caller
    expect(
      (await reader.rest('GET', `${base}/tags/${json.add[0]}/entries`)).response.entries,
    ).toHaveLength(1)
    expect((await reader.rest('POST', `${base}/entries/tags`, { json })).response.code).toBe(
      'INSUFFICIENT_SCOPE',
    )
    await owner.rest('DELETE', `/api/workspaces/delete?workspace_id=${workspace}`)
    await t.settle()
    expect(await t.app.db.rows('SELECT id FROM tag WHERE id = ?', [json.add[0] ?? ''])).toEqual([])
  })
})

describe('The doctor', () => {
  it('finds and removes tags of another drive and orphaned favourites', async () => {
    const [person, other] = [await personWith('a.txt'), await personWith()]
    const foreign = await idOf(other, 'foreign')
    const entry = (await ask(person, ENTRY, { path: 'a.txt' })).me.drive.entry.id
    await tag(person, ['a.txt'], { add: [await idOf(person, 'own')] })
    await t.app.db.run('INSERT INTO entry_tag (tag_id, entry_id) VALUES (?, ?)', [foreign, entry])
    await t.app.db.run(
      'INSERT INTO favourite (id, user_id, position, created_at) VALUES (?, ?, 0, 1)',
      [crypto.randomUUID(), person.userId],
    )
    const found = (await findingsOf(t.app, { repair: true })).filter(({ kind }) =>
      /^(tag|favourite)-/.test(kind),
    )
    expect(found).toMatchObject([
      { kind: 'tag-misplaced', id: entry, repaired: true },
      { kind: 'favourite-empty', repaired: true },
    ])
    expect(await namesAt(person, 'a.txt')).toEqual(['own'])
    await expectConsistent(t)
  })
})

describe('The export of an account', () => {
  it('contains the tags of its drive, with their entries', async () => {
    const person = await personWith('a.txt')
    const id = await idOf(person, 'mine', { colour: 'BLUE' })
    const { entries } = await tag(person, ['a.txt'], { add: [id] })
    const { text } = await person.rest('GET', '/api/user/export')
    expect(JSON.parse(text)).toMatchObject({
      tags: [{ id, name: 'mine', colour: 'blue', created_at: expect.any(String) }],
      tagged_entries: [{ tag_id: id, entry_id: entries[0].id }],
    })
  })
})

describe('Tags by REST', () => {
  it('are refused without a credential', async () => {
    const input = { tag: 'x', entries: [], name: 'x' }
    for (const [name, fields] of Object.entries({
      createTag: ['name'],
      updateTag: ['tag'],
      deleteTag: ['tag'],
      tagEntries: ['entries'],
    })) {
      const type = `${name.charAt(0).toUpperCase()}${name.slice(1)}Input`
      const given = Object.fromEntries(
        Object.entries(input).filter(([field]) => fields.includes(field)),
      )
      const document = `mutation ($input: ${type}!) { ${name}(input: $input) { __typename } }`
      expect(await codeOf(t.anonymous, document, { input: given })).toBe('UNAUTHENTICATED')
    }
  })

  it('return every documented status', async () => {
    const person = await personWith('a.txt')
    const workspace = await found(person, 'Statuses')
    const outsider = await personWith()
    await put(person, workspace, '/a.txt')
    for (const base of ['/api', `/api/workspaces/${workspace}`]) {
      const path = base === '/api' ? 'a.txt' : '/a.txt'
      const { response } = await person.rest('POST', `${base}/tags`, { json: { name: 'one' } })
      expect(response.tag).toMatchObject({ name: 'one', colour: 'grey' })
      const { id } = response.tag
      const two = (
        await person.rest('POST', `${base}/tags`, { json: { name: 'two', colour: 'pink' } })
      ).response.tag.id
      const nowhere = '6f1c2b52-7d0e-4a58-9d3b-0c9f5e1a7b44'
      const answers: [string, string, object | undefined, number, string][] = [
        ['POST', '/tags', { name: 'ONE' }, 409, 'TAG_EXISTS'],
        ['POST', '/tags', { name: '' }, 400, 'INVALID_INPUT'],
        ['POST', '/tags', { name: 'x', colour: 'mauve' }, 400, 'INVALID_INPUT'],
        ['PATCH', `/tags/${id}`, { name: 'Two' }, 409, 'TAG_EXISTS'],
        ['PATCH', `/tags/${id}`, {}, 400, 'INVALID_INPUT'],
        ['PATCH', `/tags/${nowhere}`, { name: 'x' }, 404, 'TAG_NOT_FOUND'],
        ['DELETE', `/tags/${nowhere}`, undefined, 404, 'TAG_NOT_FOUND'],
        ['GET', `/tags/${nowhere}/entries`, undefined, 404, 'TAG_NOT_FOUND'],
        ['GET', `/tags/${id}/entries?cursor=x`, undefined, 400, 'INVALID_INPUT'],
        ['POST', '/entries/tags', { entries: [path], add: [nowhere] }, 404, 'TAG_NOT_FOUND'],
        ['POST', '/entries/tags', { entries: ['none'], add: [id] }, 404, 'FILE_NOT_FOUND'],
        ['POST', '/entries/tags', { entries: ['a//..'], add: [id] }, 400, 'INVALID_PATH'],
        ['POST', '/entries/tags', { entries: [path] }, 400, 'INVALID_INPUT'],
      ]
      for (const [method, at, json, status, code] of answers) {
        const answer = await person.rest(method, base + at, json ? { json } : {})
        expect([at, answer.status, answer.response.code]).toEqual([at, status, code])
      }
      const routes: [string, string, object | undefined][] = [
        ['GET', '/tags', undefined],
        ['POST', '/tags', { name: 'x' }],
        ['PATCH', `/tags/${id}`, { name: 'x' }],
        ['DELETE', `/tags/${id}`, undefined],
        ['GET', `/tags/${id}/entries`, undefined],
        ['POST', '/entries/tags', { entries: [path], add: [id] }],
      ]
      for (const [method, at, json] of routes) {
        expect((await t.anonymous.rest(method, base + at, json ? { json } : {})).status).toBe(401)
        if (base !== '/api')
          expect((await outsider.rest(method, base + at, json ? { json } : {})).status).toBe(403)
      }
      const patched = await person.rest('PATCH', `${base}/tags/${two}`, {
        json: { colour: 'teal' },
      })
      expect(patched.response.tag).toMatchObject({ name: 'two', colour: 'teal' })
      expect((await person.rest('GET', `${base}/tags`)).response.tags).toHaveLength(2)
      await person.rest('POST', `${base}/entries/tags`, {
        json: { entries: [path], add: [id, two] },
      })
      expect(
        (await person.rest('GET', `${base}/tags/${id}/entries`)).response.entries,
      ).toMatchObject([{ path }])
      expect((await person.rest('DELETE', `${base}/tags/${id}`)).response).toEqual({
        tag_deleted: id,
      })
    }
  })

  it('state the limit in the error message', async () => {
    const person = await personWith('a.txt')
    const workspace = await found(person, 'Full')
    await put(person, workspace, '/a.txt')
    for (const [base, where] of [
      ['/api', await driveOf(person)],
      [`/api/workspaces/${workspace}`, await driveOf(person, workspace)],
    ]) {
      const ids = Array.from({ length: 200 }, () => crypto.randomUUID())
      const rows = ids.map((id, i) => `('${id}', '${where}', 'u${i}', 'u${i}', 'red', 1)`)
      await t.app.db.run(
        `INSERT INTO tag (id, bucket_id, name, name_key, colour, created_at) VALUES ${rows.join(', ')}`,
      )
      const refused = await person.rest('POST', `${base}/tags`, { json: { name: 'x' } })
      expect(refused).toMatchObject({
        status: 400,
        response: { limit: 'max_tags', max: 200, used: 200 },
      })
      const entries = [base === '/api' ? 'a.txt' : '/a.txt']
      await person.rest('POST', `${base}/entries/tags`, {
        json: { entries, add: ids.slice(0, 20) },
      })
      const full = await person.rest('POST', `${base}/entries/tags`, {
        json: { entries, add: ids.slice(20, 21) },
      })
      expect(full).toMatchObject({
        status: 400,
        response: { limit: 'max_tags_of_entry', max: 20, used: 20 },
      })
    }
  })

  it('are available to keys with the scope', async () => {
    const person = await personWith('a.txt')
    const reader = (await privateKey(t, person, ['private_files:read'])).caller
    const writer = (await privateKey(t, person, ['private_files:write'])).caller
    expect((await reader.rest('POST', '/api/tags', { json: { name: 'x' } })).response.code).toBe(
      'INSUFFICIENT_SCOPE',
    )
    const made = await writer.rest('POST', '/api/tags', { json: { name: 'x' } })
    expect((await reader.rest('GET', '/api/tags')).response.tags).toMatchObject([
      { id: made.response.tag.id },
    ])
    expect((await writer.rest('GET', '/api/tags')).response.code).toBe('INSUFFICIENT_SCOPE')
  })
})
