import { buffer } from 'node:stream/consumers'
import { v4 as newClaim } from 'uuid'
import { markForDeletion } from '../../../db/queries/blob.ts'
import {
  claimSession,
  completeUnclaimed,
  deleteClaimed,
  extendClaim,
  reclaimSession,
  releaseClaim,
  sessionExists,
  setCompleted,
  setCompletedFile,
} from '../../../db/queries/upload-session.ts'
import type { Writer } from '../../access/caller.ts'
import type { Config } from '../../config/config.ts'
import { START_BYTES } from '../../formats/signature.ts'
import { oneChunk } from '../../storage/chunks.ts'
import { type Algorithm, digest } from '../../storage/hash.ts'
import { BlobMissing, StoreRefusal } from '../../storage/store.ts'
import { DAY_MS, HOUR_MS } from '../../values/duration.ts'
import { mediaTypeOfBytes } from '../../values/media.ts'
import type { OnConflict } from '../../values/on-conflict.ts'
import { joinPath, parseName } from '../../values/paths.ts'
import type { Tree } from '../../values/tree.ts'
import type { Core } from '../core.ts'
import type { BlobService, StagedBlob } from '../tree/blob.ts'
import type { Destination } from '../tree/conflict.ts'
import { lockTree, type TreeChangeRunner } from '../tree/entry.ts'
import type { FileService } from '../tree/file.ts'
import type { FileView } from '../tree/listing.ts'
import type { PreviewService } from '../tree/preview.ts'
import type { ExpectedRevision } from '../tree/revision.ts'
import { type Digests, digestsOf, flowing, mismatch, otherSize } from './expected-digest.ts'
import { endJoined, markPartsForDeletion } from './upload-end.ts'
import {
  isCorrupted,
  refuseIncomplete,
  uploadBusy,
  uploadCorrupted,
  uploadNotFound,
} from './upload-error.ts'
import { placeOf, type UploadSessionService } from './upload-session.ts'
import type { UploadSessionView } from './upload-session-view.ts'

/**
 * Options of a completion: the expected digests (hex), and a path that replaces the planned one.
 */
export interface Completion {
  md5?: string | null | undefined
  crc32?: string | null | undefined
  sha256?: string | null | undefined
  filename?: string | null | undefined
  folder?: string | null | undefined
  /** The id of the destination folder, wherever it is by then. */
  folderId?: string
  /** How many names are between this folder and the file; 0 by default. */
  below?: number
  /** Decides again, because the caller may have lost a right since the start. */
  decide: (choice: OnConflict) => OnConflict
  expected?: ExpectedRevision
}

/** The plan of a completion. Another process may execute it. */
export interface CompletionPlan {
  names: string[]
  folderId?: string | undefined
  below?: number | undefined
  onConflict: OnConflict
  expected: ExpectedRevision
  /** The expected digests. */
  given: Digests
}

/** The differences of a completion in the background. */
export interface Background {
  /** Stops reading back, like the loss of the claim. */
  signal: AbortSignal
  /** Wraps the slow step of reading all bytes back. */
  reading<T>(work: () => Promise<T>): Promise<T>
  /** Receives the number of bytes read. */
  passed(count: number): void
}

const EMPTY = new Uint8Array()

export interface CompletionWork {
  tree: Tree
  session: UploadSessionView
  /** The token of its claim; see `claim`. */
  token: string
  caller: Writer
  plan: CompletionPlan
  background?: Background
}

interface Deps extends Core<'db' | 'store' | 'log'>, Pick<Config, 'leaseSeconds'> {
  blobs: BlobService
  files: FileService
  changeTree: TreeChangeRunner
  uploadSessions: UploadSessionService
  previews: PreviewService
}

export function uploadCompletionService({
  db,
  store,
  log,
  leaseSeconds: claimSeconds,
  ...deps
}: Deps) {
  const { blobs, files, changeTree, previews, uploadSessions: sessions } = deps
  const claimUntil = () => Date.now() + claimSeconds * 1000

  /**
   * Claims an upload, which keeps out other completions and parts. The claim of a dead instance
   * expires.
   * @param completion the plan for the background; null for a completion that ends with its request
   * @returns the token of the claim
   * @throws UPLOAD_BUSY, UPLOAD_NOT_FOUND
   */
  async function claim(id: string, completion: string | null): Promise<string> {
    const token = newClaim()
    if (await claimSession(db, { id, claim: token, until: claimUntil(), completion })) return token
    throw (await sessionExists(db, id)) ? uploadBusy() : uploadNotFound()
  }

  /**
   * Claims an upload whose completion another instance abandoned.
   * @param before the abandoned completion
   * @param completion the same, as a completion of this instance
   * @returns the token; null if that completion continues or has ended
   */
  async function reclaim(id: string, before: string, completion: string): Promise<string | null> {
    const token = newClaim()
    const given = { id, claim: token, until: claimUntil(), before, completion }
    return (await reclaimSession(db, given)) ? token : null
  }

  /**
   * Runs `work` under a claim and renews the claim until it ends.
   * @param work receives a function that renews the claim, and a signal that fires when the claim
   * is lost; both throw UPLOAD_NOT_FOUND then
   */
  async function holding<T>(
    id: string,
    token: string,
    work: (renew: () => Promise<void>, lost: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const loss = new AbortController()
    const renew = async () => {
      const held = await extendClaim(db, id, token, claimUntil())
      // The lease must not expire while the bytes are read back.
      if (!held || !(await blobs.renew(id, Date.now() + HOUR_MS))) loss.abort(uploadNotFound())
      loss.signal.throwIfAborted()
    }
    const heartbeat = setInterval(
      () =>
        renew().catch(error => {
          if (!loss.signal.aborted) log.warn({ err: error, upload: id }, 'could not renew a claim')
        }),
      (claimSeconds * 1000) / 4,
    )
    try {
      return await work(renew, loss.signal)
    } finally {
      clearInterval(heartbeat)
    }
  }

  async function readBack(
    key: string,
    sums: readonly Algorithm[],
    signal: AbortSignal,
    background: Background | undefined,
  ) {
    const { passed, reading } = background ?? {}
    const work = async () => digest(flowing(await store.open(key, { signal }), passed), sums)
    try {
      return await (reading ? reading(work) : work())
    } catch (error) {
      signal.throwIfAborted()
      throw error
    }
  }

  /**
   * Joins the parts into one blob and passes it to `use`. Reads the blob back for digests that the
   * store does not know. If clients can still write to the parts because their signed URLs are
   * valid, copies the bytes first.
   */
  async function assembled<T>(
    tree: Tree,
    session: UploadSessionView,
    sums: readonly Algorithm[],
    lost: AbortSignal,
    background: Background | undefined,
    use: (blob: StagedBlob, read: Digests) => Promise<T>,
  ): Promise<T> {
    const { id, size, fileType: contentType } = session
    const signal = background ? AbortSignal.any([background.signal, lost]) : lost
    const joined = await store.commitParts(id, size === 0 ? 0 : session.partCount, {
      contentType,
      signal,
    })
    const copied = session.writableUntil > 0 ? await blobs.announceCopy(tree) : undefined
    const key = copied ?? id
    try {
      if (copied) {
        await store.copy(id, copied)
        // Checked before reading, because a client may have written far more than it declared.
        const there = await store.look(copied)
        if (there?.size !== size) throw otherSize(session, there?.size ?? 0)
      }
      const known: Digests = copied ? {} : joined
      const unknown = sums.filter(sum => known[sum] === undefined)
      const read = unknown.length > 0 ? await readBack(key, unknown, signal, background) : undefined
      if (read && read.size !== size) throw otherSize(session, read.size)
      const all = { ...read?.sums, ...known }
      const blob = {
        id: key,
        reservedBytes: size,
        size,
        md5: all.md5 ?? '',
        crc32: all.crc32,
        ...(copied ? { copied: true } : {}),
      } as const
      const done = await use(blob, all)
      blobs.settled(key)
      return done
    } catch (error) {
      // If the upload ended meanwhile, the sweeper may have deleted its parts before they were
      // joined.
      if (copied) await blobs.abandonCopy(tree, copied)
      else await blobs.abandonForgotten(tree, id)
      throw error
    }
  }

  /** The media type of the joined bytes. */
  async function typeOf(
    { id, size }: StagedBlob,
    { fileType }: UploadSessionView,
    { names }: CompletionPlan,
  ): Promise<string> {
    const count = Math.min(size, START_BYTES)
    const start = count > 0 ? await buffer(await store.open(id, { offset: 0, count })) : EMPTY
    return mediaTypeOfBytes(fileType, names.at(-1) ?? '', start)
  }

  /**
   * Plans a completion. Claims nothing yet.
   * @throws INVALID_INPUT, INVALID_PATH, UPLOAD_NOT_FOUND, UPLOAD_BUSY, PATH_EXISTS
   */
  async function prepare(
    tree: Tree,
    id: string,
    by: string,
    completion: Completion,
  ): Promise<{ session: UploadSessionView; plan: CompletionPlan }> {
    const session = await sessions.find(tree, id, by, 'idle')
    const given = digestsOf(completion)
    const planned = {
      folder: joinPath(session.names.slice(0, -1)),
      name: session.names.at(-1) ?? '',
    }
    const name = completion.filename ? parseName(completion.filename, 'filename') : planned.name
    const names = placeOf(completion.folder || planned.folder, name)
    const onConflict = completion.decide(session.onConflict)
    const { expected, folderId, below } = completion
    await files.refuseTaken(tree, { names, onConflict, expected })
    return { session, plan: { names, folderId, below, onConflict, expected, given } }
  }

  /**
   * @throws UPLOAD_NOT_FOUND, UPLOAD_INCOMPLETE, CHECKSUM_MISMATCH, PATH_EXISTS, QUOTA_EXCEEDED for
   * folders, UNAUTHENTICATED, FORBIDDEN
   */
  async function carryOut({
    tree,
    session,
    token,
    caller,
    plan,
    background,
  }: CompletionWork): Promise<FileView> {
    const { id } = session
    const { given, ...destination }: CompletionPlan & Destination = plan
    const work = holding(id, token, async (renew, lost) => {
      const received = await sessions.received(session)
      // If the claim of this request expired, another one may hold the upload, and the blob may
      // belong to a file.
      await renew()
      refuseIncomplete(session, received)
      const sums = [...new Set(['md5', ...Object.keys(given)])] as Algorithm[]
      const file = await assembled(tree, session, sums, lost, background, async (blob, read) => {
        for (const [algorithm, checksum] of Object.entries(given))
          if (checksum !== read[algorithm as Algorithm]) throw mismatch(algorithm, read)
        const { modifiedAt } = session
        const fileType = await typeOf(blob, session, plan)
        await store.describe(blob.id, { contentType: fileType, md5: blob.md5 })
        const made = { fileType, modifiedAt, caller, at: Date.now() }
        return changeTree(tree, caller, async change => {
          const { tx } = change
          await lockTree(db, tree, tx)
          if (session.stream === 'joined') await endJoined(db, tree.bucketId, id, tx)
          // A request that aborted the upload, or took the expired claim, wins.
          const isOurs = background
            ? await setCompleted(db, id, token, Date.now() + DAY_MS, tx)
            : await deleteClaimed(db, id, token, tx)
          if (!isOurs) throw uploadNotFound()
          if (session.writableUntil > 0) await markPartsForDeletion(db, session, tx)
          const file = await files.save(tree, blob, destination, made, change)
          if (background) await setCompletedFile(db, id, file, tx)
          return file
        })
      })
      await (session.writableUntil > 0 ? sessions.removeParts(session) : sessions.endParts(id))
      previews.ordered(file)
      return file
    })
    return work.catch(async error => {
      if (!(error instanceof StoreRefusal || error instanceof BlobMissing)) throw error
      // The store's refusal is expected if the upload has ended meanwhile, or if the stored content
      // does not consist of its parts.
      await sessions.find(tree, id, session.maker)
      throw isCorrupted(session, error) ? uploadCorrupted() : error
    })
  }

  /**
   * Creates the file of an upload whose bytes have all arrived and are in memory. They become a
   * blob of their own without parts, so a request that has lost the upload meanwhile changes
   * nothing. The blob of the upload, which may have parts, remains until its outcome is forgotten.
   * @throws UPLOAD_NOT_FOUND, PATH_EXISTS, QUOTA_EXCEEDED for folders, UNAUTHENTICATED, FORBIDDEN
   */
  async function createFrom(
    bytes: Uint8Array,
    {
      tree,
      session,
      caller,
      decide,
    }: Pick<CompletionWork, 'tree' | 'session' | 'caller'> & Pick<Completion, 'decide'>,
  ): Promise<FileView> {
    const { id, size, names, modifiedAt } = session
    const destination = { names, onConflict: decide(session.onConflict) }
    const start = bytes.subarray(0, START_BYTES)
    const fileType = mediaTypeOfBytes(session.fileType, names.at(-1) ?? '', start)
    const key = await blobs.announceCopy(tree)
    try {
      const sums = await store.put(key, oneChunk(bytes), {
        contentType: fileType,
        admit: async () => {},
      })
      const blob = { id: key, reservedBytes: size, ...sums, copied: true } as const
      const made = { fileType, modifiedAt, caller, at: Date.now() }
      const file = await changeTree(tree, caller, async change => {
        const { tx } = change
        await lockTree(db, tree, tx)
        const forgottenAt = Date.now() + DAY_MS
        if (!(await markForDeletion(db, id, 'staged', forgottenAt, tx))) throw uploadNotFound()
        const saved = await files.save(tree, blob, destination, made, change)
        // A completion that was requested meanwhile wins.
        if (!(await completeUnclaimed(db, id, saved, forgottenAt, tx))) throw uploadBusy()
        return saved
      })
      blobs.settled(key)
      previews.ordered(file)
      return file
    } catch (error) {
      await blobs.abandonCopy(tree, key)
      throw error
    }
  }

  return {
    prepare,
    createFrom,
    claim,
    reclaim,
    carryOut,

    /**
     * Creates the file: joins all parts and compares them with the expected digests. If that fails,
     * the upload can continue. Runs to its end even if the client disconnects.
     * @throws the errors of `prepare`, `claim` and `carryOut`
     */
    async complete(
      tree: Tree,
      { id, by }: { id: string; by: string },
      caller: Writer,
      completion: Completion,
    ): Promise<FileView> {
      const prepared = await prepare(tree, id, by, completion)
      const token = await claim(id, null)
      try {
        return await carryOut({ ...prepared, tree, token, caller })
      } finally {
        await releaseClaim(db, id, token).catch(error =>
          log.warn({ err: error, upload: id }, 'could not release a claim; it expires'),
        )
      }
    },
  }
}

export type UploadCompletionService = ReturnType<typeof uploadCompletionService>
