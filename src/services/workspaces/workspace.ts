import { randomBytes } from 'node:crypto'
import slugify from '@sindresorhus/slugify'
import { validate as isUuid, v7 as newId } from 'uuid'
import { type Db, isDuplicate, type Tx } from '../../../db/index.ts'
import { lockBucket } from '../../../db/queries/bucket.ts'
import type { Page } from '../../../db/queries/page.ts'
import { lockUser } from '../../../db/queries/user.ts'
import {
  idOfSlug,
  idsOfInvites,
  ownedQuota,
  pageOfWorkspaces,
  quotasOf,
  renameWorkspace,
  rootsOf,
  type WorkspaceQuota,
  type WorkspaceRoot,
  type WorkspaceView,
} from '../../../db/queries/workspace.ts'
import type { Caller } from '../../access/caller.ts'
import { OWNER } from '../../access/roles.ts'
import { AppError, InvalidInput } from '../../runtime/errors.ts'
import { MAX_PAGE, MAX_SLUG, MAX_WORKSPACE_NAME } from '../../values/limits.ts'
import type { BucketLimits, Tree } from '../../values/tree.ts'
import type { Core } from '../core.ts'
import { enqueue } from '../job.ts'
import { parseTitle } from '../title.ts'
import { makeBucket } from '../tree/entry.ts'
import { purgeBucketJob } from '../tree/purge.ts'

/** A workspace of the caller with its tree and limits. */
export interface WorkspaceTree extends WorkspaceView {
  tree: Tree
  limits: BucketLimits
}

export type { WorkspaceQuota, WorkspaceRoot, WorkspaceView }

export function workspaceService({ db, change, wake }: Core<'db' | 'change' | 'wake'>) {
  /** The workspaces of the caller, oldest first. A key has only its own workspace. */
  const page = (
    caller: Caller,
    limit: number,
    after: string | null,
  ): Promise<Page<WorkspaceView>> =>
    pageOfWorkspaces(db, caller.userId, limit, after ?? '', caller.workspaceId)

  return {
    /** The usage and limits of the given workspaces, by id. */
    quotasOf: (ids: string[]): Promise<Map<string, WorkspaceQuota>> => quotasOf(db, ids),
    page,

    /** Whether a workspace with this id exists, whoever owns it. */
    async exists(id: string): Promise<boolean> {
      return (
        isUuid(id) && (await db.Workspace.findByPk(id, { attributes: ['id'], raw: true })) !== null
      )
    },

    /** All workspaces of the caller, oldest first. A key has only its own workspace. */
    async list(caller: Caller): Promise<WorkspaceView[]> {
      return (await page(caller, MAX_PAGE, null)).rows
    },

    /** The id of the caller's workspace with this slug. */
    idOfSlug: (caller: Caller, slug: string): Promise<string | undefined> =>
      idOfSlug(db, caller.userId, slug),

    /**
     * The workspace ids of the given invites, by invite id, limited to workspaces of the caller.
     */
    async idsOfInvites(caller: Caller, inviteIds: string[]): Promise<Map<string, string>> {
      const ids = inviteIds.filter(id => isUuid(id))
      return ids.length > 0 ? idsOfInvites(db, caller.userId, ids) : new Map()
    },

    /**
     * The root folders of the given workspaces, by workspace id. Does not authorize: pass only
     * workspaces that the caller may see.
     */
    rootsOf: (ids: string[]): Promise<Map<string, WorkspaceRoot>> => rootsOf(db, ids),

    /** @throws SLUG_TAKEN, QUOTA_EXCEEDED, INVALID_INPUT */
    async create(
      caller: Caller,
      input: { name: string; slug?: string | null | undefined },
    ): Promise<WorkspaceView> {
      const name = parseTitle(input.name, MAX_WORKSPACE_NAME)
      const slug = input.slug ? parseSlug(input.slug) : null
      const id = newId()
      const now = Date.now()
      const made = await withFreeSlug(slug, name, taken =>
        change(caller, async ({ tx, record }) => {
          await requireWorkspaceQuota(caller, tx)
          const owner = { workspaceId: id, userId: caller.userId, role: OWNER, joinedAt: now }
          await db.Workspace.create(
            { id, name, slug: taken, ownerId: caller.userId, createdAt: now },
            { transaction: tx },
          )
          await db.Member.create(owner, { transaction: tx })
          await makeBucket(db, { workspaceId: id }, caller.userId, now, tx)
          record({ workspace: id }, { kind: 'workspace.created', subject: id, details: { name } })
          record(caller.userId, {
            kind: 'workspace.joined',
            subject: id,
            details: { name, role: OWNER },
          })
          return taken
        }),
      )
      return { id, name, slug: made, ownerId: caller.userId, createdAt: now, role: OWNER }
    },

    /** @throws SLUG_TAKEN, INVALID_INPUT */
    async rename(
      workspace: WorkspaceView,
      input: { name: string; slug?: string | null | undefined },
      caller: Caller,
    ): Promise<WorkspaceView> {
      const name = parseTitle(input.name, MAX_WORKSPACE_NAME)
      const slug = input.slug ? parseSlug(input.slug) : workspace.slug
      const { id } = workspace
      try {
        await change(caller, async ({ tx, record }) => {
          if (await renameWorkspace(db, { id, name, slug }, tx))
            record({ workspace: id }, { kind: 'workspace.renamed', subject: id, details: { name } })
        })
      } catch (error) {
        throw isDuplicate(error) ? slugTaken(slug) : error
      }
      return { ...workspace, name, slug }
    },

    /**
     * Deletes a workspace with its content. The files disappear immediately and are purged
     * afterwards.
     * @throws WORKSPACE_NOT_FOUND
     */
    async remove({ id, name, tree }: WorkspaceTree, caller: Caller): Promise<void> {
      await change(caller, async ({ tx, record }) => {
        await closeWorkspace(db, id, tree, tx)
        record(caller.userId, { kind: 'workspace.left', subject: id, details: { name } })
      })
      wake()
    },
  }

  /**
   * Counts while the account is locked, so that concurrent requests cannot exceed the limit.
   * @throws QUOTA_EXCEEDED
   */
  async function requireWorkspaceQuota(caller: Caller, tx: Tx): Promise<void> {
    await lockUser(db, caller.userId, tx)
    const row = await ownedQuota(db, caller.userId, tx)
    if (row && Number(row.used) >= row.max)
      throw new AppError(
        'QUOTA_EXCEEDED',
        `Your plan allows ${row.max} workspaces. Delete one, or ask for a larger plan.`,
        { limit: 'max_user_workspaces', max: row.max, used: Number(row.used) },
      )
  }
}

export type WorkspaceService = ReturnType<typeof workspaceService>

/**
 * Deletes a workspace and its shares. Members, invites and keys are deleted by cascade. A purge job
 * deletes the tree.
 * @throws WORKSPACE_NOT_FOUND
 */
export async function closeWorkspace(db: Db, id: string, tree: Tree, tx: Tx): Promise<void> {
  await lockBucket(db, tree.bucketId, tx)
  await db.Share.destroy({ where: { bucketId: tree.bucketId }, transaction: tx })
  const where = { id: tree.bucketId, workspaceId: id }
  const [closed] = await db.Bucket.update({ workspaceId: null }, { where, transaction: tx })
  if (closed === 0) throw workspaceNotFound()
  await db.Workspace.destroy({ where: { id }, transaction: tx })
  await enqueue(db, purgeBucketJob, { bucketId: tree.bucketId, rootId: tree.rootId }, tx)
}

/**
 * Calls `make` with the given slug, or with slugs derived from the name until one is free.
 * @throws SLUG_TAKEN
 */
async function withFreeSlug<T>(
  given: string | null,
  name: string,
  make: (slug: string) => Promise<T>,
): Promise<T> {
  const base = given ?? (slugify(name).slice(0, MAX_SLUG).replace(/-+$/, '') || 'workspace')
  for (let attempt = 0; ; attempt++) {
    const slug =
      attempt === 0 ? base : `${base.slice(0, MAX_SLUG - 7)}-${randomBytes(3).toString('hex')}`
    try {
      return await make(slug)
    } catch (error) {
      if (!isDuplicate(error)) throw error
      if (given !== null || attempt >= 5) throw slugTaken(slug)
    }
  }
}

export const slugTaken = (slug: string) =>
  new AppError(
    'SLUG_TAKEN',
    `The slug "${slug}" belongs to another workspace, and slugs are unique. Choose another one.`,
    { slug },
  )

function parseSlug(text: string): string {
  if (!/^[a-z0-9-]+$/.test(text) || text.length > MAX_SLUG)
    throw new InvalidInput('slug', `A slug has 1 to ${MAX_SLUG} of a-z, 0-9 and -.`)
  return text
}

export const workspaceNotFound = () =>
  new AppError('WORKSPACE_NOT_FOUND', 'There is no such workspace.')
