import { limitSources } from '../db/models/own-limit.ts'
import { type LimitName, type Limits, limitNames } from '../db/models/plan.ts'
import { InvalidInput } from '../src/runtime/errors.ts'
import type { LimitChange, LimitView } from '../src/services/accounts/limit.ts'
import type { PlanView } from '../src/services/accounts/user.ts'
import { builder, type InputFields, type ObjectFields } from './builder.ts'
import { enumOf } from './enums.ts'

const limitFields = (t: ObjectFields<Limits>) => ({
  maxFileSize: t.expose('maxFileSizeBytes', {
    type: 'Bytes',
    description: 'Maximum bytes of one file.',
  }),
  maxBytes: t.expose('maxTotalStorageBytes', {
    type: 'Bytes',
    description: 'Maximum bytes of all files in the own drive.',
  }),
  maxFiles: t.exposeInt('maxFiles', {
    nullable: true,
    description: 'Maximum number of files in the own drive.',
  }),
  maxFolders: t.exposeInt('maxFolders', {
    nullable: true,
    description: 'Maximum number of folders in the own drive.',
  }),
  maxNotes: t.exposeInt('maxNotes', {
    nullable: true,
    description: 'Maximum number of notes on the own files.',
  }),
  maxLinks: t.exposeInt('maxPublicLinks', {
    nullable: true,
    description: 'Maximum number of active links.',
  }),
  maxApiKeys: t.exposeInt('maxPrivateApiKeys', {
    description: 'Maximum number of private API keys.',
  }),
  maxWorkspaces: t.exposeInt('maxUserWorkspaces', {
    description: 'Maximum number of owned workspaces.',
  }),
  maxWorkspaceBytes: t.expose('maxTotalStorageBytesWorkspace', {
    type: 'Bytes',
    description: 'Maximum bytes of all files in each workspace.',
  }),
  maxWorkspaceFiles: t.exposeInt('maxFilesWorkspace', {
    nullable: true,
    description: 'Maximum number of files in each workspace.',
  }),
  maxWorkspaceFolders: t.exposeInt('maxWorkspaceFolders', {
    nullable: true,
    description: 'Maximum number of folders in each workspace.',
  }),
  maxWorkspaceMembers: t.exposeInt('maxUsersWorkspace', {
    description: 'Maximum number of members of each workspace.',
  }),
  maxWorkspaceApiKeys: t.exposeInt('maxWorkspaceApiKeys', {
    description: 'Maximum number of API keys of each workspace.',
  }),
  maxWorkspaceInvites: t.exposeInt('maxPendingInvites', {
    nullable: true,
    description: 'Maximum number of pending invites of each workspace.',
  }),
})

export const Plan = builder.objectRef<PlanView>('Plan').implement({
  description:
    'A plan: the limits of accounts, and of the workspaces that they own. Null means unlimited.',
  fields: t => ({
    id: t.exposeID('id', { description: 'The id of the plan.' }),
    name: t.exposeString('name', { description: 'Its display name.' }),
    // A plan has its limits; Pothos types the builder of fields by the whole object.
    ...limitFields(t as unknown as ObjectFields<Limits>),
  }),
})

export const LimitsType = builder.objectRef<Limits>('Limits').implement({
  description:
    'The current limits: those of the plan, except where an operator has set others for this account. Null means unlimited.',
  fields: t => limitFields(t),
})

/** Limits by the names of the fields above. */
const names = {
  MAX_FILE_SIZE: 'maxFileSizeBytes',
  MAX_BYTES: 'maxTotalStorageBytes',
  MAX_FILES: 'maxFiles',
  MAX_FOLDERS: 'maxFolders',
  MAX_NOTES: 'maxNotes',
  MAX_LINKS: 'maxPublicLinks',
  MAX_API_KEYS: 'maxPrivateApiKeys',
  MAX_WORKSPACES: 'maxUserWorkspaces',
  MAX_WORKSPACE_BYTES: 'maxTotalStorageBytesWorkspace',
  MAX_WORKSPACE_FILES: 'maxFilesWorkspace',
  MAX_WORKSPACE_FOLDERS: 'maxWorkspaceFolders',
  MAX_WORKSPACE_MEMBERS: 'maxUsersWorkspace',
  MAX_WORKSPACE_API_KEYS: 'maxWorkspaceApiKeys',
  MAX_WORKSPACE_INVITES: 'maxPendingInvites',
} as const satisfies Record<string, LimitName>

const LimitNameEnum = builder.enumType('LimitName', {
  description: 'The limits, by the names of the fields of Plan.',
  values: Object.fromEntries(
    Object.entries(names).map(([name, value]) => [name, { value }]),
  ) as Record<keyof typeof names, { value: LimitName }>,
})

const LimitSource = enumOf(
  'LimitSource',
  'The source of a limit: the plan, or an operator who set it.',
  limitSources,
)

export const AppliedLimit = builder.objectRef<LimitView>('AppliedLimit').implement({
  description: 'A current limit, and its source.',
  fields: t => ({
    name: t.expose('name', { type: LimitNameEnum, description: 'Which limit.' }),
    value: t.expose('value', {
      type: 'Bytes',
      nullable: true,
      description: 'Bytes, or a number. Null means unlimited.',
    }),
    ofPlan: t.expose('ofPlan', {
      type: 'Bytes',
      nullable: true,
      description: 'The limit of the plan. Null means unlimited.',
    }),
    from: t.expose('from', { type: LimitSource, description: 'The source of the value.' }),
  }),
})

export const ChangedLimit = builder.objectRef<LimitChange>('ChangedLimit').implement({
  description:
    'A limit that was set. If it has no value and is not unlimited, the limit of the plan applies again.',
  fields: t => ({
    name: t.expose('name', { type: LimitNameEnum, description: 'Which limit.' }),
    value: t.field({
      type: 'Bytes',
      nullable: true,
      description: 'Bytes, or a number.',
      resolve: ({ value }) => (typeof value === 'number' ? value : null),
    }),
    unlimited: t.boolean({
      description: 'Whether the limit was removed.',
      resolve: ({ value }) => value === 'unlimited',
    }),
  }),
})

/** The maximum number of limits. */
export const LIMITS = limitNames.length

const LimitInput = builder.inputType('LimitInput', {
  description:
    'A limit to set: to a value or to unlimited. For an account or a workspace, omit both to apply the limit of the plan again.',
  fields: t => ({
    name: t.field({ type: LimitNameEnum, required: true, description: 'Which limit.' }),
    value: t.field({ type: 'Bytes', description: 'Bytes, or a number.' }),
    unlimited: t.boolean({
      description: 'Whether there is no limit. Not every limit can be unlimited.',
    }),
  }),
})

/** The argument of mutations that set limits. */
export const limitsInput = (t: InputFields) =>
  t.field({
    type: [LimitInput],
    maxItems: LIMITS,
    description: 'The limits to set; the others stay unchanged.',
  })

/** @throws INVALID_INPUT */
export function readLimitInput(
  limits: readonly (typeof LimitInput.$inferInput)[] | null | undefined,
): LimitChange[] {
  return (limits ?? []).map(({ name, value, unlimited }) => {
    if (unlimited && value != null)
      throw new InvalidInput('limits', 'Give either a value or unlimited.')
    return { name, value: unlimited ? 'unlimited' : (value ?? null) }
  })
}
