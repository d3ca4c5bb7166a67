import type { StreamKind } from '../../../db/models/upload-stream.ts'
import { lockOverdue, setLeases, setReservation } from '../../../db/queries/blob.ts'
import { unreserve } from '../../../db/queries/reservation.ts'
import {
  endPiecesOf,
  findJoined,
  findStream,
  insertStream,
  isStreamOver,
  type StreamRow,
  setStreamSize,
} from '../../../db/queries/upload-stream.ts'
import type { Caller } from '../../access/caller.ts'
import { AppError, Busy, EarlierError, InvalidInput, Unavailable } from '../../runtime/errors.ts'
import { createFairQueue } from '../../runtime/fair-queue.ts'
import { BlobMissing } from '../../storage/store.ts'
import { DAY_MS, HOUR_MS } from '../../values/duration.ts'
import type { OnConflict } from '../../values/on-conflict.ts'
import type { Tree } from '../../values/tree.ts'
import type { Core } from '../core.ts'
import type { BlobService } from '../tree/blob.ts'
import { lockTree } from '../tree/entry.ts'
import { fileTooLarge, reserveUpload, type UploadLimits } from '../tree/quota.ts'
import type { BackgroundCompletionService, CompletionView } from './background-completion.ts'
import { append, type Chunk, storeTail } from './stream-append.ts'
import { OffsetDiffers, StreamHeld, TooManyBytes } from './stream-error.ts'
import { streamWriters } from './stream-writer.ts'
import type { Completion, UploadCompletionService } from './upload-completion.ts'
import { uploadNotFound } from './upload-error.ts'
import { partCountOf } from './upload-part.ts'
import type { NewUpload, UploadSessionService } from './upload-session.ts'
import type { UploadSessionView } from './upload-session-view.ts'

/** An upload whose bytes arrive in order. Sizes are in bytes. */
export interface StreamView extends Pick<StreamRow, 'kind' | 'metadata' | 'isDeferred'> {
  session: UploadSessionView
  /** The number of durable bytes. It equals the size only once the file exists. */
  arrived: number
  /** The id of the created file. */
  fileId: string | null
  /** The ids of the joined uploads in order; null for an upload that joins none. */
  parts: string[] | null
}

/** The sender of a request with bytes. */
interface Sender {
  caller: Caller
  /** Decides the conflict rule again, because the caller may have lost a right since the start. */
  decide: (choice: OnConflict) => OnConflict
  /** The limits of the drive, for an upload whose reservation grows with its bytes. */
  limits: UploadLimits
  /** The destination of the file, if it differs from the planned one. */
  place?: Pick<Completion, 'filename' | 'folder'>
  /**
   * Called repeatedly while bytes arrive and before they are stored. Its errors end the request.
   */
  goesOn: () => Promise<void>
  /** Fires when the client disconnects. */
  signal: AbortSignal
}

export interface NewStream extends Omit<NewUpload, 'direct' | 'before' | 'alongside' | 'lifeMs'> {
  kind: StreamKind
  /** The metadata exactly as the client sent it. */
  metadata: string
  /** The ids of the uploads to join. */
  parts?: string
  /** Whether the client declares the length later; the size is 0 until then. */
  isDeferred?: boolean
}

/**
 * The time to wait until an earlier request of the client has stored its bytes, in milliseconds.
 */
const QUIET_MS = 3000
const WAIT_SECONDS = 10
/** The number of joins that run at the same time on one instance, and the number that wait. */
const JOINING_AT_ONCE = 4
const LONGEST_QUEUE = 100

interface Deps extends Core<'db' | 'store' | 'log'> {
  blobs: BlobService
  uploadSessions: UploadSessionService
  uploadCompletions: UploadCompletionService
  backgroundCompletions: BackgroundCompletionService
}

/**
 * Uploads in parts whose bytes arrive in order, in requests of any size. The file is created when
 * the last byte has arrived.
 */
export function uploadStreamService(deps: Deps) {
  const { db, store, blobs, uploadCompletions } = deps
  const { uploadSessions: sessions, backgroundCompletions: completions } = deps
  const writers = streamWriters(deps)
  /** Users take turns, because each join holds the memory of a stream. */
  const joins = createFairQueue({
    atOnce: JOINING_AT_ONCE,
    longest: LONGEST_QUEUE,
    full: () => new Busy('Too many uploads are being joined at the moment.'),
  })

  function begin(
    tree: Tree,
    upload: NewStream,
    limits: UploadLimits,
    by: string,
    before?: NewUpload['before'],
  ) {
    const { kind, metadata, parts = null, isDeferred = false, ...rest } = upload
    const alongside: NewUpload['alongside'] = ({ id }, tx) =>
      insertStream(db, { id, kind, metadata, parts, isDeferred }, tx)
    return sessions.start(tree, { ...rest, alongside, ...(before ? { before } : {}) }, limits, by)
  }

  /**
   * The upload with its current rows.
   * @throws UPLOAD_NOT_FOUND
   */
  async function look(tree: Tree, id: string, by: string): Promise<StreamView> {
    const started = (await sessions.startedAmong(by, [id])).get(id)
    const session = started && sessions.inTree(tree, by, started)
    const stream = session && (await findStream(db, id))
    if (!stream) throw uploadNotFound()
    const completion = session.isCompleted
      ? await completions.findIfAny(tree.bucketId, id, by)
      : null
    const parts = stream.parts?.split(',') ?? null
    const arrived = session.isCompleted ? session.size : stream.arrived
    const isDeferred = stream.isDeferred && !session.isCompleted
    return { ...stream, isDeferred, session, arrived, parts, fileId: completion?.fileId ?? null }
  }

  /**
   * Waits for the file that is being created.
   * @throws the errors of a completion
   */
  async function outcome(
    tree: Tree,
    id: string,
    { caller, signal }: Pick<Sender, 'caller' | 'signal'>,
    begun: CompletionView,
  ): Promise<StreamView> {
    let view = begun
    while (view.state === 'completing' && !signal.aborted)
      view = await completions.wait(tree, id, caller.userId, WAIT_SECONDS)
    if (view.failure) throw new EarlierError(view.failure)
    if (view.state === 'completed') await db.transaction(tx => endPiecesOf(db, id, tx))
    return look(tree, id, caller.userId)
  }

  /**
   * Creates the file from the received bytes, or waits for the request that does.
   * @throws the errors of a completion
   */
  async function finish(
    tree: Tree,
    id: string,
    sender: Omit<Sender, 'goesOn' | 'limits'>,
  ): Promise<StreamView> {
    const { caller, decide, place } = sender
    return outcome(
      tree,
      id,
      sender,
      await completions.begin(tree, id, caller, { ...place, decide }, WAIT_SECONDS),
    )
  }

  /**
   * Deletes bytes stored for an upload that had ended: no row records them, or the blob belongs to
   * a file.
   */
  async function discardLate(tree: Tree, id: string, by: string): Promise<void> {
    const started = (await sessions.startedAmong(by, [id])).get(id)
    if (started && started.state !== 'completed') return
    await blobs.abandonForgotten(tree, id)
    await sessions.endParts(id)
  }

  /**
   * Changes the reservation of an upload with a deferred length, and stores whether the length is
   * still deferred.
   * @throws FILE_TOO_LARGE, QUOTA_EXCEEDED, StreamHeld, UPLOAD_NOT_FOUND
   */
  async function resize(
    tree: Tree,
    { id, writer, size, isDeferred }: Parameters<typeof setStreamSize>[1],
    { limits, session }: { limits: UploadLimits; session: UploadSessionView },
  ): Promise<UploadSessionView> {
    const largest = Math.min(limits.maxFileSizeBytes, store.maxParts * session.partSize)
    if (size > largest) throw fileTooLarge({ ...limits, maxFileSizeBytes: largest }, tree)
    await db.transaction(async tx => {
      const more = { bytes: size - session.size, files: 0 }
      if (more.bytes > 0) {
        const refused = await reserveUpload(db, tree, limits, { blobId: id, ...more }, tx)
        if (refused) throw refused
      } else await unreserve(db, tree.bucketId, { bytes: -more.bytes, files: 0 }, tx)
      if (!(await setReservation(db, id, size, tx))) throw uploadNotFound()
      if (!(await setStreamSize(db, { id, writer, size, isDeferred }, tx))) throw new StreamHeld()
    })
    return { ...session, size, partCount: partCountOf({ size, partSize: session.partSize }) }
  }

  /**
   * Appends bytes and creates the file after the last ones.
   * @param chunkAt receives the number of bytes that have arrived
   * @throws the errors of `chunkAt`, of `append` and of a completion
   */
  async function extend(
    tree: Tree,
    id: string,
    chunkAt: (arrived: number) => Chunk,
    sender: Sender,
  ): Promise<StreamView> {
    const { caller, decide, place } = sender
    const by = caller.userId
    const goesOn = async () => {
      await sender.goesOn()
      await sessions.find(tree, id, by, 'writable')
    }
    let done: StreamView | undefined
    const begun = await writers.holding(id, sender.goesOn, async (writer, stop) => {
      const found = await look(tree, id, by)
      const { kind, arrived: from, isDeferred } = found
      let { session } = found
      const chunk = chunkAt(from)
      const holdsBack = kind !== 'partial'
      const resizeTo = async (size: number, stays: boolean) => {
        const next = { id, writer, size, isDeferred: stays }
        session = await resize(tree, next, { limits: sender.limits, session })
      }
      // Reserves in steps, because the length is still unknown.
      const grow = async (end: number) => {
        if (end > session.size) await resizeTo(end, true)
      }
      try {
        const { length } = chunk
        if (isDeferred && length === from) {
          for await (const more of chunk.source) if (more.length > 0) throw new TooManyBytes(length)
          await goesOn()
          // The length is final only once the file exists. Until then, the reported offset stays
          // below it.
          await resizeTo(length, holdsBack)
          await storeTail({ db, store, blobs }, session)
          if (!holdsBack) return null
        } else if (!session.isCompleted) {
          if (isDeferred && length !== undefined) await resizeTo(length, false)
          const isOpen = isDeferred && length === undefined
          const grows = isOpen ? { grow } : {}
          const createFrom = async (bytes: Uint8Array) => {
            const file = await uploadCompletions.createFrom(bytes, {
              tree,
              session,
              caller,
              decide,
            })
            const completed = { ...session, isCompleted: true }
            done = { ...found, session: completed, arrived: session.size, fileId: file.id }
          }
          const creates = kind === 'whole' && !isDeferred ? { createFrom } : {}
          const given = { session, writer, from, chunk, holdsBack, stop, goesOn }
          const arrived = await append({ db, store, blobs }, { ...given, ...grows, ...creates })
          if (done) return null
          if (!holdsBack || isOpen || arrived < session.size) return null
        }
        // Starts the completion before another request may write, because such bytes would end up
        // in the file.
        return await completions.begin(tree, id, caller, { ...place, decide }, 0)
      } catch (error) {
        // If the upload ended meanwhile, its parts are gone. That is no outage.
        const isOut = error instanceof Unavailable || error instanceof BlobMissing
        const why = isOut
          ? await sessions.find(tree, id, by).then(
              () => error,
              because => because,
            )
          : error
        if (why instanceof AppError && why.code === 'UPLOAD_NOT_FOUND')
          await discardLate(tree, id, by)
        throw why
      }
    })
    if (done) return done
    return begun ? outcome(tree, id, sender, begun) : look(tree, id, by)
  }

  /**
   * Appends bytes that begin at an offset.
   * @throws OffsetDiffers, and the errors of `extend`
   */
  const write = (
    tree: Tree,
    id: string,
    from: number,
    chunk: Chunk,
    sender: Sender,
  ): Promise<StreamView> =>
    extend(
      tree,
      id,
      arrived => {
        if (arrived !== from) throw new OffsetDiffers(arrived)
        return chunk
      },
      sender,
    )

  /**
   * The bytes of several uploads one after the other, from an offset.
   * @throws UPLOAD_NOT_FOUND if one of them ends
   */
  async function* bytesOf(
    tree: Tree,
    parts: readonly UploadSessionView[],
    from: number,
  ): AsyncGenerator<Uint8Array> {
    let skipped = from
    for (const { id, maker, size, partCount } of parts) {
      const offset = Math.min(skipped, size)
      skipped -= offset
      if (offset === size) continue
      try {
        await sessions.find(tree, id, maker)
        await store.commitParts(id, partCount, { contentType: 'application/octet-stream' })
        yield* await store.open(id, { offset })
      } catch (error) {
        // An upload that ended meanwhile has deleted its bytes.
        await sessions.find(tree, id, maker)
        throw error
      }
    }
  }

  /** Starts an upload that joins others. Their reservations pass to it, so the bytes count once. */
  function startJoining(
    tree: Tree,
    upload: NewStream,
    parts: readonly UploadSessionView[],
    limits: UploadLimits,
    by: string,
  ) {
    return begin(tree, upload, limits, by, async tx => {
      await lockTree(db, tree, tx)
      for (const { id, size } of parts) {
        const reserved = await lockOverdue(db, id, Number.MAX_SAFE_INTEGER, tx)
        if (reserved === undefined) throw uploadNotFound()
        // Another request has joined them first.
        if (reserved !== size) throw new StreamHeld()
        await setReservation(db, id, 0, tx)
      }
      await unreserve(db, tree.bucketId, { bytes: upload.size, files: 0 }, tx)
    })
  }

  return {
    begin,
    look,

    /**
     * Finds the current state of an upload, once no earlier request of its client writes.
     * @throws UPLOAD_NOT_FOUND, StreamHeld
     */
    async find(tree: Tree, id: string, by: string): Promise<StreamView> {
      const found = await look(tree, id, by)
      if (found.session.isCompleted) return found
      const completion = await completions.findIfAny(tree.bucketId, id, by)
      if (completion?.state === 'completing') {
        const { state } = await completions.wait(tree, id, by, WAIT_SECONDS)
        if (state === 'completing')
          throw new StreamHeld('The file of this upload is being created. Try again in a moment.')
        return look(tree, id, by)
      }
      await writers.quiet(id, QUIET_MS)
      return look(tree, id, by)
    },

    /** Whether the user had an upload with this id that has ended. */
    isOver: (id: string, by: string): Promise<boolean> => isStreamOver(db, id, by),

    write,
    finish,

    /**
     * The bytes of complete partial uploads, one after the other.
     * @throws UPLOAD_NOT_FOUND
     */
    async *bytesOf(tree: Tree, ids: readonly string[], by: string): AsyncGenerator<Uint8Array> {
      for (const id of ids) yield* bytesOf(tree, [await sessions.find(tree, id, by)], 0)
    },

    /**
     * Ends an incomplete upload and removes all its bytes.
     * @throws UPLOAD_NOT_FOUND
     */
    end: (tree: Tree, id: string, by: string): Promise<void> => sessions.abort(tree, id, by),

    /**
     * Joins complete partial uploads to one file, in this order. The partial uploads end when the
     * file exists or the joined upload has ended. Repeating the request continues, or returns the
     * same file.
     * @throws INVALID_INPUT, UPLOAD_NOT_FOUND, and the errors of `begin` and `write`
     */
    async join(
      tree: Tree,
      upload: Omit<NewStream, 'kind' | 'size' | 'parts'>,
      ids: readonly string[],
      limits: UploadLimits,
      sender: Sender,
    ): Promise<StreamView> {
      const by = sender.caller.userId
      const before = await findJoined(db, { bucketId: tree.bucketId, maker: by, parts: ids.join() })
      const known = before === undefined ? undefined : await look(tree, before, by)
      if (known?.session.isCompleted) return known
      if (new Set(ids).size < ids.length)
        throw new InvalidInput('Upload-Concat', 'An upload can be joined only once.')
      const parts: UploadSessionView[] = []
      for (const id of ids) {
        const session = await sessions.find(tree, id, by, 'writable')
        const stream = await findStream(db, id)
        if (stream?.kind !== 'partial' || stream.isDeferred || stream.arrived < session.size)
          throw new InvalidInput(
            'Upload-Concat',
            'Only complete partial uploads can be joined. Send the rest first.',
          )
        parts.push(session)
      }
      // The partial uploads must not expire before the upload that joins them.
      await setLeases(db, [...ids], Date.now() + DAY_MS + HOUR_MS)
      const size = parts.reduce((sum, part) => sum + part.size, 0)
      const started = { ...upload, kind: 'joined', parts: ids.join(), size } as const
      const id = before ?? (await startJoining(tree, started, parts, limits, by)).id
      // The name of the first request may be taken by now.
      const { filename, folder, onConflict } = upload
      const latest = {
        ...sender,
        place: { filename, folder },
        decide: () => sender.decide(onConflict),
      }
      return joins.run([by], () =>
        size === 0
          ? finish(tree, id, latest)
          : extend(tree, id, arrived => ({ source: bytesOf(tree, parts, arrived) }), latest),
      )
    },
  }
}

export type UploadStreamService = ReturnType<typeof uploadStreamService>
