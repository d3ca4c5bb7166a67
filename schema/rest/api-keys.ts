import { type KeyScope, privateScopes, workspaceScopes } from '../../src/access/scopes.ts'
import { logSecurityEvent } from '../../src/audit-log.ts'
import { MAX_KEY_NAME } from '../../src/limits.ts'
import type { ApiKeyView, NewApiKey } from '../../src/services/accounts/api-key.ts'
import { area } from '../plugins/rest.ts'
import { namedWorkspace } from './arguments.ts'
import { type Argument, builder, type ObjectFields } from './builder.ts'

const rest = area('api keys', 'Keys for programs.')

const keyFields = (t: ObjectFields<ApiKeyView | NewApiKey>) => ({
  created_at: t.expose('createdAt', { type: 'DateTime' }),
  created_by: t.exposeID('createdBy'),
  description: t.exposeString('description', { example: 'Runs on the machine in the cellar.' }),
  expires_at: t.expose('expiresAt', { type: 'DateTime', nullable: true }),
  id: t.exposeID('id'),
})

/** What a new key is to be. */
const keyInput = (arg: Argument, scopes: readonly KeyScope[]) => ({
  description: arg.string({ example: 'Runs on the machine in the cellar.' }),
  expires_in: arg.string({
    description: 'A duration such as 90d; by default the key does not expire.',
    example: '90d',
  }),
  name: arg.string({ required: true, description: `1 to ${MAX_KEY_NAME} characters.`, example: 'Nightly backup' }),
  scopes: arg.stringList({
    required: true,
    maxItems: scopes.length,
    example: scopes.filter(scope => scope.endsWith('files:read')),
  }),
})

const ApiKey = builder.objectRef<ApiKeyView>('ApiKey').implement({
  description: 'An API key, without its secret.',
  fields: t => ({
    ...keyFields(t),
    key_hint: t.exposeString('keyHint', { description: 'The last characters of the secret.', example: 'OnCe' }),
    last_used_at: t.expose('lastUsedAt', { type: 'DateTime', nullable: true }),
    name: t.exposeString('name', { example: 'Nightly backup' }),
    scopes: t.exposeStringList('scopes', { example: ['private_files:read'] }),
    status: t.exposeString('status', { description: 'active or expired', example: 'active' }),
  }),
})

builder.queryField('privateApiKeys', t =>
  t.withAuth({ session: true }).field({
    type: [ApiKey],
    description: 'The private keys of the caller, newest first.',
    rest: rest({ route: 'GET /api/api_keys/private/list', statuses: [401], wrap: 'api_keys' }),
    resolve: (_root, _args, { services, caller }) => services.apiKeys.listPrivate(caller),
  }),
)

builder.queryField('workspaceApiKeys', t =>
  t.withAuth({ session: true, workspace: 'manageKeys' }).field({
    type: [ApiKey],
    description: 'The keys of a workspace, newest first.',
    rest: rest({ route: 'GET /api/api_keys/{workspace_id}/list', statuses: [401, 403], wrap: 'api_keys' }),
    args: {
      workspace_id: t.arg.id({ required: true }),
    },
    on: namedWorkspace,
    resolve: (_root, _args, { services, workspace }) => services.apiKeys.listOfWorkspace(workspace),
  }),
)

const CreatedApiKey = builder.objectRef<NewApiKey>('CreatedApiKey').implement({
  description: 'A new key: its secret is shown this once.',
  fields: t => ({
    ...keyFields(t),
    key: t.exposeString('key', { example: 'satchel_KeYtHaTiSsHoWnOnCe' }),
    name: t.exposeString('name', { example: 'Nightly backup' }),
    scopes: t.exposeStringList('scopes', { example: ['private_files:read'] }),
    user_id: t.exposeID('userId', { nullable: true }),
    workspace_id: t.exposeID('workspaceId', { nullable: true }),
  }),
})

builder.mutationField('createPrivateApiKey', t =>
  t.withAuth({ session: true }).field({
    type: CreatedApiKey,
    description: 'Creates a key that acts as the caller on personal routes.',
    rest: rest({
      route: 'POST /api/api_keys/private/create',
      statuses: [400, 401, 429],
      fails: ['INVALID_DURATION', 'INVALID_SCOPE', 'QUOTA_EXCEEDED'],
      wrap: 'api_key',
      msg: 'api_key_created',
    }),
    rateLimit: 'api_keys',
    args: keyInput(t.arg, privateScopes),
    resolve: async (_root, { expires_in: expiresIn, ...args }, context) => {
      const key = await context.services.apiKeys.createPrivate(context.caller, { ...args, expiresIn })
      logSecurityEvent(context, 'key_created', { key_id: key.id, scopes: key.scopes.join(' ') })
      return key
    },
  }),
)

builder.mutationField('createWorkspaceApiKey', t =>
  t.withAuth({ session: true, workspace: 'manageKeys' }).field({
    type: CreatedApiKey,
    description:
      'Creates a key for one workspace; it never has more rights than its creator has at the time of the call.',
    rest: rest({
      route: 'POST /api/api_keys/{workspace_id}/create',
      statuses: [400, 401, 403, 429],
      fails: ['INVALID_DURATION', 'INVALID_SCOPE', 'QUOTA_EXCEEDED'],
      wrap: 'api_key',
      msg: 'api_key_created',
    }),
    rateLimit: 'api_keys',
    args: {
      ...keyInput(t.arg, workspaceScopes),
      workspace_id: t.arg.id({ required: true }),
    },
    on: namedWorkspace,
    resolve: async (_root, { workspace_id: workspaceId, expires_in: expiresIn, ...args }, context) => {
      const { services, caller, workspace } = context
      const key = await services.apiKeys.createForWorkspace(caller, workspace, { ...args, expiresIn })
      const subject = { key_id: key.id, workspace_id: workspaceId, scopes: key.scopes.join(' ') }
      logSecurityEvent(context, 'key_created', subject)
      return key
    },
  }),
)

builder.mutationField('deletePrivateApiKey', t =>
  t.withAuth({ session: true }).field({
    type: 'Void',
    nullable: true,
    description: 'Deletes a private key of the caller; its next call is refused.',
    rest: rest({
      route: 'DELETE /api/api_keys/private/delete',
      statuses: [400, 401, 404],
      fails: ['API_KEY_NOT_FOUND'],
      msg: 'deleted',
      from: { api_key_id: 'body' },
    }),
    args: {
      api_key_id: t.arg.id({ required: true }),
    },
    resolve: async (_root, { api_key_id: id }, context) => {
      await context.services.apiKeys.removePrivate(context.caller, id)
      logSecurityEvent(context, 'key_deleted', { key_id: id })
      return null
    },
  }),
)

builder.mutationField('deleteWorkspaceApiKey', t =>
  t.withAuth({ session: true, workspace: 'manageKeys' }).field({
    type: 'Void',
    nullable: true,
    description: 'Deletes a key of a workspace; its next call is refused.',
    rest: rest({
      route: 'DELETE /api/api_keys/{workspace_id}/delete',
      statuses: [400, 401, 403, 404],
      fails: ['API_KEY_NOT_FOUND'],
      msg: 'deleted',
      from: { api_key_id: 'body' },
    }),
    args: {
      api_key_id: t.arg.id({ required: true }),
      workspace_id: t.arg.id({ required: true }),
    },
    on: namedWorkspace,
    resolve: async (_root, { workspace_id: workspaceId, api_key_id: id }, context) => {
      await context.services.apiKeys.removeFromWorkspace(context.caller, context.workspace, id)
      logSecurityEvent(context, 'key_deleted', { key_id: id, workspace_id: workspaceId })
      return null
    },
  }),
)
