import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import type { BlobStore } from '../../../src/storage/store.ts'
import {
  backUp,
  blobsIn,
  newPlace,
  type Place,
  randomFile,
  restoreInto,
  silent,
} from '../../support/backup-world.ts'
import { findingsOf } from '../../support/consistency.ts'
import { newDatabase, type Person, type TestApp } from '../../support/harness.ts'

declare const engine: 'sqlite' | 'mysql'

let dir: string
const places: Place[] = []
let source: Place
let t: TestApp
let alice: Person

async function place(database?: Parameters<typeof newPlace>[0]): Promise<Place> {
  const made = await newPlace(database)
  places.push(made)
  return made
}

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'satchel-backups-'))
  source = await place()
  t = await source.start()
  alice = await t.signIn('alice')
})
afterAll(async () => {
  await t.stop()
  for (const each of places) await each.drop()
  rmSync(dir, { recursive: true, force: true })
})

/** The bytes of a file as its owner receives them, or undefined if the file does not exist. */
async function bytesOf(url: string, who: Person, path: string): Promise<Buffer | undefined> {
  const token = await fetch(`${url}/api/user/private/download_token?file=${path}`, {
    method: 'POST',
    headers: { cookie: who.cookie },
  })
  if (token.status !== 200) return undefined
  const { response } = (await token.json()) as { response: { private_download_token: string } }
  const answer = await fetch(`${url}/api/d/private/${response.private_download_token}`, {
    headers: { cookie: who.cookie },
  })
  return Buffer.from(await answer.arrayBuffer())
}

/**
 * Continuous load by clients. Each change has its own file, so that the acknowledged changes are
 * known.
 */
function load() {
  let stopped = false
  let changes = 0
  const work = async (client: number) => {
    for (let i = 0; !stopped; i++) {
      const path = `load-${client}/${i}`
      expect((await alice.upload(path, randomFile(3000))).status).toBe(200)
      if (i % 4 === 1)
        await alice.rest('POST', '/api/files/move', {
          json: { source: path, destination: `moved-${client}/${i}` },
        })
      if (i % 4 === 2) await alice.rest('DELETE', `/api/files/delete?file=${path}`)
      if (i % 4 === 3)
        await alice.rest('POST', '/api/files/quick_share', { json: { object: path } })
      changes += 1
    }
  }
  const clients = [0, 1, 2].map(work)
  return {
    changes: () => changes,
    async stop() {
      stopped = true
      await Promise.all(clients)
    },
  }
}

it('A backup under load contains everything acknowledged before it began, and its restore is consistent', async () => {
  await t.limit({ maxFiles: null, maxFolders: null, maxPublicLinks: null })
  const acknowledged = new Map<string, Buffer>()
  for (let i = 0; i < 40; i++) {
    const [path, bytes] = [`before/${i}`, randomFile(i % 10 === 0 ? 5_000_000 : i * 100)]
    expect((await alice.upload(path, bytes)).status).toBe(200)
    acknowledged.set(path, bytes)
  }
  const { response: link } = await alice.rest('POST', '/api/files/quick_share', {
    json: { object: 'before/1' },
  })
  // An upload in progress: neither its parts nor its reservation may exist after the restore.
  const { status } = await alice.rest('POST', '/api/files/uploads', {
    json: { filename: 'half.bin', size: 20_000_000 },
  })
  expect(status).toBe(200)

  const clients = load()
  // Half of the files are purged while the tables are saved, and the sweeper runs. The snapshot
  // still contains them.
  let deleting: Promise<void> | undefined
  const progress = silent({
    step(name) {
      if (name !== 'Copying files') return
      deleting = (async () => {
        for (let i = 0; i < 20; i++)
          expect((await alice.rest('DELETE', `/api/files/delete?file=before/${i}`)).status).toBe(
            200,
          )
        await t.settle()
      })()
    },
  })
  const store: BlobStore = {
    ...t.app.store,
    open: async (key, options) => {
      await deleting
      return t.app.store.open(key, options)
    },
  }
  const { folder, name, manifest, warnings } = await backUp(t, join(dir, 'load'), {
    progress,
    store,
  })
  await clients.stop()
  expect(deleting).toBeDefined()
  expect(warnings).toEqual([])
  expect(manifest.blobs).toMatchObject({ missing: 0, damaged: 0 })
  expect(clients.changes()).toBeGreaterThan(3)
  // The hold has ended, so the files are deleted now.
  const before = blobsIn(source.blobDir).length
  await t.settle()
  expect(blobsIn(source.blobDir).length).toBeLessThanOrEqual(before - 19)

  await expect(restoreInto(source, folder, name, { deleteExisting: true })).rejects.toThrow(
    'Another program uses the database',
  )

  const target = await place()
  expect(await restoreInto(target, folder, name)).toMatchObject({ lost: 0, there: 0, warnings: [] })
  expect(await findingsOf(target)).toEqual([])
  const restored = await target.start()
  try {
    for (const [path, bytes] of acknowledged)
      expect([path, (await bytesOf(restored.url, alice, path))?.equals(bytes)]).toEqual([
        path,
        true,
      ])
    expect((await fetch(`${restored.url}/api/d/${link.sharing_token}`)).status).toBe(200)
    await restored.settle()
    expect(restored.failures()).toEqual([])
    expect(await findingsOf(target)).toEqual([])
  } finally {
    await restored.stop()
  }
})

it('A second backup copies only new files', async () => {
  const into = join(dir, 'twice')
  const first = await backUp(t, into)
  expect(first.manifest.blobs.copied).toBe(first.manifest.blobs.count)
  await alice.upload('second.txt', 'second')
  const second = await backUp(t, into)
  expect(second.manifest.blobs).toMatchObject({
    copied: 1,
    copiedBytes: 6,
    count: first.manifest.blobs.count + 1,
  })
})

const onMysql = engine === 'mysql' ? it : it.skip

onMysql(
  'A backup of one engine can be restored into the other, and back',
  async () => {
    const { folder, name, manifest } = await backUp(t, join(dir, 'engines'))
    const sqlite = await place({ url: `sqlite:${join(dir, 'other.sqlite')}`, drop: async () => {} })
    await restoreInto(sqlite, folder, name)
    expect(await findingsOf(sqlite)).toEqual([])
    const other = await sqlite.start()
    const back = await place(await newDatabase())
    try {
      const again = await backUp(other, join(dir, 'engines-back'))
      expect(again.manifest.engine).toBe('sqlite')
      expect(again.manifest.blobs.count).toBe(manifest.blobs.count)
      await restoreInto(back, again.folder, again.name)
    } finally {
      await other.stop()
    }
    expect(await findingsOf(back)).toEqual([])
    const rows = (db: Place['db']) => db.rows('SELECT * FROM entry ORDER BY id')
    expect(await rows(back.db)).toEqual(await rows(sqlite.db))
  },
  60_000,
)
