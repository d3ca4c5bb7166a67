import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { StoreRefusal } from '../../src/storage/store.ts'
import { limits } from '../../src/values/paths.ts'
import { codeOf } from '../support/ask.ts'
import { found } from '../support/builders.ts'
import { type Person, type RestAnswer, startApp, type TestApp } from '../support/harness.ts'
import { gateOf, type StoreGate } from '../support/store-gate.ts'

const IN_BACKGROUND = { prefer: 'respond-async, wait=10' }

let t: TestApp
let gate: StoreGate
let alice: Person
let garden: string

beforeAll(async () => {
  t = await startApp({ WORKERS: '1' })
  gate = gateOf(t.app.store)
  alice = await t.signIn('alice')
  garden = await found(alice)
})
afterAll(() => t.stop())

const said = ({ status, response }: RestAnswer) => [status, response?.code]

/** Holds an upload as a request that completes it does, or releases it. */
const claim = (id: string, until: number) =>
  t.app.db.run('UPDATE upload_session SET claim_until = ? WHERE id = ?', [until, id])

describe.each(['own files', 'a workspace'])('An upload in parts to %s', where => {
  const base = () => (where === 'a workspace' ? `/api/workspaces/${garden}/files` : '/api/files')
  const start = async (json: object): Promise<string> => {
    const { response, text } = await alice.rest('POST', `${base()}/uploads`, {
      json: { filename: 'a.bin', size: 2, ...json },
    })
    if (!response.upload_id) throw new Error(text)
    return response.upload_id
  }
  const at = (id: string) => `${base()}/uploads/${id}`
  const send = (id: string, body = 'ab', headers: Record<string, string> = {}, method = 'PUT') =>
    alice.rest(method, `${at(id)}/parts/1`, { body, headers })
  const complete = (id: string, headers: Record<string, string> = {}) =>
    alice.rest('POST', `${at(id)}/complete`, { json: {}, headers })
  const outcome = (id: string) => alice.rest('GET', `${at(id)}/completion`)
  const abort = async (id: string) => expect((await alice.rest('DELETE', at(id))).status).toBe(200)

  it.each(['PUT', 'POST'])('refuses wrong parts that are sent by %s', async method => {
    const id = await start({})
    const part = (body?: string, headers = {}) => send(id, body, headers, method)
    expect(said(await part('abc'))).toEqual([400, 'INVALID_INPUT'])
    const md5 = { 'content-md5': 'nhB9nTcrtoJr2B01QqQZ1g==' }
    expect(said(await part('ab', md5))).toEqual([400, 'CHECKSUM_MISMATCH'])
    await claim(id, Date.now() + 60_000)
    expect(said(await part())).toEqual([409, 'UPLOAD_BUSY'])
    await claim(id, 0)
    // Clients with signed URLs of the store can store other data than parts.
    const writable = 'UPDATE upload_session SET writable_until = ? WHERE id = ?'
    await t.app.db.run(writable, [Date.now() + 60_000, id])
    gate.interfere = kind => {
      if (kind === 'part') throw new StoreRefusal(400, 'InvalidBlobOrBlock')
    }
    expect(said(await part())).toEqual([400, 'UPLOAD_INCOMPLETE'])
    gate.interfere = () => {}
    await t.app.db.run(writable, [0, id])
    expect((await part()).status).toBe(200)
    await abort(id)
  })

  it('is refused if its folders exceed the limit when it ends', async () => {
    const [now, later] = [await start({ folder: 'new 1' }), await start({ folder: 'new 2' })]
    for (const id of [now, later]) expect((await send(id)).status).toBe(200)
    await t.limit({ maxFolders: 0, maxWorkspaceFolders: 0 })
    try {
      expect(said(await complete(now))).toEqual([400, 'QUOTA_EXCEEDED'])
      expect(said(await complete(later, IN_BACKGROUND))).toEqual([400, 'QUOTA_EXCEEDED'])
      expect(said(await outcome(later))).toEqual([400, 'QUOTA_EXCEEDED'])
    } finally {
      await t.limit({ maxFolders: 1000, maxWorkspaceFolders: 1000 })
    }
    for (const id of [now, later]) await abort(id)
  })

  it('is refused in the background if its new name makes the path too long', async () => {
    const folder = ['a', 'b', 'c', 'd'].map(letter => letter.repeat(250)).join('/')
    const filename = 'f'.repeat(limits.pathBytes - folder.length - 1)
    const upload = { folder, filename, on_conflict: 'keep_both' }
    const [first, second] = [await start(upload), await start(upload)]
    for (const id of [first, second]) expect((await send(id)).status).toBe(200)
    expect((await complete(first)).status).toBe(200)
    expect(said(await complete(second, IN_BACKGROUND))).toEqual([400, 'INVALID_PATH'])
    expect(said(await outcome(second))).toEqual([400, 'INVALID_PATH'])
    await abort(second)
  })

  it('is busy while another request completes it, in the background, too', async () => {
    const id = await start({})
    expect((await send(id)).status).toBe(200)
    await claim(id, Date.now() + 60_000)
    const BEGIN =
      'mutation ($input: BeginCompletionInput!) { beginCompletion(input: $input) { uploadSession { id } } }'
    expect(await codeOf(alice, BEGIN, { input: { uploadSession: id } })).toBe('UPLOAD_BUSY')
    expect(said(await complete(id, IN_BACKGROUND))).toEqual([409, 'UPLOAD_BUSY'])
    expect(said(await complete(id))).toEqual([409, 'UPLOAD_BUSY'])
    await claim(id, 0)
    expect((await complete(id)).status).toBe(200)
    await alice.rest(
      'DELETE',
      `${base()}/delete?${where === 'a workspace' ? 'path' : 'file'}=a.bin`,
    )
  })
})
