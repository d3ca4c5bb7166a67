import { accountRefusals, type EventKind, eventKinds, personKinds, vias } from '../../db/models/event.ts'
import type { EventPoll } from '../../src/services/history/event-feed.ts'
import type { EventOnWire } from '../../src/services/history/event-wire.ts'
import type { Context } from '../context.ts'
import { limitOf } from './arguments.ts'
import { type Argument, type Given, objectOf } from './builder.ts'
import { BYTES, CURSOR, FILE_PATH, MD5, ROLE } from './examples.ts'
import { operationsOf } from './operation.ts'

const operation = operationsOf('events', 'What happened, in order, for as long as the service keeps it.')

const EventDetails = objectOf<EventOnWire['details']>(
  'EventDetails',
  'What is known of an event beside its subject. What it has nothing to say about is null.',
  t => ({
    path: t.exposeString('path', {
      nullable: true,
      description: 'Where the file or folder is after it, or was before it was deleted.',
      example: FILE_PATH,
    }),
    from: t.exposeString('from', {
      nullable: true,
      description: 'Where it was before it was moved or renamed.',
      example: 'drafts/report.pdf',
    }),
    size: t.expose('size', {
      type: 'Long',
      nullable: true,
      description: 'Bytes of the file, or of all files of the folder.',
      example: BYTES,
    }),
    md5: t.exposeString('md5', { nullable: true, example: MD5 }),
    files: t.exposeInt('files', { nullable: true, description: 'How many files went with the folder.', example: 1 }),
    entry_id: t.exposeID('entry_id', {
      nullable: true,
      description: 'The file that is shared, or the folder that files are asked for.',
    }),
    recipient: t.exposeString('recipient', {
      nullable: true,
      description: 'An e-mail address, masked.',
      example: 'b…@example.org',
    }),
    name: t.exposeString('name', {
      nullable: true,
      description: 'The name of the workspace or key; the label of a file request; of a webhook, the host of its URL.',
      example: 'Garden',
    }),
    workspace_id: t.exposeID('workspace_id', { nullable: true }),
    role: t.exposeString('role', {
      nullable: true,
      description: 'The role that a person has after it, or is offered.',
      example: ROLE,
    }),
    plan: t.exposeString('plan', { nullable: true, description: 'The plan after it.', example: 'developer' }),
    provider: t.exposeString('provider', {
      nullable: true,
      description: 'The provider of the identity.',
      example: 'github',
    }),
    sender: t.exposeString('sender', {
      nullable: true,
      description: 'The name that the sender of a file to a file request has given; a claim.',
      example: 'Carol',
    }),
    refusal: t.exposeString('refusal', {
      nullable: true,
      description: `Why a sign-in was refused: ${accountRefusals.join(', ')}.`,
      example: 'email_unverified',
    }),
    device: t.exposeString('device', { nullable: true, example: 'Firefox on Linux' }),
    network: t.exposeString('network', {
      nullable: true,
      description: 'The network of the client: an IPv4 address as its /24, an IPv6 address as its /48.',
      example: '203.0.113.0/24',
    }),
  }),
)

const Event = objectOf<EventOnWire>('Event', t => ({
  id: t.exposeString('id', {
    description: 'The same wherever the event is sent.',
    example: 'event:6f1c2b52-7d0e-4a58-9d3b-0c9f5e1a7b44:17',
  }),
  kind: t.exposeString('kind', {
    description: `What happened: ${eventKinds.join(', ')}.`,
    example: 'file.created',
  }),
  happened_at: t.field({ type: 'DateTime', resolve: event => Date.parse(event.happened_at) }),
  actor_id: t.exposeID('actor_id', {
    nullable: true,
    description: 'The user who did it; null for the service and its operator.',
  }),
  via: t.exposeString('via', { description: `By what they did it: ${vias.join(', ')}.`, example: 'session' }),
  api_key_id: t.exposeID('api_key_id', { nullable: true, description: 'The key by which they did it.' }),
  subject_id: t.exposeID('subject_id', {
    nullable: true,
    description:
      'What it happened to: the file, folder, share, file request, invite, key, webhook, session, identity or workspace; of a member, the user.',
  }),
  cursor: t.exposeString('cursor', { description: '`after` of a request that goes on behind it.', example: CURSOR }),
  details: t.expose('details', { type: EventDetails }),
}))

const EventPage = objectOf<EventPoll>('EventPage', t => ({
  events: t.expose('events', { type: [Event], description: 'The oldest first.' }),
  cursor: t.exposeString('cursor', {
    description: '`after` of the next request, also when there was nothing.',
    example: CURSOR,
  }),
  has_more: t.exposeBoolean('more', { description: 'Whether the next request finds events at once.' }),
}))

const pageArgs = (arg: Argument) => ({
  after: arg.string({
    description:
      'Where to begin: the `cursor` of an answer. `now` answers no events, but the cursor where they end at present. Without it, the oldest that is kept comes first.',
    example: 'now',
  }),
  limit: arg.int(limitOf('Events')),
})

const read = ({ services }: Context, logId: string, kinds: readonly EventKind[], page: Given<typeof pageArgs>) =>
  services.eventFeeds.poll(logId, kinds, page)

operation('GET /api/events', 'events', {
  description:
    'What happened to the files of the caller. Who takes a cursor first and lists the files afterwards misses nothing.',
  auth: { drive: 'read' },
  statuses: [400, 401, 410],
  fails: ['CURSOR_EXPIRED'],
  args: pageArgs,
  type: EventPage,
  resolve: (page, context) => read(context, context.drive.id, context.drive.eventKinds, page),
})

operation('GET /api/user/events', 'userEvents', {
  description: 'What happened to the caller: sign-ins, keys, shares and invites received, workspaces, plan.',
  auth: { session: true },
  statuses: [400, 401, 410],
  fails: ['CURSOR_EXPIRED'],
  args: pageArgs,
  type: EventPage,
  resolve: (page, context) => read(context, context.caller.userId, personKinds, page),
})

operation('GET /api/workspaces/{workspace_id}/events', 'workspaceEvents', {
  description:
    'What happened in a workspace; members, invites and keys for callers who may manage them, and keys in a session only.',
  auth: { drive: 'read' },
  statuses: [400, 401, 403, 410],
  fails: ['CURSOR_EXPIRED'],
  args: pageArgs,
  type: EventPage,
  resolve: (page, context) => read(context, context.drive.id, context.drive.eventKinds, page),
})
