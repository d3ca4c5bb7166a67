import type { DriveEventGroup } from '../../db/models/event.ts'
import type { Action } from './roles.ts'
import type { PrivateFiles, WorkspaceScope } from './scopes.ts'

/**
 * The scope that a key needs, and the permission that a role needs (src/access/roles.ts), for an
 * operation in a workspace.
 */
export interface InWorkspace {
  /** Null if any key of the workspace is enough. */
  scope: WorkspaceScope | null
  action: Action
  /** Keys are refused. */
  session?: true
  /** The message for refused callers, if more specific than the default. */
  refusal?: string
}

export interface DrivePolicy {
  own: PrivateFiles
  /** Whether recipients of editable shares may do it, too. */
  shared?: true
  workspace: InWorkspace
}

/**
 * Operations on a drive. A personal drive requires a scope of private files. A workspace drive
 * requires a scope and a role. An editable share (`shared`) requires a scope of private files.
 */
export const drivePolicies = {
  /** Every member can browse and download from the workspace's drive. */
  read: { own: 'read', workspace: { scope: 'workspaces:files:read', action: 'see' } },
  /** Members who may write can upload, create folders, move and rename. */
  write: {
    own: 'write',
    shared: true,
    workspace: { scope: 'workspaces:files:write', action: 'write' },
  },
  /** Members who may write can also delete. Keys need a separate scope for that. */
  delete: {
    own: 'delete',
    shared: true,
    workspace: { scope: 'workspaces:files:delete', action: 'write' },
  },
  /**
   * Sharing rights include requesting files. In a workspace, members who may write can also request
   * files.
   */
  request: { own: 'share', workspace: { scope: 'workspaces:files:write', action: 'write' } },
  /** Members who may write in a workspace may also share from it. Keys may not. */
  share: { own: 'share', workspace: { scope: null, action: 'write', session: true } },
} as const satisfies Record<string, DrivePolicy>

export type DriveLevel = keyof typeof drivePolicies

/**
 * Operations on a workspace. Keys and webhooks of a workspace can only be managed in a session
 * (`session`).
 */
export const workspacePolicies = {
  /**
   * Every member and every key of a workspace may open it. Each kind of content has its own scope.
   */
  enter: { scope: null, action: 'see' },
  /** Every member sees the workspace. */
  see: { scope: 'workspaces:read', action: 'see' },
  /** Every member sees the members. */
  seeMembers: { scope: 'workspaces:members:read', action: 'see' },
  /** Owners rename it. */
  rename: { scope: 'workspaces:write', action: 'own' },
  /** Owners can delete it. */
  remove: {
    scope: 'workspaces:delete',
    action: 'own',
    refusal: 'Only an owner can delete a workspace.',
  },
  /** Owners and admins can set roles. mayGrant and mayTouch decide about the owner role. */
  changeRoles: { scope: 'workspaces:members:manage', action: 'manage' },
  /** Every member may leave. mayTouch decides who may remove others. */
  removeMembers: { scope: 'workspaces:members:manage', action: 'see' },
  /** Owners and admins can see, send and revoke invites. */
  invite: { scope: 'workspaces:invites:manage', action: 'manage' },
  /** Owners and admins can remove the WebDAV locks of others. */
  endLocks: { scope: 'workspaces:files:write', action: 'manage' },
  /** Owners and admins can see, create and delete its keys. */
  manageKeys: { scope: 'workspaces:read', action: 'manage' },
  /** Owners and admins can see, create and delete its webhooks. */
  manageWebhooks: { scope: 'workspaces:read', action: 'manage' },
} as const satisfies Record<string, InWorkspace>

export type WorkspaceRight = keyof typeof workspacePolicies

/** The permission that each kind of drive event requires. */
export const eventPolicies = {
  /** Everyone with access to a drive sees events of its content. */
  files: { drive: 'read' },
  /** Everyone who may request files sees events of file requests. */
  requests: { drive: 'request' },
  /** Everyone with access to a drive sees its tags and their events. */
  tags: { drive: 'read' },
  /** Everyone who may share from a drive sees events of its shares. */
  shares: { drive: 'share' },
  /** Every member sees events of the workspace itself. */
  workspace: { workspace: 'see' },
  /** Owners and admins see events of members, */
  members: { workspace: 'changeRoles' },
  /** events of invites, */
  invites: { workspace: 'invite' },
  /** and, in a session only, events of keys and webhooks. */
  keys: { workspace: 'manageKeys', session: true },
  webhooks: { workspace: 'manageWebhooks', session: true },
} as const satisfies Record<
  DriveEventGroup,
  { drive: DriveLevel } | { workspace: WorkspaceRight; session?: true }
>
