import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { hashSecret } from '../../../src/runtime/tokens.ts'
import { operatorService } from '../../../src/services/accounts/operator.ts'
import {
  found,
  join,
  privateKey,
  put,
  ROOMY,
  UNHURRIED,
  workspaceKey,
} from '../../support/builders.ts'
import { type Person, startApp, type TestApp } from '../../support/harness.ts'
import { until } from '../../support/until.ts'

let t: TestApp

beforeAll(async () => {
  t = await startApp({
    ...UNHURRIED,
    RATE_SEARCHES: '1000000',
    RATE_FOLDERS: '1000000',
    RATE_NOTES: '1000000',
    SEARCH_CONTENTS: 'on',
    DERIVE_PROCESSES: '1',
  })
  await t.limit(ROOMY)
})
afterAll(() => t?.stop())

const SEARCH = `query ($query: String!, $orderBy: SearchOrder, $first: Int, $after: String) {
  search(query: $query, orderBy: $orderBy, first: $first, after: $after) {
    edges { matchedIn snippet { text } node { name path entry { id } share { id } } }
    pageInfo { hasNextPage endCursor } hints { term } isComplete
  }
}`

interface Page {
  edges: { node: { name: string; path: string } }[]
  pageInfo: { hasNextPage: boolean; endCursor: string | null }
}

async function graph(who: Person, query: string, more: object = {}): Promise<Page | null> {
  const { data, code } = await who.graphql<{ search: Page }>(SEARCH, { query, ...more })
  // A caller who has lost all access is refused.
  if (!data) expect(['UNAUTHENTICATED', 'FORBIDDEN', 'ACCOUNT_SUSPENDED']).toContain(code)
  return data?.search ?? null
}

/** The names that a caller sees in every interface and form of the search. */
async function seen(who: Person, query: string, workspaceId?: string): Promise<string[]> {
  const pages = await Promise.all([graph(who, query), graph(who, query, { orderBy: 'NEWEST' })])
  const routes = ['/api/search', ...(workspaceId ? [`/api/workspaces/${workspaceId}/search`] : [])]
  const answers = await Promise.all(
    routes.map(route => who.rest('GET', `${route}?query=${encodeURIComponent(query)}`)),
  )
  for (const { status } of answers) expect([200, 401, 403, 404]).toContain(status)
  const named = [
    ...pages.flatMap(page => page?.edges.map(({ node }) => node.name) ?? []),
    ...answers.flatMap(({ status, response }) =>
      status === 200 ? response.results.map(({ name }: { name: string }) => name) : [],
    ),
  ]
  for (const page of pages)
    if (page?.edges.length === 0) expect(page.pageInfo.hasNextPage).toBe(false)
  return [...new Set(named)].sort()
}

let scenes = 0

interface Scene {
  owner: Person
  /** The user who sees the entry until the permission ends. */
  reader: Person
  /** A word that only the folder and its file contain. */
  word: string
  workspaceId?: string
  shareId?: string
  keyId?: string
}

const must = async <T extends { status: number; text: string }>(answer: Promise<T>): Promise<T> => {
  const answered = await answer
  if (answered.status !== 200) throw new Error(answered.text)
  return answered
}

async function ask<T>(who: Person, query: string, variables: object): Promise<T> {
  const { data, errors } = await who.graphql<T>(query, variables)
  if (!data) throw new Error(JSON.stringify(errors))
  return data
}

/** The content of the file. It contains another unique word. */
const contentOf = (word: string) => `An egret${word} stood in the reeds.`
const inside = (word: string) => `egret${word}`

/** A nested folder with a file. */
async function ofOwner(): Promise<Scene> {
  const n = ++scenes
  const word = `curlew${n}x`
  const [owner, reader] = await Promise.all([t.signIn(`owner${n}`), t.signIn(`reader${n}`)])
  await must(owner.upload(`above/${word}/${word} plan.txt`, contentOf(word)))
  return { owner, reader, word }
}

async function shared(): Promise<Scene> {
  const scene = await ofOwner()
  return {
    ...scene,
    shareId: await shareWith(scene.owner, scene.reader, { path: `above/${scene.word}` }),
  }
}

async function shareWith({ graphql }: Person, { email }: Person, at: object): Promise<string> {
  const query =
    'mutation ($input: CreateDirectShareInput!) { createDirectShare(input: $input) { shares { id } } }'
  const { data, errors } = await graphql<{ createDirectShare: { shares: { id: string }[] } }>(
    query,
    {
      input: { entries: [{ at }], email },
    },
  )
  if (!data?.createDirectShare) throw new Error(JSON.stringify(errors))
  return data.createDirectShare.shares[0]?.id ?? ''
}

async function member(): Promise<Scene> {
  const scene = await ofOwner()
  const workspaceId = await found(scene.owner)
  await must(
    put(
      scene.owner,
      workspaceId,
      `above/${scene.word}/${scene.word} plan.txt`,
      contentOf(scene.word),
    ),
  )
  await join(t, workspaceId, scene.reader, 'viewer')
  return { ...scene, workspaceId }
}

/** A member who is not the owner shares an entry of a workspace. */
async function sharedByMember(): Promise<Scene> {
  const scene = await ofOwner()
  const host = await t.signIn(`host${scenes}`)
  const workspaceId = await found(host)
  await must(
    put(host, workspaceId, `above/${scene.word}/${scene.word} plan.txt`, contentOf(scene.word)),
  )
  await join(t, workspaceId, scene.owner, 'editor')
  const drive = await ask<{ workspace: { drive: { id: string } } }>(
    host,
    'query ($id: ID!) { workspace(id: $id) { drive { id } } }',
    { id: workspaceId },
  )
  const at = { drive: drive.workspace.drive.id, path: `above/${scene.word}` }
  await shareWith(scene.owner, scene.reader, at)
  // The owner changes the workspace.
  return { ...scene, owner: host, workspaceId, keyId: scene.owner.userId }
}

async function withPrivateKey(): Promise<Scene> {
  const scene = await ofOwner()
  const { id, caller } = await privateKey(t, scene.owner)
  return { ...scene, reader: caller, keyId: id }
}

async function withWorkspaceKey(): Promise<Scene> {
  const scene = await member()
  const admin = await t.signIn(`admin${scenes}`)
  await join(t, scene.workspaceId ?? '', admin, 'admin')
  const { id, caller } = await workspaceKey(t, admin, scene.workspaceId ?? '')
  return { ...scene, reader: { ...caller, userId: admin.userId }, keyId: id }
}

const trashes = (path: string, workspaceId?: string) => (owner: Person) => {
  const route = workspaceId
    ? `workspaces/${workspaceId}/files/folder/delete?`
    : 'folders?recursive=true&'
  return must(owner.rest('DELETE', `/api/${route}path=${encodeURIComponent(path)}`))
}
const removed = ({ owner, workspaceId }: Scene, userId: string) =>
  must(
    owner.rest(
      'DELETE',
      `/api/workspaces/members/remove?workspace_id=${workspaceId}&user_id=${userId}`,
    ),
  )
const deletedWorkspace = ({ owner, workspaceId }: Scene) =>
  must(owner.rest('DELETE', `/api/workspaces/delete?workspace_id=${workspaceId}`))

interface End {
  how: string
  begin(): Promise<Scene>
  end(scene: Scene): Promise<unknown>
}

/** Every way in which the permission to see an entry can end. */
const ends: End[] = [
  {
    how: 'the share is revoked',
    begin: shared,
    end: ({ owner, shareId }) =>
      ask(
        owner,
        'mutation ($input: RevokeShareInput!) { revokeShare(input: $input) { entry { id } } }',
        {
          input: { share: { id: shareId } },
        },
      ),
  },
  {
    how: 'the share gets a password',
    begin: shared,
    end: ({ owner, shareId }) =>
      ask(
        owner,
        'mutation ($input: UpdateShareInput!) { updateShare(input: $input) { entry { id } } }',
        {
          input: { share: { id: shareId }, password: 'a secret of hers' },
        },
      ),
  },
  {
    how: 'the share expires',
    begin: shared,
    end: ({ shareId = '' }) =>
      t.app.db.run('UPDATE share SET expires_at = ? WHERE id = ?', [Date.now() - 1, shareId]),
  },
  {
    how: 'the shared entry is moved to the trash',
    begin: shared,
    end: ({ owner, word }) => trashes(`above/${word}`)(owner),
  },
  {
    how: 'a folder above it goes to the trash',
    begin: shared,
    end: ({ owner }) => trashes('above')(owner),
  },
  {
    how: 'the account of the recipient is suspended',
    begin: shared,
    end: ({ reader }) => operatorService({ db: t.app.db }).suspend(reader.email),
  },
  {
    how: 'the session of the recipient is ended',
    begin: shared,
    end: ({ reader }) =>
      t.app.db.run('UPDATE session SET expires_at = ? WHERE hash = ?', [
        Date.now() - 1,
        hashSecret(reader.cookie.replace('session_id=', '')).toString('hex'),
      ]),
  },
  { how: 'a member is removed', begin: member, end: scene => removed(scene, scene.reader.userId) },
  { how: 'the workspace is deleted', begin: member, end: deletedWorkspace },
  {
    how: 'something in a workspace goes to the trash',
    begin: member,
    end: ({ owner, word, workspaceId }) => trashes(`above/${word}`, workspaceId)(owner),
  },
  {
    how: 'the sharer is removed from the workspace',
    begin: sharedByMember,
    end: s => removed(s, s.keyId ?? ''),
  },
  {
    how: 'the sharer becomes a viewer of the workspace',
    begin: sharedByMember,
    end: ({ owner, workspaceId, keyId }) =>
      must(
        owner.rest('PATCH', '/api/workspaces/members/role', {
          json: { workspace_id: workspaceId, user_id: keyId, role: 'viewer' },
        }),
      ),
  },
  {
    how: 'the workspace that it is shared from is deleted',
    begin: sharedByMember,
    end: deletedWorkspace,
  },
  {
    how: 'a private key is deleted',
    begin: withPrivateKey,
    end: ({ owner, keyId }) =>
      must(owner.rest('DELETE', '/api/api_keys/private/delete', { json: { api_key_id: keyId } })),
  },
  {
    how: 'a private key expires',
    begin: withPrivateKey,
    end: ({ keyId = '' }) =>
      t.app.db.run('UPDATE api_key SET expires_at = ? WHERE id = ?', [Date.now() - 1, keyId]),
  },
  {
    how: 'a key of a workspace is deleted',
    begin: withWorkspaceKey,
    end: ({ owner, workspaceId, keyId }) =>
      must(
        owner.rest('DELETE', `/api/api_keys/${workspaceId}/delete`, {
          json: { api_key_id: keyId },
        }),
      ),
  },
  {
    how: 'the creator of a workspace key is removed',
    begin: withWorkspaceKey,
    end: scene => removed(scene, scene.reader.userId),
  },
]

describe('From the next request on, a search shows nothing', () => {
  it.each(ends)('when $how', async ({ begin, end }) => {
    const scene = await begin()
    const { reader, word, workspaceId } = scene
    await until(async () => (await seen(reader, word, workspaceId)).length === 2)
    expect(await seen(reader, word, workspaceId)).toEqual([word, `${word} plan.txt`])
    await t.app.searchIndexer.idle()
    await t.settle()
    expect(await seen(reader, inside(word), workspaceId)).toEqual([`${word} plan.txt`])
    // An earlier cursor leads no further.
    const first = await graph(reader, word, { first: 1 })
    expect(first?.pageInfo.hasNextPage).toBe(true)
    await end(scene)
    expect(await seen(reader, word, workspaceId)).toEqual([])
    expect((await graph(reader, word, { after: first?.pageInfo.endCursor }))?.edges ?? []).toEqual(
      [],
    )
    for (const query of [
      inside(word),
      `"an ${inside(word)}"`,
      `name:${word}`,
      `"${word} plan"`,
      `type:text ${word}`,
      `in:${word} type:text`,
    ])
      expect(await seen(reader, query, workspaceId)).toEqual([])
  })

  // Expiry happens without a request.
  it.each(ends.filter(({ how }) => !how.includes('expire')))(
    'when $how during many searches',
    async ({ begin, end }) => {
      const scene = await begin()
      const { reader, word } = scene
      await until(async () => (await seen(reader, word)).length === 2)
      await t.app.searchIndexer.idle()
      await t.settle()
      expect(await seen(reader, inside(word))).toHaveLength(1)
      let isEnded = false
      let isOver = false
      let before = 0
      const late: string[] = []
      const searching = Array.from({ length: 8 }, async (_, n) => {
        while (!isOver) {
          // A search that started after the permission ended must show nothing.
          const beganAfter = isEnded
          const query = n < 4 ? word : inside(word)
          const page =
            n % 2 === 0
              ? ((await graph(reader, query))?.edges.map(({ node }) => node.name) ?? [])
              : await reader
                  .rest('GET', `/api/search?query=${query}`)
                  .then(({ status, response }) =>
                    status === 200
                      ? response.results.map(({ name }: { name: string }) => name)
                      : [],
                  )
          if (beganAfter) late.push(...page)
          else if (page.length > 0) before++
        }
      })
      try {
        await until(() => before >= 16)
        await end(scene)
        isEnded = true
        await Promise.all(Array.from({ length: 8 }, () => graph(reader, word)))
      } finally {
        isOver = true
        await Promise.all(searching)
      }
      expect(late).toEqual([])
      expect(before).toBeGreaterThanOrEqual(16)
    },
  )
})

describe('A search', () => {
  it('shows recipients the entries that enter a shared folder, and none that leave it', async () => {
    const { owner, reader, word } = await shared()
    const move = (source: string, destination: string) =>
      must(owner.rest('POST', '/api/files/move', { json: { source, destination } }))
    await move(`above/${word}/${word} plan.txt`, `beside/${word} plan.txt`)
    expect(await seen(reader, word)).toEqual([word])
    await move(`beside/${word} plan.txt`, `above/${word}/deep/${word} again.txt`)
    expect(await seen(reader, word)).toEqual([word, `${word} again.txt`])
    // Its former name finds nothing either.
    expect(await seen(reader, `${word} plan`)).toEqual([])
    // Only the owner can find the names of folders above a share.
    expect(await seen(reader, `above ${word}`)).toEqual([])
    expect(await seen(reader, `in:above ${word}`)).toEqual([])
  })

  it('finds nothing through public links or shares with a password', async () => {
    const { owner, reader, word } = await ofOwner()
    const { response } = await must(
      owner.rest('POST', '/api/folders/quick_share', { json: { path: `above/${word}` } }),
    )
    const token = new URL(response.sharing_link ?? response.url).pathname.split('/').at(-1)
    expect((await reader.rest('POST', `/api/share/resolve/${token}`, { json: {} })).status).toBe(
      200,
    )
    expect(await seen(reader, word)).toEqual([])
    expect((await graph(t.anonymous, word))?.edges ?? []).toEqual([])
  })

  it('never shows notes and tags to recipients, notes to members, or removed text to either', async () => {
    const { owner, reader, word } = await shared()
    const md5 = createHash('md5').update(contentOf(word)).digest('hex')
    const note = (content: string) =>
      must(owner.rest('PUT', `/api/files/${md5}/note`, { json: { content } }))
    await note(`${word}secret by the river`)
    const path = `above/${word}/${word} plan.txt`
    const { createTag } = await ask<{ createTag: { tag: { id: string } } }>(
      owner,
      'mutation ($input: CreateTagInput!) { createTag(input: $input) { tag { id } } }',
      { input: { name: `${word}tag` } },
    )
    const tagged = (change: object) =>
      ask(
        owner,
        'mutation ($input: TagEntriesInput!) { tagEntries(input: $input) { entries { id } } }',
        {
          input: { entries: [{ at: { path } }], ...change },
        },
      )
    await tagged({ add: [createTag.tag.id] })
    const asked = [`${word}secret`, `${word}secret river`, `${word}tag`, `tag:${word}tag`]
    for (const query of asked) {
      expect([query, await seen(owner, query)]).toEqual([query, [`${word} plan.txt`]])
      expect([query, await seen(reader, query)]).toEqual([query, []])
    }
    // Excluding a hidden word does not reveal it either.
    expect(await seen(reader, `plan -${word}secret`)).toEqual([`${word} plan.txt`])
    expect(await seen(reader, `plan -${word}tag`)).toEqual([`${word} plan.txt`])
    await note('something else')
    expect(await seen(owner, `${word}secret`)).toEqual([])
    await tagged({ remove: [createTag.tag.id] })
    expect(await seen(owner, `tag:${word}tag`)).toEqual([])
    expect(await seen(owner, `${word}tag`)).toEqual([])
  })

  it('does not reveal whether another drive exists', async () => {
    const { workspaceId, word } = await member()
    const stranger = await t.signIn('stranger')
    const drives = async (ids: string[]) =>
      stranger.graphql(
        'query ($q: String!, $d: [ID!]) { search(query: $q, drives: $d) { hints { term } } }',
        {
          q: word,
          d: ids,
        },
      )
    const { data, code } = await drives([workspaceId ?? ''])
    expect([data?.search, code]).toEqual([null, 'FORBIDDEN'])
    expect(await seen(stranger, `drive:garden ${word}`, workspaceId)).toEqual([])
    expect(await seen(stranger, `drive:garden type:text`, workspaceId)).toEqual([])
  })

  it('finds restored entries again, only for authorized users', async () => {
    const { owner, reader, word, workspaceId } = await member()
    await trashes(`above/${word}`, workspaceId)(owner)
    expect(await seen(reader, word, workspaceId)).toEqual([])
    const { response } = await must(owner.rest('GET', `/api/workspaces/${workspaceId}/trash`))
    const items = response.items.map(({ id }: { id: string }) => id)
    await must(
      owner.rest('POST', `/api/workspaces/${workspaceId}/trash/restore`, { json: { items } }),
    )
    expect(await seen(reader, word, workspaceId)).toEqual([word, `${word} plan.txt`])
  })
})
