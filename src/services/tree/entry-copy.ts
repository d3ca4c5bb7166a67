import { v7 as newId } from 'uuid'
import type { Tx } from '../../../db/index.ts'
import { FILE, FOLDER } from '../../../db/models/entry.ts'
import { shareBlobs } from '../../../db/queries/blob.ts'
import {
  type CopiedEntry,
  copiedEntries,
  entriesBelow,
  insertEntries,
  type Reach,
} from '../../../db/queries/entry.ts'
import type { Node } from '../../../db/queries/entry-path.ts'
import { copyTags } from '../../../db/queries/tag.ts'
import { blobsOf } from '../../../db/queries/version.ts'
import type { Caller } from '../../access/caller.ts'
import { AppError, Forbidden, InvalidInput } from '../../runtime/errors.ts'
import { MAX_COPIED } from '../../values/limits.ts'
import { joinPath, parseFilePath, parseName } from '../../values/paths.ts'
import type { Tree } from '../../values/tree.ts'
import type { BackgroundCopyService } from './background-copy.ts'
import { type CopyOptions, copyArrivals, lockTrees } from './copy-arrival.ts'
import { copyPropertiesTo } from './dav-property.ts'
import { sumOf, type TreeChange, weightOf } from './entry.ts'
import { locateEntries } from './entry-location.ts'
import { type EntryName, namesOfFolder, pathIn } from './entry-path.ts'
import type { Located, TreeDeps } from './entry-removal.ts'
import { fileTooLarge } from './quota.ts'

/**
 * The source of a copy: selected entries, or the entries of a share, found in the transaction of
 * the copy with both trees locked.
 */
export type CopySource = { tree: Tree } & (
  | { named: readonly EntryName[] }
  | { shareId: string; isOne: boolean; admit: (tx: Tx) => Promise<readonly NamedCopy[]> }
)

/** An entry to copy, and the name of its copy if that differs. */
export interface NamedCopy {
  id: string
  as?: string
}

/** The result of a copy. */
export interface Copied {
  /** The ids of the copies. Empty while they are being made. */
  ids: string[]
  /** The names of the destination folder. */
  toNames: string[]
  /** The id of a background copy. */
  copyId: string | null
}

/** An entry to copy, with everything below it. */
interface Source extends Located {
  below: CopiedEntry[]
}

interface Deps extends TreeDeps {
  backgroundCopies: BackgroundCopyService
}

/**
 * Copies entries within a tree and between trees. No bytes are copied: each blob gets another
 * reference. The caller must be authorized.
 */
export function entryCopyService({ db, changeTree, removal, backgroundCopies, wake }: Deps) {
  const arrive = copyArrivals(db, removal)

  /**
   * Finds the entries to copy.
   * @throws FILE_NOT_FOUND, INVALID_INPUT, INVALID_PATH
   */
  async function locate(tree: Tree, named: readonly EntryName[], tx: Tx): Promise<Located[]> {
    const all = await locateEntries(db, tree, named, tx)
    const ids = new Set(all.map(({ node }) => node.id))
    if (all.some(({ above }) => above.some(folder => ids.has(folder.id))))
      throw new InvalidInput(
        'entries',
        'One of these entries is inside another one. Name only the outer one.',
      )
    return all
  }

  /** Reads the entries with everything in them. */
  async function read(all: Located[], isShallow: boolean, tx: Tx): Promise<Source[]> {
    const ids = all.map(({ node }) => node.id)
    const rows = isShallow
      ? (await copiedEntries(db, ids, tx)).map(emptied)
      : await entriesBelow(db, ids, tx)
    const children = Map.groupBy(rows, row => row.parentId)
    const below = (id: string): CopiedEntry[] =>
      (children.get(id) ?? []).flatMap(child => [
        child,
        ...(child.kind === FOLDER ? below(child.id) : []),
      ])
    return all.map(source => {
      const itself = rows.find(({ id }) => id === source.node.id)
      return { ...source, below: itself ? [itself, ...below(itself.id)] : [] }
    })
  }

  /**
   * Inserts the rows of copies whose usage is already recorded.
   * @returns the ids of the outermost ones
   */
  async function insert(
    sources: Source[],
    {
      tree,
      parentId,
      names,
      keepsTags,
    }: { tree: Tree; parentId: string; names: string[]; keepsTags: boolean },
    { tx, by }: TreeChange,
  ): Promise<string[]> {
    const rows = sources.flatMap(({ below }, i) => {
      const made = new Map(below.map(row => [row.id, newId()]))
      return below.map((row, n) => ({
        id: made.get(row.id) ?? newId(),
        bucketId: tree.bucketId,
        kind: row.kind,
        by,
        ...(n === 0
          ? { parentId, name: names[i] ?? '' }
          : { parentId: made.get(row.parentId ?? '') ?? parentId, name: row.name }),
        totals: { bytes: row.bytes, files: row.files, folders: row.folders },
        levelsBelow: row.levelsBelow,
        bytesBelow: row.bytesBelow,
        blobId: row.blobId,
        fileType: row.fileType,
        md5: row.md5,
        modifiedAt: row.modifiedAt,
        picturedAt: row.picturedAt,
        isOuter: n === 0,
        sourceId: row.id,
      }))
    })
    if (!(await shareBlobs(db, blobsOf(rows), tx)))
      throw new Error('A file to be copied has no bytes.')
    await insertEntries(db, rows, tx)
    if (keepsTags) {
      await copyTags(db, tree.bucketId, rows, tx)
      await copyPropertiesTo(db, tree.bucketId, rows, tx)
    }
    return rows.filter(({ isOuter }) => isOuter).map(({ id }) => id)
  }

  return {
    /**
     * Copies entries of a tree into a folder: all of them, or none. A replaced file goes into the
     * trash; folders are never replaced. Versions, notes and shares are not copied. A copy gets
     * those tags of its original that also exist in the destination drive, but no tags of another
     * person's share. Large copies run in the background.
     * @throws FILE_NOT_FOUND, FOLDER_NOT_FOUND, INVALID_PATH, INVALID_INPUT, PATH_EXISTS,
     * QUOTA_EXCEEDED, FILE_TOO_LARGE
     */
    async copy(source: CopySource, to: CopyOptions, caller: Caller): Promise<Copied> {
      const { tree: from } = source
      const isOne = 'named' in source ? source.named.length === 1 : source.isOne
      if (to.name !== null && !isOne)
        throw new InvalidInput('name', 'A name can only be given for one entry.')
      const name = to.name === null ? null : parseName(to.name, 'name')
      const { tree, limits } = to
      const done = await changeTree(tree, caller, async (change): Promise<Copied> => {
        const { tx } = change
        await lockTrees(db, [from, tree], tx)
        const named: readonly (EntryName | NamedCopy)[] =
          'named' in source ? source.named : await source.admit(tx)
        const given = new Map(
          named.flatMap(one => ('as' in one && one.as !== undefined ? [[one.id, one.as]] : [])),
        )
        const found = await locate(from, named, tx)
        const all = to.isShallow ? found.map(one => ({ ...one, node: emptied(one.node) })) : found
        const nameOf = ({ node, names }: Located) =>
          name ?? given.get(node.id) ?? names.at(-1) ?? ''
        const folder = await namesOfFolder(db, tree, to.folder, 'to', tx)
        for (const located of all) {
          const { node, names } = located
          parseFilePath(joinPath([...folder, nameOf(located)]), 'to')
          const isWhole = node.kind === FOLDER && !to.isShallow
          if (
            isWhole &&
            from.bucketId === tree.bucketId &&
            names.every((part, i) => folder[i] === part)
          )
            throw new AppError(
              'INVALID_PATH',
              'A folder cannot be copied into itself. Choose a destination outside of it.',
              { field: 'to' },
            )
        }
        const weight = sumOf(all.map(({ node }) => weightOf(node)))
        if (weight.files + weight.folders > MAX_COPIED) {
          if (to.isAtOnce)
            throw new Forbidden(
              `A folder with more than ${MAX_COPIED} files and folders cannot be moved to another drive at once. Move what is in it step by step.`,
            )
          const sources = all.map(located => ({ ...located, name: nameOf(located) }))
          const shareId = 'shareId' in source ? source.shareId : null
          const begun = { from, sources, shareId, to, folder, weight }
          return {
            ids: [],
            toNames: folder,
            copyId: await backgroundCopies.begin(begun, caller, change),
          }
        }
        const sources = await read(all, to.isShallow ?? false, tx)
        const largest = Math.max(
          ...sources.flatMap(({ below }) => below.map(row => (row.kind === FILE ? row.bytes : 0))),
        )
        if (largest > limits.maxFileSizeBytes) throw fileTooLarge(limits)
        const arriving = sources.map(located => ({
          of: located.node.id,
          name: nameOf(located),
          weight: weightOf(located.node),
          ...reachOf(located.below),
        }))
        const { parentId, names } = await arrive(arriving, to, folder, change)
        const ids = await insert(
          sources,
          { tree, parentId, names, keepsTags: 'named' in source },
          change,
        )
        for (const [i, { node, names: old, below }] of sources.entries()) {
          const path = pathIn(tree, [...folder, names[i] ?? ''])
          // People who see this drive may not see the other one.
          const origin = from.bucketId === tree.bucketId ? { from: pathIn(from, old) } : {}
          const what = node.kind === FILE ? { md5: below[0]?.md5 ?? '' } : { files: node.files }
          change.record({
            kind: node.kind === FILE ? 'file.copied' : 'folder.copied',
            subject: ids[i] ?? null,
            details: { path, ...origin, bytes: node.bytes, ...what },
          })
        }
        return { ids, toNames: folder, copyId: null }
      })
      wake()
      return done
    },
  }
}

export type EntryCopyService = ReturnType<typeof entryCopyService>

/** A folder without its contents; a file unchanged. */
const emptied = <
  E extends Pick<Node, 'kind' | 'bytes' | 'files' | 'folders' | 'levelsBelow' | 'bytesBelow'>,
>(
  entry: E,
): E =>
  entry.kind === FILE
    ? entry
    : { ...entry, bytes: 0, files: 0, folders: 0, levelsBelow: 0, bytesBelow: 0 }

/** The exact totals of an entry from all rows below it. The first row is its own. */
function reachOf([top, ...rows]: CopiedEntry[]): Reach {
  const reaches = new Map([[top?.id ?? '', { levelsBelow: 0, bytesBelow: 0 }]])
  let [levelsBelow, bytesBelow] = [0, 0]
  for (const { id, parentId, name } of rows) {
    const above = reaches.get(parentId ?? '') ?? { levelsBelow: 0, bytesBelow: 0 }
    const own = {
      levelsBelow: above.levelsBelow + 1,
      bytesBelow: above.bytesBelow + (above.levelsBelow > 0 ? 1 : 0) + Buffer.byteLength(name),
    }
    reaches.set(id, own)
    levelsBelow = Math.max(levelsBelow, own.levelsBelow)
    bytesBelow = Math.max(bytesBelow, own.bytesBelow)
  }
  return { levelsBelow, bytesBelow }
}
