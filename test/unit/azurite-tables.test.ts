import { EventEmitter } from 'node:events'
import fs from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { keepTables, type Store } from '../../src/embedded/azurite-tables.ts'
import { until } from '../until.ts'

let dir: string
/** Those that the disk has not answered yet. */
let syncs: ((error: Error | null) => void)[]
let full: boolean
let told: string[]
let table: EventEmitter & { name: string; dirty: boolean; uniqueNames: string[] }
let store: Store
let flush: () => Promise<void>

const disk = {
  ...fs,
  fdatasync: (_fd: number, done: (error: Error | null) => void) => void syncs.push(done),
  openSync(...given: Parameters<typeof fs.openSync>) {
    if (full) throw new Error('ENOSPC')
    return fs.openSync(...given)
  },
}
const load = createRequire(import.meta.url)
const loadWithDisk = new Proxy(load, { apply: (_, __, [name]) => (name === 'node:fs' ? disk : load(name)) })

const insert = (id: number) => table.emit('insert', { $loki: id })
const journal = (n: number) => fs.readFileSync(join(dir, `db.journal.00000000000${n}`), 'utf8')
const answer = (error: Error | null = null) => {
  for (const done of syncs.splice(0)) done(error)
}
const save = () => new Promise(done => store.db.persistenceAdapter.saveDatabase(join(dir, 'db'), 'tables', done))

beforeEach(async () => {
  dir = fs.mkdtempSync(join(tmpdir(), 'satchel-tables-'))
  syncs = []
  full = false
  told = []
  table = Object.assign(new EventEmitter(), { name: 'blocks', dirty: false, uniqueNames: [] })
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
  flush = keepTables(loadWithDisk, store, line => told.push(line))
  await store.init()
})
afterEach(() => fs.rmSync(dir, { recursive: true }))

describe('A change of the tables', () => {
  it('is waited for until it is on the disk, together with those that come meanwhile', async () => {
    const done: number[] = []
    const flushed = (n: number) => flush().then(() => done.push(n))
    await flush()
    insert(1)
    flushed(1)
    insert(2)
    insert(3)
    flushed(3)
    await turn()
    expect([syncs.length, done]).toEqual([1, []])
    answer()
    await turn()
    expect([syncs.length, done]).toEqual([1, [1]])
    answer()
    await turn()
    expect([syncs.length, done]).toEqual([0, [1, 3]])
    await flush()
  })

  it('is not acknowledged when the disk fails, and may be on it later', async () => {
    insert(1)
    const failed = flush()
    answer(new Error('EIO'))
    await expect(failed).rejects.toThrow('EIO')
    const again = flush()
    answer()
    await again
  })

  it('goes on to the same journal when there is no room for another, and is saved later', async () => {
    insert(1)
    full = true
    expect(await save()).toMatchObject({ message: 'ENOSPC' })
    expect(told).toEqual([expect.stringContaining('ENOSPC')])
    expect(table.dirty).toBe(true)
    insert(2)
    expect(journal(1)).toContain('["blocks",2,')
    full = false
    let outcome: unknown = 'under way'
    save().then(said => {
      outcome = said
    })
    insert(3)
    await until(() => {
      answer()
      return outcome !== 'under way'
    })
    expect(outcome).toBeUndefined()
    expect(fs.existsSync(join(dir, 'db.journal.000000000001'))).toBe(false)
    expect(journal(2)).toContain('["blocks",3,')
  })
})
