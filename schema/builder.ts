import './plugins/list-bound.ts'
import './plugins/rest.ts'
import './plugins/rate-limit.ts'
import './plugins/require-auth.ts'
import SchemaBuilder from '@pothos/core'
import RelayPlugin from '@pothos/plugin-relay'
import ScopeAuthPlugin from '@pothos/plugin-scope-auth'
import type { Caller } from '../src/auth/caller.ts'
import {
  hasSession,
  mayUsePrivateFiles,
  mayUseWorkspaces,
  type PrivateFiles,
  type WorkspaceScope,
} from '../src/auth/scopes.ts'
import type { Context } from '../src/context.ts'
import { Forbidden, Unauthenticated } from '../src/errors.ts'
import type { Upload } from '../src/upload.ts'

export interface SchemaTypes {
  Context: Context
  DefaultFieldNullability: false
  DefaultAuthStrategy: 'all'
  Scalars: {
    ID: { Input: string; Output: string }
    /** A size or a count beyond 32 bits. */
    Long: { Input: number; Output: number }
    /** Milliseconds since 1970 internally, RFC 3339 in requests and responses. */
    DateTime: { Input: number; Output: number }
    Labels: { Input: never; Output: Record<string, string> }
    Upload: { Input: PromiseLike<Upload>; Output: never }
    Void: { Input: never; Output: null }
  }
  AuthScopes: {
    /** Any caller, signed in or not. */
    public: boolean
    /** A user's session or any API key; the service authorizes access to the data. */
    signedIn: boolean
    /** A user's session; no API key. */
    session: boolean
    /** The session of an operator; no API key. */
    operator: boolean
    /** The caller's own files, at a level of the private_files scope. */
    privateFiles: PrivateFiles
    /** Workspaces, with this scope of a key; the service authorizes access to the workspace. */
    workspaces: WorkspaceScope
  }
  /** The context type of a field behind each scope. */
  AuthContexts: {
    signedIn: Context & { caller: Caller }
    session: Context & { caller: Caller }
    operator: Context & { caller: Caller }
    privateFiles: Context & { caller: Caller }
    workspaces: Context & { caller: Caller }
  }
}

export const builder = new SchemaBuilder<SchemaTypes>({
  plugins: [ScopeAuthPlugin, RelayPlugin, 'rateLimit', 'rest', 'requireAuth', 'listBound'],
  defaultFieldNullability: false,
  scopeAuth: {
    defaultStrategy: 'all',
    authorizeOnSubscribe: true,
    authScopes: ({ caller, services }) => ({
      public: true,
      signedIn: caller !== null,
      session: () => hasSession(caller),
      operator: async () => hasSession(caller) && caller !== null && services.appointments.isOperator(caller),
      privateFiles: level => mayUsePrivateFiles(caller, level),
      workspaces: scope => mayUseWorkspaces(caller, scope),
    }),
    unauthorizedError: (_parent, { caller }) => (caller ? new Forbidden() : new Unauthenticated()),
  },
  relay: { clientMutationId: 'omit', cursorType: 'String', nodeQueryOptions: false, nodesQueryOptions: false },
})

/** The type of the field builder of inputs, for fields that several inputs share. */
export type InputFields = PothosSchemaTypes.InputFieldBuilder<typeof builder.$inferSchemaTypes, 'InputObject'>

builder.queryType({ description: 'What can be read.' })
builder.mutationType({ description: 'What can be changed.' })
builder.subscriptionType({ description: 'What can be waited for, as server-sent events.' })
