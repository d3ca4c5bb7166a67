import { type LimitSource, UNLIMITED } from '../../../db/models/own-limit.ts'
import { type LimitName, limitNames, mayBeUnlimited } from '../../../db/models/plan.ts'
import type { LimitsRow } from '../../../db/queries/plan.ts'
import { InvalidInput } from '../../runtime/errors.ts'
import { excerpt } from '../../values/excerpt.ts'

/** A new value of a limit, in bytes or as a count. Null uses the plan's limit. */
export interface LimitChange {
  name: LimitName
  value: number | 'unlimited' | null
}

/** A current limit and its source. Null means unlimited. */
export interface LimitView {
  name: LimitName
  value: number | null
  /** The plan's limit. */
  ofPlan: number | null
  from: LimitSource
}

/** The limits of a workspace. Only these can be set for one. */
export const workspaceLimits: readonly LimitName[] = [
  ...([
    'maxFileSizeBytes',
    'maxTotalStorageBytesWorkspace',
    'maxFilesWorkspace',
    'maxWorkspaceFolders',
  ] as const),
  ...(['maxUsersWorkspace', 'maxWorkspaceApiKeys', 'maxPendingInvites'] as const),
]

const isBytes = (name: LimitName) => name.includes('Bytes')

/** Counts are GraphQL integers. Bytes are exact as JavaScript numbers. */
const greatest = (name: LimitName) => (isBytes(name) ? Number.MAX_SAFE_INTEGER : 2 ** 31 - 1)

/** The names in errors and commands, such as max_files. */
export const wireName = (name: LimitName): string =>
  name.replaceAll(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)

/** @throws INVALID_INPUT with all names */
export function readLimitName(text: string): LimitName {
  const name = limitNames.find(known => wireName(known) === text)
  if (name) return name
  throw new InvalidInput(
    'limits',
    `There is no limit "${excerpt(text)}". The limits are: ${limitNames.map(wireName).join(', ')}.`,
  )
}

/**
 * The values of changed limits as they are stored.
 * @param of the target: a plan cannot refer to another plan, and a workspace has only some limits
 * @throws INVALID_INPUT
 */
export function readLimits(
  changes: readonly LimitChange[],
  of: 'plan' | 'user' | 'workspace',
): Partial<Record<LimitName, number | null>> {
  const read: Partial<Record<LimitName, number | null>> = {}
  const refuse = (message: string) => new InvalidInput('limits', message)
  for (const { name, value } of changes) {
    const shown = wireName(name)
    if (name in read) throw refuse(`The limit ${shown} is given twice. Give it once.`)
    if (of === 'workspace' && !workspaceLimits.includes(name))
      throw refuse(
        `${shown} does not limit workspaces. Those that do: ${workspaceLimits.map(wireName).join(', ')}.`,
      )
    if (value === null && of === 'plan') throw refuse(`Give the limit ${shown} a value.`)
    if (value === 'unlimited' && !mayBeUnlimited(name))
      throw refuse(`The limit ${shown} cannot be unlimited. Give a number.`)
    if (
      typeof value === 'number' &&
      !(Number.isSafeInteger(value) && value >= 0 && value <= greatest(name))
    )
      throw refuse(`The limit ${shown} must be a whole number from 0 to ${greatest(name)}.`)
    read[name] = value === 'unlimited' ? (of === 'plan' ? null : UNLIMITED) : value
  }
  return read
}

/** The limits of an account or a workspace, one by one. */
export function viewLimits(row: LimitsRow, names: readonly LimitName[] = limitNames): LimitView[] {
  return names.map(name => ({
    name,
    value: row[name],
    ofPlan: row[`plan_${name}`],
    from:
      row[`workspace_${name}`] !== null
        ? 'workspace'
        : row[`own_${name}`] !== null
          ? 'account'
          : 'plan',
  }))
}
