import type { Migration } from '../migration.ts'
import type { Plan } from '../models/plan.ts'

const GiB = 1024 ** 3
const TiB = 1024 ** 4

/** See docs/contract.md, section 7. Null means unlimited. */
const plans: Omit<Plan, 'isDefault' | 'retiredAt'>[] = [
  {
    id: 'free',
    name: 'Free',
    maxFileSizeBytes: 2 * GiB,
    maxTotalStorageBytes: 5 * GiB,
    maxFiles: 10_000,
    maxUserWorkspaces: 3,
    maxFilesWorkspace: 10_000,
    maxTotalStorageBytesWorkspace: 5 * GiB,
    maxUsersWorkspace: 10,
    maxWorkspaceFolders: 1_000,
    maxPrivateApiKeys: 5,
    maxWorkspaceApiKeys: 5,
    maxFolders: 10_000,
    maxPublicLinks: 1_000,
    maxPendingInvites: 100,
    maxNotes: 10_000,
  },
  {
    id: 'developer',
    name: 'Developer',
    maxFileSizeBytes: 10 * GiB,
    maxTotalStorageBytes: 50 * GiB,
    maxFiles: 500_000,
    maxUserWorkspaces: 20,
    maxFilesWorkspace: 500_000,
    maxTotalStorageBytesWorkspace: 100 * GiB,
    maxUsersWorkspace: 50,
    maxWorkspaceFolders: 20_000,
    maxPrivateApiKeys: 50,
    maxWorkspaceApiKeys: 50,
    maxFolders: 100_000,
    maxPublicLinks: 10_000,
    maxPendingInvites: 500,
    maxNotes: 100_000,
  },
  {
    id: 'enterprise',
    name: 'Enterprise',
    maxFileSizeBytes: 100 * GiB,
    maxTotalStorageBytes: TiB,
    maxFiles: null,
    maxUserWorkspaces: 200,
    maxFilesWorkspace: null,
    maxTotalStorageBytesWorkspace: TiB,
    maxUsersWorkspace: 1_000,
    maxWorkspaceFolders: null,
    maxPrivateApiKeys: 500,
    maxWorkspaceApiKeys: 500,
    maxFolders: null,
    maxPublicLinks: null,
    maxPendingInvites: 5_000,
    maxNotes: null,
  },
]

/**
 * The tables as the models define them, and the plans. MySQL commits each step: killed halfway, it
 * begins again and skips what exists.
 */
export const initial: Migration = {
  name: '0001-initial',

  async up({ db, transaction }) {
    // Its types lack the transaction, which it hands on to every statement.
    const options: object = { transaction }
    await db.sequelize.sync(options)
    const rows = plans.map(plan => ({ ...plan, isDefault: plan.id === 'free', retiredAt: null }))
    await db.Plan.bulkCreate(rows, { transaction, ignoreDuplicates: true })
  },
}
