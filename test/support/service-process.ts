import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDatabase } from '../../db/index.ts'
import { readConfig } from '../../src/config/config.ts'
import { createDiskStore } from '../../src/storage/disk.ts'
import { type BuiltService, startBuilt } from './built-service.ts'
import { expectHealed } from './consistency.ts'
import { newDatabase, type Person, signInTo } from './harness.ts'

/**
 * The service in a process of its own, on a new database: nothing of the test counts as its time or
 * memory.
 */
export interface ServiceProcess extends BuiltService {
  dataDir: string
  /** The ids of its worker processes. */
  workers(): number[]
  /** Signs people in. */
  signIn(...names: string[]): Promise<Person[]>
  /** Another instance on the same database and files. */
  another(): Promise<BuiltService>
  /** Resident memory in MiB: now, or the most it was since the mark. */
  memory(which: 'VmRSS' | 'VmHWM'): number
  /** From here on the most is counted anew: proc(5), clear_refs. */
  markMemory(): void
  /** Milliseconds of processor time that it has taken, all threads. */
  processorTime(): number
  /**
   * Waits until nothing is left to do, and compares database and store: see expectHealed. Nothing
   * may change them meanwhile.
   */
  expectHealed(): Promise<void>
  /** Ends it, and leaves nothing behind. */
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
  const proc = (file: string) => `/proc/${service.pid}/${file}`
  return {
    ...service,
    dataDir,
    workers: () => {
      // proc(5), children: of the main thread.
      const text = readFileSync(proc(`task/${service.pid}/children`), 'utf8').trim()
      return text ? text.split(' ').map(Number) : []
    },
    async signIn(...names) {
      const db = openDatabase(readConfig({ DATABASE_URL: database.url }).database, { pool: 2 })
      const people = await Promise.all(names.map(name => signInTo(db, service.url, name)))
      await db.close()
      return people
    },
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
    async expectHealed() {
      const db = openDatabase(readConfig({ DATABASE_URL: database.url }).database, { pool: 2 })
      await expectHealed({ db, store: createDiskStore({ dir: join(dataDir, 'blobs') }) }).finally(
        () => db.close(),
      )
    },
    async stop() {
      await Promise.all(instances.map(instance => instance.end('SIGKILL')))
      await database.drop()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}
