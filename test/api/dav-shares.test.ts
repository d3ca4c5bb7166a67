import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { FOLDER } from '../../db/models/entry.ts'
import { insertEntries } from '../../db/queries/entry.ts'
import { driveReading, shareReading } from '../../src/dav/reading.ts'
import { MAX_COPIED } from '../../src/values/limits.ts'
import { ask } from '../support/ask.ts'
import { type Dav, davPerson, hrefsIn } from '../support/dav-client.ts'
import { type Person, startApp, type TestApp } from '../support/harness.ts'
import { until } from '../support/until.ts'

let t: TestApp
beforeAll(async () => {
  t = await startApp()
})
afterAll(() => t.stop())

const SHARE =
  'mutation ($input: CreateDirectShareInput!) { createDirectShare(input: $input) { shares { token } } }'
const shareOf = async (
  owner: Person,
  who: Person,
  path: string,
  more: object = {},
): Promise<string> => {
  const { createDirectShare } = await ask(owner, SHARE, {
    input: { entries: [{ at: { path } }], email: who.email, ...more },
  })
  return createDirectShare.shares[0].token
}
const statusOf = async (answer: Promise<{ status: number }>) => (await answer).status
const list = async (dav: Dav, path: string) =>
  hrefsIn((await dav('PROPFIND', path, { headers: { depth: '1' } })).text)

describe('Two shares of one user', () => {
  it('are separate drives: no entry is moved from one to the other or replaced by it', async () => {
    const owner = await t.signIn('two-shares')
    const { person, dav } = await davPerson(t)
    for (const path of ['one/f', 'two/f', 'two/inner/f']) await owner.upload(path, path)
    for (const path of ['one', 'two', 'two/inner'])
      await shareOf(owner, person, path, { mayEdit: true })
    expect(await list(dav, '/shared')).toEqual([
      ...['/dav/shared/', '/dav/shared/one/', '/dav/shared/two/', '/dav/shared/inner/'],
    ])
    const pairs = [
      ['one', 'two'],
      ['two', 'one'],
      ['inner', 'two'],
      ['two', 'inner'],
    ]
    for (const [from, to] of pairs)
      for (const name of ['g', 'f'])
        for (const method of ['MOVE', 'COPY']) {
          const headers = { destination: `/dav/shared/${to}/${name}` }
          const answer = statusOf(dav(method, `/shared/${from}/f`, { headers }))
          expect([method, from, to, name, await answer]).toEqual([method, from, to, name, 403])
        }
    for (const path of ['one/f', 'two/f', 'two/inner/f'])
      expect((await dav('GET', `/shared/${path}`)).text).toBe(path)
    expect(await list(dav, '/shared/two')).toEqual([
      ...['/dav/shared/two/', '/dav/shared/two/inner/', '/dav/shared/two/f'],
    ])
  })
})

describe('Shares of one name', () => {
  it('keep their unique names when another one ends', async () => {
    const { person, dav } = await davPerson(t)
    const owners = await Promise.all(
      ['first', 'second', 'third'].map(name => t.signIn(`names-${name}`)),
    )
    const tokens: string[] = []
    for (const [i, owner] of owners.entries()) {
      await owner.upload('same.txt', `of ${i}`)
      tokens.push(await shareOf(owner, person, 'same.txt'))
    }
    const [, first, second = '', third = ''] = await list(dav, '/shared')
    expect(first).toBe('/dav/shared/same.txt')
    for (const one of [second, third])
      expect(decodeURI(one)).toMatch(/^\/dav\/shared\/same \([0-9a-f]{8}\)\.txt$/)
    const read = async (href = '') => (await dav('GET', href.slice('/dav'.length))).text
    expect([await read(first), await read(second), await read(third)]).toEqual([
      'of 0',
      'of 1',
      'of 2',
    ])
    expect((await owners[0]?.rest('POST', `/api/share/revoke/${tokens[0]}`))?.status).toBe(200)
    expect(await list(dav, '/shared')).toEqual(['/dav/shared/', '/dav/shared/same.txt', third])
    expect([await read(first), await read(second), await read(third)]).toEqual([
      'of 1',
      'of 1',
      'of 2',
    ])
  })
})

describe('The list of shares', () => {
  it('has the dates and the ETag of each file and folder', async () => {
    const owner = await t.signIn('dates')
    const { person, dav } = await davPerson(t)
    for (const path of ['file.txt', 'folder/x']) await owner.upload(path, path)
    await t.app.db.run(
      "UPDATE entry SET created_at = 1000000000000, updated_at = 1100000000000 WHERE name IN ('file.txt', 'folder')",
    )
    for (const path of ['file.txt', 'folder']) await shareOf(owner, person, path)
    const { text } = await dav('PROPFIND', '/shared', { headers: { depth: '1' } })
    const [, , file = '', folder = ''] = text.split('<d:response>')
    // A file has the time of its upload, because the client sent no older time. A folder has the
    // time of its move.
    for (const [one, changed] of [
      [file, 1e12],
      [folder, 1.1e12],
    ] as const) {
      expect(one).toContain(`<d:getlastmodified>${new Date(changed).toUTCString()}<`)
      expect(one).toContain(`<d:creationdate>${new Date(1e12).toISOString()}<`)
    }
    const etag = (await dav('GET', '/shared/file.txt')).headers.get('etag') ?? ''
    expect(file).toContain(`<d:getetag>${etag.replaceAll('"', '&quot;')}</d:getetag>`)
    expect(folder).toMatch(/<d:getetag>&quot;\d+-[\da-f-]{36}&quot;<\/d:getetag>/)
  })
})

describe('A copy in the background', () => {
  it('replaces a folder when it finishes, and is refused into a shared folder', async () => {
    const owner = await t.signIn('large')
    const { person, dav } = await davPerson(t)
    await owner.upload('target/x', 'x')
    await shareOf(owner, person, 'target', { mayEdit: true })
    for (const path of ['big/leaf', 'old/before']) await person.upload(path, path)
    const [big] = await t.app.db.rows<{ id: string; bucketId: string }>(
      "SELECT e.id, e.bucket_id AS bucketId FROM entry e JOIN bucket b ON b.id = e.bucket_id WHERE b.user_id = ? AND e.name = 'big'",
      [person.userId],
    )
    const place = { bucketId: big?.bucketId ?? '', parentId: big?.id ?? '' }
    const rows = Array.from(
      { length: MAX_COPIED },
      (_, i) => ({ id: randomUUID(), name: `n${i}`, kind: FOLDER, by: null }) as const,
    )
    await t.app.db.transaction(tx =>
      insertEntries(
        t.app.db,
        rows.map(row => ({ ...row, ...place })),
        tx,
      ),
    )
    await t.app.db.run('UPDATE entry SET total_folders = ? WHERE id = ?', [
      MAX_COPIED,
      place.parentId,
    ])
    const to = (destination: string) => dav('COPY', '/files/big', { headers: { destination } })
    expect(await statusOf(to('/dav/shared/target/big'))).toBe(403)
    expect(await statusOf(dav('GET', '/shared/target/big'))).toBe(404)
    expect(await statusOf(to('/dav/files/old'))).toBe(202)
    await t.app.worker.idle()
    await until(async () => (await dav('GET', '/files/old/leaf')).text === 'big/leaf')
    expect(await list(dav, '/files/old')).toHaveLength(MAX_COPIED + 2)
    expect(await statusOf(dav('GET', '/files/old/before'))).toBe(404)
  })
})

describe('A file that is replaced during a request', () => {
  const found = {
    id: 'f',
    kind: 0 as never,
    name: 'f',
    contentType: '',
    size: 1,
    createdAt: 1,
    updatedAt: 1,
    modifiedAt: 1,
    revision: 1,
    contentRevision: 1,
    changeStamp: 0,
    md5: 'old',
    blobId: 'old-blob',
  }

  it('is delivered with the bytes that match its ETag, or not at all', async () => {
    const now = { ...found, revision: 2, md5: 'new', blobId: 'new-blob' }
    const services = {
      entryLists: { at: async () => now },
      downloads: { delivery: (file: object) => file },
      shareLinks: { open: async () => ({ delivery: { etag: 'new' } }) },
    }
    const drive = { open: () => ({ tree: {} }) }
    const inDrive = driveReading(services as never, drive as never)
    expect(await inDrive.deliver(found, ['f'], true)).toMatchObject({
      blobId: 'old-blob',
      md5: 'old',
    })
    const shared = shareReading(services as never, {} as never, { token: 't' } as never, 'f')
    await expect(shared.deliver(found, [], true)).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    await expect(shared.deliver(now, [], true)).resolves.toEqual({ etag: 'new' })
  })
})
