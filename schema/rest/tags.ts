import { FOLDER } from '../../db/models/entry.ts'
import { tagColours } from '../../db/models/tag.ts'
import type { Drive } from '../../src/access/drive.ts'
import type { PlacedEntry } from '../../src/services/tree/entry-list.ts'
import type { TagView } from '../../src/services/tree/tag.ts'
import {
  figure,
  MAX_CHANGED,
  MAX_TAG_NAME,
  MAX_TAGS,
  MAX_TAGS_OF_ENTRY,
} from '../../src/values/limits.ts'
import { paged } from './arguments.ts'
import { type Argument, objectOf } from './builder.ts'
import { BYTES, CURSOR, FILE_PATH, ID } from './examples.ts'
import { operationsOf } from './operation.ts'
import { declareForOwners } from './owners.ts'

const NAME = 'Invoices'
const OTHER_ID = '0199a1f4-5b62-7c3e-8d0a-4f6b2e9c1d73'

const Tag = objectOf<TagView>('Tag', 'A label for files and folders.', t => ({
  id: t.exposeID('id'),
  name: t.exposeString('name', { example: NAME }),
  colour: t.exposeString('colour', {
    description: `One of: ${tagColours.join(', ')}.`,
    example: 'green',
  }),
  created_at: t.expose('createdAt', { type: 'DateTime' }),
}))

const TagList = objectOf<{ tags: TagView[] }>('TagList', t => ({
  tags: t.expose('tags', { type: [Tag], description: 'By name.' }),
}))

const OneTag = objectOf<{ tag: TagView }>('OneTag', t => ({ tag: t.expose('tag', { type: Tag }) }))

const DeletedTag = objectOf<{ id: string }>('DeletedTag', t => ({
  tag_deleted: t.exposeID('id', { example: ID }),
}))

/** A file or folder in a list that spans folders. */
export const FoundEntry = objectOf<PlacedEntry & { drive: Drive }>(
  'FoundEntry',
  'A file or folder.',
  t => ({
    id: t.exposeID('id'),
    kind: t.string({
      example: 'file',
      resolve: ({ kind }) => (kind === FOLDER ? 'folder' : 'file'),
    }),
    name: t.exposeString('name', { example: 'report.pdf' }),
    path: t.string({
      description: 'Full path.',
      example: FILE_PATH,
      resolve: ({ drive, names }) => drive.pathOf(names),
    }),
    size: t.expose('size', {
      type: 'Long',
      description: 'Bytes of all files in it.',
      example: BYTES,
    }),
    file_count: t.expose('fileCount', {
      type: 'Long',
      description: 'Files in it, 1 for a file.',
      example: 1,
    }),
    updated_at: t.expose('updatedAt', { type: 'DateTime' }),
  }),
)

const TaggedPage = objectOf<{
  entries: (PlacedEntry & { drive: Drive })[]
  nextCursor: string | null
}>('TaggedPage', t => ({
  entries: t.expose('entries', { type: [FoundEntry], description: 'Oldest first.' }),
  next_cursor: t.exposeString('nextCursor', { nullable: true, example: CURSOR }),
}))

interface TaggedView {
  id: string
  path: string
  tags: TagView[]
}

const TaggedEntry = objectOf<TaggedView>('TaggedEntry', t => ({
  id: t.exposeID('id', { description: 'The id of the file or folder.' }),
  path: t.exposeString('path', { example: FILE_PATH }),
  tags: t.expose('tags', {
    type: [Tag],
    description: 'All of its tags after the change, by name.',
  }),
}))

const TaggedEntries = objectOf<{ entries: TaggedView[] }>('TaggedEntries', t => ({
  entries: t.expose('entries', { type: [TaggedEntry] }),
}))

const colour = (arg: Argument, description: string) =>
  arg.string({ description, example: 'green', bounds: { enum: tagColours } })

const SHAPE = `1 to ${MAX_TAG_NAME} characters, without a comma. Names that differ only in case or accents are the same.`

declareForOwners(operationsOf('tags', 'Labels of files and folders.'), owner => {
  const { whose, operation, denied } = owner
  const path = `${owner.base}/tags` as const

  operation(`GET ${path}`, owner.name('', 'Tags'), {
    description: `The tags that files and folders of ${whose} can have.`,
    auth: { drive: 'read' },
    statuses: [401, ...denied],
    type: TagList,
    resolve: async (_args, { services, tree }) => ({
      tags: (await services.tags.ofDrives([tree.bucketId])).get(tree.bucketId) ?? [],
    }),
  })

  operation(`POST ${path}`, owner.name('create', 'Tag'), {
    description: `Creates a tag for files and folders of ${whose}. There can be up to ${MAX_TAGS}.`,
    auth: { drive: 'write' },
    statuses: [400, 401, ...denied, 409],
    fails: ['TAG_EXISTS', 'QUOTA_EXCEEDED', 'FOLDER_NOT_FOUND'],
    args: arg => ({
      name: arg.string({ required: true, description: `Its name: ${SHAPE}`, example: NAME }),
      colour: colour(arg, 'Its colour; grey by default.'),
    }),
    type: OneTag,
    resolve: async ({ name, colour }, { services, tree, caller }) => ({
      tag: await services.tags.create(tree, { name, colour }, caller),
    }),
  })

  operation(`PATCH ${path}/{tag_id}`, owner.name('update', 'Tag'), {
    description: `Renames a tag of ${whose}, or changes its colour.`,
    auth: { drive: 'write' },
    statuses: [400, 401, ...denied, 404, 409],
    fails: ['TAG_NOT_FOUND', 'TAG_EXISTS', 'FOLDER_NOT_FOUND'],
    args: arg => ({
      tag_id: arg.id({ required: true }),
      name: arg.string({ description: `Its new name: ${SHAPE}`, example: NAME }),
      colour: colour(arg, 'Its new colour.'),
    }),
    type: OneTag,
    resolve: async ({ tag_id: id, name, colour }, { services, tree, caller }) => ({
      tag: await services.tags.update(tree, id, { name, colour }, caller),
    }),
  })

  operation(`DELETE ${path}/{tag_id}`, owner.name('delete', 'Tag'), {
    description: `Deletes a tag of ${whose}, and removes it from all files and folders.`,
    auth: { drive: 'write' },
    statuses: [401, ...denied, 404],
    fails: ['TAG_NOT_FOUND', 'FOLDER_NOT_FOUND'],
    args: arg => ({ tag_id: arg.id({ required: true }) }),
    type: DeletedTag,
    resolve: async ({ tag_id: id }, { services, tree, caller }) => {
      await services.tags.remove(tree, id, caller)
      return { id }
    },
  })

  operation(`GET ${path}/{tag_id}/entries`, owner.name('', 'TaggedEntries'), {
    description: `The files and folders of ${whose} that have a tag, wherever they are.`,
    auth: { drive: 'read' },
    statuses: [400, 401, ...denied, 404],
    fails: ['TAG_NOT_FOUND'],
    args: arg => ({ tag_id: arg.id({ required: true }), ...paged(arg) }),
    type: TaggedPage,
    resolve: async ({ tag_id: id, ...page }, { services, drive, tree }) => {
      const { rows, nextCursor } = await services.tags.page(tree, id, page)
      return { entries: rows.map(entry => ({ ...entry, drive })), nextCursor }
    },
  })

  operation(`POST ${owner.base}/entries/tags`, owner.name('tag', 'Entries'), {
    description: `Adds tags to files and folders of ${whose}, and removes others: from either all of them, or none.`,
    auth: { drive: 'write' },
    statuses: [400, 401, ...denied, 404],
    fails: [
      'INVALID_PATH',
      'FILE_NOT_FOUND',
      'FOLDER_NOT_FOUND',
      'TAG_NOT_FOUND',
      'QUOTA_EXCEEDED',
    ],
    args: arg => ({
      entries: arg.stringList({
        required: true,
        maxItems: MAX_CHANGED,
        description: `Full paths of 1 to ${figure(MAX_CHANGED)} files and folders.`,
        example: [FILE_PATH],
      }),
      add: arg.idList({
        maxItems: MAX_TAGS_OF_ENTRY,
        description: `Ids of up to ${MAX_TAGS_OF_ENTRY} tags to add.`,
        example: [ID],
      }),
      remove: arg.idList({
        maxItems: MAX_TAGS,
        description: `Ids of up to ${MAX_TAGS} tags to remove.`,
        example: [OTHER_ID],
      }),
    }),
    type: TaggedEntries,
    resolve: async ({ entries, add, remove }, { services, drive, tree, caller }) => {
      const named = entries.map(path => ({ path }))
      const { ids } = await services.tags.tagEntries(
        tree,
        named,
        { add: add ?? [], remove: remove ?? [] },
        caller,
      )
      const [found, tags] = await Promise.all([
        services.entryLists.byIds(ids),
        services.tags.ofEntries(ids),
      ])
      return {
        entries: ids.flatMap(id => {
          const entry = found.get(id)
          return entry ? [{ id, path: drive.pathOf(entry.names), tags: tags.get(id) ?? [] }] : []
        }),
      }
    },
  })
})
