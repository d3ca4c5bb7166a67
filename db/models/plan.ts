import { number, type Row, table, text } from './columns.ts'

/** The limits of an account and of the workspaces it owns (docs/contract.md, section 7). Null means unlimited. */
export const Plan = table({
  tableName: 'plan',
  columns: {
    id: text(32).key(),
    name: text(64),
    maxFileSizeBytes: number,
    maxTotalStorageBytes: number,
    maxFiles: number.nullable(),
    maxUserWorkspaces: number,
    maxFilesWorkspace: number.nullable(),
    maxTotalStorageBytesWorkspace: number,
    maxUsersWorkspace: number,
    maxWorkspaceFolders: number.nullable(),
    maxPrivateApiKeys: number,
    maxWorkspaceApiKeys: number,
    /** Of the personal storage area. */
    maxFolders: number.nullable(),
    maxPublicLinks: number.nullable(),
    /** Of each workspace. */
    maxPendingInvites: number.nullable(),
    maxNotes: number.nullable(),
  },
})

export type Plan = Row<typeof Plan>
