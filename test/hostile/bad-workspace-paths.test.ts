import { describe, expect, it } from '@jest/globals'
import { badNames, badPaths, onlyInJson } from '../support/bad-names.ts'
import { driveOf, found, put } from '../support/builders.ts'
import { type Person, startApp, type TestApp } from '../support/harness.ts'
import { leaveUntouched } from '../support/untouched.ts'
import { field, file, form, sendForm } from '../support/wire.ts'

let t: TestApp
let alice: Person
let id: string
let drive: string

leaveUntouched(async () => {
  t = await startApp()
  alice = await t.signIn('alice')
  id = await found(alice)
  drive = await driveOf(alice, id)
  await put(alice, id, 'keep/a.txt')
  await put(alice, id, 'keep/folder/b.txt')
  return t
})

interface Answer {
  status: number
  response: { code?: string; field?: string }
}
const gist = (answer: Answer | undefined) => [
  answer?.status,
  answer?.response?.code,
  answer?.response?.field,
]
const invalid = (name: string) => [400, 'INVALID_PATH', name]
const dir = () => `/api/workspaces/${id}/files`

describe('An invalid path in a workspace', () => {
  it.each([...badPaths, ...onlyInJson])('400 INVALID_PATH in a body: %s', async (_why, path) => {
    const asked: [string, string, object, string][] = [
      ['PATCH', '/move', { source: '/keep/a.txt', destination: path }, 'destination'],
      ['PATCH', '/move', { source: path, destination: '/b.txt' }, 'source'],
      ['PATCH', '/folder/move', { source: '/keep/folder', destination: path }, 'destination'],
      ['PATCH', '/folder/move', { source: path, destination: '/other' }, 'source'],
      ['POST', '/mkdir', { folder_name: 'made', parent_path: path }, 'parent_path'],
      ['POST', '/uploads', { filename: 'new.txt', size: 1, folder: path }, 'folder'],
    ]
    for (const [method, route, json, name] of asked)
      expect([route, ...gist(await alice.rest(method, dir() + route, { json }))]).toEqual([
        route,
        ...invalid(name),
      ])
  })

  it.each([...badNames, ['a slash', 'a/b'], ['two dots and a slash', '../b'], ['nothing', '']] as [
    string,
    string,
  ][])('400 INVALID_PATH as the name of a folder: %s', async (_why, name) => {
    const json = { folder_name: name, parent_path: '/keep' }
    expect(gist(await alice.rest('POST', `${dir()}/mkdir`, { json }))).toEqual(
      invalid('folder_name'),
    )
    const upload = { filename: name, size: 1, folder: '/keep' }
    expect(gist(await alice.rest('POST', `${dir()}/uploads`, { json: upload }))[1]).toMatch(
      /^INVALID_(PATH|INPUT)$/,
    )
  })

  it.each(badPaths)('400 INVALID_PATH in an address: %s', async (_why, path) => {
    const text = encodeURIComponent(path)
    for (const route of ['GET /tree', 'GET /download', 'DELETE /delete', 'DELETE /folder/delete']) {
      const [method = '', address] = route.split(' ')
      const answer = await alice.rest(method, `${dir()}${address}?path=${text}`)
      expect([route, ...gist(answer)]).toEqual([route, ...invalid('path')])
    }
  })

  it.each(badPaths)('400 INVALID_PATH as the folder of an upload: %s', async (_why, path) => {
    const to = { path: `${dir()}/upload` }
    expect(
      gist(await sendForm(t, alice, form([field('folder', path), file('new.txt')]), to)),
    ).toEqual(invalid('folder'))
    expect(
      gist(await sendForm(t, alice, form([file('new.txt'), field('folder', path)]), to)),
    ).toEqual(invalid('folder'))
  })

  it.each([...badPaths, ...onlyInJson])('INVALID_PATH by GraphQL: %s', async (_why, path) => {
    const [keep, named] = [
      '{ at: { drive: $drive, path: "keep/a.txt" } }',
      '{ at: { drive: $drive, path: $p } }',
    ]
    const asked: [string, string][] = [
      [
        'query Q($drive: ID!, $p: String!) { node(id: $drive) { ... on Drive { entry(path: $p) { id } } } }',
        'path',
      ],
      [
        `mutation M($drive: ID!, $p: String!) { moveEntries(input: { entries: [${keep}], to: ${named} }) { drive { id } } }`,
        'input.to',
      ],
      [
        `mutation M($drive: ID!, $p: String!) { moveEntries(input: { entries: [${named}], name: "b" }) { drive { id } } }`,
        'input.entries',
      ],
      [
        `mutation M($drive: ID!, $p: String!) { deleteEntries(input: { entries: [${named}] }) { deletedIds } }`,
        'input.entries',
      ],
      [
        'mutation M($drive: ID!, $p: String!) { createFolder(input: { at: { drive: $drive, path: $p } }) { drive { id } } }',
        'input.at.path',
      ],
      [
        'mutation M($drive: ID!, $p: String!) { startUpload(input: { drive: $drive, folder: $p, fileName: "a", size: 1 }) { uploadSession { id } } }',
        'input.folder',
      ],
    ]
    for (const [document, name] of asked) {
      const { errors } = await alice.graphql(document, { drive, p: path })
      const { code, field: culprit } = errors?.[0]?.extensions ?? { code: 'none', field: 'none' }
      expect([document, code, culprit]).toEqual([document, 'INVALID_PATH', name])
    }
  })
})
