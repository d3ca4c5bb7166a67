import slugify from '@sindresorhus/slugify'
import { validate as isUuid, v7 as newId } from 'uuid'
import { type Db, isDuplicate, type Tx } from '../../db/index.ts'
import type { Caller } from '../auth/caller.ts'
import { type Action, may, type Role } from '../auth/roles.ts'
import { AppError, Forbidden, InvalidInput } from '../errors.ts'
import { newSecret } from '../tokens.ts'
import { makeBucket } from './entry.ts'
import { placeholders, type Tree } from './entry-path.ts'
import { enqueue } from './outbox.ts'
import { MAX_PAGE } from './page.ts'
import type { BucketLimits } from './quota.ts'
import type { Page } from './range.ts'

/** A workspace as one of its members sees it. */
export interface WorkspaceView {
  id: string
  name: string
  slug: string
  ownerId: string
  createdAt: number
  /** The role of the caller. */
  role: Role
}

/** A workspace that the caller may act in, with its tree and limits. The only way to obtain its tree. */
export interface Room extends WorkspaceView {
  tree: Tree
  limits: BucketLimits
}

export interface WorkspaceQuota {
  fileCount: number
  totalBytes: number
  folderCount: number
  memberCount: number
  apiKeyCount: number
  maxFilesWorkspace: number | null
  maxTotalStorageBytesWorkspace: number
  maxWorkspaceFolders: number | null
  maxUsersWorkspace: number
  maxWorkspaceApiKeys: number
}

/** The folder that all files of a workspace are in. */
export interface WorkspaceRoot {
  id: string
  createdBy: string | null
  createdAt: number
}

interface RoomRow extends WorkspaceView {
  bucketId: string
  rootId: string
  maxFileSizeBytes: number
  maxTotalStorageBytes: number
  maxFiles: number | null
  maxFolders: number | null
}

/** The same answer to a caller who is not a member, whether the workspace exists or not. */
const notYours = () => new Forbidden('You are not a member of this workspace, or it does not exist.')
const columns = 'w.id, w.name, w.slug, w.owner_id AS ownerId, w.created_at AS createdAt, m.role'
const MAX_SLUG = 48

export function workspaceService({ db, wake }: { db: Db; wake: () => void }) {
  /** One statement: the workspace, the caller's role in it, its tree and its limits. */
  async function find(caller: Caller, id: string): Promise<Room | undefined> {
    if (caller.workspaceId !== null && caller.workspaceId !== id)
      throw new AppError('KEY_OUT_OF_BOUNDS', 'This API key belongs to another workspace. Use a key of this one.')
    if (!isUuid(id)) return undefined
    const [row] = await db.rows<RoomRow>(
      `SELECT ${columns}, b.id AS bucketId, b.root_id AS rootId, p.max_file_size_bytes AS maxFileSizeBytes,
         p.max_total_storage_bytes_workspace AS maxTotalStorageBytes, p.max_files_workspace AS maxFiles, p.max_workspace_folders AS maxFolders
       FROM workspace w JOIN member m ON m.workspace_id = w.id AND m.user_id = ? JOIN bucket b ON b.workspace_id = w.id
         JOIN user o ON o.id = w.owner_id JOIN plan p ON p.id = o.plan_id WHERE w.id = ?`,
      [caller.userId, id],
    )
    if (!row) return undefined
    const { bucketId, rootId, maxFileSizeBytes, maxTotalStorageBytes, maxFiles, maxFolders, ...workspace } = row
    return {
      ...workspace,
      tree: { bucketId, rootId, maxFolders, front: '/' },
      limits: { maxFileSizeBytes, maxTotalStorageBytes, maxFiles },
    }
  }

  /** Authorizes an action of the caller in a workspace. @throws FORBIDDEN, KEY_OUT_OF_BOUNDS */
  async function enter(caller: Caller, id: string, action: Action): Promise<Room> {
    const room = await find(caller, id)
    if (!room) throw notYours()
    if (!may(room.role, action))
      throw new Forbidden(`Your role in this workspace is ${room.role}, which may not do this. Ask one of its owners.`)
    return room
  }

  /** The usage and limits of some workspaces, by id. */
  async function quotasOf(ids: string[]): Promise<Map<string, WorkspaceQuota>> {
    const rows = await db.rows<WorkspaceQuota & { id: string }>(
      `SELECT w.id, b.used_files AS fileCount, b.used_bytes AS totalBytes, b.used_folders AS folderCount,
         (SELECT COUNT(*) FROM member m WHERE m.workspace_id = w.id) AS memberCount,
         (SELECT COUNT(*) FROM api_key k WHERE k.workspace_id = w.id) AS apiKeyCount,
         p.max_files_workspace AS maxFilesWorkspace, p.max_total_storage_bytes_workspace AS maxTotalStorageBytesWorkspace,
         p.max_workspace_folders AS maxWorkspaceFolders, p.max_users_workspace AS maxUsersWorkspace, p.max_workspace_api_keys AS maxWorkspaceApiKeys
       FROM bucket b JOIN workspace w ON w.id = b.workspace_id JOIN user o ON o.id = w.owner_id JOIN plan p ON p.id = o.plan_id
       WHERE b.workspace_id IN (${placeholders(ids)})`,
      ids,
    )
    return new Map(rows.map(({ id, ...quota }) => [id, quota]))
  }

  /** The workspaces of the caller, oldest first; for a key, its own. */
  async function page(caller: Caller, limit: number, after: string | null): Promise<Page<WorkspaceView>> {
    const own = caller.workspaceId === null ? [] : [caller.workspaceId]
    const rows = await db.rows<WorkspaceView>(
      `SELECT ${columns} FROM member m JOIN workspace w ON w.id = m.workspace_id
       WHERE m.user_id = ? AND w.id > ?${own.length > 0 ? ' AND w.id = ?' : ''} ORDER BY w.id LIMIT ${limit + 1}`,
      [caller.userId, after ?? '', ...own],
    )
    return { rows: rows.slice(0, limit), more: rows.length > limit }
  }

  return {
    enter,
    quotasOf,
    page,

    /** A workspace with its tree and limits; undefined if it does not exist or the caller may not see it. */
    async byId(caller: Caller, id: string): Promise<Room | undefined> {
      const room = caller.workspaceId === null || caller.workspaceId === id ? await find(caller, id) : undefined
      return room && may(room.role, 'see') ? room : undefined
    },

    /** All workspaces of the caller, oldest first; for a key, its own. */
    async list(caller: Caller): Promise<WorkspaceView[]> {
      return (await page(caller, MAX_PAGE, null)).rows
    },

    /** The root folders of some workspaces, by id of the workspace. Does not authorize: pass only workspaces that the caller may see. */
    async rootsOf(ids: string[]): Promise<Map<string, WorkspaceRoot>> {
      const rows = await db.rows<WorkspaceRoot & { workspaceId: string }>(
        `SELECT b.workspace_id AS workspaceId, e.id, e.created_by AS createdBy, e.created_at AS createdAt
         FROM bucket b JOIN entry e ON e.id = b.root_id WHERE b.workspace_id IN (${placeholders(ids)})`,
        ids,
      )
      return new Map(rows.map(({ workspaceId, ...root }) => [workspaceId, root]))
    },

    /** @throws SLUG_TAKEN, QUOTA_EXCEEDED, INVALID_INPUT */
    async create(caller: Caller, input: { name: string; slug?: string | null | undefined }): Promise<WorkspaceView> {
      const name = parseName(input.name)
      const slug = input.slug ? parseSlug(input.slug) : null
      const id = newId()
      const now = Date.now()
      const made = await withFreeSlug(slug, name, taken =>
        db.transaction(async tx => {
          await requireWorkspaceQuota(caller, tx)
          await db.run(
            'INSERT INTO workspace (id, name, slug, owner_id, created_at) VALUES (?, ?, ?, ?, ?)',
            [id, name, taken, caller.userId, now],
            tx,
          )
          await db.run(
            "INSERT INTO member (workspace_id, user_id, role, joined_at) VALUES (?, ?, 'owner', ?)",
            [id, caller.userId, now],
            tx,
          )
          await makeBucket(db, { workspaceId: id }, caller.userId, now, tx)
          return taken
        }),
      )
      return { id, name, slug: made, ownerId: caller.userId, createdAt: now, role: 'owner' }
    },

    /** @throws SLUG_TAKEN, FORBIDDEN, INVALID_INPUT */
    async rename(
      caller: Caller,
      id: string,
      input: { name: string; slug?: string | null | undefined },
    ): Promise<WorkspaceView> {
      const { tree: _tree, limits: _limits, ...workspace } = await enter(caller, id, 'own')
      const name = parseName(input.name)
      const slug = input.slug ? parseSlug(input.slug) : workspace.slug
      try {
        await db.run('UPDATE workspace SET name = ?, slug = ? WHERE id = ?', [name, slug, id])
      } catch (error) {
        throw isDuplicate(error) ? slugTaken(slug) : error
      }
      return { ...workspace, name, slug }
    },

    /** Deletes a workspace with its content; the files disappear immediately and are purged afterwards. @throws WORKSPACE_NOT_FOUND, FORBIDDEN */
    async remove(caller: Caller, id: string): Promise<void> {
      const room = await find(caller, id)
      if (!room && !(await exists(id))) throw new AppError('WORKSPACE_NOT_FOUND', 'There is no such workspace.')
      if (!room || !may(room.role, 'own')) throw new Forbidden('Only an owner can delete a workspace.')
      await db.transaction(tx => closeWorkspace(db, id, room.tree, tx))
      wake()
    },

    async quota(caller: Caller, id: string): Promise<WorkspaceQuota> {
      await enter(caller, id, 'see')
      const quota = (await quotasOf([id])).get(id)
      if (!quota) throw notYours()
      return quota
    },
  }

  async function exists(id: string): Promise<boolean> {
    return isUuid(id) && (await db.rows('SELECT id FROM workspace WHERE id = ?', [id])).length > 0
  }

  /** Counts under a lock of the account, so that parallel requests cannot exceed the limit. @throws QUOTA_EXCEEDED */
  async function requireWorkspaceQuota(caller: Caller, tx: Tx): Promise<void> {
    await db.rows(`SELECT id FROM user WHERE id = ?${db.forUpdate}`, [caller.userId], tx)
    const [row] = await db.rows<{ used: number; max: number }>(
      `SELECT (SELECT COUNT(*) FROM workspace w WHERE w.owner_id = u.id) AS used, p.max_user_workspaces AS max
       FROM user u JOIN plan p ON p.id = u.plan_id WHERE u.id = ?`,
      [caller.userId],
      tx,
    )
    if (row && Number(row.used) >= row.max)
      throw new AppError(
        'QUOTA_EXCEEDED',
        `Your plan allows ${row.max} workspaces. Delete one, or ask for a larger plan.`,
        {
          limit: 'max_user_workspaces',
          max: row.max,
          used: Number(row.used),
        },
      )
  }
}

export type WorkspaceService = ReturnType<typeof workspaceService>

/** Deletes a workspace: its members, invites and keys by cascade, its tree by a purge job. @throws WORKSPACE_NOT_FOUND */
export async function closeWorkspace(db: Db, id: string, tree: Tree, tx: Tx): Promise<void> {
  await db.rows(`SELECT id FROM bucket WHERE id = ?${db.forUpdate}`, [tree.bucketId], tx)
  const closed = await db.run(
    'UPDATE bucket SET workspace_id = NULL WHERE id = ? AND workspace_id = ?',
    [tree.bucketId, id],
    tx,
  )
  if (closed === 0) throw new AppError('WORKSPACE_NOT_FOUND', 'There is no such workspace.')
  await db.run('DELETE FROM workspace WHERE id = ?', [id], tx)
  await enqueue(db, 'purge-bucket', { bucketId: tree.bucketId, rootId: tree.rootId }, tx)
}

/** Calls make with the given slug, or with slugs derived from the name until one is free. @throws SLUG_TAKEN */
async function withFreeSlug<T>(given: string | null, name: string, make: (slug: string) => Promise<T>): Promise<T> {
  const base = given ?? (slugify(name).slice(0, MAX_SLUG).replace(/-+$/, '') || 'workspace')
  for (let attempt = 0; ; attempt++) {
    const slug =
      attempt === 0
        ? base
        : `${base.slice(0, MAX_SLUG - 7)}-${newSecret(4)
            .toLowerCase()
            .replace(/[^a-z0-9]/g, 'x')
            .slice(0, 6)}`
    try {
      return await make(slug)
    } catch (error) {
      if (!isDuplicate(error)) throw error
      if (given !== null || attempt >= 5) throw slugTaken(slug)
    }
  }
}

const slugTaken = (slug: string) =>
  new AppError(
    'SLUG_TAKEN',
    `The slug "${slug}" belongs to another workspace, and slugs are unique. Choose another one.`,
    { slug },
  )

function parseName(text: string): string {
  const name = text.trim()
  if (name === '' || [...name].length > 64 || /[\p{Cc}\p{Cs}]/u.test(name))
    throw new InvalidInput('name', 'A name has 1 to 64 characters, on one line.')
  return name
}

function parseSlug(text: string): string {
  if (!/^[a-z0-9-]{1,48}$/.test(text)) throw new InvalidInput('slug', 'A slug has 1 to 48 of a-z, 0-9 and -.')
  return text
}
