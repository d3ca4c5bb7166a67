import type { ChildRow, EntryKey, EntryQuery, EntrySort as Sort } from '../db/queries/entry-list.ts'
import { mapPage } from '../db/queries/page.ts'
import { MAX_NAME_PART, MAX_TAGS_OF_ENTRY } from '../src/values/limits.ts'
import { builder } from './builder.ts'
import { pageArgs } from './connection.ts'
import { EntryConnection } from './entry.ts'
import { EntryKind } from './enums.ts'
import { Node } from './node.ts'
import { batchPages, forwardConnection, SCAN_COST, type ScanCost, type Sorting } from './paging.ts'
import { Entry, type EntryNode, Folder } from './refs.ts'

export const EntrySort = builder.enumType('EntrySort', {
  description: 'The field by which entries are sorted.',
  values: {
    NAME: { value: 'name', description: 'Folders first, then files, both by name.' },
    CREATED_AT: { value: 'createdAt' },
    UPDATED_AT: { value: 'updatedAt' },
    SIZE: { value: 'size' },
  } as const satisfies Record<string, { value: Sort; description?: string }>,
})

export const SortDirection = builder.enumType('SortDirection', {
  description: 'The direction of an order.',
  values: { ASC: { value: 'asc' }, DESC: { value: 'desc' } } as const,
})

export const EntryOrder = builder.inputType('EntryOrder', {
  description: 'The order of a list of entries.',
  fields: t => ({
    field: t.field({ type: EntrySort, required: true, description: 'The field.' }),
    direction: t.field({ type: SortDirection, defaultValue: 'asc', description: 'The direction.' }),
  }),
})

const EntryFilter = builder.inputType('EntryFilter', {
  description: 'A filter for a list of entries; all given conditions must hold.',
  fields: t => ({
    kind: t.field({ type: EntryKind, description: 'Only files, or only folders.' }),
    nameContains: t.string({
      description: `Part of the name, ignoring case: 1 to ${MAX_NAME_PART} characters.`,
    }),
    tags: t.idList({
      maxItems: MAX_TAGS_OF_ENTRY,
      description: `Only entries with all of these tags: up to ${MAX_TAGS_OF_ENTRY} ids of tags of the drive.`,
    }),
  }),
})

const fieldOf = (orderBy: unknown): unknown =>
  ((orderBy ?? {}) as { field?: unknown }).field ?? 'NAME'

/** Whether an order lacks an index, so that each page reads the whole folder. */
export const isScan = (orderBy: unknown): boolean =>
  !['NAME', 'SIZE', 'UPDATED_AT'].includes(String(fieldOf(orderBy)))

/**
 * Filters by a part of a name and by tags within a folder have no index, either. A filter by kind
 * has only the index by name.
 */
const scanCost: ScanCost = ({ orderBy, filter }) => {
  const { kind, nameContains, tags } = (filter ?? {}) as {
    kind?: unknown
    nameContains?: unknown
    tags?: unknown
  }
  const isRare = typeof kind === 'string' && fieldOf(orderBy) !== 'NAME'
  const isFew = typeof nameContains === 'string' || (Array.isArray(tags) && tags.length > 0)
  return isScan(orderBy) || isRare || isFew ? SCAN_COST : 0
}

const childrenOf = batchPages<ChildRow, EntryKey, [EntryQuery]>(
  ({ services }, folderIds, limit, after, query) =>
    services.entryLists.childrenOf(folderIds, query, limit, after),
)

Folder.implement({
  description: 'A folder.',
  interfaces: [Node, Entry],
  fields: t => ({
    fileCount: t.exposeInt('fileCount', { description: 'Number of all files below it.' }),
    entries: t.withAuth({ drive: 'read' }).field({
      type: EntryConnection,
      description: 'Its entries.',
      scanCost,
      args: {
        ...pageArgs(t.arg),
        orderBy: t.arg({
          type: EntryOrder,
          defaultValue: { field: 'name', direction: 'asc' },
          description: 'The order.',
        }),
        filter: t.arg({ type: EntryFilter, description: 'A filter.' }),
      },
      resolve: ({ id, names, drive }, { orderBy, filter, ...page }, context) => {
        const query: EntryQuery = {
          sort: orderBy?.field ?? 'name',
          descending: orderBy?.direction === 'desc',
          kind: filter?.kind ?? null,
          nameContains: filter?.nameContains ?? null,
          tagIds: filter?.tags ?? [],
        }
        const sorting: Sorting<EntryNode, ['number', 'string' | 'id']> = {
          types: ['number', query.sort === 'name' ? 'string' : 'id'],
          keyOf: entry => context.services.entryLists.keyOf(query, entry),
        }
        const toNode = (row: ChildRow) => ({
          ...row,
          drive,
          parentId: id,
          names: [...names, row.name],
        })
        return forwardConnection(page, sorting, async (limit, after) =>
          mapPage(await childrenOf(context, id, limit, after, query), toNode),
        )
      },
    }),
  }),
})
