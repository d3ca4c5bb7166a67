import { logSecurityEvent } from '../src/audit-log.ts'
import { may } from '../src/auth/roles.ts'
import { privateScopes, workspaceScopes } from '../src/auth/scopes.ts'
import type { ApiKeyView, NewApiKey } from '../src/services/api-key.ts'
import { builder } from './builder.ts'
import { batchPages, forwardConnection, type Sorting } from './connection.ts'
import { User } from './user.ts'
import { Workspace } from './workspace.ts'

const CreatedApiKey = builder.objectRef<NewApiKey>('CreatedApiKey').implement({
  description: 'A key that was just made: the one time its secret is shown.',
  fields: t => ({
    id: t.exposeID('id'),
    name: t.exposeString('name'),
    description: t.exposeString('description'),
    key: t.exposeString('key'),
    scopes: t.exposeStringList('scopes', { extensions: { listSize: workspaceScopes.length } }),
    userId: t.exposeID('userId', { nullable: true }),
    workspaceId: t.exposeID('workspaceId', { nullable: true }),
    createdBy: t.exposeID('createdBy'),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', nullable: true }),
  }),
})

const ApiKey = builder.objectRef<ApiKeyView>('ApiKey').implement({
  description: 'An API key, without its secret.',
  fields: t => ({
    id: t.exposeID('id'),
    name: t.exposeString('name'),
    description: t.exposeString('description'),
    status: t.exposeString('status', { description: 'active or expired' }),
    scopes: t.exposeStringList('scopes', { extensions: { listSize: workspaceScopes.length } }),
    createdBy: t.exposeID('createdBy'),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
    lastUsedAt: t.expose('lastUsedAt', { type: 'DateTime', nullable: true }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', nullable: true }),
    keyHint: t.exposeString('keyHint', { description: 'The end of the secret.' }),
  }),
})

const newestFirst: Sorting<ApiKeyView, ['number', 'id']> = {
  types: ['number', 'id'],
  keyOf: key => [key.createdAt, key.id],
}

const ApiKeyConnection = builder.connectionObject({ type: ApiKey, name: 'ApiKeyConnection' }, { name: 'ApiKeyEdge' })

builder.objectField(User, 'privateApiKeys', t =>
  t.withAuth({ session: true }).field({
    type: ApiKeyConnection,
    nullable: true,
    restField: false,
    description: 'The private keys of the caller, newest first. For a session only.',
    args: t.arg.connectionArgs(),
    resolve: (_user, args, { services, caller }) =>
      forwardConnection(args, newestFirst, (limit, after) => services.apiKeys.pageOfPrivate(caller, limit, after)),
  }),
)

const keysOf = batchPages<ApiKeyView, [number, string]>(({ services }, workspaceIds, limit, after) =>
  services.apiKeys.pagesOfWorkspaces(workspaceIds, limit, after),
)

builder.objectField(Workspace, 'apiKeys', t =>
  t.withAuth({ session: true }).field({
    type: ApiKeyConnection,
    nullable: true,
    restField: false,
    description: 'Its keys, newest first; null for a role that may not see them. For a session only.',
    args: t.arg.connectionArgs(),
    resolve: ({ id, role }, args, context) =>
      may(role, 'manage')
        ? forwardConnection(args, newestFirst, (limit, after) => keysOf(context, id, limit, after))
        : null,
  }),
)

const CreatePrivateApiKeyInput = builder.inputType('CreatePrivateApiKeyInput', {
  fields: t => ({
    name: t.string({ required: true, description: '1 to 100 characters.' }),
    scopes: t.stringList({ required: true, maxItems: privateScopes.length }),
    description: t.string(),
    expiresIn: t.string({ description: 'A duration such as 90d; without it the key does not expire.' }),
  }),
})

builder.mutationField('createPrivateApiKey', t =>
  t.withAuth({ session: true }).field({
    type: CreatedApiKey,
    description: 'Makes a key that acts as the caller on personal routes.',
    rest: {
      route: 'POST /api/api_keys/private/create',
      errors: [400, 401, 429],
      wrap: 'api_key',
      msg: 'api_key_created',
    },
    rateLimit: 'api_keys',
    args: { input: t.arg({ type: CreatePrivateApiKeyInput, required: true }) },
    resolve: async (_root, { input }, context) => {
      const key = await context.services.apiKeys.createPrivate(context.caller, input)
      logSecurityEvent(context, 'key_created', { key_id: key.id, scopes: key.scopes.join(' ') })
      return key
    },
  }),
)

const DeletePrivateApiKeyInput = builder.inputType('DeletePrivateApiKeyInput', {
  fields: t => ({ apiKeyId: t.id({ required: true }) }),
})

builder.mutationField('deletePrivateApiKey', t =>
  t.withAuth({ session: true }).field({
    type: 'Void',
    nullable: true,
    description: 'Deletes a private key of the caller; its next call is refused.',
    rest: {
      route: 'DELETE /api/api_keys/private/delete',
      errors: [400, 401, 404],
      msg: 'deleted',
      from: { api_key_id: 'body' },
    },
    args: { input: t.arg({ type: DeletePrivateApiKeyInput, required: true }) },
    resolve: async (_root, { input }, context) => {
      await context.services.apiKeys.removePrivate(context.caller, input.apiKeyId)
      logSecurityEvent(context, 'key_deleted', { key_id: input.apiKeyId })
      return null
    },
  }),
)

builder.queryField('privateApiKeys', t =>
  t.withAuth({ session: true }).field({
    type: [ApiKey],
    description: 'The private keys of the caller, newest first.',
    rest: { route: 'GET /api/api_keys/private/list', errors: [401], wrap: 'api_keys' },
    resolve: (_root, _args, { services, caller }) => services.apiKeys.listPrivate(caller),
  }),
)

const CreateWorkspaceApiKeyInput = builder.inputType('CreateWorkspaceApiKeyInput', {
  fields: t => ({
    workspaceId: t.id({ required: true }),
    name: t.string({ required: true, description: '1 to 100 characters.' }),
    scopes: t.stringList({ required: true, maxItems: workspaceScopes.length }),
    description: t.string(),
    expiresIn: t.string({ description: 'A duration such as 90d; without it the key does not expire.' }),
  }),
})

builder.mutationField('createWorkspaceApiKey', t =>
  t.withAuth({ session: true }).field({
    type: CreatedApiKey,
    description: 'Makes a key that works on one workspace, bounded by the right of the caller at every moment.',
    rest: {
      route: 'POST /api/api_keys/{workspace_id}/create',
      errors: [400, 401, 403, 429],
      wrap: 'api_key',
      msg: 'api_key_created',
    },
    rateLimit: 'api_keys',
    args: { input: t.arg({ type: CreateWorkspaceApiKeyInput, required: true }) },
    resolve: async (_root, { input: { workspaceId, ...input } }, context) => {
      const key = await context.services.apiKeys.createForWorkspace(context.caller, workspaceId, input)
      const subject = { key_id: key.id, workspace_id: workspaceId, scopes: key.scopes.join(' ') }
      logSecurityEvent(context, 'key_created', subject)
      return key
    },
  }),
)

const DeleteWorkspaceApiKeyInput = builder.inputType('DeleteWorkspaceApiKeyInput', {
  fields: t => ({ workspaceId: t.id({ required: true }), apiKeyId: t.id({ required: true }) }),
})

builder.mutationField('deleteWorkspaceApiKey', t =>
  t.withAuth({ session: true }).field({
    type: 'Void',
    nullable: true,
    description: 'Deletes a key of a workspace; its next call is refused.',
    rest: {
      route: 'DELETE /api/api_keys/{workspace_id}/delete',
      errors: [400, 401, 403, 404],
      msg: 'deleted',
      from: { api_key_id: 'body' },
    },
    args: { input: t.arg({ type: DeleteWorkspaceApiKeyInput, required: true }) },
    resolve: async (_root, { input: { workspaceId, apiKeyId } }, context) => {
      await context.services.apiKeys.removeFromWorkspace(context.caller, workspaceId, apiKeyId)
      logSecurityEvent(context, 'key_deleted', { key_id: apiKeyId, workspace_id: workspaceId })
      return null
    },
  }),
)

builder.queryField('workspaceApiKeys', t =>
  t.withAuth({ session: true }).field({
    type: [ApiKey],
    description: 'The keys of a workspace, newest first.',
    rest: { route: 'GET /api/api_keys/{workspace_id}/list', errors: [401, 403], wrap: 'api_keys' },
    args: { workspaceId: t.arg.id({ required: true }) },
    resolve: (_root, { workspaceId }, { services, caller }) => services.apiKeys.listOfWorkspace(caller, workspaceId),
  }),
)
