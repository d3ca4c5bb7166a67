import { mapPage } from '../db/queries/page.ts'
import type {
  PictureMonth as Month,
  PicturedEntry,
  PictureQuery,
} from '../src/services/tree/picture.ts'
import type { Tree } from '../src/values/tree.ts'
import { batch, each } from './batch.ts'
import { builder } from './builder.ts'
import { connectionOf, pageArgs } from './connection.ts'
import { inDrive } from './entry.ts'
import { batchPages, forwardConnection, SCAN_COST, type Sorting } from './paging.ts'
import { Drive, File } from './refs.ts'

/**
 * The cost of counting the pictures of a drive. 200,000 pictures in an index take as long as this
 * many values.
 */
const COUNT_COST = SCAN_COST / 4
/** The assumed number of months with pictures in a drive. */
const USUAL_MONTHS = 120

const PictureMonth = builder.objectRef<Month>('PictureMonth').implement({
  description: 'How many pictures and films of a drive are of one month.',
  fields: t => ({
    month: t.exposeString('month', {
      description:
        'The month by the clocks of the cameras, such as 2024-05; in UTC for what was uploaded without its time.',
    }),
    count: t.exposeInt('count', { description: 'How many there are.' }),
  }),
})

const monthsOf = batch(({ services }, ids, tree: Tree) =>
  each(ids, () => services.pictures.months(tree)),
)
const pageOf = batchPages<PicturedEntry, [number, string], [Tree, PictureQuery]>(
  ({ services }, ids, limit, after, tree, query) =>
    each(ids, () => services.pictures.page(tree, query, limit, after)),
)

const newestFirst: Sorting<PicturedEntry, ['number', 'id']> = {
  types: ['number', 'id'],
  keyOf: ({ picturedAt, id }) => [picturedAt, id],
}

builder.objectFields(Drive, t => ({
  pictureMonths: t.withAuth({ drive: 'read' }).field({
    type: [PictureMonth],
    description:
      'The months of its pictures and films, the newest first, without those that have none.',
    listSize: USUAL_MONTHS,
    cost: COUNT_COST,
    resolve: async ({ id }, _args, context) => (await monthsOf(context, id, context.tree)) ?? [],
  }),
  pictures: t.withAuth({ drive: 'read' }).field({
    type: connectionOf('Picture', File),
    description:
      'Its pictures and films (files with the media types image/* and video/*) in all folders, the newest first: by what the clock of the camera showed as far as their previews say, otherwise by when they were uploaded, in UTC.',
    args: {
      ...pageArgs(t.arg),
      since: t.arg({
        type: 'DateTime',
        description: 'Only those from this time on, by the clocks of the cameras.',
      }),
      until: t.arg({ type: 'DateTime', description: 'Only those before this time.' }),
      skip: t.arg.int({
        defaultValue: 0,
        description: 'How many of the newest of these are left out, 0 to 100,000.',
      }),
    },
    resolve: (drive, { since = null, until = null, skip, ...page }, context) =>
      forwardConnection(page, newestFirst, async (limit, after) => {
        const query = { since, until, skip: skip ?? 0 }
        const found = await pageOf(context, drive.id, limit, after, context.tree, query)
        return mapPage(found, entry => ({ ...entry, ...inDrive(entry, drive) }))
      }),
  }),
}))
