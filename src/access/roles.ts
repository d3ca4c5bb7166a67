/** Roles of a workspace, strongest first: contract, section 2. */
export const roles = ['owner', 'admin', 'editor', 'viewer'] as const
export type Role = (typeof roles)[number]

/** The roles that an invite may offer. */
export const invitable = ['admin', 'editor', 'viewer'] as const satisfies readonly Role[]

/**
 * The permissions of each role: the table of contract, section 2. Only this file compares roles.
 */
const allowed = {
  /** See the workspace, its members, quota and tree; download. */
  see: ['owner', 'admin', 'editor', 'viewer'],
  /** Upload, create, move and delete files and folders. */
  write: ['owner', 'admin', 'editor'],
  /** Manage invites, roles, members and workspace keys. */
  manage: ['owner', 'admin'],
  /** Grant or revoke the owner role; rename or delete the workspace. */
  own: ['owner'],
} as const satisfies Record<string, readonly Role[]>

export type Action = keyof typeof allowed

export const may = (role: Role, action: Action): boolean =>
  (allowed[action] as readonly Role[]).includes(role)

/** The roles with this permission, for a condition in SQL. */
export const rolesThatMay = (action: Action): readonly Role[] => allowed[action]

export const isRole = (text: string): text is Role => (roles as readonly string[]).includes(text)

/** Whether a role may change or remove a member. An admin cannot change an owner. */
export const mayTouch = (actor: Role, target: Role): boolean =>
  may(actor, 'manage') && (target !== 'owner' || may(actor, 'own'))

/** Whether a role may grant another. Only owners can appoint owners. */
export const mayGrant = (actor: Role, role: Role): boolean =>
  may(actor, 'manage') && (role !== 'owner' || may(actor, 'own'))

/** The stronger of two roles. */
export const strongest = (a: Role, b: Role | undefined): Role =>
  b !== undefined && roles.indexOf(b) < roles.indexOf(a) ? b : a

/** The role that at least one member of each workspace has. */
export const OWNER: Role = 'owner'

export const isOwner = (role: Role): boolean => role === OWNER
