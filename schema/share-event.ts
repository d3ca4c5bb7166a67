import type { ShareEventKind as Kind } from '../db/models/share-event.ts'
import { MOST_COUNTED, type ShareEventRow, type UseCount } from '../db/queries/share-event.ts'
import { figure } from '../src/values/limits.ts'
import { batchSeen } from './batch.ts'
import { builder } from './builder.ts'
import { connectionOf, newestFirst, pageArgs } from './connection.ts'
import { ShareEventKind } from './enums.ts'
import { batchPages, byId, forwardConnection } from './paging.ts'
import { personField } from './person.ts'
import { Share } from './share.ts'

const ShareEvent = builder.objectRef<ShareEventRow>('ShareEvent').implement({
  description: 'A use of a share, for whom made it.',
  fields: t => ({
    kind: t.expose('kind', { type: ShareEventKind, description: 'What was done.' }),
    happenedAt: t.expose('at', { type: 'DateTime', description: 'When.' }),
    person: personField(t, 'Who it was, if they were signed in and still have an account.', ({ personId }) => personId),
    network: t.exposeString('network', {
      description: 'The network of the client: an IPv4 address as its /24, an IPv6 address as its /48.',
    }),
    client: t.exposeString('client', { description: 'What the client calls itself, such as "Firefox on Linux".' }),
  }),
})

const ShareEventConnection = connectionOf('ShareEvent', ShareEvent)

const pagesOf = batchPages<ShareEventRow, [string], [boolean]>(({ services }, shareIds, limit, after, newestFirst) =>
  services.shareEvents.pages(shareIds, { limit, after: after?.[0] ?? null, newestFirst }),
)

builder.interfaceField(Share, 'events', t =>
  t.withAuth({ privateFiles: 'share' }).field({
    type: ShareEventConnection,
    nullable: true,
    description:
      'How it was used, oldest first, ten seconds after it was. Null for a share of another person, and for a key without the scope PRIVATE_FILES_SHARE.',
    args: { newestFirst: newestFirst(t.arg), ...pageArgs(t.arg) },
    resolve: ({ id, sharer }, { newestFirst, ...page }, context) =>
      sharer.id === context.caller.userId
        ? forwardConnection(page, byId, (limit, after) => pagesOf(context, id, limit, after, newestFirst ?? false))
        : null,
  }),
)

const countOf = (uses: readonly UseCount[], wanted: Kind) => uses.find(({ kind }) => kind === wanted)

const ShareUsage = builder.objectRef<readonly UseCount[]>('ShareUsage').implement({
  description: `How often a share was used, as far back as events are kept, among its last ${figure(MOST_COUNTED)} uses.`,
  fields: t => ({
    openCount: t.int({
      description: 'How often its page or its details were looked at.',
      resolve: uses => countOf(uses, 'opened')?.count ?? 0,
    }),
    lastOpenedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When last.',
      resolve: uses => countOf(uses, 'opened')?.lastAt ?? null,
    }),
    downloadCount: t.int({
      description: 'How often a file was downloaded.',
      resolve: uses => countOf(uses, 'downloaded')?.count ?? 0,
    }),
    lastDownloadedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When last.',
      resolve: uses => countOf(uses, 'downloaded')?.lastAt ?? null,
    }),
    refusedCount: t.int({
      description: 'How often a wrong password was given.',
      resolve: uses => countOf(uses, 'refused')?.count ?? 0,
    }),
  }),
})

const usageOf = batchSeen(({ shareEvents }, _caller, ids) => shareEvents.counts(ids))

builder.interfaceFields(Share, t => ({
  usage: t.withAuth({ privateFiles: 'share' }).field({
    type: ShareUsage,
    nullable: true,
    description:
      'How often it was used. Null for a share of another person, and for a key without the scope PRIVATE_FILES_SHARE.',
    resolve: async ({ id, sharer }, _args, context) =>
      sharer.id === context.caller.userId ? ((await usageOf(context, id)) ?? []) : null,
  }),
  notifies: t.withAuth({ privateFiles: 'share' }).boolean({
    nullable: true,
    description:
      'Whether its sharer is told of its use by mail, at most once an hour. Null for a share of another person, and for a key without the scope PRIVATE_FILES_SHARE.',
    resolve: ({ sharer, notifies }, _args, { caller }) => (sharer.id === caller.userId ? notifies : null),
  }),
}))
