import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { v4 as newId } from 'uuid'
import { restoreUnderWay } from '../../db/queries/backup.ts'
import { writeWhole } from '../../src/backup/lines.ts'
import { writeManifest } from '../../src/backup/manifest.ts'
import { naming, StoreFailed } from '../../src/backup/naming.ts'
import { BackupError, explained } from '../../src/backup/problem.ts'
import { chooseBackup } from '../../src/backup/restore.ts'
import { removeOld } from '../../src/backup/retention.ts'
import { verifyBackups } from '../../src/backup/verify.ts'
import { Unavailable } from '../../src/runtime/errors.ts'
import {
  backUp,
  blobsIn,
  newPlace,
  type Place,
  restoreInto,
  silent,
} from '../support/backup-world.ts'
import { findingsOf } from '../support/consistency.ts'
import type { TestApp } from '../support/harness.ts'

declare const engine: 'sqlite' | 'mysql'

/** For tests whose result is the same on each engine. */
const once = engine === 'sqlite' ? it : it.skip

let dir: string
const places: Place[] = []
let source: Place
let t: TestApp

async function place(): Promise<Place> {
  const made = await newPlace()
  places.push(made)
  return made
}

const FILES = 4

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'satchel-backups-'))
  source = await place()
  t = await source.start()
  const alice = await t.signIn('alice')
  for (let i = 1; i < FILES; i++) await alice.upload(`small/${i}`, `file ${i}`)
  await alice.upload('large', Buffer.alloc(200_000, 1))
})
afterAll(async () => {
  await t.stop()
  for (const each of places) await each.drop()
  rmSync(dir, { recursive: true, force: true })
})

/** Replaces a file by a folder: reading it then fails for every user, even root. */
function makeUnreadable(path: string): void {
  rmSync(path)
  mkdirSync(path)
}

/** A small blob and the large one, which are read in different ways. */
const someOf = (folder: string) => {
  const all = blobsIn(folder).sort()
  return [all[1] ?? '', all[FILES - 1] ?? '']
}

once('Blobs of a backup that cannot be read are named, and all others are restored', async () => {
  const { folder, name } = await backUp(t, join(dir, 'unreadable'))
  someOf(folder.dir).forEach(makeUnreadable)
  const restored = await restoreInto(await place(), folder, name)
  expect(restored).toMatchObject({ copied: FILES - 2, lost: 2 })
  expect(restored.warnings).toEqual(
    [1, 2].map(() => expect.stringContaining('cannot be read in the backup (EISDIR)')),
  )
  const progress = silent()
  expect(await verifyBackups(folder, progress)).toMatchObject({ blobs: FILES, problems: 2 })
  expect(progress.warnings).toEqual(
    [1, 2].map(() => expect.stringContaining('cannot be read in the backup (EISDIR)')),
  )
})

once('A backup reports unreadable blobs, and contains all others', async () => {
  const { folder, name } = await backUp(t, join(dir, 'whole'))
  const broken = await place()
  await restoreInto(broken, folder, name)
  const service = await broken.start()
  try {
    someOf(broken.blobDir).forEach(makeUnreadable)
    const { manifest, warnings } = await backUp(service, join(dir, 'partial'))
    expect(manifest.blobs).toMatchObject({
      count: FILES,
      copied: FILES - 2,
      missing: 2,
      damaged: 0,
    })
    expect(warnings).toEqual(
      [1, 2].map(() => expect.stringContaining('cannot be read in the store (EISDIR)')),
    )
  } finally {
    await service.stop()
  }
})

once('A restore replaces the secret from its start, and also when it continues', async () => {
  const { folder, name } = await backUp(t, join(dir, 'secret'))
  const target = await place()
  const asked: boolean[] = []
  const prepareSecret = async (mayReplace: boolean) => {
    asked.push(mayReplace)
    return async () => {
      expect(await restoreUnderWay(target.db)).toBe(name)
      if (asked.length === 1) throw new Error('killed')
    }
  }
  await expect(restoreInto(target, folder, name, { prepareSecret })).rejects.toThrow('killed')
  await restoreInto(target, folder, name, { prepareSecret })
  expect(asked).toEqual([false, true])
})

once(
  'A changed backup list is not trusted: its files are copied again, and none is deleted',
  async () => {
    const { folder, name } = await backUp(t, join(dir, 'list'))
    appendFileSync(folder.path(name, 'blobs.jsonl'), '{"id":')
    const second = await backUp(t, folder.dir)
    expect(second.manifest.blobs.copied).toBe(FILES)
    expect(second.warnings).toEqual([expect.stringContaining('has changed since it was written')])
    const unnamed = join(folder.dir, 'blobs', '0000000')
    mkdirSync(unnamed)
    writeFileSync(join(unnamed, '00000000-0000-7000-8000-000000000000'), '')
    mkdirSync(folder.path('2020-01-01T00-00-00.000Z.unfinished'))
    const progress = silent()
    const keep = { made: second.name, progress }
    expect(await folder.alone(() => removeOld(folder, {}, keep))).toEqual({ backups: [], blobs: 0 })
    expect(progress.warnings).toEqual([expect.stringContaining('no files are removed')])
    // Without the damaged backup, nothing prevents the removal.
    expect(await folder.alone(() => removeOld(folder, { count: 1 }, keep))).toEqual({
      backups: [name],
      blobs: 1,
    })
  },
)

once('Retention keeps the new backup, and folders that were renamed', async () => {
  const { folder, name } = await backUp(t, join(dir, 'retention'))
  renameSync(folder.path(name), folder.path('2999-01-01T00-00-00.000Z'))
  const other = await backUp(t, folder.dir)
  renameSync(folder.path(other.name), folder.path('the best one'))
  const { name: made } = await backUp(t, folder.dir)
  const progress = silent()
  expect(await folder.alone(() => removeOld(folder, { count: 1 }, { made, progress }))).toEqual({
    backups: [],
    blobs: 0,
  })
  expect(progress.warnings).toEqual([expect.stringContaining('has a time in the future')])
  expect(await folder.finished()).toEqual([made, '2999-01-01T00-00-00.000Z', 'the best one'])
  rmSync(folder.path('2999-01-01T00-00-00.000Z'), { recursive: true })
  expect(await chooseBackup(folder, undefined)).toBe(made)
})

once(
  'Pruning without a backup keeps the newest one, and the files of an unfinished one',
  async () => {
    const { folder, name } = await backUp(t, join(dir, 'prune'))
    const { name: newest } = await backUp(t, folder.dir)
    const draft = `${name.slice(0, -4)}999Z.unfinished`
    renameSync(folder.path(newest), folder.path(draft))
    const progress = silent()
    expect(await folder.alone(() => removeOld(folder, { count: 1 }, { progress }))).toEqual({
      backups: [],
      blobs: 0,
    })
    expect([await folder.finished(), await folder.unfinished()]).toEqual([[name], [draft]])
    // Only the list of the unfinished backup names the blobs.
    rmSync(folder.path(name), { recursive: true })
    mkdirSync(folder.path('.removed'))
    expect(await folder.alone(() => removeOld(folder, { days: 1 }, { progress }))).toEqual({
      backups: [],
      blobs: 0,
    })
    const third = await backUp(t, folder.dir)
    expect(third.manifest.blobs.copied).toBe(0)
    expect(existsSync(folder.path(draft, 'tables'))).toBe(false)
  },
)

once('A blob that cannot be removed does not keep a restore from ending', async () => {
  const { folder, name } = await backUp(t, join(dir, 'kept'))
  const target = await place()
  await restoreInto(target, folder, name)
  const key = newId()
  const path = join(target.blobDir, 'blobs', key.slice(0, 7), key)
  // A folder with contents cannot be removed like a file.
  mkdirSync(join(path, 'more'), { recursive: true })
  const restored = await restoreInto(target, folder, name, { deleteExisting: true })
  expect(restored).toMatchObject({
    there: FILES,
    deleted: 0,
    warnings: [expect.stringContaining(key)],
  })
  expect(await restoreUnderWay(target.db)).toBeUndefined()
})

once('A restore runs no statement of a manifest but those that make its tables', async () => {
  const { folder, name, manifest } = await backUp(t, join(dir, 'statements'))
  const target = await place()
  const [first, ...rest] = manifest.tables
  if (!first) throw new Error('no tables')
  for (const change of [
    { create: 'DROP TABLE user' },
    { create: `CREATE TABLE \`${first.name}\` (a) AS SELECT 1` },
    { create: `CREATE TABLE another (a)` },
    { indexes: [`CREATE TRIGGER a AFTER INSERT ON ${first.name} BEGIN DELETE FROM user; END`] },
    { indexes: ['CREATE INDEX a ON another (a)'] },
  ]) {
    await writeManifest(folder.path(name, 'manifest.json'), {
      ...manifest,
      tables: [{ ...first, ...change }, ...rest],
    })
    await expect(restoreInto(target, folder, name)).rejects.toThrow('The manifest has a statement')
  }
})

once('A backup that has lost the lock of its folder gives up', async () => {
  const into = join(dir, 'lock')
  const progress = silent({
    step: name => void (name === 'Copying files' && rmSync(join(into, '.lock'))),
  })
  await expect(backUp(t, into, { progress })).rejects.toThrow(
    'Another backup or restore may have used',
  )
  expect(readdirSync(join(into, 'backups'))).toEqual([expect.stringContaining('.unfinished')])
})

once('A damaged or missing manifest is reported, and the other backups are verified', async () => {
  const broken = ['{', undefined]
  const { folder } = await backUp(t, join(dir, 'manifest'))
  for (const text of broken) {
    const { name } = await backUp(t, folder.dir)
    const path = folder.path(name, 'manifest.json')
    rmSync(path)
    if (text !== undefined) await writeWhole(path, text)
  }
  const progress = silent()
  expect(await verifyBackups(folder, progress)).toEqual({ backups: 3, blobs: FILES, problems: 2 })
  expect(progress.warnings).toEqual([
    expect.stringContaining('manifest.json is not JSON'),
    expect.stringContaining('manifest.json is missing'),
  ])
})

once('A failure names what has failed: the folder of backups or the blob store', async () => {
  const full = Object.assign(new Error('no space left on device'), {
    code: 'ENOSPC',
    syscall: 'write',
  })
  const store = naming({ ...t.app.store, list: t.app.store.list, look: () => Promise.reject(full) })
  await expect(store.look('a')).rejects.toThrow(
    `The blob store (${t.app.store.label}) failed: no space left on device`,
  )
  const ofSource = async function* () {
    yield Buffer.from('a')
    throw full
  }
  const options = { contentType: 'a/b', admit: async () => {} }
  await expect(store.put('a', ofSource(), options)).rejects.toBe(full)
  const told = (error: unknown) => String(explained(error, '/backup'))
  expect(told(full)).toContain('/backup has no space left')
  expect(told(new Unavailable('blob store', full))).toContain('/backup has no space left')
  expect(told(new StoreFailed(store, full))).toContain('The blob store (')
  expect(
    told(Object.assign(new Error('secret'), { code: 'EACCES', path: '/data/secret.key' })),
  ).toBe('Error: secret')
  expect(explained(full, '/backup')).not.toBeInstanceOf(BackupError)
})

once('A maintenance is not saved: a restored service takes changes', async () => {
  const { maintenance } = t.app.services
  await maintenance.start({ endsAt: Date.now() + 60_000, message: 'Backup' }, null)
  const { folder, name } = await backUp(t, join(dir, 'maintenance')).finally(() =>
    maintenance.end(null),
  )
  const target = await place()
  await restoreInto(target, folder, name)
  expect(await target.db.Maintenance.count()).toBe(0)
})

it('A restore refuses a database with rows, and drops tables unknown to this version', async () => {
  const { folder, name } = await backUp(t, join(dir, 'tables'))
  const target = await place()
  // A service that ran for a while without users has no data to lose.
  await target.start().then(service => service.stop())
  await target.db.StorageDay.create({ day: 1, usedBytes: 0, keptBytes: 0, at: 1 })
  await target.db.InstanceState.create({ name: 'killed', startedAt: 1, seenAt: 1, alarms: '[]' })
  rmSync(target.blobDir, { recursive: true })
  await restoreInto(target, folder, name)
  const id = engine === 'mysql' ? 'CHAR(36) CHARACTER SET ascii COLLATE ascii_bin' : 'CHAR(36)'
  for (const sql of [
    `CREATE TABLE \`later one\` (user_id ${id} NOT NULL, other INTEGER, FOREIGN KEY (user_id) REFERENCES user (id))`,
    'INSERT INTO `later one` (user_id) SELECT id FROM user',
    'CREATE TABLE a_later_one (id INTEGER PRIMARY KEY)',
  ])
    await target.db.run(sql)
  await expect(restoreInto(target, folder, name)).rejects.toThrow('The database has data already')
  expect(await restoreInto(target, folder, name, { deleteExisting: true })).toMatchObject({
    lost: 0,
    there: FILES,
  })
  await expect(target.db.rows('SELECT * FROM `later one`')).rejects.toThrow()
  expect(await findingsOf(target)).toEqual([])

  const foreign = await place()
  await foreign.db.run('CREATE TABLE photos (id INTEGER PRIMARY KEY)')
  await foreign.db.run('INSERT INTO photos VALUES (1)')
  await expect(restoreInto(foreign, folder, name)).rejects.toThrow('in the table photos')
})
