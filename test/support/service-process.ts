import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Db, openDatabase } from '../../db/index.ts'
import { readConfig } from '../../src/config/config.ts'
import { createDiskStore } from '../../src/storage/disk.ts'
import { type BuiltService, startBuilt } from './built-service.ts'
import { expectHealed } from './consistency.ts'
import { newDatabase, type Person, signInTo } from './harness.ts'

/**
 * The service in its own process, on a new database, so that its time and memory can be measured
 * apart from the test.
 */
export interface ServiceProcess extends BuiltService {
  dataDir: string
  /** The ids of its worker processes. */
  workers(): number[]
  /** Signs people in. */
  signIn(...names: string[]): Promise<Person[]>
  /** Sets limits of the default plan. */
  limit(limits: Record<string, number | null>): Promise<void>
  /** Another instance on the same database and files. */
  another(): Promise<BuiltService>
  /** Resident memory in MiB: the current value, or the peak since the mark. */
  memory(which: 'VmRSS' | 'VmHWM'): number
  /** Resets the peak: proc(5), clear_refs. */
  markMemory(): void
  /** Processor time that the service has used in milliseconds, over all threads. */
  processorTime(): number
  /**
   * Waits until all background work is done, and compares database and store, like expectHealed.
   * Nothing may change them meanwhile.
   */
  expectHealed(): Promise<void>
  /** Stops the service, and deletes its database and files. */
  stop(): Promise<void>
}

export async function startServiceProcess(
  more: Record<string, string> = {},
): Promise<ServiceProcess> {
  const database = await newDatabase()
  const dataDir = mkdtempSync(join(tmpdir(), 'satchel-service-'))
  const settings = { DATA_DIR: dataDir, DATABASE_URL: database.url, ...more }
  const service = await startBuilt(settings)
  const instances = [service]
  async function withDatabase<T>(work: (db: Db) => Promise<T>): Promise<T> {
    const db = openDatabase(readConfig({ DATABASE_URL: database.url }).database, { pool: 2 })
    return work(db).finally(() => db.close())
  }
  const proc = (file: string) => `/proc/${service.pid}/${file}`
  return {
    ...service,
    dataDir,
    workers: () => {
      // proc(5): children of the main thread.
      const text = readFileSync(proc(`task/${service.pid}/children`), 'utf8').trim()
      return text ? text.split(' ').map(Number) : []
    },
    signIn: (...names) =>
      withDatabase(db => Promise.all(names.map(name => signInTo(db, service.url, name)))),
    limit: limits =>
      withDatabase(async db => {
        await db.Plan.update(limits, { where: { id: 'free' } })
      }),
    async another() {
      const instance = await startBuilt(settings)
      instances.push(instance)
      return instance
    },
    memory: which =>
      Number(new RegExp(`${which}:\\s+(\\d+) kB`).exec(readFileSync(proc('status'), 'utf8'))?.[1]) /
      1024,
    markMemory: () => writeFileSync(proc('clear_refs'), '5'),
    processorTime: () =>
      readdirSync(proc('task')).reduce((sum, task) => {
        const [nanoseconds] = readFileSync(proc(`task/${task}/schedstat`), 'utf8').split(' ')
        return sum + Number(nanoseconds) / 1e6
      }, 0),
    expectHealed: () =>
      withDatabase(db =>
        expectHealed({ db, store: createDiskStore({ dir: join(dataDir, 'blobs') }) }),
      ),
    async stop() {
      await Promise.all(instances.map(instance => instance.end('SIGKILL')))
      await database.drop()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}
