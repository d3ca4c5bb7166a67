import { tagColours } from '../db/models/tag.ts'
import { mapPage } from '../db/queries/page.ts'
import type { Drive as DriveValue } from '../src/access/drive.ts'
import type { PlacedEntry } from '../src/services/tree/entry-list.ts'
import type { TagView } from '../src/services/tree/tag.ts'
import {
  figure,
  MAX_CHANGED,
  MAX_TAG_NAME,
  MAX_TAGS,
  MAX_TAGS_OF_ENTRY,
} from '../src/values/limits.ts'
import type { Tree } from '../src/values/tree.ts'
import { findDriveOf } from './access.ts'
import { batch, each } from './batch.ts'
import { builder } from './builder.ts'
import { pageArgs } from './connection.ts'
import { EntryConnection, entriesOf, inDrive } from './entry.ts'
import { EntryRef, nameOf } from './entry-ref.ts'
import { enumOf } from './enums.ts'
import { mutation } from './mutation.ts'
import { findable, Node } from './node.ts'
import { batchPages, byId, forwardConnection, SCAN_COST } from './paging.ts'
import { Drive, Entry } from './refs.ts'

/** A tag of a drive that the caller may read. */
export type TagNode = TagView & { drive: DriveValue }

const TagColour = enumOf('TagColour', 'The colours of tags.', tagColours)

const inDriveOf = (tag: TagView, drive: DriveValue): TagNode => ({ ...tag, drive })

const countOf = batch(({ services }, ids) => services.tags.counts(ids))

const tagged = batchPages<PlacedEntry, [string], [Tree]>(({ services }, ids, limit, after, tree) =>
  each(ids, id => services.tags.entries(tree, id, limit, after?.[0] ?? null)),
)

export const Tag = builder.objectRef<TagNode>('Tag').implement({
  description: 'A label for files and folders of a drive. Recipients of shares do not see it.',
  interfaces: [Node],
  fields: t => ({
    name: t.exposeString('name', {
      description: 'Its name, unique in its drive, ignoring case.',
    }),
    colour: t.expose('colour', { type: TagColour, description: 'Its colour.' }),
    drive: t.expose('drive', { type: Drive, description: 'The drive that has it.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
    entryCount: t.int({
      description: 'How many files and folders have it, including those in the trash.',
      // All entries with a tag are counted, once for all tags of a list.
      scanCost: () => SCAN_COST,
      check: ({ drive }) => void drive.open('read'),
      resolve: async ({ id }, _args, context) => (await countOf(context, id)) ?? 0,
    }),
    entries: t.withAuth({ drive: 'read' }).field({
      type: EntryConnection,
      description: 'The entries that have it, wherever they are in the drive, oldest first.',
      args: pageArgs(t.arg),
      resolve: ({ id }, page, context) =>
        forwardConnection(page, byId, async (limit, after) =>
          mapPage(await tagged(context, id, limit, after, context.tree), entry =>
            inDrive(entry, context.drive),
          ),
        ),
    }),
  }),
})

const tagsOfDrive = batch(({ services }, ids) => services.tags.ofDrives(ids))
const tagsOfEntry = batch(({ services }, ids) => services.tags.ofEntries(ids))
const tagById = batch(({ services }, ids) => services.tags.byIds(ids))

builder.objectField(Drive, 'tags', t =>
  t.withAuth({ drive: 'read' }).field({
    type: [Tag],
    listSize: MAX_TAGS,
    description: 'The tags that its files and folders can have, by name.',
    resolve: async (drive, _args, context) =>
      ((await tagsOfDrive(context, drive.id)) ?? []).map(tag => inDriveOf(tag, drive)),
  }),
)

builder.interfaceField(Entry, 'tags', t =>
  t.field({
    type: [Tag],
    listSize: MAX_TAGS_OF_ENTRY,
    description: 'Its tags, by name; empty for people with whom it is shared.',
    // A drive named by the id of a share cannot be opened for reading, and shared entries have no
    // tags.
    check: ({ drive }) => void (drive.share ?? drive.open('read')),
    resolve: async ({ id, drive }, _args, context) =>
      drive.share ? [] : ((await tagsOfEntry(context, id)) ?? []).map(tag => inDriveOf(tag, drive)),
  }),
)

findable('tag', 'Tag', async (context, caller, id) => {
  const drive = await findDriveOf(context, caller, 'tag', id)
  const tag = drive && (await tagById(context, id))
  return tag && drive ? inDriveOf(tag, drive.open('read').drive) : null
})

mutation('createTag', {
  description: 'Creates a tag in a drive.',
  auth: { drive: 'write' },
  fails: ['INVALID_INPUT', 'TAG_EXISTS', 'QUOTA_EXCEEDED', 'FOLDER_NOT_FOUND'],
  input: t => ({
    drive: t.id({ description: "The id of the drive; by default the caller's own." }),
    name: t.string({
      required: true,
      description: `Its name: 1 to ${MAX_TAG_NAME} characters, without a comma. Names that differ only in case or accents are the same.`,
    }),
    colour: t.field({ type: TagColour, description: 'Its colour; grey by default.' }),
  }),
  on: ({ drive }) => ({ driveId: drive }),
  resolve: async ({ name, colour }, { services, drive, tree, caller }) => ({
    drive,
    tag: inDriveOf(await services.tags.create(tree, { name, colour }, caller), drive),
  }),
  payload: t => ({
    tag: t.expose('tag', { type: Tag, description: 'The new tag.' }),
    drive: t.expose('drive', { type: Drive, description: 'Its drive.' }),
  }),
})

mutation('updateTag', {
  description: 'Renames a tag or changes its colour. Files and folders keep it.',
  auth: { drive: 'write' },
  fails: ['INVALID_INPUT', 'TAG_NOT_FOUND', 'TAG_EXISTS', 'FOLDER_NOT_FOUND'],
  input: t => ({
    tag: t.id({ required: true, description: 'The id of the tag.' }),
    name: t.string({
      description: `Its new name: 1 to ${MAX_TAG_NAME} characters, without a comma.`,
    }),
    colour: t.field({ type: TagColour, description: 'Its new colour.' }),
  }),
  on: ({ tag }) => ({ tag }),
  resolve: async ({ tag, name, colour }, { services, drive, tree, caller }) => ({
    tag: inDriveOf(await services.tags.update(tree, tag, { name, colour }, caller), drive),
  }),
  payload: t => ({
    tag: t.expose('tag', { type: Tag, description: 'The tag.' }),
  }),
})

mutation('deleteTag', {
  description: 'Deletes a tag, and removes it from all files and folders.',
  auth: { drive: 'write' },
  fails: ['TAG_NOT_FOUND', 'FOLDER_NOT_FOUND'],
  input: t => ({ tag: t.id({ required: true, description: 'The id of the tag.' }) }),
  on: ({ tag }) => ({ tag }),
  resolve: async ({ tag }, { services, drive, tree, caller }) => {
    await services.tags.remove(tree, tag, caller)
    return { drive, deletedId: tag }
  },
  payload: t => ({
    deletedId: t.exposeID('deletedId', { description: 'The id of the tag.' }),
    drive: t.expose('drive', { type: Drive, description: 'The drive that had it.' }),
  }),
})

mutation('tagEntries', {
  description:
    'Adds tags to files and folders of a drive, and removes others: from either all of them, or none.',
  auth: { drive: 'write' },
  fails: [
    'INVALID_INPUT',
    'INVALID_PATH',
    'FILE_NOT_FOUND',
    'FOLDER_NOT_FOUND',
    'TAG_NOT_FOUND',
    'QUOTA_EXCEEDED',
  ],
  input: t => ({
    entries: t.field({
      type: [EntryRef],
      required: true,
      maxItems: MAX_CHANGED,
      description: `The entries: 1 to ${figure(MAX_CHANGED)} of one drive.`,
    }),
    add: t.idList({
      maxItems: MAX_TAGS_OF_ENTRY,
      description: `The ids of tags to add. An entry can have up to ${MAX_TAGS_OF_ENTRY}.`,
    }),
    remove: t.idList({ maxItems: MAX_TAGS, description: 'The ids of tags to remove.' }),
  }),
  on: ({ entries }) => ({ entries }),
  resolve: async ({ entries, add, remove }, context) => {
    const { services, drive, tree, caller } = context
    const change = { add: add ?? [], remove: remove ?? [] }
    const { ids } = await services.tags.tagEntries(tree, entries.map(nameOf), change, caller)
    return { drive, entries: await entriesOf(context, drive, ids) }
  },
  payload: t => ({
    entries: t.expose('entries', {
      type: [Entry],
      nullable: true,
      description: 'The entries, with their tags.',
      listSize: MAX_CHANGED,
      sizedBy: 'input.entries',
    }),
    drive: t.expose('drive', { type: Drive, description: 'Their drive.' }),
  }),
})
