import { createHash, randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { found, join, put } from '../support/builders.ts'
import { expectConsistent, outlive } from '../support/consistency.ts'
import { randomFrom } from '../support/fuzz.ts'
import { type Person, startApp, type TestApp } from '../support/harness.ts'
import { faces, graphqlUploader, restUploader, type Uploader } from '../support/uploader.ts'

const PART = 1024
const MAX = 40 * PART

let t: TestApp

beforeAll(async () => {
  t = await startApp({ UPLOAD_PART_BYTES: String(PART) })
  await t.limit({
    maxTotalStorageBytes: MAX,
    maxTotalStorageBytesWorkspace: MAX,
    maxFiles: 1000,
    maxFilesWorkspace: 1000,
  })
})
afterAll(async () => {
  await outlive(t)
  await expectConsistent(t)
  await t.stop()
})

let people = 0
async function somebody() {
  const who = await t.signIn(`person${++people}`)
  return { who, workspace: await found(who) }
}

interface Room {
  usedBytes: number
  usedFiles: number
  reservedBytes: number
  reservedFiles: number
}

/** Used and reserved bytes of a storage area. */
async function room(who: Person, workspace: string | null): Promise<Room> {
  const [row] = await t.app.db.rows<Room>(
    `SELECT used_bytes AS usedBytes, used_files AS usedFiles, reserved_bytes AS reservedBytes, reserved_files AS reservedFiles
     FROM bucket WHERE ${workspace ? 'workspace_id' : 'user_id'} = ?`,
    [workspace ?? who.userId],
  )
  if (!row) throw new Error('There is no such storage area.')
  return row
}

let files = 0
const start = (up: Uploader, size: number, more: object = {}) =>
  up.start({ filename: `file-${++files}`, size, ...more })

const send = async (up: Uploader, id: string, bytes: Buffer) => {
  for (let n = 1; (n - 1) * PART < bytes.length; n++)
    await up.part(id, n, { bytes: bytes.subarray((n - 1) * PART, n * PART) })
}

describe.each(faces)('The quota reservation of an upload, $face', ({ by, front }) => {
  /** A new person, and the storage area under test. */
  async function begin() {
    const { who, workspace } = await somebody()
    return {
      who,
      workspace,
      up: by(who, workspace),
      there: () => room(who, front ? workspace : null),
    }
  }

  it('is exact when many uploads start at once near the limit', async () => {
    const { up, there } = await begin()
    const random = randomFrom(7)
    const sizes = Array.from({ length: 60 }, () => Math.floor(random() * 3 * PART))
    const answers = await Promise.all(
      sizes.map((size, n) => start(up, size, { direct: n % 3 === 0 })),
    )
    const sum = (all: number[]) => all.reduce((a, b) => a + b, 0)
    const taken = sizes.filter((_, n) => !answers[n]?.code)
    const refused = sizes.filter((_, n) => answers[n]?.code)
    expect(answers.flatMap(({ code }) => code ?? [])).toEqual(refused.map(() => 'QUOTA_EXCEEDED'))
    expect(await there()).toEqual({
      usedBytes: 0,
      usedFiles: 0,
      reservedBytes: sum(taken),
      reservedFiles: taken.length,
    })
    // A refused upload would have exceeded the limit.
    expect(sum(taken)).toBeLessThanOrEqual(MAX)
    expect(sum(taken) + Math.min(...refused)).toBeGreaterThan(MAX)
    const left = MAX - sum(taken)
    expect((await start(up, left + 1)).code).toBe('QUOTA_EXCEEDED')
    expect((await start(up, left)).code).toBeUndefined()
    expect((await there()).reservedBytes).toBe(MAX)
  })

  it('is exact next to small uploads', async () => {
    const { who, workspace, up, there } = await begin()
    const whole = (n: number) =>
      front
        ? put(who, workspace, `whole-${n}`, randomBytes(PART))
        : who.upload(`whole-${n}`, randomBytes(PART))
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, n) => (n % 2 ? whole(n) : start(up, PART))),
    )
    const codes = answers.map(
      answer => ('response' in answer ? answer.response.code : answer.code) ?? 'done',
    )
    expect(codes.filter(code => code === 'done')).toHaveLength(40)
    expect(codes.filter(code => code === 'QUOTA_EXCEEDED')).toHaveLength(20)
    const { usedBytes, reservedBytes } = await there()
    expect(usedBytes + reservedBytes).toBe(MAX)
    await expectConsistent(t)
  })

  it('is released exactly once, whatever releases it', async () => {
    const { up, there } = await begin()
    const { value: kept } = await start(up, 5)
    for (const direct of [false, true]) {
      const { value } = await start(up, MAX - 5, { direct })
      await up.part(value.upload_id, 1, { bytes: randomBytes(PART) })
      const expire = async () => {
        await t.app.db.run('UPDATE blobs SET lease_until = 1 WHERE id = ?', [value.upload_id])
        await t.app.sweeper.run()
        return { code: 'UPLOAD_NOT_FOUND' }
      }
      const ends = await Promise.all([
        ...Array.from({ length: 5 }, () => up.abort(value.upload_id)),
        expire(),
      ])
      expect(ends.filter(({ code }) => code === undefined).length).toBeLessThanOrEqual(1)
      expect(await there()).toEqual({
        usedBytes: 0,
        usedFiles: 0,
        reservedBytes: 5,
        reservedFiles: 1,
      })
    }
    expect((await up.look(kept.upload_id)).value.size).toBe(5)
  })

  it('becomes usage, to the byte, when the file is created', async () => {
    const { up, there } = await begin()
    const bytes = randomBytes(2 * PART + 3)
    const ids: string[] = []
    for (let n = 0; n < 6; n++) {
      const { value } = await start(up, bytes.length, { direct: n % 2 === 0 })
      await send(up, value.upload_id, bytes)
      ids.push(value.upload_id)
    }
    await Promise.all(ids.map(id => up.complete(id)))
    expect(await there()).toEqual({
      usedBytes: 6 * bytes.length,
      usedFiles: 6,
      reservedBytes: 0,
      reservedFiles: 0,
    })
    await expectConsistent(t)
  })

  it('only reduces the free space, and the file appears when complete', async () => {
    const { who, workspace, up } = await begin()
    const shown = async () => {
      const paths = [
        '/api/user/stats',
        '/api/user/data',
        '/api/user/bucket',
        '/api/files/tree',
        '/api/folders',
      ]
      const at = `/api/workspaces/${workspace}`
      const all = [...paths, '/api/workspaces/list', `${at}/quota`, `${at}/files/tree`]
      return Promise.all(all.map(async path => [path, (await who.rest('GET', path)).response]))
    }
    const before = await shown()
    const bytes = randomBytes(PART + 1)
    const { value } = await start(up, bytes.length, { folder: 'new' })
    await send(up, value.upload_id, bytes)
    expect(await shown()).toEqual(before)
    await up.complete(value.upload_id)
    const quota = await who.rest('GET', `/api/workspaces/${workspace}/quota`)
    const { bucket_data } = (await who.rest('GET', '/api/user/bucket')).response
    expect([quota.response.total_bytes, bucket_data.used_bytes]).toEqual(
      front ? [PART + 1, 0] : [0, PART + 1],
    )
    const { response: stats } = await who.rest('GET', '/api/user/stats')
    expect([stats.total_files, stats.files_today]).toEqual(front ? [0, 0] : [1, 1])
  })
})

describe('A subscriber of storage usage', () => {
  it('is notified of a multipart upload only when its file is created', async () => {
    const { who } = await somebody()
    const up = restUploader(who)
    const watch = await who.subscribe(
      'subscription { driveChanged { usage { usedBytes fileCount } } }',
    )
    const given = await start(up, 7)
    await up.part(given.value.upload_id, 1, { bytes: randomBytes(7) })
    await up.abort(given.value.upload_id)
    const bytes = randomBytes(7)
    const { value } = await start(up, 7)
    await up.part(value.upload_id, 1, { bytes })
    const wrong = createHash('md5').update('else').digest('hex')
    expect((await up.complete(value.upload_id, { md5: wrong })).code).toBe('CHECKSUM_MISMATCH')
    await up.complete(value.upload_id)
    expect((await watch.next()).data.driveChanged.usage).toEqual({ usedBytes: 7, fileCount: 1 })
    expect(watch.messages).toHaveLength(1)
    watch.close()
  })
})

describe('The members of a workspace', () => {
  it('share its quota, and each sees only their own uploads', async () => {
    const { who: alice, workspace } = await somebody()
    const { who: bob } = await somebody()
    await join(t, workspace, bob, 'editor')
    const [hers, his] = [restUploader(alice, workspace), graphqlUploader(bob, workspace)]
    const { value } = await start(hers, MAX - 1)
    expect((await start(his, 2)).code).toBe('QUOTA_EXCEEDED')
    expect((await his.abort(value.upload_id)).code).toBe('UPLOAD_NOT_FOUND')
    expect((await start(his, 1)).code).toBeUndefined()
    expect(await room(bob, workspace)).toMatchObject({ reservedBytes: MAX, reservedFiles: 2 })
  })
})
