import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { createConnection } from 'mysql2/promise'
import { type Db, openDatabase } from '../../db/index.ts'
import { migrate, migrationNames, stepsOf } from '../../db/migrate.ts'
import { readConfig } from '../../src/config/config.ts'
import { freshDatabase } from '../support/fresh-database.ts'
import { blobFolderOf, newDatabase, startApp } from '../support/harness.ts'

declare const engine: 'sqlite' | 'mysql'

let fresh: Awaited<ReturnType<typeof freshDatabase>>

beforeAll(async () => {
  fresh = await freshDatabase()
})
afterAll(() => fresh.drop())

const stepsIn = async (db: Db) =>
  (await db.rows<{ name: string }>('SELECT name FROM migration ORDER BY name')).map(m => m.name)

/** The columns and indexes of every table of the models. */
async function shapeOf(db: Db) {
  const tables = db.sequelize.getQueryInterface()
  const shape: Record<string, unknown> = {}
  for (const model of Object.values(db.sequelize.models)) {
    const table = String(model.getTableName())
    const indexes = (await tables.showIndex(table)) as {
      name: string
      unique: boolean
      primary: boolean
      fields: { attribute: string }[]
    }[]
    shape[table] = {
      columns: await tables.describeTable(table),
      indexes: indexes
        .filter(({ name, primary }) => !primary && !name.startsWith('sqlite_autoindex'))
        .map(({ name, unique, fields }) => ({ name, unique, on: fields.map(f => f.attribute) }))
        .sort((a, b) => (a.name < b.name ? -1 : 1)),
    }
  }
  return shape
}

describe('The migrations', () => {
  it('create the tables that the models describe', async () => {
    const { url, drop } = await newDatabase()
    const db = openDatabase(readConfig({ DATABASE_URL: url }).database, { pool: 2 })
    try {
      await db.sequelize.drop()
      await db.sequelize.sync()
      expect(await shapeOf(fresh.db)).toEqual(await shapeOf(db))
    } finally {
      await db.close()
      await drop()
    }
  })

  it('run again after a kill, and change no existing row', async () => {
    const { db } = fresh
    await db.run("UPDATE plan SET name = 'Renamed' WHERE id = 'free'")
    const state = async () => [
      await shapeOf(db),
      await db.rows('SELECT * FROM plan ORDER BY id'),
      await stepsIn(db),
    ]
    const before = await state()
    for (const name of await stepsIn(db)) {
      await db.run('DELETE FROM migration WHERE name = ?', [name])
      await migrate(db)
    }
    expect(await state()).toEqual(before)
  })

  it('run once each, in order', async () => {
    const { db, drop } = await freshDatabase()
    const ran: string[] = []
    const step = (name: string) => ({ name, up: async () => void ran.push(name) })
    try {
      await db.run('DELETE FROM migration')
      for (const names of [['0001-a'], ['0001-a', '0002-b', '0003-c']])
        for (const _ of 'xy') await migrate(db, names.map(step))
      expect(ran).toEqual(['0001-a', '0002-b', '0003-c'])
      expect(await stepsIn(db)).toEqual(ran)
    } finally {
      await drop()
    }
  })

  it.each([
    ['a later version', '9999-later'],
    ['an early development version', '0001-initial'],
  ])('leave the tables of %s alone', async (_, name) => {
    const { db, drop } = await freshDatabase()
    try {
      await db.run('DELETE FROM migration')
      await db.run('INSERT INTO migration (name, at) VALUES (?, 1)', [name])
      await expect(migrate(db)).rejects.toMatchObject({
        code: 'OTHER_VERSION',
        message: `another version of Satchel has created its tables, with the migration ${name}`,
      })
      expect(await stepsIn(db)).toEqual([name])
    } finally {
      await drop()
    }
  })

  it('record the 26 steps of the development versions as the first one', () => {
    const names = ['0001-initial', '0028-pictures', '0033-instance-stores', '0034-x', 'restoring y']
    expect(stepsOf(names)).toEqual(['0001-tables', '0034-x', 'restoring y'])
  })
})

describe('A database of the last development version', () => {
  it('starts, and keeps files, trash, links, tags and workspaces', async () => {
    const { url, drop } = await storedDatabase()
    await adoptFolder(url)
    const t = await startApp({ DATABASE_URL: url })
    try {
      expect(await stepsIn(t.app.db)).toEqual(migrationNames())
      expect(await shapeOf(t.app.db)).toEqual(await shapeOf(fresh.db))
      const alice = await t.signIn('alice')
      const { data, errors } = await alice.graphql(`{
        me {
          drive {
            root { entries(first: 10) { nodes { name ... on File { size } } } }
            trash(first: 10) { nodes { name } }
            tags { name }
          }
          workspaces(first: 10) { nodes { name } }
          shares(first: 10) { nodes { __typename } }
        }
      }`)
      expect(errors).toBeUndefined()
      expect(data).toMatchObject({
        me: {
          drive: {
            root: { entries: { nodes: [{ name: 'plans' }, { name: 'photo.jpg', size: 10 }] } },
            trash: { nodes: [{ name: 'gone.txt' }] },
            tags: [{ name: 'Blue' }],
          },
          workspaces: { nodes: [{ name: 'Garden' }] },
          shares: { nodes: [{ __typename: 'LinkShare' }] },
        },
      })
      expect((await alice.upload('plans/new.txt', 'new', 'text/plain')).status).toBe(200)
    } finally {
      await t.stop()
      await drop()
      rmSync(blobFolderOf(url), { recursive: true, force: true })
    }
  })
})

/** Marks the folder of the blobs as the one that belongs to this database. */
async function adoptFolder(databaseUrl: string) {
  const db = openDatabase(readConfig({ DATABASE_URL: databaseUrl }).database, { pool: 1 })
  const installation = await db.row<{ id: string }>('SELECT id FROM installation')
  await db.close()
  mkdirSync(blobFolderOf(databaseUrl), { recursive: true })
  writeFileSync(`${blobFolderOf(databaseUrl)}/installation`, `${installation?.id}\n`)
}

/** A database of this engine with the stored tables and rows. */
async function storedDatabase() {
  const stored = (name: string) =>
    gunzipSync(readFileSync(new URL(`./stored/${name}`, import.meta.url)))
  const database = await newDatabase()
  if (engine === 'sqlite') {
    writeFileSync(database.url.replace(/^sqlite:/, ''), stored('sqlite.gz'))
    return database
  }
  const name = new URL(database.url).pathname.slice(1)
  const connection = await createConnection({ uri: database.url, multipleStatements: true })
  try {
    await connection.query(`DROP DATABASE ${name}; CREATE DATABASE ${name}; USE ${name}`)
    await connection.query(stored('mysql.sql.gz').toString())
  } finally {
    await connection.end()
  }
  return database
}
