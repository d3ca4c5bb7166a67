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
  description: 'A file or folder that the caller has recently worked on.',
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
      'The files and folders that the caller has recently worked on, latest first: each one once, if it exists and the caller may see it. Taken from their last 1,000 actions, while events are kept. Opening and downloading are not recorded.',
    args: {
      ...pageArgs(t.arg),
      drives: t.arg.idList({
        maxItems: MAX_DRIVES,
        description: 'Only in the drives with these ids.',
      }),
    },
    resolve: (_viewer, { drives, ...page }, context) =>
      forwardConnection(page, latestFirst, (limit, after) =>
        recentEntries(context, context.caller, { limit, after, drives }),
      ),
  }),
)
