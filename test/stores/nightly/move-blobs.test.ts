import { createHash, randomBytes, randomInt } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { readConfig } from '../../../src/config/config.ts'
import { openDriver } from '../../../src/storage/open.ts'
import { launch, runBuilt } from '../../support/built-service.ts'
import { newDatabase, type Person } from '../../support/harness.ts'
import { newStoreSettings } from '../../support/store-settings.ts'
import { until } from '../../support/until.ts'
import { openSite, type UploadSite } from '../../support/upload-site.ts'

declare const engine: 'sqlite' | 'mysql'
declare const storeUnderTest: 'disk' | 'azure' | 's3'

const KiB = 1024
const PART = 256 * KiB
type Settings = Record<string, string>

let database: Awaited<ReturnType<typeof newDatabase>>
let site: UploadSite
const dir = mkdtempSync(join(tmpdir(), 'satchel-stores-'))
let folders = 0
const newFolder = (): Settings => ({ BLOB_DIR: join(dir, String(folders++)) })
const newStore = (): Settings => (storeUnderTest === 'disk' ? newFolder() : newStoreSettings())
const movedFrom = (store: Settings): Settings =>
  Object.fromEntries(Object.entries(store).map(([name, value]) => [`MOVE_FROM_${name}`, value]))

const first = newFolder()
beforeAll(async () => {
  database = engine === 'mysql' ? await newDatabase() : { url: '', drop: async () => {} }
  const more = {
    UPLOAD_PART_BYTES: String(PART),
    TRASH_DAYS: '0',
    VERSIONS_KEPT: '0',
    SIGNED_URL_SECONDS: '1',
  }
  site = await openSite({ databaseUrl: database.url, store: first }, more)
})
afterAll(async () => {
  await site.close()
  await database.drop()
  rmSync(dir, { recursive: true, force: true })
})

const md5 = (bytes: Uint8Array) => createHash('md5').update(bytes).digest('hex')
/** Errors that people must expect while a service is killed or restarted. */
class Away extends Error {}

/** Sends a request to any instance that responds. */
async function ask<T>(work: (alice: Person) => Promise<T>): Promise<T> {
  const place = randomInt(site.instances)
  try {
    return await work(await site.alice(place))
  } catch (error) {
    // The connection was refused or cut off.
    if (error instanceof TypeError || /socket|ECONN|fetch failed|terminated/.test(String(error)))
      throw new Away()
    throw error
  }
}

const files = new Map<string, string>()
const faults: string[] = []
const did = { uploads: 0, reads: 0, deletions: 0, away: 0 }

async function upload(name: string, bytes: Buffer): Promise<void> {
  const { status, text } = await ask(alice => alice.upload(name, bytes))
  if (status === 503) throw new Away()
  if (status !== 200) faults.push(`${name} was not taken: ${status} ${text}`)
  files.set(name, md5(bytes))
  did.uploads++
}

async function read(name: string): Promise<void> {
  const wanted = files.get(name)
  const found = await ask(async alice => {
    const token = await alice.rest('POST', `/api/user/private/download_token?file=${name}`)
    if (token.status !== 200) return token.status
    const { headers, status } = await alice.rest(
      'GET',
      `/api/d/private/${token.response.private_download_token}`,
    )
    if (!headers.get('location')) return status
    const answer = await fetch(headers.get('location') ?? '')
    return answer.status === 200 ? md5(Buffer.from(await answer.arrayBuffer())) : answer.status
  })
  did.reads++
  if (found === 503) throw new Away()
  // Another worker has deleted it meanwhile.
  if (found !== wanted && files.has(name)) faults.push(`${name}: ${found}`)
}

async function remove(name: string): Promise<void> {
  files.delete(name)
  const { status, text } = await ask(alice =>
    alice.rest('DELETE', `/api/files/delete?file=${name}`),
  )
  did.deletions++
  if (![200, 404, 503].includes(status)) faults.push(`${name} cannot be deleted: ${status} ${text}`)
}

/** Stores, reads and deletes files for several people until the returned function is called. */
function people(): () => Promise<void> {
  let isOver = false
  const work = async (worker: number) => {
    for (let n = 0; !isOver; n++)
      try {
        const names = [...files.keys()]
        const name = names[randomInt(names.length)] ?? ''
        if (n % 3 === 0)
          await upload(`file-${folders}-${worker}-${n}`, randomBytes(1 + randomInt(90 * KiB)))
        else if (n % 7 === 4 && names.length > 40) await remove(name)
        else await read(name)
        await sleep(20)
      } catch (error) {
        if (!(error instanceof Away)) throw error
        did.away++
        await sleep(100)
      }
  }
  const workers = [0, 1, 2].map(work)
  return async () => {
    isOver = true
    await Promise.all(workers)
  }
}

async function restartOne(place: number): Promise<void> {
  await site.end(place, 'SIGTERM')
  await site.start(place)
}

/** Restarts the instances one after the other. */
async function restart(settings: Settings): Promise<void> {
  site.configure(settings)
  for (let place = 0; place < site.instances; place++) await restartOne(place)
}

const move = (...options: string[]) =>
  runBuilt('admin.ts', ['move-blobs', ...options], site.settings())

/** Runs the command, and kills it after a certain event. */
async function killed(when: () => Promise<unknown>, ...options: string[]): Promise<void> {
  const child = launch('admin.ts', ['move-blobs', ...options], site.settings())
  const ended = once(child, 'exit')
  await Promise.race([when(), ended])
  child.kill('SIGKILL')
  await ended
}

const killMover = () => killed(() => sleep(800 + randomInt(2500)), '--rate', '4', '--wait', '0')

/**
 * The move does not begin while an instance is registered that does not take part. An instance that
 * is no longer registered cannot store anything.
 */
async function forget(to: Settings, from: Settings): Promise<void> {
  const rows = (sql: string) => site.db.rows<{ name: string }>(sql)
  await until(async () => (await rows('SELECT name FROM instance_state')).length > 0)
  site.configure({ ...to, ...movedFrom(from) })
  const refused = await move()
  expect([refused.code, refused.err]).toEqual([
    1,
    expect.stringContaining('run without the settings of this move'),
  ])
  expect(await rows('SELECT source AS name FROM store_move WHERE finished_at IS NULL')).toEqual([])
  if (site.instances === 1) return
  // Both have the same name here, so the second instance is no longer registered.
  await restartOne(0)
  const began = () =>
    until(
      async () =>
        (await rows('SELECT source AS name FROM store_move WHERE finished_at IS NULL')).length > 0,
    )
  await killed(began, '--rate', '1')
  const { status, text } = await (await site.alice(1)).upload('forgotten', randomBytes(100))
  expect([status, text]).toEqual([503, expect.stringContaining('must be restarted')])
}

const objectsIn = async (store: Settings) => {
  const keys: string[] = []
  for await (const { key } of (await openDriver(readConfig(store))).list()) keys.push(key)
  return keys
}

async function moveAll(from: Settings, to: Settings): Promise<void> {
  for (let n = 0; n < 30; n++)
    await upload(`old-${folders}-${n}`, randomBytes(randomInt(200 * KiB)))
  await upload(`large-${folders}`, randomBytes(9 * 1024 * KiB))
  const alice = await site.alice(0)
  const bytes = randomBytes(2 * PART)
  const session = { filename: `parts-${folders}`, size: bytes.length, direct: true }
  const { response } = await alice.rest('POST', '/api/files/uploads', { json: session })
  const path = `/api/files/uploads/${response.upload_id}`
  expect(
    (await alice.rest('PUT', `${path}/parts/1`, { body: bytes.subarray(0, PART) })).status,
  ).toBe(200)

  await forget(to, from)
  const both = { ...to, ...movedFrom(from) }
  await restart(both)
  const leave = people()
  try {
    const looked = await move('--dry-run')
    expect([looked.code, looked.err]).toEqual([0, ''])
    for (let n = 0; n < 6; n++) {
      await killMover()
      const place = randomInt(site.instances)
      await site.end(place, 'SIGKILL')
      await site.start(place)
    }
    // An instance that does not know the other store cannot start any more.
    site.configure(to)
    await expect(site.start(0)).rejects.toThrow(/being moved/)
    site.configure(both)
    const waiting = await move('--wait', '0')
    expect([waiting.code, waiting.err]).toEqual([3, ''])
    expect(waiting.out).toContain('1 uploads that began in the old store')

    const again = await site.alice(0)
    expect(
      (await again.rest('PUT', `${path}/parts/2`, { body: bytes.subarray(PART) })).status,
    ).toBe(200)
    const done = await again.rest('POST', `${path}/complete`, { json: { md5: md5(bytes) } })
    expect([done.status, done.text]).toEqual([200, done.text])
    files.set(session.filename, md5(bytes))
    // Parts of an upload with signed URLs of the old store are deleted when the URLs have expired.
    const moved = await move('--wait', '2')
    expect([moved.code, moved.err]).toEqual([0, ''])
    await restart(to)
  } finally {
    await leave()
  }
  site.configure(from)
  await expect(site.start(0)).rejects.toThrow(/moved to another store/)
  site.configure(both)
  await killed(() => sleep(500 + randomInt(1500)), '--delete-source', '--grace', '0')
  await until(async () => (await move('--delete-source', '--grace', '0')).code === 0, 20_000, 1000)
  expect(await objectsIn(from)).toEqual([])
  site.configure(to)
  for (const name of files.keys()) await read(name)
  expect(faults).toEqual([])
  // Deletions wait for five minutes after a mover was killed.
  await site.db.run('UPDATE deletion_hold SET expires_at = 0')
  await site.expectHealed(30_000)
}

it('Blobs move to another store during uploads, reads and deletes, whichever process is killed', async () => {
  const second = newStore()
  await moveAll(first, second)
  await moveAll(second, newFolder())
  expect(did.reads).toBeGreaterThan(30)
  console.log(JSON.stringify({ ...did, files: files.size }))
}, 600_000)
