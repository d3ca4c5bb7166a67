import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { found, join, put } from '../../support/builders.ts'
import { expectConsistent, outlive } from '../../support/consistency.ts'
import { type Person, type RestAnswer, startApp, type TestApp } from '../../support/harness.ts'
import { until } from '../../support/until.ts'

const KiB = 1024
const MiB = 1024 * KiB

let t: TestApp
let alice: Person
let people = 0

beforeAll(async () => {
  // Behind a proxy, so that senders can have several addresses.
  t = await startApp({ TRUST_PROXY: 'loopback' })
})
beforeEach(async () => {
  alice = await t.signIn(`alice${++people}`)
  await alice.rest('POST', '/api/folders', { json: { path: 'inbox' } })
})
afterAll(() => t.stop())

const statusAndCode = ({ status, response }: Pick<RestAnswer, 'status' | 'response'>) => [
  status,
  response?.code,
]

async function request(
  json: object = {},
  person = alice,
  base = '/api',
): Promise<{ id: string; token: string }> {
  const answer = await person.rest('POST', `${base}/file_requests`, {
    json: { folder: 'inbox', label: 'x', ...json },
  })
  if (answer.status !== 200) throw new Error(answer.text)
  return answer.response
}
const send = (token: string, name: string, bytes: Uint8Array | string = 'x') => {
  const form = new FormData()
  form.append('file', new Blob([bytes as Uint8Array<ArrayBuffer>]), name)
  return t.anonymous.rest('POST', `/api/request/${token}/upload`, { form })
}
const start = (token: string, json: object, address = '192.0.2.1') =>
  t.anonymous.rest('POST', `/api/request/${token}/uploads`, {
    json,
    headers: { 'x-forwarded-for': address },
  })
const row = async (id: string) => {
  const [found] = await t.app.db.rows<Record<string, number>>(
    'SELECT files, bytes, reserved_files AS reservedFiles, reserved_bytes AS reservedBytes FROM file_request WHERE id = ?',
    [id],
  )
  return found
}
const namesIn = async (folder: string, person = alice): Promise<string[]> => {
  const { response } = await person.rest('GET', `/api/files/tree?path=${folder}`)
  return response.files.map(({ name }: { name: string }) => name)
}
const byStatus = (answers: RestAnswer[]) =>
  Object.fromEntries(
    [...Map.groupBy(answers, a => statusAndCode(a).join(' '))].map(([key, all]) => [
      key,
      all.length,
    ]),
  )

/** A form that has arrived except for its end. The service has already checked the request. */
async function held(token: string, name = 'held.txt') {
  let end = () => {}
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(
        Buffer.from(
          `--b\r\ncontent-disposition: form-data; name="file"; filename="${name}"\r\n\r\nfirst half, `,
        ),
      )
      end = () => {
        controller.enqueue(Buffer.from('second half\r\n--b--\r\n'))
        controller.close()
      }
    },
  })
  t.statements()
  const seen: string[] = []
  const headers = { 'content-type': 'multipart/form-data; boundary=b' }
  const answer = t.anonymous.rest('POST', `/api/request/${token}/upload`, { body, headers })
  await until(async () => {
    seen.push(...t.statements())
    return seen.some(sql => sql.includes('FROM file_request r'))
  })
  return async () => {
    end()
    return answer
  }
}

/** Starts a multipart upload and sends its only part. Returns the first refusal. */
async function begin(
  token: string,
  declared: { filename: string; size: number },
  address?: string,
): Promise<RestAnswer> {
  const started = await start(token, declared, address)
  if (started.status !== 200) return started
  const { upload_id, sender } = started.response
  return t.anonymous.rest('PUT', `/api/request/${token}/uploads/${upload_id}/parts/1`, {
    body: 'x'.repeat(declared.size),
    headers: { 'x-sender-token': sender },
  })
}

describe('Incomplete uploads', () => {
  it('reserve only received bytes, so that a few of them do not fill a drive', async () => {
    const { id, token } = await request()
    const huge = { filename: 'huge.bin', size: 900 * MiB }
    const starts = await Promise.all(Array.from({ length: 5 }, () => start(token, huge)))
    expect(byStatus(starts)).toEqual({ '200 ': 5 })
    expect(await row(id)).toMatchObject({ reservedFiles: 5, reservedBytes: 0 })
    // A refused part reserves nothing either.
    const { upload_id, sender } = starts[0]?.response ?? {}
    const path = `/api/request/${token}/uploads/${upload_id}/parts/1`
    const headers = { 'x-sender-token': sender }
    expect((await t.anonymous.rest('PUT', path, { body: 'short', headers })).status).toBe(400)
    expect(await row(id)).toMatchObject({ reservedBytes: 0 })
    await expectConsistent(t)
    await outlive(t)
    await expectConsistent(t)
  })

  it('reserve ahead no more than has arrived, also in one request', async () => {
    const { id, token } = await request()
    let cut = () => {}
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        const head = '--b\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\n'
        controller.enqueue(Buffer.from(head))
        controller.enqueue(Buffer.alloc(9 * MiB))
        cut = () => controller.error(new Error('cut'))
      },
    })
    const headers = { 'content-type': 'multipart/form-data; boundary=b' }
    const answer = t.anonymous
      .rest('POST', `/api/request/${token}/upload`, { body, headers })
      .catch(() => undefined)
    const { reservedBytes } = await until(async () => {
      const found = await row(id)
      return Number(found?.reservedBytes) > 0 && found
    })
    expect(Number(reservedBytes)).toBeLessThanOrEqual(18 * MiB)
    cut()
    await answer
    await until(async () => Number((await row(id))?.reservedFiles) === 0)
    await expectConsistent(t)
  })

  it('of one byte do not block others in the same network', async () => {
    const { token } = await request()
    for (let i = 0; i < 10; i++)
      expect((await begin(token, { filename: `${i}`, size: 1 }, '10.9.9.1')).status).toBe(200)
    expect((await start(token, { filename: 'honest', size: MiB }, '10.9.9.2')).status).toBe(200)
    await outlive(t)
    await expectConsistent(t)
  })

  it('are limited, leave space for the owner, and leave nothing after the sweep', async () => {
    const { id, token } = await request()
    const answers: RestAnswer[] = []
    for (let i = 0; i < 30; i++)
      answers.push(
        ...(await Promise.all(
          Array.from({ length: 12 }, (_, j) =>
            start(token, { filename: `${i}-${j}`, size: MiB }, `10.0.${i}.${j}`),
          ),
        )),
      )
    expect(byStatus(answers)).toEqual({ '200 ': 360 })
    // Nothing has arrived yet, so no bytes are reserved.
    expect(await row(id)).toEqual({ files: 0, bytes: 0, reservedFiles: 360, reservedBytes: 0 })
    const { db } = t.app
    await db.run('UPDATE file_request SET reserved_files = 1000 WHERE id = ?', [id])
    const refused = await send(token, 'whole.txt')
    expect(statusAndCode(refused)).toEqual([429, 'RATE_LIMITED'])
    expect([refused.headers.get('retry-after'), refused.response.retry_after]).toEqual(['60', 60])
    await db.run('UPDATE file_request SET reserved_files = 360 WHERE id = ?', [id])
    expect((await alice.upload('own.txt', 'mine')).status).toBe(200)
    // They expire within a minute.
    const [lease] = await t.app.db.rows<{ until: number }>(
      "SELECT MAX(lease_until) AS until FROM blobs WHERE state = 'staged'",
    )
    expect(Number(lease?.until) - Date.now()).toBeLessThanOrEqual(60_000)
    // A sweep ends up to 200 of them.
    await outlive(t)
    await outlive(t)
    expect(await row(id)).toEqual({ files: 0, bytes: 0, reservedFiles: 0, reservedBytes: 0 })
    expect((await send(token, 'whole.txt')).status).toBe(200)
    await expectConsistent(t)
  })

  it('fill at most nine tenths of a drive', async () => {
    const { token } = await request()
    await t.limit({ maxTotalStorageBytes: 10 * MiB })
    try {
      const answers = []
      for (let i = 0; i < 12; i++)
        answers.push(await begin(token, { filename: `${i}`, size: MiB }, `10.1.${i}.1`))
      expect(byStatus(answers)).toEqual({ '200 ': 9, '403 FILE_REQUEST_FULL': 3 })
      expect(JSON.stringify(answers.at(-1)?.response)).not.toMatch(/max|used|\d/)
      expect((await alice.upload('own.bin', Buffer.alloc(MiB))).status).toBe(200)
      expect(statusAndCode(await send(token, 'a', 'x'))).toEqual([403, 'FILE_REQUEST_FULL'])
    } finally {
      await t.limit({ maxTotalStorageBytes: 5 * 1024 * MiB })
    }
    await outlive(t)
    await expectConsistent(t)
  })
})

describe('Parallel uploads', () => {
  it('never exceed the limit of files', async () => {
    const { id, token } = await request({ max_files: 5 })
    const answers = await Promise.all(
      Array.from({ length: 9 }, (_, i) => send(token, 'same.txt', `${i}`)),
    )
    expect(byStatus(answers)).toEqual({ '200 ': 5, '403 FILE_REQUEST_FULL': 4 })
    expect(await row(id)).toEqual({ files: 5, bytes: 5, reservedFiles: 0, reservedBytes: 0 })
    expect(await namesIn('inbox')).toHaveLength(5)
    await expectConsistent(t)
  })

  it('never exceed the total size, whole or in parts', async () => {
    const { id, token } = await request({ max_bytes: 50 })
    const answers = await Promise.all(
      Array.from({ length: 9 }, (_, i) =>
        i % 2 ? send(token, `${i}`, 'x'.repeat(10)) : begin(token, { filename: `${i}`, size: 10 }),
      ),
    )
    expect(byStatus(answers)).toEqual({ '200 ': 5, '403 FILE_REQUEST_FULL': 4 })
    const { bytes = 0, reservedBytes = 0 } = (await row(id)) ?? {}
    expect(bytes + reservedBytes).toBe(50)
    await outlive(t)
    await expectConsistent(t)
  })
})

describe('A false size', () => {
  it('is refused when the bytes arrive: an oversized part or stream', async () => {
    const { id, token } = await request({ max_bytes: 10 })
    const { upload_id, sender } = (await start(token, { filename: 'a', size: 1 })).response
    const part = await t.anonymous.rest(
      'PUT',
      `/api/request/${token}/uploads/${upload_id}/parts/1`,
      {
        body: 'x'.repeat(MiB),
        headers: { 'x-sender-token': sender },
      },
    )
    expect(statusAndCode(part)).toEqual([400, 'INVALID_INPUT'])
    // Chunked encoding declares no length.
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(
          Buffer.from('--b\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\n'),
        )
        for (let i = 0; i < 100; i++) controller.enqueue(Buffer.alloc(64 * KiB))
        controller.enqueue(Buffer.from('\r\n--b--\r\n'))
        controller.close()
      },
    })
    const headers = { 'content-type': 'multipart/form-data; boundary=b' }
    const whole = await t.anonymous.rest('POST', `/api/request/${token}/upload`, { body, headers })
    expect(statusAndCode(whole)).toEqual([403, 'FILE_REQUEST_FULL'])
    expect(await row(id)).toEqual({ files: 0, bytes: 0, reservedFiles: 1, reservedBytes: 0 })
    await outlive(t)
    await expectConsistent(t)
  })

  it('may be too large: a stream reserves storage as it arrives', async () => {
    const { id, token } = await request({ max_bytes: 20 * MiB })
    expect((await send(token, 'a.bin', Buffer.alloc(19 * MiB))).status).toBe(200)
    expect(await row(id)).toEqual({ files: 1, bytes: 19 * MiB, reservedFiles: 0, reservedBytes: 0 })
    expect(statusAndCode(await send(token, 'b.bin', Buffer.alloc(2 * MiB)))).toEqual([
      403,
      'FILE_REQUEST_FULL',
    ])
    await expectConsistent(t)
  })
})

describe('A file request that ends during an upload', () => {
  const ways: [string, (id: string) => Promise<unknown>][] = [
    ['it is closed', id => alice.rest('DELETE', `/api/file_requests/${id}`)],
    [
      'it expires',
      id =>
        t.app.db.run('UPDATE file_request SET expires_at = ? WHERE id = ?', [Date.now() - 1, id]),
    ],
    [
      'its folder goes into the trash',
      () => alice.rest('DELETE', '/api/folders?path=inbox&recursive=true'),
    ],
    [
      'because its creator is suspended',
      () => t.app.db.run("UPDATE user SET status = 'suspended' WHERE id = ?", [alice.userId]),
    ],
  ]

  it.each(ways)('%s', async (_how, end) => {
    const { id, token } = await request()
    const finish = await held(token)
    const { upload_id, sender } = (await start(token, { filename: 'parts.txt', size: 1 })).response
    const at = `/api/request/${token}/uploads/${upload_id}`
    const headers = { 'x-sender-token': sender }
    expect((await t.anonymous.rest('PUT', `${at}/parts/1`, { body: 'x', headers })).status).toBe(
      200,
    )
    await end(id)
    expect(statusAndCode(await finish())).toEqual([403, 'FILE_REQUEST_CLOSED'])
    const complete = await t.anonymous.rest('POST', `${at}/complete`, { json: {}, headers })
    expect(statusAndCode(complete)).toEqual([403, 'FILE_REQUEST_CLOSED'])
    expect(statusAndCode(await send(token, 'late.txt'))).toEqual([403, 'FILE_REQUEST_CLOSED'])
    expect(statusAndCode(await t.anonymous.rest('GET', `/api/request/${token}`))).toEqual([
      403,
      'FILE_REQUEST_CLOSED',
    ])
    await outlive(t)
    expect(await row(id)).toMatchObject({ files: 0, reservedFiles: 0, reservedBytes: 0 })
    await expectConsistent(t)
  })

  it('because its creator deletes the account and the files', async () => {
    const { token } = await request()
    const finish = await held(token)
    const gone = await alice.rest('DELETE', '/api/user/account/delete', {
      json: { delete_user_data: true },
    })
    expect(gone.status).toBe(200)
    expect([403, 404]).toContain((await finish()).status)
    expect(statusAndCode(await send(token, 'late.txt'))).toEqual([404, 'FILE_REQUEST_NOT_FOUND'])
    await outlive(t)
    const [left] = await t.app.db.rows<{ n: number }>(
      'SELECT COUNT(*) AS n FROM file_request_upload q LEFT JOIN file_request r ON r.id = q.request_id WHERE r.id IS NULL',
    )
    expect(Number(left?.n)).toBe(0)
    await expectConsistent(t)
  })

  it.each<[string, (garden: string, bob: Person) => Promise<unknown>]>([
    ['because its creator is a viewer now', (garden, bob) => join(t, garden, bob, 'viewer')],
    [
      'because its creator has left the workspace',
      (garden, { userId }) =>
        t.app.db.run('DELETE FROM member WHERE workspace_id = ? AND user_id = ?', [garden, userId]),
    ],
  ])('%s', async (_how, end) => {
    const bob = await t.signIn(`bob${people}`)
    const garden = await found(alice)
    await put(alice, garden, 'inbox/a.txt')
    await join(t, garden, bob, 'editor')
    const { token } = await request({}, bob, `/api/workspaces/${garden}`)
    expect((await send(token, 'early.txt')).status).toBe(200)
    const finish = await held(token)
    await end(garden, bob)
    expect(statusAndCode(await finish())).toEqual([403, 'FILE_REQUEST_CLOSED'])
    expect(statusAndCode(await send(token, 'late.txt'))).toEqual([403, 'FILE_REQUEST_CLOSED'])
    await join(t, garden, bob, 'editor')
    expect((await send(token, 'again.txt')).status).toBe(200)
    await expectConsistent(t)
  })
})

describe('A folder', () => {
  it('that is moved or renamed during an upload keeps the file', async () => {
    const { token } = await request()
    const finish = await held(token)
    const { upload_id, sender } = (await start(token, { filename: 'parts.txt', size: 0 })).response
    const json = { source: 'inbox', destination: 'far/away' }
    expect((await alice.rest('POST', '/api/folders/move', { json })).status).toBe(200)
    expect((await finish()).status).toBe(200)
    const complete = await t.anonymous.rest(
      'POST',
      `/api/request/${token}/uploads/${upload_id}/complete`,
      {
        json: {},
        headers: { 'x-sender-token': sender },
      },
    )
    expect(complete.status).toBe(200)
    expect(await namesIn('far/away')).toEqual(['far/away/held.txt', 'far/away/parts.txt'])
    expect(await namesIn('inbox')).toEqual([])
    await expectConsistent(t)
  })

  it('that is restored accepts files again, and a purged folder ends its request', async () => {
    const { id, token } = await request()
    await alice.rest('DELETE', '/api/folders?path=inbox&recursive=true')
    expect(statusAndCode(await send(token, 'a.txt'))).toEqual([403, 'FILE_REQUEST_CLOSED'])
    const [{ id: item }] = (await alice.rest('GET', '/api/trash')).response.items
    await alice.rest('POST', '/api/trash/restore', { json: { items: [item] } })
    expect((await send(token, 'a.txt')).status).toBe(200)
    await alice.rest('DELETE', '/api/folders?path=inbox&recursive=true')
    await alice.rest('DELETE', '/api/trash')
    await t.settle()
    await t.settle()
    expect(await row(id)).toBeUndefined()
    expect(statusAndCode(await send(token, 'a.txt'))).toEqual([404, 'FILE_REQUEST_NOT_FOUND'])
    await expectConsistent(t)
  })
})

describe('The creator of a file request', () => {
  it('gets one mail an hour about received files, logged without a sender', async () => {
    const { id, token } = await request({ asks_name: true })
    const enter = await t.anonymous.rest('POST', `/api/request/${token}/enter`, {
      json: { name: 'Carol' },
    })
    const headers = { 'x-sender-token': enter.response.sender }
    const sendAs = async (name: string) => {
      const form = new FormData()
      form.append('file', new Blob(['four']), name)
      expect(
        (await t.anonymous.rest('POST', `/api/request/${token}/upload`, { form, headers })).status,
      ).toBe(200)
    }
    const jobs = () =>
      t.app.db.rows<{ id: string; kind: string; dueAt: number; payload: string }>(
        "SELECT id, kind, due_at AS dueAt, payload FROM outbox WHERE payload LIKE ? OR payload LIKE '%files-received%' ORDER BY created_at, id",
        [`%${id}%`],
      )
    for (const name of ['a.txt', 'b.txt', 'c.txt']) await sendAs(name)
    const [waiting, ...others] = await jobs()
    expect([waiting?.kind, others]).toEqual(['file-request-mail', []])
    expect(Number(waiting?.dueAt) - Date.now()).toBeLessThanOrEqual(60_000)
    await t.app.services.fileRequests.tellArrivals({ requestId: id })
    const mail = (await jobs()).find(job => job.kind === 'mail')
    expect(JSON.parse(mail?.payload ?? '{}')).toMatchObject({
      template: 'files-received',
      to: alice.email,
      values: { label: 'x', files: 3, bytes: 12 },
    })
    // A repeated job sends no second mail.
    await t.app.services.fileRequests.tellArrivals({ requestId: id })
    expect((await jobs()).filter(job => job.kind === 'mail')).toHaveLength(1)
    await t.app.db.run("DELETE FROM outbox WHERE kind IN ('mail', 'file-request-mail')")
    await sendAs('d.txt')
    const [next] = await jobs()
    expect(Number(next?.dueAt) - Date.now()).toBeGreaterThan(59 * 60_000)

    const { events } = (await alice.rest('GET', '/api/events?limit=1000')).response
    const received = events.filter(({ kind }: { kind: string }) => kind === 'file.created')
    expect(received[0]).toMatchObject({
      actor_id: null,
      via: 'link',
      details: { path: 'inbox/a.txt', sender: 'Carol' },
    })
    const kinds = events.map(({ kind }: { kind: string }) => kind)
    expect(kinds).toContain('file_request.created')
    const RECEIPTS = `query ($id: ID!) { node(id: $id) { ... on FileRequest { fileCount size state arrivingCount
      receipts(newestFirst: true, first: 2) { nodes { fileName senderName size network client file { path createdBy { id } } } } } } }`
    const { data } = await alice.graphql(RECEIPTS, { id })
    const receipt = {
      senderName: 'Carol',
      size: 4,
      network: '127.0.0.0/24',
      client: expect.any(String),
    }
    expect(data).toEqual({
      node: {
        fileCount: 4,
        size: 16,
        state: 'OPEN',
        arrivingCount: 0,
        receipts: {
          nodes: ['d.txt', 'c.txt'].map(fileName => ({
            ...receipt,
            fileName,
            file: { path: `inbox/${fileName}`, createdBy: null },
          })),
        },
      },
    })
  })
  it('is informed of received files once no longer suspended, however long that took', async () => {
    const { id, token } = await request()
    expect((await send(token, 'before.txt')).status).toBe(200)
    const setStatus = (status: string) =>
      t.app.db.run('UPDATE user SET status = ? WHERE id = ?', [status, alice.userId])
    const tell = () => t.app.services.fileRequests.tellArrivals({ requestId: id })
    const mails = async () =>
      (
        await t.app.db.rows('SELECT id FROM outbox WHERE payload LIKE ?', [
          `%"to":"${alice.email}"%`,
        ])
      ).length
    await setStatus('suspended')
    await tell()
    expect(await mails()).toBe(0)
    await setStatus('active')
    expect((await send(token, 'after.txt')).status).toBe(200)
    await tell()
    expect(await mails()).toBe(1)
    const waits = (sql: string) => t.app.db.rows<{ n: number }>(sql, [`%${id}%`])
    const [jobs] = await waits(
      "SELECT COUNT(*) AS n FROM outbox WHERE kind = 'file-request-mail' AND payload LIKE ?",
    )
    // One job for each of the two files.
    expect(Number(jobs?.n)).toBe(2)
  })
})
