import { type DriveEventGroup, type DriveEventKind, driveKinds } from '../../db/models/event.ts'
import { AppError, Forbidden } from '../runtime/errors.ts'
import { pathIn } from '../services/tree/entry-path.ts'
import { onlyReplaced } from '../services/tree/trunk.ts'
import type { WorkspaceTree, WorkspaceView } from '../services/workspaces/workspace.ts'
import { type OnConflict, parseOnConflict } from '../values/on-conflict.ts'
import type { BucketLimits, SharedRoot, Tree } from '../values/tree.ts'
import type { Caller } from './caller.ts'
import {
  type DriveLevel,
  type DrivePolicy,
  drivePolicies,
  eventPolicies,
  type InWorkspace,
  type WorkspaceRight,
  workspacePolicies,
} from './policies.ts'
import { may, mayGrant, mayTouch, type Role, roles } from './roles.ts'
import { hasSession, mayUsePrivateFiles, mayUseWorkspaces } from './scopes.ts'

/** A drive opened at a permitted level, for use in resolvers. */
export interface OpenDrive {
  drive: Drive
  tree: Tree
  limits: BucketLimits
}

/**
 * A storage area as seen by a caller. Its tree is only available through `open`, which authorizes.
 */
export class Drive {
  readonly id: string
  /** Null for the caller's own drive. */
  readonly workspace: WorkspaceView | null
  /** The share that gives access, if the drive is a share that the caller may edit. */
  readonly share: SharedRoot | null
  /** The id of the shared folder, which is the root of all paths, or of the shared file. */
  readonly sharedId: string | null
  readonly #caller: Caller
  readonly #tree: Tree
  readonly #limits: BucketLimits

  private constructor(
    caller: Caller,
    tree: Tree,
    limits: BucketLimits,
    workspace: WorkspaceView | null,
  ) {
    this.id = tree.bucketId
    this.workspace = workspace
    this.share = tree.share ?? null
    this.sharedId = tree.share ? tree.rootId : null
    this.#caller = caller
    this.#tree = tree
    this.#limits = limits
  }

  static own(caller: Caller): Drive {
    return new Drive(caller, caller.bucket, caller.limits, null)
  }

  /** @param found a workspace of which the caller is a member */
  static ofWorkspace(caller: Caller, { tree, limits, ...workspace }: WorkspaceTree): Drive {
    return new Drive(caller, tree, limits, workspace)
  }

  /**
   * An editable share: a part of another drive, of which nothing outside the share is accessible.
   */
  static ofShare(caller: Caller, { tree, limits }: Pick<OpenDrive, 'tree' | 'limits'>): Drive {
    return new Drive(caller, tree, limits, null)
  }

  /** The id of the drive's user; null for a workspace or a share. */
  get personId(): string | null {
    return this.workspace || this.share ? null : this.#caller.userId
  }

  pathOf(names: readonly string[]): string {
    return pathIn(this.#tree, names)
  }

  /** @throws KEY_OUT_OF_BOUNDS, INSUFFICIENT_SCOPE, FORBIDDEN */
  open(level: DriveLevel): OpenDrive {
    requireKeyFor(this.#caller, this.workspace?.id ?? null, level)
    const { workspace, shared }: DrivePolicy = drivePolicies[level]
    if (this.workspace) requireRole(this.workspace, workspace)
    if (this.share && !shared)
      throw new Forbidden(
        'The id of a share only allows changes. To read what is shared with you, use the token of the share.',
      )
    if (this.share?.isFile && level !== 'write') throw onlyReplaced()
    return { drive: this, tree: this.#tree, limits: this.#limits }
  }

  /**
   * The action on a name conflict. Replacing requires the right to delete.
   * @throws INVALID_INPUT, and the errors of `open`
   */
  onConflict(choice: string | null | undefined): OnConflict {
    const onConflict = parseOnConflict(choice)
    if (onConflict !== 'replace') return onConflict
    if (this.share?.isFile) requireKeyFor(this.#caller, null, 'delete')
    else this.open('delete')
    return onConflict
  }

  /** Why the caller may not use the drive at this level; null if they may. */
  refusal(level: DriveLevel): AppError | null {
    return refusalOf(() => this.open(level))
  }

  /** The caller's permissions. The right to request files follows from the others. */
  get permissions(): DriveLevel[] {
    const levels = (Object.keys(drivePolicies) as DriveLevel[]).filter(level => level !== 'request')
    return levels.filter(level => !this.refusal(level))
  }

  /** Whether the caller may remove the WebDAV locks of others here. */
  get mayEndLocks(): boolean {
    if (this.share || this.refusal('write')) return false
    return this.workspace === null || mayIn(this.#caller, this.workspace, 'endLocks')
  }

  /** The kinds of drive events that the caller may see. */
  get eventKinds(): DriveEventKind[] {
    const groups = Object.keys(driveKinds) as DriveEventGroup[]
    return groups.filter(group => this.#seesEvents(group)).flatMap(group => [...driveKinds[group]])
  }

  #seesEvents(group: DriveEventGroup): boolean {
    const policy = eventPolicies[group]
    if ('drive' in policy) return !this.refusal(policy.drive)
    const { workspace } = this
    const isIn = 'session' in policy ? this.#caller.via === 'session' : true
    return (
      isIn &&
      workspace !== null &&
      !refusalOf(() => openWorkspace(this.#caller, workspace, policy.workspace))
    )
  }
}

/** The error that `use` throws; null if it succeeds. */
function refusalOf(use: () => unknown): AppError | null {
  try {
    use()
    return null
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
}

/** Whether the caller's credential may be used on some drive at this level. */
export function reachesAnyDrive(caller: Caller, level: DriveLevel): boolean {
  const { own, workspace }: DrivePolicy = drivePolicies[level]
  const inWorkspaces = () => {
    if (workspace.session) hasSession(caller)
    return mayUseWorkspaces(caller, workspace.scope)
  }
  return (
    refusalOf(() => mayUsePrivateFiles(caller, own)) === null || refusalOf(inWorkspaces) === null
  )
}

/** The scope of a private key that allows this level on its own drive. */
export const ownScopeOf = (level: DriveLevel): string => `private_files:${drivePolicies[level].own}`

/**
 * Checks whether the caller's credential may access a drive, before the drive is looked up.
 * @param workspaceId null for the caller's own drive
 * @throws UNAUTHENTICATED, KEY_OUT_OF_BOUNDS, INSUFFICIENT_SCOPE, FORBIDDEN
 */
export function requireKeyFor(caller: Caller, workspaceId: string | null, level: DriveLevel): void {
  const { own, workspace }: DrivePolicy = drivePolicies[level]
  if (workspaceId === null) {
    mayUsePrivateFiles(caller, own)
    return
  }
  if (workspace.session) hasSession(caller)
  mayUseWorkspaces(caller, workspace.scope)
  requireWorkspace(caller, workspaceId)
}

function requireRole({ role }: WorkspaceView, { action, refusal }: InWorkspace): void {
  if (!may(role, action))
    throw new Forbidden(
      refusal ??
        `Your role in this workspace is ${role}, which may not do this. Ask one of its owners.`,
    )
}

/** The error for non-members, which is the same whether or not the workspace exists. */
export function notAMember(right: WorkspaceRight): Forbidden {
  const { refusal }: InWorkspace = workspacePolicies[right]
  return new Forbidden(refusal ?? 'You are not a member of this workspace, or it does not exist.')
}

/** Whether the caller's role in a workspace includes this permission. */
export const allows = ({ role }: WorkspaceView, right: WorkspaceRight): boolean =>
  may(role, workspacePolicies[right].action)

/**
 * Authorizes an operation on a workspace.
 * @throws UNAUTHENTICATED, KEY_OUT_OF_BOUNDS, INSUFFICIENT_SCOPE, FORBIDDEN
 */
export function openWorkspace<W extends WorkspaceView>(
  caller: Caller,
  workspace: W,
  right: WorkspaceRight,
): W {
  requireWorkspaceKey(caller, right)
  requireWorkspace(caller, workspace.id)
  requireRole(workspace, workspacePolicies[right])
  return workspace
}

/** Whether the caller may do this in a workspace, by role and, for a key, by its scopes. */
export const mayIn = (caller: Caller, workspace: WorkspaceView, right: WorkspaceRight): boolean =>
  !refusalOf(() => openWorkspace(caller, workspace, right))

/**
 * The roles that the caller may give to a member. Empty if the caller may not change the member.
 */
export const assignableRoles = (caller: Caller, workspace: WorkspaceView, theirs: Role): Role[] =>
  mayIn(caller, workspace, 'changeRoles') && mayTouch(workspace.role, theirs)
    ? roles.filter(role => mayGrant(workspace.role, role))
    : []

/**
 * Whether the caller may remove a membership: their own, or that of a member whom they may change.
 */
export const mayRemove = (
  caller: Caller,
  workspace: WorkspaceView,
  member: { userId: string; role: Role },
): boolean =>
  mayIn(caller, workspace, 'removeMembers') &&
  (member.userId === caller.userId || mayTouch(workspace.role, member.role))

/** @throws UNAUTHENTICATED, KEY_OUT_OF_BOUNDS, INSUFFICIENT_SCOPE */
export function requireWorkspaceKey(caller: Caller, right: WorkspaceRight): void {
  mayUseWorkspaces(caller, workspacePolicies[right].scope)
}

/**
 * A workspace key cannot access other workspaces.
 * @throws KEY_OUT_OF_BOUNDS
 */
export function requireWorkspace(caller: Caller, id: string): void {
  if (caller.workspaceId !== null && caller.workspaceId !== id)
    throw new AppError(
      'KEY_OUT_OF_BOUNDS',
      'This API key belongs to another workspace. Use a key of this one.',
    )
}
