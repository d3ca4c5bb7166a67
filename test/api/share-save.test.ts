import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { ask } from '../support/ask.ts'
import {
  driveOf,
  found,
  join,
  privateKey,
  ROOMY,
  UNHURRIED,
  workspaceKey,
} from '../support/builders.ts'
import { expectConsistent } from '../support/consistency.ts'
import { wholeGuessWindow } from '../support/guess-window.ts'
import { type Person, startApp, type TestApp } from '../support/harness.ts'
import { until } from '../support/until.ts'

const LARGE = {
  ...ROOMY,
  maxTotalStorageBytes: 1e9,
  maxFiles: 10_000,
  maxFolders: 10_000,
  maxFileSizeBytes: 1e9,
}

let t: TestApp
let alice: Person
let n = 0

beforeAll(async () => {
  t = await startApp(UNHURRIED)
  await t.limit(LARGE)
  alice = await t.signIn('alice')
  await alice.upload('trip/day 1/sea.txt', 'blue', 'text/plain')
  await alice.upload('trip/plan.txt', 'walk', 'text/plain')
  await alice.upload('private.txt', 'mine', 'text/plain')
})
afterAll(() => t.stop())

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
type Anything = any

const SAVE = `mutation ($input: SaveSharedEntriesInput!) { saveSharedEntries(input: $input) {
  entries { name path size } to { path fileCount } drive { id usage { usedBytes fileCount folderCount } } } }`

const someone = () => t.signIn(`saver-${++n}`)
const at = (path: string, drive?: string) => ({ at: { path, ...(drive ? { drive } : {}) } })
const saving = (person: Person, token: string, input: object = {}) =>
  person.graphql<Anything>(SAVE, { input: { token, to: at('saved'), ...input } })
const codeOf = async (person: Person, token: string, input: object = {}) =>
  (await saving(person, token, input)).code
async function save(person: Person, token: string, input: object = {}): Promise<Anything> {
  const { data, errors } = await saving(person, token, input)
  expect(errors).toBeUndefined()
  return data.saveSharedEntries
}
const rest = (person: Person, token: string, json: object = {}) =>
  person.rest('POST', `/api/share/save/${token}`, { json })
const objects = async () => (await t.app.db.rows('SELECT id FROM blobs')).length

async function link(path: string, terms: object = {}): Promise<string> {
  const input = { entries: at(path), ...terms }
  const made = await ask(
    alice,
    'mutation ($input: CreateLinkInput!) { createLink(input: $input) { share { token } } }',
    { input },
  )
  return made.createLink.share.token
}

async function shareWith(person: Person, path: string, terms: object = {}): Promise<string> {
  const input = { entries: [at(path)], email: person.email, ...terms }
  const made = await ask(
    alice,
    'mutation ($input: CreateDirectShareInput!) { createDirectShare(input: $input) { shares { token } } }',
    { input },
  )
  return made.createDirectShare.shares[0].token
}

const downloadsOf = async (token: string): Promise<number> => {
  const { shares } = (
    await ask(
      alice,
      '{ me { shares(first: 100, newestFirst: true) { nodes { token downloads } } } }',
    )
  ).me
  return shares.nodes.find((share: Anything) => share.token === token)?.downloads
}

describe('Saving a share to the drive of its viewer', () => {
  it('copies no bytes, and counts as an upload and as one download', async () => {
    const bob = await someone()
    const before = await objects()
    const token = await shareWith(bob, 'trip')
    const { entries, to, drive } = await save(bob, token)
    expect(entries).toEqual([{ name: 'trip', path: 'saved/trip', size: 8 }])
    expect(to).toEqual({ path: 'saved', fileCount: 2 })
    expect(drive.usage).toEqual({ usedBytes: 8, fileCount: 2, folderCount: 3 })
    expect(await objects()).toBe(before)
    expect(await downloadsOf(token)).toBe(1)
    await expectConsistent(t)
  })

  it('keeps the copy when the share, its entry and its owner are gone', async () => {
    const [owner, bob] = [await someone(), await someone()]
    await owner.upload('a.txt', 'lasting')
    const { response } = await owner.rest('POST', '/api/files/quick_share', {
      json: { object: 'a.txt' },
    })
    await save(bob, response.sharing_token)
    await owner.rest('DELETE', '/api/user/account/delete', {
      json: { delete_user_data: true, confirm: true },
    })
    await t.app.sweeper.run()
    const { status, text } = await bob.rest('GET', '/api/files/tree?path=saved')
    expect([status, text]).toEqual([200, expect.stringContaining('saved/a.txt')])
    await expectConsistent(t)
  })

  it('can be limited to parts of a folder, and reaches nothing above or beside it', async () => {
    const bob = await someone()
    const token = await link('trip')
    const { entries } = await save(bob, token, { paths: ['day 1', 'plan.txt'], to: at('') })
    expect(entries.map(({ path }: Anything) => path)).toEqual(['day 1', 'plan.txt'])
    const inner = await link('trip/day 1')
    for (const [paths, code] of [
      [['plan.txt'], 'FILE_NOT_FOUND'],
      [['trip/plan.txt'], 'FILE_NOT_FOUND'],
      [['../plan.txt'], 'INVALID_PATH'],
      [['..'], 'INVALID_PATH'],
      [['sea.txt', 'none'], 'FILE_NOT_FOUND'],
    ] as const)
      expect([paths, await codeOf(bob, inner, { paths })]).toEqual([paths, code])
    const file = await link('trip/plan.txt')
    expect(await codeOf(bob, file, { paths: ['plan.txt'] })).toBe('FILE_NOT_FOUND')
    expect((await save(bob, file, { name: 'route.txt' })).entries[0].path).toBe('saved/route.txt')
    await expectConsistent(t)
  })

  it('copies the present contents: nothing that was moved out, deleted or revoked', async () => {
    const bob = await someone()
    await alice.upload('live/a.txt', 'a')
    await alice.upload('live/b.txt', 'b')
    const token = await link('live')
    await alice.rest('POST', '/api/files/move', {
      json: { source: 'live/a.txt', destination: 'elsewhere.txt' },
    })
    expect(await codeOf(bob, token, { paths: ['a.txt'] })).toBe('FILE_NOT_FOUND')
    expect((await save(bob, token)).entries[0]).toMatchObject({ path: 'saved/live', size: 1 })
    await alice.rest('POST', `/api/share/revoke/${token}`)
    expect(await codeOf(bob, token)).toBe('SHARE_NOT_FOUND')
    const deleted = await link('live')
    await alice.rest('DELETE', '/api/folders?path=live&recursive=true')
    expect(await codeOf(bob, deleted)).toBe('SHARE_NOT_FOUND')
  })

  it('targets a workspace for members who may write there', async () => {
    const bob = await someone()
    const workspace = await found(alice)
    const drive = await driveOf(alice, workspace)
    await join(t, workspace, bob, 'viewer')
    const token = await link('trip/plan.txt')
    expect(await codeOf(bob, token, { to: at('', drive) })).toBe('FORBIDDEN')
    expect((await save(alice, token, { to: at('', drive) })).entries[0].path).toBe('/plan.txt')
  })

  it('requires the password and terms of the share', async () => {
    const [bob, mallory] = [await someone(), await someone()]
    const token = await link('trip', { password: 'sesame' })
    expect(await codeOf(bob, token)).toBe('PASSWORD_REQUIRED')
    expect(await codeOf(bob, token, { password: 'no' })).toBe('WRONG_PASSWORD')
    expect(await downloadsOf(token)).toBe(0)
    await save(bob, token, { password: 'sesame' })
    const direct = await shareWith(bob, 'private.txt', { password: 'sesame' })
    expect(await codeOf(mallory, direct, { password: 'sesame' })).toBe('FORBIDDEN')
    expect(await codeOf(bob, direct)).toBe('PASSWORD_REQUIRED')
    const writer = (await privateKey(t, bob, ['private_files:write'])).caller
    expect(await codeOf(writer, direct, { password: 'sesame' })).toBe('INSUFFICIENT_SCOPE')
    expect((await save(bob, direct, { password: 'sesame' })).entries).toHaveLength(1)
    expect(await codeOf(bob, 'nonsense')).toBe('SHARE_NOT_FOUND')
  })

  it('rejects taken names, one name for several entries, and too large files', async () => {
    const bob = await someone()
    const token = await link('trip')
    await save(bob, token)
    expect(await codeOf(bob, token)).toBe('PATH_EXISTS')
    const both = { paths: ['day 1', 'plan.txt'], name: 'one.txt' }
    expect(await codeOf(bob, token, both)).toBe('INVALID_INPUT')
    await t.limit({ ...LARGE, maxFileSizeBytes: 3 })
    expect(await codeOf(bob, token, { to: at('again') })).toBe('FILE_TOO_LARGE')
    await t.limit(LARGE)
    await save(bob, token, { to: at('again') })
  })

  it('limits guesses of the password', async () => {
    await wholeGuessWindow()
    const bob = await someone()
    const token = await link('trip', { password: 'sesame' })
    const codes = []
    for (let i = 0; i < 11; i++) codes.push(await codeOf(bob, token, { password: `guess ${i}` }))
    expect(codes).toEqual([...Array(10).fill('WRONG_PASSWORD'), 'TOO_MANY_ATTEMPTS'])
    expect(await codeOf(bob, token, { password: 'sesame' })).toBe('TOO_MANY_ATTEMPTS')
  })

  it('counts once against the download limit, and not when refused', async () => {
    const people = await Promise.all(Array.from({ length: 6 }, someone))
    const token = await link('trip', { maxDownloads: 3 })
    await t.limit({ ...LARGE, maxTotalStorageBytes: 7 })
    expect(await codeOf(people[0] as Person, token)).toBe('QUOTA_EXCEEDED')
    await t.limit(LARGE)
    const codes = await Promise.all(people.map(person => codeOf(person, token)))
    expect(codes.filter(code => code === undefined)).toHaveLength(3)
    expect(codes.filter(code => code === 'SHARE_USED_UP')).toHaveLength(3)
    await expectConsistent(t)
  })

  it('succeeds or fails when revoked or deleted at the same time, and never mixes bytes', async () => {
    const bob = await someone()
    const saved = await Promise.all(
      Array.from({ length: 12 }, async (_, i) => {
        expect((await alice.upload(`race/${i}.txt`, `bytes ${i}`)).status).toBe(200)
        const token = await link(`race/${i}.txt`)
        const [code] = await Promise.all([
          codeOf(bob, token, { to: at(`r${i}`) }),
          i % 2 === 0
            ? alice.rest('POST', `/api/share/revoke/${token}`)
            : alice.rest('DELETE', `/api/files/delete?file=race/${i}.txt`),
        ])
        expect([undefined, 'SHARE_NOT_FOUND']).toContain(code)
        return code === undefined
      }),
    )
    await ask(alice, 'mutation { emptyTrash(input: {}) { count } }')
    await t.app.sweeper.run()
    await expectConsistent(t)
    for (const [i, isSaved] of saved.entries()) {
      const FILE =
        'query ($path: String!) { me { drive { entry(path: $path) { ... on File { md5 } } } } }'
      const { entry } = (await ask(bob, FILE, { path: `r${i}/${i}.txt` })).me.drive
      expect(entry).toEqual(
        isSaved ? { md5: createHash('md5').update(`bytes ${i}`).digest('hex') } : null,
      )
    }
  })

  it('fails when the share is revoked, used up or deleted during the save', async () => {
    const { db } = t.app
    const ends: [string, string][] = [
      ['DELETE FROM share WHERE id = ?', 'SHARE_NOT_FOUND'],
      ['UPDATE share SET expires_at = 1 WHERE id = ?', 'SHARE_EXPIRED'],
      ['UPDATE share SET max_downloads = 0 WHERE id = ?', 'SHARE_USED_UP'],
      ['UPDATE share SET allow_download = 0 WHERE id = ?', 'FORBIDDEN'],
    ]
    for (const [end, refusal] of ends) {
      const bob = await someone()
      const token = await link('trip/plan.txt')
      const [share] = await db.rows<{ id: string }>('SELECT id FROM share ORDER BY id DESC LIMIT 1')
      const id = share?.id ?? ''
      let code: Promise<string | undefined> | undefined
      await db.transaction(async tx => {
        // The save has checked the share, and waits for the drive.
        await db.run('UPDATE bucket SET used_bytes = used_bytes', [], tx)
        t.statements()
        code = codeOf(bob, token)
        await until(() => t.statements().some(sql => /FROM share s .*WHERE s\.id = \?/s.test(sql)))
        await db.run(end, [id], tx)
      })
      expect([refusal, await code]).toEqual([refusal, refusal])
      expect((await bob.rest('GET', '/api/files/tree?path=saved')).response.files).toEqual([])
    }
    await expectConsistent(t)
  })
})

describe('POST /api/share/save/{token}', () => {
  it('200 returns the paths of the copies', async () => {
    const bob = await someone()
    const token = await link('trip')
    const { status, response } = await rest(bob, token, { folder: 'from alice' })
    expect([status, response]).toEqual([
      200,
      { copies: [{ id: expect.any(String), path: 'from alice/trip' }] },
    ])
    const again = await rest(bob, token, { folder: 'from alice' })
    expect([again.status, again.response.code]).toEqual([409, 'PATH_EXISTS'])
    const both = await rest(bob, token, { folder: 'from alice', on_conflict: 'keep_both' })
    expect(both.response.copies[0].path).toBe('from alice/trip (2)')
  })

  it('400, 401, 403 and 404', async () => {
    const [bob, mallory] = [await someone(), await someone()]
    const direct = await shareWith(bob, 'private.txt')
    expect((await rest(bob, direct, { folder: '..' })).status).toBe(400)
    expect((await rest(t.anonymous, direct)).status).toBe(401)
    expect((await rest(mallory, direct)).status).toBe(403)
    expect((await rest(bob, 'nonsense')).status).toBe(404)
    const token = await link('private.txt', { password: 'sesame' })
    expect((await rest(bob, token)).response.code).toBe('PASSWORD_REQUIRED')
    expect((await rest(bob, token, { password: 'sesame' })).status).toBe(200)
    const guesses = []
    for (let i = 0; i < 11; i++)
      guesses.push((await rest(bob, token, { password: `guess ${i}` })).response.code)
    expect([guesses[0], guesses.at(-1)]).toEqual(['WRONG_PASSWORD', 'TOO_MANY_ATTEMPTS'])
    const writer = (await privateKey(t, bob, ['private_files:write'])).caller
    expect((await rest(writer, direct)).response.code).toBe('INSUFFICIENT_SCOPE')
    const inWorkspace = (await workspaceKey(t, bob, await found(bob), ['workspaces:files:write']))
      .caller
    expect((await rest(inWorkspace, direct)).response.code).toBe('KEY_OUT_OF_BOUNDS')
  })

  it('rejects ended shares, missing entries and too large ones', async () => {
    const bob = await someone()
    const token = await link('trip', { maxDownloads: 1 })
    expect((await rest(bob, token, { paths: ['none'] })).response.code).toBe('FILE_NOT_FOUND')
    await t.limit({ ...LARGE, maxFileSizeBytes: 3 })
    expect((await rest(bob, token)).response.code).toBe('FILE_TOO_LARGE')
    await t.limit({ ...LARGE, maxFiles: 1 })
    expect((await rest(bob, token)).response.code).toBe('QUOTA_EXCEEDED')
    await t.limit(LARGE)
    expect((await rest(bob, token)).status).toBe(200)
    expect((await rest(bob, token)).response.code).toBe('SHARE_USED_UP')
    await t.app.db.run('UPDATE share SET expires_at = 1 WHERE user_id = ?', [alice.userId])
    expect((await rest(bob, token)).response.code).toBe('SHARE_EXPIRED')
  })
})
