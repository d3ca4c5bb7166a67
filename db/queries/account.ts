import type { Db, Tx, Value } from '../index.ts'
import type { Identity } from '../models/identity.ts'
import type { Member } from '../models/member.ts'
import type { PlanBy } from '../models/user.ts'
import type { Workspace } from '../models/workspace.ts'
import { type DriveLimits, limitOf, limitsOfDrives, withLimits } from './limit.ts'
import { ACCOUNT_IS_OVER } from './plan.ts'
import { placeholders } from './sql.ts'

/** An account as the operator sees it. Sizes are in bytes, times in milliseconds since 1970. */
export interface AccountRow {
  id: string
  email: string
  /** Whether a provider has verified the e-mail address. */
  emailVerified: boolean
  name: string
  plan: string
  planBy: PlanBy
  status: 'active' | 'suspended'
  createdAt: number
  usedBytes: number
  files: number
  maxBytes: number
}

export type AccountIdentity = Pick<Identity, 'provider' | 'providerUserId' | 'email'>

/** A workspace of an account, with the account's role in it. */
export type AccountWorkspace = Pick<Workspace, 'id' | 'name' | 'slug'> & Pick<Member, 'role'>

/** The numbers of live sessions, of all keys, and of live shares. */
export interface AccountCounts {
  sessions: number
  apiKeys: number
  shares: number
}

export type AccountUsage = {
  usedBytes: number
  keptBytes: number
  fileCount: number
  folderCount: number
} & DriveLimits

/** The storage of a workspace and its usage, in bytes. */
export interface WorkspaceUsage {
  id: string
  name: string
  slug: string
  /** The owner, whose plan sets the limits: id and e-mail address. */
  ownerId: string
  owner: string
  usedBytes: number
  keptBytes: number
  files: number
  folders: number
  maxBytes: number
}

export interface UsageTotals {
  areas: number
  usedBytes: number
  files: number
}

const ACCOUNTS = `SELECT u.id, u.email, u.verified_email AS verifiedEmail, u.name,
    u.plan_id AS plan, u.plan_by AS planBy, u.status, u.created_at AS createdAt,
    b.used_bytes AS usedBytes, b.used_files AS files, ${limitOf('maxTotalStorageBytes')} AS maxBytes
  FROM user u
  JOIN bucket b ON b.user_id = u.id
  ${withLimits('u')}`

async function accounts(db: Db, rest: string, values: Value[], tx?: Tx): Promise<AccountRow[]> {
  type Row = Omit<AccountRow, 'emailVerified'> & { verifiedEmail: string | null }
  const rows = await db.rows<Row>(`${ACCOUNTS} ${rest}`, values, tx)
  return rows.map(({ verifiedEmail, ...row }) => ({
    ...row,
    emailVerified: verifiedEmail !== null,
  }))
}

export const accountsByIds = (db: Db, ids: string[], tx?: Tx): Promise<AccountRow[]> =>
  accounts(db, `WHERE u.id IN (${placeholders(ids)}) ORDER BY u.id`, ids, tx)

/**
 * The account with this verified e-mail address.
 * @param email as `canonicalEmail` returns it
 */
export async function accountWithAddress(
  db: Db,
  email: string,
  tx?: Tx,
): Promise<AccountRow | undefined> {
  return (await accounts(db, 'WHERE u.verified_email = ?', [email], tx))[0]
}

/** The accounts with an e-mail address, verified or not, oldest first. */
export const accountsClaiming = (
  db: Db,
  email: string,
  written: string,
  tx?: Tx,
): Promise<AccountRow[]> =>
  accounts(db, 'WHERE LOWER(u.email) = ? OR u.email = ? ORDER BY u.id', [email, written], tx)

// Also matches the text as given, because LOWER of SQLite only handles ASCII.
const MATCHING =
  "(? = '' OR INSTR(LOWER(u.email), ?) > 0 OR INSTR(LOWER(u.name), ?) > 0 OR INSTR(u.name, ?) > 0)"
const valuesOf = (search: string) => [search, search.toLowerCase(), search.toLowerCase(), search]

/** Filters accounts. */
export interface AccountFilter {
  /** A text in the e-mail address or name. Empty for all. */
  search: string
  /** Only accounts whose own drive or owned workspace exceeds its limits. */
  over: boolean
}

const matching = ({ over }: AccountFilter) =>
  over ? `${MATCHING} AND ${ACCOUNT_IS_OVER}` : MATCHING

/**
 * The accounts that match a filter, oldest first.
 * @param after the id of the last account on the previous page
 */
export const accountsMatching = (
  db: Db,
  filter: AccountFilter,
  limit: number,
  after = '',
): Promise<AccountRow[]> =>
  accounts(db, `WHERE ${matching(filter)} AND u.id > ? ORDER BY u.id LIMIT ${limit}`, [
    ...valuesOf(filter.search),
    after,
  ])

export async function countAccountsMatching(db: Db, filter: AccountFilter): Promise<number> {
  const sql = `SELECT COUNT(*) AS n
    FROM user u
    JOIN bucket b ON b.user_id = u.id
    ${withLimits('u')}
    WHERE ${matching(filter)}`
  return Number((await db.rows<{ n: number }>(sql, valuesOf(filter.search)))[0]?.n)
}

/** The accounts with the highest usage in bytes. */
export const largestAccounts = (db: Db, limit: number): Promise<AccountRow[]> =>
  accounts(db, `ORDER BY b.used_bytes DESC, u.id LIMIT ${limit}`, [])

/** The workspaces with the highest usage in bytes. */
export const largestWorkspaces = (db: Db, limit: number): Promise<WorkspaceUsage[]> =>
  db.rows(
    `SELECT w.id, w.name, w.slug, w.owner_id AS ownerId, o.email AS owner,
       b.used_bytes AS usedBytes, b.kept_bytes AS keptBytes,
       b.used_files AS files, b.used_folders AS folders,
       ${limitOf('maxTotalStorageBytesWorkspace', 'workspace')} AS maxBytes
     FROM workspace w
     JOIN bucket b ON b.workspace_id = w.id
     JOIN user o ON o.id = w.owner_id
     ${withLimits('o', 'w.id')}
     ORDER BY b.used_bytes DESC, w.id
     LIMIT ${limit}`,
  )

/** The usage of all storage areas, or of the kept data of deleted accounts. */
export async function usageTotals(db: Db, of: 'all' | 'kept'): Promise<UsageTotals> {
  const where =
    of === 'all' ? '1 = 1' : 'user_id IS NULL AND workspace_id IS NULL AND kept_until IS NOT NULL'
  const row = await db.row<Record<keyof UsageTotals, number | null>>(
    `SELECT COUNT(*) AS areas, SUM(used_bytes) AS usedBytes, SUM(used_files) AS files
     FROM bucket
     WHERE ${where}`,
  )
  return { areas: Number(row?.areas), usedBytes: Number(row?.usedBytes), files: Number(row?.files) }
}

/** The rows of a statement over `owner IN (...)`, grouped by owner. */
async function listsOf<T>(
  db: Db,
  sql: (among: string) => string,
  ids: string[],
): Promise<Map<string, T[]>> {
  const rows = await db.rows<T & { owner: string }>(sql(`(${placeholders(ids)})`), ids)
  const lists = new Map<string, T[]>()
  for (const { owner, ...row } of rows) lists.set(owner, [...(lists.get(owner) ?? []), row as T])
  return lists
}

export const identitiesOfAccounts = (
  db: Db,
  ids: string[],
): Promise<Map<string, AccountIdentity[]>> =>
  listsOf(
    db,
    among =>
      `SELECT user_id AS owner, provider, provider_user_id AS providerUserId, email
       FROM identity
       WHERE user_id IN ${among}
       ORDER BY created_at, id`,
    ids,
  )

export const workspacesOfAccounts = (
  db: Db,
  ids: string[],
): Promise<Map<string, AccountWorkspace[]>> =>
  listsOf(
    db,
    among =>
      `SELECT m.user_id AS owner, w.id, w.name, w.slug, m.role
       FROM member m
       JOIN workspace w ON w.id = m.workspace_id
       WHERE m.user_id IN ${among}
       ORDER BY w.id`,
    ids,
  )

export async function countsOfAccounts(db: Db, ids: string[]): Promise<Map<string, AccountCounts>> {
  const rows = await db.rows<AccountCounts & { id: string }>(
    `SELECT u.id,
       (SELECT COUNT(*) FROM session s WHERE s.user_id = u.id AND s.expires_at > ?) AS sessions,
       (SELECT COUNT(*) FROM api_key k WHERE k.created_by = u.id) AS apiKeys,
       (SELECT COUNT(*) FROM share h WHERE h.user_id = u.id AND h.expires_at > ?) AS shares
     FROM user u
     WHERE u.id IN (${placeholders(ids)})`,
    [Date.now(), Date.now(), ...ids],
  )
  return new Map(rows.map(({ id, ...counts }) => [id, counts]))
}

export async function usagesOfAccounts(db: Db, ids: string[]): Promise<Map<string, AccountUsage>> {
  const rows = await db.rows<AccountUsage & { owner: string }>(
    `SELECT u.id AS owner, b.used_bytes AS usedBytes, b.kept_bytes AS keptBytes,
       b.used_files AS fileCount, b.used_folders AS folderCount,
       ${limitsOfDrives('account')}
     FROM user u
     JOIN bucket b ON b.user_id = u.id
     ${withLimits('u')}
     WHERE u.id IN (${placeholders(ids)})`,
    ids,
  )
  return new Map(rows.map(({ owner, ...usage }) => [owner, usage]))
}
