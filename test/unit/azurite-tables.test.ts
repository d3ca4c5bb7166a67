import { EventEmitter } from 'node:events'
import fs from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { keepTables, type Store } from '../../src/embedded/azurite-tables.ts'
import { until } from '../until.ts'

let dir: string
/** Those that the disk has not answered yet. */
let syncs: ((error: Error | null) => void)[]
let full: boolean
let told: string[]
let table: EventEmitter & { name: string; dirty: boolean; uniqueNames: string[]; data: { $loki: number }[] }
let store: Store
let flush: () => Promise<void>
let first: () => Promise<void>

const noRoom = () => Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' })
const disk = {
  ...fs,
  fdatasync: (_fd: number, done: (error: Error | null) => void) => void syncs.push(done),
  openSync(...given: Parameters<typeof fs.openSync>) {
    if (full) throw noRoom()
    return fs.openSync(...given)
  },
  /** Writes half of it when the disk is full. */
  write(fd: number, bytes: Buffer, from: number, done: (error: Error | null, count?: number) => void) {
    if (!full) return fs.write(fd, bytes, from, done)
    fs.writeSync(fd, bytes, from, Math.ceil((bytes.length - from) / 2))
    done(noRoom())
  },
}
Object.defineProperty(disk.write, promisify.custom, {
  value: (fd: number, bytes: Buffer, from: number) =>
    new Promise((resolve, reject) =>
      disk.write(fd, bytes, from, (error, bytesWritten) => (error ? reject(error) : resolve({ bytesWritten }))),
    ),
})
const load = createRequire(import.meta.url)
const loadWithDisk = new Proxy(load, { apply: (_, __, [name]) => (name === 'node:fs' ? disk : load(name)) })

const insert = (id: number) => table.emit('insert', { $loki: id })
/** The documents that a journal speaks of. */
const lines = (n: number) =>
  journal(n)
    .split('\n')
    .filter(Boolean)
    .flatMap(line => JSON.parse(line).map(([, id]: [string, number]) => id))
const journal = (n: number) => fs.readFileSync(join(dir, `db.journal.00000000000${n}`), 'utf8')
const answer = (error: Error | null = null) => {
  for (const done of syncs.splice(0)) done(error)
}
const save = () => new Promise(done => store.db.persistenceAdapter.saveDatabase(join(dir, 'db'), 'tables', done))

beforeEach(async () => {
  dir = fs.mkdtempSync(join(tmpdir(), 'satchel-tables-'))
  syncs = []
  full = false
  first = async () => {}
  told = []
  table = Object.assign(new EventEmitter(), {
    ...{ name: 'blocks', dirty: false, uniqueNames: [], data: [], maxId: 0 },
    ensureAllIndexes() {},
  })
  store = {
    init: async () => {},
    db: {
      filename: join(dir, 'db'),
      collections: [table],
      persistenceAdapter: {},
      autosaveEnable() {},
      autosaveDisable() {},
    },
  } as unknown as Store
  flush = keepTables(
    loadWithDisk,
    store,
    line => told.push(line),
    () => first(),
  )
  await store.init()
})
afterEach(() => fs.rmSync(dir, { recursive: true }))

describe('A change of the tables', () => {
  /** Waits for something with a disk that answers everything. */
  const answering = async <T>(work: Promise<T>): Promise<T> => {
    let over = false
    work.finally(() => {
      over = true
    })
    await until(() => {
      answer()
      return over
    })
    return work
  }
  const asked = () => until(() => syncs.length > 0)

  it('is waited for until it is on the disk, together with those that come meanwhile', async () => {
    const done: number[] = []
    const flushed = (n: number) => flush().then(() => done.push(n))
    await flush()
    insert(1)
    flushed(1)
    await asked()
    insert(2)
    insert(3)
    flushed(3)
    await turn()
    expect([syncs.length, done]).toEqual([1, []])
    answer()
    await asked()
    expect([syncs.length, done]).toEqual([1, [1]])
    expect(lines(1)).toEqual([1, 2, 3])
    answer()
    await until(() => done.length === 2)
    expect(syncs).toEqual([])
    await flush()
  })

  it('is written again when the disk has failed, after which nobody knows what is there', async () => {
    insert(1)
    const failed = flush()
    await asked()
    answer(new Error('EIO'))
    await expect(failed).rejects.toThrow('EIO')
    expect(lines(1)).toEqual([])
    const again = flush()
    await asked()
    expect(lines(1)).toEqual([1])
    answer()
    await again
  })

  it('is not acknowledged while there is no room for it, and leaves none of it', async () => {
    full = true
    insert(1)
    await expect(flush()).rejects.toThrow('ENOSPC')
    table.emit('delete', { $loki: 2 })
    await expect(flush()).rejects.toThrow('ENOSPC')
    expect(journal(1)).toBe('')
    full = false
    const room = flush()
    await asked()
    expect(lines(1)).toEqual([1, 2])
    answer()
    await room
  })

  it('goes on to the same journal when there is no room for another, and is saved later', async () => {
    insert(1)
    full = true
    expect(await save()).toMatchObject({ message: 'ENOSPC' })
    expect(told).toEqual([expect.stringContaining('ENOSPC')])
    expect(table.dirty).toBe(true)
    full = false
    const kept = flush()
    await asked()
    expect(lines(1)).toEqual([1])
    const saved = save()
    insert(2)
    expect(await answering(saved)).toBeUndefined()
    await kept
    expect(fs.readdirSync(dir).sort()).toEqual(['db', 'db.journal.000000000002'])
    await answering(flush())
    expect(lines(2)).toEqual([2])
  })

  it('waits for what it refers to, in the journal and in the tables', async () => {
    const arrivals: (() => void)[] = []
    first = () => new Promise(done => arrivals.push(done))
    insert(1)
    const flushed = flush()
    const saved = save()
    await sleep(50)
    expect(fs.readdirSync(dir).sort()).toEqual(['db.journal.000000000001', 'db.journal.000000000002'])
    expect([journal(1), journal(2)]).toEqual(['', ''])
    for (const arrive of arrivals) arrive()
    expect(await answering(saved)).toBeUndefined()
    await flushed
  })

  it('that is two, a row out and a row in, is there as a whole or not at all; so it is in journals of a line for each', async () => {
    insert(1)
    await answering(flush())
    table.emit('delete', { $loki: 1 })
    insert(2)
    await answering(flush())
    const written = journal(1)
    const restart = async (text: string) => {
      fs.writeFileSync(join(dir, 'db.journal.000000000001'), text)
      table.data = []
      table.removeAllListeners()
      await store.init()
      return table.data.map(({ $loki }) => $loki)
    }
    expect(await restart(written)).toEqual([2])
    for (let end = written.indexOf('null'); end < written.length; end++)
      expect(await restart(written.slice(0, end))).toEqual([1])
    expect(await restart('\n["blocks",1,{"$loki":1}]\n\n["blocks",3,{"$loki":3}]\n')).toEqual([1, 3])
  })
})
