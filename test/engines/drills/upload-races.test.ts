import { createHash, randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { Unavailable } from '../../../src/runtime/errors.ts'
import { found } from '../../support/builders.ts'
import { expectConsistent, outlive, quiet } from '../../support/consistency.ts'
import { type Person, startApp, type TestApp } from '../../support/harness.ts'
import { stagePart } from '../../support/stage-part.ts'
import { gateOf, type StoreGate, type StoreRequest } from '../../support/store-gate.ts'
import { until } from '../../support/until.ts'
import { restUploader, type Said, type Uploader } from '../../support/uploader.ts'
import { head, openWire } from '../../support/wire.ts'

declare const storeUnderTest: 'disk' | 'azure' | 's3'

const PART = 1024
const bytes = randomBytes(2 * PART + 7)
const md5 = createHash('md5').update(bytes).digest('hex')
const partOf = (n: number) => bytes.subarray((n - 1) * PART, n * PART)

let t: TestApp
let gate: StoreGate
let people = 0

beforeAll(async () => {
  // Tests block the store of one worker.
  t = await startApp({
    TRASH_DAYS: '0',
    UPLOAD_PART_BYTES: String(PART),
    LEASE_SECONDS: '2',
    WORKERS: '1',
  })
  gate = gateOf(t.app.store)
})
beforeEach(() => {
  gate.interfere = () => {}
})
afterAll(async () => {
  await t.stop()
})

/** Blocks the first request of a kind before it reaches the store. */
function hold(kind: StoreRequest): { reached: Promise<void>; release(): void } {
  let reach = () => {}
  let release = () => {}
  const reached = new Promise<void>(resolve => {
    reach = resolve
  })
  const released = new Promise<void>(resolve => {
    release = resolve
  })
  let held = false
  gate.interfere = async asked => {
    if (held || asked !== kind) return
    held = true
    reach()
    await released
  }
  return { reached, release }
}

interface Begun {
  alice: Person
  workspace: string
  up: Uploader
  id: string
}

/** A new person with a workspace, and an upload into it whose parts have all arrived. */
async function begun({ direct = false, own = true } = {}): Promise<Begun> {
  const alice = await t.signIn(`alice${++people}`)
  const workspace = await found(alice)
  const up = restUploader(alice, own ? undefined : workspace)
  const { value } = await up.start({ filename: 'a.bin', size: bytes.length, direct })
  for (const n of [1, 2, 3]) await up.part(value.upload_id, n, { bytes: partOf(n) })
  return { alice, workspace, up, id: value.upload_id }
}

const downloaded = async (id: string) => Buffer.concat(await (await t.app.store.open(id)).toArray())

const fileOf = async ({ alice }: Begun) => {
  const [file] = (await alice.rest('GET', '/api/files/tree')).response.files
  const [row] = await t.app.db.rows<{ blobId: string }>(
    'SELECT blob_id AS blobId FROM entry WHERE id = ?',
    [file?.id],
  )
  return row?.blobId ?? ''
}

const filesThere = async () =>
  (await t.app.db.rows('SELECT id FROM entry WHERE blob_id IS NOT NULL')).length

async function expectNothingLeft(): Promise<void> {
  await expectConsistent(t)
  await outlive(t)
  await expectConsistent(t)
  expect(await t.app.db.rows("SELECT id FROM blobs WHERE state <> 'live'")).toEqual([])
}

describe.each([true, false])('A completion, direct: %s', direct => {
  // Bytes that clients can write without the service are copied.
  const copies = direct && storeUnderTest !== 'disk'
  // Disk and S3 know the checksums of joined parts, but not of a copy.
  const reads: StoreRequest[] = storeUnderTest === 'azure' || copies ? ['read'] : []
  const steps: StoreRequest[] = [
    'parts',
    'commit',
    ...(copies ? (['copy', 'look'] as const) : []),
    ...reads,
    'describe',
  ]

  const ends: [string, boolean, (upload: Begun) => Promise<unknown>][] = [
    ['its upload is given up', true, ({ up, id }) => up.abort(id)],
    [
      'its upload expires',
      true,
      async ({ id }) => {
        // The completion renews its lease from time to time, and the sweeper has to run between two
        // renewals.
        do {
          await t.app.db.run('UPDATE blobs SET lease_until = 0 WHERE id = ?', [id])
          await t.app.sweeper.run()
        } while (
          (await t.app.db.rows('SELECT id FROM upload_session WHERE id = ?', [id])).length > 0
        )
      },
    ],
    [
      'the workspace is deleted',
      false,
      ({ alice, workspace }) =>
        alice.rest('DELETE', `/api/workspaces/delete?workspace_id=${workspace}`),
    ],
    [
      'the account is deleted',
      true,
      ({ alice }) =>
        alice.rest('DELETE', '/api/user/account/delete', { json: { delete_user_data: true } }),
    ],
    [
      'the account is deleted, and its files wait',
      true,
      ({ alice }) =>
        alice.rest('DELETE', '/api/user/account/delete', { json: { delete_user_data: false } }),
    ],
  ]

  it.each(ends)(
    'creates no file, and leaves nothing, when %s meanwhile',
    async (_what, own, end) => {
      const [files, said] = [await filesThere(), t.logs().length]
      for (const step of steps) {
        const upload = await begun({ direct, own })
        const { reached, release } = hold(step)
        const completing = upload.up.complete(upload.id)
        await reached
        await end(upload)
        await t.settle()
        release()
        const { status, code } = await completing
        expect([
          step,
          status,
          ['UPLOAD_NOT_FOUND', 'FOLDER_NOT_FOUND'].includes(code ?? ''),
        ]).toEqual([step, 404, true])
      }
      expect(await filesThere()).toBe(files)
      await expectNothingLeft()
      expect(
        t
          .logs()
          .slice(said)
          .match(/.*"level":50.*/g),
      ).toBeNull()
    },
  )

  it('returns 503 when the store fails, and succeeds after the store recovers', async () => {
    for (const step of copies ? ['copy'] : ['commit', ...reads]) {
      const upload = await begun({ direct })
      let dead = false
      gate.interfere = asked => {
        dead ||= asked === step
        if (dead) throw new Unavailable('blob store')
      }
      expect([step, await upload.up.complete(upload.id)]).toMatchObject([
        step,
        { status: 503, code: 'UNAVAILABLE' },
      ])
      gate.interfere = () => {}
      expect(await upload.up.complete(upload.id, { md5 })).toMatchObject({ status: 200 })
      expect(bytes.equals(await downloaded(await fileOf(upload)))).toBe(true)
    }
    await expectNothingLeft()
  })

  it('excludes other completions, and keeps its lease as long as it runs', async () => {
    const upload = await begun({ direct })
    const { reached, release } = hold('describe')
    const completing = upload.up.complete(upload.id)
    await reached
    await t.app.db.run('UPDATE blobs SET lease_until = ? WHERE id = ?', [
      Date.now() + 1000,
      upload.id,
    ])
    expect(await upload.up.complete(upload.id)).toMatchObject({ status: 409, code: 'UPLOAD_BUSY' })
    expect(await upload.up.part(upload.id, 1, { bytes: partOf(1) })).toMatchObject({
      status: 409,
      code: 'UPLOAD_BUSY',
    })
    expect((await upload.up.look(upload.id)).value.received).toEqual([1, 2, 3])
    await until(async () => {
      const [row] = await t.app.db.rows<{ lease: number; claim: number }>(
        'SELECT b.lease_until AS lease, s.claim_until AS claim FROM blobs b JOIN upload_session s ON s.id = b.id WHERE s.id = ?',
        [upload.id],
      )
      return row && row.lease > Date.now() + 60_000 && row.claim > Date.now() + 1000
    })
    release()
    expect((await completing).status).toBe(200)
    await expectNothingLeft()
  })

  it('continues when its caller disconnects', async () => {
    const upload = await begun({ direct })
    const { reached, release } = hold('describe')
    const wire = await openWire(t.url)
    const type = { 'content-type': 'application/json', 'content-length': 2 }
    await wire.send(
      `${head(upload.alice, `POST /api/files/uploads/${upload.id}/complete`, type)}{}`,
    )
    await reached
    wire.cut()
    release()
    await quiet(t)
    expect(bytes.equals(await downloaded(await fileOf(upload)))).toBe(true)
    await expectNothingLeft()
  })

  it('that was presumed dead yields to its successor', async () => {
    for (const step of steps) {
      const upload = await begun({ direct })
      const { reached, release } = hold(step)
      const slow = upload.up.complete(upload.id, { filename: 'slow.bin' })
      await reached
      await t.app.db.run('UPDATE upload_session SET claim_until = 0 WHERE id = ?', [upload.id])
      const commits: string[] = []
      const waiting = gate.interfere
      gate.interfere = (asked, key) => {
        if (asked === 'commit') commits.push(key)
        return waiting(asked, key)
      }
      expect(await upload.up.complete(upload.id, { filename: 'quick.bin' })).toMatchObject({
        status: 200,
      })
      const before = commits.length
      release()
      expect([step, await slow]).toMatchObject([step, { status: 404, code: 'UPLOAD_NOT_FOUND' }])
      // The blob may already belong to a file.
      expect([step, commits.length]).toEqual([step, before])
      expect(bytes.equals(await downloaded(await fileOf(upload)))).toBe(true)
    }
    await expectNothingLeft()
  })
})

describe('The claim of a request that died', () => {
  it('blocks other completions until it expires, and never blocks an abort', async () => {
    const [one, other] = [await begun(), await begun()]
    const end = Date.now() + 1000
    await t.app.db.run("UPDATE upload_session SET claim = 'x', claim_until = ?", [end])
    expect((await one.up.complete(one.id)).code).toBe('UPLOAD_BUSY')
    expect((await one.up.part(one.id, 1, { bytes: partOf(1) })).code).toBe('UPLOAD_BUSY')
    expect((await other.up.abort(other.id)).status).toBe(200)
    await sleep(end - Date.now())
    expect(await one.up.complete(one.id)).toMatchObject({ status: 200 })
    await expectNothingLeft()
  })
})

it('Completing an aborted and swept upload of an empty file leaves nothing', async () => {
  const alice = await t.signIn(`alice${++people}`)
  const up = restUploader(alice)
  const { upload_id: id } = (await up.start({ filename: 'empty', size: 0 })).value
  const { reached, release } = hold('commit')
  const completing = up.complete(id)
  await reached
  await up.abort(id)
  await t.settle()
  release()
  expect(await completing).toMatchObject({ status: 404, code: 'UPLOAD_NOT_FOUND' })
  await expectNothingLeft()
})

const onCopies = storeUnderTest === 'disk' ? it.skip : it
onCopies(
  'A copy that arrives after it was taken for dead, and was swept, leaves nothing',
  async () => {
    const upload = await begun({ direct: true })
    const { reached, release } = hold('copy')
    const completing = upload.up.complete(upload.id)
    await reached
    // Simulates an instance that was paused, and did not renew its heartbeat.
    do {
      await t.app.db.run("UPDATE blobs SET lease_until = 0 WHERE state = 'copied'")
      await t.app.sweeper.run()
    } while ((await t.app.db.rows("SELECT id FROM blobs WHERE state = 'copied'")).length > 0)
    release()
    expect((await completing).status).toBeGreaterThanOrEqual(400)
    await t.settle()
    await expectConsistent(t)
    await upload.up.abort(upload.id)
    await expectNothingLeft()
  },
)

describe('A slow part that arrives through the service', () => {
  it('never reaches the store when its upload has become a file', async () => {
    const { alice, up, id } = await begun()
    const part = partOf(1)
    const parts: string[] = []
    let send = (_rest: Uint8Array) => {}
    const body = new ReadableStream({
      start(control) {
        control.enqueue(part.subarray(0, 1))
        send = rest => {
          control.enqueue(rest)
          control.close()
        }
      },
    })
    t.statements()
    const answer = alice.rest('PUT', `/api/files/uploads/${id}/parts/1`, { body })
    await until(() => t.statements().some(sql => sql.includes('upload_session')))
    expect(await up.complete(id, { md5 })).toMatchObject({ status: 200 })
    gate.interfere = asked => void parts.push(asked)
    await sleep(1100)
    send(part.subarray(1))
    expect(await answer).toMatchObject({ status: 404, response: { code: 'UPLOAD_NOT_FOUND' } })
    expect(parts).not.toContain('part')
  })
})

describe('A slow part that the store is writing', () => {
  /** Sends other bytes for the first part. They wait before the store until they are released. */
  async function late(upload: Begun): Promise<{ release(): void; answer: Promise<Said> }> {
    const { reached, release } = hold('part')
    const answer = upload.up.part(upload.id, 1, { bytes: randomBytes(PART) })
    await reached
    return { release, answer }
  }

  it('changes nothing when the file was created in the meantime', async () => {
    const upload = await begun()
    const { release, answer } = await late(upload)
    expect(await upload.up.complete(upload.id, { md5 })).toMatchObject({ status: 200 })
    release()
    expect(await answer).toMatchObject({ status: 404, code: 'UPLOAD_NOT_FOUND' })
    expect(bytes.equals(await downloaded(upload.id))).toBe(true)
    await expectConsistent(t)
    await upload.alice.rest('DELETE', '/api/files/delete?file=a.bin')
    await expectNothingLeft()
    // None of its bytes reappear under the same key, although Azurite keeps blocks for ever.
    if (storeUnderTest === 'azure') return
    await stagePart(t.app.store, upload.id, 7, randomBytes(5))
    expect([...(await t.app.store.partsOf(upload.id)).keys()]).toEqual([7])
    await t.app.store.remove([upload.id])
  })

  it('counts when the file is created from it', async () => {
    const upload = await begun()
    const { release, answer } = await late(upload)
    release()
    expect((await answer).status).toBe(200)
    expect(await upload.up.complete(upload.id, { md5 })).toMatchObject({
      code: 'CHECKSUM_MISMATCH',
    })
    await upload.up.part(upload.id, 1, { bytes: partOf(1) })
    expect(await upload.up.complete(upload.id, { md5 })).toMatchObject({ status: 200 })
    await expectNothingLeft()
  })

  it.each([
    ['has ended', async () => {}],
    ['has ended and was swept', () => t.settle()],
  ])('leaves nothing when its upload %s', async (_how, sweep) => {
    for (const direct of [true, false]) {
      const upload = await begun({ direct })
      const { release, answer } = await late(upload)
      await upload.up.abort(upload.id)
      await sweep()
      release()
      expect(await answer).toMatchObject({ status: 404, code: 'UPLOAD_NOT_FOUND' })
    }
    await expectNothingLeft()
  })

  it('leaves nothing when it arrives during the sweep of its upload', async () => {
    const upload = await begun()
    const { release, answer } = await late(upload)
    await upload.up.abort(upload.id)
    const part = gate.interfere
    let removed = () => {}
    const afterRemoval = new Promise<void>(resolve => {
      removed = resolve
    })
    // The store has deleted it, and the sweeper does not know yet.
    gate.interfere = async (asked, key) => {
      if (asked !== 'remove') return part(asked, key)
      gate.interfere = part
      await t.app.store.remove([upload.id])
      removed()
      await answer
    }
    const sweeping = t.app.sweeper.run()
    await afterRemoval
    release()
    expect((await answer).status).toBe(404)
    await sweeping
    await t.app.db.run('UPDATE blobs SET lease_until = 0')
    await expectNothingLeft()
  })
})
