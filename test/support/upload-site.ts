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
 * The base of the service: SQLite with one instance, or a database server with two instances that
 * share a blob folder.
 */
export interface Ground {
  /** Empty for SQLite. */
  databaseUrl: string
  /** Settings of a store other than a folder. */
  store?: Record<string, string>
}

/** The instances of the built service, with access to their database and store. */
export interface UploadSite {
  db: Db
  /** The number of instances. Each restarts at its own index. */
  instances: number
  at(place: number): BuiltService
  end(place: number, signal: NodeJS.Signals): Promise<number | string>
  start(place: number): Promise<void>
  /** Settings of the instances from their next start on. They replace the settings of the site. */
  configure(more: Record<string, string>): void
  /** The current settings of an instance, for other programs. */
  settings(): Record<string, string>
  /** Alice, signed in to one of the instances. */
  alice(place: number): Promise<Person>
  /**
   * Moves time forward until nothing unfinished can be resumed. Then expects that everything was
   * released, and that index and store agree.
   */
  expectHealed(ms?: number): Promise<void>
  close(): Promise<void>
}

/** The time for which other instances wait for a dead one. */
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
        // A sweeper that waits for its store must not find that the next sweep is due.
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
