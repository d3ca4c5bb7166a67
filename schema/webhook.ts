import { webhookStates } from '../db/models/webhook.ts'
import { logSecurityEvent } from '../src/access/audit-log.ts'
import { allows } from '../src/access/drive.ts'
import type { DeliveryRow, WebhookView } from '../src/services/notices/webhook.ts'
import type { WorkspaceView } from '../src/services/workspaces/workspace.ts'
import { MAX_DELIVERIES, MAX_WEBHOOKS } from '../src/values/limits.ts'
import type { Subject } from './access.ts'
import { batch, batchSeen } from './batch.ts'
import { builder, type ObjectFields, signedIn } from './builder.ts'
import type { Context } from './context.ts'
import { EventKind, enumOf } from './enums.ts'
import { mutation } from './mutation.ts'
import { findable, Node } from './node.ts'
import { personField } from './person.ts'
import { Workspace } from './refs.ts'
import { Viewer, viewerField } from './viewer.ts'
import { maySee, workspaceField } from './workspace.ts'

const WebhookState = enumOf(
  'WebhookState',
  'Whether events are sent to a webhook. It is disabled after failing for three days, or after a response with status 410.',
  webhookStates,
)

const WebhookSource = enumOf('WebhookSource', 'The source of events: a drive or a person.', [
  'drive',
  'person',
])

const WebhookDelivery = builder.objectRef<DeliveryRow>('WebhookDelivery').implement({
  description: 'An attempt to deliver an event.',
  fields: t => ({
    eventId: t.exposeID('eventId', { description: 'The id of the event, or of a ping.' }),
    kind: t.exposeString('kind', {
      description: 'The type of the event as it was sent, such as file.created; or ping.',
    }),
    attemptedAt: t.expose('at', { type: 'DateTime', description: 'When.' }),
    attempt: t.exposeInt('attempt', {
      description:
        'The number of this attempt for the event; 1 for an event that was sent again on request.',
    }),
    status: t.exposeInt('status', {
      nullable: true,
      description: 'The status of the response; null without a response.',
    }),
    failure: t.exposeString('failure', {
      nullable: true,
      description:
        'Why it failed: status, redirect, forbidden_address, timeout, or a code such as ECONNREFUSED; null if it succeeded.',
    }),
    milliseconds: t.exposeInt('milliseconds', { description: 'How long it took.' }),
  }),
})

const deliveries = batch(({ services }, ids) => services.webhooks.deliveries(ids))

const Webhook = builder.objectRef<WebhookView>('Webhook').implement({
  description:
    'A URL to which events are sent, each at least once and in order, signed according to Standard Webhooks. Its secret is shown once.',
  interfaces: [Node],
  fields: t => ({
    url: t.expose('url', { type: 'URL', description: 'The URL.' }),
    source: t.expose('source', { type: WebhookSource, description: 'The source of its events.' }),
    kinds: t.expose('kinds', {
      type: [EventKind],
      nullable: true,
      listSize: 20,
      description: 'The kinds of events that are sent; null for all.',
    }),
    state: t.expose('state', { type: WebhookState, description: 'Whether events are sent.' }),
    firstFailedAt: t.expose('failingSince', {
      type: 'DateTime',
      nullable: true,
      description: 'When its receiver began to fail; null while it accepts events.',
    }),
    nextAttemptAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'The time of the next attempt, while it fails.',
      resolve: ({ state, failingSince, dueAt }) =>
        state === 'active' && failingSince !== null ? dueAt : null,
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
    oldSecretEndsAt: t.expose('oldSecretEndsAt', {
      type: 'DateTime',
      nullable: true,
      description:
        'Until when its events are also signed with the previous secret; null if the secret was never replaced.',
    }),
    responsible: personField(
      t,
      'Who created it or changed it last. Nothing is sent while this person may not manage the workspace.',
      ({ userId }) => userId,
    ),
    deliveries: t.field({
      type: [WebhookDelivery],
      listSize: MAX_DELIVERIES,
      description: `The last ${MAX_DELIVERIES} attempts, latest first.`,
      resolve: async ({ id }, _args, context) => (await deliveries(context, id)) ?? [],
    }),
    workspace: workspaceField(t),
  }),
})

builder.objectField(Viewer, 'webhooks', t =>
  t.withAuth({ session: true }).field({
    type: [Webhook],
    nullable: true,
    listSize: MAX_WEBHOOKS,
    description: 'The webhooks of the caller, oldest first. For a session only.',
    resolve: (_viewer, _args, { services, caller }) => services.webhooks.ofCaller(caller),
  }),
)

const ofWorkspaces = batch(({ services }, ids) => services.webhooks.ofWorkspaces(ids))

builder.objectField(Workspace, 'webhooks', t =>
  t.withAuth({ session: true }).field({
    type: [Webhook],
    nullable: true,
    listSize: MAX_WEBHOOKS,
    description:
      'Its webhooks, oldest first. Null for a role that may not see them. For a session only.',
    resolve: async (workspace, _args, context) =>
      allows(workspace, 'manageWebhooks')
        ? ((await ofWorkspaces(context, workspace.id)) ?? [])
        : null,
  }),
)

const knownWebhooks = batchSeen(({ webhooks }, caller, ids) => webhooks.knownAmong(caller, ids))

findable('webhook', 'Webhook', async (context, caller, id) => {
  const webhook = caller.via === 'session' ? await knownWebhooks(context, id) : undefined
  return webhook && (await maySee(context, caller, webhook, 'manageWebhooks')) ? webhook : null
})

/** The rule for a webhook: its person or the managers of its workspace may use it. */
const auth = { session: true, workspaceIfAny: 'manageWebhooks' } as const

async function holderOf(id: string, context: Context): Promise<Subject> {
  const workspaceId = await context.services.webhooks.workspaceOf(signedIn(context), id)
  return workspaceId === null ? 'no workspace' : { workspaceId }
}

type Changed = { webhook: WebhookView; workspaceId: string | null }

const changedFields = <Payload extends Changed>(t: ObjectFields<Payload>) => ({
  webhook: t.field({
    type: Webhook,
    description: 'The webhook.',
    resolve: ({ webhook }: Payload) => webhook,
  }),
  workspace: workspaceField(t),
  viewer: viewerField(t),
})

const changed = (webhook: WebhookView): Changed => ({ webhook, workspaceId: webhook.workspaceId })

const subjectOf = (webhookId: string, workspace: WorkspaceView | null) => ({
  webhook_id: webhookId,
  ...(workspace ? { workspace_id: workspace.id } : {}),
})

const kindsInput = 'Only events of these kinds; by default all.'

mutation('createWebhook', {
  description: `Creates a webhook, which sends new events to a URL: those of the drive of a workspace, of the caller's own drive, or about the caller. Up to ${MAX_WEBHOOKS} for each person and each workspace.`,
  auth,
  fails: ['INVALID_INPUT', 'QUOTA_EXCEEDED'],
  input: t => ({
    workspace: t.id({
      description: 'The id of the workspace; by default the webhook is one of the caller.',
    }),
    source: t.field({
      type: WebhookSource,
      defaultValue: 'drive',
      description: 'The source of events. PERSON is only possible without a workspace.',
    }),
    url: t.field({
      type: 'URL',
      required: true,
      description: 'An http or https URL at a public address.',
    }),
    kinds: t.field({ type: [EventKind], maxItems: 100, description: kindsInput }),
  }),
  on: ({ workspace }) =>
    typeof workspace === 'string' ? { workspaceId: workspace } : 'no workspace',
  resolve: async ({ workspace: _id, source, ...input }, context) => {
    const { services, caller, workspace } = context
    const made = await services.webhooks.create(caller, workspace, {
      ...input,
      source: source ?? 'drive',
    })
    logSecurityEvent(context, 'webhook_created', subjectOf(made.webhook.id, workspace))
    return { ...changed(made.webhook), secret: made.secret }
  },
  payload: t => ({
    ...changedFields(t),
    secret: t.exposeString('secret', {
      description: 'The secret of its signatures. It is shown only once.',
    }),
  }),
})

mutation('updateWebhook', {
  description:
    'Changes, pauses or resumes a webhook. Events during a pause are sent when it is resumed, if they are still kept.',
  auth,
  fails: ['INVALID_INPUT', 'WEBHOOK_NOT_FOUND'],
  input: t => ({
    webhook: t.id({ required: true, description: 'Its id.' }),
    url: t.field({ type: 'URL', description: 'The new URL; by default unchanged.' }),
    kinds: t.field({
      type: [EventKind],
      maxItems: 100,
      description: 'Only events of these kinds; null for all, by default unchanged.',
    }),
    paused: t.boolean({
      description: 'true: nothing is sent; false: it is resumed, even if it was disabled.',
    }),
  }),
  on: ({ webhook }, context) => holderOf(webhook, context),
  resolve: async ({ webhook, ...input }, context) => {
    const row = await context.services.webhooks.update(
      context.caller,
      context.workspace,
      webhook,
      input,
    )
    logSecurityEvent(context, 'webhook_changed', subjectOf(webhook, context.workspace))
    return changed(row)
  },
  payload: t => changedFields(t),
})

mutation('rotateWebhookSecret', {
  description:
    'Replaces the secret of a webhook. For 24 hours, events are signed with both secrets, so that the receiver can change to the new one without losing any. Another rotation invalidates the oldest secret at once.',
  auth,
  fails: ['WEBHOOK_NOT_FOUND'],
  input: t => ({ webhook: t.id({ required: true, description: 'Its id.' }) }),
  on: ({ webhook }, context) => holderOf(webhook, context),
  resolve: async ({ webhook }, context) => {
    const rotated = await context.services.webhooks.rotateSecret(
      context.caller,
      context.workspace,
      webhook,
    )
    logSecurityEvent(context, 'webhook_changed', subjectOf(webhook, context.workspace))
    return { ...changed(rotated.webhook), secret: rotated.secret }
  },
  payload: t => ({
    ...changedFields(t),
    secret: t.exposeString('secret', {
      description: 'The new secret of its signatures. It is shown only once.',
    }),
  }),
})

mutation('deleteWebhook', {
  description: 'Deletes a webhook, with the list of its attempts.',
  auth,
  fails: ['WEBHOOK_NOT_FOUND'],
  input: t => ({ webhook: t.id({ required: true, description: 'Its id.' }) }),
  on: ({ webhook }, context) => holderOf(webhook, context),
  resolve: async ({ webhook }, context) => {
    const { services, caller, workspace } = context
    await services.webhooks.remove(caller, workspace, webhook)
    logSecurityEvent(context, 'webhook_deleted', subjectOf(webhook, workspace))
    return { deletedId: webhook, workspaceId: workspace?.id ?? null }
  },
  payload: t => ({
    deletedId: t.exposeID('deletedId', { description: 'The id of the webhook.' }),
    workspace: workspaceField(t),
    viewer: viewerField(t),
  }),
})

mutation('pingWebhook', {
  description:
    'Sends a message of the type ping once, even to a paused webhook. Its deliveries show the result.',
  auth,
  fails: ['WEBHOOK_NOT_FOUND', 'RATE_LIMITED'],
  rateLimit: 'webhooks',
  input: t => ({ webhook: t.id({ required: true, description: 'Its id.' }) }),
  on: ({ webhook }, context) => holderOf(webhook, context),
  resolve: async ({ webhook }, { services, caller, workspace }) =>
    changed(await services.webhooks.ping(caller, workspace, webhook)),
  payload: t => changedFields(t),
})

mutation('redeliverEvent', {
  description: 'Sends an event to a webhook again, with the same id, even to a paused webhook.',
  auth,
  fails: ['INVALID_INPUT', 'WEBHOOK_NOT_FOUND', 'RATE_LIMITED'],
  rateLimit: 'webhooks',
  input: t => ({
    webhook: t.id({ required: true, description: 'The id of the webhook.' }),
    event: t.id({
      required: true,
      description: 'The id of the event: `eventId` of one of its deliveries.',
    }),
  }),
  on: ({ webhook }, context) => holderOf(webhook, context),
  resolve: async ({ webhook, event }, { services, caller, workspace }) =>
    changed(await services.webhooks.redeliver(caller, workspace, webhook, event)),
  payload: t => changedFields(t),
})
