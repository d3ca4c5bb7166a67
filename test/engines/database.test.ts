import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { freshDatabase } from '../support/fresh-database.ts'

let fresh: Awaited<ReturnType<typeof freshDatabase>>

beforeAll(async () => {
  fresh = await freshDatabase()
})
afterAll(() => fresh.drop())

describe('Write statements', () => {
  it('return the number of rows found, whether changed or not', async () => {
    const write = () => fresh.db.run("UPDATE plan SET name = 'The same' WHERE id = ?", ['free'])
    expect(await write()).toBe(1)
    expect(await write()).toBe(1)
    expect(await fresh.db.run("UPDATE plan SET name = 'None' WHERE id = ?", ['no such plan'])).toBe(
      0,
    )
  })

  it('find a row by its key while others move it within an index', async () => {
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
