/**
 * The rows of an upload as the service writes them, with prepared statements and nothing else: the
 * baseline of small uploads.
 */
import { DatabaseSync } from 'node:sqlite'
import { createPool } from 'mysql2/promise'
import { v7 as newId } from 'uuid'

type Value = string | number | null
type Run = (sql: string, values: Value[]) => unknown

export interface Rows {
  /** Runs before the bytes are written. @returns the id of the blob */
  reserve(bytes: number): Promise<string>
  /** Runs after the bytes are written. */
  settle(blob: string, name: string, bytes: number, md5: string): Promise<void>
}

/** Runs statements in one transaction, which is durable afterwards. */
type Transaction = (work: (run: Run) => Promise<void> | void) => Promise<void>

function overSqlite(file: string): Transaction {
  const db = new DatabaseSync(file)
  for (const pragma of ['busy_timeout=5000', 'synchronous=FULL']) db.exec(`PRAGMA ${pragma}`)
  const known = new Map<string, ReturnType<DatabaseSync['prepare']>>()
  const run: Run = (sql, values) => {
    const statement = known.get(sql) ?? db.prepare(sql)
    known.set(sql, statement)
    return sql.startsWith('SELECT') ? statement.all(...values) : statement.run(...values)
  }
  let last: Promise<void> = Promise.resolve()
  return work => {
    last = last.then(async () => {
      run('BEGIN IMMEDIATE', [])
      await work(run)
      run('COMMIT', [])
    })
    return last
  }
}

function overMysql(uri: string): Transaction {
  const pool = createPool({ uri, connectionLimit: 10, supportBigNumbers: true })
  return async work => {
    const connection = await pool.getConnection()
    await connection.beginTransaction()
    await work((sql, values) => connection.execute(sql, values))
    await connection.commit()
    connection.release()
  }
}

/**
 * @param databaseUrl the database of the running service, for the drive of a person without other
 * writers
 */
export function openRows(
  databaseUrl: string,
  { userId, bucketId, rootId }: Record<'userId' | 'bucketId' | 'rootId', string>,
): Rows {
  const file = databaseUrl.replace(/^sqlite:/, '')
  const transaction = file === databaseUrl ? overMysql(databaseUrl) : overSqlite(file)
  let folder: Promise<string> | undefined

  async function makeFolder(): Promise<string> {
    const [id, now] = [newId(), Date.now()]
    await transaction(async run => {
      await run(
        'INSERT INTO entry (id, bucket_id, parent_id, kind, name, file_type, created_by, created_at, updated_at) VALUES (?, ?, ?, 0, ?, ?, ?, ?, ?)',
        [id, bucketId, rootId, `bare-${id}`, '', userId, now, now],
      )
    })
    return id
  }

  return {
    async reserve(bytes) {
      const id = newId()
      await transaction(async run => {
        await run(
          'UPDATE bucket SET reserved_bytes = reserved_bytes + ?, reserved_files = reserved_files + 1 WHERE id = ? AND used_bytes + reserved_bytes + ? <= ?',
          [bytes, bucketId, bytes, Number.MAX_SAFE_INTEGER],
        )
        await run(
          "INSERT INTO blobs (id, bucket_id, state, reserved_bytes, size, lease_until, created_at) VALUES (?, ?, 'staged', ?, 0, ?, ?)",
          [id, bucketId, bytes, Date.now() + 60_000, Date.now()],
        )
      })
      return id
    },

    async settle(blob, name, bytes, md5) {
      folder ??= makeFolder()
      const parent = await folder
      const [id, now] = [newId(), Date.now()]
      await transaction(async run => {
        await run(
          'UPDATE bucket SET reserved_bytes = reserved_bytes - ?, reserved_files = reserved_files - 1, used_bytes = used_bytes + ?, used_files = used_files + 1 WHERE id = ?',
          [bytes, bytes, bucketId],
        )
        await run(
          "UPDATE blobs SET state = 'live', size = ?, reserved_bytes = 0, lease_until = 0 WHERE id = ?",
          [bytes, blob],
        )
        await run('SELECT id, kind, revision FROM entry WHERE parent_id = ? AND name = ?', [
          parent,
          name,
        ])
        await run(
          'UPDATE entry SET total_bytes = total_bytes + ?, total_files = total_files + 1 WHERE id = ?',
          [bytes, parent],
        )
        await run(
          'INSERT INTO entry (id, bucket_id, parent_id, kind, name, blob_id, file_type, md5, total_bytes, total_files, created_by, created_at, updated_at) VALUES (?, ?, ?, 1, ?, ?, ?, ?, ?, 1, ?, ?, ?)',
          [
            id,
            bucketId,
            parent,
            name,
            blob,
            'application/octet-stream',
            md5,
            bytes,
            userId,
            now,
            now,
          ],
        )
        await run(
          `INSERT INTO event (log_id, seq, at, actor_id, via, via_id, kind, subject_id, entry_id, details)
           SELECT ?, COALESCE(MAX(seq), 0) + 1, ?, ?, 'session', NULL, 'file.created', ?, ?, '{}' FROM event WHERE log_id = ?`,
          [bucketId, now, userId, id, id, bucketId],
        )
      })
    },
  }
}
