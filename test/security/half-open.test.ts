import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals'
import { openDatabase } from '../../db/index.ts'
import { readConfig } from '../../src/config.ts'
import { type BuiltService, startBuilt } from '../built-service.ts'
import { newDatabase, type Person, signInTo } from '../harness.ts'
import { until } from '../until.ts'
import { restUploader } from '../uploader.ts'
import { field, file, form, formType, head, openWire, type Wire } from '../wire.ts'

const MiB = 1024 * 1024
/** What the whole process may take, whatever is sent to it. */
const MOST = 600
/** What may stay of an attack a minute after its end. */
const STAYS = 150

let database: Awaited<ReturnType<typeof newDatabase>>
let dataDir: string
let service: BuiltService
let alice: Person
let mallory: Person
const anonymous = { cookie: '' } as Person

beforeAll(async () => {
  database = await newDatabase()
  dataDir = mkdtempSync(join(tmpdir(), 'satchel-half-open-'))
  service = await startBuilt({
    DATA_DIR: dataDir,
    DATABASE_URL: database.url,
    AZURE_STORAGE_CONNECTION_STRING: process.env.TEST_AZURE ?? '',
    AZURE_STORAGE_CONTAINER: `half${Date.now()}`,
    LOG_LEVEL: 'error',
  })
  const db = openDatabase(readConfig({ DATABASE_URL: database.url }).database, { pool: 2 })
  ;[alice, mallory] = await Promise.all([signInTo(db, service.url, 'alice'), signInTo(db, service.url, 'mallory')])
  await db.close()
  await honest(0)
}, 60_000)
afterAll(async () => {
  await service.end('SIGKILL')
  await database.drop()
  rmSync(dataDir, { recursive: true, force: true })
})

/** Resident memory of the service in MiB: now, or the most it ever was. */
const memory = (which: 'VmRSS' | 'VmHWM') =>
  Number(new RegExp(`${which}:\\s+(\\d+) kB`).exec(readFileSync(`/proc/${service.pid}/status`, 'utf8'))?.[1]) / 1024
/** From here on the most is counted anew: proc(5), clear_refs. */
const forgetPeak = () => writeFileSync(`/proc/${service.pid}/clear_refs`, '5')

/** What somebody does who means no harm. */
async function honest(n: number): Promise<void> {
  const name = `honest-${n}-${Math.random()}`
  expect((await alice.upload(name, Buffer.alloc(MiB, n))).status).toBe(200)
  expect((await alice.rest('POST', '/api/folders', { json: { path: `${name}-folder` } })).status).toBe(200)
  expect((await alice.rest('GET', '/api/files/tree?limit=1')).status).toBe(200)
  expect((await alice.graphql('{ me { id } }')).errors).toBeUndefined()
}

/** Asks for /healthz, from a thread of its own, and keeps how long each answer took. */
function watchHealth(): () => Promise<number[]> {
  const code = `
    const { parentPort, workerData } = require('node:worker_threads')
    const times = []
    let over = false
    parentPort.once('message', () => { over = true })
    const ask = async () => {
      while (!over) {
        const begun = performance.now()
        const status = await fetch(workerData + '/healthz').then(r => r.text().then(() => r.status), () => 0)
        times.push(status === 200 ? performance.now() - begun : Infinity)
        await new Promise(resolve => setTimeout(resolve, 100))
      }
      parentPort.postMessage(times)
    }
    ask()`
  const worker = new Worker(code, { eval: true, workerData: service.url })
  return () =>
    new Promise((resolve, reject) => {
      worker.once('message', resolve).once('error', reject)
      worker.postMessage('over')
    })
}

interface Attack {
  times: number
  who: () => Person
  request: () => string | Promise<string>
  headers: Record<string, string | number>
  /** What is sent of each body. */
  body: Buffer
}

const upload = form([file('half.bin', '')], '').subarray(0, -2)
const graphqlUpload = form(
  [
    field(
      'operations',
      JSON.stringify({
        query: 'mutation ($file: Upload!) { uploadFile(input: { file: $file }) { size } }',
        variables: { file: null },
      }),
    ),
    field('map', '{"0":["variables.file"]}'),
    file('half.bin', '', '0'),
  ],
  '',
).subarray(0, -2)
const block = Buffer.alloc(4 * MiB - 64 * 1024, 7)
const text = Buffer.alloc(MiB - 100, ' ')
const json = { 'content-type': 'application/json', 'content-length': MiB }
const whole = { 'content-type': formType, 'content-length': 100 * MiB }

const attacks: [string, Attack][] = [
  [
    '300 bodies of 1 MiB without a credential, by GraphQL',
    { times: 300, who: () => anonymous, request: () => 'POST /graphql', headers: json, body: text },
  ],
  [
    '300 bodies of 1 MiB without a credential, by REST',
    { times: 300, who: () => anonymous, request: () => 'POST /api/share/resolve/x', headers: json, body: text },
  ],
  [
    '400 bodies of 1 MiB of one user',
    { times: 400, who: () => mallory, request: () => 'POST /api/folders', headers: json, body: text },
  ],
  [
    '800 uploads of one user',
    {
      times: 800,
      who: () => mallory,
      request: () => 'POST /api/files/upload',
      headers: whole,
      body: Buffer.concat([upload, block]),
    },
  ],
  [
    '300 uploads of one user by GraphQL',
    {
      times: 300,
      who: () => mallory,
      request: () => 'POST /graphql',
      headers: whole,
      body: Buffer.concat([graphqlUpload, block]),
    },
  ],
  [
    '400 parts of one user',
    {
      times: 400,
      who: () => mallory,
      request: async () => {
        const { value } = await restUploader(mallory).start({ filename: 'parts.bin', size: 4 * MiB })
        return `PUT /api/files/uploads/${value.upload_id}/parts/1`
      },
      headers: { 'content-length': 4 * MiB },
      body: block,
    },
  ],
]

describe('Bodies that stop short', () => {
  let wires: Wire[] = []
  afterEach(() => {
    for (const wire of wires) wire.cut()
    wires = []
  })

  it.each(attacks)(
    'take no more memory than is theirs, stop nobody, and give it back: %s',
    async (_what, attack) => {
      const before = memory('VmRSS')
      forgetPeak()
      const healthy = watchHealth()
      const start = head(attack.who(), await attack.request(), { accept: 'application/json', ...attack.headers })
      let begun = 0
      const beginner = async () => {
        while (begun < attack.times) {
          begun++
          const wire = await openWire(service.url)
          wires.push(wire)
          await wire.send(start)
          // A service that has refused takes it slowly, or not at all.
          await Promise.race([wire.send(attack.body), sleep(1000)])
        }
      }
      const others = async () => {
        for (let n = 1; begun < attack.times || n <= 3; n++) await honest(n)
      }
      await Promise.all([others(), ...Array.from({ length: 40 }, beginner)])
      await sleep(4000)
      await honest(100)
      const times = (await healthy()).sort((a, b) => a - b)
      const [peak, usual] = [memory('VmHWM'), times.at(times.length >> 1) ?? 0]
      for (const wire of wires) wire.cut()
      const ended = performance.now()
      await until(() => memory('VmRSS') < before + STAYS, 60_000, 200).catch(() => {})
      process.stdout.write(
        `${_what}: ${Math.round(before)} MiB before, ${Math.round(peak)} at most, ${Math.round(memory('VmRSS'))} after ${Math.round((performance.now() - ended) / 1000)} s; /healthz ${Math.round(usual)} ms (median of ${times.length}), ${Math.round(times.at(-1) ?? 0)} ms at most\n`,
      )
      expect(peak).toBeLessThan(MOST)
      expect(memory('VmRSS')).toBeLessThan(before + STAYS)
      // The machine that runs the tests is busy with the attackers, too.
      expect(usual).toBeLessThan(1500)
      expect(times.at(-1)).toBeLessThan(Number.POSITIVE_INFINITY)
      expect(times.length).toBeGreaterThan(2)
      expect(service.said()).not.toMatch(/"level":50/)
    },
    120_000,
  )
})
