import {
  accountRefusals,
  type EventKind,
  eventKinds,
  personKinds,
  vias,
} from '../../db/models/event.ts'
import type { EventPoll } from '../../src/services/history/event-feed.ts'
import type { EventOnWire } from '../../src/services/history/event-wire.ts'
import type { Context } from '../context.ts'
import { limitOf } from './arguments.ts'
import { type Argument, type Given, objectOf } from './builder.ts'
import { BYTES, CURSOR, FILE_PATH, MD5, ROLE } from './examples.ts'
import { operationsOf } from './operation.ts'

const operation = operationsOf('events', 'Events in order, while the service keeps them.')

const ChangedLimit = objectOf<NonNullable<EventOnWire['details']['limits']>[number]>(
  'ChangedLimit',
  'A limit that was set. If it has no value and is not unlimited, the limit of the plan applies again.',
  t => ({
    name: t.exposeString('name', { example: 'max_files' }),
    value: t.expose('value', {
      type: 'Long',
      nullable: true,
      description: 'Bytes, or a number.',
      example: 1000,
    }),
    unlimited: t.exposeBoolean('unlimited', { description: 'Whether the limit was removed.' }),
  }),
)

const EventDetails = objectOf<EventOnWire['details']>(
  'EventDetails',
  'The details of an event. Fields that do not apply to the kind of event are null.',
  t => ({
    path: t.exposeString('path', {
      nullable: true,
      description: 'The path of the file or folder after the event, or before a deletion.',
      example: FILE_PATH,
    }),
    from: t.exposeString('from', {
      nullable: true,
      description: 'Its path before it was moved or renamed.',
      example: 'drafts/report.pdf',
    }),
    size: t.expose('size', {
      type: 'Long',
      nullable: true,
      description: 'Bytes of the file, or of all files in the folder.',
      example: BYTES,
    }),
    md5: t.exposeString('md5', { nullable: true, example: MD5 }),
    files: t.exposeInt('files', {
      nullable: true,
      description: 'How many files were deleted with the folder.',
      example: 1,
    }),
    entry_id: t.exposeID('entry_id', {
      nullable: true,
      description: 'The shared file, or the folder of the file request.',
    }),
    recipient: t.exposeString('recipient', {
      nullable: true,
      description: 'An e-mail address, masked.',
      example: 'b…@example.org',
    }),
    name: t.exposeString('name', {
      nullable: true,
      description:
        'The name of the workspace or key; the label of a file request; of a webhook, the host of its URL.',
      example: 'Garden',
    }),
    workspace_id: t.exposeID('workspace_id', { nullable: true }),
    role: t.exposeString('role', {
      nullable: true,
      description: 'The new role of a person, or the offered role.',
      example: ROLE,
    }),
    plan: t.exposeString('plan', {
      nullable: true,
      description: 'The plan after the event.',
      example: 'developer',
    }),
    limits: t.expose('limits', {
      type: [ChangedLimit],
      nullable: true,
      description: 'The limits that an operator has set for the account or the workspace.',
    }),
    provider: t.exposeString('provider', {
      nullable: true,
      description: 'The provider of the identity.',
      example: 'github',
    }),
    sender: t.exposeString('sender', {
      nullable: true,
      description: 'The name given by the sender of a file to a file request; it is not verified.',
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
      description:
        'The network of the client: an IPv4 address as its /24, an IPv6 address as its /48.',
      example: '203.0.113.0/24',
    }),
    tool: t.exposeString('tool', {
      nullable: true,
      description: 'The tool that an assistant called.',
      example: 'read_text',
    }),
    code: t.exposeString('code', {
      nullable: true,
      description: 'The error code, if the call of the tool failed.',
      example: 'FILE_NOT_FOUND',
    }),
  }),
)

const Event = objectOf<EventOnWire>('Event', t => ({
  id: t.exposeString('id', {
    description: 'The id of the event, the same wherever the event is sent.',
    example: 'event:6f1c2b52-7d0e-4a58-9d3b-0c9f5e1a7b44:17',
  }),
  kind: t.exposeString('kind', {
    description: `The kind of event: ${eventKinds.join(', ')}.`,
    example: 'file.created',
  }),
  happened_at: t.field({ type: 'DateTime', resolve: event => Date.parse(event.happened_at) }),
  actor_id: t.exposeID('actor_id', {
    nullable: true,
    description: 'The user who did it; null for the service and its operator.',
  }),
  via: t.exposeString('via', {
    description: `The means by which they did it: ${vias.join(', ')}.`,
    example: 'session',
  }),
  api_key_id: t.exposeID('api_key_id', { nullable: true, description: 'The key that was used.' }),
  subject_id: t.exposeID('subject_id', {
    nullable: true,
    description:
      'The id of the subject: a file, folder, share, file request, invite, key, webhook, session, identity or workspace; for a member, the id of the user.',
  }),
  cursor: t.exposeString('cursor', {
    description: 'Its cursor: send it as `after` to continue after this event.',
    example: CURSOR,
  }),
  details: t.expose('details', { type: EventDetails }),
}))

const EventPage = objectOf<EventPoll>('EventPage', t => ({
  events: t.expose('events', { type: [Event], description: 'Oldest first.' }),
  cursor: t.exposeString('cursor', {
    description: 'Send it as `after` in the next request, even if there were no events.',
    example: CURSOR,
  }),
  has_more: t.exposeBoolean('more', {
    description: 'Whether the next request returns events at once.',
  }),
}))

const pageArgs = (arg: Argument) => ({
  after: arg.string({
    description:
      'Where to begin: the `cursor` of a response. `now` returns no events, only the cursor at their current end. By default, the list begins with the oldest kept event.',
    example: 'now',
  }),
  limit: arg.int(limitOf('Events')),
})

const read = (
  { services }: Context,
  logId: string,
  kinds: readonly EventKind[],
  page: Given<typeof pageArgs>,
) => services.eventFeeds.poll(logId, kinds, page)

operation('GET /api/events', 'events', {
  description:
    "The events of the caller's files. A client that gets a cursor first and then lists the files misses nothing.",
  auth: { drive: 'read' },
  statuses: [400, 401, 410],
  fails: ['CURSOR_EXPIRED'],
  args: pageArgs,
  type: EventPage,
  resolve: (page, context) => read(context, context.drive.id, context.drive.eventKinds, page),
})

operation('GET /api/user/events', 'userEvents', {
  description:
    'The events about the caller: sign-ins, keys, shares and invites received, workspaces, plan.',
  auth: { session: true },
  statuses: [400, 401, 410],
  fails: ['CURSOR_EXPIRED'],
  args: pageArgs,
  type: EventPage,
  resolve: (page, context) => read(context, context.caller.userId, personKinds, page),
})

operation('GET /api/workspaces/{workspace_id}/events', 'workspaceEvents', {
  description:
    'The events in a workspace; events about members, invites and keys only for callers who may manage them, and events about keys only in a session.',
  auth: { drive: 'read' },
  statuses: [400, 401, 403, 410],
  fails: ['CURSOR_EXPIRED'],
  args: pageArgs,
  type: EventPage,
  resolve: (page, context) => read(context, context.drive.id, context.drive.eventKinds, page),
})
