import { v4 as newToken } from 'uuid'
import type { Tx } from '../../../db/index.ts'
import { FOLDER } from '../../../db/models/entry.ts'
import {
  countLocks,
  deleteEndedLocks,
  deleteLocks,
  extendLock,
  insertLock,
  type LockRow,
  locksIn,
} from '../../../db/queries/dav-lock.ts'
import { entriesOf } from '../../../db/queries/entry.ts'
import { type Node, resolveChain, upFrom } from '../../../db/queries/entry-path.ts'
import type { Caller } from '../../access/caller.ts'
import { AppError } from '../../runtime/errors.ts'
import {
  MAX_DAV_LOCKS,
  MAX_DAV_LOCKS_OF_DRIVE,
  MAX_DAV_LOCKS_OF_ENTRY,
} from '../../values/limits.ts'
import type { Tree } from '../../values/tree.ts'
import type { Core } from '../core.ts'
import { lockTrees } from './copy-arrival.ts'
import { type GuardedTree, lockTree, type TreeChangeRunner } from './entry.ts'
import { chainOf, fileNotFound } from './entry-path.ts'

/** An active lock. */
export interface Lock
  extends Pick<LockRow, 'id' | 'entryId' | 'userId' | 'owner' | 'createdAt' | 'expiresAt'> {
  isShared: boolean
  isDeep: boolean
}

/** The entry at a path, and the locks of its drive. */
export interface Looked {
  /** Undefined if nothing exists at the path. */
  node: Pick<Node, 'id' | 'kind' | 'revision' | 'contentRevision' | 'changeStamp'> | undefined
  /** The ids from the root down to the entry, or to the last existing folder. */
  chain: string[]
  /** The existing or future parent folder. Null if that folder is missing. */
  parentId: string | null
  /** The locks that apply: those of the entry, and deep locks of the folders above it. */
  covering: Lock[]
}

/**
 * The submitted lock tokens and who submitted them. Only the creator of a lock may use its token
 * (RFC 4918, section 6.4).
 */
export interface Submitted {
  userId: string
  tokens: ReadonlySet<string>
  /**
   * The lock owner of a program that forgets its tokens. This person's locks with that owner count
   * as submitted.
   */
  forgetfulOwner?: string | undefined
}

/**
 * The scope of a change: the content of an entry, the members of its folder, or the entry with
 * everything below it.
 */
export interface LockUse {
  names: readonly string[]
  how: 'content' | 'member' | 'whole'
}

/** A change that requires the token of another lock. */
export class EntryLocked extends Error {
  /** The id of the locked entry. */
  readonly entryId: string

  constructor({ entryId }: Lock) {
    super(
      'This is locked by another program. Wait until its lock expires, or send the token of the lock.',
    )
    this.entryId = entryId
  }
}

/** An existing lock prevents a new one. */
export class LockConflict extends EntryLocked {}

interface Deps extends Core<'db'> {
  changeTree: TreeChangeRunner
}

/**
 * Locks of WebDAV clients (docs/decisions/webdav.md). They are created and checked with their drive
 * locked, so that they hold across workers and instances. Changes through other interfaces ignore
 * them.
 */
export function davLockService({ db, changeTree }: Deps) {
  async function inForce(tree: Tree, tx?: Tx): Promise<Lock[]> {
    const rows = await locksIn(db, tree.bucketId, Date.now(), tx)
    const still = await keepReachable(rows, tx)
    return still.map(row => ({
      ...row,
      isShared: Boolean(row.isShared),
      isDeep: Boolean(row.isDeep),
    }))
  }

  /** Deletes locks made through a share whose entries are no longer shared. */
  async function keepReachable(rows: LockRow[], tx?: Tx): Promise<LockRow[]> {
    const moved = rows.filter(({ sharedId, entryId }) => sharedId !== null && sharedId !== entryId)
    if (moved.length === 0) return rows
    const up = await upFrom(db, new Set(moved.map(({ entryId }) => entryId)), tx)
    return rows.filter(
      ({ sharedId, entryId }) =>
        sharedId === null || sharedId === entryId || chainOf(sharedId, up, entryId) !== undefined,
    )
  }

  /** The ids of the root of a tree and all folders above it, from the top. */
  async function topOf(tree: Tree, tx?: Tx): Promise<string[]> {
    if (!tree.share) return [tree.rootId]
    const place = chainOf(tree.share.drive.rootId, await upFrom(db, [tree.rootId], tx), tree.rootId)
    return [tree.share.drive.rootId, ...(place?.ids ?? []), tree.rootId]
  }

  /** The root of a tree: a folder, or the file of a share of one file. */
  async function rootOf(tree: Tree, tx?: Tx): Promise<NonNullable<Looked['node']>> {
    const [file] = tree.share?.isFile ? await entriesOf(db, tree.bucketId, [tree.rootId], tx) : []
    // No method changes the root itself, so no condition asks for its state.
    return (
      file ?? { id: tree.rootId, kind: FOLDER, revision: 1, contentRevision: 1, changeStamp: 0 }
    )
  }

  async function look(
    tree: Tree,
    names: readonly string[],
    locks: Lock[],
    tx?: Tx,
  ): Promise<Looked> {
    const found = await resolveChain(db, tree, [...names], tx)
    const top = await topOf(tree, tx)
    const root = await rootOf(tree, tx)
    const isThere = found.length === names.length
    const chain = [...top, ...found.map(({ id }) => id)]
    const node = isThere ? (found.at(-1) ?? root) : undefined
    const above = isThere ? (found.at(-2) ?? root) : (found.at(-1) ?? root)
    const hasParent = names.length > 0 && found.length >= names.length - 1 && above.kind === FOLDER
    return { node, chain, parentId: hasParent ? above.id : null, covering: covering(chain, locks) }
  }

  /** The locks on the contents of a folder, at any depth. */
  async function below(folderId: string, locks: Lock[], tx: Tx): Promise<Lock[]> {
    const others = locks.filter(({ entryId }) => entryId !== folderId)
    if (others.length === 0) return []
    const up = await upFrom(db, new Set(others.map(({ entryId }) => entryId)), tx)
    return others.filter(({ entryId }) => chainOf(folderId, up, entryId) !== undefined)
  }

  /** @throws EntryLocked */
  async function check(
    tree: Tree,
    { names, how }: LockUse,
    locks: Lock[],
    by: Submitted,
    tx: Tx,
  ): Promise<void> {
    const { node, chain } = await look(tree, names, locks, tx)
    if (how !== 'content' || !node)
      requireTokens(covering(node ? chain.slice(0, -1) : chain, locks), by)
    if (!node || how === 'member') return
    requireTokens(covering(chain, locks), by)
    if (how === 'content') return
    const inside = await below(node.id, locks, tx)
    for (const on of Map.groupBy(inside, ({ entryId }) => entryId).values()) requireTokens(on, by)
    // A lock stays where it was created (RFC 4918, section 7.5), so it ends when its entry leaves.
    const ending = [...inside, ...locks.filter(({ entryId }) => entryId === node.id)]
    if (ending.length > 0)
      await deleteLocks(
        db,
        ending.map(({ id }) => id),
        tx,
      )
  }

  /** @throws LockConflict, QUOTA_EXCEEDED */
  async function requireRoom(
    { own, inside, locks }: { own: Lock[]; inside: Lock[]; locks: Lock[] },
    { isShared, userId }: Pick<Lock, 'isShared' | 'userId'>,
    tx?: Tx,
  ): Promise<void> {
    const inTheWay = [...own, ...inside].find(lock => !isShared || !lock.isShared)
    if (inTheWay) throw new LockConflict(inTheWay)
    // The locks inside may apply to different entries. Counting all of them keeps each entry below
    // the limit.
    if (own.length + inside.length >= MAX_DAV_LOCKS_OF_ENTRY)
      throw new AppError(
        'QUOTA_EXCEEDED',
        `${MAX_DAV_LOCKS_OF_ENTRY} shared locks hold here. Wait until some end.`,
      )
    if ((await countLocks(db, userId, Date.now(), tx)) >= MAX_DAV_LOCKS)
      throw new AppError(
        'QUOTA_EXCEEDED',
        `You have ${MAX_DAV_LOCKS} locks. Unlock something, or wait.`,
      )
    if (locks.length >= MAX_DAV_LOCKS_OF_DRIVE)
      throw new AppError(
        'QUOTA_EXCEEDED',
        'This drive has too many locks. Wait until some of them expire.',
      )
  }

  return {
    /**
     * The entry at a path, and the locks that apply to it.
     * @param locks those of the drive, if already loaded
     */
    look: async (tree: Tree, names: readonly string[], locks?: Lock[]): Promise<Looked> =>
      look(tree, names, locks ?? (await inForce(tree))),

    /** The active locks of a drive. */
    inForce: (tree: Tree): Promise<Lock[]> => inForce(tree),

    /**
     * Wraps a tree so that changes fail if they require tokens that were not submitted.
     * @param from another tree that the change locks
     */
    guarded(tree: Tree, uses: readonly LockUse[], by: Submitted, from: Tree = tree): GuardedTree {
      return {
        ...tree,
        guard: async tx => {
          await lockTrees(db, [tree, from], tx)
          const locks = await inForce(tree, tx)
          if (locks.length === 0) return
          for (const use of uses) await check(tree, use, locks, by, tx)
        },
      }
    },

    /**
     * Checks that a lock can be created where nothing exists yet.
     * @throws LockConflict, QUOTA_EXCEEDED
     */
    async requireRoomAt(
      tree: Tree,
      names: readonly string[],
      of: Pick<Lock, 'isShared' | 'userId'>,
    ): Promise<void> {
      const locks = await inForce(tree)
      const { covering: own } = await look(tree, names, locks)
      await requireRoom({ own, inside: [], locks }, of)
    },

    /**
     * Locks the entry at a path.
     * @throws LockConflict, FILE_NOT_FOUND, QUOTA_EXCEEDED
     */
    async make(
      tree: Tree,
      names: readonly string[],
      given: Pick<Lock, 'isShared' | 'isDeep' | 'owner'> & { seconds: number },
      caller: Caller,
    ): Promise<Lock> {
      const { seconds, ...terms } = given
      const { bucketId } = tree
      const { userId } = caller
      return changeTree(tree, caller, async ({ tx }) => {
        await lockTree(db, tree, tx)
        const locks = await inForce(tree, tx)
        const { node, covering: own } = await look(tree, names, locks, tx)
        if (!node) throw fileNotFound(tree, names)
        const inside = terms.isDeep ? await below(node.id, locks, tx) : []
        await requireRoom({ own, inside, locks }, { isShared: terms.isShared, userId }, tx)
        const now = Date.now()
        await deleteEndedLocks(db, { bucketId, userId }, now, tx)
        const lock = {
          id: newToken(),
          entryId: node.id,
          userId,
          shareId: tree.share?.id ?? null,
          ...terms,
          expiresAt: now + seconds * 1000,
          createdAt: now,
        }
        await insertLock(db, { ...lock, bucketId }, tx)
        return lock
      })
    },

    /**
     * Extends a lock to this many seconds from now.
     * @returns null if the caller has no lock there with this token
     */
    async refresh(
      tree: Tree,
      names: readonly string[],
      { tokens, seconds }: { tokens: ReadonlySet<string>; seconds: number },
      caller: Caller,
    ): Promise<Lock | null> {
      return changeTree(tree, caller, async ({ tx }) => {
        await lockTree(db, tree, tx)
        const { covering: own } = await look(tree, names, await inForce(tree, tx), tx)
        const lock = own.find(({ id, userId }) => tokens.has(id) && userId === caller.userId)
        if (!lock) return null
        const expiresAt = Date.now() + seconds * 1000
        await extendLock(db, lock.id, expiresAt, tx)
        return { ...lock, expiresAt }
      })
    },

    /**
     * The active locks of several entries of a drive, by entry id: their own, and deep locks of the
     * folders above them.
     */
    async ofEntries(tree: Tree, entryIds: readonly string[]): Promise<Map<string, Lock[]>> {
      const locks = await inForce(tree)
      if (locks.length === 0) return new Map()
      const up = await upFrom(db, entryIds)
      return new Map(
        entryIds.map(id => {
          const above = chainOf(tree.rootId, up, id)?.ids ?? []
          return [id, covering([tree.rootId, ...above, id], locks)]
        }),
      )
    },

    /**
     * Removes a lock.
     * @param given.names the path that the lock must apply to; by default, the whole drive
     * @param given.mayEndAny whether the caller may remove other people's locks
     * @returns the lock; undefined if there is none; null if it belongs to another person
     */
    async end(
      tree: Tree,
      given: { token: string; names?: readonly string[]; mayEndAny: boolean },
      caller: Caller,
    ): Promise<Lock | null | undefined> {
      const { token, names, mayEndAny } = given
      return changeTree(tree, caller, async ({ tx }) => {
        await lockTree(db, tree, tx)
        const all = await inForce(tree, tx)
        const there = names ? (await look(tree, names, all, tx)).covering : all
        const lock = there.find(({ id }) => id === token)
        if (!lock) return undefined
        if (lock.userId !== caller.userId && !mayEndAny) return null
        await deleteLocks(db, [lock.id], tx)
        return lock
      })
    },

    /**
     * Removes a lock anywhere in a drive.
     * @param given.mayEndAny whether the caller may remove other people's locks
     * @throws LOCK_NOT_FOUND, FORBIDDEN
     */
    async endById(
      tree: Tree,
      given: { token: string; mayEndAny: boolean },
      caller: Caller,
    ): Promise<Lock> {
      const ended = await this.end(tree, given, caller)
      if (ended === null) throw ofAnotherPerson()
      if (!ended) throw lockNotFound(given.token)
      return ended
    },
  }
}

export const lockNotFound = (id: string) =>
  new AppError('LOCK_NOT_FOUND', 'Lock not found. It may have ended.', { id })

/** Ending the lock of another person requires a right over the whole drive. */
export const ofAnotherPerson = () =>
  new AppError(
    'FORBIDDEN',
    'This lock belongs to another person. Ask them or the owner of the drive to remove it.',
  )

/** The locks that apply to the last of these entries, which lead down to it. */
export const covering = (chain: readonly string[], locks: readonly Lock[]): Lock[] =>
  locks.filter(
    ({ entryId, isDeep }) => entryId === chain.at(-1) || (isDeep && chain.includes(entryId)),
  )

/**
 * Requires the token of one of the caller's own locks that apply (RFC 4918, section 7).
 * @throws EntryLocked
 */
export function requireTokens(
  locks: readonly Lock[],
  { userId, tokens, forgetfulOwner }: Submitted,
): void {
  const isSubmitted = ({ id, owner }: Lock) =>
    tokens.has(id) || (forgetfulOwner !== undefined && owner.includes(forgetfulOwner))
  const [first] = locks
  if (first && !locks.some(lock => lock.userId === userId && isSubmitted(lock)))
    throw new EntryLocked(first)
}
