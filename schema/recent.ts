import { builder } from './builder.ts'
import { connectionOf, pageArgs } from './connection.ts'
import { inDrive } from './entry.ts'
import { EventKind } from './enums.ts'
import { forwardConnection, type Sorting } from './paging.ts'
import { Entry } from './refs.ts'
import { Viewer } from './viewer.ts'
import { type RecentEntry as Recent, recentEntries } from './visible.ts'

/** The maximum number of drives in the filter of a list. */
const MAX_DRIVES = 100

const RecentEntry = builder.objectRef<Recent>('RecentEntry').implement({
  description: 'A file or folder that the caller has worked on.',
  fields: t => ({
    entry: t.field({
      type: Entry,
      description: 'The file or folder as it is now.',
      resolve: ({ entry }) => inDrive(entry, entry.drive),
    }),
    kind: t.expose('kind', {
      type: EventKind,
      description: 'The last thing that the caller did with it.',
    }),
    happenedAt: t.expose('at', { type: 'DateTime', description: 'When they did it.' }),
  }),
})

const latestFirst: Sorting<Recent, ['number', 'id']> = {
  types: ['number', 'id'],
  keyOf: ({ at, entryId }) => [at, entryId],
}

builder.objectField(Viewer, 'recent', t =>
  t.withAuth({ privateFiles: 'read' }).field({
    type: connectionOf('RecentEntry', RecentEntry),
    description:
      'What the caller has worked on, latest first: each file or folder once, if it exists and they may see it. From their last 1,000 actions, as far as events are kept. Opening and downloading is not recorded.',
    args: {
      ...pageArgs(t.arg),
      drives: t.arg.idList({
        maxItems: MAX_DRIVES,
        description: 'Only in these drives, by their ids.',
      }),
    },
    resolve: (_viewer, { drives, ...page }, context) =>
      forwardConnection(page, latestFirst, (limit, after) =>
        recentEntries(context, context.caller, { limit, after, drives }),
      ),
  }),
)
