import type { Db, Tx } from '../index.ts'
import type { OwnLimit } from '../models/own-limit.ts'
import { type LimitName, type Limits, limitNames, Plan } from '../models/plan.ts'
import type { Workspace } from '../models/workspace.ts'
import {
  isOver,
  type LimitsOf,
  limitOf,
  limitsOf,
  usageLimitNames,
  usedBytes,
  usedFiles,
  willBeOver,
  withLimits,
} from './limit.ts'
import { columnOf, placeholders, selection } from './sql.ts'

/**
 * A plan about to be assigned. Until the transaction ends, it cannot be changed, retired or
 * deleted. Several transactions can hold this lock at once.
 */
export const lockGivenPlan = (db: Db, id: string, tx: Tx): Promise<Plan | undefined> =>
  db.row(`SELECT ${selection(Plan)} FROM plan WHERE id = ?${db.forShare}`, [id], tx)

/** Locks a plan until the transaction ends, to change, retire or delete it. */
export const lockPlan = (db: Db, id: string, tx: Tx): Promise<Plan | undefined> =>
  db.row(`SELECT ${selection(Plan)} FROM plan WHERE id = ?${db.forUpdate}`, [id], tx)

/** The plan of new accounts. It cannot be retired or deleted until the transaction ends. */
export const lockDefaultPlan = (db: Db, tx: Tx): Promise<Pick<Plan, 'id'> | undefined> =>
  db.row(`SELECT id FROM plan WHERE is_default = 1${db.forShare}`, [], tx)

/** Makes one plan the default. It must be locked. */
export const setDefaultPlan = (db: Db, id: string, tx: Tx) =>
  db.run('UPDATE plan SET is_default = CASE WHEN id = ? THEN 1 ELSE 0 END', [id], tx)

/** The number of accounts of each plan that has any. */
export async function accountsPerPlan(db: Db, tx?: Tx): Promise<Map<string, number>> {
  const rows = await db.rows<{ plan: string; n: number }>(
    'SELECT plan_id AS plan, COUNT(*) AS n FROM user GROUP BY plan_id',
    [],
    tx,
  )
  return new Map(rows.map(({ plan, n }) => [plan, Number(n)]))
}

/** The drives affected by a change of limits: those of an account, or of one workspace. */
export type Concerned = { userId: string } | { workspaceId: string }

/** A drive whose usage exceeds its limits. */
export interface OverDrive {
  bucketId: string
  /** The owner's verified e-mail address, or null. */
  email: string | null
  /** Null for a personal drive. */
  workspace: Workspace['name'] | null
  /** Includes the reservations of active uploads. */
  usedBytes: number
  usedFiles: number
  usedFolders: number
  maxBytes: number
  maxFiles: number | null
  maxFolders: number | null
}

const USED = `b.id AS bucketId, u.verified_email AS email, ${usedBytes('b')} AS usedBytes, ${usedFiles('b')} AS usedFiles, b.used_folders AS usedFolders`

/**
 * Selects personal drives and workspace drives that exceed their limits.
 * @param plan the alias of the plan
 * @param joined more tables
 */
function selectionsOfOver(plan = 'p', joined = ''): { personal: string; ofWorkspaces: string } {
  return {
    personal: `SELECT ${USED}, NULL AS workspace,
        ${limitOf('maxTotalStorageBytes', 'account', plan)} AS maxBytes,
        ${limitOf('maxFiles', 'account', plan)} AS maxFiles,
        ${limitOf('maxFolders', 'account', plan)} AS maxFolders
      FROM user u
      JOIN bucket b ON b.user_id = u.id
      ${withLimits('u')} ${joined}
      WHERE ${willBeOver('b', 'account', plan)}`,
    ofWorkspaces: `SELECT ${USED}, w.name AS workspace,
        ${limitOf('maxTotalStorageBytesWorkspace', 'workspace', plan)} AS maxBytes,
        ${limitOf('maxFilesWorkspace', 'workspace', plan)} AS maxFiles,
        ${limitOf('maxWorkspaceFolders', 'workspace', plan)} AS maxFolders
      FROM user u
      JOIN workspace w ON w.owner_id = u.id
      JOIN bucket b ON b.workspace_id = w.id
      ${withLimits('u', 'w.id')} ${joined}
      WHERE ${willBeOver('b', 'workspace', plan)}`,
  }
}

/** The drives among these that exceed their limits. */
export function overDrives(db: Db, concerned: Concerned, tx: Tx): Promise<OverDrive[]> {
  const { personal, ofWorkspaces } = selectionsOfOver()
  if ('workspaceId' in concerned)
    return db.rows(`${ofWorkspaces} AND w.id = ?`, [concerned.workspaceId], tx)
  const { userId } = concerned
  return db.rows(
    `${personal} AND u.id = ? UNION ALL ${ofWorkspaces} AND u.id = ?`,
    [userId, userId],
    tx,
  )
}

/** The limits of a plan before and after a change. */
export interface PlanChange {
  id: string
  before: Limits
  after: Limits
}

/** Whether a change of a plan reduces a limit that is compared with the usage of drives. */
export const isShrunk = ({ before, after }: PlanChange): boolean =>
  usageLimitNames.some(name => (after[name] ?? Infinity) < (before[name] ?? Infinity))

/**
 * The drives in a range of accounts that exceed a changed plan and did not exceed it before.
 * @param from accounts after this id
 * @param to up to this id
 */
export function newlyOverDrives(
  db: Db,
  { id, before, after }: PlanChange,
  { from, to }: { from: string; to: string },
): Promise<OverDrive[]> {
  const columns = usageLimitNames.map(name => `? AS ${columnOf(name)}`).join(', ')
  const joined = `CROSS JOIN (SELECT ${columns}) former CROSS JOIN (SELECT ${columns}) present`
  const { personal, ofWorkspaces } = selectionsOfOver('present', joined)
  // If a limit was unlimited, the comparison returns NULL.
  const newly = (of: LimitsOf) =>
    `AND u.plan_id = ?
     AND u.id > ?
     AND u.id <= ?
     AND COALESCE(${willBeOver('b', of, 'former')}, 0) = 0`
  const values = [
    ...usageLimitNames.map(name => before[name]),
    ...usageLimitNames.map(name => after[name]),
  ]
  const each = [...values, id, from, to]
  return db.rows(
    `${personal} ${newly('account')} UNION ALL ${ofWorkspaces} ${newly('workspace')}`,
    [...each, ...each],
  )
}

/** The last of this many accounts after an id, sorted by id, or undefined. */
export async function lastOfAccounts(
  db: Db,
  from: string,
  count: number,
  tx?: Tx | null,
): Promise<string | undefined> {
  const row = await db.row<{ last: string | null }>(
    `SELECT MAX(id) AS last
     FROM (SELECT id FROM user WHERE id > ? ORDER BY id LIMIT ${count}) some`,
    [from],
    tx,
  )
  return row?.last ?? undefined
}

/**
 * A condition on an account `u` with its drive `b`, joined with its limits: its drive or a
 * workspace that it owns exceeds its limits.
 */
export const ACCOUNT_IS_OVER = `(${isOver('b', 'account')}
    OR EXISTS (SELECT 1
      FROM workspace w
      JOIN bucket wb ON wb.workspace_id = w.id
      LEFT JOIN own_limit wl ON wl.workspace_id = w.id
      WHERE w.owner_id = u.id
        AND ${isOver('wb', 'workspace')}))`

/** The holders of own limits: accounts or workspaces. */
export type Holder = 'user' | 'workspace'

/**
 * The current limits, the plan's limits, and which of them are own limits of the workspace or
 * account.
 */
export type LimitsRow = { id: string } & Limits &
  Record<`plan_${LimitName}`, number | null> &
  Record<`own_${LimitName}`, number | null> &
  Record<`workspace_${LimitName}`, number | null>

/** The limits of some accounts or workspaces, limit by limit. */
export function limitsOfHolders(
  db: Db,
  holder: Holder,
  ids: readonly string[],
  tx?: Tx,
): Promise<LimitsRow[]> {
  const of = holder === 'user' ? 'account' : 'workspace'
  const each = (alias: string, prefix: string) =>
    limitNames.map(name => `${alias}.${columnOf(name)} AS ${prefix}_${name}`).join(', ')
  const columns = [
    ...[limitsOf(limitNames, of), each('p', 'plan'), each('ol', 'own')],
    holder === 'user'
      ? limitNames.map(name => `NULL AS workspace_${name}`).join(', ')
      : each('wl', 'workspace'),
  ].join(', ')
  const from =
    holder === 'user'
      ? `u.id, ${columns} FROM user u ${withLimits('u')} WHERE u.id`
      : `w.id, ${columns}
        FROM workspace w
        JOIN user u ON u.id = w.owner_id
        ${withLimits('u', 'w.id')}
        WHERE w.id`
  return db.rows(`SELECT ${from} IN (${placeholders(ids)})`, [...ids], tx)
}

/**
 * Locks an account or a workspace until the transaction ends.
 * @returns whether it exists
 */
export async function lockHolder(db: Db, holder: Holder, id: string, tx: Tx): Promise<boolean> {
  const isThere = await db.exists(`SELECT id FROM ${holder} WHERE id = ?${db.forUpdate}`, [id], tx)
  if (isThere) await db.touch(holder, [id], tx)
  return isThere
}

/** Sets own limits of a locked account or workspace. Null leaves a limit to the plan. */
export async function setOwnLimits(
  db: Db,
  { holder, id }: { holder: Holder; id: string },
  limits: Partial<Record<LimitName, number | null>>,
  row: Pick<OwnLimit, 'id' | 'changedAt'>,
  tx: Tx,
): Promise<void> {
  const owner = holder === 'user' ? { userId: id } : { workspaceId: id }
  const [found] = await db.OwnLimit.update(
    { ...limits, changedAt: row.changedAt },
    { where: owner, transaction: tx },
  )
  if (found > 0) return
  const none = Object.fromEntries(limitNames.map(name => [name, null])) as Record<LimitName, null>
  await db.OwnLimit.create(
    { userId: null, workspaceId: null, ...none, ...owner, ...limits, ...row },
    { transaction: tx },
  )
}
