import type { graphql } from '../graphql/graphql.ts'
import { text } from './text.ts'

export type Scope = ReturnType<typeof graphql.scalar<'Scope'>>

export const privateScopes: readonly Scope[] = [
  'PRIVATE_FILES_READ',
  'PRIVATE_FILES_WRITE',
  'PRIVATE_FILES_DELETE',
  'PRIVATE_FILES_SHARE',
]

export const workspaceScopes: readonly Scope[] = [
  'WORKSPACES_READ',
  'WORKSPACES_WRITE',
  'WORKSPACES_DELETE',
  'WORKSPACES_MEMBERS_READ',
  'WORKSPACES_MEMBERS_MANAGE',
  'WORKSPACES_INVITES_MANAGE',
  'WORKSPACES_FILES_READ',
  'WORKSPACES_FILES_WRITE',
  'WORKSPACES_FILES_DELETE',
]

/** The scopes that reading and writing by WebDAV needs. */
export const davScopes = (isOfWorkspace: boolean): readonly Scope[] =>
  isOfWorkspace
    ? ['WORKSPACES_FILES_READ', 'WORKSPACES_FILES_WRITE', 'WORKSPACES_FILES_DELETE']
    : ['PRIVATE_FILES_READ', 'PRIVATE_FILES_WRITE', 'PRIVATE_FILES_DELETE']

/** A scope in words. */
export const scopeText = (scope: Scope): string => text(scope)
