import { randomBytes } from 'node:crypto'
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals'
import { operatorService } from '../../src/services/accounts/operator.ts'
import { found, join } from '../support/builders.ts'
import { type Person, startApp, type TestApp } from '../support/harness.ts'
import { until } from '../support/until.ts'
import { graphqlUploader, restUploader } from '../support/uploader.ts'
import { exchange, head, openWire, type Wire } from '../support/wire.ts'

const MiB = 1024 * 1024
const KiB = 1024
const PART = MiB
const NOT_FOUND = [404, 'UPLOAD_NOT_FOUND']
const BUSY = [503, 'UNAVAILABLE']
const wait = (ms: number) => new Promise(resolve => setTimeout(resolve, ms))

let t: TestApp
let alice: Person
let mallory: Person
let wires: Wire[] = []

beforeAll(async () => {
  t = await startApp({
    UPLOAD_PART_BYTES: String(PART),
    BODIES_PER_ADDRESS: '12',
    BODIES_PER_CALLER: '5',
    BODY_MEMORY_BYTES: String(64 * MiB),
  })
  ;[alice, mallory] = await Promise.all([t.signIn('alice'), t.signIn('mallory')])
})
afterEach(async () => {
  for (const wire of wires) wire.cut()
  wires = []
  await until(() => t.app.gateway.running === 0 && intake().open === 0)
  expect(intake().memory).toBe(0)
})
afterAll(async () => {
  expect(t.failures()).toEqual([])
  await t.stop()
})

const intake = () => t.app.gateway.intake
let files = 0

/** Starts an upload of several parts. Returns its id and the paths of its signed URLs. */
async function begun(by: Person, workspaceId?: string, parts = 8) {
  const up = restUploader(by, workspaceId)
  const { value } = await up.start({
    filename: `part-${++files}.bin`,
    size: parts * PART,
    direct: true,
  })
  const paths = value.parts.map(({ url }: { url: string }) => new URL(url).pathname) as string[]
  return { up, id: value.upload_id as string, paths, path: (n: number) => paths[n - 1] ?? '' }
}

/** Starts to send a part without its own credential. The last byte is missing. */
async function begin(
  path: string,
  { from, person = t.anonymous, headers = {}, method = 'PUT' }: Sending = {},
) {
  const wire = await openWire(t.url, from)
  wires.push(wire)
  await wire.send(head(person, `${method} ${path}`, { 'content-length': PART, ...headers }))
  await wait(5)
  await wire.send('x')
  return wire
}
interface Sending {
  from?: string
  person?: Person
  headers?: Record<string, string>
  method?: string
}

async function hold(path: string, sending: Sending = {}): Promise<void> {
  const before = intake().open
  await begin(path, sending)
  await until(() => intake().open === before + 1)
}

const said = async (wire: Wire) => {
  const answer = await wire.answer()
  return [answer?.status, answer?.response?.code]
}
const send = async (path: string) => {
  const request = head(t.anonymous, `PUT ${path}`, { 'content-length': PART })
  const answer = await exchange(t.url, Buffer.concat([Buffer.from(request), randomBytes(PART)]))
  return answer?.status === 201 ? [201] : [answer?.status, answer?.response?.code]
}

it('Parts by signed URLs count for the creator of the upload, in number and in memory', async () => {
  const mine = await begun(mallory)
  const theirs = await begun(alice)
  // More connections than an address may open without a credential.
  for (let n = 1; n <= 5; n++) await hold(mine.path(n))
  expect(intake().memory).toBe(5 * (Math.min(PART, t.app.store.uploadMemory.part) + 128 * KiB))
  expect(await said(await begin(mine.path(6), { from: '127.0.0.2' }))).toEqual(BUSY)
  expect(await send(theirs.path(1))).toEqual([201])
  await mine.up.abort(mine.id)
})

it('A part is charged once, whatever its Content-Type', async () => {
  const { up, id } = await begun(alice)
  const charged: number[] = []
  for (const type of ['application/octet-stream', 'application/json', 'text/plain']) {
    const before = intake().memory
    await hold(`/api/files/uploads/${id}/parts/${charged.length + 1}`, {
      person: alice,
      headers: { 'content-type': type },
    })
    charged.push(intake().memory - before)
  }
  expect(charged).toEqual(Array(3).fill(Math.min(PART, t.app.store.uploadMemory.part) + 128 * KiB))
  await up.abort(id)
})

it('A signed URL refuses parts while its creator is suspended, including a part in flight', async () => {
  const bob = await t.signIn('bob')
  const operators = operatorService({ db: t.app.db })
  const { path, up, id } = await begun(bob)
  expect(await send(path(1))).toEqual([201])
  const late = await begin(path(2))
  await until(() => intake().open === 1)
  await operators.suspend(bob.email)
  expect(await send(path(3))).toEqual(NOT_FOUND)
  // The state of the upload is cached for a second.
  await wait(1100)
  await late.send(Buffer.alloc(PART - 1))
  expect(await said(late)).toEqual(NOT_FOUND)
  await operators.restore(bob.email)
  const again = await t.signIn('bob')
  expect(await send(path(3))).toEqual([201])
  expect((await restUploader(again).look(id)).value.received).toEqual([1, 3])
  await up.abort(id)
})

it('A signed URL refuses parts once its creator has lost the role', async () => {
  const workspaceId = await found(alice)
  const dora = await t.signIn('dora')
  await join(t, workspaceId, dora, 'editor')
  const { path } = await begun(dora, workspaceId)
  expect(await send(path(1))).toEqual([201])
  await join(t, workspaceId, dora, 'viewer')
  expect(await send(path(2))).toEqual(NOT_FOUND)
  await join(t, workspaceId, dora, 'admin')
  expect(await send(path(2))).toEqual([201])
  await t.app.db.run('DELETE FROM member WHERE workspace_id = ? AND user_id = ?', [
    workspaceId,
    dora.userId,
  ])
  expect(await send(path(3))).toEqual(NOT_FOUND)
})

it('Two requests may send the same part concurrently, a third is refused, and disk use is bounded', async () => {
  const { path, up, id } = await begun(alice)
  const [first] = [await begin(path(1)), await begin(path(1))]
  await until(() => intake().open === 2)
  for (const [method, target, person] of [
    ['PUT', path(1), t.anonymous],
    ['PUT', `/api/files/uploads/${id}/parts/1`, alice],
  ] as const)
    expect(await said(await begin(target, { method, person }))).toEqual(BUSY)
  const graph = await graphqlUploader(alice).part(id, 1, { bytes: Buffer.alloc(PART) })
  expect(graph.code).toBe(BUSY[1])
  expect(await send(path(2))).toEqual([201])
  // An aborted request makes room for another.
  first?.cut()
  await until(async () => (await send(path(1)))[0] === 201)
  expect((await up.look(id)).value.received).toEqual([1, 2])
  await up.abort(id)
})
