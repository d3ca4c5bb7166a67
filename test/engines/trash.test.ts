import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { ask, codeOf } from '../support/ask.ts'
import { found, join, privateKey, put, ROOMY, UNHURRIED } from '../support/builders.ts'
import { expectConsistent, findingsOf } from '../support/consistency.ts'
import { type Person, startApp, type TestApp } from '../support/harness.ts'
import { anId, aTime } from '../support/shapes.ts'

let t: TestApp
let alice: Person

beforeAll(async () => {
  t = await startApp(UNHURRIED)
  await t.limit(ROOMY)
  alice = await t.signIn('alice')
})
afterAll(() => t.stop())

let serial = 0
/** A new person with these files. */
async function personWith(...paths: string[]): Promise<Person> {
  const person = await t.signIn(`person${serial++}`)
  for (const path of paths) await person.upload(path, `content of ${path}`)
  return person
}

const TRASH = `query ($first: Int, $after: String) { me { drive { trashDays usage { usedBytes keptBytes fileCount folderCount }
  trash(first: $first, after: $after) { nodes { id name path kind contentType size fileCount deletedAt expiresAt endedShares sharesEndAt deletedBy { email } }
    pageInfo { hasNextPage endCursor } } } } }`
const trashOf = async (person: Person, variables = {}) =>
  (await ask(person, TRASH, variables)).me.drive
const RESTORE = `mutation ($input: RestoreFromTrashInput!) { restoreFromTrash(input: $input) {
  removedIds entries { id path parent { path } } drive { usage { usedBytes keptBytes } } } }`
const restore = async (person: Person, items: string[], more = {}) =>
  (await ask(person, RESTORE, { input: { items, ...more } })).restoreFromTrash
const remove = async (person: Person, ...paths: string[]) =>
  (
    await ask(
      person,
      `mutation ($input: DeleteEntriesInput!) { deleteEntries(input: $input) { deletedIds filesDeleted trashItems { id path } } }`,
      { input: { entries: paths.map(path => ({ at: { path } })), recursive: true } },
    )
  ).deleteEntries
const bytesOf = async (person: Person, path: string): Promise<string> => {
  const query =
    'query ($path: String!) { me { drive { entry(path: $path) { ... on File { download { url } } } } } }'
  return (await fetch((await ask(person, query, { path })).me.drive.entry.download.url)).text()
}

const level = async (person: Person, path: string) => {
  const { response } = await person.rest('GET', `/api/files/tree?path=${encodeURIComponent(path)}`)
  return [...response.folders, ...response.files.map((file: { name: string }) => file.name)]
}

describe('A deleted file', () => {
  it('is in the trash with its deleter, time and former path, and frees its quota immediately', async () => {
    const person = await personWith('docs/a.txt')
    const { trashItems, deletedIds } = await remove(person, 'docs/a.txt')
    const { trash, trashDays, usage } = await trashOf(person)
    expect(trashDays).toBe(30)
    expect(trash.nodes).toEqual([
      {
        id: trashItems[0].id,
        name: 'a.txt',
        path: 'docs/a.txt',
        kind: 'FILE',
        contentType: 'text/plain',
        size: 21,
        fileCount: null,
        deletedAt: aTime,
        expiresAt: aTime,
        endedShares: 0,
        sharesEndAt: null,
        deletedBy: { email: person.email },
      },
    ])
    expect(trashItems[0].id).not.toBe(deletedIds[0])
    expect(usage).toEqual({ usedBytes: 0, keptBytes: 21, fileCount: 0, folderCount: 1 })
    const [item] = trash.nodes
    expect(Date.parse(item.expiresAt) - Date.parse(item.deletedAt)).toBe(30 * 86_400_000)
    expect(await level(person, 'docs')).toEqual([])
    const { node } = await ask(person, 'query ($id: ID!) { node(id: $id) { __typename id } }', {
      id: item.id,
    })
    expect(node).toEqual({ __typename: 'TrashItem', id: item.id })
    expect(
      (await ask(person, 'query ($id: ID!) { node(id: $id) { id } }', { id: deletedIds[0] })).node,
    ).toBeNull()
    expect(
      (await ask(alice, 'query ($id: ID!) { node(id: $id) { id } }', { id: item.id })).node,
    ).toBeNull()
  })

  it('is restored with its id, bytes, path and shares', async () => {
    const person = await personWith('docs/a.txt')
    const shared = await person.rest('POST', '/api/files/quick_share', {
      json: { object: 'docs/a.txt' },
    })
    const token = shared.response.sharing_token
    const { trashItems, deletedIds } = await remove(person, 'docs/a.txt')
    const { entries, removedIds, drive } = await restore(person, [trashItems[0].id])
    expect(entries).toEqual([{ id: deletedIds[0], path: 'docs/a.txt', parent: { path: 'docs' } }])
    expect(removedIds).toEqual([trashItems[0].id])
    expect(drive.usage).toEqual({ usedBytes: 21, keptBytes: 0 })
    expect((await trashOf(person)).trash.nodes).toEqual([])
    expect((await person.rest('GET', `/api/share/info/${token}`)).status).toBe(200)
    expect(await bytesOf(person, 'docs/a.txt')).toBe('content of docs/a.txt')
  })
})

describe('A deleted folder', () => {
  it('is restored whole, with the shares of its contents', async () => {
    const person = await personWith('big/one/a.txt', 'big/one/b.txt', 'big/two/c.txt')
    const shared = await person.rest('POST', '/api/files/quick_share', {
      json: { object: 'big/two/c.txt' },
    })
    const token = shared.response.sharing_token
    const { trashItems, filesDeleted } = await remove(person, 'big')
    expect(filesDeleted).toBe(3)
    expect((await trashOf(person)).trash.nodes).toMatchObject([
      { path: 'big', kind: 'FOLDER', contentType: null, fileCount: 3 },
    ])
    expect((await person.rest('GET', `/api/d/${token}`)).status).toBe(404)
    await restore(person, [trashItems[0].id])
    expect(await level(person, 'big/one')).toEqual(['big/one/a.txt', 'big/one/b.txt'])
    expect((await person.rest('GET', `/api/share/info/${token}`)).status).toBe(200)
    expect((await trashOf(person)).usage).toMatchObject({
      keptBytes: 0,
      fileCount: 3,
      folderCount: 3,
    })
  })

  it('is restored to the moved parent folder, or to a new one if the parent is gone', async () => {
    const person = await personWith('a/x/one.txt', 'b/y/two.txt')
    const first = (await remove(person, 'a/x')).trashItems[0].id
    const second = (await remove(person, 'b/y')).trashItems[0].id
    await person.rest('POST', '/api/folders/move', { json: { source: 'a', destination: 'moved' } })
    await remove(person, 'b')
    const { entries } = await restore(person, [first, second])
    expect(entries.map((entry: { path: string }) => entry.path)).toEqual(['moved/x', 'b/y'])
  })

  it('is restored to the requested folder', async () => {
    const person = await personWith('a/x/one.txt', 'c/d.txt')
    const { trashItems } = await remove(person, 'a/x')
    const into = await ask(person, '{ me { drive { entry(path: "c") { id } } } }')
    const { entries } = await restore(person, [trashItems[0].id], {
      to: { id: into.me.drive.entry.id },
    })
    expect(entries[0].path).toBe('c/x')
    const again = (await remove(person, 'c/x')).trashItems[0].id
    expect(
      (await restore(person, [again], { to: { at: { path: 'new/folder' } } })).entries[0].path,
    ).toBe('new/folder/x')
  })
})

describe('A conflict when restoring', () => {
  it('rejects, keeps both, or replaces the present entry, which goes into the trash', async () => {
    const person = await personWith('a.txt')
    const { trashItems } = await remove(person, 'a.txt')
    const item = trashItems[0].id
    await person.upload('a.txt', 'newer')
    expect(await codeOf(person, RESTORE, { input: { items: [item] } })).toBe('PATH_EXISTS')
    expect((await trashOf(person)).trash.nodes).toHaveLength(1)
    expect((await restore(person, [item], { onConflict: 'KEEP_BOTH' })).entries[0].path).toBe(
      'a (2).txt',
    )
    const again = (await remove(person, 'a (2).txt')).trashItems[0].id
    await person.rest('POST', '/api/files/move', {
      json: { source: 'a.txt', destination: 'a (2).txt' },
    })
    expect((await restore(person, [again], { onConflict: 'REPLACE' })).entries[0].path).toBe(
      'a (2).txt',
    )
    expect(await bytesOf(person, 'a (2).txt')).toBe('content of a.txt')
    expect((await trashOf(person)).trash.nodes).toMatchObject([{ path: 'a (2).txt', size: 5 }])
  })

  it('keeps both under names of the maximum length', async () => {
    const long = `a.${'x'.repeat(253)}`
    const person = await personWith(long)
    const { trashItems } = await remove(person, long)
    await person.upload(long, 'newer')
    const { entries } = await restore(person, [trashItems[0].id], { onConflict: 'KEEP_BOTH' })
    expect(entries[0].path).toBe(`${long.slice(0, 251)} (2)`)
  })

  it('between two items of one path leaves the last one in place and the other in the trash', async () => {
    const person = await personWith('a.txt')
    const first = (await remove(person, 'a.txt')).trashItems[0].id
    await person.upload('a.txt', 'newer')
    const second = (await remove(person, 'a.txt')).trashItems[0].id
    const { entries } = await restore(person, [first, second], { onConflict: 'REPLACE' })
    expect(entries.map((entry: { path: string }) => entry.path)).toEqual(['a.txt'])
    expect(await bytesOf(person, 'a.txt')).toBe('newer')
    expect((await trashOf(person)).trash.nodes).toMatchObject([{ path: 'a.txt', size: 16 }])
    await expectConsistent(t)
  })

  it('replaces nothing for a key that may not delete', async () => {
    const person = await personWith('a.txt')
    const { trashItems } = await remove(person, 'a.txt')
    await person.upload('a.txt', 'newer')
    const { caller } = await privateKey(t, person, ['private_files:read', 'private_files:write'])
    const input = { items: [trashItems[0].id], onConflict: 'REPLACE' }
    expect(await codeOf(caller, RESTORE, { input })).toBe('INSUFFICIENT_SCOPE')
    const json = { items: input.items, on_conflict: 'replace' }
    expect((await caller.rest('POST', '/api/trash/restore', { json })).response.code).toBe(
      'INSUFFICIENT_SCOPE',
    )
    expect(await bytesOf(person, 'a.txt')).toBe('newer')
  })

  it('fails the whole request, and leaves the other items in the trash', async () => {
    const person = await personWith('a.txt', 'b.txt')
    const { trashItems } = await remove(person, 'a.txt', 'b.txt')
    await person.upload('b.txt', 'newer')
    const items = trashItems.map((item: { id: string }) => item.id)
    expect(await codeOf(person, RESTORE, { input: { items } })).toBe('PATH_EXISTS')
    expect(await level(person, '')).toEqual(['b.txt'])
    expect((await trashOf(person)).trash.nodes).toHaveLength(2)
  })

  it('with the quota fails', async () => {
    const person = await personWith('a.txt')
    const { trashItems } = await remove(person, 'a.txt')
    await t.limit({ maxFiles: 0 })
    const refused = await codeOf(person, RESTORE, { input: { items: [trashItems[0].id] } })
    const byRest = await person.rest('POST', '/api/trash/restore', {
      json: { items: [trashItems[0].id] },
    })
    const room = await found(person)
    await t.limit({ maxFiles: 10_000 })
    await put(person, room, 'a.txt')
    await person.rest('DELETE', `/api/workspaces/${room}/files/delete?path=/a.txt`)
    const trash = `/api/workspaces/${room}/trash`
    const items = [(await person.rest('GET', trash)).response.items[0].id]
    await t.limit({ maxFilesWorkspace: 0 })
    const inWorkspace = await person.rest('POST', `${trash}/restore`, { json: { items } })
    await t.limit({ maxFilesWorkspace: 10_000 })
    expect([byRest.response.code, inWorkspace.response.code]).toEqual([
      'QUOTA_EXCEEDED',
      'QUOTA_EXCEEDED',
    ])
    expect(refused).toBe('QUOTA_EXCEEDED')
    expect((await trashOf(person)).trash.nodes).toHaveLength(1)
  })
})

describe('The list of the trash', () => {
  it('shows the newest first, page by page', async () => {
    const person = await personWith('1', '2', '3', '4', '5')
    for (const path of ['1', '2', '3', '4', '5']) await remove(person, path)
    const seen: string[] = []
    for (let after: string | null = null; ; ) {
      const {
        trash,
      }: {
        trash: { nodes: { name: string }[]; pageInfo: { hasNextPage: boolean; endCursor: string } }
      } = await trashOf(person, { first: 2, after })
      seen.push(...trash.nodes.map(node => node.name))
      if (!trash.pageInfo.hasNextPage) break
      after = trash.pageInfo.endCursor
    }
    expect(seen).toEqual(['5', '4', '3', '2', '1'])
  })
})

describe('The trash through REST', () => {
  it('can be listed, restored and emptied permanently', async () => {
    const person = await personWith('docs/a.txt', 'docs/b.txt', 'docs/c.txt')
    expect((await person.rest('DELETE', '/api/files/delete?file=docs/a.txt')).status).toBe(200)
    const json = { files: ['docs/b.txt', 'docs/none.txt'] }
    expect((await person.rest('DELETE', '/api/files/delete/batch', { json })).response).toEqual({
      files_deleted: ['docs/b.txt'],
      files_failed: ['docs/none.txt'],
    })
    expect(
      (await person.rest('DELETE', '/api/folders?path=docs&recursive=true')).response.files_deleted,
    ).toBe(1)
    const { response } = await person.rest('GET', '/api/trash?limit=2')
    expect(response.items).toMatchObject([
      {
        id: anId,
        name: 'docs',
        path: 'docs',
        kind: 'folder',
        file_count: 1,
        deleted_by: person.userId,
      },
      {
        name: 'b.txt',
        path: 'docs/b.txt',
        kind: 'file',
        size: 21,
        deleted_at: aTime,
        expires_at: aTime,
      },
    ])
    const rest = (await person.rest('GET', `/api/trash?limit=2&cursor=${response.next_cursor}`))
      .response
    expect(rest).toMatchObject({ items: [{ path: 'docs/a.txt' }], next_cursor: null })
    const [folder, b] = response.items.map((item: { id: string }) => item.id)
    const back = await person.rest('POST', '/api/trash/restore', {
      json: { items: [b], to: 'kept' },
    })
    expect(back.response.restored).toEqual([{ id: anId, path: 'kept/b.txt' }])
    expect(
      (await person.rest('POST', '/api/trash/restore', { json: { items: [b] } })).response.code,
    ).toBe('TRASH_ITEM_NOT_FOUND')
    const gone = await person.rest('DELETE', '/api/trash/items', { json: { items: [folder] } })
    expect(gone.response).toEqual({ deleted: 1 })
    expect((await person.rest('DELETE', '/api/trash')).response).toEqual({ deleted: 1 })
    expect((await person.rest('GET', '/api/trash')).response).toEqual({
      items: [],
      next_cursor: null,
    })
  })

  it('keeps both on request with on_conflict, and rejects unknown values', async () => {
    const person = await personWith('a.txt')
    await person.rest('DELETE', '/api/files/delete?file=a.txt')
    await person.upload('a.txt', 'newer')
    const { id } = (await person.rest('GET', '/api/trash')).response.items[0]
    const restoring = (on_conflict?: string) =>
      person.rest('POST', '/api/trash/restore', {
        json: { items: [id], ...(on_conflict ? { on_conflict } : {}) },
      })
    expect((await restoring()).status).toBe(409)
    expect((await restoring('overwrite')).response.code).toBe('INVALID_INPUT')
    expect((await restoring('keep_both')).response.restored[0].path).toBe('a (2).txt')
  })

  it('of a workspace follows the roles of its members', async () => {
    const room = await found(alice, 'Shed')
    const bob = await t.signIn('bob')
    await join(t, room, bob, 'viewer')
    await put(alice, room, 'docs/a.txt')
    const at = `/api/workspaces/${room}`
    await alice.rest('DELETE', `${at}/files/delete?path=/docs/a.txt`)
    const { response } = await bob.rest('GET', `${at}/trash`)
    expect(response.items).toMatchObject([{ path: '/docs/a.txt', deleted_by: alice.userId }])
    const items = [response.items[0].id]
    expect((await bob.rest('POST', `${at}/trash/restore`, { json: { items } })).status).toBe(403)
    expect((await bob.rest('DELETE', `${at}/trash/items`, { json: { items } })).status).toBe(403)
    expect((await bob.rest('DELETE', `${at}/trash`)).status).toBe(403)
    expect(
      (await alice.rest('POST', '/api/trash/restore', { json: { items } })).response.code,
    ).toBe('TRASH_ITEM_NOT_FOUND')
    const back = await alice.rest('POST', `${at}/trash/restore`, { json: { items } })
    expect(back.response.restored).toEqual([{ id: anId, path: '/docs/a.txt' }])
    await alice.rest('DELETE', `${at}/files/delete?path=/docs/a.txt`)
    const again = (await alice.rest('GET', `${at}/trash`)).response.items[0].id
    expect(
      (await alice.rest('DELETE', `${at}/trash/items`, { json: { items: [again] } })).response,
    ).toEqual({
      deleted: 1,
    })
    expect((await alice.rest('DELETE', `${at}/trash`)).response).toEqual({ deleted: 0 })
  })
})

describe('Permanent deletion', () => {
  it('removes bytes and rows on request', async () => {
    const person = await personWith('a/b/c.txt', 'd.txt', 'e.txt')
    const { trashItems } = await remove(person, 'a', 'd.txt', 'e.txt')
    const [first, second] = trashItems.map((item: { id: string }) => item.id)
    const DELETE = `mutation ($input: DeleteFromTrashInput!) { deleteFromTrash(input: $input) { deletedIds drive { usage { keptBytes } } } }`
    expect(
      (await ask(person, DELETE, { input: { items: [first, second] } })).deleteFromTrash.deletedIds,
    ).toEqual([first, second])
    expect(await codeOf(person, DELETE, { input: { items: [first] } })).toBe('TRASH_ITEM_NOT_FOUND')
    expect(await codeOf(person, RESTORE, { input: { items: [first] } })).toBe(
      'TRASH_ITEM_NOT_FOUND',
    )
    expect(await codeOf(alice, DELETE, { input: { items: [trashItems[2].id] } })).toBe(
      'TRASH_ITEM_NOT_FOUND',
    )
    const EMPTY =
      'mutation ($input: EmptyTrashInput!) { emptyTrash(input: $input) { count drive { usage { keptBytes } } } }'
    expect((await ask(person, EMPTY, { input: {} })).emptyTrash).toEqual({
      count: 1,
      drive: { usage: { keptBytes: 0 } },
    })
    await expectConsistent(t)
    const left = await t.app.db.rows(
      'SELECT e.id FROM entry e JOIN bucket b ON b.id = e.bucket_id WHERE b.user_id = ?',
      [person.userId],
    )
    expect(left).toHaveLength(1)
  })

  it('happens after TRASH_DAYS', async () => {
    const person = await personWith('old.txt', 'new.txt')
    const [old, young] = (await remove(person, 'old.txt', 'new.txt')).trashItems.map(
      (item: { id: string }) => item.id,
    )
    await t.app.db.run(
      'UPDATE trash_item SET deleted_at = deleted_at - 30 * 86400000 - 1 WHERE id = ?',
      [old],
    )
    await t.app.sweeper.run()
    expect((await trashOf(person)).trash.nodes.map((node: { id: string }) => node.id)).toEqual([
      young,
    ])
    expect((await trashOf(person)).usage.keptBytes).toBe(18)
  })

  it('happens with the account, whatever the names of its files', async () => {
    const person = await personWith('a/b.txt')
    const { deletedIds } = await remove(person, 'a')
    await person.upload(deletedIds[0], 'named like what was deleted')
    const json = { delete_user_data: true }
    expect((await person.rest('DELETE', '/api/user/account/delete', { json })).status).toBe(200)
    await expectConsistent(t)
    expect(await t.app.db.rows('SELECT id FROM trash_item WHERE entry_id = ?', deletedIds)).toEqual(
      [],
    )
  })

  it('is recorded in the log of the drive', async () => {
    const person = await personWith('a.txt', 'b.txt', 'c.txt')
    const { trashItems } = await remove(person, 'a.txt', 'b.txt', 'c.txt')
    await restore(person, [trashItems[0].id])
    await person.rest('DELETE', '/api/trash/items', { json: { items: [trashItems[1].id] } })
    await person.rest('DELETE', '/api/trash')
    const { me } = await ask(
      person,
      '{ me { drive { events(first: 20) { nodes { kind details { path size files } } } } } }',
    )
    expect(me.drive.events.nodes.slice(-6)).toMatchObject([
      { kind: 'FILE_DELETED', details: { path: 'a.txt' } },
      { kind: 'FILE_DELETED', details: { path: 'b.txt' } },
      { kind: 'FILE_DELETED', details: { path: 'c.txt' } },
      { kind: 'FILE_RESTORED', details: { path: 'a.txt' } },
      { kind: 'TRASH_PURGED', details: { size: 16, files: 1 } },
      { kind: 'TRASH_PURGED', details: { size: 16, files: 1 } },
    ])
  })

  it('happens earlier when the trash exceeds its limit: oldest first', async () => {
    const person = await personWith()
    for (const name of ['1', '2', '3']) {
      await person.upload(name, Buffer.alloc(1000))
      await remove(person, name)
      await sleep(2)
    }
    await t.limit({ maxTotalStorageBytes: 2500 })
    await t.app.services.kept.trimOverfull()
    await t.limit({ maxTotalStorageBytes: 5 * 1024 ** 3 })
    expect((await trashOf(person)).trash.nodes.map((node: { name: string }) => node.name)).toEqual([
      '3',
      '2',
    ])
    expect((await trashOf(person)).usage.keptBytes).toBe(2000)
    await expectConsistent(t)
  })
})

describe('The doctor', () => {
  it('repairs wrong counts of the trash, and removes orphaned items', async () => {
    const person = await personWith('a/b.txt', 'c.txt')
    const [, gone] = (await remove(person, 'a', 'c.txt')).trashItems.map(
      (item: { id: string }) => item.id,
    )
    const [{ id = '' } = {}] = await t.app.db.rows<{ id: string }>(
      'SELECT id FROM bucket WHERE user_id = ?',
      [person.userId],
    )
    await t.app.db.run('UPDATE bucket SET kept_bytes = 7, trash_count = 9 WHERE id = ?', [id])
    const [row] = await t.app.db.rows<{ id: string }>(
      'SELECT entry_id AS id FROM trash_item WHERE id = ?',
      [gone],
    )
    await t.app.db.run('UPDATE trash_item SET entry_id = ? WHERE id = ?', [
      '00000000-0000-7000-8000-000000000000',
      gone,
    ])
    await t.app.db.run(
      "UPDATE blobs SET state = 'deleting' WHERE id = (SELECT blob_id FROM entry WHERE id = ?)",
      [row?.id ?? ''],
    )
    await t.app.db.run('DELETE FROM entry WHERE id = ?', [row?.id ?? ''])
    const found = await findingsOf(t.app, { repair: true })
    expect(found.map(({ kind, repaired }) => [kind, repaired])).toContainEqual([
      'trash-item-empty',
      true,
    ])
    await expectConsistent(t)
    expect((await trashOf(person)).trash.nodes.map((node: { path: string }) => node.path)).toEqual([
      'a',
    ])
    await t.app.db.run('UPDATE bucket SET kept_bytes = 7 WHERE id = ?', [id])
    const again = await findingsOf(t.app, { repair: true })
    expect(again).toMatchObject([{ kind: 'bucket-counts', id, repaired: true }])
    await expectConsistent(t)
  })
})

describe('Refusals of the trash', () => {
  const none = '00000000-0000-7000-8000-000000000000'
  let room: string
  let stranger: Person
  beforeAll(async () => {
    room = await found(alice, 'Cellar')
    stranger = await t.signIn('stranger')
  })

  it.each(['caller', 'workspace'])(
    'are the same through REST, for the trash of a %s',
    async whose => {
      const at = whose === 'caller' ? '/api/trash' : `/api/workspaces/${room}/trash`
      const requests: [string, string, object?][] = [
        ['GET', at],
        ['POST', `${at}/restore`, { json: { items: [none] } }],
        ['DELETE', `${at}/items`, { json: { items: [none] } }],
        ['DELETE', at],
      ]
      for (const [method, path, options] of requests) {
        expect((await t.anonymous.rest(method, path, options)).status).toBe(401)
        if (whose === 'workspace')
          expect((await stranger.rest(method, path, options)).status).toBe(403)
      }
      expect((await alice.rest('GET', `${at}?limit=0`)).response).toEqual({
        code: 'INVALID_INPUT',
        field: 'limit',
      })
      for (const [method, path] of requests.slice(1, 3) as [string, string][]) {
        const send = async (json: object) => (await alice.rest(method, path, { json })).response
        expect(await send({ items: [none] })).toEqual({ code: 'TRASH_ITEM_NOT_FOUND', id: none })
        expect(await send({ items: ['🦊'] })).toEqual({ code: 'TRASH_ITEM_NOT_FOUND', id: '🦊' })
        for (const items of [[], Array(1001).fill(none)])
          expect((await send({ items })).code).toBe('INVALID_INPUT')
      }
      // Another entry blocks the path.
      const [upload, remove] =
        whose === 'caller'
          ? [
              () => alice.upload('way.txt', 'x'),
              () => alice.rest('DELETE', '/api/files/delete?file=way.txt'),
            ]
          : [
              () => put(alice, room, 'way.txt'),
              () => alice.rest('DELETE', `/api/workspaces/${room}/files/delete?path=/way.txt`),
            ]
      await upload()
      expect((await remove()).status).toBe(200)
      await upload()
      const { id } = (await alice.rest('GET', at)).response.items[0]
      const restoring = async (more: object = {}) =>
        (await alice.rest('POST', `${at}/restore`, { json: { items: [id], ...more } })).response
      expect(await restoring()).toMatchObject({ code: 'PATH_EXISTS' })
      expect(await restoring({ to: 'a/../b' })).toEqual({ code: 'INVALID_PATH', field: 'to' })
      expect(await restoring({ to: 'way.txt' })).toMatchObject({ code: 'PATH_EXISTS' })
    },
  )

  it('are the same through GraphQL', async () => {
    const person = await personWith('a.txt', 'way.txt')
    const { trashItems } = await remove(person, 'a.txt')
    const items = [trashItems[0].id]
    const EMPTY = 'mutation ($input: EmptyTrashInput!) { emptyTrash(input: $input) { count } }'
    const DELETE =
      'mutation ($input: DeleteFromTrashInput!) { deleteFromTrash(input: $input) { deletedIds } }'
    for (const [query, input] of [
      [RESTORE, { items }],
      [DELETE, { items }],
      [EMPTY, {}],
    ] as const)
      expect(await codeOf(t.anonymous, query, { input })).toBe('UNAUTHENTICATED')
    for (const query of [RESTORE, DELETE]) {
      expect(await codeOf(person, query, { input: { items: [] } })).toBe('INVALID_INPUT')
      expect(await codeOf(person, query, { input: { items: [...items, none] } })).toBe(
        'TRASH_ITEM_NOT_FOUND',
      )
      expect(await codeOf(stranger, query, { input: { items } })).toBe('TRASH_ITEM_NOT_FOUND')
    }
    const into = (to: object) => codeOf(person, RESTORE, { input: { items, to } })
    const { me } = await ask(person, '{ me { drive { entry(path: "way.txt") { id } } } }')
    expect(await into({ id: me.drive.entry.id })).toBe('FOLDER_NOT_FOUND')
    expect(await into({ at: { path: 'a/../b' } })).toBe('INVALID_PATH')
    const elsewhere = (
      await ask(alice, 'query ($id: ID!) { workspace(id: $id) { drive { id } } }', { id: room })
    ).workspace.drive.id
    expect(await into({ at: { drive: elsewhere, path: '' } })).toBe('FORBIDDEN')
    expect((await trashOf(person)).trash.nodes).toHaveLength(1)
  })
})
