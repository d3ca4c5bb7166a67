import { resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { ask, codeOf } from '../support/ask.ts'
import { found, join } from '../support/builders.ts'
import { COMPILED } from '../support/built-service.ts'
import { runWarm } from '../support/command-line.ts'
import { newDatabase, type Person, startApp, type TestApp } from '../support/harness.ts'
import { anId, aTime } from '../support/shapes.ts'

let database: Awaited<ReturnType<typeof newDatabase>>
let t: TestApp
let olga: Person
let alice: Person
let bob: Person
let workspaceId: string
/** The ids of grants by a word for each. */
const made: Record<string, string> = {}

beforeAll(async () => {
  database = await newDatabase()
  t = await startApp({ DATABASE_URL: database.url, OPERATORS: 'olga@example.com' })
  ;[olga, alice, bob] = [await t.signIn('olga'), await t.signIn('alice'), await t.signIn('bob')]
  workspaceId = await found(alice, 'Garden')
  await join(t, workspaceId, bob, 'editor')
  for (const path of ['Taxes/2026.txt', 'plan.txt', 'other.txt']) await alice.upload(path, path)
  const drive = (
    await ask(alice, 'query ($id: ID!) { workspace(id: $id) { drive { id } } }', {
      id: workspaceId,
    })
  ).workspace.drive.id
  await ask(
    alice,
    'mutation ($input: CreateFolderInput!) { createFolder(input: $input) { folder { id } } }',
    { input: { at: { drive, path: 'Beds' } } },
  )
  made.forever = await link(alice, { entries: [at('plan.txt')], duration: 'never' })
  made.safe = await link(alice, {
    entries: [at('Taxes')],
    duration: '7d',
    password: 'correct horse',
    maxDownloads: 3,
  })
  made.several = await link(alice, { entries: [at('plan.txt'), at('other.txt')], duration: '1d' })
  made.edit = (
    await ask(
      alice,
      'mutation ($input: CreateDirectShareInput!) { createDirectShare(input: $input) { shares { id } } }',
      {
        input: {
          entries: [at('other.txt')],
          email: 'Carol@example.org',
          duration: '1d',
          mayEdit: true,
        },
      },
    )
  ).createDirectShare.shares[0].id
  made.request = (
    await ask(
      alice,
      'mutation ($input: CreateFileRequestInput!) { createFileRequest(input: $input) { fileRequest { id } } }',
      {
        input: { folder: at('Taxes'), label: 'Receipts', duration: 'never', maxFiles: 9 },
      },
    )
  ).createFileRequest.fileRequest.id
  made.garden = await link(bob, { entries: [{ at: { drive, path: 'Beds' } }], duration: '1d' })
})
afterAll(async () => {
  await t?.stop()
  await database?.drop()
})

const at = (path: string) => ({ at: { path } })
const link = async (who: Person, input: object): Promise<string> =>
  (
    await ask(
      who,
      'mutation ($input: CreateLinkInput!) { createLink(input: $input) { share { id } } }',
      { input },
    )
  ).createLink.share.id

const GRANTS = `query ($filter: GrantFilter, $first: Int, $after: String) { operator { grants(filter: $filter, first: $first, after: $after) {
  nodes { id kind sharer { id email } recipient name isFolder workspaceId workspaceName createdAt expiresAt
    passwordProtected mayEdit useCount maxUses isPaused }
  pageInfo { hasNextPage endCursor } } } }`
const END =
  'mutation ($input: OperatorEndGrantsInput!) { operatorEndGrants(input: $input) { endedIds } }'

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
const grants = async (filter: object = {}): Promise<any[]> =>
  (await ask(olga, GRANTS, { filter })).operator.grants.nodes
const namesOf = async (filter: object) => {
  const words = new Map(Object.entries(made).map(([word, id]) => [id, word]))
  return (await grants(filter)).map(({ id }) => words.get(id))
}
const end = async (ids: string[]) =>
  (await ask(olga, END, { input: { grants: ids } })).operatorEndGrants.endedIds

const admin = async (...args: string[]) => {
  const { code, out, err } = await runWarm({
    program: resolve('src/admin.ts'),
    args: [...args, '--json'],
    stdin: '',
    cwd: process.cwd(),
    env: { ...COMPILED, PATH: process.env.PATH ?? '', DATABASE_URL: database.url },
  })
  return code === 0 ? JSON.parse(out) : { code, err }
}

describe('The list of grants', () => {
  it('shows who shares what with whom and on which terms, newest first', async () => {
    const common = { mayEdit: false, isPaused: false, workspaceId: null, workspaceName: null }
    const plain = { ...common, recipient: null, passwordProtected: false, maxUses: null }
    const byAlice = {
      sharer: { id: alice.userId, email: 'alice@example.com' },
      id: anId,
      createdAt: aTime,
      useCount: 0,
    }
    expect(await grants()).toEqual([
      {
        ...plain,
        ...byAlice,
        id: made.garden,
        sharer: { id: bob.userId, email: 'bob@example.com' },
        kind: 'LINK',
        name: 'Beds',
        isFolder: true,
        workspaceId,
        workspaceName: 'Garden',
        expiresAt: aTime,
      },
      {
        ...plain,
        ...byAlice,
        kind: 'REQUEST',
        name: 'Receipts',
        isFolder: true,
        maxUses: 9,
        expiresAt: null,
      },
      {
        ...plain,
        ...byAlice,
        kind: 'DIRECT',
        recipient: 'carol@example.org',
        name: 'other.txt',
        isFolder: false,
        mayEdit: true,
        expiresAt: aTime,
      },
      {
        ...plain,
        ...byAlice,
        kind: 'LINK',
        name: 'plan.txt and 1 more',
        isFolder: true,
        expiresAt: aTime,
      },
      {
        ...plain,
        ...byAlice,
        kind: 'LINK',
        name: 'Taxes',
        isFolder: true,
        passwordProtected: true,
        maxUses: 3,
        expiresAt: aTime,
      },
      { ...plain, ...byAlice, kind: 'LINK', name: 'plan.txt', isFolder: false, expiresAt: null },
    ])
  })

  it('has pages and filters', async () => {
    expect(await namesOf({ kinds: ['LINK'] })).toEqual(['garden', 'several', 'safe', 'forever'])
    expect(await namesOf({ kinds: ['DIRECT'] })).toEqual(['edit'])
    expect(await namesOf({ kinds: ['REQUEST', 'DIRECT'] })).toEqual(['request', 'edit'])
    expect(await namesOf({ neverExpires: true })).toEqual(['request', 'forever'])
    expect(await namesOf({ withoutPassword: true, kinds: ['LINK'] })).toEqual([
      'garden',
      'several',
      'forever',
    ])
    expect(await namesOf({ person: bob.userId })).toEqual(['garden'])
    expect(await namesOf({ person: `account:${bob.userId}`, neverExpires: true })).toEqual([])
    expect(await namesOf({ workspace: workspaceId })).toEqual(['garden'])
    const ids: string[] = []
    for (let after: string | null = null, more = true; more; ) {
      const found = await ask(olga, GRANTS, { first: 2, after })
      const page = found.operator.grants
      ids.push(...page.nodes.map(({ id }: { id: string }) => id))
      ;({ hasNextPage: more, endCursor: after } = page.pageInfo)
    }
    expect(ids).toEqual((await grants()).map(({ id }) => id))
    expect(await codeOf(olga, GRANTS, { filter: { person: 'nobody' } })).toBe('INVALID_INPUT')
    expect(await codeOf(alice, GRANTS)).toBe('FORBIDDEN')
  })

  it('contains those of suspended people, which wait', async () => {
    const set = (status: string) =>
      ask(
        olga,
        'mutation ($input: OperatorUpdateAccountInput!) { operatorUpdateAccount(input: $input) { account { id } } }',
        {
          input: { account: `account:${bob.userId}`, status },
        },
      )
    await set('SUSPENDED')
    expect((await grants({ person: bob.userId })).map(one => one.isPaused)).toEqual([true])
    await set('ACTIVE')
    bob = await t.signIn('bob')
    expect((await grants({ person: bob.userId })).map(one => one.isPaused)).toEqual([false])
  })

  it('contains neither links of entries in the trash nor those of members who may no longer share', async () => {
    const id = await link(alice, { entries: [at('Taxes/2026.txt')], duration: '1d' })
    const first = async () => (await grants())[0].id
    expect(await first()).toBe(id)
    await ask(
      alice,
      'mutation ($input: DeleteEntriesInput!) { deleteEntries(input: $input) { trashItems { id } } }',
      {
        input: { entries: [at('Taxes/2026.txt')] },
      },
    )
    expect(await first()).toBe(made.garden)
    await join(t, workspaceId, bob, 'viewer')
    expect(await namesOf({ workspace: workspaceId })).toEqual([])
    await join(t, workspaceId, bob, 'editor')
  })

  it('records each reader in the audit trail', async () => {
    const readings = async () =>
      (
        await ask(
          olga,
          'query { operator { auditTrail(filter: { kinds: [GRANTS_READ] }, first: 1000) { nodes { operator { id } subjectId agent } } } }',
        )
      ).operator.auditTrail.nodes
    const before = (await readings()).length
    await grants({ person: alice.userId })
    const [reading, ...others] = await readings()
    expect(others).toHaveLength(before)
    expect(reading).toMatchObject({ operator: { id: olga.userId }, subjectId: alice.userId })
    await admin('shares')
    expect((await readings())[0]).toMatchObject({ operator: null, agent: 'npm run admin' })
  })
})

describe('An operator', () => {
  const eventsOf = async (who: Person) =>
    (
      await ask(
        who,
        '{ me { drive { events(first: 1000) { nodes { kind via actor { id } subjectId } } } } }',
      )
    ).me.drive.events.nodes.filter(({ via }: { via: string }) => via === 'OPERATOR')

  it('ends one and several grants for good, which the people concerned see', async () => {
    const share = await ask(
      alice,
      'query ($id: ID!) { node(id: $id) { ... on LinkShare { token } } }',
      { id: made.forever },
    )
    const page = () => t.anonymous.rest('GET', `/api/d/${share.node.token}`)
    expect((await page()).status).toBe(302)
    expect(await end([made.forever ?? ''])).toEqual([made.forever])
    expect((await page()).status).toBe(404)
    expect(await end([made.forever ?? '', 'no id'])).toEqual([])
    const rest = [made.safe, made.edit, made.request, made.garden].map(String)
    expect(new Set(await end(rest))).toEqual(new Set(rest))
    expect(await namesOf({})).toEqual(['several'])
    expect(await eventsOf(alice)).toEqual([
      { kind: 'SHARE_REVOKED', via: 'OPERATOR', actor: null, subjectId: made.forever },
      ...[made.safe, made.edit].map(subjectId => ({
        kind: 'SHARE_REVOKED',
        via: 'OPERATOR',
        actor: null,
        subjectId,
      })),
      { kind: 'FILE_REQUEST_CLOSED', via: 'OPERATOR', actor: null, subjectId: made.request },
    ])
    const { operator } = await ask(
      olga,
      `{ operator { auditTrail(filter: { person: "${olga.userId}", kinds: [SHARE_REVOKED, FILE_REQUEST_CLOSED] }) { nodes { subjectId } } } }`,
    )
    expect(
      new Set(operator.auditTrail.nodes.map((one: { subjectId: string }) => one.subjectId)),
    ).toEqual(new Set([made.forever, ...rest]))
    expect(t.logs()).toContain('"event":"grants_ended"')
  })

  it('ends links that would come back from the trash', async () => {
    await alice.upload('back.txt', 'back')
    const id = await link(alice, { entries: [at('back.txt')], duration: '1d' })
    const { deleteEntries } = await ask(
      alice,
      'mutation ($input: DeleteEntriesInput!) { deleteEntries(input: $input) { trashItems { id } } }',
      {
        input: { entries: [at('back.txt')] },
      },
    )
    expect(await end([id])).toEqual([])
    await ask(
      alice,
      'mutation ($input: RestoreFromTrashInput!) { restoreFromTrash(input: $input) { __typename } }',
      {
        input: { items: [deleteEntries.trashItems[0].id] },
      },
    )
    expect(await namesOf({})).toEqual(['several'])
  })

  it('lists and ends grants on the command line', async () => {
    const { shares, more } = await admin(
      'shares',
      '--user',
      'alice@example.com',
      '--kind',
      'link',
      '--no-password',
    )
    expect([shares, more]).toEqual([
      [
        expect.objectContaining({
          id: made.several,
          kind: 'link',
          user_id: alice.userId,
          has_password: false,
        }),
      ],
      false,
    ])
    expect((await admin('shares', '--no-expiry')).shares).toEqual([])
    expect((await admin('shares', '--workspace', 'garden')).shares).toEqual([])
    expect(await admin('shares', '--workspace', 'nowhere')).toEqual({
      code: 1,
      err: 'There is no workspace "nowhere".\n',
    })
    expect(await admin('shares', '--kind', 'rumour')).toMatchObject({ code: 1 })
    expect(await admin('end-shares', made.several ?? '', alice.userId)).toEqual({
      ended: [made.several],
    })
    expect((await admin('shares')).shares).toEqual([])
    expect((await eventsOf(alice)).at(-1)).toMatchObject({
      kind: 'SHARE_REVOKED',
      subjectId: made.several,
    })
  })
})
