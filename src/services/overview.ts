import type { Db } from '../../db/index.ts'
import type { Role } from '../auth/roles.ts'
import type { Tokens } from '../tokens.ts'
import { pathsOfFolders } from './entry-path.ts'
import { INVITE_TOKEN } from './invite.ts'
import { SENDER, SENDER_MAY } from './right.ts'
import { LIVE } from './share.ts'
import { SHARE_TOKEN } from './share-link.ts'

/** The newest entries of a list, with its total count. */
export interface Newest<T> {
  total: number
  rows: T[]
}

/** The overview of an account for its home page. Sizes in bytes, times in milliseconds since 1970. */
export interface Overview {
  planName: string
  usedBytes: number
  fileCount: number
  received: Newest<{
    token: string
    name: string
    fileType: string
    size: number
    sharedBy: { name: string; email: string; verified: boolean }
    seen: boolean
  }> & {
    unseen: number
  }
  invites: Newest<{ token: string; workspaceName: string; role: Role; expiresAt: number }>
  workspaces: Newest<{ id: string; name: string; role: Role }>
}

/** A row of any of the lists, with the total count of its list. */
interface Row {
  kind: 'bucket' | 'share' | 'invite' | 'workspace'
  id: string
  name: string
  who: string
  role: Role
  fileType: string
  size: number
  at: number
  seen: number | null
  total: number
  unseen: number
  parentId: string
  rootId: string
  purging: number
  /** The verified e-mail address of the sharer. */
  verified: string | null
}

/** How many entries of each list the overview shows by default, and at most. */
const SHOWN = 5
const MOST = 1000

export function overviewService({ db, tokens }: { db: Db; tokens: Tokens }) {
  // MySQL accepts a parenthesized LIMIT within a union; SQLite accepts it only in a subquery.
  const newest = (part: string, order: string, shown: number) => {
    const one = `${part} ORDER BY ${order} DESC LIMIT ${shown}`
    return db.dialect === 'mysql' ? `(${one})` : `SELECT * FROM (${one})`
  }
  // Joined by the session, so that the statement can run in parallel with the lookup of the user.
  const session = 'FROM session me WHERE me.hash = ? AND me.expires_at > ?'
  const userId = `(SELECT me.user_id ${session})`
  const address = `(SELECT (SELECT verified_email FROM user WHERE id = me.user_id) ${session})`
  const sqlFor = (shown: number) =>
    [
      `SELECT 'bucket' AS kind, b.id, p.name, '' AS who, '' AS role, '' AS fileType, b.used_bytes AS size, 0 AS at, 0 AS seen,
       b.used_files AS total, 0 AS unseen, '' AS parentId, '' AS rootId, 0 AS purging, NULL AS verified
     FROM bucket b JOIN user u ON u.id = b.user_id JOIN plan p ON p.id = u.plan_id WHERE b.user_id = ${userId}`,
      newest(
        `SELECT 'share' AS kind, s.id, e.name, u.email AS who, '' AS role, e.file_type AS fileType, e.total_bytes AS size, s.expires_at AS at,
         s.seen_at AS seen, COUNT(*) OVER () AS total, SUM(CASE WHEN s.seen_at IS NULL THEN 1 ELSE 0 END) OVER () AS unseen,
         e.parent_id AS parentId, b.root_id AS rootId, b.purging, u.verified_email AS verified
       FROM share s JOIN entry e ON e.id = s.entry_id JOIN bucket b ON b.id = e.bucket_id JOIN user u ON u.id = s.user_id
       WHERE s.recipient = ${address} AND ${LIVE}`,
        's.id',
        shown,
      ),
      newest(
        `SELECT 'invite' AS kind, i.id, w.name, '' AS who, i.role, '' AS fileType, 0 AS size, i.expires_at AS at, 0 AS seen,
         COUNT(*) OVER () AS total, 0 AS unseen, '' AS parentId, '' AS rootId, 0 AS purging, NULL AS verified
       FROM invite i JOIN workspace w ON w.id = i.workspace_id ${SENDER} WHERE i.email = ${address} AND i.expires_at > ? AND ${SENDER_MAY}`,
        'i.id',
        shown,
      ),
      newest(
        `SELECT 'workspace' AS kind, w.id, w.name, '' AS who, m.role, '' AS fileType, 0 AS size, m.joined_at AS at, 0 AS seen,
         COUNT(*) OVER () AS total, 0 AS unseen, '' AS parentId, '' AS rootId, 0 AS purging, NULL AS verified
       FROM member m JOIN workspace w ON w.id = m.workspace_id WHERE m.user_id = ${userId}`,
        'm.joined_at',
        shown,
      ),
    ].join(' UNION ALL ')
  const atAGlance = sqlFor(SHOWN)
  const whole = sqlFor(MOST)

  return {
    /**
     * The overview of the user of a session; null for an expired session. Does not check whether the account is active.
     * Runs one statement, and a second one only while a folder of a sharer is being purged.
     */
    async read(sessionHash: string, { all }: { all: boolean }): Promise<Overview | null> {
      const now = Date.now()
      const me = [sessionHash, now]
      const rows = await db.rows<Row>(all ? whole : atAGlance, [...me, ...me, now, ...me, now, ...me])
      const [bucket] = rows.filter(row => row.kind === 'bucket')
      if (!bucket) return null
      const gone = await goneAmong(rows)
      const list = <T>(kind: Row['kind'], show: (row: Row) => T) => {
        const of = rows.filter(row => row.kind === kind)
        const there = of.filter(row => !gone.has(row.id))
        return { total: Number(of[0]?.total ?? 0) - (of.length - there.length), rows: there.map(show) }
      }
      const shares = rows.filter(row => row.kind === 'share')
      const unseenGone = shares.filter(row => gone.has(row.id) && row.seen === null).length
      return {
        planName: bucket.name,
        usedBytes: bucket.size,
        fileCount: bucket.total,
        received: {
          ...list('share', ({ id, name, fileType, size, who, verified, seen }) => ({
            token: tokens.derive(SHARE_TOKEN, id),
            name,
            fileType,
            size,
            sharedBy: { name: '', email: who, verified: verified !== null },
            seen: seen !== null,
          })),
          unseen: Number(shares[0]?.unseen ?? 0) - unseenGone,
        },
        invites: list('invite', ({ id, name, role, at }) => ({
          token: tokens.derive(INVITE_TOKEN, id),
          workspaceName: name,
          role,
          expiresAt: at,
        })),
        workspaces: list('workspace', ({ id, name, role }) => ({ id, name, role })),
      }
    },
  }

  /** Removes shares whose file was deleted with a folder that is not purged yet. */
  async function goneAmong(rows: Row[]): Promise<Set<string>> {
    const doubtful = rows.filter(row => row.purging > 0)
    const there = await pathsOfFolders(
      db,
      doubtful.map(row => row.rootId),
      doubtful.map(row => row.parentId),
    )
    return new Set(doubtful.filter(row => !there.has(row.parentId)).map(row => row.id))
  }
}

export type OverviewService = ReturnType<typeof overviewService>
