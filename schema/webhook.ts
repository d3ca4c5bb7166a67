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
  'Whether events are sent to a webhook. A disabled one has failed for three days, or its receiver has answered 410.',
  webhookStates,
)

const WebhookSource = enumOf('WebhookSource', 'What happens in a drive, or to a person.', ['drive', 'person'])

const WebhookDelivery = builder.objectRef<DeliveryRow>('WebhookDelivery').implement({
  description: 'An attempt to deliver an event.',
  fields: t => ({
    eventId: t.exposeID('eventId', { description: 'The id of the event, or of a ping.' }),
    kind: t.exposeString('kind', {
      description: 'The type of the event as it was sent, such as file.created; or ping.',
    }),
    attemptedAt: t.expose('at', { type: 'DateTime', description: 'When.' }),
    attempt: t.exposeInt('attempt', { description: 'How often it was tried with it; 1 for one that was asked for.' }),
    status: t.exposeInt('status', { nullable: true, description: 'What the receiver answered; null for nothing.' }),
    failure: t.exposeString('failure', {
      nullable: true,
      description:
        'Why it failed, null if it did not: status, redirect, forbidden_address, timeout, or a code such as ECONNREFUSED.',
    }),
    milliseconds: t.exposeInt('milliseconds', { description: 'How long it took.' }),
  }),
})

const deliveries = batch(({ services }, ids) => services.webhooks.deliveries(ids))

const Webhook = builder.objectRef<WebhookView>('Webhook').implement({
  description:
    'A URL that events are sent to, each at least once and in order, signed by Standard Webhooks. Its secret is shown once.',
  interfaces: [Node],
  fields: t => ({
    url: t.expose('url', { type: 'URL', description: 'Where to.' }),
    source: t.expose('source', { type: WebhookSource, description: 'Whose events.' }),
    kinds: t.expose('kinds', {
      type: [EventKind],
      nullable: true,
      listSize: 20,
      description: 'Which of them; null for all.',
    }),
    state: t.expose('state', { type: WebhookState, description: 'Whether they are sent.' }),
    firstFailedAt: t.expose('failingSince', {
      type: 'DateTime',
      nullable: true,
      description: 'Since when its receiver does not take the next event; null while it does.',
    }),
    nextAttemptAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When it is tried again, while it fails.',
      resolve: ({ state, failingSince, dueAt }) => (state === 'active' && failingSince !== null ? dueAt : null),
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
    oldSecretEndsAt: t.expose('oldSecretEndsAt', {
      type: 'DateTime',
      nullable: true,
      description:
        'Until when its events are signed with the secret before the present one, too; null when that was never replaced.',
    }),
    responsible: personField(
      t,
      'Who made it or has changed it last. Nothing is sent while they may not manage the workspace.',
      ({ userId }) => userId,
    ),
    deliveries: t.field({
      type: [WebhookDelivery],
      listSize: MAX_DELIVERIES,
      description: `The last ${MAX_DELIVERIES} attempts, the latest first.`,
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
    description: 'The webhooks of the caller, the oldest first. For a session only.',
    resolve: (_viewer, _args, { services, caller }) => services.webhooks.ofCaller(caller),
  }),
)

const ofWorkspaces = batch(({ services }, ids) => services.webhooks.ofWorkspaces(ids))

builder.objectField(Workspace, 'webhooks', t =>
  t.withAuth({ session: true }).field({
    type: [Webhook],
    nullable: true,
    listSize: MAX_WEBHOOKS,
    description: 'Its webhooks, the oldest first. Null for a role that may not see them. For a session only.',
    resolve: async (workspace, _args, context) =>
      allows(workspace, 'manageWebhooks') ? ((await ofWorkspaces(context, workspace.id)) ?? []) : null,
  }),
)

const knownWebhooks = batchSeen(({ webhooks }, caller, ids) => webhooks.knownAmong(caller, ids))

findable('webhook', 'Webhook', async (context, caller, id) => {
  const webhook = caller.via === 'session' ? await knownWebhooks(context, id) : undefined
  return webhook && (await maySee(context, caller, webhook, 'manageWebhooks')) ? webhook : null
})

/** What is allowed with a webhook: to its person, and to those who may manage its workspace. */
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

const kindsInput = 'Only events of these kinds; all of them without it.'

mutation('createWebhook', {
  description: `Sends what happens from now on to a URL: in the drive of a workspace, in the own drive, or to the caller. Up to ${MAX_WEBHOOKS} for each person and each workspace.`,
  auth,
  fails: ['INVALID_INPUT', 'QUOTA_EXCEEDED'],
  input: t => ({
    workspace: t.id({ description: 'The id of the workspace; without it, it is one of the caller.' }),
    source: t.field({
      type: WebhookSource,
      defaultValue: 'drive',
      description: 'Whose events. Those of a person are for one of the caller only.',
    }),
    url: t.field({ type: 'URL', required: true, description: 'An http or https URL at a public address.' }),
    kinds: t.field({ type: [EventKind], maxItems: 100, description: kindsInput }),
  }),
  on: ({ workspace }) => (typeof workspace === 'string' ? { workspaceId: workspace } : 'no workspace'),
  resolve: async ({ workspace: _id, source, ...input }, context) => {
    const { services, caller, workspace } = context
    const made = await services.webhooks.create(caller, workspace, { ...input, source: source ?? 'drive' })
    logSecurityEvent(context, 'webhook_created', subjectOf(made.webhook.id, workspace))
    return { ...changed(made.webhook), secret: made.secret }
  },
  payload: t => ({
    ...changedFields(t),
    secret: t.exposeString('secret', { description: 'What its signatures are made with. It is shown this once.' }),
  }),
})

mutation('updateWebhook', {
  description:
    'Changes a webhook, or pauses and resumes it. What happens while it is paused is sent when it is resumed, as far as it is kept.',
  auth,
  fails: ['INVALID_INPUT', 'WEBHOOK_NOT_FOUND'],
  input: t => ({
    webhook: t.id({ required: true, description: 'Its id.' }),
    url: t.field({ type: 'URL', description: 'Where to; unchanged without it.' }),
    kinds: t.field({
      type: [EventKind],
      maxItems: 100,
      description: 'Only events of these kinds; null for all, unchanged without it.',
    }),
    paused: t.boolean({ description: 'true: nothing is sent; false: it goes on, also when it was disabled.' }),
  }),
  on: ({ webhook }, context) => holderOf(webhook, context),
  resolve: async ({ webhook, ...input }, context) => {
    const row = await context.services.webhooks.update(context.caller, context.workspace, webhook, input)
    logSecurityEvent(context, 'webhook_changed', subjectOf(webhook, context.workspace))
    return changed(row)
  },
  payload: t => changedFields(t),
})

mutation('rotateWebhookSecret', {
  description:
    'Gives a webhook another secret. For 24 hours its events are signed with both, so that its receiver loses none while it takes the new one. Another rotation ends the one before the last at once.',
  auth,
  fails: ['WEBHOOK_NOT_FOUND'],
  input: t => ({ webhook: t.id({ required: true, description: 'Its id.' }) }),
  on: ({ webhook }, context) => holderOf(webhook, context),
  resolve: async ({ webhook }, context) => {
    const rotated = await context.services.webhooks.rotateSecret(context.caller, context.workspace, webhook)
    logSecurityEvent(context, 'webhook_changed', subjectOf(webhook, context.workspace))
    return { ...changed(rotated.webhook), secret: rotated.secret }
  },
  payload: t => ({
    ...changedFields(t),
    secret: t.exposeString('secret', {
      description: 'What its signatures are made with from now on. It is shown this once.',
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
    'Sends a message of the type ping, once; also to a webhook that is paused. Its deliveries say what became of it.',
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
  description: 'Sends an event to a webhook once more, with the id that it had; also to one that is paused.',
  auth,
  fails: ['INVALID_INPUT', 'WEBHOOK_NOT_FOUND', 'RATE_LIMITED'],
  rateLimit: 'webhooks',
  input: t => ({
    webhook: t.id({ required: true, description: 'The id of the webhook.' }),
    event: t.id({ required: true, description: 'The id of the event: `eventId` of one of its deliveries.' }),
  }),
  on: ({ webhook }, context) => holderOf(webhook, context),
  resolve: async ({ webhook, event }, { services, caller, workspace }) =>
    changed(await services.webhooks.redeliver(caller, workspace, webhook, event)),
  payload: t => changedFields(t),
})
