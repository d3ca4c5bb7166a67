import { type Db, isDuplicate, type Tx, type Value } from '../index.ts'
import { Event, type EventKind } from '../models/event.ts'
import { firstOfEach, type Page } from './page.ts'
import { columnOf, inParts, insertion, placeholders, selection } from './sql.ts'

/** A row of an event; see db/models/event.ts. */
export type EventRow = Event

type Origin = Pick<Event, 'address' | 'agent' | 'operatorId'>

export type NewEventRow = Omit<Event, 'logId' | 'seq' | keyof Origin> &
  Partial<Origin> & { log: LogName }

const nowhere: Origin = { address: null, agent: null, operatorId: null }

const given = Object.keys(Event.columns).filter(
  name => name !== 'logId' && name !== 'seq',
) as (keyof NewEventRow & keyof Event)[]
const columns = ['log_id', 'seq', ...given.map(columnOf)].join(', ')
const read = selection(Event)
const valuesOf = (event: NewEventRow): Value[] => given.map(name => event[name] ?? null)

/**
 * A log: by its id, of the drive of a workspace, or of the user with a verified e-mail address, if
 * any.
 */
export type LogName = string | { workspace: string } | { address: string }

/** The id of a log as an SQL expression of one value, and that value. */
function idOf(log: LogName): [sql: string, value: string] {
  if (typeof log === 'string') return ['?', log]
  if ('workspace' in log) return ['(SELECT id FROM bucket WHERE workspace_id = ?)', log.workspace]
  return ['(SELECT id FROM user WHERE verified_email = ?)', log.address]
}

/**
 * The last number of a log as an SQL expression over its events. Its one parameter is the id of the
 * log.
 */
const lastSeq = (id: string) =>
  `COALESCE(MAX(seq), (SELECT purged_seq FROM event_log WHERE log_id = ${id}), 0)`

/**
 * The last number of a drive's log, if the transaction that holds the lock of the drive has already
 * read it.
 */
const heads = new WeakMap<Tx, { logId: string; seq: number }>()

/** The last number of a log as an SQL expression of one value, null for an empty log. */
export const headOf = '(SELECT MAX(seq) FROM event WHERE log_id = ?)'

/**
 * Passes the last number of a log to appendEvents, which then need not read it. The number is never
 * too high. It is too low if another transaction has appended meanwhile, which the lock of the
 * drive does not always prevent. Then the key refuses the insertion, and appendEvents reads the
 * number.
 * @param seq `headOf` as this transaction has read it
 */
export function noteHead(tx: Tx, logId: string, seq: number | null): void {
  if (seq === null) heads.delete(tx)
  else heads.set(tx, { logId, seq })
}

/**
 * Up to this many events, the INSERT itself computes the numbers. For more, they are read first.
 */
const FEW = 8
/** The number of events that one statement inserts. SQLite accepts 32,766 values. */
const MANY = 1000
/**
 * Far more than the transactions that can append to a log at once without the lock of its drive.
 */
const TRIES = 50

/**
 * Appends events to their logs. If two transactions take the same number, the key makes the second
 * one wait for the first and then take the next number. So call this last in a transaction. One
 * statement for every eight events; two statements for a log with more events.
 */
export async function appendEvents(db: Db, events: NewEventRow[], tx: Tx): Promise<void> {
  const logs = [...Map.groupBy(events, ({ log }) => idOf(log).join()).values()]
  const short = logs.filter(({ length }) => length <= FEW).flat()
  for (const some of inParts(short, FEW)) await retried(() => insertFew(db, some, tx))
  for (const long of logs.filter(({ length }) => length > FEW))
    for (const some of inParts(long, MANY)) await retried(() => insertMany(db, some, tx))
}

async function retried(insert: () => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await insert()
    } catch (error) {
      if (!isDuplicate(error) || tries === TRIES) throw error
    }
  }
}

async function insertFew(db: Db, events: NewEventRow[], tx: Tx): Promise<void> {
  const head = heads.get(tx)
  // Valid for one attempt.
  heads.delete(tx)
  if (head && events.every(({ log }) => log === head.logId))
    return insertAfter(db, head.logId, head.seq, events, tx)
  const before = new Map<string, number>()
  const arms = events.map(event => {
    const [id, name] = idOf(event.log)
    const nth = (before.get(name) ?? 0) + 1
    before.set(name, nth)
    const sql = `SELECT ${id}, ${lastSeq(id)} + ${nth}, ${placeholders(valuesOf(event))}
      FROM event
      WHERE log_id = ${id}`
    const values = [name, name, ...valuesOf(event), name]
    return id === '?'
      ? { sql, values }
      : { sql: `${sql} HAVING ${id} IS NOT NULL`, values: [...values, name] }
  })
  await db.run(
    `INSERT INTO event (${columns}) ${arms.map(({ sql }) => sql).join(' UNION ALL ')}`,
    arms.flatMap(({ values }) => values),
    tx,
  )
}

/** @param events of one log */
async function insertMany(db: Db, events: NewEventRow[], tx: Tx): Promise<void> {
  const [expression, name] = idOf(events[0]?.log ?? '')
  const row = await db.row<{ id: string | null; head: number }>(
    `SELECT ${expression} AS id, ${lastSeq(expression)} AS head
     FROM event
     WHERE log_id = ${expression}`,
    [name, name, name],
    tx,
  )
  if (row?.id) await insertAfter(db, row.id, Number(row.head), events, tx)
}

/** @param seq the last number of the log */
async function insertAfter(
  db: Db,
  logId: string,
  seq: number,
  events: NewEventRow[],
  tx: Tx,
): Promise<void> {
  const rows = events.map((event, i) => ({ ...nowhere, ...event, logId, seq: seq + i + 1 }))
  await db.run(...insertion(Event, rows), tx)
}

/** The last number of a log, and the last purged number; 0 if there is none. */
export async function endsOf(
  db: Db,
  logId: string,
  tx?: Tx,
): Promise<{ head: number; purged: number }> {
  const row = await db.row<{ head: number; purged: number }>(
    `SELECT ${lastSeq('?')} AS head,
       COALESCE((SELECT purged_seq FROM event_log WHERE log_id = ?), 0) AS purged
     FROM event
     WHERE log_id = ?`,
    [logId, logId, logId],
    tx,
  )
  return { head: Number(row?.head), purged: Number(row?.purged) }
}

export interface EventRange {
  /** Exclusive. */
  after: number | null
  /** Newest first. */
  newestFirst: boolean
  kinds: readonly EventKind[]
  limit: number
}

/** A part of a log. */
export function eventsOf(
  db: Db,
  logId: string,
  { after, newestFirst, kinds, limit }: EventRange,
): Promise<EventRow[]> {
  const beyond = after === null ? '' : ` AND seq ${newestFirst ? '<' : '>'} ?`
  return db.rows<EventRow>(
    `SELECT ${read}
     FROM event
     WHERE log_id = ?${beyond}
       AND kind IN (${placeholders(kinds)})
     ORDER BY seq${newestFirst ? ' DESC' : ''}
     LIMIT ${limit}`,
    [logId, ...(after === null ? [] : [after]), ...kinds],
  )
}

/** Like `eventsOf`, for some files and folders. */
export function eventsOfEntries(
  db: Db,
  entryIds: string[],
  { after, newestFirst, kinds, limit }: EventRange,
): Promise<Map<string, Page<EventRow>>> {
  const beyond = after === null ? '' : ` AND seq ${newestFirst ? '<' : '>'} ?`
  return firstOfEach<EventRow>(
    db,
    `SELECT ${read} FROM event WHERE entry_id = ?${beyond} AND kind IN (${placeholders(kinds)})`,
    {
      order: `seq${newestFirst ? ' DESC' : ''}`,
      owners: entryIds,
      values: [...(after === null ? [] : [after]), ...kinds],
      limit,
    },
  )
}

/** One event by its number. */
export const eventOf = (db: Db, logId: string, seq: number): Promise<EventRow | undefined> =>
  db.row(`SELECT ${read} FROM event WHERE log_id = ? AND seq = ?`, [logId, seq])

/**
 * How far some logs may be purged: up to the first event that is not older than a time.
 * @param most the maximum number of events to read
 */
export async function oldEvents(
  db: Db,
  before: number,
  most: number,
): Promise<{ logId: string; seq: number }[]> {
  return db.rows(
    `SELECT log_id AS logId, MAX(seq) AS seq
     FROM (SELECT log_id, seq FROM event WHERE at < ? ORDER BY at LIMIT ${most}) AS old
     GROUP BY log_id`,
    [before],
  )
}

/** Purges the events of a log up to the event with number `seq`. */
export async function purgeEvents(db: Db, logId: string, seq: number): Promise<void> {
  const known =
    db.dialect === 'mysql'
      ? 'ON DUPLICATE KEY UPDATE purged_seq = GREATEST(purged_seq, VALUES(purged_seq))'
      : 'ON CONFLICT (log_id) DO UPDATE SET purged_seq = MAX(purged_seq, excluded.purged_seq)'
  await db.transaction(async tx => {
    await db.run(
      `INSERT INTO event_log (log_id, purged_seq) VALUES (?, ?) ${known}`,
      [logId, seq],
      tx,
    )
    await db.run('DELETE FROM event WHERE log_id = ? AND seq <= ?', [logId, seq], tx)
  })
}

/** Deletes a log with all its events. */
export async function removeLog(db: Db, logId: string, tx: Tx): Promise<void> {
  await db.run('DELETE FROM event WHERE log_id = ?', [logId], tx)
  await db.run('DELETE FROM event_log WHERE log_id = ?', [logId], tx)
}
