import { FILE, FOLDER } from '../db/models/entry.ts'
import { type CopyState, copyStates } from '../db/models/entry-copy.ts'
import { accountRefusals, eventKinds, type EventKind as Kind, type Via, vias } from '../db/models/event.ts'
import { type RequestState, requestStates } from '../db/models/file-request.ts'
import { type ShareEventKind as ShareUse, shareEventKinds } from '../db/models/share-event.ts'
import type { DriveLevel, WorkspaceRight } from '../src/access/policies.ts'
import { type Role as RoleName, roles } from '../src/access/roles.ts'
import { privateScopes, workspaceScopes } from '../src/access/scopes.ts'
import { type ErrorCode as Code, naturalStatus } from '../src/runtime/errors.ts'
import type { Mode } from '../src/values/media.ts'
import { type OnConflict as OnConflictName, onConflicts } from '../src/values/on-conflict.ts'
import { builder } from './builder.ts'

/** Names of GraphQL for values of the services: `workspaces:files:read` is WORKSPACES_FILES_READ. */
const nameOf = (value: string) => value.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')

const valuesOf = <V extends string>(values: readonly V[]) =>
  Object.fromEntries(values.map(value => [nameOf(value), { value }])) as Record<string, { value: V }>

export const enumOf = <V extends string>(name: string, description: string, values: readonly V[]) =>
  builder.enumType(name, { description, values: valuesOf(values) })

export const Role = enumOf<RoleName>('Role', 'What a member may do in a workspace, the strongest first.', roles)

export const Scope = enumOf('Scope', 'What an API key may be used for.', [...privateScopes, ...workspaceScopes])

export const Permission = enumOf<DriveLevel>('Permission', 'What the caller may do.', [
  'read',
  'write',
  'delete',
  'share',
])

export const WorkspacePermission = builder.enumType('WorkspacePermission', {
  description: 'What the caller may do with a workspace itself; its drive has permissions of its own.',
  values: {
    RENAME: { value: 'rename', description: 'Give it another name or slug.' },
    DELETE: { value: 'remove', description: 'Delete it.' },
    SEE_MEMBERS: { value: 'seeMembers', description: 'See its members.' },
    CHANGE_ROLES: { value: 'changeRoles', description: 'Give members other roles, as each of them says.' },
    INVITE: { value: 'invite', description: 'See, send and revoke invites.' },
    MANAGE_KEYS: { value: 'manageKeys', description: 'See, make and delete its API keys.' },
    MANAGE_WEBHOOKS: { value: 'manageWebhooks', description: 'See, make, change and delete its webhooks.' },
  } as const satisfies Record<string, { value: WorkspaceRight; description: string }>,
})

export const Disposition = builder.enumType('Disposition', {
  description: 'What a browser does with a download.',
  values: {
    ATTACHMENT: { value: 'download', description: 'It saves it.' },
    INLINE: { value: 'inline', description: 'It shows it, if that is harmless.' },
  } as const satisfies Record<string, { value: Mode; description: string }>,
})

export const ApiKeyStatus = enumOf('ApiKeyStatus', 'Whether an API key works.', ['active', 'expired'])

export const AccountStatus = enumOf('AccountStatus', 'Whether an account may sign in.', ['active', 'suspended'])

export const ShareKind = enumOf('ShareKind', 'For everyone with the link, or for one e-mail address.', [
  'link',
  'direct',
])

export const EntryKind = builder.enumType('EntryKind', {
  description: 'What is in a folder.',
  values: { FILE: { value: FILE }, FOLDER: { value: FOLDER } } as const,
})

export const EventKind = enumOf<Kind>('EventKind', 'What happened.', eventKinds)

export const ShareEventKind = enumOf<ShareUse>(
  'ShareEventKind',
  'What was done with a share: looked at, downloaded, tried with a wrong password.',
  shareEventKinds,
)

export const SignInRefusal = enumOf(
  'SignInRefusal',
  'Why a sign-in was refused: the account is suspended; its address was given by a provider that has not verified it; its address was given by a provider through which it may not be entered.',
  accountRefusals,
)

export const FileRequestState = enumOf<RequestState>(
  'FileRequestState',
  'Whether a file request takes files; FULL: as many as were asked for have arrived; SUSPENDED: its folder is in the trash, or its maker may not write there now.',
  requestStates,
)

export const BackgroundCopyState = enumOf<CopyState>(
  'BackgroundCopyState',
  'What has become of a copy that is made in the background. Nothing of one is there that is CANCELLED or FAILED.',
  copyStates,
)

export const EventVia = enumOf<Via>('EventVia', 'By what a person has acted.', vias)
export const OnConflict = enumOf<OnConflictName>(
  'OnConflict',
  'What to do when something of the same name is in the way: refuse, take a free name such as "report (2).pdf", or replace it: an upload becomes the new content of the file that is there, whose old content becomes a version; what is restored puts what is there into the trash. Replacing needs the right to delete.',
  onConflicts,
)

export const MailStatus = enumOf('MailStatus', 'What became of a mail.', ['not_sent', 'queued', 'failed'])

export const ErrorCode = enumOf<Code>(
  'ErrorCode',
  'The `code` in the extensions of an error. Each mutation says which it fails with, besides those that every field may have.',
  Object.keys(naturalStatus) as Code[],
)
