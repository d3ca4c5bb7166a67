import { v7 as newId } from 'uuid'
import { type Db, isDuplicate, type Tx } from '../../../db/index.ts'
import { type TagColour, tagColours } from '../../../db/models/tag.ts'
import { type Page, pageOf } from '../../../db/queries/page.ts'
import {
  countTagged,
  deleteEntryTags,
  deleteTag,
  entriesWithTag,
  insertEntryTags,
  insertTag,
  someTagged,
  type TagRow,
  tagsByIds,
  tagsOfBuckets,
  tagsOfEntries,
  updateTag,
} from '../../../db/queries/tag.ts'
import type { Caller } from '../../access/caller.ts'
import { AppError, InvalidInput } from '../../runtime/errors.ts'
import { MAX_TAGS, MAX_TAGS_OF_ENTRY } from '../../values/limits.ts'
import { tagKey } from '../../values/tag-key.ts'
import { parseTagName } from '../../values/tag-name.ts'
import type { Tree } from '../../values/tree.ts'
import type { Core } from '../core.ts'
import { type PageArgs, pageById } from '../page.ts'
import { rowsById } from '../rows-by-id.ts'
import { lockTree, type TreeChangeRunner } from './entry.ts'
import type { EntryListService, PlacedEntry } from './entry-list.ts'
import { locateEntries } from './entry-location.ts'
import type { EntryName } from './entry-path.ts'

/** A tag of a drive. */
export type TagView = Pick<TagRow, 'id' | 'bucketId' | 'name' | 'colour' | 'createdAt'>

interface TagInput {
  name: string
  /** The colour that the client sent. Grey by default. */
  colour?: string | null | undefined
}

/** Missing or null fields stay unchanged. */
interface TagChange extends Pick<TagInput, 'colour'> {
  name?: string | null | undefined
}

interface Deps extends Core<'db'> {
  changeTree: TreeChangeRunner
  entryLists: EntryListService
}

/**
 * Tags of drives and of the files and folders in them. Nothing here authorizes: pass only what the
 * caller may see.
 */
export function tagService({ db, changeTree, entryLists }: Deps) {
  /** The tag of a drive with this name. */
  const named = (tags: readonly TagRow[], name: string) =>
    tags.find(tag => tag.nameKey === tagKey(name))

  /**
   * Removes a tag from its entries in batches, without the lock of the drive, which 100,000 entries
   * at once would hold for seconds. Entries that receive the tag meanwhile lose it with the tag.
   */
  async function untagAll(id: string): Promise<void> {
    for (let some = await someTagged(db, id); some.length > 0; some = await someTagged(db, id)) {
      const entryIds = some
      await db.transaction(tx => deleteEntryTags(db, entryIds, [id], tx))
    }
  }

  return {
    /** The tags of some drives, each sorted by name. One statement. */
    ofDrives: (bucketIds: readonly string[]): Promise<Map<string, TagView[]>> =>
      tagsOfBuckets(db, bucketIds),

    /** The tags of some entries, each sorted by name. One statement for up to 1,000. */
    ofEntries: (entryIds: readonly string[]): Promise<Map<string, TagView[]>> =>
      tagsOfEntries(db, entryIds),

    byIds: (ids: readonly string[]): Promise<Map<string, TagView>> =>
      rowsById(ids, some => tagsByIds(db, some)),

    /** The number of entries with each tag, including entries in the trash. */
    counts: (ids: readonly string[]): Promise<Map<string, number>> => countTagged(db, ids),

    /**
     * The entries of a tree with a tag, oldest first, without those in the trash. `last` is the
     * start of the next page.
     */
    async entries(
      tree: Tree,
      tagId: string,
      limit: number,
      after: string | null,
    ): Promise<Page<PlacedEntry>> {
      const { rows, more } = pageOf(await entriesWithTag(db, tagId, after ?? '', limit + 1), limit)
      return {
        rows: await entryLists.placed(rows.map(row => ({ ...row, rootId: tree.rootId }))),
        more,
        last: rows.at(-1)?.id,
      }
    },

    /**
     * The same entries in pages.
     * @throws TAG_NOT_FOUND, INVALID_INPUT
     */
    async page(
      tree: Tree,
      tagId: string,
      page: PageArgs,
    ): Promise<{ rows: PlacedEntry[]; nextCursor: string | null }> {
      const tag = (await this.byIds([tagId])).get(tagId)
      if (tag?.bucketId !== tree.bucketId) throw tagNotFound(tagId)
      return pageById(page, (limit, after) => this.entries(tree, tagId, limit, after))
    },

    /** @throws INVALID_INPUT, TAG_EXISTS, QUOTA_EXCEEDED */
    create: (
      tree: Tree,
      { name: given, colour: wanted }: TagInput,
      caller: Caller,
    ): Promise<TagView> => {
      const name = parseTagName(given)
      const colour = readColour(wanted) ?? 'grey'
      return changeTree(tree, caller, async ({ tx, record }) => {
        await lockTree(db, tree, tx)
        const tags = await tagsOf(db, tree, tx)
        if (named(tags, name)) throw tagExists(name)
        if (tags.length >= MAX_TAGS)
          throw new AppError(
            'QUOTA_EXCEEDED',
            `A drive has up to ${MAX_TAGS} tags. Delete one that is no longer needed.`,
            { limit: 'max_tags', max: MAX_TAGS, used: tags.length },
          )
        const { bucketId } = tree
        const tag = {
          id: newId(),
          bucketId,
          name,
          nameKey: tagKey(name),
          colour,
          createdAt: Date.now(),
        }
        await insertTag(db, tag, tx)
        record({ kind: 'tag.created', subject: tag.id, details: { name } })
        return tag
      })
    },

    /**
     * Renames a tag or changes its colour.
     * @throws INVALID_INPUT, TAG_NOT_FOUND, TAG_EXISTS
     */
    update: (tree: Tree, id: string, to: TagChange, caller: Caller): Promise<TagView> => {
      const newName = to.name == null ? null : parseTagName(to.name)
      const colour = readColour(to.colour)
      if (newName === null && colour === null)
        throw new InvalidInput('name', 'Give a new name or another colour.')
      return changeTree(tree, caller, async ({ tx, record }) => {
        await lockTree(db, tree, tx)
        const tags = await tagsOf(db, tree, tx)
        const old = tags.find(tag => tag.id === id)
        if (!old) throw tagNotFound(id)
        const name = newName ?? old.name
        const other = named(tags, name)
        if (other && other.id !== id) throw tagExists(name)
        const tag = { ...old, name, nameKey: tagKey(name), colour: colour ?? old.colour }
        if (tag.name === old.name && tag.colour === old.colour) return old
        try {
          await updateTag(db, tag, tx)
        } catch (error) {
          if (isDuplicate(error)) throw tagExists(name)
          throw error
        }
        record({ kind: 'tag.changed', subject: id, details: { name } })
        return tag
      })
    },

    /**
     * Deletes a tag and removes it from all entries.
     * @throws TAG_NOT_FOUND
     */
    async remove(tree: Tree, id: string, caller: Caller): Promise<void> {
      const tag = (await this.byIds([id])).get(id)
      if (tag?.bucketId === tree.bucketId) await untagAll(id)
      await changeTree(tree, caller, async ({ tx, record }) => {
        await lockTree(db, tree, tx)
        const old = (await tagsOf(db, tree, tx)).find(one => one.id === id)
        if (!old || !(await deleteTag(db, old, tx))) throw tagNotFound(id)
        record({ kind: 'tag.deleted', subject: id, details: { name: old.name } })
      })
    },

    /**
     * Adds tags to entries and removes others: on all of them, or none.
     * @param add tag ids, like `remove`; no id is in both
     * @throws INVALID_INPUT, FILE_NOT_FOUND, INVALID_PATH, TAG_NOT_FOUND, QUOTA_EXCEEDED
     */
    async tagEntries(
      tree: Tree,
      entries: readonly EntryName[],
      { add, remove }: { add: readonly string[]; remove: readonly string[] },
      caller: Caller,
    ): Promise<{ ids: string[] }> {
      if (add.length + remove.length === 0)
        throw new InvalidInput('add', 'Name at least one tag to add or remove.')
      const both = add.find(id => remove.includes(id))
      if (both !== undefined)
        throw new InvalidInput(
          'remove',
          'A tag cannot be added and removed at the same time. Name it once.',
        )
      return changeTree(tree, caller, async ({ tx }) => {
        await lockTree(db, tree, tx)
        const all = await locateEntries(db, tree, entries, tx)
        const known = new Set((await tagsOf(db, tree, tx)).map(({ id }) => id))
        const unknown = [...add, ...remove].find(id => !known.has(id))
        if (unknown !== undefined) throw tagNotFound(unknown)
        const ids = all.map(({ node }) => node.id)
        const present = await tagsOfEntries(db, ids, tx)
        const made = ids.flatMap(entryId => {
          const had = new Set(present.get(entryId)?.map(({ id }) => id))
          const missing = [...new Set(add)].filter(id => !had.has(id))
          const used = had.size - remove.filter(id => had.delete(id)).length
          if (missing.length > 0 && used + missing.length > MAX_TAGS_OF_ENTRY)
            throw tooManyTags(used)
          return missing.map(tagId => ({ tagId, entryId }))
        })
        await deleteEntryTags(db, ids, remove, tx)
        await insertEntryTags(db, made, tx)
        return { ids }
      })
    },
  }
}

/**
 * Parses a colour from a client.
 * @throws INVALID_INPUT
 */
function readColour(text: string | null | undefined): TagColour | null {
  if (!text) return null
  const colour = tagColours.find(one => one === text)
  if (!colour) throw new InvalidInput('colour', `A colour is one of: ${tagColours.join(', ')}.`)
  return colour
}

const tagsOf = async (db: Db, { bucketId }: Tree, tx: Tx): Promise<TagRow[]> =>
  (await tagsOfBuckets(db, [bucketId], tx)).get(bucketId) ?? []

export const tagNotFound = (id: string) =>
  new AppError('TAG_NOT_FOUND', 'There is no such tag here. Use an id from a list.', { id })

export const tagExists = (name: string) =>
  new AppError(
    'TAG_EXISTS',
    `There is a tag "${name}" already; case and accents make no difference. Choose another name.`,
    {
      name,
    },
  )

const tooManyTags = (used: number) =>
  new AppError(
    'QUOTA_EXCEEDED',
    `A file or folder has up to ${MAX_TAGS_OF_ENTRY} tags. Remove one first.`,
    {
      limit: 'max_tags_of_entry',
      max: MAX_TAGS_OF_ENTRY,
      used,
    },
  )
