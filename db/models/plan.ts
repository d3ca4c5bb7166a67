import { flag, moment, number, type Row, table, text } from './columns.ts'

/**
 * The limits of an account and of the workspaces it owns (docs/contract.md, section 7). Null means
 * unlimited.
 */
export const limitColumns = {
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
}

export const Plan = table({
  tableName: 'plan',
  columns: {
    id: text(32).key(),
    name: text(64),
    ...limitColumns,
    /** Whether new accounts get it. One plan is the default. */
    isDefault: flag.default(false),
    /**
     * When it was retired: new accounts cannot get it, and its accounts keep it. Milliseconds since
     * 1970.
     */
    retiredAt: moment.nullable(),
  },
})

export type Plan = Row<typeof Plan>

export type LimitName = keyof typeof limitColumns

/** The limits of a plan, or the current limits of an account. */
export type Limits = Pick<Plan, LimitName>

export const limitNames = Object.keys(limitColumns) as LimitName[]

/** Whether a limit can be set to unlimited. */
export const mayBeUnlimited = (name: LimitName): boolean => limitColumns[name].isNullable
