import { validate as isUuid, v7 as newId } from 'uuid'
import type { Tx } from '../../../db/index.ts'
import { addTotals } from '../../../db/queries/entry.ts'
import type { Node } from '../../../db/queries/entry-path.ts'
import { mapPages, type Page } from '../../../db/queries/page.ts'
import { exchangeUsage } from '../../../db/queries/reservation.ts'
import {
  type Content,
  type CurrentFile,
  currentFile,
  deleteVersionRows,
  deleteVersions,
  insertVersion,
  modifiedAtOf,
  pagesOfVersions,
  setContent,
  uncountReplaced,
  type VersionRow,
  versionIn,
  versionsBeyond,
  versionsByIds,
} from '../../../db/queries/version.ts'
import type { Caller, Writer } from '../../access/caller.ts'
import type { Config } from '../../config/config.ts'
import { AppError } from '../../runtime/errors.ts'
import { DAY_MS } from '../../values/duration.ts'
import type { BucketLimits, Tree } from '../../values/tree.ts'
import type { Core } from '../core.ts'
import { type PageArgs, readCursor, readLimit, writeCursor } from '../page.ts'
import { rowsById } from '../rows-by-id.ts'
import { addTo, lockTree, type TreeChange, type TreeChangeRunner } from './entry.ts'
import { fileNotFound, findEntry, pathIn } from './entry-path.ts'
import type { FileView, FoundEntry, ListingService } from './listing.ts'
import { carryNote } from './note.ts'
import { quotaExceeded } from './quota.ts'
import { type ExpectedRevision, requireRevision } from './revision.ts'
import { noTrunk } from './trunk.ts'

/** A former content of a file. Sizes in bytes, times in milliseconds since 1970. */
export interface VersionView extends VersionRow {
  expiresAt: number
}

/** A file of a tree, with the folders above it. */
interface Placed {
  node: Pick<Node, 'id'>
  above: Pick<Node, 'id'>[]
}

/** The maximum number of surplus versions that one change deletes. */
const BATCH = 100

/**
 * @param versionsKept the number of versions kept per file, for `versionDays` days; if either is 0,
 * none are kept
 */
export function versionService({
  db,
  changeTree,
  listings,
  versionsKept,
  versionDays,
}: Core<'db'> &
  Pick<Config, 'versionsKept' | 'versionDays'> & {
    changeTree: TreeChangeRunner
    listings: ListingService
  }) {
  const keeps = versionsKept > 0 && versionDays > 0

  const view = (row: VersionRow): VersionView => ({
    ...row,
    expiresAt: row.replacedAt + versionDays * DAY_MS,
  })

  /** A version of a file that is in this tree. @throws VERSION_NOT_FOUND */
  async function locate(
    tree: Tree,
    id: string,
    tx?: Tx,
  ): Promise<{ version: VersionRow; file: FoundEntry }> {
    const version = isUuid(id) ? await versionIn(db, tree.bucketId, id, tx) : undefined
    const file = version && (await listings.byId(tree, version.entryId, tx))
    if (!version || !file) throw versionNotFound(id)
    return { version, file }
  }

  /** Stores a content as the newest version of a file. @returns its id */
  async function keep(
    tree: Tree,
    entryId: string,
    content: Content,
    replacedAt: number,
    tx: Tx,
  ): Promise<string> {
    const id = newId()
    await insertVersion(db, { id, bucketId: tree.bucketId, entryId, ...content, replacedAt }, tx)
    return id
  }

  /**
   * Replaces the content of a file. The caller stores the old content as a version, and updates the
   * usage.
   */
  async function setContentOf(
    { node, above }: Placed,
    { tree, old, content, at }: { tree: Tree; old: Content; content: Content; at: number },
    caller: Writer,
    change: TreeChange,
  ): Promise<void> {
    const changes = new Map()
    addTo(changes, [...(change.trunk ?? noTrunk).folders, ...above], {
      bytes: content.size - old.size,
      files: 0,
      folders: 0,
    })
    await addTotals(db, changes, change.tx)
    await setContent(db, node.id, content, at, change.tx)
    await carryNote(db, tree, { from: old.md5, to: content.md5 }, caller, change)
  }

  return {
    /**
     * The number of versions kept per file, and for how many days. If either is 0, none are kept.
     */
    kept: keeps ? versionsKept : 0,
    days: versionDays,

    /**
     * Replaces the content of a file in a locked tree. The usage already counts the new content as
     * an additional file. The old content becomes a version.
     * @returns the file before the change
     */
    async replace(
      tree: Tree,
      placed: Placed,
      { content, at }: { content: Content; at: number },
      caller: Writer,
      change: TreeChange,
    ): Promise<CurrentFile> {
      const { tx } = change
      const { id } = placed.node
      const before = await currentFile(db, id, tx)
      if (!before) throw new Error(`The file ${id} has no content.`)
      const old = before.content
      await uncountReplaced(db, tree.bucketId, { size: old.size, kept: keeps }, tx)
      await setContentOf(placed, { tree, old, content, at }, caller, change)
      const kept = keeps ? await keep(tree, id, old, at, tx) : null
      const others = kept === null ? 0 : versionsKept - 1
      const beyond = await versionsBeyond(db, id, { others, kept, limit: BATCH }, tx)
      await deleteVersions(db, tree.bucketId, beyond, tx, kept === null ? [old.blobId] : [])
      return before
    },

    /**
     * The versions of some files, newest first; each page starts after the same id. One
     * statement for up to 128 files.
     */
    async pagesOf(
      fileIds: string[],
      limit: number,
      after: string | null,
    ): Promise<Map<string, Page<VersionView>>> {
      return mapPages(await pagesOfVersions(db, fileIds, limit, after), view)
    },

    /**
     * The versions of one file, by its id or its path. @throws FILE_NOT_FOUND, INVALID_INPUT,
     * INVALID_PATH
     */
    async list(
      tree: Tree,
      by: Parameters<ListingService['file']>[1],
      { limit, cursor }: PageArgs,
    ): Promise<{ file: FoundEntry; versions: VersionView[]; nextCursor: string | null }> {
      const after = readCursor(cursor, ['id'])
      const file = await listings.file(tree, by)
      const page = (await this.pagesOf([file.id], readLimit(limit), after?.[0] ?? null)).get(
        file.id,
      )
      const versions = page?.rows ?? []
      return {
        file,
        versions,
        nextCursor: page?.more ? writeCursor([versions.at(-1)?.id ?? '']) : null,
      }
    },

    /** Some versions of any files, by id. */
    byIds: (ids: readonly string[]): Promise<Map<string, VersionView>> =>
      rowsById(ids, async some => (await versionsByIds(db, some)).map(view)),

    /** A version of a file of this tree, and the file. @throws VERSION_NOT_FOUND */
    find: (tree: Tree, id: string): Promise<{ version: VersionRow; file: FoundEntry }> =>
      locate(tree, id),

    /**
     * Restores a version as the content of its file. The current content becomes a version, even if
     * the policy keeps none.
     * @returns the file, and the id of the new version
     * @throws VERSION_NOT_FOUND, REVISION_MISMATCH, QUOTA_EXCEEDED
     */
    async restore(
      tree: Tree,
      id: string,
      { limits, expected }: { limits: BucketLimits; expected: ExpectedRevision },
      caller: Caller,
    ): Promise<{ file: FileView; keptId: string }> {
      return changeTree(tree, caller, async change => {
        const { tx, record } = change
        await lockTree(db, tree, tx)
        const { version, file } = await locate(tree, id, tx)
        requireRevision(file, expected)
        const placed = await findEntry(db, tree, file.names, tx)
        const before = await currentFile(db, file.id, tx)
        if (!placed || !before) throw fileNotFound(tree, file.names)
        const old = before.content
        const more = version.size - old.size
        if (!(await exchangeUsage(db, tree.bucketId, more, limits.maxTotalStorageBytes, tx)))
          throw await quotaExceeded(db, tree, limits, { bytes: more, files: 0 }, tx)
        const at = Date.now()
        await deleteVersionRows(db, [id], tx)
        const keptId = await keep(tree, file.id, old, at, tx)
        const {
          id: _id,
          bucketId: _bucket,
          entryId: _entry,
          replacedAt: _replaced,
          ...content
        } = version
        await setContentOf(placed, { tree, old, content, at }, caller, change)
        const { fileType, size, md5 } = content
        record({
          kind: 'version.restored',
          subject: file.id,
          details: { path: pathIn(tree, file.names), bytes: size, md5 },
        })
        const times = { updatedAt: at, modifiedAt: modifiedAtOf(content) }
        return {
          keptId,
          file: {
            ...{ ...file, fileType, size, md5, ...times },
            revision: before.revision + 1,
            contentRevision: before.contentRevision + 1,
          },
        }
      })
    },

    /** Deletes a version permanently. @returns its file @throws VERSION_NOT_FOUND */
    async remove(tree: Tree, id: string, caller: Caller): Promise<FileView> {
      return changeTree(tree, caller, async ({ tx, record }) => {
        await lockTree(db, tree, tx)
        const { version, file } = await locate(tree, id, tx)
        await deleteVersions(db, tree.bucketId, [version], tx)
        const { size: bytes, md5 } = version
        record({
          kind: 'version.deleted',
          subject: file.id,
          details: { path: pathIn(tree, file.names), bytes, md5 },
        })
        return file
      })
    },
  }
}

export type VersionService = ReturnType<typeof versionService>

export const versionNotFound = (id: string) =>
  new AppError(
    'VERSION_NOT_FOUND',
    'There is no such version here. Use an id from the versions of a file.',
    { id },
  )
