import { OWNER } from '../../src/access/roles.ts'
import type { Db, Tx } from '../index.ts'
import type { Member } from '../models/member.ts'
import type { Limits } from '../models/plan.ts'
import { Workspace } from '../models/workspace.ts'
import { type DriveLimits, limitOf, limitsOf, limitsOfDrives, withLimits } from './limit.ts'
import { rolesThat } from './member.ts'
import { type Page, pageOf } from './page.ts'
import { placeholders, selection } from './sql.ts'

/** A workspace as one of its members sees it. */
export type WorkspaceView = Workspace & Pick<Member, 'role'>

const columns = selection(Workspace, 'w')
/** The columns of a workspace `w` as its member `m` sees it. */
const workspaceColumns = `${columns}, m.role`

/** Locks a workspace until the transaction ends. */
export async function lockWorkspace(db: Db, id: string, tx: Tx): Promise<void> {
  await db.rows(`SELECT id FROM workspace WHERE id = ?${db.forUpdate}`, [id], tx)
  await db.touch('workspace', [id], tx)
}

/**
 * Locks a workspace until the transaction ends, for a member who may manage it at that moment.
 * Every change of members locks it.
 */
export async function lockForManager(
  db: Db,
  userId: string,
  workspaceId: string,
  tx: Tx,
): Promise<boolean> {
  const mayManage = await db.exists(
    `SELECT w.id
     FROM workspace w
     JOIN member m ON m.workspace_id = w.id AND m.user_id = ?
     WHERE w.id = ?
       AND m.role IN (${rolesThat('manage')})${db.forUpdate}`,
    [userId, workspaceId],
    tx,
  )
  if (mayManage) await db.touch('workspace', [workspaceId], tx)
  return mayManage
}

/** A workspace with its number of members and their limit. */
export const workspaceWithSeats = (db: Db, id: string, tx: Tx) =>
  db.row<Omit<WorkspaceView, 'role'> & { used: number; max: number }>(
    `SELECT ${columns}, (SELECT COUNT(*) FROM member m WHERE m.workspace_id = w.id) AS used,
       ${limitOf('maxUsersWorkspace', 'workspace')} AS max
     FROM workspace w
     JOIN user o ON o.id = w.owner_id
     ${withLimits('o', 'w.id')}
     WHERE w.id = ?`,
    [id],
    tx,
  )

/** A workspace of a user with its tree and limits. */
export interface WorkspaceTreeRow extends WorkspaceView, DriveLimits {
  bucketId: string
  rootId: string
}

/** The workspaces of a user with these ids, of workspaces `w` or of their buckets `b`. */
export const workspaceTrees = (
  db: Db,
  userId: string,
  by: 'w.id' | 'b.id',
  ids: readonly string[],
): Promise<WorkspaceTreeRow[]> =>
  db.rows(
    `SELECT ${workspaceColumns}, b.id AS bucketId, b.root_id AS rootId,
       ${limitsOfDrives('workspace')}
     FROM workspace w
     JOIN member m ON m.workspace_id = w.id AND m.user_id = ?
     JOIN bucket b ON b.workspace_id = w.id
     JOIN user o ON o.id = w.owner_id
     ${withLimits('o', 'w.id')}
     WHERE ${by} IN (${placeholders(ids)})`,
    [userId, ...ids],
  )

/**
 * The workspaces of a user, oldest first.
 * @param after the id of a workspace, or empty
 * @param only the id of the only one to list
 */
export async function pageOfWorkspaces(
  db: Db,
  userId: string,
  limit: number,
  after: string,
  only: string | null,
): Promise<Page<WorkspaceView>> {
  const rows = await db.rows<WorkspaceView>(
    `SELECT ${workspaceColumns}
     FROM member m
     JOIN workspace w ON w.id = m.workspace_id
     WHERE m.user_id = ?
       AND w.id > ?${only === null ? '' : ' AND w.id = ?'}
     ORDER BY w.id
     LIMIT ${limit + 1}`,
    [userId, after, ...(only === null ? [] : [only])],
  )
  return pageOf(rows, limit)
}

/** The id of the workspace with a slug, if the user is a member. */
export async function idOfSlug(db: Db, userId: string, slug: string): Promise<string | undefined> {
  const row = await db.row<{ id: string }>(
    `SELECT w.id
     FROM workspace w
     JOIN member m ON m.workspace_id = w.id
     WHERE w.slug = ?
       AND m.user_id = ?`,
    [slug, userId],
  )
  return row?.id
}

/** The ids of a user's workspaces to which some invites belong, by invite id. */
export async function idsOfInvites(
  db: Db,
  userId: string,
  inviteIds: string[],
): Promise<Map<string, string>> {
  const rows = await db.rows<{ id: string; workspaceId: string }>(
    `SELECT i.id, i.workspace_id AS workspaceId
     FROM invite i
     JOIN member m ON m.workspace_id = i.workspace_id
     WHERE i.id IN (${placeholders(inviteIds)})
       AND m.user_id = ?`,
    [...inviteIds, userId],
  )
  return new Map(rows.map(({ id, workspaceId }) => [id, workspaceId]))
}

/** The usage and limits of a workspace. Null means unlimited. */
export type WorkspaceQuota = Record<
  'fileCount' | 'totalBytes' | 'folderCount' | 'memberCount' | 'apiKeyCount',
  number
> &
  Pick<Limits, (typeof limits)[number]>

const limits = [
  'maxFilesWorkspace',
  'maxTotalStorageBytesWorkspace',
  'maxWorkspaceFolders',
  'maxUsersWorkspace',
  'maxWorkspaceApiKeys',
] as const

/** The quotas of some workspaces, by id. */
export async function quotasOf(db: Db, ids: string[]): Promise<Map<string, WorkspaceQuota>> {
  const rows = await db.rows<WorkspaceQuota & { id: string }>(
    `SELECT w.id, b.used_files AS fileCount, b.used_bytes AS totalBytes,
       b.used_folders AS folderCount,
       (SELECT COUNT(*) FROM member m WHERE m.workspace_id = w.id) AS memberCount,
       (SELECT COUNT(*) FROM api_key k WHERE k.workspace_id = w.id) AS apiKeyCount,
       ${limitsOf(limits, 'workspace')}
     FROM bucket b
     JOIN workspace w ON w.id = b.workspace_id
     JOIN user o ON o.id = w.owner_id
     ${withLimits('o', 'w.id')}
     WHERE b.workspace_id IN (${placeholders(ids)})`,
    ids,
  )
  return new Map(rows.map(({ id, ...quota }) => [id, quota]))
}

/** The root folder of a workspace. */
export interface WorkspaceRoot {
  id: string
  createdBy: string | null
  createdAt: number
}

/** The root folders of some workspaces, by id of the workspace. */
export async function rootsOf(db: Db, ids: string[]): Promise<Map<string, WorkspaceRoot>> {
  const rows = await db.rows<WorkspaceRoot & { workspaceId: string }>(
    `SELECT b.workspace_id AS workspaceId, e.id, e.created_by AS createdBy,
       e.created_at AS createdAt
     FROM bucket b
     JOIN entry e ON e.id = b.root_id
     WHERE b.workspace_id IN (${placeholders(ids)})`,
    ids,
  )
  return new Map(rows.map(({ workspaceId, ...root }) => [workspaceId, root]))
}

/** The number of workspaces that a user owns, and the limit. */
export const ownedQuota = (db: Db, userId: string, tx: Tx) =>
  db.row<{ used: number; max: number }>(
    `SELECT (SELECT COUNT(*) FROM workspace w WHERE w.owner_id = u.id) AS used,
       ${limitOf('maxUserWorkspaces')} AS max
     FROM user u
     ${withLimits('u')}
     WHERE u.id = ?`,
    [userId],
    tx,
  )

/** @returns whether there is such a workspace */
export const renameWorkspace = async (
  db: Db,
  { id, name, slug }: { id: string; name: string; slug: string },
  tx: Tx,
): Promise<boolean> =>
  db.changed('UPDATE workspace SET name = ?, slug = ? WHERE id = ?', [name, slug, id], tx)

/** A membership of a user who is about to leave all workspaces, with the tree of the workspace. */
export interface Membership {
  id: string
  name: string
  ownerId: string
  /** How many members the workspace has. */
  members: number
  /** Another member with the role of an owner. */
  nextOwner: string | null
  bucketId: string
  rootId: string
}

/** Locks the workspaces of a user until the transaction ends. */
export async function lockMemberships(db: Db, userId: string, tx: Tx): Promise<Membership[]> {
  // Always locked in the same order, against deadlocks.
  const locked = await db.rows<{ id: string }>(
    `SELECT w.id
     FROM workspace w
     JOIN member m ON m.workspace_id = w.id
     WHERE m.user_id = ?
     ORDER BY w.id${db.forUpdate}`,
    [userId],
    tx,
  )
  const ids = locked.map(({ id }) => id)
  await db.touch('workspace', ids, tx)
  const rows = await db.rows<Membership>(
    `SELECT w.id, w.name, w.owner_id AS ownerId, b.id AS bucketId, b.root_id AS rootId,
       (SELECT COUNT(*) FROM member o WHERE o.workspace_id = w.id) AS members,
       (SELECT MIN(o.user_id)
         FROM member o
         WHERE o.workspace_id = w.id
           AND o.role = ?
           AND o.user_id <> m.user_id) AS nextOwner
     FROM member m
     JOIN workspace w ON w.id = m.workspace_id
     JOIN bucket b ON b.workspace_id = w.id
     WHERE m.user_id = ?
     ORDER BY w.id`,
    [OWNER, userId],
    tx,
  )
  return rows.map(row => ({ ...row, members: Number(row.members) }))
}
