import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { BlobServiceClient } from '@azure/storage-blob'
import { type Db, openDatabase } from '../db/index.ts'
import { readConfig } from '../src/config.ts'
import { readConnection } from '../src/embedded/azurite.ts'
import { createBlobStore } from '../src/storage/azure.ts'
import { type BuiltService, runBuilt, startBuilt } from './built-service.ts'
import { expectWhole } from './consistency.ts'
import { type Person, signInTo } from './harness.ts'

/** What the service stands on: SQLite and the embedded store, which die with it, or a database and a store that two instances share. */
export interface Ground {
  /** Empty: SQLite. */
  databaseUrl: string
  /** Connection string; empty: the embedded store. */
  azure: string
}

/** The built service, instance by instance, with a view of its database and its store. */
export interface UploadSite {
  db: Db
  /** How many there are; each has its place, in which it comes back. */
  instances: number
  at(place: number): BuiltService
  end(place: number, signal: NodeJS.Signals): Promise<number | string>
  start(place: number): Promise<void>
  /** Alice, as she talks to one of the instances. */
  alice(place: number): Promise<Person>
  /** Time passes until nobody can go on with what was begun; then everything has been given back, and nothing differs from anything. */
  expectHealed(): Promise<void>
  close(): Promise<void>
}

/** Of an instance that dies, others wait so long. */
const LEASE_SECONDS = 2

export async function openSite({ databaseUrl, azure }: Ground, more: Record<string, string> = {}): Promise<UploadSite> {
  const dir = mkdtempSync(join(tmpdir(), 'satchel-uploads-'))
  const container = `uploads${randomBytes(6).toString('hex')}`
  const secret = randomBytes(32).toString('hex')
  const instances = azure ? 2 : 1
  const settings = Array.from({ length: instances }, (_, place) => ({
    DATA_DIR: join(dir, String(place)),
    DATABASE_URL: databaseUrl,
    AZURE_STORAGE_CONNECTION_STRING: azure,
    AZURE_STORAGE_CONTAINER: container,
    SECRET_KEY: secret,
    LEASE_SECONDS: String(LEASE_SECONDS),
    SWEEP_SECONDS: '1',
    ...more,
  }))
  const running: BuiltService[] = []
  for (const each of settings) {
    mkdirSync(each.DATA_DIR)
    running.push(await startBuilt(each))
  }
  const [first = { DATA_DIR: '' }] = settings
  const db = openDatabase(readConfig(first).database, { pool: 4 })

  const settingsAt = (place: number) => settings[place] ?? first
  const at = (place: number): BuiltService => {
    const service = running[place]
    if (!service) throw new Error(`There is no instance ${place}.`)
    return service
  }

  async function until(met: () => Promise<boolean>): Promise<void> {
    for (const end = Date.now() + 30_000; !(await met()); await sleep(50))
      if (Date.now() > end) throw new Error(`That did not come about: ${met}`)
  }
  const count = async (what: string) =>
    Number((await db.rows<{ n: number }>(`SELECT COUNT(*) AS n FROM ${what}`))[0]?.n)

  /** Blobs that were begun and never made, and blocks that were left beside those that are there. */
  async function uncommitted(connectionString: string): Promise<string[]> {
    const blobs = BlobServiceClient.fromConnectionString(connectionString).getContainerClient(container)
    const found: string[] = []
    for await (const { name } of blobs.listBlobsFlat({ includeUncommitedBlobs: true })) {
      const { uncommittedBlocks } = await blobs.getBlockBlobClient(name).getBlockList('uncommitted')
      if (uncommittedBlocks?.length) found.push(name)
    }
    return found
  }

  return {
    db,
    instances,
    at,
    end: (place, signal) => at(place).end(signal),
    async start(place) {
      running[place] = await startBuilt(settingsAt(place))
    },
    alice: place => signInTo(db, at(place).url, 'alice'),

    async expectHealed() {
      await until(async () => {
        await db.run("UPDATE blobs SET lease_until = 0 WHERE state <> 'live'")
        await db.run('UPDATE outbox SET due_at = 0')
        return (
          (await count("blobs WHERE state <> 'live'")) + (await count('outbox')) + (await count('upload_session')) === 0
        )
      })
      const connectionString = azure || (await readConnection(join(first.DATA_DIR, 'blobs'))) || ''
      await expectWhole({ db, store: createBlobStore({ connectionString, container, publicUrl: '' }) })
      const left = await uncommitted(connectionString)
      if (left.length > 0) throw new Error(`Uncommitted blocks are left: ${left}`)
      const doctor = await runBuilt('doctor.ts', ['--grace', '0'], first)
      if (doctor.code !== 0) throw new Error(`The doctor finds: ${doctor.out}${doctor.err}`)
    },

    async close() {
      await Promise.all(running.map(service => service.end('SIGTERM')))
      await db.close()
      // An embedded store whose service was killed may still be saving.
      rmSync(dir, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
    },
  }
}
