import type { Db } from '../../db/index.ts'
import type { Caller } from '../auth/caller.ts'
import { Unauthenticated } from '../errors.ts'
import type { Tree } from './entry-path.ts'

/** An account with its first identity. */
export interface UserView {
  id: string
  email: string
  name: string
  givenName: string
  familyName: string
  picture: string
  locale: string
  provider: string
  providerUserId: string
  createdAt: number
  plan: PlanView
}

export interface IdentityView {
  id: string
  userId: string
  provider: string
  providerUserId: string
  email: string
  emailVerified: boolean
  name: string
  avatarUrl: string
  createdAt: number
}

/** The limits of a plan; null means unlimited. */
export interface PlanView {
  id: string
  name: string
  maxFileSizeBytes: number
  maxTotalStorageBytes: number
  maxFiles: number | null
  maxUserWorkspaces: number
  maxFilesWorkspace: number | null
  maxTotalStorageBytesWorkspace: number
  maxUsersWorkspace: number
  maxWorkspaceFolders: number | null
  maxPrivateApiKeys: number
  maxWorkspaceApiKeys: number
  maxFolders: number | null
  maxPublicLinks: number | null
  maxPendingInvites: number | null
  maxNotes: number | null
}

/** The usage of a storage area, in bytes. */
export interface Usage {
  id: string
  createdAt: number
  usedBytes: number
  fileCount: number
  folderCount: number
}

export function userService({ db }: { db: Db }) {
  return {
    async read(caller: Caller): Promise<UserView> {
      const [user, identity] = await Promise.all([
        db.User.findByPk(caller.userId, { raw: true }),
        db.Identity.findOne({ where: { userId: caller.userId }, order: ['createdAt', 'id'], raw: true }),
      ])
      const plan = user && (await db.Plan.findByPk(user.planId, { raw: true }))
      if (!user || !plan) throw new Unauthenticated()
      return { ...user, plan, provider: identity?.provider ?? '', providerUserId: identity?.providerUserId ?? '' }
    },

    /** The identities of the caller, oldest first. */
    async identities(caller: Caller): Promise<IdentityView[]> {
      const rows = await db.Identity.findAll({
        where: { userId: caller.userId },
        order: ['createdAt', 'id'],
        raw: true,
      })
      return rows.map(row => ({ ...row, emailVerified: Boolean(row.emailVerified) }))
    },

    /** The usage of a storage area. Does not authorize: pass only one that the caller may see. @throws UNAUTHENTICATED when it was deleted with its account */
    async usage({ bucketId }: Tree): Promise<Usage> {
      const [row] = await db.rows<Usage>(
        'SELECT id, created_at AS createdAt, used_bytes AS usedBytes, used_files AS fileCount, used_folders AS folderCount FROM bucket WHERE id = ?',
        [bucketId],
      )
      if (!row) throw new Unauthenticated()
      return row
    },
  }
}

export type UserService = ReturnType<typeof userService>
