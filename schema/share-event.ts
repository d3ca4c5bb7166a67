import type { ShareEventKind as Kind } from '../db/models/share-event.ts'
import {
  MOST_COUNTED,
  type ShareEventRow,
  type SpanCount,
  type UseCount,
} from '../db/queries/share-event.ts'
import { InvalidInput } from '../src/runtime/errors.ts'
import { DAY_MS } from '../src/values/duration.ts'
import { figure } from '../src/values/limits.ts'
import { batch, batchSeen } from './batch.ts'
import { builder } from './builder.ts'
import { connectionOf, newestFirst, pageArgs } from './connection.ts'
import { ShareEventKind } from './enums.ts'
import { batchPages, byId, forwardConnection } from './paging.ts'
import { personField } from './person.ts'
import { Share } from './share.ts'

const ShareEvent = builder.objectRef<ShareEventRow>('ShareEvent').implement({
  description: 'A use of a share, visible to its sharer.',
  fields: t => ({
    kind: t.expose('kind', { type: ShareEventKind, description: 'The kind of use.' }),
    happenedAt: t.expose('at', { type: 'DateTime', description: 'When.' }),
    person: personField(
      t,
      'The person, if they were signed in and still have an account.',
      ({ personId }) => personId,
    ),
    network: t.exposeString('network', {
      description:
        'The network of the client: an IPv4 address as its /24, an IPv6 address as its /48.',
    }),
    client: t.exposeString('client', {
      description: 'What the client calls itself, such as "Firefox on Linux".',
    }),
  }),
})

const ShareEventConnection = connectionOf('ShareEvent', ShareEvent)

const pagesOf = batchPages<ShareEventRow, [string], [boolean]>(
  ({ services }, shareIds, limit, after, newestFirst) =>
    services.shareEvents.pages(shareIds, { limit, after: after?.[0] ?? null, newestFirst }),
)

builder.interfaceField(Share, 'events', t =>
  t.withAuth({ privateFiles: 'share' }).field({
    type: ShareEventConnection,
    nullable: true,
    description:
      'Its uses, oldest first; each is listed ten seconds after it happened. Null for a share of another person, and for a key without the scope PRIVATE_FILES_SHARE.',
    args: { newestFirst: newestFirst(t.arg), ...pageArgs(t.arg) },
    resolve: ({ id, sharer }, { newestFirst, ...page }, context) =>
      sharer.id === context.caller.userId
        ? forwardConnection(page, byId, (limit, after) =>
            pagesOf(context, id, limit, after, newestFirst ?? false),
          )
        : null,
  }),
)

const countOf = <U extends { kind: Kind }>(uses: readonly U[], wanted: Kind): U | undefined =>
  uses.find(({ kind }) => kind === wanted)

const ShareUsage = builder.objectRef<readonly UseCount[]>('ShareUsage').implement({
  description: `How often a share was used while events are kept, among its last ${figure(MOST_COUNTED)} uses.`,
  fields: t => ({
    openCount: t.int({
      description: 'How often its page or its details were viewed.',
      resolve: uses => countOf(uses, 'opened')?.count ?? 0,
    }),
    lastOpenedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When it was last downloaded.',
      resolve: uses => countOf(uses, 'opened')?.lastAt ?? null,
    }),
    downloadCount: t.int({
      description: 'How often a file was downloaded.',
      resolve: uses => countOf(uses, 'downloaded')?.count ?? 0,
    }),
    lastDownloadedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When it was last downloaded.',
      resolve: uses => countOf(uses, 'downloaded')?.lastAt ?? null,
    }),
    refusedCount: t.int({
      description: 'How often a wrong password was entered.',
      resolve: uses => countOf(uses, 'refused')?.count ?? 0,
    }),
  }),
})

const ShareDay = builder
  .objectRef<{ at: number; uses: readonly SpanCount[] }>('ShareDay')
  .implement({
    description: 'How often a share was used on one day.',
    fields: t => ({
      startsAt: t.expose('at', { type: 'DateTime', description: 'The beginning of the day.' }),
      openCount: t.int({
        description: 'How often its page or its details were viewed.',
        resolve: ({ uses }) => countOf(uses, 'opened')?.count ?? 0,
      }),
      downloadCount: t.int({
        description: 'How often a file was downloaded.',
        resolve: ({ uses }) => countOf(uses, 'downloaded')?.count ?? 0,
      }),
    }),
  })

const byDay = batch(({ services }, ids, since: number) =>
  services.shareEvents.countsByDay(ids, since),
)

const usageOf = batchSeen(({ shareEvents }, _caller, ids) => shareEvents.counts(ids))

const MOST_DAYS = 90
/** Time zones are up to 14 hours ahead of UTC. */
const MOST_OFFSET = 14 * 60

/** When the first of some days begins. Today is the last of them. @throws INVALID_INPUT */
function firstDay(days: number, utcOffset: number): number {
  if (days < 1 || days > MOST_DAYS)
    throw new InvalidInput('days', `Ask for 1 to ${MOST_DAYS} days.`)
  if (Math.abs(utcOffset) > MOST_OFFSET)
    throw new InvalidInput(
      'utcOffset',
      `The offset must be at most ${MOST_OFFSET} minutes ahead of UTC, or behind it.`,
    )
  const ahead = utcOffset * 60_000
  const now = Date.now() + ahead
  return now - (now % DAY_MS) - (days - 1) * DAY_MS - ahead
}

builder.interfaceFields(Share, t => ({
  usage: t.withAuth({ privateFiles: 'share' }).field({
    type: ShareUsage,
    nullable: true,
    description:
      'How often it was used. Null for a share of another person, and for a key without the scope PRIVATE_FILES_SHARE.',
    resolve: async ({ id, sharer }, _args, context) =>
      sharer.id === context.caller.userId ? ((await usageOf(context, id)) ?? []) : null,
  }),
  dailyUsage: t.withAuth({ privateFiles: 'share' }).field({
    type: [ShareDay],
    nullable: true,
    description: `How often it was used on each of the last days, oldest day first, among its last ${figure(MOST_COUNTED)} uses. Null as for \`usage\`.`,
    args: {
      days: t.arg.int({
        defaultValue: 30,
        description: `The number of days including today, up to ${MOST_DAYS}.`,
      }),
      utcOffset: t.arg.int({
        defaultValue: 0,
        description: 'The time zone of the days: minutes ahead of UTC.',
      }),
    },
    resolve: async ({ id, sharer }, { days, utcOffset }, context) => {
      const since = firstDay(Number(days), Number(utcOffset))
      if (sharer.id !== context.caller.userId) return null
      const spans = Map.groupBy((await byDay(context, id, since)) ?? [], ({ span }) => span)
      return Array.from({ length: Number(days) }, (_, i) => ({
        at: since + i * DAY_MS,
        uses: spans.get(i) ?? [],
      }))
    },
  }),
  notifies: t.withAuth({ privateFiles: 'share' }).boolean({
    nullable: true,
    description:
      'Whether its sharer gets mails about its use, at most once an hour. Null for a share of another person, and for a key without the scope PRIVATE_FILES_SHARE.',
    resolve: ({ sharer, notifies }, _args, { caller }) =>
      sharer.id === caller.userId ? notifies : null,
  }),
}))
