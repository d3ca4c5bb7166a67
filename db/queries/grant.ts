import type { GrantKind } from '../../src/values/grant.ts'
import type { Db, Tx, Value } from '../index.ts'
import { FOLDER } from '../models/entry.ts'
import { NEVER } from '../models/share.ts'
import { ROLE_MAY_WRITE, treeOf } from './caller.ts'
import { type Page, pageOf, unionPart } from './page.ts'
import { EXPIRY, tables } from './share.ts'
import { placeholders } from './sql.ts'

/** A grant as operators see it: who, what and on which terms, without its link and its contents. */
export interface GrantRow {
  id: string
  kind: GrantKind
  /** Its sharer, or the maker of the request. */
  userId: string
  /** The plan of that person. */
  planId: string
  /** An e-mail address; null for links and requests. */
  recipient: string | null
  /** The name of the entry, or of the first of several; the title of a request. */
  name: string
  /** The number of entries if several were chosen. */
  entryCount: number | null
  /** Flags are numbers in rows. */
  isFolder: number
  workspaceId: string | null
  workspaceName: string | null
  createdAt: number
  /** Null if it never expires. */
  expiresAt: number | null
  hasPassword: number
  mayEdit: number
  /** Downloads, or received files of a request. */
  uses: number
  /** Null if unlimited. */
  maxUses: number | null
  /** Whether it waits because its sharer is suspended. */
  isPaused: number
}

/** Filters grants. Omitted fields match everything. */
export interface GrantFilter {
  kinds?: readonly GrantKind[]
  /** Whose grants. */
  userId?: string | null
  workspaceId?: string | null
  /** Only grants that never expire. */
  neverExpires?: boolean
  /** Only grants without a password. */
  noPassword?: boolean
  /** Only grants that break one of these rules. */
  outOf?: GrantRules
}

/** The rules of the settings as bounds of rows. */
export interface GrantRules {
  /** The latest expiry, in milliseconds since 1970; null for no bound. */
  latest: number | null
  needsPassword: boolean
  /** The plans that may share outside, and the domains that are inside; null without this rule. */
  outside: { plans: readonly string[]; domains: readonly string[] } | null
}

const PAUSED = "CASE WHEN u.status = 'active' THEN 0 ELSE 1 END"
const flagOf = (condition: string) => `CASE WHEN ${condition} THEN 1 ELSE 0 END`

/** The columns of one kind of grants, by the names of GrantRow. */
interface Source {
  columns: Record<keyof GrantRow, string>
  from: string
  /** The condition of grants that have not ended. Its value is the current time. */
  open: string
  neverExpires: string
}

const owner = {
  planId: 'u.plan_id',
  workspaceId: 't.workspace_id',
  workspaceName: 'w.name',
  isPaused: PAUSED,
}
const WORKSPACE = 'LEFT JOIN workspace w ON w.id = t.workspace_id'

const shares: Source = {
  columns: {
    ...owner,
    id: 's.id',
    kind: "CASE WHEN s.recipient IS NULL THEN 'link' ELSE 'direct' END",
    userId: 's.user_id',
    recipient: 's.recipient',
    name: 'e.name',
    entryCount: 's.entry_count',
    isFolder: flagOf(`s.entry_count IS NOT NULL OR e.kind = ${FOLDER}`),
    createdAt: 's.created_at',
    expiresAt: EXPIRY,
    hasPassword: flagOf('s.password_hash IS NOT NULL'),
    mayEdit: 's.may_edit',
    uses: 's.downloads',
    maxUses: 's.max_downloads',
  },
  from: `${tables} ${WORKSPACE}`,
  open: `s.expires_at > ? AND (s.max_downloads IS NULL OR s.downloads < s.max_downloads) AND ${ROLE_MAY_WRITE}`,
  neverExpires: `s.expires_at = ${NEVER}`,
}

const requests: Source = {
  columns: {
    ...owner,
    id: 's.id',
    kind: "'request'",
    userId: 's.user_id',
    recipient: 'NULL',
    name: 's.label',
    entryCount: 'NULL',
    isFolder: '1',
    createdAt: 's.created_at',
    expiresAt: 's.expires_at',
    hasPassword: flagOf('s.password_hash IS NOT NULL'),
    mayEdit: '0',
    uses: 's.files',
    maxUses: 's.max_files',
  },
  from: `file_request s JOIN user u ON u.id = s.user_id ${treeOf('s')} ${WORKSPACE}`,
  open: `s.closed_at IS NULL AND (s.expires_at IS NULL OR s.expires_at > ?) AND ${ROLE_MAY_WRITE}`,
  neverExpires: 's.expires_at IS NULL',
}

/** The condition that a grant breaks a rule, and its values. */
function breaking(
  source: Source,
  { latest, needsPassword, outside }: GrantRules,
): { sql: string; values: Value[] } {
  const { recipient } = source.columns
  const broken: [sql: string, values: Value[]][] = []
  if (latest !== null) broken.push([`(${source.neverExpires} OR s.expires_at > ?)`, [latest]])
  if (needsPassword) broken.push([`(${recipient} IS NULL AND s.password_hash IS NULL)`, []])
  if (outside) {
    const { plans, domains } = outside
    const notIn = (column: string, list: readonly string[]) =>
      list.length === 0 ? '1 = 1' : `${column} NOT IN (${placeholders(list)})`
    const domain = `SUBSTR(${recipient}, INSTR(${recipient}, '@') + 1)`
    broken.push([
      `(${notIn('u.plan_id', plans)} AND (${recipient} IS NULL OR ${notIn(domain, domains)}))`,
      [...plans, ...domains],
    ])
  }
  return broken.length === 0
    ? { sql: '1 = 0', values: [] }
    : {
        sql: `(${broken.map(([sql]) => sql).join(' OR ')})`,
        values: broken.flatMap(([, values]) => values),
      }
}

/** A SELECT of the grants of one source that match a filter, and its values. */
function part(
  source: Source,
  { kinds = [], userId, workspaceId, neverExpires, noPassword, outOf }: GrantFilter,
  after: string | null,
  limit: number,
): { sql: string; values: Value[] } {
  const which: [sql: string, values: Value[]][] = [[source.open, [Date.now()]]]
  const where = (sql: string, ...values: Value[]) => which.push([sql, values])
  if (userId) where('s.user_id = ?', userId)
  if (workspaceId)
    where('s.bucket_id IN (SELECT id FROM bucket WHERE workspace_id = ?)', workspaceId)
  if (kinds.length === 1 && source === shares)
    where(`s.recipient IS ${kinds[0] === 'direct' ? 'NOT ' : ''}NULL`)
  if (neverExpires) where(source.neverExpires)
  if (noPassword) where('s.password_hash IS NULL')
  if (outOf) {
    const { sql, values } = breaking(source, outOf)
    where(sql, ...values)
  }
  if (after !== null) where('s.id < ?', after)
  const columns = Object.entries(source.columns).map(([name, sql]) => `${sql} AS ${name}`)
  return {
    sql: `SELECT ${columns.join(', ')}
     FROM ${source.from}
     WHERE ${which.map(([sql]) => sql).join(' AND ')}
     ORDER BY s.id DESC
     LIMIT ${limit}`,
    values: which.flatMap(([, values]) => values),
  }
}

/**
 * The grants of all people that have not ended, newest first. Includes those of suspended people,
 * which work again when the account is restored.
 * @param after the id of a grant, exclusive
 */
export async function listGrants(
  db: Db,
  filter: GrantFilter,
  limit: number,
  after: string | null,
): Promise<Page<GrantRow>> {
  const { kinds = [] } = filter
  const isIn = (kind: GrantKind) => kinds.length === 0 || kinds.includes(kind)
  const shareKinds = (['link', 'direct'] as const).filter(isIn)
  const parts = [
    ...(shareKinds.length > 0
      ? [part(shares, { ...filter, kinds: shareKinds }, after, limit + 1)]
      : []),
    ...(isIn('request') ? [part(requests, filter, after, limit + 1)] : []),
  ]
  const [only, ...others] = parts
  if (!only) return { rows: [], more: false }
  const sql =
    others.length === 0
      ? only.sql
      : `${parts.map(one => unionPart(db, one.sql)).join(' UNION ALL ')}
         ORDER BY id DESC
         LIMIT ${limit + 1}`
  return pageOf(
    await db.rows<GrantRow>(
      sql,
      parts.flatMap(({ values }) => values),
    ),
    limit,
  )
}

/** Open file requests by their ids, as `closeRequest` needs them. */
export const openRequestsByIds = (
  db: Db,
  ids: readonly string[],
  tx: Tx,
): Promise<{ id: string; bucketId: string; folderId: string; label: string }[]> =>
  db.rows(
    `SELECT id, bucket_id AS bucketId, folder_id AS folderId, label
     FROM file_request
     WHERE id IN (${placeholders(ids)}) AND closed_at IS NULL`,
    [...ids],
    tx,
  )
