import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { causesOf } from '../src/runtime/errors.ts'

type Send = (sql: string, values?: string[]) => Promise<unknown>

/** The error of a node that takes no part in its cluster at the moment. It has executed nothing. */
const NOT_PREPARED = 'ER_UNKNOWN_COM_ERROR'

export const isUnprepared = (error: unknown): boolean =>
  [...causesOf(error)].some(({ code }) => code === NOT_PREPARED)

/**
 * Prepares a connection if its server is a node of a Galera cluster: each statement then waits
 * until the node has applied the earlier commits of all other nodes. So a client that writes
 * through one instance can read the change through every other one.
 * @returns whether the server is such a node
 * @throws an error like those of statements if the node takes no part in its cluster
 */
export async function joinCluster(send: Send): Promise<boolean> {
  const isOn = async (sql: string) => {
    const [row] = (await send(sql)) as { Value: string }[]
    return row?.Value === 'ON'
  }
  if (!(await isOn("SHOW VARIABLES LIKE 'wsrep_on'"))) return false
  if (!(await isOn("SHOW STATUS LIKE 'wsrep_ready'")))
    throw Object.assign(new Error('The node takes no part in its cluster.'), {
      code: NOT_PREPARED,
      fatal: true,
    })
  // Reads and BEGIN (1), updates and deletions (2), insertions (4).
  await send('SET SESSION wsrep_sync_wait = 7')
  return true
}

/** Seconds after which a lock expires unless its holder renews it. */
const LEASE = 30
const AGAIN_MS = 500

/**
 * Runs work under a named lock of a whole cluster. GET_LOCK would lock only one node. The servers'
 * clocks decide when the lock expires.
 * @param send retries statements that conflict with other nodes
 * @returns the result of the work; undefined if others held the lock for `patience` milliseconds
 */
export async function underLock<T>(
  send: Send,
  { name, patience }: { name: string; patience: number },
  work: () => Promise<T>,
): Promise<{ result: T } | undefined> {
  await send(
    `CREATE TABLE IF NOT EXISTS named_lock (
       name VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin PRIMARY KEY, holder CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
       held_until BIGINT NOT NULL)`,
  )
  await send("INSERT IGNORE INTO named_lock (name, holder, held_until) VALUES (?, '', 0)", [name])
  const holder = randomUUID()
  const take = async () => {
    const taken = (await send(
      `UPDATE named_lock
       SET holder = ?, held_until = UNIX_TIMESTAMP() + ${LEASE}
       WHERE name = ?
         AND (holder = ? OR held_until < UNIX_TIMESTAMP())`,
      [holder, name, holder],
    )) as { affectedRows: number }
    return taken.affectedRows === 1
  }
  for (const end = Date.now() + patience; !(await take()); await sleep(AGAIN_MS))
    if (Date.now() > end) return undefined
  const renewal = setInterval(() => take().catch(() => {}), (LEASE * 1000) / 4)
  try {
    return { result: await work() }
  } finally {
    clearInterval(renewal)
    await send('UPDATE named_lock SET held_until = 0 WHERE name = ? AND holder = ?', [
      name,
      holder,
    ]).catch(() => {})
  }
}
