import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createConnection } from 'mysql2/promise'
import { openDatabase } from '../../db/index.ts'
import { migrate } from '../../db/migrate.ts'
import { newMysql } from './mysql.ts'

/**
 * The template databases of a run. Databases are copied from them, because migrating a new one
 * takes a second of processor time on MySQL.
 */
const folder = () => process.env.TEST_TEMPLATES ?? ''
const sqliteTemplate = () => join(folder(), 'template.sqlite')
const mysqlTemplate = (server: string) =>
  join(folder(), `template-${new URL(server).port || 3306}.sql`)

/** Runs once per run, before the workers start. */
export async function makeTemplate(engine: 'sqlite' | 'mysql' | 'mysql-lts'): Promise<void> {
  process.env.TEST_TEMPLATES ||= mkdtempSync(join(tmpdir(), 'satchel-templates-'))
  if (engine === 'sqlite') {
    if (!existsSync(sqliteTemplate())) await makeSqlite()
  } else {
    const lts = engine === 'mysql-lts' ? '_LTS' : ''
    const server = process.env[`TEST_MYSQL${lts}_URL`] ?? ''
    if (!existsSync(mysqlTemplate(server))) await makeMysql(server)
  }
}

export function removeTemplates(): void {
  if (folder()) rmSync(folder(), { recursive: true, force: true })
  delete process.env.TEST_TEMPLATES
}

/** Creates a database file with its tables. */
export const copySqlite = (file: string): void => copyFileSync(sqliteTemplate(), file)

/** Creates the tables of an empty database. */
export async function fillMysql(url: string): Promise<void> {
  const connection = await createConnection({ uri: url, multipleStatements: true })
  try {
    await connection.query(readFileSync(mysqlTemplate(url), 'utf8'))
  } finally {
    await connection.end()
  }
}

async function makeSqlite(): Promise<void> {
  const db = openDatabase({ dialect: 'sqlite', file: sqliteTemplate() }, { pool: 1 })
  await migrate(db)
  await db.close()
}

async function makeMysql(server: string): Promise<void> {
  const { url, drop } = await newMysql(server)
  try {
    const db = openDatabase({ dialect: 'mysql', url }, { pool: 2 })
    await migrate(db)
    await db.close()
    writeFileSync(mysqlTemplate(server), await dumpOf(url))
  } finally {
    await drop()
  }
}

/** The statements that create the tables of a database and their initial rows. */
async function dumpOf(url: string): Promise<string> {
  const connection = await createConnection({ uri: url, rowsAsArray: true })
  const rowsOf = async (sql: string) => (await connection.query(sql))[0] as unknown[][]
  const statements = ['SET foreign_key_checks = 0']
  for (const [table] of await rowsOf('SHOW TABLES')) {
    const [[, create] = []] = await rowsOf(`SHOW CREATE TABLE ${table}`)
    statements.push(String(create))
    const rows = await rowsOf(`SELECT * FROM ${table}`)
    if (rows.length > 0) statements.push(connection.format(`INSERT INTO ${table} VALUES ?`, [rows]))
  }
  await connection.end()
  return statements.join(';\n')
}
