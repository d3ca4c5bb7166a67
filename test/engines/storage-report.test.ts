import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { purgeEvents } from '../../db/queries/event.ts'
import { ask } from '../support/ask.ts'
import { driveOf, found } from '../support/builders.ts'
import { type Person, startApp, type TestApp } from '../support/harness.ts'
import { anId } from '../support/shapes.ts'

const MiB = 1024 ** 2

let t: TestApp
let olga: Person
let alice: Person

beforeAll(async () => {
  t = await startApp({ OPERATORS: 'olga@example.com' })
  // Objects that are to be deleted from the store wait.
  await Promise.all([t.app.worker.stop(), t.app.sweeper.stop()])
  olga = await t.signIn('olga')
  alice = await t.signIn('alice')
})
afterAll(() => t?.stop())

const REPORT = `{ operator { storageReport {
  usedBytes fileCount folderCount leftBytes leftFileCount trashBytes trashCount versionBytes uploadBytes uploadCount
  deletingBytes deletingCount eventCount space { freeBytes totalBytes }
  largestAccounts { id email usage { usedBytes keptBytes } }
  largestWorkspaces { workspaceId name slug owner { email } usedBytes keptBytes maxBytes fileCount }
} } }`
const report = async () => (await ask(olga, REPORT)).operator.storageReport

const nothing = {
  usedBytes: 0,
  fileCount: 0,
  folderCount: 0,
  leftBytes: 0,
  leftFileCount: 0,
  trashBytes: 0,
  trashCount: 0,
  versionBytes: 0,
  uploadBytes: 0,
  uploadCount: 0,
  deletingBytes: 0,
  deletingCount: 0,
}

const replace = (person: Person, path: string, content: string) => {
  const form = new FormData()
  form.append('on_conflict', 'replace')
  form.append('file', new File([content], path))
  return person.rest('POST', '/api/files/upload', { form })
}
const remove = (person: Person, file: string) =>
  person.rest('DELETE', `/api/files/delete?file=${file}`)

describe('The storage report', () => {
  it('is all zeros for an empty instance', async () => {
    const { eventCount, space, largestAccounts, ...rest } = await report()
    expect(rest).toEqual({ ...nothing, largestWorkspaces: [] })
    expect(largestAccounts.map(({ email }: Person) => email)).toEqual([olga.email, alice.email])
    expect(eventCount).toBeGreaterThan(0)
    expect(space.freeBytes).toBeGreaterThan(0)
    expect(space.totalBytes).toBeGreaterThan(space.freeBytes)
  })

  it('separates present, retained, uploading and pending-deletion bytes', async () => {
    await alice.upload('docs/a.txt', 'x'.repeat(1000))
    await alice.upload('b.txt', 'b'.repeat(200))
    await replace(alice, 'b.txt', 'bb')
    await alice.upload('c.txt', 'c'.repeat(30))
    await remove(alice, 'c.txt')
    await alice.upload('gone.txt', 'g'.repeat(4000))
    await remove(alice, 'gone.txt')
    const { items } = (await alice.rest('GET', '/api/trash')).response
    const { id } = items.find(({ name }: { name: string }) => name === 'gone.txt')
    await alice.rest('DELETE', '/api/trash/items', { json: { items: [id] } })
    await alice.rest('POST', '/api/files/uploads', { json: { filename: 'large.bin', size: MiB } })
    const dora = await t.signIn('dora')
    await dora.upload('kept.txt', 'k'.repeat(70))
    await dora.rest('DELETE', '/api/user/account/delete', { json: { delete_user_data: false } })
    expect(await report()).toMatchObject({
      usedBytes: 1072,
      fileCount: 3,
      folderCount: 1,
      leftBytes: 70,
      leftFileCount: 1,
      trashBytes: 30,
      trashCount: 1,
      versionBytes: 200,
      uploadBytes: MiB,
      uploadCount: 1,
      deletingBytes: 4000,
      deletingCount: 1,
    })
  })

  it('counts stored events, and not purged ones', async () => {
    const [drive = ''] = [await driveOf(alice)].map(id => id.replace(/^.*:/, ''))
    const count = async () =>
      Number((await t.app.db.rows<{ n: number }>('SELECT COUNT(*) AS n FROM event'))[0]?.n)
    const before = await count()
    expect((await report()).eventCount).toBe(before)
    await purgeEvents(t.app.db, drive, 2)
    expect(await count()).toBe(before - 2)
    expect((await report()).eventCount).toBe(before - 2)
    await purgeEvents(t.app.db, drive, 1_000_000)
    expect((await report()).eventCount).toBe(await count())
  })

  it('names the ten largest accounts and workspaces', async () => {
    const bob = await t.signIn('bob')
    const [small, large] = [await found(bob, 'Small'), await found(bob, 'Large')]
    for (const [workspace, size] of [
      [small, 10],
      [large, 5000],
    ] as const) {
      const form = new FormData()
      form.append('file', new File(['y'.repeat(size)], 'y.txt'))
      await bob.rest('POST', `/api/workspaces/${workspace}/files/upload`, { form })
    }
    for (let at = 0; at < 10; at++) await t.signIn(`crowd${at}`)
    const { largestAccounts, largestWorkspaces } = await report()
    expect(largestAccounts).toHaveLength(10)
    expect(largestAccounts[0]).toEqual({
      id: `account:${alice.userId}`,
      email: alice.email,
      usage: { usedBytes: 1002, keptBytes: 230 },
    })
    const common = {
      workspaceId: anId,
      owner: { email: bob.email },
      keptBytes: 0,
      maxBytes: 5 * 1024 ** 3,
      fileCount: 1,
    }
    expect(largestWorkspaces).toEqual([
      { ...common, workspaceId: large, name: 'Large', slug: 'large', usedBytes: 5000 },
      { ...common, workspaceId: small, name: 'Small', slug: 'small', usedBytes: 10 },
    ])
  })

  it('runs a constant number of queries, whatever the amount of data', async () => {
    t.statements()
    await report()
    const few = t.statements().length
    for (let at = 0; at < 5; at++) await found(await t.signIn(`founder${at}`), `Room ${at}`)
    await alice.upload('more/and/more.txt', 'm')
    t.statements()
    await report()
    expect(t.statements().length).toBe(few)
  })
})
