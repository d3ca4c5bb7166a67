import { readFileSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import {
  type GraphQLOutputType,
  getNamedType,
  getNullableType,
  isInterfaceType,
  isLeafType,
  isListType,
  isObjectType,
} from 'graphql'
import { v7 as newId } from 'uuid'
import { FILE } from '../../../db/models/entry.ts'
import { appendEvents } from '../../../db/queries/event.ts'
import { schema } from '../../../schema/index.ts'
import { restSchema } from '../../../schema/rest/index.ts'
import { routesOf } from '../../../src/rest/routes.ts'
import type { Topic } from '../../../src/services/notices/pub-sub.ts'
import { SEARCH_RESULTS } from '../../../src/values/limits.ts'
import { callByRest } from '../../contract/call.ts'
import { ask } from '../../support/ask.ts'
import { rightfulOf, rows } from '../../support/authorization.ts'
import { graphRows } from '../../support/authorization-graph.ts'
import { World } from '../../support/authorization-world.ts'
import { driveOf, found, join } from '../../support/builders.ts'
import { type DavOptions, davPerson } from '../../support/dav-client.ts'
import type { Anything } from '../../support/event-model.ts'
import { walkEveryRoute } from '../../support/every-route.ts'
import { type Person, startApp, type TestApp } from '../../support/harness.ts'
import { rounds } from '../../support/rounds.ts'
import { restUploader } from '../../support/uploader.ts'

const PART = 1024

const table = new URL('statements.json', import.meta.url)

let t: TestApp
let alice: Person
let bob: Person

beforeAll(async () => {
  const generous = ['API_KEYS', 'SHARING', 'WORKSPACES', 'INVITES'].map(rate => [
    `RATE_${rate}`,
    '1000000',
  ])
  t = await startApp({
    ...Object.fromEntries(generous),
    UPLOAD_PART_BYTES: String(PART),
    PREVIEWS: 'true',
  })
  await t.limit({
    maxPrivateApiKeys: 1000,
    maxWorkspaceApiKeys: 1000,
    maxUserWorkspaces: 1000,
    maxUsersWorkspace: 1000,
  })
  alice = await t.signIn('alice')
  bob = await t.signIn('bob')
  // Background work would be counted, too.
  await t.settle()
  await Promise.all([t.app.worker.stop(), t.app.webhooks.stop()])
})

afterAll(() => t?.stop())

/** The number of statements of a request. The start and the end of a transaction do not count. */
async function count<A extends { status: number }>(
  call: () => Promise<A>,
): Promise<{ statements: number; answer: A }> {
  t.statements()
  const answer = await call()
  const statements = t.statements().length
  if (answer.status >= 400)
    throw new Error(`Refused with ${answer.status}: ${JSON.stringify(answer)}`)
  return { statements, answer }
}

const statementsOf = async (call: () => Promise<{ status: number }>) =>
  (await count(call)).statements

const counted: Record<string, number> = {}

describe('Every REST route and GraphQL operation', () => {
  it('has a statement count for each route', async () => {
    const [carol, dora] = [await t.signIn('carol'), await t.signIn('dora')]
    const plants = { password: 'secret', fileName: 'a.txt' }
    await walkEveryRoute(t, { alice, bob, carol, dora }, plants, async (route, call) => {
      const { statements, answer } = await count(call)
      counted[route] ??= statements
      return answer
    })
  })

  it('has a statement count for each query and mutation', async () => {
    const common = new World(t)
    for (const row of graphRows.filter(({ document }) => !document.startsWith('subscription'))) {
      const world = row.consumes ? new World(t) : common
      const caller = await world.callerOf(rightfulOf(row), null)
      const things = await world.things()
      const variables = await row.variables(things, caller)
      const file = row.file && new File([''], things.name)
      const { statements, answer } = await count(() =>
        caller.graphql(row.document, variables, file),
      )
      if (answer.errors) throw new Error(`${row.title}: ${JSON.stringify(answer.errors)}`)
      counted[`GraphQL ${row.title}`] ??= statements
    }
  })

  it('has a statement count for each subscription, up to the first event', async () => {
    const room = await found(alice)
    await alice.upload('news.txt', 'x')
    await alice.rest('POST', '/api/files/share', {
      json: { email: bob.email, objects: ['news.txt'] },
    })
    const json = { workspace_id: room, email: bob.email, role: 'viewer' }
    await alice.rest('POST', '/api/workspaces/invites/create', { json })
    const idsFor = async (table: string, column: string) =>
      (
        await t.app.db.rows<{ id: string }>(`SELECT id FROM ${table} WHERE ${column} = ?`, [
          bob.email,
        ])
      ).map(r => r.id)
    const [own, ofRoom] = [
      await bucketOf('user_id', bob.userId),
      await bucketOf('workspace_id', room),
    ]
    const [shares, invites] = [await idsFor('share', 'recipient'), await idsFor('invite', 'email')]
    const events: {
      document: string
      caller: Person
      variables?: object
      event: [Topic, string, string[]]
    }[] = [
      {
        document: 'subscription { shareReceived { id fileName sharedBy { name } } }',
        caller: bob,
        event: ['shareReceived', bob.email, shares],
      },
      {
        document: 'subscription { inviteReceived { id role workspaceName invitedBy { name } } }',
        caller: bob,
        event: ['inviteReceived', bob.email, invites],
      },
      {
        document: 'subscription { driveChanged { id usage { usedBytes } } }',
        caller: bob,
        event: ['driveChanged', own, []],
      },
      {
        document:
          'subscription ($drive: ID) { driveChanged(drive: $drive) { id usage { usedBytes } } }',
        caller: alice,
        variables: { drive: ofRoom },
        event: ['driveChanged', ofRoom, []],
      },
    ]
    for (const { document, caller, variables = {}, event } of events) {
      t.statements()
      const stream = await caller.subscribe(document, variables)
      t.app.pubSub.publish(...event)
      expect((await stream.next()).errors).toBeUndefined()
      counted[`GraphQL ${document}`] = t.statements().length
      stream.close()
      await stream.ended
    }
  })

  it('runs the number of statements in statements.json (npm run update rewrites it)', () => {
    const routes = routesOf(restSchema).flatMap(r =>
      [r.method, ...(r.also ? [r.also] : [])].map(m => `${m} ${r.path}`),
    )
    expect(routes.filter(name => !(name in counted))).toEqual([])
    if (process.env.UPDATE) writeFileSync(table, `${JSON.stringify(counted, null, 2)}\n`)
    expect(counted).toEqual(JSON.parse(readFileSync(table, 'utf8')))
  })
})

describe('The most frequent reads run', () => {
  it('one statement to check a session', async () => {
    expect(await statementsOf(() => alice.rest('GET', '/auth/is_valid'))).toBe(1)
  })

  it('one statement to check an API key, however many keys exist', async () => {
    const create = async () => {
      const made = await alice.rest('POST', '/api/api_keys/private/create', {
        json: { name: 'backup', scopes: ['private_files:read'] },
      })
      return { 'x-api-key': made.response.api_key.key as string }
    }
    const headers = await create()
    await Promise.all(Array.from({ length: 20 }, create))
    // The first use is recorded asynchronously, and further uses within a minute are not recorded.
    await t.anonymous.rest('GET', '/auth/is_valid', { headers })
    for (let noted: unknown[] = []; noted.length === 0; )
      noted = await t.app.db.rows('SELECT id FROM api_key WHERE last_used_at IS NOT NULL')
    expect(await statementsOf(() => t.anonymous.rest('GET', '/auth/is_valid', { headers }))).toBe(1)
  })

  it('at most three statements for a page of files, four folders deep', async () => {
    await alice.upload('w/x/y/z/a.txt', 'a')
    const page = () => alice.rest('GET', '/api/files/tree?path=w/x/y/z')
    expect(await statementsOf(page)).toBeLessThanOrEqual(3)
  })

  it('at most four statements for a link: share, lock, count and usage record', async () => {
    await alice.upload('linked.txt', 'a')
    const share = await alice.rest('POST', '/api/files/quick_share', {
      json: { object: 'linked.txt' },
    })
    const follow = () => t.anonymous.rest('GET', `/api/d/${share.response.sharing_token}`)
    expect(await statementsOf(follow)).toBeLessThanOrEqual(4)
  })
})

describe('Recording an event', () => {
  it('adds one statement to a change, and no query for its number after a path look-up', async () => {
    const person = await t.signIn('mover')
    await person.upload('first.txt', 'x')
    const changes: (() => Promise<{ status: number }>)[] = [
      () => person.upload('a.txt', 'x'),
      () => person.rest('POST', '/api/folders', { json: { path: 'there/below' } }),
      () =>
        person.rest('POST', '/api/files/move', {
          json: { source: 'a.txt', destination: 'there/a.txt' },
        }),
      () => person.rest('POST', '/api/files/quick_share', { json: { object: 'there/a.txt' } }),
      () => person.rest('DELETE', '/api/folders?recursive=true&path=there'),
    ]
    for (const change of changes) {
      t.statements()
      expect((await change()).status).toBe(200)
      const appended = t.statements().filter(sql => sql.startsWith('INSERT INTO event '))
      expect(appended).toEqual([expect.stringMatching(/\) VALUES \(/)])
    }
  })
})

/**
 * Inserts empty files into an empty top-level folder of a bucket, with the rows that uploads would
 * have created.
 */
async function fill(bucketId: string, folderId: string, files: number): Promise<void> {
  const now = Date.now()
  const columns =
    'id, bucket_id, parent_id, kind, name, blob_id, md5, total_files, created_at, updated_at'
  await t.app.db.transaction(async tx => {
    for (let done = 0; done < files; done += 1000) {
      const rows = Array.from({ length: Math.min(1000, files - done) }, (_, i) => {
        const md5 = (done + i).toString(16).padStart(32, '0')
        return `('${newId()}', '${bucketId}', '${folderId}', ${FILE}, 'file-${done + i}', '${newId()}', '${md5}', 1, ${now}, ${now})`
      })
      await t.app.db.run(`INSERT INTO entry (${columns}) VALUES ${rows.join(', ')}`, [], tx)
    }
    const reach = 'levels_below = 1, bytes_below = 10'
    await t.app.db.run(
      `UPDATE entry SET total_files = ?, ${reach} WHERE id = ?`,
      [files, folderId],
      tx,
    )
    await t.app.db.run(
      'UPDATE bucket SET used_files = used_files + ? WHERE id = ?',
      [files, bucketId],
      tx,
    )
  })
}

const bucketOf = async (owner: 'user_id' | 'workspace_id', id: string) =>
  (await t.app.db.rows<{ id: string }>(`SELECT id FROM bucket WHERE ${owner} = ?`, [id]))[0]?.id ??
  ''

/** A folder of a person with this many empty files. */
async function folderOf(person: Person, path: string, files: number): Promise<void> {
  const made = await person.rest('POST', '/api/folders', { json: { path } })
  await fill(await bucketOf('user_id', person.userId), made.response.folder.id, files)
}

describe('A folder', () => {
  const sizes = [10, rounds(10_000, 100_000)]

  it('is moved and deleted with the same statements, whether it holds 10 files or thousands', async () => {
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
      const remove = await count(() =>
        person.rest('DELETE', '/api/folders?path=other&recursive=true'),
      )
      expect(remove.answer.response.files_deleted).toBe(files)
      expect(await person.rest('GET', '/api/user/bucket?limit=1')).toMatchObject({
        response: { bucket_data: { file_count: 0, folder_count: 0 } },
      })
      costs.push({ move: move.statements, remove: remove.statements })
    }
    expect(costs[1]).toEqual(costs[0])
  })
})

/** A field of the value of a field. */
function fieldOf(type: GraphQLOutputType | undefined, name: string) {
  const named = type && getNamedType(type)
  return isObjectType(named) || isInterfaceType(named) ? named.getFields()[name] : undefined
}

/** All fields of a type without arguments, one level deep. */
function leavesOf(type: GraphQLOutputType): string {
  const named = getNamedType(type)
  if (!isObjectType(named) && !isInterfaceType(named)) throw new TypeError(`${type} is no object.`)
  return Object.values(named.getFields())
    .filter(field => field.args.length === 0 && isLeafType(getNamedType(field.type)))
    .map(field => field.name)
    .join(' ')
}

describe('A list', () => {
  /** A person with this many objects in every list. */
  async function stock(count: number) {
    const owner = await t.signIn(`owner-of-${count}`)
    const friend = await t.signIn(`friend-of-${count}`)
    const post = async (path: string, json: object) => {
      const answer = await owner.rest('POST', path, { json })
      if (answer.status !== 200) throw new Error(answer.text)
      return answer.response
    }
    const { workspace_id } = (await post('/api/workspaces/create', { name: `Rooms ${count}` }))
      .workspace
    const base = `/api/workspaces/${workspace_id}`
    const room = await post(`${base}/files/mkdir`, { folder_name: 'list' })
    await fill(await bucketOf('workspace_id', workspace_id), room.id, count)
    await folderOf(owner, 'list', count)
    const numbers = Array.from({ length: count }, (_, i) => i)
    const objects = numbers.map(i => `list/file-${i}`)
    await post('/api/files/share', { email: friend.email, objects })
    // The same number is in the trash.
    await folderOf(owner, 'gone', count)
    await fill(
      await bucketOf('workspace_id', workspace_id),
      (await post(`${base}/files/mkdir`, { folder_name: 'gone' })).id,
      count,
    )
    const drive = await driveOf(owner, workspace_id)
    for (const place of [{}, { drive }]) {
      const entries = numbers.map(i => ({ at: { ...place, path: `gone/file-${i}` } }))
      await ask(
        owner,
        'mutation ($input: DeleteEntriesInput!) { deleteEntries(input: $input) { deletedIds } }',
        {
          input: { entries },
        },
      )
    }
    // Marks them as pictures.
    const listed =
      "SELECT id FROM (SELECT id FROM entry WHERE bucket_id = ? AND name = 'list') AS f"
    await t.app.db.run(
      `UPDATE entry SET pictured_at = 0 WHERE name LIKE 'file-%' AND parent_id IN (${listed})`,
      [await bucketOf('user_id', owner.userId)],
    )
    const tagged = async (base: string, paths: string[]): Promise<string> => {
      const made = await Promise.all(numbers.map(i => post(`${base}/tags`, { name: `tag ${i}` })))
      await post(`${base}/entries/tags`, { entries: paths, add: [made[0].tag.id] })
      return made[0].tag.id
    }
    const tags = [await tagged('/api', objects), await tagged(base, objects)]
    await ask(
      owner,
      'mutation ($input: AddFavouritesInput!) { addFavourites(input: $input) { viewer { id } } }',
      {
        input: { entries: objects.map(path => ({ at: { path } })) },
      },
    )
    const inviteBack = async (i: number) => {
      const json = {
        workspace_id: await found(friend, `House ${i}`),
        email: owner.email,
        role: 'viewer',
      }
      await friend.rest('POST', '/api/workspaces/invites/create', { json })
    }
    for (const i of numbers) {
      const key = (scope: string) => ({ name: `key ${i}`, scopes: [scope] })
      await Promise.all([
        post('/api/folders', { path: `list/folder-${i}` }),
        post(`${base}/files/mkdir`, { folder_name: `folder-${i}`, parent_path: '/list' }),
        post('/api/files/quick_share', { object: objects[i] }),
        post('/api/file_requests', { label: `request ${i}` }),
        post(`${base}/file_requests`, { label: `request ${i}` }),
        post('/api/api_keys/private/create', key('private_files:read')),
        post(`/api/api_keys/${workspace_id}/create`, key('workspaces:read')),
        post('/api/workspaces/invites/create', {
          workspace_id,
          email: `guest-${i}@example.com`,
          role: 'viewer',
        }),
        t.signIn(`account-${count}-${i}`),
        i > 0 && post('/api/workspaces/create', { name: `Room ${i}` }),
        i > 0 && t.signIn(`member-${i}`).then(member => join(t, workspace_id, member, 'viewer')),
        inviteBack(i),
      ])
    }
    const appoint = 'INSERT INTO operator (user_id, appointed_by, appointed_at) VALUES (?, ?, ?)'
    await t.app.db.run(appoint, [owner.userId, owner.userId, Date.now()])
    const uploads = await Promise.all(
      [restUploader(owner), restUploader(owner, workspace_id)].map(async up => {
        const { upload_id } = (await up.start({ filename: 'parts', size: count * PART })).value
        for (const i of numbers) await up.part(upload_id, i + 1, { bytes: Buffer.alloc(PART) })
        return upload_id as string
      }),
    )
    const shares = await t.app.db.Share.findAll({
      where: { userId: owner.userId },
      order: ['id'],
      raw: true,
    })
    const used = [
      shares.find(share => share.recipient === null),
      shares.find(share => share.recipient !== null),
    ]
    const use = { at: 0, kind: 'opened', personId: friend.userId, network: '', client: '' } as const
    await t.app.db.ShareEvent.bulkCreate(
      used.flatMap(share => numbers.map(() => ({ ...use, id: newId(), shareId: share?.id ?? '' }))),
    )
    // All of one file in each drive.
    for (const bucketId of [await driveOf(owner), drive]) {
      const file = await t.app.db.Entry.findOne({
        where: { bucketId, name: 'file-0' },
        order: ['id'],
        raw: true,
      })
      const content = {
        fileType: 'text/plain',
        md5: '',
        bytes: 0,
        createdBy: owner.userId,
        createdAt: 0,
        replacedAt: 0,
      }
      const of = { bucketId, entryId: file?.id ?? '', ...content }
      await t.app.db.Version.bulkCreate(
        numbers.map(() => ({ ...of, id: newId(), blobId: newId() })),
      )
      const folder = await t.app.db.Entry.findOne({ where: { bucketId, name: 'list' }, raw: true })
      const by = {
        log: bucketId,
        at: 0,
        actorId: owner.userId,
        via: 'session',
        viaId: null,
        details: '{"path":"list"}',
      } as const
      const renamed = [
        { kind: 'file.renamed', entryId: of.entryId },
        { kind: 'folder.renamed', entryId: folder?.id ?? '' },
      ] as const
      const events = numbers.flatMap(() =>
        renamed.map(event => ({ ...by, ...event, subjectId: event.entryId })),
      )
      await t.app.db.transaction(tx => appendEvents(t.app.db, events, tx))
    }
    const [request] = (await owner.rest('GET', '/api/file_requests?limit=1')).response.file_requests
    const start = { json: { filename: 'parts', size: count * PART } }
    const begun = (await t.anonymous.rest('POST', `/api/request/${request.token}/uploads`, start))
      .response
    const sending = { 'x-sender-token': begun.sender }
    for (const i of numbers)
      await t.anonymous.rest(
        'PUT',
        `/api/request/${request.token}/uploads/${begun.upload_id}/parts/${i + 1}`,
        {
          body: Buffer.alloc(PART),
          headers: sending,
        },
      )
    const [begunRow] = await t.app.db.rows<{ senderId: string }>(
      'SELECT sender_id AS senderId FROM file_request_upload WHERE id = ?',
      [begun.upload_id],
    )
    const receipt = {
      requestId: request.id,
      senderId: begunRow?.senderId ?? '',
      senderName: '',
      fileName: 'a',
      bytes: 1,
      network: '',
      client: '',
    }
    await t.app.db.FileRequestUpload.bulkCreate(
      numbers.map(() => ({
        ...receipt,
        id: newId(),
        startedAt: 1,
        receivedAt: Date.now(),
        entryId: null,
      })),
    )
    const sent = { token: request.token, sender: begun.sender, upload_id: begun.upload_id }
    const copied = async (where?: string) => {
      const id = newId()
      const drive = await driveOf(owner, where)
      const files = "SELECT id FROM entry WHERE bucket_id = ? AND name LIKE 'file-%' ORDER BY id"
      const made = await t.app.db.rows<{ id: string }>(`${files} LIMIT ${count}`, [drive])
      await t.app.db.run(
        `INSERT INTO entry_copy (id, user_id, bucket_id, state, plan, result, created_at) VALUES (?, ?, ?, 'done', '{}', ?, 1)`,
        [id, owner.userId, drive, JSON.stringify(made.map(each => each.id))],
      )
      return id
    }
    const copies = [await copied(), await copied(workspace_id)]
    // Shares of another person, so that the owner's lists contain as many shares as files.
    const sharer = await t.signIn(`sharer-of-${count}`)
    await folderOf(sharer, 'list', count)
    const link = await sharer.rest('POST', '/api/folders/quick_share', { json: { path: 'list' } })
    const visited = { token: link.response.sharing_token, path: '' }
    return {
      owner,
      friend,
      workspace_id,
      uploads,
      copies,
      tags,
      sent,
      visited,
      search: `account-${count}-`,
    }
  }

  type Stock = Awaited<ReturnType<typeof stock>>

  /** Every connection with its path. The shares of a folder are read like those of a file. */
  const connections = Object.values(schema.getTypeMap()).flatMap(type =>
    isObjectType(type)
      ? Object.values(type.getFields()).flatMap(({ name, type: of }) => {
          const node = fieldOf(fieldOf(of, 'edges')?.type, 'node')
          return node && `${type}.${name}` !== 'Folder.shares'
            ? [
                {
                  name: `${type}.${name}`,
                  owner: type.name,
                  field: name,
                  leaves: leavesOf(node.type),
                },
              ]
            : []
        })
      : [],
  )
  const wayTo = (owner: string, asked: string, things: Stock): string => {
    const { workspace_id, tags } = things
    const other = asked.startsWith('receivedShares') ? things.owner : things.friend
    const ways: Record<string, string> = {
      Query: asked,
      OperatorView: `operator { ${asked} }`,
      Viewer: `me { ${asked} }`,
      PersonAccess: `me { accessOf(email: "${other.email}") { ${asked} } }`,
      Drive: `me { drive { ${asked} } }`,
      Folder: `own: me { drive { entry(path: "list") { ... on Folder { ${asked} } } } }
        shared: workspace(id: "${workspace_id}") { drive { entry(path: "list") { ... on Folder { ${asked} } } } }`,
      Tag: `node(id: "${tags[0]}") { ... on Tag { ${asked} } }`,
      File: `me { drive { entry(path: "list/file-0") { ... on File { ${asked} } } } }`,
      Workspace: `workspace(id: "${workspace_id}") { ${asked} }`,
      LinkShare: `me { shares(first: 1, kind: LINK) { edges { node { ... on LinkShare { ${asked} } } } } }`,
      FileRequest: `me { fileRequests(first: 1) { edges { node { ${asked} } } } }`,
      DirectShare: `me { shares(first: 1, kind: DIRECT) { edges { node { ... on DirectShare { ${asked} } } } } }`,
    }
    return `{ ${ways[owner] ?? ''} }`
  }
  /** Additional arguments with which some lists show the created objects. */
  const whichOf = (owner: string, field: string, { search }: Stock): string =>
    owner.endsWith('Share')
      ? ''
      : ({
          accounts: `, search: "${search}"`,
          search: ', query: "file-"',
          events: `, kinds: [${{ File: 'FILE_RENAMED', Folder: 'FOLDER_RENAMED' }[owner] ?? 'SHARE_CREATED, INVITE_RECEIVED'}]`,
        }[field] ?? '')

  const isListed = (type: GraphQLOutputType) => isListType(getNullableType(type))
  const routes = routesOf(restSchema)
  /** Every list that REST returns in one piece. */
  const flat = rows.filter(({ rest }) => {
    const type = routes.find(({ method, path }) => method === rest.method && path === rest.path)
      ?.definition.type
    const named = type && getNamedType(type)
    const inside = isObjectType(named) ? Object.values(named.getFields()) : []
    return (
      rest.method === 'GET' && type && [type, ...inside.map(field => field.type)].some(isListed)
    )
  })

  const nodesIn = (value: unknown): number =>
    Object.entries(Object(value)).reduce(
      (sum, [name, part]) =>
        sum + (name === 'nodes' && Array.isArray(part) ? part.length : nodesIn(part)),
      0,
    )
  const itemsIn = (value: unknown): number =>
    Array.isArray(value)
      ? value.length
      : Object.values(Object(value)).reduce<number>(
          (sum, part) => sum + (typeof part === 'object' ? itemsIn(part) : 0),
          0,
        )

  /**
   * Counts only kinds of events that occur once per object, because creating the surroundings
   * caused further events.
   */
  const countedOf = (response: Anything) =>
    response.events?.filter(({ kind }: Anything) =>
      ['key.created', 'share.created'].includes(kind),
    ) ?? response

  /** The number of statements and of results of each listing. */
  async function measure(things: Stock) {
    // A search updates the index by itself, which takes more statements for more entries.
    await t.app.searchIndexer.idle()
    const { owner, friend, workspace_id, uploads, copies, tags, sent, visited } = things
    const costs: Record<string, number> = {}
    const shown: Record<string, number> = {}
    for (const { title, field, rest } of flat) {
      const caller = field === 'Query.receivedShares' ? friend : owner
      const inWorkspace = field.includes('workspace')
      const path = `${inWorkspace ? '/' : ''}list${rest.path.endsWith('/versions') ? '/file-0' : ''}`
      const at = inWorkspace ? 1 : 0
      const own = {
        workspace_id,
        path,
        query: 'file',
        upload_id: uploads[at],
        copy_id: copies[at],
        tag_id: tags[at],
      }
      const ofVisitors = rest.path.startsWith('/api/share/') ? visited : own
      const inputs = rest.path.startsWith('/api/request/') ? sent : ofVisitors
      const { statements, answer } = await count(() => callByRest(caller, rest, inputs))
      costs[title] = statements
      shown[title] = itemsIn(countedOf(answer.response))
    }
    for (const { name, owner: type, field, leaves } of connections) {
      const people =
        field === 'entries' || (field === 'search' && type !== 'Query')
          ? 'createdBy { name } tags { name } ... on File { shareCount }'
          : ''
      const page = `${field}(first: 500${whichOf(type, field, things)}) { nodes { ${leaves} ${people} } pageInfo { hasNextPage } }`
      const caller = field === 'receivedShares' ? friend : owner
      const { statements, answer } = await count(() => caller.graphql(wayTo(type, page, things)))
      if (answer.errors) throw new Error(`${name}: ${JSON.stringify(answer.errors)}`)
      costs[name] = statements
      shown[name] = nodesIn(answer.data)
    }
    const PARTS = 'query ($id: ID!) { node(id: $id) { ... on UploadSession { received } } }'
    const parts = await count(() => owner.graphql(PARTS, { id: uploads[0] }))
    costs.parts = parts.statements
    shown.parts = itemsIn(parts.answer.data)
    const unseen = await count(() => friend.rest('GET', '/api/files/received/unseen_count'))
    costs.unseen = unseen.statements
    shown.unseen = unseen.answer.response.count
    return { costs, shown }
  }

  it('of many entries runs as many statements as a list of one', async () => {
    const one = await measure(await stock(1))
    const many = rounds(20, 100)
    const listed = await measure(await stock(many))
    // A week has seven days, and a person has few identities.
    const bounded = [
      'GET /api/user/stats',
      'GET /api/user/identities',
      'GET /api/user/sessions',
      'File.shares',
    ]
    // The latest actions and events, of which more exist than are read.
    const latest = [
      'GET /api/recent',
      'Viewer.recent',
      'OperatorView.auditTrail',
      'OperatorView.grants',
    ]
    const searchRoutes = ['GET /api/search', 'GET /api/workspaces/{workspace_id}/search']
    const searches = ['Query.search', ...searchRoutes]
    const pageOf = (what: string, n: number) =>
      searchRoutes.includes(what) ? Math.min(n, SEARCH_RESULTS) : n
    const timesMany = Object.entries(one.shown).map(([what, n]) => [
      what,
      latest.includes(what)
        ? listed.shown[what]
        : bounded.includes(what)
          ? n
          : pageOf(what, n * many),
    ])
    expect(listed.shown).toEqual(Object.fromEntries(timesMany))
    expect(Object.values(one.shown)).not.toContain(0)
    // The statements of a search depend on the number of ranks and drives that it reaches.
    for (const { costs } of [one, listed]) for (const field of searches) delete costs[field]
    expect(listed.costs).toEqual(one.costs)
  })
})

describe('A WebDAV request for a small file', () => {
  it('inside a folder runs no more statements than listed here', async () => {
    const { dav } = await davPerson(t)
    for (const folder of ['/files/a', '/files/a/b'])
      expect((await dav('MKCOL', folder)).status).toBe(201)
    const asked = '<propfind xmlns="DAV:"><prop><getetag/><getcontentlength/></prop></propfind>'
    const needed: [number, number, string, string, DavOptions][] = [
      [15, 201, 'PUT', '/files/a/b/c', { body: 'c' }],
      [18, 204, 'PUT', '/files/a/b/c', { body: 'd' }],
      [2, 200, 'GET', '/files/a/b/c', {}],
      [2, 200, 'HEAD', '/files/a/b/c', {}],
      [3, 207, 'PROPFIND', '/files/a/b/c', { headers: { depth: '0' }, body: asked }],
      [2, 404, 'PROPFIND', '/files/a/b/missing', { headers: { depth: '0' }, body: asked }],
      [3, 405, 'MKCOL', '/files/a/b', {}],
      [18, 201, 'MOVE', '/files/a/b/c', { headers: { destination: '/dav/files/a/b/d' } }],
      [13, 204, 'DELETE', '/files/a/b/d', {}],
    ]
    const counts: typeof needed = []
    for (const [, , method, path, options] of needed) {
      t.statements()
      const { status } = await dav(method, path, options)
      counts.push([t.statements().length, status, method, path, options])
    }
    expect(counts).toEqual(needed)
  })

  it('shares the look-up of its key with concurrent requests', async () => {
    const { dav } = await davPerson(t)
    await dav('PUT', '/files/f', { body: 'f' })
    const get = () => Promise.all(Array.from({ length: 8 }, () => dav('GET', '/files/f')))
    // The connections are open by now.
    await get()
    t.statements()
    const answers = await get()
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`))).toEqual(
      new Set(['200 f']),
    )
    expect(t.statements().filter(sql => sql.includes('FROM api_key')).length).toBeLessThan(8)
  })
})
