import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { migrate } from '../db/migrate.ts'
import { FILE, FOLDER } from '../db/models/entry.ts'
import { Share } from '../db/models/share.ts'
import { selection } from '../db/queries/sql.ts'
import { freshDatabase } from './fresh-database.ts'

let fresh: Awaited<ReturnType<typeof freshDatabase>>

beforeAll(async () => {
  fresh = await freshDatabase()
})
afterAll(() => fresh.drop())

it('A migration that was killed before it was noted begins again, and changes nothing of what is there', async () => {
  const { db } = fresh
  const tables = async () => JSON.stringify(await db.sequelize.getQueryInterface().showAllTables())
  await db.run("UPDATE plan SET name = 'Renamed' WHERE id = 'free'")
  const before = [await tables(), await db.rows('SELECT * FROM plan ORDER BY id')]
  for (const { name } of await db.rows<{ name: string }>(
    'SELECT name FROM migration ORDER BY name',
  )) {
    await db.run('DELETE FROM migration WHERE name = ?', [name])
    await migrate(db)
  }
  expect([await tables(), await db.rows('SELECT * FROM plan ORDER BY id')]).toEqual(before)
})

it('A database in which bytes belong to one file gets the count of those who have them', async () => {
  const { db } = fresh
  const tables = db.sequelize.getQueryInterface()
  const columns = async () => Object.keys(await tables.describeTable('blobs')).sort()
  const indexes = async (table: string) => {
    const all = (await tables.showIndex(table)) as { name: string; unique: boolean }[]
    return all.map(({ name, unique }) => `${name} ${unique}`).sort()
  }
  const shape = async () => [await columns(), await indexes('entry'), await indexes('version')]
  const now = await shape()
  await db.run(
    "INSERT INTO blobs (id, bucket_id, state, size, lease_until, created_at, ref_count) VALUES ('b', 'b', 'live', 1, 0, 0, 7)",
  )
  const before = {
    column: () => db.run('ALTER TABLE blobs DROP COLUMN ref_count'),
    entry: async () => {
      await tables.removeIndex('entry', 'entry_blob_id')
      await tables.addIndex('entry', ['blob_id'], { unique: true })
    },
    // Killed between the two halves of a change.
    version: () => tables.removeIndex('version', 'version_blob_id'),
  }
  for (const halves of [
    ['column', 'entry', 'version'],
    ['entry', 'version'],
    ['version'],
  ] as const) {
    for (const half of halves) await before[half]()
    await db.run("DELETE FROM migration WHERE name = '0002-shared-blobs'")
    await migrate(db)
    expect(await shape()).toEqual(now)
  }
  expect(await db.rows('SELECT ref_count AS count FROM blobs')).toEqual([{ count: 1 }])
  await db.run('DELETE FROM blobs')
})

it('A database of the version before managed plans keeps who has which, and knows the default and who was moved by operators', async () => {
  const { db } = fresh
  const insert = (id: string, plan: string) =>
    db.run(
      `INSERT INTO user (id, email, name, given_name, family_name, picture, locale, plan_id, status, created_at, sign_in_notices)
       VALUES (?, ?, '', '', '', '', '', ?, 'active', 1, 0)`,
      [id, `${id}@example.com`, plan],
    )
  await insert('usual', 'free')
  await insert('moved', 'developer')
  const rows = async () => [
    await db.rows('SELECT id, plan_id, plan_by FROM user ORDER BY id'),
    await db.rows('SELECT id, is_default, retired_at FROM plan ORDER BY id'),
    await db.rows('SELECT id FROM own_limit'),
  ]
  // The second time, it was killed before it wrote the rows.
  for (const lost of [
    ['plan.is_default', 'plan.retired_at', 'user.plan_by'],
    ['plan.retired_at'],
  ]) {
    await db.run('DROP TABLE own_limit')
    await db.run('UPDATE plan SET is_default = 0')
    for (const [table, column] of lost.map(name => name.split('.')))
      await db.run(`ALTER TABLE ${table} DROP COLUMN ${column}`)
    await db.run("DELETE FROM migration WHERE name = '0012-plans'")
    await migrate(db)
    expect(await rows()).toEqual([
      [
        { id: 'moved', plan_id: 'developer', plan_by: 'operator' },
        { id: 'usual', plan_id: 'free', plan_by: 'default' },
      ],
      ['developer', 'enterprise', 'free'].map(id => ({
        id,
        is_default: id === 'free' ? 1 : 0,
        retired_at: null,
      })),
      [],
    ])
  }
  await db.run('DELETE FROM user')
})

it('More accounts of other plans than one statement marks are all of operators, also when it was killed among them', async () => {
  const { db } = fresh
  const digits = (table: string) =>
    `(SELECT 0 AS d ${[1, 2, 3, 4, 5, 6, 7, 8, 9].map(d => `UNION ALL SELECT ${d}`).join(' ')}) ${table}`
  const number = 'v.d * 10000 + w.d * 1000 + x.d * 100 + y.d * 10 + z.d'
  await db.run(
    `INSERT INTO user (id, email, name, given_name, family_name, picture, locale, plan_id, plan_by, status, created_at, sign_in_notices)
     SELECT ${number}, '', '', '', '', '', '', CASE WHEN z.d = 0 THEN 'free' ELSE 'developer' END, CASE WHEN v.d = 0 AND z.d = 1 THEN 'operator' ELSE 'default' END,
       'active', 1, 0
     FROM ${['v', 'w', 'x', 'y', 'z'].map(digits).join(', ')} WHERE ${number} < 10500`,
  )
  await db.run('UPDATE plan SET is_default = 0')
  await db.run("DELETE FROM migration WHERE name = '0012-plans'")
  await migrate(db)
  expect(
    await db.rows(
      'SELECT plan_id, plan_by, COUNT(*) AS n FROM user GROUP BY plan_id, plan_by ORDER BY plan_id',
    ),
  ).toEqual([
    { plan_id: 'developer', plan_by: 'operator', n: 9450 },
    { plan_id: 'free', plan_by: 'default', n: 1050 },
  ])
  await db.run('DELETE FROM user')
})

it('Shares that were made before may not be edited, and uploads that were begun before are by no share', async () => {
  const { db } = fresh
  await db.run(
    `INSERT INTO share (id, entry_id, bucket_id, user_id, recipient, downloads, created_at, expires_at) VALUES ('s', 'e', 'b', 'u', 'r', 0, 1, 2)`,
  )
  const rows = async () => [
    ...(await db.rows(`SELECT ${selection(Share)} FROM share`)),
    ...(await db.rows('SELECT share_id FROM upload_session')),
  ]
  const before = await rows()
  // The second time, it was killed after the first column.
  for (const lost of [['share.may_edit', 'upload_session.share_id'], ['upload_session.share_id']]) {
    for (const [table, column] of lost.map(name => name.split('.')))
      await db.run(`ALTER TABLE ${table} DROP COLUMN ${column}`)
    await db.run("DELETE FROM migration WHERE name = '0010-share-edit'")
    await migrate(db)
    expect(await rows()).toEqual(before)
  }
  expect(before).toEqual([expect.objectContaining({ id: 's', mayEdit: 0 })])
  await db.run('DELETE FROM share')
})

it('Shares that were made before are of one entry, and there is a table for those of several', async () => {
  const { db } = fresh
  const tables = db.sequelize.getQueryInterface()
  const shape = async () => [
    await tables.describeTable('share'),
    await tables.describeTable('share_entry'),
    await tables.showIndex('share_entry'),
    ((await tables.showIndex('share')) as { name: string }[]).map(({ name }) => name).toSorted(),
  ]
  const now = await shape()
  await db.run(
    `INSERT INTO share (id, entry_id, bucket_id, user_id, password_hash, downloads, created_at, expires_at) VALUES ('s', 'e', 'b', 'u', 'hash', 3, 1, 2)`,
  )
  const rows = () => db.rows(`SELECT ${selection(Share)} FROM share`)
  const before = await rows()
  // The second time, it was killed after the column.
  for (const lost of ['both', 'table']) {
    await db.run('DROP TABLE share_entry')
    if (lost === 'both') {
      await db.run('ALTER TABLE share DROP COLUMN entry_count')
      await tables.removeIndex('share', 'share_bucket_id')
    }
    await db.run("DELETE FROM migration WHERE name = '0011-share-entries'")
    await migrate(db)
    expect(await rows()).toEqual(before)
    expect(await shape()).toEqual(now)
  }
  expect(before).toEqual([
    expect.objectContaining({ id: 's', entryCount: null, downloads: 3, passwordHash: 'hash' }),
  ])
  await db.run('DELETE FROM share')
})

it('Shares that were made before have no label, may be downloaded and tell nobody; address, rights and counts stay', async () => {
  const { db } = fresh
  const added = ['label', 'allow_download', 'notifies', 'notified_at', 'mail_waits']
  await db.run(
    `INSERT INTO share (id, entry_id, bucket_id, user_id, recipient, password_hash, max_downloads, downloads, seen_at, created_at, expires_at)
     VALUES ('s', 'e', 'b', 'u', NULL, 'hash', 5, 3, NULL, 1, 2)`,
  )
  const rows = () => db.rows(`SELECT ${selection(Share)} FROM share`)
  const before = await rows()
  // The second time, it was killed after the first column.
  for (const lost of [added, added.slice(1)]) {
    for (const column of lost) await db.run(`ALTER TABLE share DROP COLUMN ${column}`)
    await db.run("DELETE FROM migration WHERE name = '0005-share-terms'")
    await migrate(db)
    expect(await rows()).toEqual(before)
  }
  expect(before).toEqual([
    expect.objectContaining({
      id: 's',
      passwordHash: 'hash',
      maxDownloads: 5,
      downloads: 3,
      expiresAt: 2,
      label: '',
      allowDownload: 1,
      notifies: 0,
      mailWaits: 0,
    }),
  ])
  await db.run('DELETE FROM share')
})

it('A database of the version before file requests gets their tables, and keeps its files and shares', async () => {
  const { db } = fresh
  const tables = db.sequelize.getQueryInterface()
  const shape = async () => {
    const names = ['file_request', 'file_request_upload']
    return Promise.all(
      names.map(async name => [await tables.describeTable(name), await tables.showIndex(name)]),
    )
  }
  const now = JSON.stringify(await shape())
  const plans = await db.rows('SELECT * FROM plan ORDER BY id')
  const gone = {
    uploads: () => tables.dropTable('file_request_upload'),
    requests: () => tables.dropTable('file_request'),
  }
  // The second time, it was killed between the two tables.
  for (const halves of [['uploads', 'requests'], ['uploads']] as const) {
    for (const half of halves) await gone[half]()
    await db.run("DELETE FROM migration WHERE name = '0004-file-requests'")
    await migrate(db)
    expect(JSON.stringify(await shape())).toBe(now)
    expect(await db.rows('SELECT * FROM plan ORDER BY id')).toEqual(plans)
  }
})

it('Sessions and memberships that began before have no provider that could end them', async () => {
  const { db } = fresh
  const tables = db.sequelize.getQueryInterface()
  const shape = async () => [
    await tables.describeTable('session'),
    await tables.describeTable('member'),
    ((await tables.showIndex('session')) as { name: string }[]).map(({ name }) => name).toSorted(),
  ]
  const now = await shape()
  // The second time, it was killed after the first column.
  for (const lost of [['provider_session', 'provider'], ['provider_session']]) {
    await tables.removeIndex('session', 'session_provider_session')
    for (const column of lost) await db.run(`ALTER TABLE session DROP COLUMN ${column}`)
    await db.run('ALTER TABLE member DROP COLUMN provider')
    await db.run("DELETE FROM migration WHERE name = '0013-sign-in'")
    await migrate(db)
    expect(await shape()).toEqual(now)
  }
})

it('A database of the version before times of files gets them, and what clients had set of files as a property goes', async () => {
  const { db } = fresh
  for (const table of ['entry', 'version', 'upload_session'])
    await db.run(`ALTER TABLE ${table} DROP COLUMN modified_at`)
  const hashOf = (name: string) => createHash('sha256').update(name).digest('hex')
  const [hash, lastModified] = [
    hashOf('urn:schemas-microsoft-com:\nWin32LastModifiedTime'),
    hashOf('DAV:\nlastmodified'),
  ]
  const insert = (id: string, kind: number) =>
    db.run(
      `INSERT INTO entry (id, bucket_id, parent_id, kind, name, file_type, md5, total_bytes, total_files, total_folders, levels_below, bytes_below, created_at, updated_at, revision)
       VALUES (?, 'b', NULL, ?, ?, '', '', 0, 0, 0, 0, 0, 1, 1, 1)`,
      [id, kind, id],
    )
  for (const [id, kind] of [
    ['a-file', FILE],
    ['a-folder', FOLDER],
  ] as const) {
    await insert(id, kind)
    for (const nameHash of [hash, lastModified, hash.replaceAll('a', 'b')])
      await db.run(
        "INSERT INTO dav_property (entry_id, name_hash, content) VALUES (?, ?, '<x/>')",
        [id, nameHash],
      )
  }
  await db.run("DELETE FROM migration WHERE name = '0032-file-times'")
  await migrate(db)
  expect(await db.rows('SELECT id, modified_at AS modifiedAt FROM entry ORDER BY id')).toEqual([
    { id: 'a-file', modifiedAt: null },
    { id: 'a-folder', modifiedAt: null },
  ])
  const left = await db.rows<{ id: string }>(
    'SELECT entry_id AS id FROM dav_property ORDER BY entry_id',
  )
  expect(left.map(({ id }) => id)).toEqual(['a-file', 'a-folder', 'a-folder'])
  await db.run('DELETE FROM entry')
})

it('A migration runs once, and not in a new database, whose tables are as the models are already', async () => {
  const { db } = fresh
  const ran: string[] = []
  const step = (name: string) => ({ name, up: async () => void ran.push(name) })
  const noted = async () =>
    (await db.rows<{ name: string }>('SELECT name FROM migration ORDER BY name')).map(m => m.name)
  const [first = ''] = await noted()
  await db.run('DELETE FROM migration WHERE name <> ?', [first])
  for (const steps of [[step('0002-b')], [step('0002-b'), step('0003-c')]])
    for (const _ of 'xy') await migrate(db, steps)
  expect(ran).toEqual(['0002-b', '0003-c'])
  expect(await noted()).toEqual([first, '0002-b', '0003-c'])
  await db.run('DELETE FROM migration')
  await migrate(db, [step('0002-b'), step('0004-d')])
  expect(ran).toEqual(['0002-b', '0003-c'])
  expect(await noted()).toEqual([first, '0002-b', '0004-d'])
})

it('The tables of a version that this one does not know are left alone', async () => {
  const { db } = fresh
  await expect(migrate(db, [{ name: '0002-b', up: async () => {} }])).rejects.toMatchObject({
    code: 'OTHER_VERSION',
    message: 'another version of Satchel has created its tables, with the migration 0004-d',
  })
})

describe('A statement that writes', () => {
  it('counts the rows that it finds, whether or not it changes them', async () => {
    const write = () => fresh.db.run("UPDATE plan SET name = 'The same' WHERE id = ?", ['free'])
    expect(await write()).toBe(1)
    expect(await write()).toBe(1)
    expect(await fresh.db.run("UPDATE plan SET name = 'None' WHERE id = ?", ['no such plan'])).toBe(
      0,
    )
  })

  it('finds a row by its key while others move it about in an index', async () => {
    const { db } = fresh
    await db.run(
      "INSERT INTO blobs (id, bucket_id, state, reserved_bytes, size, lease_until, created_at) VALUES ('a', 'b', 'staged', 0, 0, 0, 0)",
    )
    const sql = `UPDATE blobs${db.byKey} SET lease_until = ? WHERE id = 'a' AND state = 'staged'`
    const found = new Set<number>()
    for (let round = 0; round < 250; round++)
      for (const n of await Promise.all([4, 3, 2, 1].map(n => db.run(sql, [10 * round + n]))))
        found.add(n)
    expect([...found]).toEqual([1])
  })
})
