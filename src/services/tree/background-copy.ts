import { validate as isUuid, v7 as newId } from 'uuid'
import type { Db, Tx } from '../../../db/index.ts'
import { FILE, FOLDER } from '../../../db/models/entry.ts'
import type { EntryCopy } from '../../../db/models/entry-copy.ts'
import { addPurging, lockBucket, type Totals } from '../../../db/queries/bucket.ts'
import { deleteEntries, entriesNamed, entriesOf, insertEntry } from '../../../db/queries/entry.ts'
import {
  copiesOf,
  endCopy,
  findCopy,
  insertCopy,
  lockCopy,
  placeCopies,
} from '../../../db/queries/entry-copy.ts'
import { resolveChain } from '../../../db/queries/entry-path.ts'
import { reserve, unreserve } from '../../../db/queries/reservation.ts'
import type { Caller } from '../../access/caller.ts'
import { may } from '../../access/roles.ts'
import { AppError, Forbidden, toAppError } from '../../runtime/errors.ts'
import { createPace } from '../../runtime/pace.ts'
import { MAX_COPIED } from '../../values/limits.ts'
import type { BucketLimits, Tree } from '../../values/tree.ts'
import { enqueue, FOREVER, type Job, USUAL_AT_A_TIME } from '../job.ts'
import { type CopyOptions, copyArrivals, lockTrees, requireFolders } from './copy-arrival.ts'
import { type CopiedTop, type CopyPlan, copyFilling } from './copy-filling.ts'
import { workspaceTreesOf } from './drive.ts'
import { pathExists, type TreeChange, weightOf } from './entry.ts'
import { namesOfFolder, pathIn } from './entry-path.ts'
import type { Located, TreeDeps } from './entry-removal.ts'
import { purgeFolderJob } from './purge.ts'
import { quotaExceeded } from './quota.ts'

interface Begun {
  from: Tree
  /** With the names of the copies. */
  sources: (Located & { name: string })[]
  /** The share that grants the right to copy, if any. */
  shareId: string | null
  to: CopyOptions
  folder: string[]
  weight: Totals
}

/** A copy made in the background, as its creator sees it. */
export interface BackgroundCopy
  extends Pick<EntryCopy, 'id' | 'bucketId' | 'state' | 'entries' | 'bytes' | 'createdAt'> {
  /** Files, folders and bytes copied so far. */
  copied: number
  copiedBytes: number
  /** The ids of the copies, once it is done. */
  ids: string[]
  failure: CopyFailure | null
}

/** Why a copy failed. */
export type CopyFailure = Pick<AppError, 'code' | 'message' | 'details'>

const MAX_LISTED = 100
/** Turns are short, because copies alternate, and a stopping service waits for at most one turn. */
const TURN_MS = 1000
/** Copying an entry costs less than deleting one, for which the batch size is tuned. */
const ENTRIES_FOR_ONE = 4

/** Runs one turn of a background copy. The remaining work becomes another job. */
export const copyEntriesJob: Job<
  'copy-entries',
  { copyId: string },
  { db: Db; backgroundCopies: { step(id: string, size: number): Promise<boolean> } }
> = {
  kind: 'copy-entries',
  changesFiles: true,
  atATime: USUAL_AT_A_TIME,
  patienceMs: FOREVER,
  leastTries: 1,
  async run({ db, backgroundCopies }, { copyId }) {
    const pace = createPace()
    const end = Date.now() + TURN_MS
    while (Date.now() < end)
      if (!(await pace.batch(size => backgroundCopies.step(copyId, size * ENTRIES_FOR_ONE)))) return
    await db.transaction(tx => enqueue(db, copyEntriesJob, { copyId }, tx))
  },
}

interface Deps extends TreeDeps {
  findCaller: (credential: Pick<Caller, 'via' | 'credentialId'>) => Promise<Caller | null>
  /**
   * The ids of the shared entries that the caller may still see.
   * @throws the reason why not
   */
  requireShare: (id: string, caller: Caller, tx: Tx) => Promise<string[]>
}

/**
 * Copies many entries in transactions of bounded size. The copies wait in a folder outside every
 * tree, and are placed all at once at the end. A part of a copy is never visible, and an abandoned
 * copy is purged like a deleted folder. The rows record the progress, so after a kill any instance
 * can continue.
 */
export function backgroundCopyService({
  db,
  changeTree,
  removal,
  wake,
  findCaller,
  requireShare,
}: Deps) {
  const arrive = copyArrivals(db, removal)
  const filling = copyFilling(db)

  /**
   * A drive that the creator of a copy may still use.
   * @throws FORBIDDEN
   */
  async function openDrive(caller: Caller, bucketId: string, action: 'see' | 'write') {
    if (caller.bucket.bucketId === bucketId) return { tree: caller.bucket, limits: caller.limits }
    const [workspace] = await workspaceTreesOf(db, caller, 'b.id', [bucketId])
    if (workspace && may(workspace.role, action)) return workspace
    throw new Forbidden('You no longer have the right to copy this.')
  }

  /**
   * Checks the right under which a copy continues.
   * @throws FORBIDDEN
   */
  async function rightOf(
    { userId, bucketId }: EntryCopy,
    { via, credentialId, from, share }: CopyPlan,
  ): Promise<{ caller: Caller; tree: Tree; limits: BucketLimits }> {
    const caller = await findCaller({ via, credentialId })
    if (caller?.userId !== userId)
      throw new Forbidden(
        'The session or key that started this copy has ended. Start the copy again.',
      )
    if (!share) await openDrive(caller, from.bucketId, 'see')
    return { caller, ...(await openDrive(caller, bucketId, 'write')) }
  }

  /**
   * Ends a copy without a result: releases its reservation and purges what it copied.
   * @returns whether it was still active
   */
  async function giveUp(
    id: string,
    state: 'failed' | 'cancelled',
    failure: CopyFailure | null,
  ): Promise<boolean> {
    const known = await findCopy(db, id)
    if (!known) return false
    const done = await db.transaction(async tx => {
      await lockBucket(db, known.bucketId, tx)
      const copy = await lockCopy(db, id, tx)
      if (!copy) return false
      const { bucketId, stageId } = copy
      await unreserve(db, bucketId, { bytes: copy.reservedBytes, files: copy.reservedFiles }, tx)
      if (stageId !== null) await enqueue(db, purgeFolderJob, { folderId: stageId, bucketId }, tx)
      await endCopy(
        db,
        { id, state, result: null, failure: failure && JSON.stringify(failure) },
        tx,
      )
      return true
    })
    wake()
    return done
  }

  /** Places the copies, once every folder is filled. */
  async function finish(
    id: string,
    plan: CopyPlan,
    { caller, tree, limits }: { caller: Caller; tree: Tree; limits: BucketLimits },
  ): Promise<void> {
    await changeTree(tree, caller, async change => {
      const { tx, record } = change
      await lockTrees(db, [tree], tx)
      const copy = await lockCopy(db, id, tx)
      if (!copy?.stageId) return
      const folder = await namesOfFolder(db, tree, plan.to, 'to', tx)
      const tops = plan.tops.map(top => top.id)
      const nodes = new Map(
        (await entriesOf(db, tree.bucketId, tops, tx)).map(node => [node.id, node]),
      )
      const arriving = plan.tops.map(({ id: top, sourceId, name }) => {
        const node = nodes.get(top)
        if (!node) throw new Error('An entry of a copy is missing.')
        const { levelsBelow, bytesBelow } = node
        return { node, of: sourceId, name, weight: weightOf(node), levelsBelow, bytesBelow }
      })
      await unreserve(
        db,
        tree.bucketId,
        { bytes: copy.reservedBytes, files: copy.reservedFiles },
        tx,
      )
      const { onConflict, replacesFolders = false } = plan
      const to = { tree, limits, onConflict, replacesFolders }
      const { parentId, names } = await arrive(arriving, to, folder, change)
      await placeCopies(db, parentId, new Map(tops.map((top, i) => [top, names[i] ?? ''])), tx)
      await deleteEntries(db, [copy.stageId], tx)
      await addPurging(db, tree.bucketId, -1, tx)
      for (const [i, { node }] of arriving.entries())
        record({
          kind: node.kind === FILE ? 'file.copied' : 'folder.copied',
          subject: node.id,
          details: {
            path: pathIn(tree, [...folder, names[i] ?? '']),
            bytes: node.bytes,
            files: node.files,
          },
        })
      await endCopy(db, { id, state: 'done', result: JSON.stringify(tops), failure: null }, tx)
    })
  }

  /** A copy of the caller, or undefined. */
  async function findIfAny(
    caller: Pick<Caller, 'userId'>,
    id: string,
  ): Promise<BackgroundCopy | null> {
    const copy = isUuid(id) ? await findCopy(db, id) : undefined
    return copy?.userId === caller.userId ? toView(copy) : null
  }

  /** @throws COPY_NOT_FOUND */
  async function find(caller: Pick<Caller, 'userId'>, id: string): Promise<BackgroundCopy> {
    const copy = await findIfAny(caller, id)
    if (!copy) throw copyNotFound()
    return copy
  }

  return {
    /**
     * Starts a copy, with both trees locked.
     * @returns its id
     * @throws PATH_EXISTS, QUOTA_EXCEEDED, FORBIDDEN into another person's share
     */
    async begin(
      { from, sources, shareId, to, folder, weight }: Begun,
      caller: Caller,
      change: TreeChange,
    ): Promise<string> {
      const { tx, by } = change
      const { tree, limits, onConflict, replacesFolders } = to
      // Each step checks that the creator may write. It does not check shares.
      if (tree.share)
        throw new Forbidden(
          `You can copy up to ${MAX_COPIED} files and folders at once into a share of another person.`,
        )
      const [id, stageId] = [newId(), newId()]
      const { bucketId } = tree
      const tops = sources.map(
        ({ node, name }): CopiedTop => ({ id: newId(), sourceId: node.id, name }),
      )
      // Refuses copies early that cannot succeed. The end of the copy checks again.
      if (onConflict === 'fail') {
        const above = await resolveChain(db, tree, folder, tx)
        const parentId = above.length === folder.length ? (above.at(-1)?.id ?? tree.rootId) : null
        const wanted = tops.map(top => top.name)
        const [taken] = parentId === null ? [] : await entriesNamed(db, parentId, wanted, tx)
        const twice = wanted.find((one, i) => wanted.indexOf(one) < i)
        if (taken || twice !== undefined)
          throw pathExists(tree, [...folder, taken?.name ?? twice ?? ''])
      }
      await requireFolders(db, tree, weight.folders, tx)
      const reserved = { bytes: weight.bytes, files: weight.files }
      if (!(await reserve(db, bucketId, reserved, limits, tx)))
        throw await quotaExceeded(db, tree, limits, reserved, tx)
      // This folder is unreachable. The doctor treats it like a folder that waits to be purged.
      await insertEntry(
        db,
        { id: stageId, bucketId, parentId: null, kind: FOLDER, name: stageId, by },
        tx,
      )
      await addPurging(db, bucketId, 1, tx)
      const { via, credentialId } = caller
      const { folder: place } = to
      const { rootId } = from
      const plan: CopyPlan = {
        via,
        credentialId,
        from: { bucketId: from.bucketId, rootId },
        tops,
        share: shareId === null ? null : { id: shareId },
        to: place,
        onConflict,
        ...(replacesFolders ? { replacesFolders } : {}),
      }
      const entries = weight.files + weight.folders
      const copied = { bytes: 0, files: 0, folders: 0 }
      const row = {
        id,
        userId: caller.userId,
        bucketId,
        stageId,
        plan: JSON.stringify(plan),
        entries,
        copied,
        reserved,
      }
      await insertCopy(db, { ...row, bytes: weight.bytes }, tx)
      const sourced = {
        tops,
        sources: sources.map(({ node }) => node),
        limits,
        keepsTags: shareId === null,
      }
      await filling.begin(row, sourced, change)
      await enqueue(db, copyEntriesJob, { copyId: id }, tx)
      return id
    },

    /**
     * Copies up to this many more entries, or places the copies.
     * @returns whether there is more to do
     */
    async step(id: string, size: number): Promise<boolean> {
      const copy = await findCopy(db, id)
      if (copy?.state !== 'copying') return false
      const plan: CopyPlan = JSON.parse(copy.plan)
      try {
        const right = await rightOf(copy, plan)
        const isFilled = await db.transaction(async tx => {
          const { from, share } = plan
          await lockTrees(db, [from, right.tree], tx)
          const locked = await lockCopy(db, id, tx)
          if (!locked) return false
          const within = share ? await requireShare(share.id, right.caller, tx) : [from.rootId]
          return filling.fill(locked, { from, share, within }, { ...right, size }, tx)
        })
        if (!isFilled) return true
        await finish(id, plan, right)
        return false
      } catch (thrown) {
        const { error, unexpected } = toAppError(thrown)
        // The worker retries the step.
        if (unexpected || error.code === 'UNAVAILABLE') throw thrown
        const { code, message, details } = error
        await giveUp(id, 'failed', { code, message, details })
        return false
      }
    },

    findIfAny,
    find,

    /** The caller's active copies and those that ended recently, newest first. */
    list: async ({ userId }: Pick<Caller, 'userId'>): Promise<BackgroundCopy[]> =>
      (await copiesOf(db, userId, MAX_LISTED)).map(toView),

    /**
     * Cancels an active copy and removes everything it copied. A copy that has ended stays as it
     * is.
     * @throws COPY_NOT_FOUND
     */
    async cancel(caller: Pick<Caller, 'userId'>, id: string): Promise<BackgroundCopy> {
      await find(caller, id)
      await giveUp(id, 'cancelled', null)
      return find(caller, id)
    },
  }
}

export type BackgroundCopyService = ReturnType<typeof backgroundCopyService>

export const copyNotFound = () =>
  new AppError(
    'COPY_NOT_FOUND',
    'Copy not found. Copies are listed for a day after they have ended.',
  )

const toView = ({
  id,
  bucketId,
  state,
  entries,
  bytes,
  createdAt,
  ...copy
}: EntryCopy): BackgroundCopy => ({
  id,
  bucketId,
  state,
  entries,
  bytes,
  createdAt,
  copied: copy.copiedFiles + copy.copiedFolders,
  copiedBytes: copy.copiedBytes,
  ids: copy.result === null ? [] : JSON.parse(copy.result),
  // Rows of earlier versions have no details.
  failure: copy.failure === null ? null : { details: {}, ...JSON.parse(copy.failure) },
})
