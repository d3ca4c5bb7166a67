import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals'
import { found, join, ROOMY, UNHURRIED } from '../support/builders.ts'
import { type Person, type RestAnswer, startApp, type TestApp } from '../support/harness.ts'

const MAX = 3
const LIMITS = ['maxFolders', 'maxPublicLinks', 'maxPendingInvites', 'maxNotes']

let t: TestApp
let people = 0

beforeAll(async () => {
  t = await startApp(UNHURRIED)
  await t.limit(ROOMY)
})
afterAll(() => t?.stop())
afterEach(() => limitAll(null))

const limitAll = (max: number | null) =>
  t.limit(Object.fromEntries(LIMITS.map(name => [name, max])))
const person = (name = 'alice') => t.signIn(`${name}${++people}`)
const numbers = (count: number) => Array.from({ length: count }, (_, i) => i)

/** A way to create things of one kind, each different. */
interface Kind {
  what: string
  limit: string
  /** Prepares an owner. Returns functions that create and end the nth thing. */
  begin(owner: Person): Promise<{
    make(n: number): Promise<RestAnswer>
    end(n: number, made: RestAnswer): Promise<unknown>
  }>
  count(owner: Person): Promise<number>
}

async function rowsOf(sql: string, value: string): Promise<number> {
  const [row] = await t.app.db.rows<{ n: number }>(sql, [value])
  return Number(row?.n)
}

const kinds: Kind[] = [
  {
    what: 'own folders',
    limit: 'max_folders',
    async begin(owner) {
      return {
        make: n => owner.rest('POST', '/api/folders', { json: { path: `f${n}` } }),
        end: n => owner.rest('DELETE', `/api/folders?path=f${n}`),
      }
    },
    count: ({ userId }) =>
      rowsOf(
        'SELECT COUNT(*) AS n FROM entry e JOIN bucket b ON b.id = e.bucket_id WHERE e.kind = 0 AND e.parent_id IS NOT NULL AND b.user_id = ?',
        userId,
      ),
  },
  {
    what: 'public links',
    limit: 'max_public_links',
    async begin(owner) {
      await owner.upload('a.txt', 'x')
      return {
        make: () => owner.rest('POST', '/api/files/quick_share', { json: { object: 'a.txt' } }),
        end: (_n, { response }) =>
          owner.rest('POST', `/api/share/revoke/${response.sharing_token}`),
      }
    },
    count: ({ userId }) =>
      rowsOf('SELECT COUNT(*) AS n FROM share WHERE recipient IS NULL AND user_id = ?', userId),
  },
  {
    what: 'pending invites',
    limit: 'max_pending_invites',
    async begin(owner) {
      const workspace_id = await found(owner)
      return {
        make: n =>
          owner.rest('POST', '/api/workspaces/invites/create', {
            json: { workspace_id, email: `guest${n}@example.com`, role: 'viewer' },
          }),
        end: (_n, { response }) =>
          owner.rest(
            'DELETE',
            `/api/workspaces/invites/delete?workspace_id=${workspace_id}&invite_id=${response.id}`,
          ),
      }
    },
    count: ({ userId }) => rowsOf('SELECT COUNT(*) AS n FROM invite WHERE invited_by = ?', userId),
  },
  {
    what: 'notes',
    limit: 'max_notes',
    async begin(owner) {
      const sums: string[] = []
      for (const n of numbers(3 * MAX))
        sums.push((await owner.upload(`n${n}`, `n${n}`)).response.file.md5_checksum)
      const write = (n: number, content: string) =>
        owner.rest('PUT', `/api/files/${sums[n]}/note`, { json: { content } })
      return { make: n => write(n, 'a note'), end: n => write(n, '') }
    },
    count: ({ userId }) =>
      rowsOf(
        'SELECT COUNT(*) AS n FROM note JOIN bucket b ON b.id = note.bucket_id WHERE b.user_id = ?',
        userId,
      ),
  },
]

describe.each(kinds)('The number of $what', ({ limit, begin, count }) => {
  const refused = { code: 'QUOTA_EXCEEDED', limit, max: MAX, used: MAX }

  it('is limited; each one that ends makes room for another', async () => {
    const owner = await person()
    const { make, end } = await begin(owner)
    await limitAll(MAX)
    const made: RestAnswer[] = []
    for (const n of numbers(MAX)) made.push(await make(n))
    expect(made.map(({ status }) => status)).toEqual(Array(MAX).fill(200))
    const { status, response } = await make(MAX)
    expect([status, response]).toEqual([400, refused])
    expect(await count(owner)).toBe(MAX)
    await end(0, made[0] as RestAnswer)
    expect((await make(MAX + 1)).status).toBe(200)
    expect((await make(MAX + 2)).response).toEqual(refused)
    expect(await count(owner)).toBe(MAX)
    // Other users have separate counts.
    const other = await person('bob')
    expect((await (await begin(other)).make(0)).status).toBe(200)
  })

  it('is exact when all come at once', async () => {
    const owner = await person()
    const { make } = await begin(owner)
    await limitAll(MAX)
    const answers = await Promise.all(numbers(3 * MAX).map(make))
    expect(answers.map(({ status }) => status).sort()).toEqual([
      ...Array(MAX).fill(200),
      ...Array(2 * MAX).fill(400),
    ])
    expect(await count(owner)).toBe(MAX)
  })

  it('may exceed a limit that is lowered later; existing ones remain, and no more are added', async () => {
    const owner = await person()
    const { make } = await begin(owner)
    for (const n of numbers(MAX + 2)) expect((await make(n)).status).toBe(200)
    await limitAll(MAX)
    const { status, response } = await make(MAX + 2)
    expect([status, response]).toEqual([400, { ...refused, used: MAX + 2 }])
    expect(await count(owner)).toBe(MAX + 2)
  })
})

describe('At the limit', () => {
  it('new folders of an upload or a move are refused with it', async () => {
    const owner = await person()
    await owner.upload('a.txt', 'x')
    await limitAll(2)
    const { status, response } = await owner.upload('x/y/z/b.txt', 'x')
    expect([status, response.code, response.limit]).toEqual([400, 'QUOTA_EXCEEDED', 'max_folders'])
    const json = { source: 'a.txt', destination: 'x/y/z/a.txt' }
    expect((await owner.rest('POST', '/api/files/move', { json })).response.code).toBe(
      'QUOTA_EXCEEDED',
    )
    expect((await owner.rest('GET', '/api/files/tree')).response).toMatchObject({
      folders: [],
      files: [expect.objectContaining({ name: 'a.txt' })],
    })
    expect((await owner.upload('x/y/b.txt', 'x')).status).toBe(200)
    const into = { source: 'x/y', destination: 'new/y' }
    expect((await owner.rest('POST', '/api/folders/move', { json: into })).response.code).toBe(
      'QUOTA_EXCEEDED',
    )
  })

  it('workspace folders keep their own limit', async () => {
    const owner = await person()
    const workspace = await found(owner)
    await limitAll(1)
    const mkdir = (folder_name: string) =>
      owner.rest('POST', `/api/workspaces/${workspace}/files/mkdir`, { json: { folder_name } })
    expect([(await mkdir('a')).status, (await mkdir('b')).status]).toEqual([200, 200])
  })

  it('expired and used-up links make room', async () => {
    const owner = await person()
    await owner.upload('a.txt', 'x')
    await limitAll(1)
    const quick = (json: object = {}) =>
      owner.rest('POST', '/api/files/quick_share', { json: { object: 'a.txt', ...json } })
    const first = await quick({ max_downloads: 1 })
    expect((await quick()).response.code).toBe('QUOTA_EXCEEDED')
    await t.anonymous.rest('GET', `/api/d/${first.response.sharing_token}`)
    expect((await quick()).status).toBe(200)
    expect((await quick()).response).toMatchObject({ used: 1, max: 1 })
    await t.app.db.run('UPDATE share SET expires_at = ? WHERE user_id = ?', [
      Date.now() - 1,
      owner.userId,
    ])
    expect((await quick()).status).toBe(200)
    // A share for one person is not a public link.
    const json = { email: 'bob@example.com', objects: ['a.txt'] }
    expect((await owner.rest('POST', '/api/files/share', { json })).status).toBe(200)
  })

  it('expired links make room once, however many requests come at the same time', async () => {
    const owner = await person()
    await owner.upload('a.txt', 'x')
    await limitAll(5)
    const quick = () => owner.rest('POST', '/api/files/quick_share', { json: { object: 'a.txt' } })
    for (let i = 0; i < 5; i++) expect((await quick()).status).toBe(200)
    const [one] = await t.app.db.rows<{ id: string }>(
      'SELECT id FROM share WHERE user_id = ? LIMIT 1',
      [owner.userId],
    )
    await t.app.db.run('UPDATE share SET expires_at = ? WHERE id = ?', [
      Date.now() - 1,
      one?.id ?? '',
    ])
    const statuses = (await Promise.all(Array.from({ length: 12 }, quick))).map(
      ({ status }) => status,
    )
    expect(statuses.sort()).toEqual([200, ...Array(11).fill(400)])
  })

  it('invites can be renewed, and expired invites make room', async () => {
    const owner = await person()
    const carol = await person('carol')
    const workspace_id = await found(owner)
    await join(t, workspace_id, carol, 'admin')
    await limitAll(1)
    const invite = (email: string, who = owner) =>
      who.rest('POST', '/api/workspaces/invites/create', {
        json: { workspace_id, email, role: 'viewer' },
      })
    expect((await invite('a@example.com')).status).toBe(200)
    expect((await invite('a@example.com', carol)).status).toBe(200)
    expect((await invite('b@example.com', carol)).response.limit).toBe('max_pending_invites')
    await t.app.db.run('UPDATE invite SET expires_at = ? WHERE workspace_id = ?', [
      Date.now() - 1,
      workspace_id,
    ])
    expect((await invite('b@example.com')).status).toBe(200)
    expect((await invite('a@example.com')).response.code).toBe('QUOTA_EXCEEDED')
  })

  it('notes can be changed and removed', async () => {
    const owner = await person()
    const sum = (await owner.upload('a', 'a')).response.file.md5_checksum
    const other = (await owner.upload('b', 'b')).response.file.md5_checksum
    await limitAll(1)
    const write = (checksum: string, content: string) =>
      owner.rest('PUT', `/api/files/${checksum}/note`, { json: { content } })
    for (const content of ['one', 'two', 'two', '', '', 'three'])
      expect((await write(sum, content)).status).toBe(200)
    expect((await write(other, 'x')).response.code).toBe('QUOTA_EXCEEDED')
    expect((await write(other, '')).status).toBe(200)
    await write(sum, '')
    expect((await write(other, 'x')).status).toBe(200)
  })
})

describe('Limits', () => {
  it('are shown with the plan', async () => {
    await limitAll(7)
    const owner = await person()
    const { response } = await owner.rest('GET', '/api/user/data')
    const shown = { max_folders: 7, max_public_links: 7, max_pending_invites: 7, max_notes: 7 }
    expect(response.user_data).toMatchObject(shown)
    const { data } = await owner.graphql(
      '{ me { plan { maxFolders maxLinks maxWorkspaceInvites maxNotes } } }',
    )
    expect(data).toEqual({
      me: { plan: { maxFolders: 7, maxLinks: 7, maxWorkspaceInvites: 7, maxNotes: 7 } },
    })
  })

  it('are set for each initial plan', async () => {
    const fresh = await startApp()
    try {
      const rows = await fresh.app.db.rows<object>(
        'SELECT id, max_folders AS folders, max_public_links AS links, max_pending_invites AS invites, max_notes AS notes FROM plan ORDER BY id',
      )
      expect(rows).toEqual([
        { id: 'developer', folders: 100_000, links: 10_000, invites: 500, notes: 100_000 },
        { id: 'enterprise', folders: null, links: null, invites: 5_000, notes: null },
        { id: 'free', folders: 10_000, links: 1_000, invites: 100, notes: 10_000 },
      ])
    } finally {
      await fresh.stop()
    }
  })
})
