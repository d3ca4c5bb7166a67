import type { ShareEventRow } from '../db/queries/share-event.ts'
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
