import { type IncomingMessage, request } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { checkAnswer } from '../../contract/answers.ts'
import type { Person } from '../../support/harness.ts'
import { type ServiceProcess, startServiceProcess } from '../../support/service-process.ts'
import { restUploader } from '../../support/uploader.ts'
import {
  BOUNDARY,
  field,
  file,
  form,
  formType,
  head,
  openWire,
  type Part,
} from '../../support/wire.ts'

const MiB = 1024 * 1024
const SIZE = 200 * MiB
const chunk = Buffer.alloc(256 * 1024, 7)

let service: ServiceProcess
let alice: Person

beforeAll(async () => {
  // A caller may use half of the memory, which more than two hundred parts need.
  service = await startServiceProcess({ BODY_MEMORY_BYTES: String(2048 * MiB) })
  ;[alice] = (await service.signIn('alice')) as [Person]
})
afterAll(() => service.stop())

/** Sends a form whose last part is a file of this size. */
async function send(path: string, parts: Part[], size: number): Promise<string> {
  // Everything except the end of the form: the file is incomplete.
  const before = form(parts, '').subarray(0, -2)
  const after = `\r\n--${BOUNDARY}--\r\n`
  const headers = {
    cookie: alice.cookie,
    'content-type': formType,
    'content-length': before.length + size + after.length,
  }
  const req = request(`${service.url}${path}`, { method: 'POST', headers })
  const answer = new Promise<IncomingMessage>((resolve, reject) => {
    req.on('error', reject).on('response', resolve)
  }).then(async res => {
    const text = (await res.setEncoding('utf8').toArray()).join('')
    const { statusCode: status = 0, headers } = res
    checkAnswer({
      method: 'POST',
      url: path,
      status,
      contentType: headers['content-type'],
      text,
      value: JSON.parse(text),
    })
    return text
  })
  const body = function* () {
    yield before
    for (let left = size; left > 0; left -= chunk.length)
      yield left < chunk.length ? chunk.subarray(0, left) : chunk
    yield after
  }
  const [, text] = await Promise.all([pipeline(body, req), answer])
  return text
}

/** Sends a file in parts, four at a time, and completes it. */
async function sendParts(filename: string, size: number): Promise<string> {
  const uploader = restUploader(alice)
  const { value: upload } = await uploader.start({ filename, size })
  const part = { bytes: Buffer.alloc(upload.chunk_size, 7) }
  const numbers = Array.from({ length: upload.part_count }, (_, i) => i + 1).values()
  const work = async () => {
    for (const n of numbers) await uploader.part(upload.upload_id, n, part)
  }
  await Promise.all([1, 2, 3, 4].map(work))
  return JSON.stringify((await uploader.complete(upload.upload_id)).value)
}

const graphqlParts = (name: string) => [
  field(
    'operations',
    JSON.stringify({
      query: 'mutation ($file: Upload!) { uploadFile(input: { file: $file }) { file { size } } }',
      variables: { file: null },
    }),
  ),
  field('map', '{"0":["variables.file"]}'),
  file(name, '', '0'),
]

describe('An upload of 200 MiB', () => {
  it.each([
    ['REST', (name: string, size: number) => send('/api/files/upload', [file(name, '')], size)],
    ['GraphQL', (name: string, size: number) => send('/graphql', graphqlParts(name), size)],
    ['REST in parts', sendParts],
  ])(
    'by %s raises the memory of the service by less than 150 MiB',
    async (face, upload) => {
      // The first upload of a process allocates one-time memory, which is not a cost of large
      // uploads.
      await upload(`${face}-warm`, 16 * MiB)
      service.markMemory()
      const before = service.memory('VmRSS')
      expect(await upload(face, SIZE)).toContain(`"size":${SIZE}`)
      expect(service.memory('VmHWM') - before).toBeLessThan(150)
    },
    120_000,
  )
})

it('Two hundred stalled parts hold less than a megabyte each', async () => {
  const uploader = restUploader(alice)
  const { value: upload } = await uploader.start({ filename: 'still', size: 200 * 4 * MiB })
  const most = Buffer.alloc(upload.chunk_size - 1, 7)
  const send = async (n: number) => {
    const wire = await openWire(service.url)
    const length = { 'content-length': upload.chunk_size }
    await wire.send(head(alice, `PUT /api/files/uploads/${upload.upload_id}/parts/${n}`, length))
    await wire.send(most)
    return wire
  }
  const warm = await send(1)
  service.markMemory()
  const before = service.memory('VmRSS')
  const wires = await Promise.all(Array.from({ length: 200 }, (_, i) => send(i + 1)))
  await sleep(2000)
  expect(service.memory('VmHWM') - before).toBeLessThan(150)
  for (const wire of [warm, ...wires]) wire.cut()
  expect((await uploader.look(upload.upload_id)).value.received).toEqual([])
})
