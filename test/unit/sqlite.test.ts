import { copyFileSync, existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { type Db, openDatabase } from '../../db/index.ts'
import { until } from '../until.ts'

let dir: string
let file: string
let db: Db

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'satchel-sqlite-'))
  file = join(dir, 'db.sqlite')
  db = openDatabase({ dialect: 'sqlite', file }, { pool: 1 })
  await db.exclusively('make', async tx => {
    await db.run('CREATE TABLE t (id INTEGER PRIMARY KEY, x TEXT UNIQUE, n INTEGER)', [], tx)
  })
})
afterEach(async () => {
  await db.close()
  rmSync(dir, { recursive: true, force: true })
})

const insert = (x: string) => db.run('INSERT INTO t (x, n) VALUES (?, ?)', [x, null])
const countIn = async (path: string) => {
  const other = openDatabase({ dialect: 'sqlite', file: path }, { pool: 1 })
  try {
    const [row] = await other.rows<{ n: number }>('SELECT COUNT(*) AS n FROM t')
    return row?.n ?? 0
  } finally {
    await other.close()
  }
}

describe('SQLite', () => {
  it('gives values back as they came, in plain objects', async () => {
    await db.run('INSERT INTO t (id, x, n) VALUES (?, ?, ?)', [1, "it's", true])
    await db.run('INSERT INTO t (id, x, n) VALUES (?, ?, ?)', [2, null, 2 ** 52])
    const rows = await db.rows('SELECT * FROM t ORDER BY id')
    expect(rows).toStrictEqual([
      { id: 1, x: "it's", n: 1 },
      { id: 2, x: null, n: 2 ** 52 },
    ])
  })

  it('knows the columns of a statement when the table has changed', async () => {
    await insert('a')
    expect(await db.rows('SELECT * FROM t')).toEqual([{ id: 1, x: 'a', n: null }])
    await db.run('ALTER TABLE t ADD COLUMN y TEXT')
    expect(await db.rows('SELECT * FROM t')).toEqual([{ id: 1, x: 'a', n: null, y: null }])
  })

  it('names its errors', async () => {
    await insert('a')
    await expect(insert('a')).rejects.toMatchObject({
      code: 'SQLITE_CONSTRAINT',
      message: 'SQLITE_CONSTRAINT: UNIQUE constraint failed: t.x',
    })
    await expect(db.rows('SELECT')).rejects.toMatchObject({ code: 'SQLITE_ERROR' })
  })

  it('lets others in while one reads, or writes, without end', async () => {
    let turns = 0
    const ticking = setInterval(() => turns++, 1)
    for (const end = Date.now() + 300; Date.now() < end; ) await db.rows('SELECT 1')
    const whileReading = turns
    for (let i = 0; i < 50; i++) await insert(`row ${i}`)
    clearInterval(ticking)
    expect(whileReading).toBeGreaterThan(0)
    expect(turns).toBeGreaterThan(whileReading)
  })

  it('acknowledges nothing that it cannot sync, and takes no more then', async () => {
    await insert('synced')
    await db.close()
    db = openDatabase({ dialect: 'sqlite', file }, { pool: 1 })
    await db.rows('SELECT 1')
    await db.transaction(async () => {})
    // SQLite goes on in the file that it has open; there is none by that name to sync.
    renameSync(`${file}-wal`, `${file}-away`)
    await expect(insert('not synced')).rejects.toMatchObject({ code: 'SQLITE_IOERR' })
    renameSync(`${file}-away`, `${file}-wal`)
    await expect(insert('after that')).rejects.toMatchObject({ code: 'SQLITE_IOERR' })
    await expect(db.probe()).rejects.toMatchObject({ code: 'SQLITE_IOERR' })
    expect(await db.rows("SELECT x FROM t WHERE x = 'synced'")).toHaveLength(1)
  })

  it('copies its log to the file while it runs, and empties it at the end', async () => {
    await Promise.all(Array.from({ length: 200 }, (_, i) => insert(`row ${i}`)))
    const copy = join(dir, 'copy.sqlite')
    await until(async () => {
      copyFileSync(file, copy)
      return (await countIn(copy).catch(() => 0)) >= 64
    })
    await db.close()
    expect(existsSync(`${file}-wal`)).toBe(false)
    expect(await countIn(file)).toBe(200)
    db = openDatabase({ dialect: 'sqlite', file }, { pool: 1 })
  })
})
