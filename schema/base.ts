import './plugins/access.ts'
import './plugins/list-bound.ts'
import './plugins/maintenance.ts'
import './plugins/rate-limit.ts'
import './plugins/require-auth.ts'
import type { Caller } from '../src/access/caller.ts'
import type { DriveLevel, WorkspaceRight } from '../src/access/policies.ts'
import {
  hasSession,
  mayUsePrivateFiles,
  mayUseWorkspaces,
  type PrivateFiles,
  type WorkspaceScope,
} from '../src/access/scopes.ts'
import { Forbidden, Unauthenticated } from '../src/runtime/errors.ts'
import type { Upload } from '../src/values/upload.ts'
import {
  accessScopes,
  type DriveContext,
  type WorkspaceContext,
  type WorkspaceIfAnyContext,
  type WorkspaceTreeContext,
} from './access.ts'
import type { Context } from './context.ts'

export { openDrive, type Subject } from './access.ts'
export {
  addFavourites,
  type RecentEntry,
  recentPage,
  titleOf,
  type VisibleFavourite,
  visibleEntries,
  visibleFavourites,
} from './visible.ts'

type SignedIn = Context & { caller: Caller }

/** The common types of the GraphQL builder and the REST builder. */
export interface BaseTypes {
  Context: Context
  DefaultFieldNullability: false
  DefaultAuthStrategy: 'all'
  Scalars: {
    ID: { Input: string; Output: string }
    /** Milliseconds since 1970 internally, RFC 3339 in requests and responses. */
    DateTime: { Input: number; Output: number }
    Upload: { Input: PromiseLike<Upload>; Output: never }
  }
  AuthScopes: {
    /** Any caller, signed in or not. */
    public: boolean
    /** A user's session or any API key. */
    signedIn: boolean
    /** A user's session; no API key. */
    session: boolean
    /** The session of an operator; no API key. */
    operator: boolean
    /** The caller's data outside of their drive, at a level of the private_files scope. */
    privateFiles: PrivateFiles
    /** The workspaces of the caller, with this scope of a key. */
    workspaces: WorkspaceScope
    /**
     * A drive, which the resolver finds open in its context: the drive of the parent, or the one
     * that the field's option `on` names.
     */
    drive: DriveLevel
    /**
     * A workspace, which the resolver finds in its context with the role of the caller: the
     * parent's, or the one that `on` names.
     */
    workspace: WorkspaceRight
    /** Like `workspace`, with its storage area, if `on` names the workspace by its id. */
    workspaceTree: WorkspaceRight
    /** Like `workspace`, but the workspace is optional. */
    workspaceIfAny: WorkspaceRight
  }
  /** The context type of a field behind each scope. */
  AuthContexts: {
    signedIn: SignedIn
    session: SignedIn
    operator: SignedIn
    privateFiles: SignedIn
    workspaces: SignedIn
    drive: DriveContext
    workspace: WorkspaceContext
    workspaceTree: WorkspaceTreeContext
    workspaceIfAny: WorkspaceIfAnyContext
  }
}

/** The context of a resolver behind these scopes. */
export type ContextOf<S extends Partial<BaseTypes['AuthScopes']>> = Context &
  (keyof S extends infer K
    ? (
        K extends keyof BaseTypes['AuthContexts']
          ? (context: BaseTypes['AuthContexts'][K]) => void
          : never
      ) extends (context: infer All) => void
      ? All
      : Context
    : never)

/** The common options of both builders. */
export const base = {
  defaultFieldNullability: false,
  scopeAuth: {
    defaultStrategy: 'all',
    authorizeOnSubscribe: true,
    authScopes: (context: Context) => {
      const { caller, services } = context
      return {
        public: true,
        signedIn: caller !== null,
        session: () => hasSession(caller),
        operator: async () =>
          hasSession(caller) && caller !== null && services.appointments.isOperator(caller),
        privateFiles: (level: PrivateFiles) => mayUsePrivateFiles(caller, level),
        workspaces: (scope: WorkspaceScope) => mayUseWorkspaces(caller, scope),
        ...accessScopes(context),
      }
    },
    unauthorizedError: (_parent: unknown, { caller }: Context) =>
      caller ? new Forbidden() : new Unauthenticated(),
  },
} as const
