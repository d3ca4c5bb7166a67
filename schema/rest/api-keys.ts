import { logSecurityEvent } from '../../src/access/audit-log.ts'
import { type KeyScope, privateScopes, workspaceScopes } from '../../src/access/scopes.ts'
import type { ApiKeyView, NewApiKey } from '../../src/services/accounts/api-key.ts'
import { MAX_KEY_NAME } from '../../src/values/limits.ts'
import { type Argument, type ObjectFields, objectOf } from './builder.ts'
import { operationsOf } from './operation.ts'

const operation = operationsOf('api keys', 'Keys for programs.')

const keyFields = (t: ObjectFields<ApiKeyView | NewApiKey>) => ({
  created_at: t.expose('createdAt', { type: 'DateTime' }),
  created_by: t.exposeID('createdBy'),
  description: t.exposeString('description', { example: 'Runs on the machine in the cellar.' }),
  expires_at: t.expose('expiresAt', { type: 'DateTime', nullable: true }),
  id: t.exposeID('id'),
})

/** The properties of a new key. */
const keyInput = (arg: Argument, scopes: readonly KeyScope[]) => ({
  description: arg.string({ example: 'Runs on the machine in the cellar.' }),
  expires_in: arg.string({
    description: 'A duration such as 90d; by default the key does not expire.',
    example: '90d',
  }),
  name: arg.string({
    required: true,
    description: `1 to ${MAX_KEY_NAME} characters.`,
    example: 'Nightly backup',
  }),
  scopes: arg.stringList({
    required: true,
    maxItems: scopes.length,
    example: scopes.filter(scope => scope.endsWith('files:read')),
  }),
})

const ApiKey = objectOf<ApiKeyView>('ApiKey', 'An API key, without its secret.', t => ({
  ...keyFields(t),
  key_hint: t.exposeString('keyHint', {
    description: 'The last characters of the secret.',
    example: 'OnCe',
  }),
  last_used_at: t.expose('lastUsedAt', { type: 'DateTime', nullable: true }),
  name: t.exposeString('name', { example: 'Nightly backup' }),
  scopes: t.exposeStringList('scopes', { example: ['private_files:read'] }),
  status: t.exposeString('status', { description: 'active or expired', example: 'active' }),
}))

operation('GET /api/api_keys/private/list', 'privateApiKeys', {
  description: 'The private keys of the caller, newest first.',
  auth: { session: true },
  statuses: [401],
  wrap: 'api_keys',
  type: [ApiKey],
  resolve: (_args, { services, caller }) => services.apiKeys.listPrivate(caller),
})

operation('GET /api/api_keys/{workspace_id}/list', 'workspaceApiKeys', {
  description: 'The keys of a workspace, newest first.',
  auth: { session: true, workspace: 'manageKeys' },
  statuses: [401, 403],
  wrap: 'api_keys',
  type: [ApiKey],
  resolve: (_args, { services, workspace }) => services.apiKeys.listOfWorkspace(workspace),
})

const CreatedApiKey = objectOf<NewApiKey>(
  'CreatedApiKey',
  'A new key. Its secret is shown only once.',
  t => ({
    ...keyFields(t),
    key: t.exposeString('key', { example: 'satchel_KeYtHaTiSsHoWnOnCe' }),
    name: t.exposeString('name', { example: 'Nightly backup' }),
    scopes: t.exposeStringList('scopes', { example: ['private_files:read'] }),
    user_id: t.exposeID('userId', { nullable: true }),
    workspace_id: t.exposeID('workspaceId', { nullable: true }),
  }),
)

operation('POST /api/api_keys/private/create', 'createPrivateApiKey', {
  description: 'Creates a key that acts as the caller on personal routes.',
  auth: { session: true },
  statuses: [400, 401, 429],
  fails: ['INVALID_DURATION', 'INVALID_SCOPE', 'PROOF_NEEDED', 'QUOTA_EXCEEDED'],
  wrap: 'api_key',
  msg: 'api_key_created',
  rateLimit: 'api_keys',
  args: arg => keyInput(arg, privateScopes),
  type: CreatedApiKey,
  resolve: async ({ expires_in: expiresIn, ...args }, context) => {
    const key = await context.services.apiKeys.createPrivate(context.caller, { ...args, expiresIn })
    logSecurityEvent(context, 'key_created', { key_id: key.id, scopes: key.scopes.join(' ') })
    return key
  },
})

operation('POST /api/api_keys/{workspace_id}/create', 'createWorkspaceApiKey', {
  description:
    'Creates a key for one workspace; it never has more rights than its creator has at the time of the call.',
  auth: { session: true, workspace: 'manageKeys' },
  statuses: [400, 401, 403, 429],
  fails: ['INVALID_DURATION', 'INVALID_SCOPE', 'PROOF_NEEDED', 'QUOTA_EXCEEDED'],
  wrap: 'api_key',
  msg: 'api_key_created',
  rateLimit: 'api_keys',
  args: arg => keyInput(arg, workspaceScopes),
  type: CreatedApiKey,
  resolve: async ({ workspace_id: workspaceId, expires_in: expiresIn, ...args }, context) => {
    const { services, caller, workspace } = context
    const key = await services.apiKeys.createForWorkspace(caller, workspace, { ...args, expiresIn })
    const subject = { key_id: key.id, workspace_id: workspaceId, scopes: key.scopes.join(' ') }
    logSecurityEvent(context, 'key_created', subject)
    return key
  },
})

operation('DELETE /api/api_keys/private/delete', 'deletePrivateApiKey', {
  description: 'Deletes a private key of the caller; its next call is refused.',
  goesOn: 'stops a key that others may have',
  auth: { session: true },
  statuses: [400, 401, 404],
  fails: ['API_KEY_NOT_FOUND'],
  msg: 'deleted',
  from: { api_key_id: 'body' },
  args: arg => ({
    api_key_id: arg.id({ required: true }),
  }),
  resolve: async ({ api_key_id: id }, context) => {
    await context.services.apiKeys.removePrivate(context.caller, id)
    logSecurityEvent(context, 'key_deleted', { key_id: id })
  },
})

operation('DELETE /api/api_keys/{workspace_id}/delete', 'deleteWorkspaceApiKey', {
  description: 'Deletes a key of a workspace; its next call is refused.',
  goesOn: 'stops a key that others may have',
  auth: { session: true, workspace: 'manageKeys' },
  statuses: [400, 401, 403, 404],
  fails: ['API_KEY_NOT_FOUND'],
  msg: 'deleted',
  from: { api_key_id: 'body' },
  args: arg => ({
    api_key_id: arg.id({ required: true }),
  }),
  resolve: async ({ workspace_id: workspaceId, api_key_id: id }, context) => {
    await context.services.apiKeys.removeFromWorkspace(context.caller, context.workspace, id)
    logSecurityEvent(context, 'key_deleted', { key_id: id, workspace_id: workspaceId })
  },
})
