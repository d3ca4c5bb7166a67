import { createHash, randomBytes } from 'node:crypto'
import { request } from 'node:http'
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals'
import { clientOf } from '../../../src/cli/client.ts'
import { partUploads } from '../../../src/cli/part-uploads.ts'
import { patienceOf } from '../../../src/cli/patience.ts'
import { AppError, Unavailable } from '../../../src/runtime/errors.ts'
import { operatorService } from '../../../src/services/accounts/operator.ts'
import {
  expel,
  found,
  join,
  privateKey,
  ROOMY,
  UNHURRIED,
  workspaceKey,
} from '../../support/builders.ts'
import { expectConsistent, outlive } from '../../support/consistency.ts'
import {
  newDatabase,
  type Person,
  signInTo,
  startApp,
  type TestApp,
} from '../../support/harness.ts'
import { gateOf, type StoreGate } from '../../support/store-gate.ts'
import { until } from '../../support/until.ts'
import {
  faces,
  graphqlUploader,
  restUploader,
  type Said,
  type Uploader,
} from '../../support/uploader.ts'

const PART = 1024
const bytes = randomBytes(2 * PART + 7)
const hash = (algorithm: string) => createHash(algorithm).update(bytes).digest('hex')
/**
 * A digest that the store does not know: to compare it, the service has to read all bytes again.
 */
const sha256 = hash('sha256')
const partOf = (n: number) => bytes.subarray((n - 1) * PART, n * PART)

let database: Awaited<ReturnType<typeof newDatabase>>
let t: TestApp
/** Another instance on the same database. */
let other: TestApp
let gates: StoreGate[]
let alice: Person
let garden: string

const settings = {
  ...UNHURRIED,
  // Tests block the store of each instance, which works for one worker only.
  WORKERS: '1',
  UPLOAD_PART_BYTES: String(PART),
  LEASE_SECONDS: '60',
  SECRET_KEY: randomBytes(32).toString('base64url'),
  AZURE_STORAGE_CONTAINER: `t${randomBytes(8).toString('hex')}`,
}
const startAnother = () => startApp({ ...settings, DATABASE_URL: database.url })

beforeAll(async () => {
  database = await newDatabase()
  ;[t, other] = [await startAnother(), await startAnother()]
  await t.limit(ROOMY)
  gates = [t, other].map(({ app }) => gateOf(app.store))
  alice = await t.signIn('alice')
  garden = await found(alice)
})
const held: (() => void)[] = []
afterEach(() => {
  for (const gate of gates) gate.interfere = () => {}
  for (const release of held.splice(0)) release()
})
afterAll(async () => {
  expect(t.failures().filter(line => !isCaused(line))).toEqual([])
  await outlive(t)
  await expectConsistent(t)
  expect(await t.app.db.rows('SELECT id FROM upload_session')).toEqual([])
  await Promise.all([t.stop(), other.stop()])
  await database.drop()
})

/** A completion reads all bytes, and then the first ones, which decide the media type. */
const READS = 2

/** Blocks the reading of bytes, or runs other work before reading continues. */
function whileReading(work: () => unknown = () => {}): {
  reached: Promise<void>
  release(): void
  reads(): number
} {
  let reads = 0
  let reach = () => {}
  let release = () => {}
  const reached = new Promise<void>(resolve => {
    reach = resolve
  })
  const released = new Promise<void>(resolve => {
    release = resolve
  })
  held.push(release)
  for (const gate of gates)
    gate.interfere = async kind => {
      if (kind !== 'read') return
      reads++
      reach()
      await work()
      await released
    }
  return { reached, release, reads: () => reads }
}

let files = 0
const newName = () => `file-${++files}.bin`

/** An upload whose parts have all arrived, except the given ones. */
async function begun(
  up: Uploader,
  { without = 0, ...input }: Record<string, unknown> & { without?: number } = {},
) {
  const filename = newName()
  const { value } = await up.start({ filename, size: bytes.length, ...input })
  const id: string = value.upload_id
  for (const n of [1, 2, 3]) if (n !== without) await up.part(id, n, { bytes: partOf(n) })
  return { id, filename }
}

async function ended(up: Uploader, id: string): Promise<Said> {
  let said = await up.outcome(id)
  await until(async () => {
    if (said.status === 202) said = await up.outcome(id)
    return said.status !== 202
  })
  return said
}

const rowOf = async (id: string) => {
  const sql =
    'SELECT state, claim, claim_until AS claimUntil, file_id AS fileId FROM upload_session WHERE id = ?'
  return (await t.app.db.rows<Record<string, unknown>>(sql, [id]))[0]
}

/** Whether a log line is the error that the test caused. */
const isCaused = (line: string) => line.includes('Something is broken.')

describe.each(faces)('A background completion: $face', ({ face, front, by }) => {
  const replace = face.endsWith('GraphQL') ? { onConflict: 'REPLACE' } : { on_conflict: 'replace' }
  const keepBoth = face.endsWith('GraphQL')
    ? { onConflict: 'KEEP_BOTH' }
    : { on_conflict: 'keep_both' }
  let up: Uploader
  beforeAll(() => {
    up = by(alice, garden)
  })

  it('reports its progress, and then returns the same result as a synchronous completion', async () => {
    const { id, filename } = await begun(up)
    const held = whileReading()
    expect(await up.begin(id, { sha256 })).toMatchObject({
      status: 202,
      value: { upload_id: id, size: bytes.length, checked: 0 },
    })
    await held.reached
    expect((await up.outcome(id)).status).toBe(202)
    expect((await up.part(id, 1, { bytes: partOf(1) })).code).toBe('UPLOAD_BUSY')
    expect((await up.complete(id)).code).toBe('UPLOAD_BUSY')
    held.release()
    const said = await ended(up, id)
    expect(said).toMatchObject({
      status: 200,
      value: {
        upload_id: id,
        file_name: `${front}${filename}`,
        md5_checksum: hash('md5'),
        size: bytes.length,
        file: { name: front ? filename : expect.any(String), size: bytes.length },
      },
    })
    expect(held.reads()).toBe(READS)
    // Repeats the completion, also with the synchronous call.
    expect((await up.begin(id)).value).toEqual(said.value)
    expect((await up.complete(id)).code).toBe('UPLOAD_NOT_FOUND')
    expect((await up.abort(id)).code).toBe('UPLOAD_NOT_FOUND')
    expect((await up.part(id, 1, { bytes: partOf(1) })).code).toBe('UPLOAD_NOT_FOUND')
    // The result is kept for a day.
    expect(Number((await rowOf(id))?.claimUntil)).toBeGreaterThan(Date.now() + 80_000_000)
    await t.app.db.run('UPDATE upload_session SET claim_until = 1 WHERE id = ?', [id])
    await t.settle()
    expect((await up.outcome(id)).code).toBe('UPLOAD_NOT_FOUND')
    await expectConsistent(t)
  })

  it('that finishes within the waiting time is answered directly', async () => {
    const { id, filename } = await begun(up)
    expect(await up.begin(id, { sha256 }, 10)).toMatchObject({
      status: 200,
      value: { upload_id: id, file_name: `${front}${filename}`, md5_checksum: hash('md5') },
    })
  })

  it('that fails reports the reason, and keeps the upload', async () => {
    const { id } = await begun(up)
    const wrong = { sha256: '0'.repeat(64) }
    const now = await up.complete(id, wrong)
    await up.begin(id, wrong)
    expect(await ended(up, id)).toMatchObject({
      status: now.status,
      code: 'CHECKSUM_MISMATCH',
      msg: now.msg,
    })
    expect((await up.part(id, 1, { bytes: partOf(1) })).status).toBe(200)
    expect(await up.begin(id, { sha256 }, 10)).toMatchObject({ status: 200, code: undefined })
  })

  it('reports the missing parts', async () => {
    const { id } = await begun(up, { without: 2 })
    const said = await up.begin(id, {}, 10)
    expect([said.code, said.value.missing]).toEqual(['UPLOAD_INCOMPLETE', [2]])
    expect((await up.outcome(id)).code).toBe('UPLOAD_INCOMPLETE')
    await up.part(id, 2, { bytes: partOf(2) })
    expect((await up.begin(id, {}, 10)).status).toBe(200)
  })

  it('is refused before it starts when it cannot succeed', async () => {
    const [{ id, filename }, rival] = [await begun(up), await begun(up)]
    await up.complete(rival.id, { filename })
    expect((await up.begin(id)).code).toBe('PATH_EXISTS')
    expect((await up.begin(id, { md5: 'x' })).code).toBe('INVALID_INPUT')
    expect((await up.begin(id, { filename: 'a/b' })).code).toBe('INVALID_PATH')
    expect((await up.outcome(id)).code).toBe('UPLOAD_NOT_FOUND')
    expect((await up.begin('none')).code).toBe('UPLOAD_NOT_FOUND')
    expect((await up.abort(id)).status).toBe(200)
  })

  it('reports the file that it stored even if that file was replaced meanwhile', async () => {
    const { id, filename } = await begun(up)
    const said = await up.begin(id, {}, 10)
    const { value: rival } = await up.start({ filename, size: 3, ...replace })
    await up.part(rival.upload_id, 1, { bytes: 'new' })
    const { value: now } = await up.complete(rival.upload_id)
    const { value: then } = await up.outcome(id)
    expect([then.md5_checksum, then.size]).toEqual([hash('md5'), bytes.length])
    expect(then.file).toMatchObject({
      id: said.value.file.id,
      md5_checksum: now.md5_checksum,
      size: 3,
    })
  })

  it('continues with the rights of a joined session after the first session has ended', async () => {
    const first = await t.signIn('alice')
    const { id, filename } = await begun(up)
    const held = whileReading()
    await by(first, garden).begin(id, { sha256 })
    await held.reached
    const joined = up.begin(id, { sha256 }, 10)
    await until(() => t.app.gateway.running > 0)
    await first.rest('POST', '/auth/logout', { json: {}, headers: { origin: t.url } })
    expect((await first.rest('GET', '/api/user/data')).status).toBe(401)
    held.release()
    expect(await joined).toMatchObject({
      status: 200,
      value: { upload_id: id, file_name: `${front}${filename}` },
    })
    expect(held.reads()).toBe(2 * READS)
  })

  it('reports a taken name, unless both files are kept', async () => {
    const [one, both] = [await begun(up), await begun(up, keepBoth)]
    const rivals = [await begun(up), await begun(up)]
    const held = whileReading()
    await up.begin(one.id, { sha256 })
    await up.begin(both.id, { sha256 })
    await until(() => held.reads() === 2)
    for (const gate of gates) gate.interfere = () => {}
    for (const [n, { filename }] of [one, both].entries())
      expect((await up.complete(rivals[n]?.id ?? '', { filename })).status).toBe(200)
    held.release()
    expect((await ended(up, one.id)).code).toBe('PATH_EXISTS')
    expect((await ended(up, both.id)).value.file_name).toMatch(/ \(2\)\.bin$/)
  })
})

describe('A background completion', () => {
  const up = () => restUploader(alice)
  const atOther = async () => restUploader(await signInTo(other.app.db, other.url, 'alice'))

  it('sends the headers of RFC 7240', async () => {
    const { id } = await begun(up())
    const held = whileReading()
    const path = `/api/files/uploads/${id}`
    const headers = { prefer: 'Respond-Async; a=b, wait=0, other' }
    const {
      status,
      msg,
      headers: said,
    } = await alice.rest('POST', `${path}/complete`, { json: { sha256 }, headers })
    const told = ['location', 'preference-applied', 'retry-after'].map(name => said.get(name))
    expect([status, msg, told]).toEqual([
      202,
      'accepted',
      [`${path}/completion`, 'respond-async', '2'],
    ])
    held.release()
    // The request waits for the completion.
    const { status: then, headers: tag } = await alice.rest('GET', `${path}/completion`, {
      headers: { prefer: 'wait=10' },
    })
    expect([then, tag.get('etag')]).toEqual([200, '"1"'])
  })

  it('that is requested twice runs once, on whichever instance', async () => {
    const { id } = await begun(up())
    const held = whileReading()
    const here = up()
    const there = await atOther()
    const said = await Promise.all(
      [here, there, here, there].map(each => each.begin(id, { sha256 })),
    )
    expect(said.map(({ status }) => status)).toEqual([202, 202, 202, 202])
    held.release()
    expect((await ended(there, id)).value).toEqual((await ended(here, id)).value)
    expect(held.reads()).toBe(READS)
  })

  it('restarts on another instance when its own instance stops', async () => {
    const third = await startAnother()
    gates.push(gateOf(third.app.store))
    const { id } = await begun(up())
    const held = whileReading()
    const there = restUploader(await signInTo(third.app.db, third.url, 'alice'))
    await there.begin(id, { sha256 })
    await held.reached
    const stopped = third.stop()
    held.release()
    await stopped
    gates.pop()
    expect(await rowOf(id)).toMatchObject({ state: 'completing', claim: null })
    for (const gate of gates) gate.interfere = () => {}
    await other.app.services.backgroundCompletions.idle()
    expect((await up().outcome(id)).status).toBe(200)
  })

  it('stops reading from its store when its instance stops or its upload is deleted', async () => {
    const third = await startApp({ ...settings, LEASE_SECONDS: '2', DATABASE_URL: database.url })
    const gate = gateOf(third.app.store)
    const there = restUploader(await signInTo(third.app.db, third.url, 'alice'))
    const [joining, left] = [new Set<string>(), new Set<string>()]
    gate.interfere = (kind, key, signal) => {
      if (kind !== 'commit') return
      joining.add(key)
      return new Promise<void>(resolve =>
        signal?.addEventListener('abort', () => {
          left.add(key)
          resolve()
        }),
      )
    }
    const [{ id: stopped }, { id: aborted }] = [await begun(there), await begun(there)]
    for (const id of [stopped, aborted]) await there.begin(id)
    await until(async () => joining.size === 2)
    await there.abort(aborted)
    await until(async () => left.size === 1)
    expect([...left]).toEqual([aborted])
    await third.stop()
    expect([await rowOf(stopped), await rowOf(aborted)]).toEqual([
      expect.objectContaining({ state: 'completing', claim: null }),
      undefined,
    ])
    await other.app.services.backgroundCompletions.idle()
    expect((await up().outcome(stopped)).status).toBe(200)
  })

  it('and a request that hang delay a shutdown no longer than either alone', async () => {
    const SHUTDOWN_SECONDS = 4
    const third = await startApp({
      ...settings,
      DATABASE_URL: database.url,
      SHUTDOWN_SECONDS: String(SHUTDOWN_SECONDS),
    })
    gates.push(gateOf(third.app.store))
    const caller = await signInTo(third.app.db, third.url, 'alice')
    const { id } = await begun(up())
    const stuck = whileReading()
    await restUploader(caller).begin(id, { sha256 })
    await stuck.reached
    const headers = {
      cookie: caller.cookie,
      'content-type': 'multipart/form-data; boundary=x',
      'content-length': 1000,
    }
    const silent = request(`${third.url}/api/files/upload`, { method: 'POST', headers }).on(
      'error',
      () => {},
    )
    silent.write('--x')
    await until(async () => third.app.gateway.running > 0)
    const started = performance.now()
    await third.stop()
    const took = performance.now() - started
    gates.pop()
    expect([took > 1000 * SHUTDOWN_SECONDS - 100, took < 1750 * SHUTDOWN_SECONDS]).toEqual([
      true,
      true,
    ])
    stuck.release()
    await t.app.db.run('UPDATE upload_session SET claim_until = 0 WHERE id = ?', [id])
    await other.app.services.backgroundCompletions.idle()
    expect((await up().outcome(id)).status).toBe(200)
  })

  it('is taken over from a dead instance, whose later writes are ignored', async () => {
    const { id, filename } = await begun(up())
    const held = whileReading()
    await up().begin(id, { sha256 })
    await held.reached
    for (const gate of gates) gate.interfere = () => {}
    await t.app.db.run('UPDATE upload_session SET claim_until = 0 WHERE id = ?', [id])
    await other.app.services.backgroundCompletions.idle()
    const said = await up().outcome(id)
    expect(said).toMatchObject({ status: 200, value: { file_name: filename } })
    held.release()
    await t.app.services.backgroundCompletions.idle()
    expect((await up().outcome(id)).value).toEqual(said.value)
    await expectConsistent(t)
  })

  it('that has finished is not started again by a stale reader', async () => {
    const { id } = await begun(up())
    const held = whileReading()
    await up().begin(id, { sha256: '0'.repeat(64) })
    await held.reached
    await t.app.db.run('UPDATE upload_session SET claim_until = 0 WHERE id = ?', [id])
    const { db } = other.app
    const { rows } = db
    let saw = false
    db.rows = (async (...[sql, ...rest]: Parameters<typeof rows>) => {
      const found = await rows(sql, ...rest)
      if (!/state = 'completing'\s+AND claim_until <=/.test(sql)) return found
      // The completion finishes here, after the stale reader saw it.
      saw = found.some(row => (row as { id: string }).id === id)
      held.release()
      await t.app.services.backgroundCompletions.idle()
      return found
    }) as typeof rows
    try {
      await other.app.services.backgroundCompletions.look()
    } finally {
      db.rows = rows
    }
    expect(saw).toBe(true)
    expect((await up().outcome(id)).code).toBe('CHECKSUM_MISMATCH')
    await other.app.services.backgroundCompletions.idle()
    expect(held.reads()).toBe(1)
    expect((await up().part(id, 1, { bytes: partOf(1) })).status).toBe(200)
    await up().abort(id)
  })

  it('waits for an unresponsive store, and is retried', async () => {
    const { id } = await begun(up())
    let outages = 0
    for (const gate of gates)
      gate.interfere = kind => {
        if (kind === 'read' && ++outages === 1) throw new Unavailable('blob store')
      }
    expect((await up().begin(id, { sha256 })).status).toBe(202)
    await t.app.services.backgroundCompletions.idle()
    expect((await up().outcome(id)).status).toBe(202)
    expect(await rowOf(id)).toMatchObject({ state: 'completing', claim: null })
    expect((await up().part(id, 1, { bytes: partOf(1) })).code).toBe('UPLOAD_BUSY')
    await t.app.db.run('UPDATE upload_session SET claim_until = 0 WHERE id = ?', [id])
    await t.app.services.backgroundCompletions.idle()
    expect([(await up().outcome(id)).status, outages]).toEqual([200, 1 + READS])
  })

  it('is cancelled when its upload is deleted', async () => {
    const { id } = await begun(up())
    const held = whileReading()
    await up().begin(id, { sha256 })
    await held.reached
    expect((await up().abort(id)).status).toBe(200)
    expect((await up().outcome(id)).code).toBe('UPLOAD_NOT_FOUND')
    held.release()
    await t.app.services.backgroundCompletions.idle()
    expect((await up().outcome(id)).code).toBe('UPLOAD_NOT_FOUND')
    await expectConsistent(t)
  })

  describe('with all read slots taken', () => {
    let brisk: TestApp
    let gate: StoreGate
    beforeAll(async () => {
      brisk = await startApp({ ...settings, LEASE_SECONDS: '2', DATABASE_URL: database.url })
      gate = gateOf(brisk.app.store)
    })
    afterAll(() => brisk.stop())
    const uploaderOf = async (name: string) =>
      restUploader(await signInTo(brisk.app.db, brisk.url, name))

    /**
     * Holds the first read of each upload; the second finds its type. Each continues when it is
     * released, or fails when its reading is ended.
     */
    function holdReaders() {
      const readers = new Map<string, () => void>()
      gate.interfere = (kind, key, signal) => {
        if (kind !== 'read' || readers.has(key)) return
        return new Promise<void>(resolve => {
          readers.set(key, resolve)
          held.push(resolve)
          signal?.addEventListener('abort', () => resolve())
        })
      }
      return readers
    }

    async function beginAll(up: Uploader, count: number): Promise<string[]> {
      const ids: string[] = []
      for (let i = 0; i < count; i++) ids.push((await begun(up)).id)
      for (const id of ids) await up.begin(id, { sha256 })
      return ids
    }

    it('the next slot goes to a user without one', async () => {
      const readers = holdReaders()
      const [alices, bobs] = [await uploaderOf('alice'), await uploaderOf('bob')]
      const ids = await beginAll(alices, 7)
      await until(() => readers.size === 4)
      const first = [...readers.keys()]
      const { id: bobsId } = await begun(bobs)
      // Meanwhile it starts to wait for its turn.
      expect((await bobs.begin(bobsId, { sha256 }, 2)).status).toBe(202)
      readers.get(first[0] ?? '')?.()
      await until(() => readers.size === 5)
      expect([...readers.keys()]).toEqual([...first, bobsId])
      for (let read = 5; read <= 8; read++) {
        for (const release of readers.values()) release()
        await until(() => readers.size >= read)
      }
      for (const release of readers.values()) release()
      await brisk.app.services.backgroundCompletions.idle()
      expect((await ended(bobs, bobsId)).status).toBe(200)
      for (const id of ids) expect((await ended(alices, id)).status).toBe(200)
    })

    it('a deleted upload frees its slot', async () => {
      const readers = holdReaders()
      const [alices, bobs] = [await uploaderOf('alice'), await uploaderOf('bob')]
      const ids = await beginAll(alices, 4)
      await until(() => readers.size === 4)
      gate.interfere = () => {}
      for (const id of ids) expect((await alices.abort(id)).status).toBe(200)
      const [bobsId = ''] = await beginAll(bobs, 1)
      expect((await ended(bobs, bobsId)).status).toBe(200)
      await brisk.app.services.backgroundCompletions.idle()
      expect(brisk.failures()).toEqual([])
    })
  })

  it('of a file that is deleted afterwards reports that it is gone', async () => {
    const { id, filename } = await begun(up())
    await up().begin(id, {}, 10)
    await alice.rest('DELETE', `/api/files/delete?file=${filename}`)
    expect((await up().outcome(id)).code).toBe('UPLOAD_NOT_FOUND')
  })

  it('returns the stored digest, which the command compares', async () => {
    const { id, filename } = await begun(up())
    await up().begin(id, {}, 10)
    const { value: rival } = await up().start({ filename, size: 3, on_conflict: 'replace' })
    await up().part(rival.upload_id, 1, { bytes: 'new' })
    await up().complete(rival.upload_id)
    const secret = alice.cookie.replace('session_id=', '')
    const patience = patienceOf({
      signal: new AbortController().signal,
      retries: 0,
      notice: () => {},
    })
    const uploads = partUploads(
      clientOf(t.url, { kind: 'session', secret }, patience),
      async () => null,
    )
    expect(await uploads.outcome(id)).toEqual({ fileName: filename, md5: hash('md5') })
  })

  it('respects the expected revision', async () => {
    const { id, filename } = await begun(up(), { on_conflict: 'replace' })
    await alice.upload(filename, 'first')
    const held = whileReading()
    const headers = { prefer: 'respond-async, wait=0', 'if-match': '"1"' }
    const path = `/api/files/uploads/${id}`
    expect(
      (await alice.rest('POST', `${path}/complete`, { json: { sha256 }, headers })).status,
    ).toBe(202)
    await held.reached
    const form = new FormData()
    form.append('on_conflict', 'replace')
    form.append('file', new File(['second'], filename))
    expect((await alice.rest('POST', '/api/files/upload', { form })).status).toBe(200)
    held.release()
    await t.app.services.backgroundCompletions.idle()
    const { status, response } = await alice.rest('GET', `${path}/completion`)
    expect([status, response]).toEqual([412, { code: 'REVISION_MISMATCH', revision: 2 }])
    await up().abort(id)
  })

  it('respects the limits when it finishes', async () => {
    const { id } = await begun(up(), { folder: 'no/room/here' })
    const held = whileReading()
    await up().begin(id, { sha256 })
    await held.reached
    await t.limit({ maxFolders: 0 })
    await t.app.db.run('UPDATE upload_session SET claim_until = 0 WHERE id = ?', [id])
    held.release()
    // The instance that takes over reads the limit again.
    await other.app.services.backgroundCompletions.idle()
    await t.app.services.backgroundCompletions.idle()
    await t.limit({ maxFolders: 1000 })
    const { code, status } = await up().outcome(id)
    expect(['200', 'QUOTA_EXCEEDED']).toContain(code ?? String(status))
    if (code) await up().abort(id)
    await expectConsistent(t)
  })

  describe.each([
    {
      who: 'a private key',
      make: async () => ({ ...(await privateKey(t, alice)), into: undefined }),
    },
    {
      who: 'a workspace key',
      make: async () => ({ ...(await workspaceKey(t, alice, garden)), into: garden }),
    },
  ])('by $who', ({ make }) => {
    it('runs with the rights of its creator', async () => {
      const { caller, into } = await make()
      const up = restUploader(caller, into)
      const { id } = await begun(up)
      await up.begin(id, { sha256 })
      expect((await ended(up, id)).status).toBe(200)
    })

    it.each([false, true])(
      'fails when its creator is deleted meanwhile; taken over: %s',
      async isTaken => {
        const { caller, into, id: key } = await make()
        const { id } = await begun(restUploader(caller, into))
        const held = whileReading()
        await restUploader(caller, into).begin(id, { sha256 })
        await held.reached
        await alice.rest('DELETE', `/api/api_keys/${into ?? 'private'}/delete`, {
          json: { api_key_id: key },
        })
        if (isTaken) {
          await t.app.db.run('UPDATE upload_session SET claim_until = 0 WHERE id = ?', [id])
          await other.app.services.backgroundCompletions.idle()
        }
        held.release()
        await t.app.services.backgroundCompletions.idle()
        expect(await restUploader(alice, into).outcome(id)).toMatchObject({
          status: 403,
          code: 'FORBIDDEN',
        })
        expect((await graphqlUploader(alice, into).outcome(id)).code).toBe('FORBIDDEN')
        await restUploader(alice, into).abort(id)
      },
    )
  })

  /** Ways in which the creator of a completion loses write access to the workspace. */
  const ends: { how: string; by?: 'key'; end: (maker: Person) => Promise<unknown> }[] = [
    { how: 'has left the workspace', end: maker => expel(t, garden, maker) },
    { how: 'is a viewer now', end: maker => join(t, garden, maker, 'viewer') },
    {
      how: 'made its key, and is a viewer now',
      by: 'key',
      end: maker => join(t, garden, maker, 'viewer'),
    },
    {
      how: 'made its key, which has expired',
      by: 'key',
      end: ({ userId }) => expire('api_key', 'created_by', userId),
    },
    { how: 'has a session no more', end: ({ userId }) => expire('session', 'user_id', userId) },
    { how: 'is suspended', end: ({ email }) => operatorService({ db: t.app.db }).suspend(email) },
    {
      how: 'has deleted the account',
      end: maker =>
        maker.rest('DELETE', '/api/user/account/delete', { json: { delete_user_data: true } }),
    },
  ]
  const expire = (table: string, column: string, value: string) =>
    t.app.db.run(`UPDATE ${table} SET expires_at = 1 WHERE ${column} = ?`, [value])

  it.each(ends.flatMap(end => [false, true].map(isTaken => ({ ...end, isTaken }))))(
    'fails when its maker $how; taken over: $isTaken',
    async ({ by, end, isTaken }) => {
      const maker = await t.signIn(`maker-${++files}`)
      await join(t, garden, maker, 'admin')
      const up = restUploader(
        by === 'key' ? (await workspaceKey(t, maker, garden)).caller : maker,
        garden,
      )
      const { id, filename } = await begun(up)
      const held = whileReading()
      await up.begin(id, { sha256 })
      await held.reached
      await end(maker)
      if (isTaken) {
        let reads = 0
        const [, there] = gates
        if (there) there.interfere = kind => void (kind === 'read' && reads++)
        await t.app.db.run('UPDATE upload_session SET claim_until = 0 WHERE id = ?', [id])
        await other.app.services.backgroundCompletions.idle()
        expect(reads).toBe(0)
      }
      held.release()
      await t.app.services.backgroundCompletions.idle()
      const failed = 'SELECT state, failure FROM upload_session WHERE id = ?'
      const [row] = await t.app.db.rows<{ state: string; failure: string }>(failed, [id])
      expect([row?.state, JSON.parse(row?.failure ?? '{}').code]).toEqual(['failed', 'FORBIDDEN'])
      const { response } = await alice.rest(
        'GET',
        `/api/workspaces/${garden}/files/info?path=${filename}`,
      )
      expect(response.code).toBe('FILE_NOT_FOUND')
    },
  )

  it('stops for its joined requests when all of them have lost their right', async () => {
    const maker = await t.signIn(`maker-${++files}`)
    await join(t, garden, maker, 'admin')
    const up = restUploader(maker, garden)
    const { id } = await begun(up)
    const held = whileReading()
    await up.begin(id, { sha256 })
    await held.reached
    const joined = [1, 2].map(() => up.begin(id, { sha256 }, 10))
    await until(() => t.app.gateway.running >= joined.length)
    await expel(t, garden, maker)
    held.release()
    for (const answer of await Promise.all(joined))
      expect(answer).toMatchObject({ status: 403, code: 'FORBIDDEN' })
    expect(held.reads()).toBe(READS)
  })

  it('fails with an unexpected error, which is logged once', async () => {
    const before = t.failures().length
    const { id } = await begun(up())
    for (const gate of gates)
      gate.interfere = kind => {
        if (kind === 'read') throw new AppError('INTERNAL', 'Something is broken.')
      }
    await up().begin(id, { sha256 })
    await t.app.services.backgroundCompletions.idle()
    for (const ask of [up(), up()])
      expect(await ask.outcome(id)).toMatchObject({
        status: 500,
        code: 'INTERNAL',
        msg: expect.stringContaining('the id of the upload'),
      })
    expect(t.failures().slice(before)).toEqual([expect.stringContaining(`"upload":"${id}"`)])
    await up().abort(id)
  })
})
