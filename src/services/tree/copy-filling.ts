import { v7 as newId } from 'uuid'
import type { Db, Tx } from '../../../db/index.ts'
import { FILE, FOLDER } from '../../../db/models/entry.ts'
import type { EntryCopy } from '../../../db/models/entry-copy.ts'
import type { EntryCopyFolder } from '../../../db/models/entry-copy-folder.ts'
import { shareBlobs } from '../../../db/queries/blob.ts'
import type { Totals } from '../../../db/queries/bucket.ts'
import {
  addTotals,
  type CopiedEntry,
  copiedChildren,
  copiedEntries,
  entriesOf,
  insertEntries,
  type Reach,
  setReach,
} from '../../../db/queries/entry.ts'
import {
  addCopied,
  deleteCopyFolders,
  foldersToFill,
  insertCopyFolders,
  setLastName,
} from '../../../db/queries/entry-copy.ts'
import { type Node, upFrom } from '../../../db/queries/entry-path.ts'
import { reserve } from '../../../db/queries/reservation.ts'
import { copyTags } from '../../../db/queries/tag.ts'
import { blobsOf } from '../../../db/queries/version.ts'
import type { Caller } from '../../access/caller.ts'
import { AppError } from '../../runtime/errors.ts'
import type { OnConflict } from '../../values/on-conflict.ts'
import type { BucketLimits, Tree } from '../../values/tree.ts'
import { copyPropertiesTo } from './dav-property.ts'
import { addTo, sumOf, type TreeChange } from './entry.ts'
import type { EntryName } from './entry-path.ts'
import { fileTooLarge, quotaExceeded } from './quota.ts'

/** A selected entry, its copy, and the name of the copy. */
export interface CopiedTop {
  id: string
  sourceId: string
  name: string
}

/** The plan of a copy as its row stores it, with the right under which it runs. */
export interface CopyPlan extends Pick<Caller, 'via' | 'credentialId'> {
  from: Pick<Tree, 'bucketId' | 'rootId'>
  tops: CopiedTop[]
  share: { id: string } | null
  to: EntryName
  onConflict: OnConflict
  replacesFolders?: boolean
}

/** The number of folders that one transaction fills at most. Each costs a statement. */
const FOLDERS_AT_ONCE = 32

type Up = Map<string, { parentId: string | null; name: string }>

/** A row of a copy: an original, its copy, and the folder of the copy. */
interface Made {
  id: string
  parentId: string
  source: CopiedEntry
  topId: string
}

/** The known ids of an entry and the folders above it. */
function chainOf(up: Up, id: string): string[] {
  const chain: string[] = []
  for (let at: string | null = id; at !== null && up.has(at); at = up.get(at)?.parentId ?? null)
    chain.push(at)
  return chain
}

/** Fills the folders of a copy in steps. */
export function copyFilling(db: Db) {
  /** Inserts copies. Folders start empty and are filled later. */
  async function insert(
    copy: Pick<EntryCopy, 'id' | 'bucketId'>,
    made: (Made & { name: string })[],
    { limits, by, keepsTags }: { limits: BucketLimits; by: string | null; keepsTags: boolean },
    tx: Tx,
  ): Promise<void> {
    if (made.some(({ source }) => source.kind === FILE && source.bytes > limits.maxFileSizeBytes))
      throw fileTooLarge(limits)
    const rows = made.map(({ id, parentId, name, source }) => ({
      id,
      bucketId: copy.bucketId,
      parentId,
      kind: source.kind,
      name,
      by,
      ...(source.kind === FILE ? { totals: weigh(source) } : {}),
      levelsBelow: source.levelsBelow,
      bytesBelow: source.bytesBelow,
      blobId: source.blobId,
      fileType: source.fileType,
      md5: source.md5,
      modifiedAt: source.modifiedAt,
      picturedAt: source.picturedAt,
    }))
    // The blobs are live, because the same transaction read them with their drive locked.
    if (!(await shareBlobs(db, blobsOf(rows), tx)))
      throw new Error('A file to be copied has no bytes.')
    await insertEntries(db, rows, tx)
    const copies = made.map(({ id, source }) => ({ id, sourceId: source.id }))
    if (keepsTags) {
      await copyTags(db, copy.bucketId, copies, tx)
      await copyPropertiesTo(db, copy.bucketId, copies, tx)
    }
    const folders = made.flatMap(({ id, topId, source }): EntryCopyFolder[] =>
      source.kind === FOLDER
        ? [{ id, copyId: copy.id, sourceId: source.id, topId, lastName: '' }]
        : [],
    )
    await insertCopyFolders(db, folders, tx)
  }

  /**
   * Adds new copies to the totals of the folders above them, and updates the bounds of those
   * folders.
   */
  async function countAbove(bucketId: string, made: Made[], tx: Tx): Promise<void> {
    const up = await upFrom(db, new Set(made.map(({ parentId }) => parentId)), tx)
    const totals = new Map<string, Totals>()
    const reaches = new Map<string, Reach>()
    for (const { parentId, source } of made) {
      const chain = chainOf(up, parentId)
      addTo(
        totals,
        chain.map(id => ({ id })),
        weigh(source),
      )
      let levelsBelow = 1 + source.levelsBelow
      let bytesBelow =
        Buffer.byteLength(source.name) + (source.bytesBelow > 0 ? 1 + source.bytesBelow : 0)
      for (const id of chain) {
        const known = reaches.get(id) ?? { levelsBelow: 0, bytesBelow: 0 }
        reaches.set(id, {
          levelsBelow: Math.max(known.levelsBelow, levelsBelow),
          bytesBelow: Math.max(known.bytesBelow, bytesBelow),
        })
        levelsBelow += 1
        bytesBelow += 1 + Buffer.byteLength(up.get(id)?.name ?? '')
      }
    }
    await addTotals(db, totals, tx)
    const nodes = await entriesOf(db, bucketId, [...reaches.keys()], tx)
    const further = nodes.flatMap(({ id, levelsBelow, bytesBelow }): [string, Reach][] => {
      const reach = reaches.get(id) ?? { levelsBelow: 0, bytesBelow: 0 }
      if (reach.levelsBelow <= levelsBelow && reach.bytesBelow <= bytesBelow) return []
      const bounds = {
        levelsBelow: Math.max(reach.levelsBelow, levelsBelow),
        bytesBelow: Math.max(reach.bytesBelow, bytesBelow),
      }
      return [[id, bounds]]
    })
    await setReach(db, new Map(further), tx)
  }

  /**
   * Records progress. If the source has grown since the start, reserves more.
   * @throws QUOTA_EXCEEDED
   */
  async function note(
    copy: EntryCopy,
    tree: Tree,
    limits: BucketLimits,
    by: Totals,
    tx: Tx,
  ): Promise<void> {
    const more = {
      bytes: Math.max(copy.copiedBytes + by.bytes - copy.reservedBytes, 0),
      files: Math.max(copy.copiedFiles + by.files - copy.reservedFiles, 0),
    }
    if (more.bytes + more.files > 0 && !(await reserve(db, copy.bucketId, more, limits, tx)))
      throw await quotaExceeded(db, tree, limits, more, tx)
    await addCopied(db, copy.id, by, more, tx)
  }

  return {
    /** Copies the selected entries themselves. */
    async begin(
      copy: Pick<EntryCopy, 'id' | 'bucketId'> & { stageId: string },
      {
        tops,
        sources,
        limits,
        keepsTags,
      }: { tops: CopiedTop[]; sources: Node[]; limits: BucketLimits; keepsTags: boolean },
      { tx, by }: TreeChange,
    ): Promise<void> {
      const rows = new Map(
        (
          await copiedEntries(
            db,
            sources.map(({ id }) => id),
            tx,
          )
        ).map(row => [row.id, row]),
      )
      const made = tops.flatMap(({ id, sourceId }, i) => {
        const source = rows.get(sourceId)
        return source
          ? [{ id, parentId: copy.stageId, name: String(i), source, topId: sourceId }]
          : []
      })
      await insert(copy, made, { limits, by, keepsTags }, tx)
      const none = { files: 0, bytes: 0 }
      await addCopied(db, copy.id, sumOf(made.map(({ source }) => weigh(source))), none, tx)
    },

    /**
     * Copies the contents of some folders, up to this many entries, with both trees locked.
     * @param within the entries that contain everything to copy
     * @returns whether no folder is left
     * @throws FILE_NOT_FOUND when a selected entry no longer exists; FILE_TOO_LARGE, QUOTA_EXCEEDED
     */
    async fill(
      copy: EntryCopy,
      { from, share, within }: Pick<CopyPlan, 'from' | 'share'> & { within: readonly string[] },
      { tree, limits, size }: { tree: Tree; limits: BucketLimits; size: number },
      tx: Tx,
    ): Promise<boolean> {
      const folders = await foldersToFill(db, copy.id, Math.min(size, FOLDERS_AT_ONCE), tx)
      if (folders.length === 0) return true
      const up = await upFrom(
        db,
        new Set(folders.flatMap(({ sourceId, topId }) => [sourceId, topId])),
        tx,
      )
      const filled: string[] = []
      const made: (Made & { name: string })[] = []
      for (const { id, sourceId, topId, lastName } of folders) {
        const room = size - made.length
        if (room <= 0) break
        const above = chainOf(up, topId)
        if (!above.includes(from.rootId) || !within.some(id => above.includes(id)))
          throw sourceGone()
        // The folder may have been moved out or deleted since.
        const isThere = chainOf(up, sourceId).includes(topId)
        const children = isThere ? await copiedChildren(db, sourceId, lastName, room, tx) : []
        for (const source of children)
          made.push({ id: newId(), parentId: id, name: source.name, source, topId })
        if (children.length < room) filled.push(id)
        else await setLastName(db, { id, lastName: children.at(-1)?.name ?? lastName }, tx)
      }
      await deleteCopyFolders(db, filled, tx)
      if (made.length === 0) return false
      await insert(copy, made, { limits, by: copy.userId, keepsTags: share === null }, tx)
      await countAbove(copy.bucketId, made, tx)
      await note(copy, tree, limits, sumOf(made.map(({ source }) => weigh(source))), tx)
      return false
    },
  }
}

/** The totals of a single copy. A folder counts without its contents. */
const weigh = ({ kind, bytes }: Pick<Node, 'kind' | 'bytes'>): Totals =>
  kind === FILE ? { bytes, files: 1, folders: 0 } : { bytes: 0, files: 0, folders: 1 }

const sourceGone = () =>
  new AppError(
    'FILE_NOT_FOUND',
    'A copied entry was moved or deleted meanwhile. Copy it again from its present place.',
  )
