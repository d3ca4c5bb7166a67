import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { migrate } from '../db/migrate.ts'
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
  for (const { name } of await db.rows<{ name: string }>('SELECT name FROM migration ORDER BY name')) {
    await db.run('DELETE FROM migration WHERE name = ?', [name])
    await migrate(db)
  }
  expect([await tables(), await db.rows('SELECT * FROM plan ORDER BY id')]).toEqual(before)
})

it('A migration runs once, and not in a new database, whose tables are as the models are already', async () => {
  const { db } = fresh
  const ran: string[] = []
  const step = (name: string) => ({ name, up: async () => void ran.push(name) })
  const noted = async () =>
    (await db.rows<{ name: string }>('SELECT name FROM migration ORDER BY name')).map(m => m.name)
  const [first] = await noted()
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
    message: 'another version of Satchel has made its tables, by the migration 0004-d',
  })
})

describe('A statement that writes', () => {
  it('counts the rows that it finds, whether or not it changes them', async () => {
    const write = () => fresh.db.run("UPDATE plan SET name = 'The same' WHERE id = ?", ['free'])
    expect(await write()).toBe(1)
    expect(await write()).toBe(1)
    expect(await fresh.db.run("UPDATE plan SET name = 'None' WHERE id = ?", ['no such plan'])).toBe(0)
  })

  it('finds a row by its key while others move it about in an index', async () => {
    const { db } = fresh
    await db.run(
      "INSERT INTO blobs (id, bucket_id, state, reserved_bytes, size, lease_until, created_at) VALUES ('a', 'b', 'staged', 0, 0, 0, 0)",
    )
    const sql = `UPDATE blobs${db.byKey} SET lease_until = ? WHERE id = 'a' AND state = 'staged'`
    const found = new Set<number>()
    for (let round = 0; round < 250; round++)
      for (const n of await Promise.all([4, 3, 2, 1].map(n => db.run(sql, [10 * round + n])))) found.add(n)
    expect([...found]).toEqual([1])
  })
})
