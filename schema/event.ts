import type { InputShapeFromFields } from '@pothos/core'
import { type EventKind as Kind, personKinds } from '../db/models/event.ts'
import { mapPage, type Page } from '../db/queries/page.ts'
import type { Caller } from '../src/access/caller.ts'
import type { Drive as DriveValue } from '../src/access/drive.ts'
import { InvalidInput } from '../src/runtime/errors.ts'
import type { EventDetails as Details, EventView } from '../src/services/history/event.ts'
import { findDrive, openDrive } from './access.ts'
import { each } from './batch.ts'
import { type ArgFields, builder } from './builder.ts'
import { connectionOf, newestFirst, pageArgs } from './connection.ts'
import type { Context } from './context.ts'
import { entryOf } from './entry.ts'
import { EventKind, EventVia, Role, SignInRefusal } from './enums.ts'
import { findable, Node } from './node.ts'
import { batchPages, forwardConnection, type Sorting } from './paging.ts'
import { personField } from './person.ts'
import { ChangedLimit, LIMITS } from './plan.ts'
import { Drive, Entry } from './refs.ts'
import { Viewer } from './viewer.ts'

/** An event with its drive; null for an event about a person. */
interface EventNode extends EventView {
  drive: DriveValue | null
}

export const EventDetails = builder.objectRef<Details>('EventDetails').implement({
  description: 'The details of an event. Fields that do not apply to the kind of event are null.',
  fields: t => ({
    path: t.exposeString('path', {
      nullable: true,
      description: 'The path of the entry after the event, or before a deletion.',
    }),
    from: t.exposeString('from', {
      nullable: true,
      description: 'The path of the entry before it was moved or renamed.',
    }),
    size: t.expose('bytes', {
      type: 'Bytes',
      nullable: true,
      description: 'The size of the file, or of all files in the folder, in bytes.',
    }),
    md5: t.exposeString('md5', {
      nullable: true,
      description: 'MD5 of the bytes of the file, in hex.',
    }),
    files: t.exposeInt('files', {
      nullable: true,
      description: 'How many files were deleted with the folder.',
    }),
    recipient: t.exposeString('recipient', {
      nullable: true,
      description: 'A shortened e-mail address, recognisable only to those who know it.',
    }),
    name: t.exposeString('name', {
      nullable: true,
      description:
        'The name of the workspace, key or assistant; the label of a file request; of a webhook, the host of its URL.',
    }),
    workspaceId: t.exposeID('workspaceId', {
      nullable: true,
      description: 'The id of the workspace.',
    }),
    role: t.expose('role', {
      type: Role,
      nullable: true,
      description: 'The new role of a person, or the offered role.',
    }),
    plan: t.exposeString('plan', { nullable: true, description: 'The plan after the event.' }),
    limits: t.field({
      type: [ChangedLimit],
      nullable: true,
      description: 'The new limits of an account, a workspace or a plan.',
      listSize: LIMITS,
      resolve: ({ limits }) => limits ?? null,
    }),
    count: t.exposeInt('count', {
      nullable: true,
      description:
        'How many mails are sent again; or how many sign-ins without an account were refused for this reason within the hour, including this one.',
    }),
    provider: t.exposeString('provider', {
      nullable: true,
      description: 'The provider of the identity.',
    }),
    sender: t.exposeString('sender', {
      nullable: true,
      description: 'The name given by the sender of a file to a file request; it is not verified.',
    }),
    refusal: t.expose('refusal', {
      type: SignInRefusal,
      nullable: true,
      description: 'Why a sign-in was refused.',
    }),
    device: t.exposeString('device', {
      nullable: true,
      description: 'What the client calls itself, such as "Firefox on Linux".',
    }),
    network: t.exposeString('network', {
      nullable: true,
      description:
        'The network of the client: an IPv4 address as its /24, an IPv6 address as its /48.',
    }),
    tool: t.exposeString('tool', {
      nullable: true,
      description: 'The tool that an assistant called.',
    }),
    code: t.exposeString('code', {
      nullable: true,
      description: 'The error code, if the call of the tool failed.',
    }),
  }),
})

const Event = builder.objectRef<EventNode>('Event').implement({
  description: 'Something that happened in a drive, or to a person. Events are kept for a time.',
  interfaces: [Node],
  fields: t => ({
    kind: t.expose('kind', { type: EventKind, description: 'What happened.' }),
    happenedAt: t.expose('at', { type: 'DateTime', description: 'When.' }),
    actor: personField(
      t,
      'Who did it; null for the service and its operator, or if the account was deleted.',
      ({ actorId }) => actorId,
    ),
    via: t.expose('via', { type: EventVia, description: 'The means by which they did it.' }),
    apiKeyId: t.id({
      nullable: true,
      description: 'The id of the key that was used.',
      resolve: ({ via, viaId }) => (via === 'key' || via === 'webdav' ? viaId : null),
    }),
    subjectId: t.exposeID('subjectId', {
      nullable: true,
      description:
        'The id of the subject: a file, folder, share, file request, invite, key, webhook, session, identity or workspace; for a member, the id of the person.',
    }),
    entry: t.field({
      type: Entry,
      nullable: true,
      description:
        'The file or folder as it is now; null if it no longer exists, or if the event is not about one.',
      resolve: ({ drive, entryId }, _args, context) =>
        drive && entryId ? entryOf(context, drive, entryId) : null,
    }),
    details: t.expose('details', { type: EventDetails, description: 'Further details.' }),
    cursor: t.string({
      description:
        'Its cursor: pass it as `after` to a list or subscription that continues after this event.',
      resolve: (event, _args, { services }) => services.eventFeeds.cursorOf(event),
    }),
  }),
})

const EventConnection = connectionOf('Event', Event)

const kindsArg = (arg: ArgFields) =>
  arg({ type: [EventKind], maxItems: 100, description: 'Only events of these kinds.' })

const eventArgs = (arg: ArgFields) => ({
  ...pageArgs(arg),
  newestFirst: newestFirst(arg),
  kinds: kindsArg(arg),
})

const subscriptionArgs = (arg: ArgFields) => ({
  after: arg.string({
    description: 'Begin after this cursor; by default with the next new event.',
  }),
  kinds: kindsArg(arg),
})

const bySeq: Sorting<EventView, ['id', 'number']> = {
  types: ['id', 'number'],
  keyOf: ({ logId, seq }) => [logId, seq],
}

type After = [logId: string, seq: number]

interface Query {
  newestFirst: boolean
  kinds: readonly Kind[]
}

const pagesOf = batchPages<EventView, After, [Query]>(({ services }, logs, limit, after, query) => {
  const cursor = after && services.eventFeeds.cursorOf({ logId: after[0], seq: after[1] })
  return each(logs, log => services.eventFeeds.page(log, { ...query, after: cursor, limit }))
})

const among = (
  seen: readonly Kind[],
  wanted: readonly Kind[] | null | undefined,
): readonly Kind[] => (wanted ? seen.filter(kind => wanted.includes(kind)) : seen)

const pagesOfEntries = batchPages<EventView, After, [Query]>(
  ({ services }, ids, limit, after, query) =>
    services.eventFeeds.pagesOfEntries(ids, after?.[1] ?? null, { ...query, limit }),
)

/**
 * A page of events of the kinds that the caller may see.
 * @param drive the drive of the events
 */
const eventsOf = (
  { newestFirst, kinds, ...page }: InputShapeFromFields<ReturnType<typeof eventArgs>>,
  drive: DriveValue | null,
  load: (limit: number, after: After | null, query: Query) => Promise<Page<EventView>>,
) =>
  forwardConnection(page, bySeq, async (limit, after) => {
    const query = {
      newestFirst: newestFirst ?? false,
      kinds: among(drive?.eventKinds ?? personKinds, kinds),
    }
    return mapPage(await load(limit, after, query), event => ({ ...event, drive }))
  })

builder.interfaceField(Entry, 'events', t =>
  t.withAuth({ drive: 'read' }).field({
    type: EventConnection,
    nullable: true,
    description:
      'The events about it that are still kept, oldest first; for a folder, those about the folder itself. Events of its shares only for callers who may share. Notes belong to contents and are not included.',
    args: eventArgs(t.arg),
    resolve: ({ id, drive }, args, context) =>
      eventsOf(args, drive, (limit, after, query) => {
        if (after && after[0] !== drive.id)
          throw new InvalidInput(
            'after',
            'This cursor belongs to another list. Use one of this list.',
          )
        return pagesOfEntries(context, id, limit, after, query)
      }),
  }),
)

builder.objectFields(Drive, t => ({
  events: t.withAuth({ drive: 'read' }).field({
    type: EventConnection,
    description:
      'The events in it and about its workspace, oldest first; those about shares, members, invites and keys only for callers who may manage them. Fails with CURSOR_EXPIRED if the events after the cursor are no longer kept.',
    args: eventArgs(t.arg),
    resolve: (drive, args, context) =>
      eventsOf(args, drive, (...page) => pagesOf(context, drive.id, ...page)),
  }),
  eventCursor: t.withAuth({ drive: 'read' }).string({
    description:
      'The cursor at the end of its events. A client that reads this first and then the files can continue with the events `after` it, and misses none.',
    resolve: async ({ id }, _args, { services }) =>
      services.eventFeeds.cursorOf({ logId: id, seq: await services.eventFeeds.headOf(id) }),
  }),
}))

builder.objectField(Viewer, 'events', t =>
  t.withAuth({ session: true }).field({
    type: EventConnection,
    nullable: true,
    description:
      'The events about the caller, oldest first: sign-ins, keys, shares and invites received, workspaces joined and left, plan. For a session only. Fails with CURSOR_EXPIRED if the events after the cursor are no longer kept.',
    args: eventArgs(t.arg),
    resolve: (_viewer, args, context) =>
      eventsOf(args, null, (...page) => pagesOf(context, context.caller.userId, ...page)),
  }),
)

findable('event:', 'Event', async (context, caller, id) => {
  const event = await context.services.eventFeeds.byId(id)
  if (!event) return null
  if (event.logId === caller.userId)
    return caller.via === 'session' ? { ...event, drive: null } : null
  const drive = await findDrive(context, caller, event.logId)
  const isSeen = drive?.open('read').drive.eventKinds.some(kind => kind === event.kind)
  return isSeen ? { ...event, drive } : null
})

/**
 * Sets the id of the server-sent event to the cursor of the event. Events of a subscription are
 * sent one after the other.
 */
function nameEvent(context: Context, event: EventView): void {
  context.shared.eventId = context.services.eventFeeds.cursorOf(event)
}

builder.subscriptionField('driveEvents', t =>
  t.withAuth({ drive: 'read' }).field({
    type: Event,
    description:
      'Sends the events in a drive, each once and in order, as in its list of events. The id of each server-sent event is its cursor: a client that reconnects with it in Last-Event-ID receives the events that it has missed.',
    args: {
      drive: t.arg.id({ description: "The id of the drive; by default the caller's own." }),
      ...subscriptionArgs(t.arg),
    },
    on: (_root, { drive }) => ({ driveId: drive }),
    subscribe: (_root, { after, kinds }, context) => {
      const { id } = context.drive
      const admit = async (caller: Caller) =>
        among((await openDrive(context, caller, { driveId: id }, 'read')).drive.eventKinds, kinds)
      return context.services.subscriptions.driveEvents(
        context,
        context.drive,
        context.lastEventId ?? after,
        admit,
      )
    },
    resolve: async (event, _args, context: Context) => {
      nameEvent(context, event)
      const drive = context.caller && (await findDrive(context, context.caller, event.logId))
      return { ...event, drive }
    },
  }),
)

builder.subscriptionField('viewerEvents', t =>
  t.withAuth({ session: true }).field({
    type: Event,
    description: 'Sends the events about the caller, each once and in order. For a session only.',
    args: subscriptionArgs(t.arg),
    subscribe: (_root, { after, kinds }, context) =>
      context.services.subscriptions.callerEvents(
        context,
        context.lastEventId ?? after,
        among(personKinds, kinds),
      ),
    resolve: (event, _args, context: Context) => {
      nameEvent(context, event)
      return { ...event, drive: null }
    },
  }),
)
