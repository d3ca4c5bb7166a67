/**
 * The baseline of bench/requests: node:http and prepared statements of mysql2, as many as the
 * service runs, and nothing else. Arguments: database URL, ids as JSON.
 */
import { createServer } from 'node:http'
import { createPool } from 'mysql2'
import { v7 as newId } from 'uuid'
import { hashSecret } from '../../src/runtime/tokens.ts'

const [, , uri = '', ids = '{}'] = process.argv
const { rootId, bucketId } = JSON.parse(ids) as Record<string, string>
const pool = createPool({ uri, connectionLimit: 10, supportBigNumbers: true })

const rows = <T>(sql: string, values: (string | number | null)[]) =>
  new Promise<T[]>((resolve, reject) =>
    pool.execute(sql, values, (error, result) => (error ? reject(error) : resolve(result as T[]))),
  )

const session = (cookie = '') =>
  rows<{ userId: string }>(
    `SELECT s.expires_at AS expiresAt, u.id AS userId, u.email, u.verified_email AS verifiedEmail, u.name, u.picture,
       b.id AS bucketId, b.root_id AS rootId, p.max_file_size_bytes AS maxFileSizeBytes,
       p.max_total_storage_bytes AS maxTotalStorageBytes, p.max_files AS maxFiles
     FROM session s JOIN user u ON u.id = s.user_id JOIN bucket b ON b.user_id = u.id JOIN plan p ON p.id = u.plan_id
     WHERE s.hash = ? AND u.status = 'active'`,
    [hashSecret(cookie.slice('session_id='.length)).toString('hex')],
  )

const entry =
  'e.id, e.kind, e.name, e.file_type AS fileType, e.total_bytes AS size, e.md5, e.created_by AS createdBy, e.created_at AS createdAt, e.updated_at AS updatedAt'
const below = 'entry f JOIN entry e ON e.parent_id = f.id WHERE f.parent_id = ? AND f.name = ?'
const file = () =>
  rows<{ id: string }>(`SELECT ${entry} FROM ${below} AND e.name = ?`, [
    rootId ?? '',
    'big',
    'file-000042.txt',
  ])

/** Handlers by the first segment of the path. */
const actions: Record<string, (cookie: string | undefined, id: string) => Promise<unknown>> = {
  async tree(cookie) {
    await session(cookie)
    return rows(`SELECT ${entry} FROM ${below} ORDER BY e.kind, e.name LIMIT 101`, [
      rootId ?? '',
      'big',
    ])
  },
  async file(cookie) {
    await session(cookie)
    return file()
  },
  async link(_cookie, id) {
    const [share] = await rows(
      `SELECT s.id, s.user_id AS userId, s.recipient, s.password_hash AS passwordHash, s.max_downloads AS maxDownloads, s.downloads,
         s.expires_at AS expiresAt, e.name, e.file_type AS fileType, e.total_bytes AS size, e.md5, e.blob_id AS blobId
       FROM share s JOIN entry e ON e.id = s.entry_id JOIN bucket b ON b.id = e.bucket_id JOIN user u ON u.id = s.user_id
       WHERE s.id = ? AND u.status = 'active'`,
      [id],
    )
    await rows(
      'UPDATE share SET downloads = downloads + 1 WHERE id = ? AND (max_downloads IS NULL OR downloads < max_downloads)',
      [id],
    )
    await rows(
      "INSERT INTO share_event (id, share_id, at, kind, person_id, network, client) VALUES (?, ?, ?, 'downloaded', NULL, '', '')",
      [newId(), id, Date.now()],
    )
    return share
  },
  async share(cookie) {
    const [who] = await session(cookie)
    const { userId = '' } = who ?? {}
    const [drive, id, now] = [bucketId ?? '', newId(), Date.now()]
    const connection = await pool.promise().getConnection()
    const run = async (sql: string, values: (string | number | null)[]) =>
      (await connection.execute(sql, values))[0]
    await connection.beginTransaction()
    await run('UPDATE bucket SET link_count = link_count + 1 WHERE id = ?', [drive])
    const [found] = (await run(`SELECT e.id FROM ${below} AND e.name = ?`, [
      ...[rootId ?? '', 'big', 'file-000042.txt'],
    ])) as { id: string }[]
    await run(
      `INSERT INTO share (id, entry_id, bucket_id, user_id, recipient, password_hash, max_downloads, downloads, seen_at, created_at, expires_at)
       VALUES (?, ?, ?, ?, NULL, NULL, NULL, 0, NULL, ?, ?)`,
      [id, found?.id ?? '', drive, userId, now, now + 86_400_000],
    )
    await run(
      `INSERT INTO event (log_id, seq, at, actor_id, via, via_id, kind, subject_id, details)
       SELECT ?, COALESCE(MAX(seq), 0) + 1, ?, ?, 'session', NULL, 'share.created', ?, '{}' FROM event WHERE log_id = ?`,
      [drive, now, userId, id, drive],
    )
    await connection.commit()
    connection.release()
    return { id }
  },
}

const server = createServer(async (req, res) => {
  const [, action = '', id = ''] = req.url?.split('/') ?? []
  const body = JSON.stringify(await actions[action]?.(req.headers.cookie, id))
  res.writeHead(200, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  })
  res.end(body)
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  process.stdout.write(
    `listening at http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}\n`,
  )
})
