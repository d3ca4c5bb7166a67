import { randomBytes } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { expectConsistent } from '../support/consistency.ts'
import { type Person, type RestAnswer, rest, startApp, type TestApp } from '../support/harness.ts'
import { file, form, formType, head, openWire } from '../support/wire.ts'

const MiB = 1024 * 1024
const BLOCK = 4 * MiB

let t: TestApp
let alice: Person
let people = 0

beforeAll(async () => {
  t = await startApp()
})
// Everyone begins without data. After every race, the counters must match what is stored.
beforeEach(async () => {
  alice = await t.signIn(`alice-${people++}`)
})
afterEach(async () => {
  await t.limit({ maxTotalStorageBytes: 5 * 1024 * MiB, maxFiles: 10_000 })
  await expectConsistent(t)
})
afterAll(() => t.stop())

const many = <T>(count: number, work: (n: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, n) => insistently(() => work(n))))

/**
 * When many requests wait for one lock, a slow machine refuses some of them with "busy, try again".
 */
async function insistently<T>(work: () => Promise<T>): Promise<T> {
  for (let left = 5; ; left--) {
    const answer = await work()
    if (left === 0 || (answer as { status?: unknown }).status !== 503) return answer
  }
}

/** The number of responses of each kind: `200`, or the status and code. */
function tally(answers: RestAnswer[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { status, response } of answers) {
    const said = status === 200 || status === 302 ? String(status) : `${status} ${response.code}`
    counts[said] = (counts[said] ?? 0) + 1
  }
  return counts
}

interface Usage {
  bytes: number
  files: number
  folders: number
}

async function usageOf(person: Person): Promise<Usage> {
  const [usage] = await t.app.db.rows<Usage>(
    'SELECT used_bytes AS bytes, used_files AS files, used_folders AS folders FROM bucket WHERE user_id = ?',
    [person.userId],
  )
  return usage ?? { bytes: -1, files: -1, folders: -1 }
}

/** Every path of a tree according to the interface. Folders end with a slash. */
async function pathsOf(person: Person, path = ''): Promise<string[]> {
  const { response } = await person.rest('GET', `/api/files/tree?path=${encodeURIComponent(path)}`)
  const folders: string[] = response.folders.map((name: string) =>
    path ? `${path}/${name}` : name,
  )
  const below = await Promise.all(folders.map(folder => pathsOf(person, folder)))
  return [
    ...response.files.map((f: { name: string }) => f.name),
    ...folders.map(f => `${f}/`),
    ...below.flat(),
  ].sort()
}

const folderAt = (path: string) => alice.rest('POST', '/api/folders', { json: { path } })
const moveFolder = (source: string, destination: string) =>
  alice.rest('POST', '/api/folders/move', { json: { source, destination } })
const moveFile = (source: string, destination: string) =>
  alice.rest('POST', '/api/files/move', { json: { source, destination } })
const deleteFolder = (path: string) =>
  alice.rest('DELETE', `/api/folders?path=${path}&recursive=true`)

describe('50 concurrent uploads to one path', () => {
  it('return 200 once and 409 forty-nine times, and leave one object', async () => {
    const answers = await many(50, n => alice.upload('same/name.txt', `from ${n}`.padEnd(10)))
    expect(tally(answers)).toEqual({ 200: 1, '409 PATH_EXISTS': 49 })
    await expectConsistent(t)
    expect(await usageOf(alice)).toEqual({ bytes: 10, files: 1, folders: 1 })
    const objects = await t.app.db.rows(
      'SELECT b.id FROM blobs b JOIN bucket k ON k.id = b.bucket_id WHERE k.user_id = ?',
      [alice.userId],
    )
    expect(objects).toHaveLength(1)
  })

  it('of several blocks each return 200 once as well', async () => {
    const bytes = randomBytes(BLOCK + 1)
    const answers = await many(6, () => alice.upload('same/large', bytes))
    expect(tally(answers)).toEqual({ 200: 1, '409 PATH_EXISTS': 5 })
    expect(await usageOf(alice)).toEqual({ bytes: BLOCK + 1, files: 1, folders: 1 })
  })

  it('and 10 folders of that name leave one of them', async () => {
    const [files, folders] = await Promise.all([
      many(10, n => alice.upload('either', `file ${n}`)),
      many(10, () => folderAt('either')),
    ])
    expect(tally([...files, ...folders])).toEqual({ 200: 1, '409 PATH_EXISTS': 19 })
    expect(await pathsOf(alice)).toHaveLength(1)
  })
})

describe('40 concurrent uploads at the edge of the quota', () => {
  it.each([1, 1000, 64 * 1024, 65_537])(
    'of %d bytes: as many succeed as fit, to the byte',
    async size => {
      await t.limit({ maxTotalStorageBytes: 17 * size + size - 1 })
      const answers = await many(40, n => alice.upload(`f${n}`, Buffer.alloc(size, n)))
      expect(tally(answers)).toEqual({ 200: 17, '400 QUOTA_EXCEEDED': 23 })
      expect(await usageOf(alice)).toEqual({ bytes: 17 * size, files: 17, folders: 0 })
      const refusal = answers.find(({ status }) => status === 400)?.response
      expect(refusal).toMatchObject({ limit: 'max_total_storage_bytes', max: 18 * size - 1 })
    },
  )

  it('of all sizes never exceed it by a byte, and use the remaining space to the last one', async () => {
    const max = 100_000
    await t.limit({ maxTotalStorageBytes: max })
    const sizes = Array.from({ length: 40 }, (_, n) => 1 + ((n * 7919) % 9973))
    const answers = await many(40, n => alice.upload(`f${n}`, Buffer.alloc(sizes[n] ?? 0, 1)))
    const taken = sizes.reduce((sum, size, n) => sum + (answers[n]?.status === 200 ? size : 0), 0)
    expect(await usageOf(alice)).toMatchObject({ bytes: taken })
    expect(taken).toBeLessThanOrEqual(max)
    expect((await alice.upload('too-much', Buffer.alloc(max - taken + 1))).response.code).toBe(
      'QUOTA_EXCEEDED',
    )
    expect((await alice.upload('just-right', Buffer.alloc(max - taken))).status).toBe(200)
    expect(await usageOf(alice)).toMatchObject({ bytes: max })
    expect((await alice.upload('one', 'x')).response.code).toBe('QUOTA_EXCEEDED')
    expect((await alice.upload('none', '')).status).toBe(200)
  })

  it('of several blocks never exceed it by a byte', async () => {
    const size = BLOCK + 100_000
    await t.limit({ maxTotalStorageBytes: 5 * size + 1000 })
    const answers = await many(12, n => alice.upload(`large${n}`, Buffer.alloc(size, n)))
    const counts = tally(answers)
    // An upload that has sent its first block when it reaches the limit may have displaced another.
    expect(counts['200']).toBeGreaterThanOrEqual(4)
    expect(counts).toEqual({ 200: counts['200'], '400 QUOTA_EXCEEDED': 12 - (counts['200'] ?? 0) })
    const { bytes } = await usageOf(alice)
    expect(bytes).toBe((counts['200'] ?? 0) * size)
    expect(bytes).toBeLessThanOrEqual(5 * size)
    // The reservations of the other uploads are released.
    for (let n = counts['200'] ?? 0; n < 5; n++)
      expect((await alice.upload(`later${n}`, Buffer.alloc(size))).status).toBe(200)
    expect((await alice.upload('over', Buffer.alloc(1001))).response.code).toBe('QUOTA_EXCEEDED')
    expect((await alice.upload('fits', Buffer.alloc(1000))).status).toBe(200)
  })

  it('of the file count succeed exactly up to the limit', async () => {
    await t.limit({ maxFiles: 13 })
    const answers = await many(40, n => alice.upload(`in/a/folder/f${n}`, 'x'))
    expect(tally(answers)).toEqual({ 200: 13, '400 QUOTA_EXCEEDED': 27 })
    expect(answers.find(({ status }) => status === 400)?.response).toMatchObject({
      limit: 'max_files',
      max: 13,
    })
    expect(await usageOf(alice)).toEqual({ bytes: 13, files: 13, folders: 3 })
  })

  it('while other requests free space, never exceed it and never lose any', async () => {
    await t.limit({ maxTotalStorageBytes: 10_000 })
    await many(10, n => alice.upload(`old${n}`, Buffer.alloc(1000)))
    const [answers, gone] = await Promise.all([
      many(20, n => alice.upload(`new${n}`, Buffer.alloc(1000))),
      many(10, n => alice.rest('DELETE', `/api/files/delete?file=old${n}`)),
    ])
    expect(tally(gone)).toEqual({ 200: 10 })
    const made = tally(answers)['200'] ?? 0
    expect(made).toBeLessThanOrEqual(10)
    expect(await usageOf(alice)).toMatchObject({ bytes: made * 1000, files: made })
    const later = await many(20, n => alice.upload(`more${n}`, Buffer.alloc(1000)))
    expect(tally(later)['200'] ?? 0).toBe(10 - made)
  })
})

describe('Folders', () => {
  const rounds = [0, 1, 2, 3, 4, 5]

  it.each(rounds)(
    'that are moved and deleted at once are either moved or deleted (%d)',
    async () => {
      await many(5, n => alice.upload(`from/sub/f${n}`, 'x'))
      const [moved, gone] = await Promise.all([
        moveFolder('from/sub', 'to/there'),
        deleteFolder('from'),
      ])
      expect(gone.status).toBe(200)
      const paths = await pathsOf(alice)
      if (moved.status === 200) {
        expect(gone.response.files_deleted).toBe(0)
        expect(paths).toEqual(['to/', 'to/there/', ...[0, 1, 2, 3, 4].map(n => `to/there/f${n}`)])
      } else {
        expect([moved.status, moved.response.code]).toEqual([400, 'FOLDER_NOT_FOUND'])
        expect(gone.response.files_deleted).toBe(5)
        expect(paths).toEqual([])
      }
    },
  )

  it.each(rounds)('that are moved into each other end in one tree (%d)', async () => {
    await alice.upload('one/file-1', '1')
    await alice.upload('two/file-2', '22')
    const answers = await Promise.all([moveFolder('one', 'two/one'), moveFolder('two', 'one/two')])
    // The second request may recreate the missing folder: a path is a place, not an identity.
    expect(tally(answers)['200']).toBeGreaterThanOrEqual(1)
    const paths = await pathsOf(alice)
    expect(paths.filter(p => p.endsWith('file-1'))).toHaveLength(1)
    expect(paths.filter(p => p.endsWith('file-2'))).toHaveLength(1)
    expect(await usageOf(alice)).toMatchObject({ bytes: 3, files: 2 })
  })

  it('keep all files that move between them in all directions', async () => {
    await many(6, n => alice.upload(`d${n}/f${n}`, `${n}`))
    const answers = await many(36, n =>
      n % 6 === Math.floor(n / 6)
        ? moveFile(`d${n % 6}/f${n % 6}`, `d${(n + 1) % 6}/moved-${n % 6}`)
        : moveFolder(`d${n % 6}`, `d${Math.floor(n / 6)}/d${n % 6}`),
    )
    expect(answers.filter(({ status }) => ![200, 400].includes(status))).toEqual([])
    expect((await pathsOf(alice)).filter(p => !p.endsWith('/'))).toHaveLength(6)
    expect(await usageOf(alice)).toMatchObject({ bytes: 6, files: 6 })
  })

  it('created 30 times at once at the same deep path are created once', async () => {
    const path = Array.from({ length: 12 }, (_, n) => `level-${n}`).join('/')
    expect(tally(await many(30, () => folderAt(path)))).toEqual({ 200: 1, '409 PATH_EXISTS': 29 })
    expect(await usageOf(alice)).toEqual({ bytes: 0, files: 0, folders: 12 })
  })

  it('created at once along one path have no duplicates', async () => {
    const names = Array.from({ length: 12 }, (_, n) => `n${n}`)
    await many(12, n => folderAt(names.slice(0, 12 - n).join('/')))
    await many(12, n => alice.upload(`${names.join('/')}/f${n}`, 'x'))
    expect(await usageOf(alice)).toEqual({ bytes: 12, files: 12, folders: 12 })
  })

  it('moved 20 times at once to one place arrive once', async () => {
    await many(20, n => alice.upload(`from-${n}/f`, 'x'))
    const answers = await many(20, n => moveFolder(`from-${n}`, 'place/here'))
    expect(tally(answers)).toEqual({ 200: 1, '400 PATH_EXISTS': 19 })
    expect(await usageOf(alice)).toEqual({ bytes: 20, files: 20, folders: 21 })
  })

  it('deleted during uploads into them are either gone or recreated, with consistent counts', async () => {
    for (let round = 0; round < 5; round++) {
      await alice.upload('target/old', 'old')
      const [uploads, gone] = await Promise.all([
        many(8, n => alice.upload(`target/sub/f${n}`, 'new')),
        deleteFolder('target'),
      ])
      expect(gone.status).toBe(200)
      expect(tally(uploads)).toEqual({ 200: 8 })
      const left = await pathsOf(alice, 'target')
      expect(left.filter(p => p.includes('/f')).length).toBe(8 + 1 - gone.response.files_deleted)
      expect(left).not.toContain('target/old')
      await deleteFolder('target')
    }
    expect(await usageOf(alice)).toEqual({ bytes: 0, files: 0, folders: 0 })
  })

  it('deleted during a large upload into them are recreated by the upload', async () => {
    await folderAt('target')
    const bytes = randomBytes(3 * BLOCK)
    const body = form([file('large', bytes)])
    const part =
      '--the-boundary\r\nContent-Disposition: form-data; name="folder"\r\n\r\ntarget/sub\r\n'
    const wire = await openWire(t.url)
    const length = body.length + part.length
    await wire.send(
      head(alice, 'POST /api/files/upload', {
        'content-type': formType,
        'content-length': length,
      }) + part,
    )
    await wire.send(body.subarray(0, 2 * BLOCK))
    const gone = await deleteFolder('target')
    expect([gone.status, gone.response.files_deleted]).toEqual([200, 0])
    await wire.send(body.subarray(2 * BLOCK))
    expect((await wire.answer())?.status).toBe(200)
    wire.socket.destroy()
    expect(await pathsOf(alice)).toEqual(['target/', 'target/sub/', 'target/sub/large'])
  })
})

describe('An upload whose lease expired while it was running', () => {
  it('returns 503 and leaves nothing of its data', async () => {
    const body = form([file('late', randomBytes(3 * BLOCK))])
    const wire = await openWire(t.url)
    await wire.send(
      head(alice, 'POST /api/files/upload', {
        'content-type': formType,
        'content-length': body.length,
      }),
    )
    await wire.send(body.subarray(0, 2 * BLOCK))
    const staged =
      "FROM blobs b JOIN bucket k ON k.id = b.bucket_id WHERE b.state = 'staged' AND k.user_id = ?"
    let id: string | undefined
    while (id === undefined)
      id = (await t.app.db.rows<{ id: string }>(`SELECT b.id ${staged}`, [alice.userId]))[0]?.id
    await t.app.db.run('UPDATE blobs SET lease_until = 0 WHERE id = ?', [id])
    await t.settle()
    expect(await t.app.db.rows('SELECT id FROM blobs WHERE id = ?', [id])).toEqual([])
    await wire.send(body.subarray(2 * BLOCK))
    const answer = await wire.answer()
    wire.socket.destroy()
    expect([answer?.status, answer?.response.code]).toEqual([503, 'UNAVAILABLE'])
    await expectConsistent(t)
    expect(await t.app.store.look(id)).toBeNull()
    expect(await pathsOf(alice)).toEqual([])
  })
})

describe('Files', () => {
  it('deleted by overlapping batches are deleted once each', async () => {
    const names = Array.from({ length: 30 }, (_, n) => `batch/${n % 3}/f${n}`)
    await many(30, n => alice.upload(names[n] ?? '', 'xx'))
    const answers = await many(6, n =>
      alice.rest('DELETE', '/api/files/delete/batch', {
        json: { files: names.slice(n * 3, n * 3 + 15) },
      }),
    )
    expect(tally(answers)).toEqual({ 200: 6 })
    const deleted: string[] = answers.flatMap(({ response }) => response.files_deleted)
    expect(deleted.sort()).toEqual(names.slice(0, 30).sort())
    expect(await usageOf(alice)).toEqual({ bytes: 0, files: 0, folders: 4 })
  })

  it('deleted 20 times at once are deleted once', async () => {
    await alice.upload('once.txt', 'once')
    const answers = await many(20, () => alice.rest('DELETE', '/api/files/delete?file=once.txt'))
    expect(tally(answers)).toEqual({ 200: 1, '404 FILE_NOT_FOUND': 19 })
    expect(await usageOf(alice)).toEqual({ bytes: 0, files: 0, folders: 0 })
  })

  it('moved and deleted at once are either moved or deleted', async () => {
    await many(10, n => alice.upload(`f${n}`, 'x'))
    const [moved, gone] = await Promise.all([
      many(10, n => moveFile(`f${n}`, `moved/f${n}`)),
      many(10, n => alice.rest('DELETE', `/api/files/delete?file=f${n}`)),
    ])
    for (const [n, answer] of moved.entries())
      expect([answer.status, gone[n]?.status].sort()).toEqual([
        200,
        answer.status === 200 ? 404 : 400,
      ])
    expect(await usageOf(alice)).toMatchObject({ files: tally(moved)['200'] ?? 0 })
  })

  it('moved 20 times at once from one path leave it once', async () => {
    await alice.upload('wanted', 'x')
    const answers = await many(20, n => moveFile('wanted', `taken-${n}`))
    expect(tally(answers)).toEqual({ 200: 1, '400 FILE_NOT_FOUND': 19 })
  })

  it('uploaded again during a deletion either exist or not, with consistent counts', async () => {
    await alice.upload('again', 'old')
    const [uploads, gone] = await Promise.all([
      many(10, () => alice.upload('again', 'new')),
      many(10, () => alice.rest('DELETE', '/api/files/delete?file=again')),
    ])
    const there = 1 + (tally(uploads)['200'] ?? 0) - (tally(gone)['200'] ?? 0)
    expect([0, 1]).toContain(there)
    expect(await usageOf(alice)).toEqual({ bytes: 3 * there, files: there, folders: 0 })
  })
})

describe('A share with max_downloads', () => {
  it('1 is downloaded once by 50 concurrent requests', async () => {
    await alice.upload('rare.txt', 'rare')
    const json = { object: 'rare.txt', max_downloads: 1 }
    const { response } = await alice.rest('POST', '/api/files/quick_share', { json })
    const answers = await many(50, () => rest(t.url, 'GET', `/api/d/${response.sharing_token}`))
    expect(tally(answers)).toEqual({ 302: 1, '403 SHARE_USED_UP': 49 })
    const rows = await t.app.db.rows('SELECT downloads FROM share WHERE user_id = ?', [
      alice.userId,
    ])
    expect(rows).toEqual([{ downloads: 1 }])
    const [won] = answers.filter(({ status }) => status === 302)
    expect(await (await fetch(won?.headers.get('location') ?? '')).text()).toBe('rare')
  })

  it('7 is downloaded seven times, over all routes together', async () => {
    await alice.upload('rare.txt', 'rare')
    const json = { object: 'rare.txt', max_downloads: 7 }
    const { response } = await alice.rest('POST', '/api/files/quick_share', { json })
    const answers = await many(40, n =>
      n % 2
        ? rest(t.url, 'GET', `/api/d/${response.sharing_token}`)
        : rest(t.url, 'POST', `/api/share/resolve/${response.sharing_token}`, { json: {} }),
    )
    const { 200: resolved = 0, 302: redirected = 0, '403 SHARE_USED_UP': refused } = tally(answers)
    expect([resolved + redirected, refused]).toEqual([7, 33])
    const rows = await t.app.db.rows('SELECT downloads FROM share WHERE max_downloads = 7')
    expect(rows).toEqual([{ downloads: 7 }])
  })
})

describe('Notes', () => {
  it('written 30 times at once keep one of the texts', async () => {
    const { response } = await alice.upload('noted.txt', 'noted')
    const at = `/api/files/${response.file.md5_checksum}/note`
    for (let round = 0; round < 3; round++) {
      const answers = await many(30, n => alice.rest('PUT', at, { json: { content: `note ${n}` } }))
      expect(tally(answers)).toEqual({ 200: 30 })
      expect((await alice.rest('GET', at)).response.content).toMatch(/^note \d+$/)
      expect(tally(await many(10, () => alice.rest('PUT', at, { json: { content: '' } })))).toEqual(
        { 200: 10 },
      )
      expect((await alice.rest('GET', at)).response.content).toBe('')
    }
  })

  it('written and removed at once either exist or not', async () => {
    const { response } = await alice.upload('noted.txt', 'noted')
    const at = `/api/files/${response.file.md5_checksum}/note`
    const answers = await many(30, n =>
      alice.rest('PUT', at, { json: { content: n % 2 ? `note ${n}` : '' } }),
    )
    expect(tally(answers)).toEqual({ 200: 30 })
  })
})
