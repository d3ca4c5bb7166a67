import { UNLIMITED } from '../models/own-limit.ts'
import { type LimitName, limitNames, mayBeUnlimited, type Plan } from '../models/plan.ts'
import { columnOf } from './sql.ts'

/**
 * Current limits in SQL: a workspace's own limits, then those of its owner, then those of the
 * owner's plan. Every statement that reads a limit joins `withLimits` or `withDriveLimits`, and
 * reads it by `limitOf` or `driveLimitOf`.
 */

/**
 * The holder of limits: an account, or one workspace, which falls back to the limits of its owner.
 */
export type LimitsOf = 'account' | 'workspace'

/**
 * Joins the limits of an account with this alias.
 * @param workspace the expression of the id of one of its workspaces
 */
export const withLimits = (account: string, workspace?: string): string =>
  `JOIN plan p ON p.id = ${account}.plan_id
   LEFT JOIN own_limit ol ON ol.user_id = ${account}.id${
     workspace === undefined ? '' : ` LEFT JOIN own_limit wl ON wl.workspace_id = ${workspace}`
   }`

/**
 * One limit as an expression. NULL means unlimited.
 * @param plan the alias of the fallback
 */
export function limitOf(name: LimitName, of: LimitsOf = 'account', plan = 'p'): string {
  const column = columnOf(name)
  const value = `COALESCE(${of === 'workspace' ? `wl.${column}, ` : ''}ol.${column}, ${plan}.${column})`
  return mayBeUnlimited(name) ? `NULLIF(${value}, ${UNLIMITED})` : value
}

/** Limits under their column names. */
export const limitsOf = (names: readonly LimitName[] = limitNames, of?: LimitsOf): string =>
  names.map(name => `${limitOf(name, of)} AS ${name}`).join(', ')

/** The limits of one drive. */
export type DriveLimits = Pick<Plan, DriveLimitName>

/** The workspace limit for each limit of a drive. */
const ofWorkspaces = {
  maxFileSizeBytes: 'maxFileSizeBytes',
  maxTotalStorageBytes: 'maxTotalStorageBytesWorkspace',
  maxFiles: 'maxFilesWorkspace',
  maxFolders: 'maxWorkspaceFolders',
} as const satisfies Partial<Record<LimitName, LimitName>>

export type DriveLimitName = keyof typeof ofWorkspaces

const driveLimitNames = Object.keys(ofWorkspaces) as DriveLimitName[]

/**
 * Joins the limits of a drive with this alias: of its owner `o`, or of the owner of its workspace
 * `dw`.
 */
export const withDriveLimits = (drive: string): string =>
  `LEFT JOIN workspace dw ON dw.id = ${drive}.workspace_id
   JOIN user o ON o.id = COALESCE(dw.owner_id, ${drive}.user_id)
   ${withLimits('o', `${drive}.workspace_id`)}`

/** One limit of a drive as an expression. */
export const driveLimitOf = (name: DriveLimitName, drive: string): string =>
  `CASE WHEN ${drive}.workspace_id IS NULL THEN ${limitOf(name)} ELSE ${limitOf(ofWorkspaces[name], 'workspace')} END`

/** The limits of drives that all belong to workspaces, or all to accounts. */
export const limitsOfDrives = (of: LimitsOf): string =>
  driveLimitNames
    .map(
      name => `${of === 'workspace' ? limitOf(ofWorkspaces[name], of) : limitOf(name)} AS ${name}`,
    )
    .join(', ')

/** The limits of drives of both kinds. */
export const driveLimitsOf = (drive: string): string =>
  driveLimitNames.map(name => `${driveLimitOf(name, drive)} AS ${name}`).join(', ')

/** The plan limits that are compared with the usage of drives. */
export const usageLimitNames = (
  ['maxTotalStorageBytes', 'maxFiles', 'maxFolders'] as const
).flatMap(name => [name, ofWorkspaces[name]])

/**
 * The usage of a drive plus the reservations of active uploads. These may be completed after a
 * limit has shrunk.
 */
export const usedBytes = (bucket: string) => `${bucket}.used_bytes + ${bucket}.reserved_bytes`
export const usedFiles = (bucket: string) => `${bucket}.used_files + ${bucket}.reserved_files`

/**
 * A condition: the usage of a drive exceeds its limits, which may have shrunk.
 * @param bucket its alias
 */
export const isOver = (bucket: string, of: LimitsOf): string =>
  exceeds([`${bucket}.used_bytes`, `${bucket}.used_files`, `${bucket}.used_folders`], of, 'p')

/**
 * Like `isOver`, including the reservations of active uploads.
 * @param plan the alias of the plan
 */
export const willBeOver = (bucket: string, of: LimitsOf, plan = 'p'): string =>
  exceeds([usedBytes(bucket), usedFiles(bucket), `${bucket}.used_folders`], of, plan)

function exceeds(
  [bytes, files, folders]: [string, string, string],
  of: LimitsOf,
  plan: string,
): string {
  const over = (used: string, name: DriveLimitName) =>
    `${used} > ${limitOf(of === 'workspace' ? ofWorkspaces[name] : name, of, plan)}`
  // A comparison with NULL is false, so an unlimited value is never exceeded.
  return `(${over(bytes, 'maxTotalStorageBytes')} OR ${over(files, 'maxFiles')} OR ${over(folders, 'maxFolders')})`
}
