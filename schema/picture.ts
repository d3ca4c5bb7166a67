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
  description: 'The number of pictures and films in a drive from one month.',
  fields: t => ({
    month: t.exposeString('month', {
      description:
        "The month by the camera's clock, such as 2024-05; in UTC for pictures without a known time.",
    }),
    count: t.exposeInt('count', { description: 'The number of pictures and films.' }),
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
    description: 'The months with pictures or films, newest first.',
    listSize: USUAL_MONTHS,
    cost: COUNT_COST,
    resolve: async ({ id }, _args, context) => (await monthsOf(context, id, context.tree)) ?? [],
  }),
  pictures: t.withAuth({ drive: 'read' }).field({
    type: connectionOf('Picture', File),
    description:
      "Its pictures and films (files with the media types image/* and video/*) in all folders, newest first: by the time on the camera's clock if their preview knows it, otherwise by the upload time in UTC.",
    args: {
      ...pageArgs(t.arg),
      since: t.arg({
        type: 'DateTime',
        description: "Only pictures from this time on, by the camera's clock.",
      }),
      until: t.arg({ type: 'DateTime', description: 'Only pictures before this time.' }),
      skip: t.arg.int({
        defaultValue: 0,
        description: 'How many of the newest pictures to skip, 0 to 100,000.',
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
