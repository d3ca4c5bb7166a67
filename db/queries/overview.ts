import type { Role } from '../../src/access/roles.ts'
import type { Db } from '../index.ts'
import type { Entry } from '../models/entry.ts'
import { SENDER, SENDER_MAY } from './invite.ts'
import { unionPart } from './page.ts'
import { LIVE, shared } from './share.ts'

/** A row of any list, with the total count of its list. */
export interface OverviewRow {
  kind: 'bucket' | 'share' | 'invite' | 'workspace'
  id: string
  name: string
  who: string
  role: Role
  /** Whether a share is of a file or of a folder. */
  entryKind: Entry['kind']
  /** The number of entries in a share of several. */
  entryCount: number | null
  fileType: string
  size: number
  at: number
  seen: number | null
  total: number
  unseen: number
  /** The verified e-mail address of the sharer. */
  verified: string | null
}

type Columns = Record<keyof OverviewRow, string>

const TEXTS = { who: "''", role: "''", fileType: "''", verified: 'NULL' }
const NUMBERS = {
  entryKind: '0',
  entryCount: 'NULL',
  size: '0',
  at: '0',
  seen: '0',
  total: 'COUNT(*) OVER ()',
  unseen: '0',
}

/** A SELECT for a list. Columns that it lacks are empty. */
function select(
  kind: OverviewRow['kind'],
  columns: Pick<Columns, 'id' | 'name'> & Partial<Columns>,
  from: string,
) {
  const all: Columns = { kind: `'${kind}'`, ...TEXTS, ...NUMBERS, ...columns }
  const names = Object.keys(all).toSorted() as (keyof Columns)[]
  return `SELECT ${names.map(name => `${all[name]} AS ${name}`).join(', ')} FROM ${from}`
}

// Joined by the session, so that the statement can run in parallel with the lookup of the user.
const session = 'FROM session me WHERE me.hash = ? AND me.expires_at > ?'
const userId = `(SELECT me.user_id ${session})`
const address = `(SELECT (SELECT verified_email FROM user WHERE id = me.user_id) ${session})`

const bucket = select(
  'bucket',
  { id: 'b.id', name: 'p.name', size: 'b.used_bytes', total: 'b.used_files' },
  `bucket b
   JOIN user u ON u.id = b.user_id
   JOIN plan p ON p.id = u.plan_id
   WHERE b.user_id = ${userId}`,
)
const shares = select(
  'share',
  {
    id: 's.id',
    name: 'e.name',
    who: 'u.email',
    entryKind: shared.kind,
    entryCount: 's.entry_count',
    fileType: shared.fileType,
    size: shared.size,
    at: 's.expires_at',
    seen: 's.seen_at',
    unseen: 'SUM(CASE WHEN s.seen_at IS NULL THEN 1 ELSE 0 END) OVER ()',
    verified: 'u.verified_email',
  },
  `share s
   JOIN entry e ON e.id = s.entry_id
   JOIN user u ON u.id = s.user_id
   WHERE s.recipient = ${address}
     AND ${LIVE}`,
)
const invites = select(
  'invite',
  { id: 'i.id', name: 'w.name', role: 'i.role', at: 'i.expires_at' },
  `invite i
   JOIN workspace w ON w.id = i.workspace_id
   ${SENDER}
   WHERE i.email = ${address}
     AND i.expires_at > ?
     AND ${SENDER_MAY}`,
)
const workspaces = select(
  'workspace',
  { id: 'w.id', name: 'w.name', role: 'm.role', at: 'm.joined_at' },
  `member m JOIN workspace w ON w.id = m.workspace_id WHERE m.user_id = ${userId}`,
)

/**
 * The storage area of a session's user, and the newest rows of each of their lists. Empty for an
 * expired session. Does not check whether the account is active.
 */
export function overviewRows(db: Db, sessionHash: string, shown: number): Promise<OverviewRow[]> {
  const newest = (list: string, order: string) =>
    unionPart(db, `${list} ORDER BY ${order} DESC LIMIT ${shown}`)
  const lists = [
    bucket,
    newest(shares, 's.id'),
    newest(invites, 'i.id'),
    newest(workspaces, 'm.joined_at'),
  ]
  const now = Date.now()
  const me = [sessionHash, now]
  return db.rows(lists.join(' UNION ALL '), [...me, ...me, now, ...me, now, ...me])
}
