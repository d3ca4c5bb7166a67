/** Roles of a workspace, the strongest first: contract, section 2. */
export const roles = ['owner', 'admin', 'editor', 'viewer'] as const
export type Role = (typeof roles)[number]

/** What an invite may offer. */
export const invitable = ['admin', 'editor', 'viewer'] as const satisfies readonly Role[]

/** Who may do what: the table of contract, section 2. Roles are compared in this file alone. */
const allowed = {
  /** See the workspace, its members, quota and tree; download. */
  see: ['owner', 'admin', 'editor', 'viewer'],
  /** Upload, make, move, delete files and folders. */
  write: ['owner', 'admin', 'editor'],
  /** Invites, roles, removing members, keys of the workspace. */
  manage: ['owner', 'admin'],
  /** Grant or revoke the role owner; rename; delete the workspace. */
  own: ['owner'],
} as const satisfies Record<string, readonly Role[]>

export type Action = keyof typeof allowed

export const may = (role: Role, action: Action): boolean =>
  (allowed[action] as readonly Role[]).includes(role)

/** Those who may do something, for a condition in SQL. */
export const rolesThatMay = (action: Action): readonly Role[] => allowed[action]

export const isRole = (text: string): text is Role => (roles as readonly string[]).includes(text)

/** Whether a role may change or remove a member: an admin cannot change an owner. */
export const mayTouch = (actor: Role, target: Role): boolean =>
  may(actor, 'manage') && (target !== 'owner' || may(actor, 'own'))

/** Whether a role may grant another: only an owner can make someone an owner. */
export const mayGrant = (actor: Role, role: Role): boolean =>
  may(actor, 'manage') && (role !== 'owner' || may(actor, 'own'))

/** The stronger of two roles. */
export const strongest = (a: Role, b: Role | undefined): Role =>
  b !== undefined && roles.indexOf(b) < roles.indexOf(a) ? b : a

/** The role that a workspace always has at least one of. */
export const OWNER: Role = 'owner'

export const isOwner = (role: Role): boolean => role === OWNER
