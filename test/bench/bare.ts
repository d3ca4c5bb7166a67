/** The yardstick of bench/requests: node:http and prepared statements of mysql2, and nothing else. Arguments: database URL, ids as JSON. */
import { createServer } from 'node:http'
import { createPool } from 'mysql2'
import { v7 as newId } from 'uuid'
import { hashSecret } from '../../src/tokens.ts'

const [, , uri = '', ids = '{}'] = process.argv
const { rootId, bucketId, shareId } = JSON.parse(ids) as Record<string, string>
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

const columns = ['id', 'kind', 'blob_id', 'total_bytes', 'total_files', 'total_folders', 'levels_below', 'bytes_below']
const chain = (names: string[]) =>
  rows<Record<string, string>>(
    `SELECT ${names.flatMap((_, i) => columns.map((c, n) => `e${i + 1}.${c} AS c${i + 1}_${n}`)).join(', ')} FROM (SELECT 1 AS one) AS start ${names
      .map(
        (_, i) =>
          `LEFT JOIN entry e${i + 1} ON e${i + 1}.parent_id = ${i === 0 ? '?' : `e${i}.id`} AND e${i + 1}.name = ?`,
      )
      .join(' ')}`,
    [rootId ?? '', ...names],
  )

const entry =
  'id, kind, name, file_type AS fileType, total_bytes AS size, md5, created_by AS createdBy, created_at AS createdAt, updated_at AS updatedAt'

const actions: Record<string, (cookie: string | undefined) => Promise<unknown>> = {
  async '/tree'(cookie) {
    await session(cookie)
    const [found] = await chain(['big'])
    return rows(`SELECT ${entry} FROM entry WHERE parent_id = ? ORDER BY kind, name LIMIT 101`, [found?.c1_0 ?? ''])
  },
  async '/file'(cookie) {
    await session(cookie)
    const [found] = await chain(['big', 'file-000042.txt'])
    return rows(`SELECT ${entry} FROM entry WHERE id = ?`, [found?.c2_0 ?? ''])
  },
  async '/link'() {
    const [share] = await rows(
      `SELECT s.id, s.user_id AS userId, s.recipient, s.password_hash AS passwordHash, s.max_downloads AS maxDownloads, s.downloads,
         s.expires_at AS expiresAt, e.name, e.file_type AS fileType, e.total_bytes AS size, e.md5, e.blob_id AS blobId,
         e.parent_id AS parentId, b.id AS bucketId, b.root_id AS rootId, b.purging
       FROM share s JOIN entry e ON e.id = s.entry_id JOIN bucket b ON b.id = e.bucket_id JOIN user u ON u.id = s.user_id
       WHERE s.id = ? AND u.status = 'active'`,
      [shareId ?? ''],
    )
    await rows(
      'UPDATE share SET downloads = downloads + 1 WHERE id = ? AND (max_downloads IS NULL OR downloads < max_downloads)',
      [shareId ?? ''],
    )
    return share
  },
  async '/share'(cookie) {
    const [who] = await session(cookie)
    const [found] = await chain(['big', 'file-000042.txt'])
    const id = newId()
    await rows(
      `INSERT INTO share (id, entry_id, bucket_id, user_id, recipient, password_hash, max_downloads, downloads, seen_at, created_at, expires_at)
       SELECT ?, ?, ?, id, NULL, ?, ?, 0, NULL, ?, ? FROM user WHERE id = ? LOCK IN SHARE MODE`,
      [id, found?.c2_0 ?? '', bucketId ?? '', null, null, Date.now(), Date.now() + 86_400_000, who?.userId ?? ''],
    )
    return { id }
  },
}

const server = createServer(async (req, res) => {
  const body = JSON.stringify(await actions[req.url ?? '']?.(req.headers.cookie))
  res.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
  res.end(body)
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  process.stdout.write(`listening at http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}\n`)
})
