import { readFileSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { getNamedType, isLeafType, isObjectType } from 'graphql'
import { v7 as newId } from 'uuid'
import { FILE } from '../db/models/entry.ts'
import { schema } from '../schema/index.ts'
import { routesOf } from '../src/rest/routes.ts'
import { walkEveryRoute } from './every-route.ts'
import { type Person, startApp, type TestApp } from './harness.ts'

const table = new URL('statements.json', import.meta.url)

let t: TestApp
let alice: Person
let bob: Person

beforeAll(async () => {
  const generous = ['API_KEYS', 'SHARING', 'WORKSPACES', 'INVITES'].map(rate => [`RATE_${rate}`, '1000000'])
  t = await startApp(Object.fromEntries(generous))
  await t.limit({
    maxPrivateApiKeys: 1000,
    maxWorkspaceApiKeys: 1000,
    maxUserWorkspaces: 1000,
    maxUsersWorkspace: 1000,
  })
  alice = await t.signIn('alice')
  bob = await t.signIn('bob')
  // What the background does would be counted, too.
  await t.settle()
  await t.app.worker.stop()
})

afterAll(() => t?.stop())

/** How many statements a request needs. The beginning and the end of a transaction are none. */
async function count<A extends { status: number }>(call: () => Promise<A>): Promise<{ statements: number; answer: A }> {
  t.statements()
  const answer = await call()
  const statements = t.statements().length
  if (answer.status >= 400) throw new Error(`Refused with ${answer.status}: ${JSON.stringify(answer)}`)
  return { statements, answer }
}

const statementsOf = async (call: () => Promise<{ status: number }>) => (await count(call)).statements

describe('Every route', () => {
  it('needs as many statements as statements.json says; write it again with UPDATE_STATEMENTS=1', async () => {
    const [carol, dora] = [await t.signIn('carol'), await t.signIn('dora')]
    const counts: Record<string, number> = {}
    const plants = { password: 'secret', fileName: 'a.txt' }
    await walkEveryRoute(t, { alice, bob, carol, dora }, plants, async (route, call) => {
      const { statements, answer } = await count(call)
      counts[route] ??= statements
      return answer
    })
    const declared = routesOf(schema).flatMap(r => [r.method, ...(r.also ? [r.also] : [])].map(m => `${m} ${r.path}`))
    expect(Object.keys(counts).sort()).toEqual(declared.sort())
    if (process.env.UPDATE_STATEMENTS) writeFileSync(table, `${JSON.stringify(counts, null, 2)}\n`)
    expect(counts).toEqual(JSON.parse(readFileSync(table, 'utf8')))
  })
})

describe('Statements of the hottest reads', () => {
  it('one for the check of a session', async () => {
    expect(await statementsOf(() => alice.rest('GET', '/auth/is_valid'))).toBe(1)
  })

  it('one for the check of an API key, however many there are', async () => {
    const create = async () => {
      const made = await alice.rest('POST', '/api/api_keys/private/create', {
        json: { name: 'backup', scopes: ['private_files:read'] },
      })
      return { 'x-api-key': made.response.api_key.key as string }
    }
    const headers = await create()
    await Promise.all(Array.from({ length: 20 }, create))
    // The first use is noted, and nobody waits for that; the next ones of a minute are not.
    await t.nobody.rest('GET', '/auth/is_valid', { headers })
    for (let noted: unknown[] = []; noted.length === 0; )
      noted = await t.app.db.rows('SELECT id FROM api_key WHERE last_used_at IS NOT NULL')
    expect(await statementsOf(() => t.nobody.rest('GET', '/auth/is_valid', { headers }))).toBe(1)
  })

  it('three at most for a page of files, four folders down', async () => {
    await alice.upload('w/x/y/z/a.txt', 'a')
    const page = () => alice.rest('GET', '/api/files/tree?path=w/x/y/z')
    expect(await statementsOf(page)).toBeLessThanOrEqual(3)
  })

  it('two at most for a link', async () => {
    await alice.upload('linked.txt', 'a')
    const share = await alice.rest('POST', '/api/files/quick_share', { json: { object: 'linked.txt' } })
    const follow = () => t.nobody.rest('GET', `/api/d/${share.response.sharing_token}`)
    expect(await statementsOf(follow)).toBeLessThanOrEqual(2)
  })
})

/** Puts empty files into an empty folder at the top of a bucket, by the rows that as many uploads would have left. */
async function fill(bucketId: string, folderId: string, files: number): Promise<void> {
  const now = Date.now()
  const columns = 'id, bucket_id, parent_id, kind, name, blob_id, md5, total_files, created_at, updated_at'
  await t.app.db.transaction(async tx => {
    for (let done = 0; done < files; done += 1000) {
      const rows = Array.from({ length: Math.min(1000, files - done) }, (_, i) => {
        const md5 = (done + i).toString(16).padStart(32, '0')
        return `('${newId()}', '${bucketId}', '${folderId}', ${FILE}, 'file-${done + i}', '${newId()}', '${md5}', 1, ${now}, ${now})`
      })
      await t.app.db.run(`INSERT INTO entry (${columns}) VALUES ${rows.join(', ')}`, [], tx)
    }
    const reach = 'levels_below = 1, bytes_below = 10'
    await t.app.db.run(`UPDATE entry SET total_files = ?, ${reach} WHERE id = ?`, [files, folderId], tx)
    await t.app.db.run('UPDATE bucket SET used_files = used_files + ? WHERE id = ?', [files, bucketId], tx)
  })
}

const bucketOf = async (owner: 'user_id' | 'workspace_id', id: string) =>
  (await t.app.db.rows<{ id: string }>(`SELECT id FROM bucket WHERE ${owner} = ?`, [id]))[0]?.id ?? ''

/** A folder of a person with so many empty files. */
async function folderOf(person: Person, path: string, files: number): Promise<void> {
  const made = await person.rest('POST', '/api/folders', { json: { path } })
  await fill(await bucketOf('user_id', person.userId), made.response.folder.id, files)
}

describe('A folder', () => {
  const sizes = [10, 100_000]

  it('is moved and deleted by the same statements, whether it holds 10 files or 100,000', async () => {
    const costs = []
    for (const files of sizes) {
      const person = await t.signIn(`keeper-of-${files}`)
      await folderOf(person, 'full', files)
      await person.rest('POST', '/api/folders', { json: { path: 'other' } })
      const json = { source: 'full', destination: 'other/full' }
      const move = await count(() => person.rest('POST', '/api/folders/move', { json }))
      expect(move.answer.response.files_moved).toBe(files)
      const page = await person.rest('GET', '/api/files/tree?path=other/full&limit=3')
      expect(page.response.files).toHaveLength(3)
      const remove = await count(() => person.rest('DELETE', '/api/folders?path=other&recursive=true'))
      expect(remove.answer.response.files_deleted).toBe(files)
      expect(await person.rest('GET', '/api/user/bucket?limit=1')).toMatchObject({
        response: { bucket_data: { file_count: 0, folder_count: 0 } },
      })
      costs.push({ move: move.statements, remove: remove.statements })
    }
    expect(costs[1]).toEqual(costs[0])
  }, 60_000)
})

/** Everything that an object of this type shows without arguments, one level deep. */
function leavesOf(typeName: string): string {
  const type = schema.getType(typeName)
  if (!isObjectType(type)) throw new TypeError(`There is no ${typeName}.`)
  return Object.values(type.getFields())
    .filter(field => field.args.length === 0 && isLeafType(getNamedType(field.type)))
    .map(field => field.name)
    .join(' ')
}

describe('A listing', () => {
  /** A person with so many of everything that can be listed. */
  async function stock(count: number) {
    const owner = await t.signIn(`owner-of-${count}`)
    const friend = await t.signIn(`friend-of-${count}`)
    const post = async (path: string, json: object) => {
      const answer = await owner.rest('POST', path, { json })
      if (answer.status !== 200) throw new Error(answer.text)
      return answer.response
    }
    const { workspace_id } = (await post('/api/workspaces/create', { name: `Rooms ${count}` })).workspace
    const base = `/api/workspaces/${workspace_id}`
    const room = await post(`${base}/files/mkdir`, { folder_name: 'list' })
    await fill(await bucketOf('workspace_id', workspace_id), room.id, count)
    await folderOf(owner, 'list', count)
    const numbers = Array.from({ length: count }, (_, i) => i)
    const objects = numbers.map(i => `list/file-${i}`)
    await post('/api/files/share', { email: friend.email, objects })
    for (const i of numbers) {
      const key = (scope: string) => ({ name: `key ${i}`, scopes: [scope] })
      await Promise.all([
        post('/api/folders', { path: `list/folder-${i}` }),
        post('/api/files/quick_share', { object: objects[i] }),
        post('/api/api_keys/private/create', key('private_files:read')),
        post(`/api/api_keys/${workspace_id}/create`, key('workspaces:read')),
        post('/api/workspaces/invites/create', { workspace_id, email: `guest-${i}@example.com`, role: 'viewer' }),
        i > 0 && post('/api/workspaces/create', { name: `Room ${i}` }),
      ])
    }
    return { owner, friend, base, workspace_id }
  }

  const page = (type: string) => `edges { cursor node { ${leavesOf(type)} } } pageInfo { hasNextPage endCursor }`
  const queries = {
    'folder.files': `{ folder(path: "list") { files(first: 200) { ${page('File')} } } }`,
    'folder.folders': `{ folder(path: "list") { folders(first: 200) { ${page('Folder')} } } }`,
    shares: `{ shares(first: 500) { ${page('Share')} } }`,
  }

  /** What each listing costs, and how many it shows. */
  async function measure({ owner, friend, base, workspace_id }: Awaited<ReturnType<typeof stock>>) {
    const costs: Record<string, number> = {}
    const shown: Record<string, number> = {}
    const get = async (path: string, who = owner) => {
      const { statements, answer } = await count(() => who.rest('GET', path))
      costs[path.replace(base, '').replace(workspace_id, '')] = statements
      return answer.response
    }
    const tree = await get('/api/files/tree?path=list')
    Object.assign(shown, { files: tree.files.length, folders: tree.folders.length })
    shown.folderNames = (await get('/api/folders?path=list')).folders.length
    shown.objects = (await get('/api/user/bucket')).bucket_data.objects.length
    shown.sent = (await get('/api/files/shared_by_user')).files.length
    shown.received = (await get('/api/files/received', friend)).files.length
    shown.unseen = (await get('/api/files/received/unseen_count', friend)).count
    shown.keys = (await get('/api/api_keys/private/list')).api_keys.length
    shown.workspaceKeys = (await get(`/api/api_keys/${workspace_id}/list`)).api_keys.length
    shown.workspaces = (await get('/api/workspaces/list')).length
    shown.invites = (await get(`/api/workspaces/invites?workspace_id=${workspace_id}`)).length
    shown.workspaceFiles = (await get(`${base}/files/tree?path=/list`)).files.length
    await get('/api/user/stats')
    for (const [name, query] of Object.entries(queries)) {
      const { statements, answer } = await count(() => owner.graphql<Record<string, unknown>>(query))
      if (answer.errors) throw new Error(JSON.stringify(answer.errors))
      costs[name] = statements
      shown[name] = JSON.stringify(answer.data).split('"node":').length - 1
    }
    return { costs, shown }
  }

  it('of 100 needs as many statements as one of 1', async () => {
    const one = await measure(await stock(1))
    const hundred = await measure(await stock(100))
    const timesHundred = Object.entries(one.shown).map(([what, n]) => [what, n * 100])
    expect(hundred.shown).toEqual(Object.fromEntries(timesHundred))
    expect(hundred.costs).toEqual(one.costs)
  }, 60_000)
})
