import type { IncomingMessage } from 'node:http'
import { parseCookie } from 'cookie'
import type { Db } from '../../db/index.ts'
import type { BucketLimits } from '../services/blob.ts'
import type { Tree } from '../services/entry.ts'
import { hashSecret } from '../tokens.ts'

export const SESSION_COOKIE = 'session_id'

/** Who calls, and by what right. */
export interface Viewer {
  userId: string
  email: string
  /** Lower-case, null when no provider vouches for it. */
  verifiedEmail: string | null
  name: string
  picture: string
  via: 'session' | 'api_key'
  /** What names the credential in the database. */
  credential: string
  /** When the credential ends, in milliseconds; null when it does not. */
  expiresAt: number | null
  bucket: Tree
  limits: BucketLimits
}

interface ViewerRow {
  userId: string
  email: string
  verifiedEmail: string | null
  name: string
  picture: string
  expiresAt: number
  bucketId: string
  rootId: string
  maxFileSizeBytes: number
  maxTotalStorageBytes: number
  maxFiles: number | null
}

/**
 * Turns the credential of a request into its caller; null without one, or with one that is wrong, expired or revoked.
 * One statement. An API key decides over a cookie: contract, section 1.
 */
export async function findViewer(db: Db, req: IncomingMessage): Promise<Viewer | null> {
  if (req.headers['x-api-key'] !== undefined) return null
  const secret = sessionSecret(req)
  return secret ? findSession(db, hashSecret(secret).toString('hex')) : null
}

/** The secret in the session cookie, if there is one that may be ours. */
export function sessionSecret(req: IncomingMessage): string | undefined {
  const cookies = req.headers.cookie
  const secret = cookies?.includes(SESSION_COOKIE) ? parseCookie(cookies)[SESSION_COOKIE] : undefined
  return secret && secret.length <= 128 ? secret : undefined
}

async function findSession(db: Db, hash: string): Promise<Viewer | null> {
  const [row] = await db.rows<ViewerRow>(
    `SELECT s.expires_at AS expiresAt, u.id AS userId, u.email, u.verified_email AS verifiedEmail, u.name, u.picture,
       b.id AS bucketId, b.root_id AS rootId, p.max_file_size_bytes AS maxFileSizeBytes,
       p.max_total_storage_bytes AS maxTotalStorageBytes, p.max_files AS maxFiles
     FROM session s JOIN user u ON u.id = s.user_id JOIN bucket b ON b.user_id = u.id JOIN plan p ON p.id = u.plan_id
     WHERE s.hash = ? AND u.status = 'active'`,
    [hash],
  )
  if (!row || row.expiresAt <= Date.now()) return null
  const { bucketId, rootId, maxFileSizeBytes, maxTotalStorageBytes, maxFiles, ...who } = row
  return {
    ...who,
    via: 'session',
    credential: hash,
    bucket: { bucketId, rootId },
    limits: { maxFileSizeBytes, maxTotalStorageBytes, maxFiles },
  }
}
