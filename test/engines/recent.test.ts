import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { ask, codeOf } from '../support/ask.ts'
import {
  driveOf,
  expel,
  found,
  join,
  privateKey,
  put,
  UNHURRIED,
  workspaceKey,
} from '../support/builders.ts'
import { type Person, startApp, type TestApp } from '../support/harness.ts'

let t: TestApp
beforeAll(async () => {
  t = await startApp(UNHURRIED)
})
afterAll(() => t.stop())

let serial = 0
const newPerson = () => t.signIn(`worker${serial++}`)

const RECENT = `query ($first: Int, $after: String, $drives: [ID!]) { me { recent(first: $first, after: $after, drives: $drives) {
  nodes { kind happenedAt entry { path } } pageInfo { hasNextPage endCursor } } } }`
const recentOf = async (person: Person, variables = {}) =>
  (await ask(person, RECENT, variables)).me.recent
const seenBy = async (person: Person, variables = {}): Promise<[string, string][]> =>
  (await recentOf(person, variables)).nodes.map(
    (node: { kind: string; entry: { path: string } }) => [node.entry.path, node.kind],
  )
/** Events of the same moment have no meaningful order. */
const apart = () => new Promise(resolve => setTimeout(resolve, 3))
async function inTurn(...steps: (() => Promise<unknown>)[]): Promise<void> {
  for (const step of steps) {
    await step()
    await apart()
  }
}
const move = (person: Person, source: string, destination: string) =>
  person.rest('POST', '/api/files/move', { json: { source, destination } })

describe('Recent', () => {
  it('shows each file and folder once, with the latest action of the person', async () => {
    const person = await newPerson()
    const form = new FormData()
    form.append('on_conflict', 'replace')
    form.append('file', new Blob(['new']), 'b.txt')
    await inTurn(
      () => person.upload('a.txt', 'a'),
      () => person.upload('b.txt', 'b'),
      () => person.upload('c.txt', 'c'),
      () => person.upload('d.txt', 'd'),
      () => person.upload('e.txt', 'e'),
      () => person.upload('f.txt', 'noted'),
      () => person.rest('POST', '/api/files/upload', { form }),
      () => move(person, 'c.txt', 'renamed.txt'),
      () => person.rest('POST', '/api/folders', { json: { path: 'folder' } }),
      () => move(person, 'd.txt', 'folder/d.txt'),
      () => person.rest('POST', '/api/files/quick_share', { json: { object: 'e.txt' } }),
      async () => {
        const { files } = (await person.rest('GET', '/api/files/tree')).response
        const { md5_checksum } = files.find(({ name }: { name: string }) => name === 'f.txt')
        await person.rest('PUT', `/api/files/${md5_checksum}/note`, {
          json: { content: 'remember' },
        })
      },
    )
    expect(await seenBy(person)).toEqual([
      ['f.txt', 'NOTE_WRITTEN'],
      ['e.txt', 'SHARE_CREATED'],
      ['folder/d.txt', 'FILE_MOVED'],
      ['folder', 'FOLDER_CREATED'],
      ['renamed.txt', 'FILE_RENAMED'],
      ['b.txt', 'FILE_REPLACED'],
      ['a.txt', 'FILE_CREATED'],
    ])
  })

  it('omits deleted entries, and shows them again once restored', async () => {
    const person = await newPerson()
    await inTurn(
      () => person.upload('a.txt', 'a'),
      () => person.upload('b.txt', 'b'),
      () => person.rest('DELETE', '/api/files/delete?file=a.txt'),
    )
    expect(await seenBy(person)).toEqual([['b.txt', 'FILE_CREATED']])
    const { items } = (await person.rest('GET', '/api/trash')).response
    await person.rest('POST', '/api/trash/restore', { json: { items: [items[0].id] } })
    expect(await seenBy(person)).toEqual([
      ['a.txt', 'FILE_RESTORED'],
      ['b.txt', 'FILE_CREATED'],
    ])
    expect((await recentOf(person)).nodes[0].happenedAt).toEqual(expect.any(String))
  })

  it("shows only the person's own actions, in every drive that the person may still see", async () => {
    const [owner, member] = [await newPerson(), await newPerson()]
    const workspace = await found(owner, 'Work')
    await join(t, workspace, member, 'editor')
    await inTurn(
      () => put(owner, workspace, '/theirs.txt'),
      () => put(member, workspace, '/mine.txt'),
      () => member.upload('own.txt', 'x'),
    )
    const drive = await driveOf(member, workspace)
    expect(await seenBy(member)).toEqual([
      ['own.txt', 'FILE_CREATED'],
      ['/mine.txt', 'FILE_CREATED'],
    ])
    expect(await seenBy(member, { drives: [drive] })).toEqual([['/mine.txt', 'FILE_CREATED']])
    expect(await seenBy(member, { drives: [] })).toEqual([])
    expect((await member.rest('GET', '/api/recent')).response.entries).toMatchObject([
      {
        kind: 'file',
        name: 'own.txt',
        path: 'own.txt',
        workspace_id: null,
        action: 'file.created',
      },
      { path: '/mine.txt', workspace_id: workspace },
    ])
    await expel(t, workspace, member)
    expect(await seenBy(member)).toEqual([['own.txt', 'FILE_CREATED']])
    const { caller } = await privateKey(t, owner)
    expect((await caller.rest('GET', '/api/recent')).response.entries).toEqual([])
    const ofWorkspace = (await workspaceKey(t, owner, workspace)).caller
    expect((await ofWorkspace.rest('GET', '/api/recent')).response.code).toBe('KEY_OUT_OF_BOUNDS')
  })

  it('is paged, also within actions of the same moment', async () => {
    const person = await newPerson()
    const paths = Array.from({ length: 7 }, (_, i) => `f/${i}.txt`)
    for (const path of paths) await person.upload(path, path)
    const entries = paths.map(path => ({ at: { path } }))
    const MOVE =
      'mutation ($input: MoveEntriesInput!) { moveEntries(input: $input) { drive { id } } }'
    await ask(person, MOVE, { input: { entries, to: { at: { path: 'g' } } } })
    await person.rest('DELETE', '/api/files/delete?file=g/3.txt')
    const shown: string[] = []
    for (let after: string | null = null, more = true; more; ) {
      const page = await recentOf(person, { first: 2, after })
      shown.push(...page.nodes.map(({ entry }: { entry: { path: string } }) => entry.path))
      after = page.pageInfo.endCursor
      more = page.pageInfo.hasNextPage
    }
    expect(shown.toSorted()).toEqual(
      ['f', 'g', ...paths.map(p => p.replace('f/', 'g/'))].filter(p => p !== 'g/3.txt').toSorted(),
    )
    const byRest = await person.rest('GET', '/api/recent?limit=3')
    const next = await person.rest(
      'GET',
      `/api/recent?limit=100&cursor=${byRest.response.next_cursor}`,
    )
    expect([...byRest.response.entries, ...next.response.entries]).toHaveLength(shown.length)
    expect(next.response.next_cursor).toBeNull()
  })

  it('needs the same number of statements and rows, however long the log is', async () => {
    const person = await newPerson()
    const count = async () => {
      t.statements()
      const { nodes } = await recentOf(person, { first: 10 })
      return { statements: t.statements().length, nodes: nodes.length }
    }
    for (let i = 0; i < 3; i++) await person.upload(`${i}.txt`, `${i}`)
    const few = await count()
    const drive = await driveOf(person)
    const [row] = await t.app.db.rows<{ entry_id: string }>(
      'SELECT entry_id FROM event WHERE log_id = ? AND seq = 1',
      [drive],
    )
    const at = Date.now() - 1000
    const rows = Array.from(
      { length: 1500 },
      (_, i) =>
        `('${drive}', ${100 + i}, ${at}, '${person.userId}', 'session', 'file.renamed', '${row?.entry_id}', '{}')`,
    )
    await t.app.db.run(
      `INSERT INTO event (log_id, seq, at, actor_id, via, kind, entry_id, details) VALUES ${rows.join(', ')}`,
    )
    expect(await count()).toEqual(few)
  })

  it('returns an empty list, INVALID_INPUT and UNAUTHENTICATED by REST', async () => {
    const person = await newPerson()
    expect((await person.rest('GET', '/api/recent')).response).toEqual({
      entries: [],
      next_cursor: null,
    })
    expect((await person.rest('GET', '/api/recent?cursor=x')).status).toBe(400)
    expect((await t.anonymous.rest('GET', '/api/recent')).status).toBe(401)
    expect(await codeOf(person, RECENT, { after: 'x' })).toBe('INVALID_INPUT')
  })
})
