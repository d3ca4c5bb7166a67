import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { ask, codeOf } from '../support/ask.ts'
import { found, privateKey, ROOMY, UNHURRIED, workspaceKey } from '../support/builders.ts'
import { expectConsistent } from '../support/consistency.ts'
import {
  type Person,
  type RestAnswer,
  type RestOptions,
  startApp,
  type TestApp,
} from '../support/harness.ts'

let t: TestApp

beforeAll(async () => {
  t = await startApp(UNHURRIED)
  await t.limit(ROOMY)
})
afterAll(() => t.stop())

let serial = 0
/** A new person with these files. */
async function personWith(...paths: string[]): Promise<Person> {
  const person = await t.signIn(`person${serial++}`)
  for (const path of paths) await person.upload(path, `content of ${path}`)
  return person
}

const ENTRY = `query ($path: String!) { me { drive { entry(path: $path) { id revision size } } } }`
const entryAt = async (person: Person, path: string) =>
  (await ask(person, ENTRY, { path })).me.drive.entry
const MOVE = `mutation ($input: MoveEntriesInput!) { moveEntries(input: $input) { entries { id path revision } } }`
const move = async (person: Person, paths: string[], more: object) =>
  (await ask(person, MOVE, { input: { entries: paths.map(path => ({ at: { path } })), ...more } }))
    .moveEntries.entries
const pathsOf = (entries: { path: string }[]) => entries.map(({ path }) => path)
const trashOf = async (person: Person) =>
  pathsOf((await person.rest('GET', '/api/trash')).response.items)

/** Replaces a file by REST. */
const save = (
  person: Person,
  name: string,
  content: string,
  { headers }: RestOptions = {},
  base = '/api/files',
) => {
  const form = new FormData()
  form.append('folder', '')
  form.append('on_conflict', 'replace')
  form.append('file', new File([content], name))
  return person.rest('POST', `${base}/upload`, { form, ...(headers ? { headers } : {}) })
}
/** Somebody who may edit a folder of a person, and its path. A file in it, a.txt, was replaced. */
async function shareWithEditor(person: Person): Promise<[editor: Person, base: string]> {
  const editor = await t.signIn(`person${serial++}`)
  await person.upload('shared/a.txt', 'x')
  const input = { entries: [{ at: { path: 'shared' } }], email: editor.email, mayEdit: true }
  const SHARE =
    'mutation ($input: CreateDirectShareInput!) { createDirectShare(input: $input) { shares { token } } }'
  const base = `/api/shared/${(await ask(person, SHARE, { input })).createDirectShare.shares[0].token}`
  await save(editor, 'a.txt', 'by the editor', {}, base)
  return [editor, base]
}
const ifMatch = (tag: string): RestOptions => ({ headers: { 'if-match': tag } })

describe('A move to an occupied path', () => {
  it('refuses, keeps both, or moves the existing file into the trash', async () => {
    const person = await personWith('a.txt', 'b.txt', 'docs/a.txt', 'docs/b.txt')
    const to = { to: { at: { path: 'docs' } } }
    const input = { entries: [{ at: { path: 'a.txt' } }], ...to }
    expect(await codeOf(person, MOVE, { input })).toBe('PATH_EXISTS')
    expect(pathsOf(await move(person, ['a.txt'], { ...to, onConflict: 'KEEP_BOTH' }))).toEqual([
      'docs/a (2).txt',
    ])
    const { id } = await entryAt(person, 'b.txt')
    expect(await move(person, ['b.txt'], { ...to, onConflict: 'REPLACE' })).toMatchObject([
      { id, path: 'docs/b.txt' },
    ])
    expect(await trashOf(person)).toEqual(['docs/b.txt'])
    await expectConsistent(t)
  })

  it('keeps several entries of the same name', async () => {
    const person = await personWith('x/a.txt', 'y/a.txt', 'z/a.txt')
    const paths = ['x/a.txt', 'y/a.txt', 'z/a.txt']
    const to = { to: { at: { path: 'new' } } }
    const entries = paths.map(path => ({ at: { path } }))
    expect(await codeOf(person, MOVE, { input: { entries, ...to, onConflict: 'REPLACE' } })).toBe(
      'PATH_EXISTS',
    )
    expect(pathsOf(await move(person, paths, { ...to, onConflict: 'KEEP_BOTH' }))).toEqual([
      'new/a.txt',
      'new/a (2).txt',
      'new/a (3).txt',
    ])
    await expectConsistent(t)
  })

  it('renames by the same rules, and replaces neither folders nor itself', async () => {
    const person = await personWith('a.txt', 'b.txt', 'c/d.txt')
    expect(
      pathsOf(await move(person, ['a.txt'], { name: 'b.txt', onConflict: 'KEEP_BOTH' })),
    ).toEqual(['b (2).txt'])
    const toFolder = { entries: [{ at: { path: 'b.txt' } }], name: 'c', onConflict: 'REPLACE' }
    expect(await codeOf(person, MOVE, { input: toFolder })).toBe('PATH_EXISTS')
    for (const on_conflict of ['replace', 'keep_both']) {
      const json = { source: 'b.txt', destination: 'b.txt', on_conflict }
      expect((await person.rest('POST', '/api/files/move', { json })).response.code).toBe(
        'PATH_EXISTS',
      )
    }
    expect(
      pathsOf(await move(person, ['b (2).txt'], { name: 'b.txt', onConflict: 'REPLACE' })),
    ).toEqual(['b.txt'])
    await expectConsistent(t)
  })

  it('follows the same rules by REST, also in a workspace', async () => {
    const person = await personWith('a.txt', 'b.txt', 'c.txt')
    const moving = (source: string, on_conflict: string) =>
      person.rest('POST', '/api/files/move', {
        json: { source, destination: 'c.txt', on_conflict },
      })
    expect((await moving('a.txt', 'keep_both')).response).toEqual({
      source: 'a.txt',
      destination: 'c (2).txt',
    })
    expect((await moving('b.txt', 'replace')).response).toEqual({
      source: 'b.txt',
      destination: 'c.txt',
    })
    expect((await moving('c.txt', 'over')).response).toEqual({
      code: 'INVALID_INPUT',
      field: 'on_conflict',
    })
    const room = await found(person)
    const files = `/api/workspaces/${room}/files`
    const [{ id }] = (await save(person, 'a.txt', '1', {}, files)).response
    await save(person, 'b.txt', '2', {}, files)
    const json = { file_id: id, destination: '/x', on_conflict: 'replace' }
    expect((await person.rest('PATCH', `${files}/move`, { json })).response.destination).toBe(
      '/x/a.txt',
    )
    const back = { source: '/x/a.txt', destination: '/b.txt', on_conflict: 'keep_both' }
    expect((await person.rest('PATCH', `${files}/move`, { json: back })).response.destination).toBe(
      '/b (2).txt',
    )
  })

  it.each([
    ['a session', false],
    ['a key', true],
  ])(
    'follows the same rules for folders by REST, but replaces no folder: by %s',
    async (_by, byKey) => {
      const person = await personWith('x/in.txt', 'y/in.txt', 'z/in.txt', 'taken', 'dir/kept.txt')
      const room = await found(person)
      const files = `/api/workspaces/${room}/files`
      for (const folder of ['x', 'y', 'z', 'dir'])
        await person.rest('POST', `${files}/mkdir`, { json: { folder_name: folder } })
      await save(person, 'taken', '1', {}, files)
      const [own, theirs] = byKey
        ? [(await privateKey(t, person)).caller, (await workspaceKey(t, person, room)).caller]
        : [person, person]
      for (const [caller, method, route, front] of [
        [own, 'POST', '/api/folders/move', ''],
        [theirs, 'PATCH', `${files}/folder/move`, '/'],
      ] as const) {
        const move = async (source: string, destination: string, on_conflict?: string) => {
          const json = {
            source: front + source,
            destination: front + destination,
            ...(on_conflict ? { on_conflict } : {}),
          }
          const { response } = await caller.rest(method, route, { json })
          return response.code ?? response.destination
        }
        expect([await move('x', 'taken'), await move('x', 'taken', 'fail')]).toEqual([
          'PATH_EXISTS',
          'PATH_EXISTS',
        ])
        expect(await move('x', 'taken', 'over')).toBe('INVALID_INPUT')
        expect(await move('x', 'dir', 'replace')).toBe('PATH_EXISTS')
        expect(await move('x', 'dir', 'keep_both')).toBe(`${front}dir (2)`)
        expect(await move('y', 'taken', 'replace')).toBe(`${front}taken`)
        expect(await move('z', 'new/z', 'replace')).toBe(`${front}new/z`)
      }
      expect(await trashOf(person)).toEqual(['taken'])
      const { items } = (await person.rest('GET', `/api/workspaces/${room}/trash`)).response
      expect(pathsOf(items)).toEqual(['/taken'])
      expect((await entryAt(person, 'taken/in.txt')).size).toBeGreaterThan(0)
      await expectConsistent(t)
    },
  )

  it('replaces nothing for a key without the right to delete', async () => {
    const person = await personWith('a.txt', 'b.txt', 'dir/c.txt')
    const { caller } = await privateKey(t, person, ['private_files:write'])
    const folder = { source: 'dir', destination: 'b.txt', on_conflict: 'replace' }
    expect((await caller.rest('POST', '/api/folders/move', { json: folder })).response.code).toBe(
      'INSUFFICIENT_SCOPE',
    )
    const json = { source: 'a.txt', destination: 'b.txt', on_conflict: 'replace' }
    expect((await caller.rest('POST', '/api/files/move', { json })).response.code).toBe(
      'INSUFFICIENT_SCOPE',
    )
    const input = { entries: [{ at: { path: 'a.txt' } }], name: 'b.txt', onConflict: 'REPLACE' }
    expect(await codeOf(caller, MOVE, { input })).toBe('INSUFFICIENT_SCOPE')
    expect(await trashOf(person)).toEqual([])
  })
})

describe('The revision of an entry', () => {
  it('grows with changes of its own content, name and place only', async () => {
    const person = await personWith('docs/a.txt', 'docs/b.txt')
    const folder = (await entryAt(person, 'docs')).revision
    const revisions = [(await entryAt(person, 'docs/a.txt')).revision]
    const note = async (path: string) => revisions.push((await entryAt(person, path)).revision)
    await move(person, ['docs/a.txt'], { name: 'c.txt' })
    await note('docs/c.txt')
    await move(person, ['docs/c.txt'], { to: { at: { path: '' } } })
    await note('c.txt')
    await save(person, 'c.txt', 'new')
    await note('c.txt')
    const [version] = (await person.rest('GET', '/api/files/versions?path=c.txt')).response.versions
    await person.rest('POST', `/api/files/versions/${version.id}/restore`)
    await note('c.txt')
    expect(revisions).toEqual([1, 2, 3, 4, 5])
    expect((await entryAt(person, 'docs')).revision).toBe(folder)
    expect((await entryAt(person, 'docs/b.txt')).revision).toBe(1)
  })

  it('is the ETag of a file by REST', async () => {
    const person = await personWith('a.txt')
    const listed = await person.rest('GET', '/api/files/versions?path=a.txt')
    expect(listed.headers.get('etag')).toBe('"1"')
    const saved = await save(person, 'a.txt', 'new', ifMatch('"1"'))
    expect([saved.status, saved.headers.get('etag')]).toEqual([200, '"2"'])
    const json = { source: 'a.txt', destination: 'b.txt' }
    const moved = await person.rest('POST', '/api/files/move', { json, ...ifMatch('"2"') })
    expect([moved.status, moved.headers.get('etag')]).toEqual([200, '"3"'])
    const [version] = (await person.rest('GET', '/api/files/versions?path=b.txt')).response.versions
    const restored = await person.rest(
      'POST',
      `/api/files/versions/${version.id}/restore`,
      ifMatch('"7", "3"'),
    )
    expect([restored.status, restored.headers.get('etag')]).toEqual([200, '"4"'])
    expect((await person.rest('DELETE', '/api/files/delete?file=b.txt', ifMatch('*'))).status).toBe(
      200,
    )
  })

  it.each([
    ['a session', false],
    ['a key', true],
  ])('is the ETag of a folder by REST, and conditions its changes: by %s', async (_by, byKey) => {
    const person = await personWith()
    const room = await found(person)
    const files = `/api/workspaces/${room}/files`
    const [own, theirs] = byKey
      ? [(await privateKey(t, person)).caller, (await workspaceKey(t, person, room)).caller]
      : [person, person]
    const tagOf = ({ status, headers }: RestAnswer) => [status, headers.get('etag')]
    const ways = [
      {
        make: () => own.rest('POST', '/api/folders', { json: { path: 'a' } }),
        move: (json: object, match: RestOptions) =>
          own.rest('POST', '/api/folders/move', { json, ...match }),
        remove: (match: RestOptions) => own.rest('DELETE', '/api/folders?path=b', match),
      },
      {
        make: () => theirs.rest('POST', `${files}/mkdir`, { json: { folder_name: 'a' } }),
        move: (json: object, match: RestOptions) =>
          theirs.rest('PATCH', `${files}/folder/move`, { json, ...match }),
        remove: (match: RestOptions) =>
          theirs.rest('DELETE', `${files}/folder/delete?path=/b`, match),
      },
    ]
    for (const { make, move, remove } of ways) {
      expect(tagOf(await make())).toEqual([200, '"1"'])
      const json = { source: '/a', destination: '/b' }
      expect((await move(json, ifMatch('"2"'))).response).toEqual({
        code: 'REVISION_MISMATCH',
        revision: 1,
      })
      expect(tagOf(await move(json, ifMatch('"1"')))).toEqual([200, '"2"'])
      const late = await remove(ifMatch('"1"'))
      expect([late.status, late.response.revision]).toEqual([412, 2])
      expect((await remove(ifMatch('2'))).response).toEqual({
        code: 'INVALID_INPUT',
        field: 'if_match',
      })
      expect((await remove(ifMatch('"2"'))).status).toBe(200)
    }
  })

  it('refuses changes of an outdated revision, by REST', async () => {
    const person = await personWith('a.txt')
    const room = await found(person)
    const files = `/api/workspaces/${room}/files`
    const stale = ifMatch('"1"')
    for (const base of ['/api/files', files])
      for (const content of ['1', '22']) await save(person, 'a.txt', content, {}, base)
    const version = async (base: string) =>
      `${base}/versions/${(await person.rest('GET', `${base}/versions?path=/a.txt`)).response.versions[0].id}/restore`
    const uploaded = async (base: string) => {
      const json = { filename: 'a.txt', size: 0, on_conflict: 'replace' }
      return `${base}/uploads/${(await person.rest('POST', `${base}/uploads`, { json })).response.upload_id}/complete`
    }
    /**
     * Background completions that notice it only at their end are tested in
     * test/stores/drills/background-completion.test.ts.
     */
    const told = async (base: string) => {
      const path = await uploaded(base)
      const failure = JSON.stringify({
        code: 'REVISION_MISMATCH',
        message: 'Late.',
        details: { revision: 3 },
      })
      const [, id] = /uploads\/(.*)\/complete/.exec(path) ?? []
      await t.app.db.run("UPDATE upload_session SET state = 'failed', failure = ? WHERE id = ?", [
        failure,
        id ?? '',
      ])
      return path.replace(/complete$/, 'completion')
    }
    const to = (source: string, destination: string) => ({
      json: { source, destination },
      ...stale,
    })
    const [editor, shared] = await shareWithEditor(person)
    const answers = [
      await save(person, 'a.txt', 'late', stale),
      await save(person, 'a.txt', 'late', stale, files),
      await person.rest('POST', await uploaded('/api/files'), { json: {}, ...stale }),
      await person.rest('POST', await uploaded(files), { json: {}, ...stale }),
      await person.rest('GET', await told('/api/files')),
      await person.rest('GET', await told(files)),
      await person.rest('POST', await version('/api/files'), stale),
      await person.rest('POST', await version(files), stale),
      await person.rest('POST', '/api/files/move', to('a.txt', 'b.txt')),
      await person.rest('PATCH', `${files}/move`, to('/a.txt', '/b.txt')),
      await person.rest('DELETE', '/api/files/delete?file=a.txt', stale),
      await person.rest('DELETE', `${files}/delete?path=/a.txt`, stale),
      await save(editor, 'a.txt', 'late', stale, shared),
      await editor.rest('POST', `${shared}/move`, to('a.txt', 'b.txt')),
      await editor.rest('DELETE', `${shared}/entries?path=a.txt`, stale),
    ]
    for (const { status, response } of answers) {
      expect([status, response.code]).toEqual([412, 'REVISION_MISMATCH'])
      expect(response.revision).toBeGreaterThan(1)
    }
    // A missing entry, a weak tag, which matches nothing, and an invalid tag, which is an error.
    const gone = await save(person, 'none.txt', 'late', ifMatch('*'))
    expect([gone.status, gone.response]).toEqual([
      412,
      { code: 'REVISION_MISMATCH', revision: null },
    ])
    expect((await save(person, 'a.txt', 'late', ifMatch('W/"3"'))).status).toBe(412)
    expect((await save(person, 'a.txt', 'late', ifMatch('3'))).response).toEqual({
      code: 'INVALID_INPUT',
      field: 'if_match',
    })
    expect((await entryAt(person, 'a.txt')).size).toBe(2)
  })

  it('refuses changes of an outdated revision, by GraphQL', async () => {
    const person = await personWith('a.txt', 'b.txt')
    await save(person, 'a.txt', 'newer')
    const [version] = (await person.rest('GET', '/api/files/versions?path=a.txt')).response.versions
    const entries = [{ at: { path: 'a.txt' } }]
    const DELETE =
      'mutation ($input: DeleteEntriesInput!) { deleteEntries(input: $input) { deletedIds } }'
    const RESTORE =
      'mutation ($input: RestoreVersionInput!) { restoreVersion(input: $input) { removedId } }'
    const START =
      'mutation ($input: StartUploadInput!) { startUpload(input: $input) { uploadSession { id } } }'
    const COMPLETE =
      'mutation ($input: CompleteUploadInput!) { completeUpload(input: $input) { file { id } } }'
    const BEGIN =
      'mutation ($input: BeginCompletionInput!) { beginCompletion(input: $input) { uploadSession { id } } }'
    const UPLOAD =
      'mutation ($input: UploadFileInput!) { uploadFile(input: $input) { file { revision } } }'
    const start = { input: { fileName: 'a.txt', size: 0, onConflict: 'REPLACE' } }
    const uploadSession = (await ask(person, START, start)).startUpload.uploadSession.id
    const upload = (expectedRevision: number) =>
      person.graphql<{ uploadFile: object }>(
        UPLOAD,
        { input: { file: null, onConflict: 'REPLACE', expectedRevision } },
        new File(['late'], 'a.txt'),
      )
    const calls: [string, object][] = [
      [MOVE, { entries, name: 'c.txt' }],
      [DELETE, { entries }],
      [RESTORE, { version: version.id }],
      [COMPLETE, { uploadSession }],
      [BEGIN, { uploadSession }],
    ]
    for (const [query, input] of calls)
      expect(await codeOf(person, query, { input: { ...input, expectedRevision: 1 } })).toBe(
        'REVISION_MISMATCH',
      )
    expect((await upload(1)).errors?.[0]?.extensions).toMatchObject({
      code: 'REVISION_MISMATCH',
      revision: 2,
    })
    expect((await upload(2)).data?.uploadFile).toEqual({ file: { revision: 3 } })
    const both = { entries: [...entries, { at: { path: 'b.txt' } }], expectedRevision: 3 }
    expect(await codeOf(person, DELETE, { input: both })).toBe('INVALID_INPUT')
    expect(await codeOf(person, MOVE, { input: { ...both, to: { at: { path: 'x' } } } })).toBe(
      'INVALID_INPUT',
    )
    expect(await move(person, ['a.txt'], { name: 'c.txt', expectedRevision: 3 })).toMatchObject([
      { revision: 4 },
    ])
    const ok = { entries: [{ at: { path: 'c.txt' } }], expectedRevision: 4 }
    expect((await ask(person, DELETE, { input: ok })).deleteEntries.deletedIds).toHaveLength(1)
    await expectConsistent(t)
  })

  it('admits one of two updates of the same revision', async () => {
    const person = await personWith('a.txt')
    const answers = await Promise.all(
      ['one', 'two'].map(content => save(person, 'a.txt', content, ifMatch('"1"'))),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 412])
    const { versions } = (await person.rest('GET', '/api/files/versions?path=a.txt')).response
    expect(versions).toHaveLength(1)
    await expectConsistent(t)
  })
})
