import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { ask } from '../support/ask.ts'
import { driveOf, found, join, put } from '../support/builders.ts'
import { expectConsistent } from '../support/consistency.ts'
import { type Person, type RestAnswer, startApp, type TestApp } from '../support/harness.ts'
import { field, fileHead, holdForm } from '../support/held-upload.ts'
import { gateOf, type StoreGate } from '../support/store-gate.ts'

let t: TestApp
let gate: StoreGate
let alice: Person
let bob: Person
let carol: Person
let people = 0

beforeAll(async () => {
  // Tests block the store of one worker.
  t = await startApp({ RATE_SHARING: '1000000', WORKERS: '1' })
  gate = gateOf(t.app.store)
})
// Everyone begins without data. After every race, the counters must match what is stored.
beforeEach(async () => {
  people++
  ;[alice, bob, carol] = (await Promise.all(
    ['alice', 'bob', 'carol'].map(name => t.signIn(`${name}-${people}`)),
  )) as [Person, Person, Person]
})
afterEach(async () => {
  gate.interfere = () => {}
  await t.limit({ maxTotalStorageBytes: 5 * 1024 ** 3, maxFiles: 10_000, maxFolders: 10_000 })
  await expectConsistent(t)
})
afterAll(() => t.stop())

const SHARE =
  'mutation ($input: CreateDirectShareInput!) { createDirectShare(input: $input) { shares { id token } } }'

interface Shared {
  id: string
  token: string
}

async function share(
  entry: object,
  { by = alice, to = bob }: { by?: Person; to?: Person } = {},
): Promise<Shared> {
  const input = { entries: [entry], email: to.email, mayEdit: true, duration: 'never' }
  return (await ask(by, SHARE, { input })).createDirectShare.shares[0]
}

async function sharedFolder(to = bob): Promise<Shared> {
  await alice.upload('top/shared/plan.txt', 'walk')
  return share({ at: { path: 'top/shared' } }, { to })
}

const said = ({ status, response }: RestAnswer) =>
  status === 200 ? '200' : `${status} ${response?.code}`

/**
 * An upload into a shared folder that the service has accepted, and that waits for its last bytes.
 */
const holdUpload = (token: string, folder = 'in') =>
  holdForm(
    t,
    bob,
    `/api/shared/${token}/upload`,
    `${field('folder', folder)}${fileHead('file', 'held.txt')}`,
  )

function upload(
  person: Person,
  token: string,
  name: string,
  content: string,
  fields: Record<string, string> = {},
) {
  const { if_match, ...inForm } = fields
  const form = new FormData()
  for (const [field, value] of Object.entries(inForm)) form.append(field, value)
  form.append('file', new Blob([content]), name)
  return person.rest('POST', `/api/shared/${token}/upload`, {
    form,
    headers: if_match === undefined ? {} : { 'if-match': if_match },
  })
}

const filesOf = async (person: Person) =>
  (
    await t.app.db.rows<{ name: string }>(
      'SELECT e.name FROM entry e JOIN bucket b ON b.id = e.bucket_id WHERE b.user_id = ? AND e.blob_id IS NOT NULL ORDER BY e.name',
      [person.userId],
    )
  ).map(({ name }) => name)

const revoke = ({ token }: Shared) => alice.rest('POST', `/api/share/revoke/${token}`)

describe('An upload in progress', () => {
  it.each<[string, (it: Shared) => Promise<unknown>]>([
    ['is revoked', revoke],
    [
      'may be seen only',
      ({ token }) => alice.rest('PATCH', `/api/share/${token}`, { json: { may_edit: false } }),
    ],
    [
      'expires',
      ({ id }) =>
        t.app.db.run('UPDATE share SET expires_at = ? WHERE id = ?', [Date.now() - 1, id]),
    ],
    ['goes with its folder', () => alice.rest('DELETE', '/api/folders?path=top&recursive=true')],
    [
      'has a suspended sharer',
      () => t.app.db.run("UPDATE user SET status = 'suspended' WHERE id = ?", [alice.userId]),
    ],
    [
      'is for an address that has changed',
      () =>
        t.app.db.run('UPDATE user SET verified_email = ? WHERE id = ?', [
          `new-${people}@example.com`,
          bob.userId,
        ]),
    ],
  ])('creates no file once its share %s', async (_how, end) => {
    const it = await sharedFolder()
    const held = await holdUpload(it.token)
    await end(it)
    expect(said(await held.finish())).toBe('403 FORBIDDEN')
    expect(await filesOf(alice)).toEqual(['plan.txt'])
  })

  it('creates no file once the sharer may no longer write in the workspace', async () => {
    const editor = await t.signIn(`editor-${people}`)
    const garden = await found(alice)
    await join(t, garden, editor, 'editor')
    await put(alice, garden, 'beds/rose.txt')
    const it = await share(
      { at: { drive: await driveOf(editor, garden), path: 'beds' } },
      { by: editor },
    )
    const held = await holdUpload(it.token)
    const json = { workspace_id: garden, user_id: editor.userId, role: 'viewer' }
    await alice.rest('PATCH', '/api/workspaces/members/role', { json })
    expect(said(await held.finish())).toBe('403 FORBIDDEN')
  })

  it('creates no file once its session has expired', async () => {
    const it = await sharedFolder()
    const held = await holdUpload(it.token)
    await bob.rest('POST', '/auth/logout')
    expect(said(await held.finish())).toBe('401 UNAUTHENTICATED')
    expect(await filesOf(alice)).toEqual(['plan.txt'])
  })

  it('follows the shared folder, and not entries moved out of it', async () => {
    const it = await sharedFolder()
    await alice.rest('POST', '/api/folders', { json: { path: 'top/shared/in' } })
    const held = await holdUpload(it.token)
    const move = (source: string, destination: string) =>
      alice.rest('POST', '/api/folders/move', { json: { source, destination } })
    await move('top/shared/in', 'out')
    await move('top/shared', 'elsewhere')
    const { response } = await held.finish()
    expect(response.file.path).toBe('in/held.txt')
    const namesIn = async (path: string) =>
      (await alice.rest('GET', `/api/files/tree?path=${path}`)).response.files.map(
        (f: { name: string }) => f.name,
      )
    expect([await namesIn('elsewhere/in'), await namesIn('out')]).toEqual([
      ['elsewhere/in/held.txt'],
      [],
    ])
  })

  it('is not completed in the background after its share is revoked', async () => {
    const it = await sharedFolder()
    const START =
      'mutation ($input: StartUploadInput!) { startUpload(input: $input) { uploadSession { id } } }'
    const PART = 'mutation ($input: UploadPartInput!) { uploadPart(input: $input) { crc32 } }'
    const BEGIN = `mutation ($input: BeginCompletionInput!) { beginCompletion(input: $input) { uploadSession { id } } }`
    const input = { drive: it.id, fileName: 'late.txt', size: 4 }
    const { id } = (await ask(bob, START, { input })).startUpload.uploadSession
    await ask(
      bob,
      PART,
      { input: { uploadSession: id, number: 1, part: null } },
      new File(['late'], 'part'),
    )
    let release = () => {}
    const released = new Promise<void>(resolve => {
      release = resolve
    })
    gate.interfere = kind => (kind === 'commit' ? released : undefined)
    await ask(bob, BEGIN, { input: { uploadSession: id, wait: 0 } })
    await revoke(it)
    release()
    await t.app.services.backgroundCompletions.idle()
    const rows = await t.app.db.rows<{ state: string; failure: string }>(
      'SELECT state, failure FROM upload_session WHERE id = ?',
      [id],
    )
    expect(rows.map(({ state, failure }) => [state, JSON.parse(failure).code])).toEqual([
      ['failed', 'FORBIDDEN'],
    ])
    expect(await filesOf(alice)).toEqual(['plan.txt'])
  })
})

describe('Concurrent changes of a shared folder', () => {
  it('replace the same revision only once', async () => {
    const [his, hers] = [await sharedFolder(), await sharedFolder(carol)]
    const turns = [0, 1, 2, 3].flatMap(n => [
      upload(bob, his.token, 'plan.txt', `bob ${n}`, { on_conflict: 'replace', if_match: '"1"' }),
      upload(carol, hers.token, 'plan.txt', `carol ${n}`, {
        on_conflict: 'replace',
        if_match: '"1"',
      }),
    ])
    const answers = (await Promise.all(turns)).map(said)
    expect(answers.sort()).toEqual([
      '200',
      ...Array.from({ length: 7 }, () => '412 REVISION_MISMATCH'),
    ])
  })

  it('stay within the quota of the owner, and do not reveal it', async () => {
    const [his, hers] = [await sharedFolder(), await sharedFolder(carol)]
    await t.limit({ maxTotalStorageBytes: 4 + 50 })
    const turns = Array.from({ length: 5 }, (_, n) => [
      upload(bob, his.token, `bob ${n}`, 'ten bytes!'),
      upload(carol, hers.token, `carol ${n}`, 'ten bytes!'),
      alice.upload(`top/shared/alice ${n}`, 'ten bytes!'),
    ]).flat()
    const answers = await Promise.all(turns)
    expect(answers.map(({ status }) => status).filter(status => status === 200)).toHaveLength(5)
    const { response } = await upload(bob, his.token, 'over', 'ten bytes!')
    expect(response).toEqual({ code: 'SHARE_FULL' })
    await t.limit({ maxFolders: 2 })
    const made = await bob.rest('POST', `/api/shared/${his.token}/folders`, {
      json: { path: 'over' },
    })
    expect(made.response).toEqual({ code: 'SHARE_FULL' })
  })

  it('cause no unexpected errors while the owner moves, changes and revokes', async () => {
    const it = await sharedFolder()
    const paths = ['top/shared', 'other']
    const turns: Promise<RestAnswer>[] = []
    for (let n = 0; n < 8; n++) {
      turns.push(upload(bob, it.token, `file ${n}`, 'x', { folder: `deep ${n}/er` }))
      turns.push(
        bob.rest('POST', `/api/shared/${it.token}/folders`, { json: { path: `folder ${n}` } }),
      )
      turns.push(
        bob.rest('POST', `/api/shared/${it.token}/move`, {
          json: { source: `file ${n - 1}`, destination: `in ${n}/moved` },
        }),
      )
      const [source, destination] = n % 2 === 0 ? paths : [...paths].reverse()
      turns.push(alice.rest('POST', '/api/folders/move', { json: { source, destination } }))
      turns.push(alice.rest('PATCH', `/api/share/${it.token}`, { json: { may_edit: n % 3 !== 1 } }))
      turns.push(bob.rest('DELETE', `/api/shared/${it.token}/entries?path=folder%20${n - 2}`))
    }
    turns.push(revoke(it))
    const statuses = (await Promise.all(turns)).map(({ status }) => status)
    expect(statuses.filter(status => status >= 500 && status !== 503)).toEqual([])
    expect(said(await upload(bob, it.token, 'late', 'x'))).toBe('404 SHARE_NOT_FOUND')
  })
})
