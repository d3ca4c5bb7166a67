import type { DriveEventGroup } from '../../db/models/event.ts'
import type { Action } from './roles.ts'
import type { PrivateFiles, WorkspaceScope } from './scopes.ts'

/**
 * What a key needs, and what a role must allow (src/access/roles.ts), to do something in a
 * workspace.
 */
export interface InWorkspace {
  /** Null where any key of the workspace will do. */
  scope: WorkspaceScope | null
  action: Action
  /** No key may do it. */
  session?: true
  /** The sentence for those who may not, where there is more to say than that. */
  refusal?: string
}

export interface DrivePolicy {
  own: PrivateFiles
  /** Whether recipients with the right to edit may do it, too. */
  shared?: true
  workspace: InWorkspace
}

/**
 * What may be done with a drive: in one's own with the scope of private files, in a workspace's
 * with scope and role, in what is shared with one to be edited (`shared`) with the scope of private
 * files.
 */
export const drivePolicies = {
  /** Everyone who sees a workspace looks into its drive and downloads from it. */
  read: { own: 'read', workspace: { scope: 'workspaces:files:read', action: 'see' } },
  /** Everyone who writes in a workspace uploads, makes folders, moves and renames. */
  write: {
    own: 'write',
    shared: true,
    workspace: { scope: 'workspaces:files:write', action: 'write' },
  },
  /** Everyone who writes in a workspace deletes there; a key needs a scope of its own for it. */
  delete: {
    own: 'delete',
    shared: true,
    workspace: { scope: 'workspaces:files:delete', action: 'write' },
  },
  /**
   * Who shares their own files asks others for files, too; in a workspace, everyone who writes
   * there does.
   */
  request: { own: 'share', workspace: { scope: 'workspaces:files:write', action: 'write' } },
  /** Who writes in a workspace decides what others see of it, as themselves: no key of it does. */
  share: { own: 'share', workspace: { scope: null, action: 'write', session: true } },
} as const satisfies Record<string, DrivePolicy>

export type DriveLevel = keyof typeof drivePolicies

/**
 * What may be done with a workspace. Keys and webhooks of a workspace are a matter of sessions
 * (`session` beside these).
 */
export const workspacePolicies = {
  /**
   * Every member and every key of it enters the workspace; what there is to see has a scope each.
   */
  enter: { scope: null, action: 'see' },
  /** Every member sees the workspace. */
  see: { scope: 'workspaces:read', action: 'see' },
  /** Every member sees the members. */
  seeMembers: { scope: 'workspaces:members:read', action: 'see' },
  /** Owners rename it. */
  rename: { scope: 'workspaces:write', action: 'own' },
  /** Owners delete it. */
  remove: {
    scope: 'workspaces:delete',
    action: 'own',
    refusal: 'Only an owner can delete a workspace.',
  },
  /**
   * Owners and admins give roles. Who may give and take the role owner is decided by mayGrant and
   * mayTouch.
   */
  changeRoles: { scope: 'workspaces:members:manage', action: 'manage' },
  /** Every member may leave; who may remove others is decided by mayTouch. */
  removeMembers: { scope: 'workspaces:members:manage', action: 'see' },
  /** Owners and admins see, send and revoke invites. */
  invite: { scope: 'workspaces:invites:manage', action: 'manage' },
  /** Owners and admins end the WebDAV locks of others. */
  endLocks: { scope: 'workspaces:files:write', action: 'manage' },
  /** Owners and admins see, make and delete its keys. */
  manageKeys: { scope: 'workspaces:read', action: 'manage' },
  /** Owners and admins see, make and delete its webhooks. */
  manageWebhooks: { scope: 'workspaces:read', action: 'manage' },
} as const satisfies Record<string, InWorkspace>

export type WorkspaceRight = keyof typeof workspacePolicies

/** What must be allowed to see events of a drive. */
export const eventPolicies = {
  /** Everyone who looks into a drive sees what happens to what is in it. */
  files: { drive: 'read' },
  /** Everyone who asks others for files sees what happens to the requests. */
  requests: { drive: 'request' },
  /** Everyone who looks into a drive sees its tags, and what happens to them. */
  tags: { drive: 'read' },
  /** Everyone who shares files from a drive sees what happens to its shares. */
  shares: { drive: 'share' },
  /** Every member sees what happens to the workspace itself. */
  workspace: { workspace: 'see' },
  /** Owners and admins see who joins and leaves, */
  members: { workspace: 'changeRoles' },
  /** who is invited, */
  invites: { workspace: 'invite' },
  /** and which keys and webhooks there are: in a session, as these themselves. */
  keys: { workspace: 'manageKeys', session: true },
  webhooks: { workspace: 'manageWebhooks', session: true },
} as const satisfies Record<
  DriveEventGroup,
  { drive: DriveLevel } | { workspace: WorkspaceRight; session?: true }
>
