import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Db, openDatabase } from '../../db/index.ts'
import { readConfig } from '../../src/config/config.ts'
import { openStoreOf } from '../../src/services/installation.ts'
import { type BuiltService, runBuilt, startBuilt } from './built-service.ts'
import { expectWhole } from './consistency.ts'
import { freePort } from './free-port.ts'
import { type Person, signInTo } from './harness.ts'
import { until } from './until.ts'

/**
 * What the service stands on: SQLite with one instance, or a database server with two, which share
 * a folder of blobs.
 */
export interface Ground {
  /** Empty: SQLite. */
  databaseUrl: string
  /** The settings of another store than a folder. */
  store?: Record<string, string>
}

/** The built service, instance by instance, with a view of its database and its store. */
export interface UploadSite {
  db: Db
  /** How many there are; each has its place, in which it comes back. */
  instances: number
  at(place: number): BuiltService
  end(place: number, signal: NodeJS.Signals): Promise<number | string>
  start(place: number): Promise<void>
  /**
   * Settings of the instances from their next start on, in the place of those that the site was
   * opened with.
   */
  configure(more: Record<string, string>): void
  /** The settings of an instance as they are now, for programs beside it. */
  settings(): Record<string, string>
  /** Alice, as she talks to one of the instances. */
  alice(place: number): Promise<Person>
  /**
   * Time passes until no one can go on with what was begun; then everything has been given back,
   * and nothing differs from anything.
   */
  expectHealed(ms?: number): Promise<void>
  close(): Promise<void>
}

/** Of an instance that dies, others wait so long. */
const LEASE_SECONDS = 2

export async function openSite(
  { databaseUrl, store: elsewhere = {} }: Ground,
  more: Record<string, string> = {},
): Promise<UploadSite> {
  const dir = mkdtempSync(join(tmpdir(), 'satchel-uploads-'))
  const blobs = join(dir, 'blobs')
  const secret = randomBytes(32).toString('hex')
  const instances = databaseUrl ? 2 : 1
  const ports: number[] = []
  while (ports.length < instances) ports.push(await freePort())
  const settingsWith = (more: Record<string, string>) =>
    ports.map((port, place) => ({
      PORT: String(port),
      DATA_DIR: join(dir, String(place)),
      DATABASE_URL: databaseUrl,
      BLOB_DIR: blobs,
      SECRET_KEY: secret,
      LEASE_SECONDS: String(LEASE_SECONDS),
      SWEEP_SECONDS: '1',
      ...elsewhere,
      ...more,
    }))
  let settings = settingsWith(more)
  const running: BuiltService[] = []
  for (const each of settings) {
    mkdirSync(each.DATA_DIR)
    running.push(await startBuilt(each))
  }
  const first = (): Record<string, string> => settings[0] ?? {}
  const db = openDatabase(readConfig(first()).database, { pool: 4 })

  const settingsAt = (place: number) => settings[place] ?? first()
  const at = (place: number): BuiltService => {
    const service = running[place]
    if (!service) throw new Error(`There is no instance ${place}.`)
    return service
  }

  const count = async (what: string) =>
    Number((await db.rows<{ n: number }>(`SELECT COUNT(*) AS n FROM ${what}`))[0]?.n)

  return {
    db,
    instances,
    at,
    end: (place, signal) => at(place).end(signal),
    async start(place) {
      running[place] = await startBuilt(settingsAt(place))
    },
    configure(other) {
      settings = settingsWith({ ...more, ...other })
    },
    settings: first,
    alice: place => signInTo(db, at(place).url, 'alice'),

    async expectHealed(ms = 15_000) {
      await until(
        async () => {
          await db.run("UPDATE blobs SET lease_until = 0 WHERE state <> 'live'")
          await db.run('UPDATE outbox SET due_at = 0')
          await db.run("UPDATE upload_session SET claim_until = 0 WHERE state = 'completed'")
          return (
            (await count("blobs WHERE state <> 'live'")) +
              (await count('outbox')) +
              (await count('upload_session')) ===
            0
          )
        },
        ms,
        // A sweeper that waits for its store must not find that it has to sweep again.
        Object.keys(elsewhere).length > 0 ? 1000 : 50,
      )
      await expectWhole({ db, store: await openStoreOf(readConfig(first()), db) })
      const left = existsSync(join(blobs, 'drafts')) ? readdirSync(join(blobs, 'drafts')) : []
      if (left.length > 0) throw new Error(`Drafts are left: ${left}`)
      const doctor = await runBuilt('doctor.ts', ['--grace', '0'], first())
      if (doctor.code !== 0) throw new Error(`The doctor finds: ${doctor.out}${doctor.err}`)
    },

    async close() {
      await Promise.all(running.map(service => service.end('SIGTERM')))
      await db.close()
      rmSync(dir, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
    },
  }
}
