import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { expectHealthy, gather, watchHealth } from '../../support/attackers.ts'
import type { Person } from '../../support/harness.ts'
import { type ServiceProcess, startServiceProcess } from '../../support/service-process.ts'
import { until } from '../../support/until.ts'
import { restUploader } from '../../support/uploader.ts'
import { field, file, form, formType, head } from '../../support/wire.ts'

const MiB = 1024 * 1024
/** The maximum memory of the whole process under any attack. */
const MOST = 600
/** The maximum memory that remains a minute after an attack. */
const STAYS = 150

let service: ServiceProcess
let alice: Person
let mallory: Person
const anonymous = { cookie: '' } as Person

beforeAll(async () => {
  service = await startServiceProcess({
    AZURE_STORAGE_CONNECTION_STRING: process.env.TEST_AZURE ?? '',
    AZURE_STORAGE_CONTAINER: `half${Date.now()}`,
    LOG_LEVEL: 'error',
  })
  ;[alice, mallory] = (await service.signIn('alice', 'mallory')) as [Person, Person]
  await honest(0)
})
afterAll(() => service.stop())

/** The requests of an honest user. */
async function honest(n: number): Promise<void> {
  const name = `honest-${n}-${Math.random()}`
  expect((await alice.upload(name, Buffer.alloc(MiB, n))).status).toBe(200)
  expect(
    (await alice.rest('POST', '/api/folders', { json: { path: `${name}-folder` } })).status,
  ).toBe(200)
  expect((await alice.rest('GET', '/api/files/tree?limit=1')).status).toBe(200)
  expect((await alice.graphql('{ me { id } }')).errors).toBeUndefined()
}

interface Attack {
  times: number
  who: () => Person
  request: () => string | Promise<string>
  headers: Record<string, string | number>
  /** The beginning of each body, which is all that is sent. */
  body: Buffer
}

const upload = form([file('half.bin', '')], '').subarray(0, -2)
const graphqlUpload = form(
  [
    field(
      'operations',
      JSON.stringify({
        query: 'mutation ($file: Upload!) { uploadFile(input: { file: $file }) { file { size } } }',
        variables: { file: null },
      }),
    ),
    field('map', '{"0":["variables.file"]}'),
    file('half.bin', '', '0'),
  ],
  '',
).subarray(0, -2)
/** Each body has nearly 4 MiB. Together they exceed the memory of the process. */
const [UPLOADS, PARTS] = [400, 300]
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
    {
      times: 300,
      who: () => anonymous,
      request: () => 'POST /api/share/resolve/x',
      headers: json,
      body: text,
    },
  ],
  [
    '400 bodies of 1 MiB of one user',
    {
      times: 400,
      who: () => mallory,
      request: () => 'POST /api/folders',
      headers: json,
      body: text,
    },
  ],
  [
    `${UPLOADS} uploads of one user`,
    {
      times: UPLOADS,
      who: () => mallory,
      request: () => 'POST /api/files/upload',
      headers: whole,
      body: Buffer.concat([upload, block]),
    },
  ],
  [
    `${PARTS} uploads of one user by GraphQL`,
    {
      times: PARTS,
      who: () => mallory,
      request: () => 'POST /graphql',
      headers: whole,
      body: Buffer.concat([graphqlUpload, block]),
    },
  ],
  [
    `${PARTS} parts of one user`,
    {
      times: PARTS,
      who: () => mallory,
      request: async () => {
        const { value } = await restUploader(mallory).start({
          filename: 'parts.bin',
          size: 4 * MiB,
        })
        return `PUT /api/files/uploads/${value.upload_id}/parts/1`
      },
      headers: { 'content-length': 4 * MiB },
      body: block,
    },
  ],
]

describe('Stalled bodies', () => {
  it.each(attacks)(
    'stay within their memory, block nobody, and release it: %s',
    async (_what, { times, who, request, headers, body }) => {
      const before = service.memory('VmRSS')
      service.markMemory()
      const heads: string[] = []
      for (let i = 0; i < times; i++)
        heads.push(head(who(), await request(), { accept: 'application/json', ...headers }))
      const attackers = await gather({ kind: 'half', url: service.url, heads, body, opening: 40 })
      try {
        const healthy = watchHealth(service)
        let begun = false
        const attack = attackers.attack().finally(() => {
          begun = true
        })
        for (let n = 1; !begun || n <= 3; n++) {
          await honest(n)
          await sleep(200)
        }
        await attack
        // The attackers keep their connections open.
        await sleep(4000)
        await honest(100)
        const health = await healthy()
        const peak = service.memory('VmHWM')
        await attackers.end()
        await until(() => service.memory('VmRSS') < before + STAYS, 60_000, 200).catch(() => {})
        expect(peak).toBeLessThan(MOST)
        expect(service.memory('VmRSS')).toBeLessThan(before + STAYS)
        expectHealthy(health)
        expect(service.said()).not.toMatch(/"level":50/)
      } finally {
        await attackers.end()
      }
    },
    120_000,
  )
})
