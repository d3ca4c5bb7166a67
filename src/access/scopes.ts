import { AppError, Unauthenticated } from '../runtime/errors.ts'
import type { Caller } from './caller.ts'

/** The scopes of private keys: contract, section 2. */
export const privateScopes = [
  'private_files:read',
  'private_files:write',
  'private_files:delete',
  'private_files:share',
] as const

/** The scopes of workspaces that a private key may have, as an addition to its own. */
const reachingScopes = [
  'workspaces:files:read',
  'workspaces:files:write',
  'workspaces:files:delete',
] as const

/** The scopes of workspace keys. */
export const workspaceScopes = [
  'workspaces:read',
  'workspaces:write',
  'workspaces:delete',
  'workspaces:members:read',
  'workspaces:members:manage',
  'workspaces:invites:manage',
  ...reachingScopes,
] as const

/**
 * The scopes of the key of a syncing app. It has its user's current role in each of their
 * workspaces: docs/decisions/nextcloud.md.
 */
export const appScopes = [...privateScopes, ...reachingScopes] as const

export type WorkspaceScope = (typeof workspaceScopes)[number]

/** Any scope of a key. */
export type KeyScope = (typeof privateScopes)[number] | WorkspaceScope

/** Levels of the private_files scope. */
export type PrivateFiles = 'read' | 'write' | 'delete' | 'share'

const outOfBounds = (message: string) => new AppError('KEY_OUT_OF_BOUNDS', message)

function requireScope(caller: Caller, scope: string): true {
  // A session has every scope.
  if (caller.scopes === null || caller.scopes.has(scope)) return true
  throw scopeMissing(scope)
}

/**
 * Whether the caller may use personal routes of this level.
 * @throws UNAUTHENTICATED, KEY_OUT_OF_BOUNDS, INSUFFICIENT_SCOPE
 */
export function mayUsePrivateFiles(caller: Caller | null, level: PrivateFiles): true {
  if (!caller) throw new Unauthenticated()
  if (caller.workspaceId !== null)
    throw outOfBounds('A workspace key works on its workspace only. Use a private key or sign in.')
  return requireScope(caller, `private_files:${level}`)
}

/** Whether the caller may have files of several workspaces: a session, or the key of an app. */
export const reachesWorkspaces = ({ workspaceId, scopes }: Caller): boolean =>
  workspaceId === null && (scopes === null || reachingScopes.some(scope => scopes.has(scope)))

const isReaching = (scope: WorkspaceScope | null): boolean =>
  (reachingScopes as readonly (string | null)[]).includes(scope)

/**
 * Whether the caller may use workspace routes of a scope. The workspace itself is checked when it
 * is opened. A private key can only reach the files of workspaces.
 * @param scope null if any key of the workspace is enough
 * @throws UNAUTHENTICATED, KEY_OUT_OF_BOUNDS, INSUFFICIENT_SCOPE
 */
export function mayUseWorkspaces(caller: Caller | null, scope: WorkspaceScope | null): true {
  if (!caller) throw new Unauthenticated()
  const isPrivateKey = caller.via === 'api_key' && caller.workspaceId === null
  if (isPrivateKey && !(isReaching(scope) && reachesWorkspaces(caller))) throw privateKeyOnly()
  return scope === null || requireScope(caller, scope)
}

/**
 * Whether the caller has signed in as a person. Keys are always refused here.
 * @throws UNAUTHENTICATED, KEY_OUT_OF_BOUNDS
 */
export function hasSession(caller: Caller | null): true {
  if (!caller) throw new Unauthenticated()
  if (caller.via !== 'session') throw outOfBounds('No API key can do this. Sign in instead.')
  return true
}

export const scopeMissing = (scope: string) =>
  new AppError(
    'INSUFFICIENT_SCOPE',
    `This API key lacks the scope ${scope}. Use one that has it.`,
    { required: scope },
  )

export const privateKeyOnly = () =>
  outOfBounds(
    'A private key works on the files of its user only. Use a key of the workspace or sign in.',
  )
