import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals'
import { v7 as newId } from 'uuid'
import {
  appendEvents,
  endsOf,
  eventsOf,
  type NewEventRow,
  noteHead,
  oldEvents,
  purgeEvents,
} from '../../db/queries/event.ts'
import { freshDatabase } from '../support/fresh-database.ts'

let fresh: Awaited<ReturnType<typeof freshDatabase>>

beforeAll(async () => {
  fresh = await freshDatabase()
})
afterAll(() => fresh.drop())

const event = (what: string, at = Date.now()): Omit<NewEventRow, 'log'> => ({
  at,
  actorId: null,
  via: 'system',
  viaId: null,
  kind: 'file.created',
  subjectId: newId(),
  entryId: null,
  details: JSON.stringify({ path: what }),
})
const append = (log: string, ...events: Omit<NewEventRow, 'log'>[]) =>
  fresh.db.transaction(tx => appendEvents(fresh.db, toLog(log, events), tx))
const toLog = (log: string, events: Omit<NewEventRow, 'log'>[]) =>
  events.map(event => ({ log, ...event }))
const read = (log: string, after: number | null, limit = 10_000) =>
  eventsOf(fresh.db, log, { after, newestFirst: false, kinds: ['file.created'], limit })
const upTo = (last: number, first = 1) =>
  Array.from({ length: last - first + 1 }, (_, i) => first + i)

describe('A log', () => {
  it('numbers its events consecutively, however many a change has', async () => {
    const log = newId()
    await append(log)
    for (const many of [1, 2, 8, 9, 4000])
      await append(log, ...upTo(many).map(i => event(`${many} ${i}`)))
    const rows = await read(log, null)
    expect(rows.map(row => row.seq)).toEqual(upTo(4020))
    expect(rows.map(row => JSON.parse(row.details).path).slice(0, 4)).toEqual([
      '1 1',
      '2 1',
      '2 2',
      '8 1',
    ])
    expect(await endsOf(fresh.db, log)).toEqual({ head: 4020, purged: 0 })
  })

  it('shares a statement with up to eight events when a change writes to many logs', async () => {
    const [long, ...logs] = Array.from({ length: 18 }, () => newId())
    const events = logs.flatMap(log => [...toLog(log, [event('a')]), ...toLog(log, [event('b')])])
    const run = jest.spyOn(fresh.db, 'run')
    await fresh.db.transaction(tx =>
      appendEvents(
        fresh.db,
        [
          ...events,
          ...toLog(
            long ?? '',
            upTo(9).map(i => event(`${i}`)),
          ),
        ],
        tx,
      ),
    )
    expect(run).toHaveBeenCalledTimes(Math.ceil(34 / 8) + 1)
    run.mockRestore()
    for (const log of logs)
      expect(
        (await read(log, null)).map(({ seq, details }) => [seq, JSON.parse(details).path]),
      ).toEqual([
        [1, 'a'],
        [2, 'b'],
      ])
    expect((await read(long ?? '', null)).map(({ seq }) => seq)).toEqual(upTo(9))
  })

  it('has no gaps and no duplicates, and shows numbers in order, with many writers and failures', async () => {
    const log = newId()
    let writing = true
    const seen: number[] = []
    const follow = async () => {
      for (let more = true; more; ) {
        more = writing
        const rows = await read(log, seen.at(-1) ?? null, 50)
        seen.push(...rows.map(row => row.seq))
        more ||= rows.length > 0
      }
    }
    const write = async (writer: number) => {
      for (let i = 0; i < 12; i++) {
        const events = upTo(1 + ((writer + i) % 3)).map(n => event(`${writer} ${i} ${n}`))
        const failing = (writer + i) % 5 === 0
        const work = fresh.db.transaction(async tx => {
          await appendEvents(fresh.db, toLog(log, events), tx)
          if (failing) throw new Error('changed its mind')
        })
        await (failing ? expect(work).rejects.toThrow('changed its mind') : work)
      }
    }
    const following = follow()
    await Promise.all(upTo(10).map(write))
    writing = false
    await following
    const rows = await read(log, null)
    expect(rows.map(row => row.seq)).toEqual(upTo(rows.length))
    expect(seen).toEqual(upTo(rows.length))
    expect(new Set(rows.map(row => row.details)).size).toBe(rows.length)
  })

  it('continues after its last number, even for a stale reader', async () => {
    const [log, other] = [newId(), newId()]
    await append(log, event('a'), event('b'), event('c'))
    const changes = [{ head: 3 }, { head: 3 }, { head: 1 }, { head: null }, { head: 3, of: other }]
    for (const { head, of = log } of changes)
      await fresh.db.transaction(async tx => {
        noteHead(tx, of, head)
        await appendEvents(fresh.db, toLog(log, [event('d'), event('e')]), tx)
      })
    expect((await read(log, null)).map(row => row.seq)).toEqual(upTo(3 + 2 * changes.length))
    expect(await read(other, null)).toEqual([])
  })

  it('keeps counting after all its events were purged', async () => {
    const [log, other] = [newId(), newId()]
    await append(log, event('a', 1000), event('b', 2000))
    await append(other, event('c', 3000))
    expect(await oldEvents(fresh.db, 2500, 100)).toEqual([{ logId: log, seq: 2 }])
    await purgeEvents(fresh.db, log, 1)
    expect(await endsOf(fresh.db, log)).toEqual({ head: 2, purged: 1 })
    await purgeEvents(fresh.db, log, 2)
    await purgeEvents(fresh.db, log, 1)
    expect(await endsOf(fresh.db, log)).toEqual({ head: 2, purged: 2 })
    await append(log, event('d'), event('e'))
    expect((await read(log, null)).map(row => row.seq)).toEqual([3, 4])
  })
})
