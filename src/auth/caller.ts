import type { IncomingMessage } from 'node:http'
import { parseCookie } from 'cookie'
import type { Db } from '../../db/index.ts'
import type { Tree } from '../services/entry-path.ts'
import type { BucketLimits } from '../services/quota.ts'
import { hashSecret } from '../tokens.ts'

export const SESSION_COOKIE = 'session_id'

/** Who calls, and by what right. */
export interface Caller {
  userId: string
  email: string
  /** Lower-case, null when no provider vouches for it. */
  verifiedEmail: string | null
  name: string
  picture: string
  via: 'session' | 'api_key'
  /** Names the session or the key; no secret, and shown in lists and in the log. */
  credentialId: string
  /** When the credential ends, in milliseconds; null when it does not. */
  expiresAt: number | null
  /** Scopes of an API key; null for a session, which has all. */
  scopes: ReadonlySet<string> | null
  /** The workspace of a workspace key. */
  workspaceId: string | null
  bucket: Tree
  limits: BucketLimits
  /** What the plan allows besides; null means unlimited. */
  bounds: { maxPublicLinks: number | null; maxNotes: number | null }
}

interface ViewerRow {
  userId: string
  email: string
  verifiedEmail: string | null
  name: string
  picture: string
  expiresAt: number | null
  bucketId: string
  rootId: string
  maxFileSizeBytes: number
  maxTotalStorageBytes: number
  maxFiles: number | null
  maxFolders: number | null
  maxPublicLinks: number | null
  maxNotes: number | null
}

/**
 * Turns the credential of a request into its caller; null without one, or with one that is wrong, expired or revoked.
 * One statement. An API key decides over a cookie: contract, section 1.
 */
export async function findCaller(db: Db, req: IncomingMessage): Promise<Caller | null> {
  const caller = await find(db, req)
  if (caller) callers.set(req, caller)
  return caller
}

async function find(db: Db, req: IncomingMessage): Promise<Caller | null> {
  const key = req.headers['x-api-key']
  if (key !== undefined) return typeof key === 'string' && key.length <= 128 ? findKey(db, hashOf(key)) : null
  const secret = sessionSecret(req)
  return secret ? findSession(db, hashOf(secret)) : null
}

const hashOf = (secret: string) => hashSecret(secret).toString('hex')

/** The caller of a request, once authenticated, for the request log. */
const callers = new WeakMap<IncomingMessage, Caller>()

export const callerOf = (req: IncomingMessage): Caller | undefined => callers.get(req)

/** The secret in the session cookie, if there is one that may be ours. */
export function sessionSecret(req: IncomingMessage): string | undefined {
  const cookies = req.headers.cookie
  const secret = cookies?.includes(SESSION_COOKIE) ? parseCookie(cookies)[SESSION_COOKIE] : undefined
  return secret && secret.length <= 128 ? secret : undefined
}

const whoColumns = `u.id AS userId, u.email, u.verified_email AS verifiedEmail, u.name, u.picture, b.id AS bucketId, b.root_id AS rootId,
       p.max_file_size_bytes AS maxFileSizeBytes, p.max_total_storage_bytes AS maxTotalStorageBytes, p.max_files AS maxFiles,
       p.max_folders AS maxFolders, p.max_public_links AS maxPublicLinks, p.max_notes AS maxNotes`
/** How old the last use of a key may look: noting every use would turn each read into a write. */
const USE_GRAIN_MS = 60_000

/** The request does not wait for it, and a use that is not noted is no harm. */
function noteUse(db: Db, table: 'session' | 'api_key', id: string, now: number): void {
  db.run(`UPDATE ${table} SET last_used_at = ? WHERE id = ?`, [now, id]).catch(() => {})
}

const whoTables = 'JOIN bucket b ON b.user_id = u.id JOIN plan p ON p.id = u.plan_id'

/** The same for a session, which is written when it begins. */
const SESSION_USE_GRAIN_MS = 5 * 60_000

async function findSession(db: Db, hash: string): Promise<Caller | null> {
  const [row] = await db.rows<ViewerRow & { id: string; expiresAt: number; lastUsedAt: number }>(
    `SELECT s.id, s.expires_at AS expiresAt, s.last_used_at AS lastUsedAt, ${whoColumns} FROM session s JOIN user u ON u.id = s.user_id ${whoTables}
     WHERE s.hash = ? AND u.status = 'active'`,
    [hash],
  )
  const now = Date.now()
  if (!row || row.expiresAt <= now) return null
  const { id, lastUsedAt, ...who } = row
  if (lastUsedAt < now - SESSION_USE_GRAIN_MS) noteUse(db, 'session', id, now)
  return toViewer(who, { via: 'session', credentialId: id, scopes: null, workspaceId: null })
}

/** A key acts by the right of its creator: as their account is now, and as their role is where the workspace is entered. */
async function findKey(db: Db, hash: string): Promise<Caller | null> {
  const [row] = await db.rows<
    ViewerRow & {
      id: string
      expiresAt: number | null
      scopes: string
      workspaceId: string | null
      lastUsedAt: number | null
    }
  >(
    `SELECT k.id, k.expires_at AS expiresAt, k.scopes, k.workspace_id AS workspaceId, k.last_used_at AS lastUsedAt, ${whoColumns}
     FROM api_key k JOIN user u ON u.id = k.created_by ${whoTables} WHERE k.hash = ? AND u.status = 'active'`,
    [hash],
  )
  const now = Date.now()
  if (!row || (row.expiresAt !== null && row.expiresAt <= now)) return null
  const { id, scopes, workspaceId, lastUsedAt, ...who } = row
  if (lastUsedAt === null || lastUsedAt < now - USE_GRAIN_MS) noteUse(db, 'api_key', id, now)
  return toViewer(who, { via: 'api_key', credentialId: id, scopes: new Set(scopes.split(' ')), workspaceId })
}

function toViewer(row: ViewerRow, credential: Pick<Caller, 'via' | 'credentialId' | 'scopes' | 'workspaceId'>): Caller {
  const { bucketId, rootId, maxFileSizeBytes, maxTotalStorageBytes, maxFiles, ...more } = row
  const { maxFolders, maxPublicLinks, maxNotes, ...who } = more
  return {
    ...who,
    ...credential,
    bucket: { bucketId, rootId, maxFolders },
    limits: { maxFileSizeBytes, maxTotalStorageBytes, maxFiles },
    bounds: { maxPublicLinks, maxNotes },
  }
}
