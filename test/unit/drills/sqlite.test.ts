import { copyFileSync, existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { DataTypes } from 'sequelize'
import { type Db, openDatabase, type Tx } from '../../../db/index.ts'
import { openLog } from '../../../db/sqlite-log.ts'
import { SqliteThread } from '../../../db/sqlite-thread.ts'
import { until } from '../../support/until.ts'

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

/**
 * Counts the syncs of files in this process. Syncs that should fail wait until they are released.
 */
async function watchSyncs() {
  const handle = await open(file)
  const prototype = Object.getPrototypeOf(handle) as FileHandle
  await handle.close()
  const original = prototype.datasync
  const released = Promise.withResolvers<void>()
  const syncs = {
    begun: 0,
    fail: 0,
    release: released.resolve,
    restore: () => void Object.assign(prototype, { datasync: original }),
  }
  prototype.datasync = async function (this: FileHandle) {
    syncs.begun += 1
    if (syncs.fail-- <= 0) return original.call(this)
    await released.promise
    throw Object.assign(new Error('EIO'), { code: 'EIO', syscall: 'fdatasync' })
  }
  return syncs
}

describe('SQLite', () => {
  it('syncs every write of a model to disk before it is acknowledged', async () => {
    const T = db.sequelize.define(
      't',
      {
        id: { type: DataTypes.INTEGER, primaryKey: true },
        x: DataTypes.TEXT,
        n: DataTypes.INTEGER,
      },
      { tableName: 't', timestamps: false },
    )
    const row = await T.create({ id: 1, x: 'a', n: 1 })
    const where = { id: 1 }
    const syncs = await watchSyncs()
    try {
      for (const [what, write] of [
        ['insert', () => T.create({ id: 2, x: 'b', n: 1 })],
        ['upsert', () => T.upsert({ id: 2, x: 'c', n: 1 })],
        ['update', () => row.update({ n: 2 })],
        ['increment', () => T.increment('n', { where })],
        ['bulk update', () => T.update({ n: 4 }, { where })],
        ['delete', () => row.destroy()],
        ['bulk delete', () => T.destroy({ where: { id: 2 } })],
      ] as const) {
        const before = syncs.begun
        await write()
        expect([what, syncs.begun]).not.toEqual([what, before])
      }
    } finally {
      syncs.restore()
    }
    expect(await countIn(file)).toBe(0)
  })

  it('returns values unchanged, in plain objects', async () => {
    await db.run('INSERT INTO t (id, x, n) VALUES (?, ?, ?)', [1, "it's", true])
    await db.run('INSERT INTO t (id, x, n) VALUES (?, ?, ?)', [2, null, 2 ** 52])
    const rows = await db.rows('SELECT * FROM t ORDER BY id')
    expect(rows).toStrictEqual([
      { id: 1, x: "it's", n: 1 },
      { id: 2, x: null, n: 2 ** 52 },
    ])
  })

  it('reads the current columns of a statement after the table has changed', async () => {
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

  it('lets other work run during long reads and writes', async () => {
    let turns = 0
    const ticking = setInterval(() => turns++, 1)
    for (const end = Date.now() + 300; Date.now() < end; ) await db.rows('SELECT 1')
    const whileReading = turns
    for (let i = 0; i < 50; i++) await insert(`row ${i}`)
    clearInterval(ticking)
    expect(whileReading).toBeGreaterThan(0)
    expect(turns).toBeGreaterThan(whileReading)
  })

  it('acknowledges nothing after a failed sync, including commits during that sync', async () => {
    await insert('synced')
    const syncs = await watchSyncs()
    try {
      // Linux also reports lost pages only once.
      syncs.fail = 1
      const first = insert('not synced')
      await until(() => syncs.begun === 1)
      const second = insert('committed meanwhile')
      await until(async () => (await db.rows('SELECT 1 FROM t')).length === 3)
      syncs.release()
      for (const write of [first, second])
        await expect(write).rejects.toMatchObject({ code: 'SQLITE_IOERR' })
      await expect(insert('after that')).rejects.toMatchObject({ code: 'SQLITE_IOERR' })
      await expect(db.probe()).rejects.toMatchObject({ code: 'SQLITE_IOERR' })
      expect(await db.rows("SELECT x FROM t WHERE x = 'synced'")).toHaveLength(1)
    } finally {
      syncs.restore()
    }
  })

  it('opens its log before it writes, and retries after a failure', async () => {
    const log = openLog(join(dir, 'late'))
    await expect(log.open()).rejects.toMatchObject({ code: 'SQLITE_CANTOPEN' })
    expect(() => log.requireIntact()).not.toThrow()
    writeFileSync(join(dir, 'late-wal'), '')
    await log.open()
    await log.durable()
    await log.close()
    // SQLite keeps writing to the moved file, which is still synced.
    await insert('before')
    renameSync(`${file}-wal`, `${file}-away`)
    await insert('into the open file')
    renameSync(`${file}-away`, `${file}-wal`)
    await insert('after')
  })

  it('syncs exactly the transactions that wrote something', async () => {
    await insert('a')
    const syncs = await watchSyncs()
    const of = async (work: () => Promise<unknown>) => {
      const before = syncs.begun
      await work()
      return syncs.begun - before
    }
    try {
      const update = (x: string, tx?: Tx) => db.run('UPDATE t SET n = 1 WHERE x = ?', [x], tx)
      expect(await of(() => update('a'))).toBe(1)
      expect(await of(() => db.transaction(async () => {}))).toBe(0)
      expect(await of(() => update('nothing'))).toBe(0)
      expect(await of(() => db.run('PRAGMA user_version = 7'))).toBe(1)
      expect(
        await of(() => db.transaction(tx => db.run('CREATE TABLE more (id INTEGER)', [], tx))),
      ).toBe(1)
      expect(await of(() => db.transaction(tx => update('a', tx)))).toBe(1)
      expect(await of(() => db.transaction(tx => update('nothing', tx)))).toBe(0)
      expect(await db.run('PRAGMA user_version = 8')).toBe(0)
    } finally {
      syncs.restore()
    }
  })

  it('writes models like statements: in order, and synced', async () => {
    await db.run('CREATE TABLE installation (slot INTEGER PRIMARY KEY, id TEXT)')
    const syncs = await watchSyncs()
    const where = { slot: 1 }
    try {
      const inside = Promise.withResolvers<void>()
      const blocking = db.transaction(async tx => {
        await db.run('INSERT INTO installation VALUES (2, ?)', ['b'], tx)
        await inside.promise
      })
      const waiting = db.Installation.create({ slot: 1, id: 'a' })
      inside.resolve()
      await blocking
      expect(await waiting).toMatchObject({ slot: 1 })
      expect(syncs.begun).toBeGreaterThan(0)
      const before = syncs.begun
      expect(await db.Installation.update({ id: 'c' }, { where })).toEqual([1])
      expect(await db.Installation.destroy({ where })).toBe(1)
      expect(syncs.begun).toBe(before + 2)
      expect(await db.Installation.destroy({ where })).toBe(0)
      expect(syncs.begun).toBe(before + 2)
    } finally {
      syncs.restore()
    }
  })

  it('stores integers as integers', async () => {
    await db.run('CREATE TABLE v (a VARCHAR(20), b BIGINT)')
    await db.run('INSERT INTO v VALUES (?, ?)', [5, 2 ** 52])
    expect(
      await db.rows(
        'SELECT a, b, ? / 2 AS half, typeof(?) AS whole, typeof(?) AS real FROM v',
        [5, 7, 7.5],
      ),
    ).toEqual([{ a: '5', b: 2 ** 52, half: 2, whole: 'integer', real: 'real' }])
  })

  it('checkpoints its log while it runs, and empties it at the end', async () => {
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

  /** Blocks the thread of a connection, like a disk that does not respond. */
  const hold = (rows: number) => `INSERT INTO t (x) WITH RECURSIVE c(n) AS (
    SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < ${rows}) SELECT 'held ' || MAX(n) FROM c`

  it('runs writes outside of the event loop, and also reads while a write hangs', async () => {
    await insert('before')
    let longest = 0
    let last = performance.now()
    const ticking = setInterval(() => {
      longest = Math.max(longest, performance.now() - last)
      last = performance.now()
    }, 5)
    ticking.unref()
    let isHeld = true
    const held = db.run(hold(3_000_000)).finally(() => {
      isHeld = false
    })
    await until(() => performance.now() - last < 50)
    let reads = 0
    for (; isHeld && reads < 1000; reads++) {
      expect((await db.rows('SELECT x FROM t ORDER BY id'))[0]).toEqual({ x: 'before' })
      await new Promise(resolve => setTimeout(resolve, 10))
    }
    await held
    clearInterval(ticking)
    expect(reads).toBeGreaterThan(5)
    expect(longest).toBeLessThan(500)
  })

  const isThere = (thread: SqliteThread) =>
    thread.rows('SELECT 1').then(
      () => true,
      () => false,
    )

  it('abandons a hanging statement, refuses others at once, and recovers', async () => {
    await insert('before')
    const thread = new SqliteThread(file, 1000)
    const gone = { code: 'SQLITE_IOERR' }
    try {
      await until(() => isThere(thread))
      await thread.write('BEGIN IMMEDIATE')
      await expect(thread.write(hold(12_000_000))).rejects.toMatchObject(gone)
      expect(thread.waiting).toBeGreaterThanOrEqual(900)
      await thread.rollBack()
      const since = performance.now()
      await expect(thread.write('BEGIN IMMEDIATE')).rejects.toMatchObject(gone)
      await expect(thread.rows('SELECT 1')).rejects.toMatchObject(gone)
      expect(performance.now() - since).toBeLessThan(500)
      await until(() => !thread.isStuck)
      await insert('after')
      expect(await thread.rows('SELECT x FROM t ORDER BY id')).toEqual([
        { x: 'before' },
        { x: 'after' },
      ])
    } finally {
      await thread.close()
    }
  })

  it('begins another transaction after one whose beginning hung', async () => {
    await insert('before')
    const thread = new SqliteThread(file, 1000)
    try {
      await until(() => isThere(thread))
      const held = thread.rows(hold(12_000_000).replace(/^.*?WITH/s, 'WITH'))
      const [first, second] = await Promise.allSettled([held, thread.write('BEGIN IMMEDIATE')])
      expect([first.status, second.status]).toEqual(['rejected', 'rejected'])
      await until(() => !thread.isStuck)
      await insert('another connection may write')
      await thread.write('BEGIN IMMEDIATE')
      await thread.rollBack()
    } finally {
      await thread.close()
    }
  })
})
