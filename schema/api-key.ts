import { logSecurityEvent } from '../src/access/audit-log.ts'
import { allows } from '../src/access/drive.ts'
import { privateScopes, workspaceScopes } from '../src/access/scopes.ts'
import { AppError } from '../src/runtime/errors.ts'
import type { ApiKeyView } from '../src/services/accounts/api-key.ts'
import { figure, MAX_KEY_DESCRIPTION, MAX_KEY_NAME } from '../src/values/limits.ts'
import { batchSeen } from './batch.ts'
import { builder, signedIn } from './builder.ts'
import { connectionOf, pageArgs } from './connection.ts'
import { ApiKeyStatus, Scope } from './enums.ts'
import { mutation } from './mutation.ts'
import { findable, Node } from './node.ts'
import { batchPages, forwardConnection, type Sorting } from './paging.ts'
import { existingPerson, Person } from './person.ts'
import { Workspace } from './refs.ts'
import { Viewer, viewerField } from './viewer.ts'
import { maySee, workspaceField } from './workspace.ts'

const ApiKey = builder.objectRef<ApiKeyView>('ApiKey').implement({
  description:
    'An API key, without its secret: a private one of the caller, or one of a workspace.',
  interfaces: [Node],
  fields: t => ({
    name: t.exposeString('name', { description: 'Its name.' }),
    description: t.exposeString('description', {
      description: 'What the key is for; may be empty.',
    }),
    status: t.expose('status', { type: ApiKeyStatus, description: 'Whether it can be used.' }),
    scopes: t.expose('scopes', {
      type: [Scope],
      description: 'What it may be used for.',
      listSize: workspaceScopes.length,
    }),
    hint: t.exposeString('keyHint', { description: 'The last characters of the secret.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
    lastUsedAt: t.expose('lastUsedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was last used, exact to a minute.',
    }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it expires; null if it does not.',
    }),
    createdBy: t.field({
      type: Person,
      description: 'Who created it. The key may never do more than this person.',
      resolve: ({ createdBy }, _args, context) => existingPerson(context, createdBy),
    }),
    workspace: workspaceField(t),
  }),
})

const ApiKeyConnection = connectionOf('ApiKey', ApiKey)

const newestFirst: Sorting<ApiKeyView, ['number', 'id']> = {
  types: ['number', 'id'],
  keyOf: key => [key.createdAt, key.id],
}

const pagesOf = batchPages<ApiKeyView, [number, string]>(
  ({ services }, workspaceIds, limit, after) =>
    services.apiKeys.pagesOfWorkspaces(workspaceIds, limit, after),
)

builder.objectField(Viewer, 'apiKeys', t =>
  t.withAuth({ session: true }).field({
    type: ApiKeyConnection,
    nullable: true,
    description: 'The private keys of the caller, newest first. For a session only.',
    args: pageArgs(t.arg),
    resolve: (_viewer, args, { services, caller }) =>
      forwardConnection(args, newestFirst, (limit, after) =>
        services.apiKeys.pageOfPrivate(caller, limit, after),
      ),
  }),
)

builder.objectField(Workspace, 'apiKeys', t =>
  t.withAuth({ session: true }).field({
    type: ApiKeyConnection,
    nullable: true,
    description:
      'Its keys, newest first. Null for a role that may not see them. For a session only.',
    args: pageArgs(t.arg),
    resolve: (workspace, args, context) =>
      allows(workspace, 'manageKeys')
        ? forwardConnection(args, newestFirst, (limit, after) =>
            pagesOf(context, workspace.id, limit, after),
          )
        : null,
  }),
)

const knownKeys = batchSeen(({ apiKeys }, caller, ids) => apiKeys.knownAmong(caller, ids))

findable('api_key', 'ApiKey', async (context, caller, id) => {
  const key = caller.via === 'session' ? await knownKeys(context, id) : undefined
  return key && (await maySee(context, caller, key, 'manageKeys')) ? key : null
})

const SECRET_SHOWN = 4

mutation('createApiKey', {
  description:
    'Creates a private key, which acts as the caller on their own drive, or a key of a workspace. The key never has more rights than the caller.',
  auth: { session: true, workspaceIfAny: 'manageKeys' },
  fails: [
    'INVALID_INPUT',
    'INVALID_SCOPE',
    'INVALID_DURATION',
    'PROOF_NEEDED',
    'QUOTA_EXCEEDED',
    'RATE_LIMITED',
  ],
  places: { expires_in: 'expiresIn' },
  rateLimit: 'api_keys',
  input: t => ({
    workspace: t.id({
      description: 'The id of the workspace. Without it, the key is a private one.',
    }),
    name: t.string({ required: true, description: `1 to ${MAX_KEY_NAME} characters.` }),
    description: t.string({ description: `Up to ${figure(MAX_KEY_DESCRIPTION)} characters.` }),
    scopes: t.field({
      type: [Scope],
      required: true,
      maxItems: privateScopes.length + workspaceScopes.length,
      description: 'What it may be used for: scopes of private files, or of workspaces.',
    }),
    expiresIn: t.string({
      description: 'A duration such as 90d; without it the key does not expire.',
    }),
  }),
  on: ({ workspace }) =>
    typeof workspace === 'string' ? { workspaceId: workspace } : 'no workspace',
  resolve: async ({ workspace: _id, ...input }, context) => {
    const { services, caller, workspace } = context
    const { key, ...made } = workspace
      ? await services.apiKeys.createForWorkspace(caller, workspace, input)
      : await services.apiKeys.createPrivate(caller, input)
    logSecurityEvent(context, 'key_created', {
      key_id: made.id,
      ...(workspace ? { workspace_id: workspace.id } : {}),
      scopes: made.scopes.join(' '),
    })
    const apiKey = {
      ...made,
      status: 'active' as const,
      lastUsedAt: null,
      keyHint: key.slice(-SECRET_SHOWN),
    }
    return { apiKey, secret: key, workspaceId: made.workspaceId }
  },
  payload: t => ({
    apiKey: t.expose('apiKey', { type: ApiKey, description: 'The new key.' }),
    secret: t.exposeString('secret', { description: 'Its secret. It is shown only once.' }),
    workspace: workspaceField(t),
    viewer: viewerField(t),
  }),
})

mutation('deleteApiKey', {
  description:
    'Deletes a private key of the caller, or a key of a workspace. Its next request is refused.',
  auth: { session: true, workspaceIfAny: 'manageKeys' },
  goesOn: 'stops a key that others may have',
  fails: ['API_KEY_NOT_FOUND'],
  input: t => ({ apiKey: t.id({ required: true, description: 'Its id.' }) }),
  on: async ({ apiKey }, context) => {
    signedIn(context)
    const key = await knownKeys(context, apiKey)
    if (!key) throw new AppError('API_KEY_NOT_FOUND', 'There is no such API key.')
    return key.workspaceId === null ? 'no workspace' : { workspaceId: key.workspaceId }
  },
  resolve: async ({ apiKey }, context) => {
    const { services, caller, workspace } = context
    if (workspace) await services.apiKeys.removeFromWorkspace(caller, workspace, apiKey)
    else await services.apiKeys.removePrivate(caller, apiKey)
    logSecurityEvent(context, 'key_deleted', {
      key_id: apiKey,
      ...(workspace ? { workspace_id: workspace.id } : {}),
    })
    return { deletedId: apiKey, workspaceId: workspace?.id ?? null }
  },
  payload: t => ({
    deletedId: t.exposeID('deletedId', { description: 'The id of the key.' }),
    workspace: workspaceField(t),
    viewer: viewerField(t),
  }),
})
