import { createHash, randomBytes, randomInt } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { newDatabase, type Person } from '../../support/harness.ts'
import { killUploads } from '../../support/kill-uploads.ts'
import { newStoreSettings } from '../../support/store-settings.ts'
import { until } from '../../support/until.ts'
import { openSite, type UploadSite } from '../../support/upload-site.ts'
import { restUploader, type Uploader } from '../../support/uploader.ts'
import { head, openWire, type Wire } from '../../support/wire.ts'

const md5Of = (bytes: Buffer) => createHash('md5').update(bytes).digest('hex')

declare const engine: 'sqlite' | 'mysql'

const KiB = 1024
const PART = 256 * KiB

const SHUTDOWN_SECONDS = 2

let database: Awaited<ReturnType<typeof newDatabase>>
let site: UploadSite
let alice: Person
let uploader: Uploader

beforeAll(async () => {
  database = engine === 'mysql' ? await newDatabase() : { url: '', drop: async () => {} }
  site = await openSite(
    { databaseUrl: database.url, store: newStoreSettings() },
    { UPLOAD_PART_BYTES: String(PART), SHUTDOWN_SECONDS: String(SHUTDOWN_SECONDS) },
  )
})
afterAll(async () => {
  await site.close()
  await database.drop()
})

describe('Multipart uploads', () => {
  it('finish after a kill of the service or the client, and resend no acknowledged part', async () => {
    const said: string[] = []
    const seed = randomInt(2 ** 31)
    const say = (line: string) => said.push(line)
    const times = 4
    const { kills } = await killUploads({
      site,
      rounds: times,
      size: 30 * PART,
      partBytes: PART,
      seed,
      say,
    }).catch(error => {
      throw new Error(`Seed ${seed}\n${said.join('\n')}`, { cause: error })
    })
    expect(Object.values(kills).reduce((sum, n) => sum + n)).toBe(times)
  })
})

describe('A service that is asked to stop', () => {
  beforeAll(look)

  async function look(): Promise<void> {
    alice = await site.alice(0)
    uploader = restUploader(alice)
  }

  async function comeBack(): Promise<void> {
    await site.start(0)
    await look()
  }

  /** An upload whose parts have all arrived, except the last ones. */
  async function begin(
    filename: string,
    parts: number,
    without = 0,
  ): Promise<{ id: string; bytes: Buffer }> {
    const bytes = randomBytes(parts * PART)
    const { value } = await uploader.start({ filename, size: bytes.length })
    const id: string = value.upload_id
    const numbers = Array.from({ length: parts - without }, (_, i) => i + 1).values()
    const work = async () => {
      for (const n of numbers) await uploader.part(id, n, { bytes: partOf(bytes, n) })
    }
    await Promise.all([1, 2, 3, 4].map(work))
    return { id, bytes }
  }

  const partOf = (bytes: Buffer, n: number) => bytes.subarray((n - 1) * PART, n * PART)
  const digest = (algorithm: string, bytes: Buffer) =>
    createHash(algorithm).update(bytes).digest('hex')
  const md5 = (bytes: Buffer) => digest('md5', bytes)

  /** A part whose second half has not been sent, and which the service has begun to read. */
  async function halfPart(id: string, n: number, bytes: Buffer): Promise<Wire> {
    const wire = await openWire(site.at(0).url)
    const headers = { 'content-length': PART, expect: '100-continue' }
    await wire.send(head(alice, `PUT /api/files/uploads/${id}/parts/${n}`, headers))
    expect((await wire.answer())?.status).toBe(100)
    await wire.send(partOf(bytes, n).subarray(0, PART / 2))
    return wire
  }

  /** Waits until the first instance refuses new connections. */
  const untilClosed = () =>
    until(() =>
      fetch(`${site.at(0).url}/healthz`).then(
        () => false,
        () => true,
      ),
    )

  /**
   * Begins a completion that has to read all bytes again. Runs `work` while the completion is
   * blocked at the row that it needs.
   */
  async function whileCompleting<T>(
    { id, bytes }: { id: string; bytes: Buffer },
    work: () => Promise<T>,
  ) {
    const answer = uploader.complete(id, { sha256: digest('sha256', bytes) }).catch(() => undefined)
    const claimed = async () =>
      (await site.db.rows('SELECT id FROM upload_session WHERE id = ? AND claim IS NOT NULL', [id]))
        .length > 0
    await until(claimed, 15_000, 1)
    const worked = await site.db.transaction(async tx => {
      await site.db.rows(`SELECT id FROM bucket${site.db.forUpdate}`, [], tx)
      if (!(await claimed())) throw new Error('The completion was over too soon.')
      return work()
    })
    return { worked, answer: await answer }
  }

  it('receives the rest of a part, and then exits', async () => {
    const { id, bytes } = await begin('part', 2, 1)
    const wire = await halfPart(id, 2, bytes)
    const ended = site.end(0, 'SIGTERM')
    await untilClosed()
    await wire.send(partOf(bytes, 2).subarray(PART / 2))
    expect((await wire.answer())?.response).toMatchObject({ part_number: 2, size: PART })
    expect(await ended).toBe(0)
    await comeBack()
    expect((await uploader.look(id)).value.received).toEqual([1, 2])
    expect(await uploader.complete(id, { md5: md5(bytes) })).toMatchObject({ status: 200 })
  })

  it('cuts off a stalled part and keeps none of it; the upload can continue', async () => {
    const { id, bytes } = await begin('slow', 2, 1)
    const wire = await halfPart(id, 2, bytes)
    const started = performance.now()
    expect(await site.end(0, 'SIGTERM')).toBe(0)
    expect(performance.now() - started).toBeGreaterThan(1000 * SHUTDOWN_SECONDS - 100)
    expect(await wire.answer()).toBeUndefined()
    await comeBack()
    expect((await uploader.look(id)).value.received).toEqual([1])
    await uploader.part(id, 2, { bytes: partOf(bytes, 2) })
    expect(await uploader.complete(id, { md5: md5(bytes) })).toMatchObject({ status: 200 })
  })

  it('finishes a running completion, and then exits', async () => {
    const upload = await begin('complete', 75)
    const { id, bytes } = upload
    const { worked, answer } = await whileCompleting(upload, async () => {
      const ended = site.end(0, 'SIGTERM')
      await untilClosed()
      return { ended }
    })
    expect(answer).toMatchObject({ status: 200, value: { md5_checksum: md5(bytes) } })
    expect(await worked.ended).toBe(0)
    await comeBack()
    expect(await uploader.look(id)).toMatchObject({ code: 'UPLOAD_NOT_FOUND' })
  })

  it('exits during a slow completion, which the client can retry', async () => {
    const upload = await begin('interrupted', 75)
    const { id, bytes } = upload
    const { worked, answer } = await whileCompleting(upload, () => site.end(0, 'SIGTERM'))
    expect(worked).toBe(0)
    expect(answer?.status).not.toBe(200)
    await comeBack()
    const again = await until(
      async () => {
        const answer = await uploader.complete(id, { md5: md5(bytes) })
        return answer.code !== 'UPLOAD_BUSY' && answer
      },
      30_000,
      100,
    )
    expect(again).toMatchObject({ status: 200, value: { md5_checksum: md5(bytes) } })
  })
})

describe('A background completion', () => {
  it('is taken over after a kill by another instance, or by the same one after a restart', async () => {
    alice = await site.alice(0)
    uploader = restUploader(alice)
    const bytes = randomBytes(75 * PART)
    const { value } = await uploader.start({ filename: 'background', size: bytes.length })
    const id: string = value.upload_id
    for (let n = 1; n <= 75; n++)
      await uploader.part(id, n, { bytes: bytes.subarray((n - 1) * PART, n * PART) })
    const stateOf = async () =>
      (
        await site.db.rows<{ state: string }>('SELECT state FROM upload_session WHERE id = ?', [id])
      )[0]?.state
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    const begun = uploader.begin(id, { sha256 }).catch(() => undefined)
    await until(async () => (await stateOf()) === 'completing', 15_000, 1)
    // The completion is blocked at the row that it needs.
    await site.db.transaction(async tx => {
      await site.db.rows(`SELECT id FROM bucket${site.db.forUpdate}`, [], tx)
      if ((await stateOf()) !== 'completing') throw new Error('The completion was over too soon.')
      await site.end(0, 'SIGKILL')
    })
    await begun
    if (site.instances === 1) await site.start(0)
    const other = restUploader(await site.alice(site.instances - 1))
    const said = await until(
      async () => {
        const outcome = await other.outcome(id)
        return outcome.status !== 202 && outcome
      },
      30_000,
      100,
    )
    expect(said).toMatchObject({
      status: 200,
      value: { md5_checksum: createHash('md5').update(bytes).digest('hex'), size: bytes.length },
    })
    if (site.instances > 1) await site.start(0)
  })
})

describe('A tus upload whose bytes had all arrived before a kill', () => {
  it('has its file before the service is ready again', async () => {
    // Longer than the start: no claim of the killed process expires meanwhile.
    site.configure({ LEASE_SECONDS: '120', SWEEP_SECONDS: '120' })
    await site.end(0, 'SIGKILL')
    await site.start(0)
    alice = await site.alice(0)
    const tus = { cookie: alice.cookie, 'tus-resumable': '1.0.0' }
    const stateOf = async (id: string) =>
      (
        await site.db.rows<{ state: string }>('SELECT state FROM upload_session WHERE id = ?', [id])
      )[0]?.state

    /** @returns whether the kill came before the file */
    async function killAfterLastByte(name: string): Promise<boolean> {
      const bytes = randomBytes(40 * PART)
      const made = await fetch(`${site.at(0).url}/api/tus/`, {
        method: 'POST',
        headers: {
          ...tus,
          'upload-length': String(bytes.length),
          'upload-metadata': `filename ${Buffer.from(name).toString('base64')}`,
        },
      })
      const path = made.headers.get('location') ?? ''
      const id = path.split('/').at(-1) ?? ''
      const sent = fetch(site.at(0).url + path, {
        method: 'PATCH',
        headers: {
          ...tus,
          'upload-offset': '0',
          'content-type': 'application/offset+octet-stream',
        },
        body: bytes,
      }).catch(() => undefined)
      await until(async () => Boolean(await stateOf(id)), 60_000, 1)
      // The completion is blocked at the row that it needs.
      const isEarly = await site.db.transaction(async tx => {
        await site.db.rows(`SELECT id FROM bucket${site.db.forUpdate}`, [], tx)
        const early = (await stateOf(id)) === 'completing'
        if (early) await site.end(0, 'SIGKILL')
        return early
      })
      await sent
      if (!isEarly) return false
      await site.start(0)
      expect((await fetch(`${site.at(0).url}/readyz`)).status).toBe(200)
      expect(await stateOf(id)).toBe('completed')
      const asked = await fetch(site.at(0).url + path, { method: 'HEAD', headers: tus })
      expect(asked.headers.get('upload-offset')).toBe(String(bytes.length))
      const [file] = await site.db.rows<{ md5: string }>('SELECT md5 FROM entry WHERE name = ?', [
        name,
      ])
      expect(file?.md5).toBe(md5Of(bytes))
      return true
    }

    let tries = 0
    while (!(await killAfterLastByte(`tus-${tries++}`))) expect(tries).toBeLessThan(30)
    site.configure({})
    for (let place = 0; place < site.instances; place++) {
      await site.end(place, 'SIGTERM')
      await site.start(place)
    }
  })
})

describe('After all kills', () => {
  it('no unfinished data is left, and the index matches the store', () => site.expectHealed())
})
