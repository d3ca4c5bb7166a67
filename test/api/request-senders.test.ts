import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { ask, codeOf } from '../support/ask.ts'
import { privateKey, UNHURRIED } from '../support/builders.ts'
import { expectConsistent } from '../support/consistency.ts'
import { type Person, startApp, type TestApp } from '../support/harness.ts'
import { aTime } from '../support/shapes.ts'

let t: TestApp
let alice: Person

beforeAll(async () => {
  t = await startApp(UNHURRIED)
  alice = await t.signIn('alice')
})
afterAll(() => t.stop())

const FIELDS = 'id token asksName expected senderPlace'
const CREATE = `mutation ($input: CreateFileRequestInput!) { createFileRequest(input: $input) { fileRequest { ${FIELDS} } } }`
const UPDATE = `mutation ($input: UpdateFileRequestInput!) { updateFileRequest(input: $input) { fileRequest { ${FIELDS} } } }`
const SENDERS = `query ($id: ID!) { node(id: $id) { ... on FileRequest {
  senders { name isExpected fileCount lastReceivedAt } } } }`

interface Made {
  id: string
  token: string
}
let made = 0
/** A request for an own folder, whose path is returned with it. */
async function request(terms: object): Promise<Made & { folder: string }> {
  const folder = `inbox ${++made}`
  await alice.upload(`${folder}/there.txt`, 'there')
  const input = { folder: { at: { path: folder } }, label: 'Reports', ...terms }
  return { ...(await ask(alice, CREATE, { input })).createFileRequest.fileRequest, folder }
}
const refused = (terms: object) =>
  codeOf(alice, CREATE, { input: { folder: { at: { path: '' } }, label: 'x', ...terms } })

const enter = async (token: string, name: string): Promise<string> =>
  (await t.anonymous.rest('POST', `/api/request/${token}/enter`, { json: { name } })).response
    .sender

async function send(token: string, sender: string, name: string): Promise<string> {
  const form = new FormData()
  form.append('file', new Blob([name]), name)
  const headers = { 'x-sender-token': sender }
  const url = `/api/request/${token}/upload`
  const { status, response, text } = await t.anonymous.rest('POST', url, { form, headers })
  if (status !== 200) throw new Error(text)
  return response.file_name
}

async function sendInParts(token: string, sender: string, name: string): Promise<string> {
  const headers = { 'x-sender-token': sender }
  const url = `/api/request/${token}/uploads`
  const { response } = await t.anonymous.rest('POST', url, {
    json: { filename: name, size: name.length },
    headers,
  })
  await t.anonymous.rest('PUT', `${url}/${response.upload_id}/parts/1`, { body: name, headers })
  const done = await t.anonymous.rest('POST', `${url}/${response.upload_id}/complete`, {
    json: {},
    headers,
  })
  if (done.status !== 200) throw new Error(done.text)
  return done.response.file_name
}

const TREE = `query ($path: String!) { me { drive { entry(path: $path) { ... on Folder { entries { nodes {
  name ... on File { sentBy } ... on Folder { entries { nodes { name ... on File { sentBy } } } } } } } } } } }`
const entriesOf = async (path: string) =>
  (await ask(alice, TREE, { path })).me.drive.entry.entries.nodes

describe('The terms about senders', () => {
  it('ask for names if a request expects some, or places files by sender', async () => {
    const { fileRequest } = (
      await ask(alice, CREATE, {
        input: {
          folder: { at: { path: '' } },
          label: 'x',
          expected: [' Anna ', 'Ben', 'ANNA', ''],
        },
      })
    ).createFileRequest
    expect(fileRequest).toMatchObject({
      asksName: true,
      expected: ['ANNA', 'Ben'],
      senderPlace: 'NONE',
    })
    const update = (terms: object) =>
      ask(alice, UPDATE, { input: { fileRequest: fileRequest.id, ...terms } })
    const code = (terms: object) =>
      codeOf(alice, UPDATE, { input: { fileRequest: fileRequest.id, ...terms } })
    expect(await code({ asksName: false })).toBe('INVALID_INPUT')
    expect((await update({ expected: [], asksName: false })).updateFileRequest.fileRequest).toEqual(
      { ...fileRequest, asksName: false, expected: [] },
    )
    expect((await update({ senderPlace: 'FOLDER' })).updateFileRequest.fileRequest).toMatchObject({
      asksName: true,
      senderPlace: 'FOLDER',
    })
    expect(await code({ asksName: false, senderPlace: 'PREFIX' })).toBe('INVALID_INPUT')
  })

  it('ask for names after two changes at the same time', async () => {
    const { id } = await request({})
    const update = (terms: object) =>
      codeOf(alice, UPDATE, { input: { fileRequest: id, ...terms } })
    // The second is refused if it runs after the first.
    await Promise.all([update({ expected: ['Anna'] }), update({ asksName: false })])
    const { node } = await ask(
      alice,
      'query ($id: ID!) { node(id: $id) { ... on FileRequest { asksName expected } } }',
      { id },
    )
    expect(node).toEqual({ asksName: true, expected: ['Anna'] })
  })

  it('are refused if they are too long or too many', async () => {
    expect(await refused({ expected: ['x'.repeat(101)] })).toBe('INVALID_INPUT')
    expect(await refused({ expected: Array.from({ length: 151 }, (_, i) => `${i}`) })).toBe(
      'INVALID_INPUT',
    )
    const many = Array.from({ length: 150 }, (_, i) => `${'界'.repeat(97)}${100 + i}`)
    expect(await refused({ expected: many })).toBeUndefined()
  })

  it('are set by a key with the scope to share', async () => {
    const { caller } = await privateKey(t, alice, ['private_files:share'])
    const input = { folder: { at: { path: '' } }, label: 'x', expected: ['Anna'] }
    const { createFileRequest } = await ask(caller, CREATE, { input })
    expect(createFileRequest.fileRequest.expected).toEqual(['Anna'])
    expect(
      (await ask(caller, SENDERS, { id: createFileRequest.fileRequest.id })).node.senders,
    ).toEqual([{ name: 'Anna', isExpected: true, fileCount: 0, lastReceivedAt: null }])
  })
})

describe('The senders of a request', () => {
  it('are the expected ones with what they sent, then the others', async () => {
    const { id, token } = await request({ expected: ['Anna', 'Ben', 'Čeněk'] })
    const anna = await enter(token, 'anna ')
    await send(token, anna, 'one.txt')
    await sendInParts(token, anna, 'two.txt')
    await send(token, await enter(token, 'Zoe'), 'three.txt')
    const { senders } = (await ask(alice, SENDERS, { id })).node
    expect(senders).toEqual([
      { name: 'Anna', isExpected: true, fileCount: 2, lastReceivedAt: aTime },
      { name: 'Ben', isExpected: true, fileCount: 0, lastReceivedAt: null },
      { name: 'Čeněk', isExpected: true, fileCount: 0, lastReceivedAt: null },
      { name: 'Zoe', isExpected: false, fileCount: 1, lastReceivedAt: aTime },
    ])
  })
})

describe('The place of a received file', () => {
  it.each([
    ['whole', send],
    ['in parts', sendInParts],
  ])('has the name of the sender as a prefix, if it is sent %s', async (_how, sends) => {
    const { token, folder } = await request({ senderPlace: 'PREFIX' })
    const sender = await enter(token, 'Anna/.. <B>')
    // The sender sees the own name of the file.
    expect(await sends(token, sender, 'report.pdf')).toBe('report.pdf')
    expect(await sends(token, sender, 'report.pdf')).toBe('report.pdf')
    expect(await entriesOf(folder)).toEqual([
      { name: 'Anna .. _B_ - report (2).pdf', sentBy: 'Anna/.. <B>' },
      { name: 'Anna .. _B_ - report.pdf', sentBy: 'Anna/.. <B>' },
      { name: 'there.txt', sentBy: null },
    ])
    const long = `${'x'.repeat(250)}.pdf`
    expect(await sends(token, sender, long)).toBe(long)
    expect((await entriesOf(folder)).map(({ name }: { name: string }) => name)).toContain(long)
  })

  it.each([
    ['whole', send],
    ['in parts', sendInParts],
  ])('is a folder for each sender, if it is sent %s', async (_how, sends) => {
    const { token, folder } = await request({ senderPlace: 'FOLDER' })
    const [anna, dots, taken] = [
      await enter(token, 'Anna'),
      await enter(token, '..'),
      await enter(token, 'there.txt'),
    ]
    for (const sender of [anna, anna, dots, taken])
      expect(await sends(token, sender, 'report.pdf')).toBe('report.pdf')
    // A file of that name is in the way.
    expect(await entriesOf(folder)).toEqual([
      {
        name: 'Anna',
        entries: {
          nodes: [
            { name: 'report (2).pdf', sentBy: 'Anna' },
            { name: 'report.pdf', sentBy: 'Anna' },
          ],
        },
      },
      { name: '__', entries: { nodes: [{ name: 'report.pdf', sentBy: '..' }] } },
      { name: 'there (2).txt', entries: { nodes: [{ name: 'report.pdf', sentBy: 'there.txt' }] } },
      { name: 'there.txt', sentBy: null },
    ])
    // The folder of the request is found by its id, wherever it is.
    await ask(
      alice,
      'mutation ($input: MoveEntriesInput!) { moveEntries(input: $input) { entries { id } } }',
      { input: { entries: [{ at: { path: folder } }], name: `${folder} moved` } },
    )
    await sends(token, anna, 'later.pdf')
    const [{ entries }] = await entriesOf(`${folder} moved`)
    expect(entries.nodes.map(({ name }: { name: string }) => name)).toContain('later.pdf')
  })

  it('follows a change of the request also for uploads that have begun', async () => {
    const { id, token, folder } = await request({ asksName: true })
    const headers = { 'x-sender-token': await enter(token, 'Anna') }
    const url = `/api/request/${token}/uploads`
    const { response } = await t.anonymous.rest('POST', url, {
      json: { filename: 'late.txt', size: 4 },
      headers,
    })
    await t.anonymous.rest('PUT', `${url}/${response.upload_id}/parts/1`, { body: 'late', headers })
    await ask(alice, UPDATE, { input: { fileRequest: id, senderPlace: 'FOLDER' } })
    const done = await t.anonymous.rest('POST', `${url}/${response.upload_id}/complete`, {
      json: {},
      headers,
    })
    expect(done.response.file_name).toBe('late.txt')
    expect(await entriesOf(folder)).toEqual([
      { name: 'Anna', entries: { nodes: [{ name: 'late.txt', sentBy: 'Anna' }] } },
      { name: 'there.txt', sentBy: null },
    ])
    await expectConsistent(t)
  })
})
