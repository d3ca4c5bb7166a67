import { validate as isUuid } from 'uuid'
import { builder } from './builder.ts'

/** Ids are UUIDs and unique across all types, so they need no wrapping to be global. */
export const Node = builder.interfaceRef<{ id: string }>('Node').implement({
  description: 'Something with an id that node(id:) finds again.',
  fields: t => ({ id: t.exposeID('id') }),
})

builder.queryField('node', t =>
  t.withAuth({ privateFiles: 'read' }).field({
    type: Node,
    nullable: true,
    description: 'A file, a folder or a share of the caller by its id; null when there is none.',
    args: { id: t.arg.id({ required: true }) },
    resolve: async (_root, { id }, { services, viewer }) => {
      if (!isUuid(id)) return null
      return (await services.listings.byId(viewer.bucket, id)) ?? (await services.shares.byId(viewer, id))
    },
  }),
)
