import { FILE, FOLDER } from '../db/models/entry.ts'
import { type CopyState, copyStates } from '../db/models/entry-copy.ts'
import {
  eventKinds,
  type EventKind as Kind,
  signInRefusals,
  type Via,
  vias,
} from '../db/models/event.ts'
import {
  type SenderPlace as Place,
  type RequestState,
  requestStates,
  senderPlaces,
} from '../db/models/file-request.ts'
import { type ShareEventKind as ShareUse, shareEventKinds } from '../db/models/share-event.ts'
import { type PlanBy, planChoosers } from '../db/models/user.ts'
import type { DriveLevel, WorkspaceRight } from '../src/access/policies.ts'
import { type Role as RoleName, roles } from '../src/access/roles.ts'
import { privateScopes, workspaceScopes } from '../src/access/scopes.ts'
import { type ErrorCode as Code, naturalStatus } from '../src/runtime/errors.ts'
import type { Mode } from '../src/values/media.ts'
import { type OnConflict as OnConflictName, onConflicts } from '../src/values/on-conflict.ts'
import { builder } from './builder.ts'

/**
 * GraphQL names for values of the services: `workspaces:files:read` becomes WORKSPACES_FILES_READ.
 */
const nameOf = (value: string) => value.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')

const valuesOf = <V extends string>(values: readonly V[]) =>
  Object.fromEntries(values.map(value => [nameOf(value), { value }])) as Record<
    string,
    { value: V }
  >

export const enumOf = <V extends string>(name: string, description: string, values: readonly V[]) =>
  builder.enumType(name, { description, values: valuesOf(values) })

export const Role = enumOf<RoleName>(
  'Role',
  'The roles of members in a workspace, strongest first.',
  roles,
)

export const Scope = enumOf('Scope', 'What an API key may be used for.', [
  ...privateScopes,
  ...workspaceScopes,
])

export const Permission = enumOf<DriveLevel>('Permission', 'What the caller may do.', [
  'read',
  'write',
  'delete',
  'share',
])

export const WorkspacePermission = builder.enumType('WorkspacePermission', {
  description:
    'What the caller may do with the workspace itself; its drive has separate permissions.',
  values: {
    RENAME: { value: 'rename', description: 'Change its name or slug.' },
    DELETE: { value: 'remove', description: 'Delete it.' },
    SEE_MEMBERS: { value: 'seeMembers', description: 'See its members.' },
    CHANGE_ROLES: {
      value: 'changeRoles',
      description: 'Change the roles of members; see `assignableRoles` of each.',
    },
    INVITE: { value: 'invite', description: 'See, send and revoke invites.' },
    MANAGE_KEYS: { value: 'manageKeys', description: 'See, create and delete its API keys.' },
    MANAGE_WEBHOOKS: {
      value: 'manageWebhooks',
      description: 'See, create, change and delete its webhooks.',
    },
  } as const satisfies Record<string, { value: WorkspaceRight; description: string }>,
})

export const Disposition = builder.enumType('Disposition', {
  description: 'What a browser does with a download.',
  values: {
    ATTACHMENT: { value: 'download', description: 'The browser saves it.' },
    INLINE: { value: 'inline', description: 'The browser shows it, if that is safe.' },
  } as const satisfies Record<string, { value: Mode; description: string }>,
})

export const ApiKeyStatus = enumOf('ApiKeyStatus', 'Whether an API key can be used.', [
  'active',
  'expired',
])

export const AccountStatus = enumOf('AccountStatus', 'Whether an account may sign in.', [
  'active',
  'suspended',
])

export const AccountFilter = enumOf(
  'AccountFilter',
  'A filter of accounts. Lists those that store more than their limits allow, in their own drive or in a workspace that they own.',
  ['over_quota'],
)

export const PlanChooser = enumOf<PlanBy>(
  'PlanChooser',
  'Who chose the plan of an account. With the setting PLAN_CLAIM, sign-ins change the plan unless an operator chose it.',
  planChoosers,
)

export const ShareKind = enumOf(
  'ShareKind',
  'Whether a share is for everyone with the link, or for one e-mail address.',
  ['link', 'direct'],
)

export const EntryKind = builder.enumType('EntryKind', {
  description: 'The kind of an entry.',
  values: { FILE: { value: FILE }, FOLDER: { value: FOLDER } } as const,
})

export const EventKind = enumOf<Kind>('EventKind', 'What happened.', eventKinds)

export const ShareEventKind = enumOf<ShareUse>(
  'ShareEventKind',
  'How a share was used: viewed, downloaded, or tried with a wrong password.',
  shareEventKinds,
)

export const SignInRefusal = enumOf(
  'SignInRefusal',
  'Why a sign-in was refused: the account is suspended; the provider has not verified the address; or this provider cannot sign in to the account. The other reasons concern no account, and only the audit trail lists them.',
  signInRefusals,
)

export const FileRequestState = enumOf<RequestState>(
  'FileRequestState',
  'Whether a file request accepts files. FULL: a limit of the request is reached. SUSPENDED: its folder is in the trash, or its maker may not write there now.',
  requestStates,
)

export const SenderPlace = enumOf<Place>(
  'SenderPlace',
  'Where the name of a sender becomes part of the place of a file. PREFIX: before the name of the file. FOLDER: as a folder.',
  senderPlaces,
)

export const BackgroundCopyState = enumOf<CopyState>(
  'BackgroundCopyState',
  'The state of a background copy. If it is CANCELLED or FAILED, nothing was copied.',
  copyStates,
)

export const EventVia = enumOf<Via>('EventVia', 'The means by which a person has acted.', vias)
export const OnConflict = enumOf<OnConflictName>(
  'OnConflict',
  'What to do if a name is taken: refuse, choose a free name such as "report (2).pdf", or replace the existing entry. An upload becomes the new content of the existing file, whose old content becomes a version; a move, copy or restore puts the existing entry into the trash. Replacing needs the right to delete.',
  onConflicts,
)

export const MailStatus = enumOf('MailStatus', 'Whether a mail was sent.', [
  'not_sent',
  'queued',
  'failed',
])

export const ErrorCode = enumOf<Code>(
  'ErrorCode',
  'The `code` in the extensions of an error. The description of each mutation lists its codes, in addition to those that every field may have.',
  Object.keys(naturalStatus) as Code[],
)
