import { validate as isUuid, v7 as newId } from 'uuid'
import type { Tx } from '../../../db/index.ts'
import {
  findSession,
  insertSession,
  type SessionRow,
  sessionsAmong,
} from '../../../db/queries/upload-session.ts'
import type { Config } from '../../config/config.ts'
import { InvalidInput, Unavailable } from '../../runtime/errors.ts'
import { BytesDiffer } from '../../storage/store.ts'
import { DAY_MS } from '../../values/duration.ts'
import { mediaTypeOf } from '../../values/media.ts'
import { requireModifiedAt } from '../../values/modified-at.ts'
import type { OnConflict } from '../../values/on-conflict.ts'
import { joinPath, parseFilePath, parseName, parsePath } from '../../values/paths.ts'
import type { Tree } from '../../values/tree.ts'
import type { Core } from '../core.ts'
import { rowsById } from '../rows-by-id.ts'
import type { BlobService } from '../tree/blob.ts'
import { pathIn } from '../tree/entry-path.ts'
import type { FileService } from '../tree/file.ts'
import type { UploadLimits } from '../tree/quota.ts'
import { uploadAddresses } from './upload-address.ts'
import { endSession } from './upload-end.ts'
import {
  isCorrupted,
  isPartial,
  partDiffers,
  uploadBusy,
  uploadCorrupted,
  uploadNotFound,
} from './upload-error.ts'
import {
  exactly,
  expectNothing,
  limitSends,
  type NewPart,
  parseContentMd5,
  partCountOf,
  type ReceivedPart,
  sizeOfPart,
} from './upload-part.ts'
import type { UploadSessionView, UploadTree } from './upload-session-view.ts'

/** The declaration that starts an upload. */
export interface NewUpload {
  filename: string
  size: number
  contentType?: string | null | undefined
  folder?: string | null | undefined
  direct?: boolean | null | undefined
  onConflict: OnConflict
  /** The modification time that the client reports. */
  modifiedAt?: number | null | undefined
  /**
   * The time that the upload waits for each part before it expires, in milliseconds; by default one
   * day.
   */
  lifeMs?: number
  /** Whether bytes are reserved as parts arrive, instead of all at the start. */
  reservesLater?: boolean
  /**
   * Further changes in the same transaction, before the bytes are reserved and after the upload is
   * recorded.
   */
  before?: (tx: Tx) => Promise<void>
  alongside?: (session: UploadSessionView, tx: Tx) => Promise<void>
}

/** An unfinished upload whose tree is not loaded yet. */
export type StartedUpload = SessionRow

/**
 * The maximum age of the state of an upload when a part is stored. An older state is read again.
 */
const FRESH_MS = 1000

export function uploadSessionService({
  coordination,
  db,
  store,
  blobs,
  files,
  log,
  tokens,
  publicUrl,
  uploadPartBytes: partSize,
  directUploads: maySendDirectly,
}: Core<'coordination' | 'db' | 'store' | 'log' | 'tokens' | 'publicUrl'> &
  Pick<Config, 'uploadPartBytes' | 'directUploads'> & { blobs: BlobService; files: FileService }) {
  const oneOfFew = limitSends(coordination)
  const addresses = uploadAddresses({ store, tokens, publicUrl })

  /**
   * The unfinished upload with this id that the user started in this tree.
   * @param need `writable`: its creator may still write there and it is not being completed;
   * `idle`: it is not being completed
   * @throws UPLOAD_NOT_FOUND, UPLOAD_BUSY; INVALID_INPUT for `idle` if it can only be joined to
   * others
   */
  async function find(
    tree: UploadTree,
    id: string,
    by: string,
    need?: 'idle' | 'writable',
  ): Promise<UploadSessionView> {
    if (!isUuid(id)) throw uploadNotFound()
    const now = Date.now()
    const row = await findSession(
      db,
      { id, bucketId: tree.bucketId, maker: by, writable: need === 'writable' },
      now,
    )
    if (!row || !isInto(tree, row)) throw uploadNotFound()
    if (need && row.claimUntil > now) throw uploadBusy()
    if (need === 'idle' && row.stream === 'partial') throw isPartial()
    return toView(tree, by, row)
  }

  /**
   * The numbers of the complete parts, ascending. The single part of an empty file counts as
   * received.
   */
  async function received(session: UploadSessionView): Promise<number[]> {
    if (session.size === 0 || session.isCompleted)
      return Array.from({ length: session.partCount }, (_, i) => i + 1)
    const stored = await store.partsOf(session.id).catch(error => {
      if (isCorrupted(session, error)) return new Map<number, number>()
      throw error
    })
    const { partCount } = session
    return [...stored]
      .filter(
        ([number, size]) =>
          number >= 1 && number <= partCount && size === sizeOfPart(session, number),
      )
      .map(([number]) => number)
      .sort((a, b) => a - b)
  }

  /**
   * Deletes the parts now. Those of a direct upload are deleted again when no client can write to
   * them any more.
   */
  const removeParts = (session: UploadSessionView) =>
    store
      .remove([session.id])
      .catch(error => log.warn({ err: error, upload: session.id }, 'could not delete parts'))

  const endParts = (id: string) =>
    store
      .endParts(id)
      .catch(error =>
        log.warn({ err: error, upload: id }, 'could not delete the folder of an upload'),
      )

  return {
    find,

    /** Whether its creator may still write there, also during its completion. */
    isWritable: async (tree: Tree, id: string, by: string): Promise<boolean> =>
      (await findSession(
        db,
        { id, bucketId: tree.bucketId, maker: by, writable: true },
        Date.now(),
      )) !== undefined,

    /**
     * The uploads among these that the user started, unfinished or completed in the background, by
     * id, each for `inTree`.
     */
    startedAmong: (by: string, ids: string[]): Promise<Map<string, StartedUpload>> =>
      rowsById(ids, some => sessionsAmong(db, by, some)),

    /**
     * An upload as its creator sees it, with this tree loaded. Null if it belongs to another tree.
     */
    inTree: (tree: Tree, by: string, started: StartedUpload): UploadSessionView | null =>
      started.bucketId === tree.bucketId && isInto(tree, started)
        ? toView(tree, by, started)
        : null,

    received,
    removeParts,
    endParts,

    unseal: addresses.unseal,

    /**
     * Starts an upload in parts. Reserves its full size until a day after its last part.
     * @throws INVALID_PATH, INVALID_INPUT, PATH_EXISTS, FILE_TOO_LARGE, QUOTA_EXCEEDED
     */
    async start(
      tree: Tree,
      upload: NewUpload,
      limits: UploadLimits,
      by: string,
    ): Promise<UploadSessionView> {
      const { size, folder, contentType, direct, onConflict, lifeMs = DAY_MS } = upload
      if (direct && !maySendDirectly)
        throw new InvalidInput(
          'direct',
          'This service does not support direct uploads. Omit "direct".',
        )
      const modifiedAt = requireModifiedAt(upload.modifiedAt)
      const name = parseName(upload.filename, 'filename')
      const names = placeOf(folder ?? '', name)
      if (size < 0)
        throw new InvalidInput('size', '"size" is the number of bytes of the file: 0 or more.')
      await files.refuseTaken(tree, { names, onConflict })
      const allowed = {
        ...limits,
        maxFileSizeBytes: Math.min(limits.maxFileSizeBytes, store.maxParts * partSize),
      }
      const createdAt = Date.now()
      const session: UploadSessionView = {
        id: newId(),
        bucketId: tree.bucketId,
        shareId: tree.share?.id ?? null,
        maker: by,
        ...placeIn(tree, names),
        fileType: mediaTypeOf(name, contentType ?? undefined),
        size,
        partSize,
        partCount: partCountOf({ size, partSize }),
        direct: direct ?? false,
        onConflict,
        modifiedAt,
        writableUntil: direct && store.addresses ? createdAt + DAY_MS : 0,
        createdAt,
        expiresAt: createdAt + lifeMs,
      }
      const at = await store.current()
      await db.transaction(async tx => {
        await upload.before?.(tx)
        await blobs.reserve(
          tree,
          allowed,
          { id: session.id, bytes: size, leaseUntil: session.expiresAt, at },
          tx,
        )
        if (upload.reservesLater)
          await blobs.reserveLater(tree, allowed, { id: session.id, bytes: size }, tx)
        await insertSession(db, { ...session, userId: by, path: joinPath(names) }, tx)
        await upload.alongside?.(session, tx)
      })
      return session
    },

    addressesOf: addresses.of,

    /**
     * Stores one part. Sending the same number again replaces the part. A part is stored completely
     * or not at all.
     * @throws UPLOAD_NOT_FOUND, UPLOAD_BUSY, INVALID_INPUT, CHECKSUM_MISMATCH, UNAVAILABLE while
     * others are sending it
     */
    async addPart(
      tree: UploadTree,
      { id, by, number, part, contentMd5, lifeMs, reserving }: NewPart,
    ): Promise<ReceivedPart> {
      const session = await find(tree, id, by, 'writable')
      const found = Date.now()
      if (number < 1 || number > session.partCount)
        throw new InvalidInput(
          'part_number',
          `This upload has the parts 1 to ${session.partCount}. There is no part ${number}.`,
        )
      const wanted = parseContentMd5(contentMd5)
      const size = sizeOfPart(session, number)
      // A slow body may outlast the upload. Once the upload is completed, its blob belongs to a
      // file.
      const admit = async () => {
        if (Date.now() - found > FRESH_MS) await find(tree, id, by, 'writable')
      }
      const source = exactly(part, number, size, admit)
      let crc32: string
      const reserved = await reserving?.more(size)
      try {
        const options = { size, offset: (number - 1) * session.partSize, md5: wanted }
        crc32 = await oneOfFew(`${id}/${number}`, () =>
          size > 0 ? store.stagePart(id, number, source, options) : expectNothing(source, wanted),
        )
      } catch (error) {
        if (reserved) await reserving?.less(reserved).catch(() => {})
        if (error instanceof BytesDiffer) throw partDiffers(number)
        // If the upload ended meanwhile, its parts are gone. That is no outage.
        if (error instanceof Unavailable) await find(tree, id, by)
        throw isCorrupted(session, error) ? uploadCorrupted() : error
      }
      // If the session has ended meanwhile, no row records the bytes just stored.
      if (!(await blobs.renew(id, lifeFrom(session, lifeMs)))) {
        await blobs.abandon(tree, id, undefined)
        await endParts(id)
        throw uploadNotFound()
      }
      return { partNumber: number, size, crc32 }
    },

    /**
     * Aborts an upload: releases its reservation immediately and deletes its parts. @throws
     * UPLOAD_NOT_FOUND
     */
    async abort(tree: Tree, id: string, by: string): Promise<void> {
      const session = await find(tree, id, by)
      const ended = await db.transaction(tx => endSession(db, tree.bucketId, session, tx))
      if (!ended) throw uploadNotFound()
      await removeParts(session)
    },
  }
}

/**
 * Its path is relative to the root of the tree in which it was started, and means nothing in
 * another tree.
 */
const isInto = ({ share }: UploadTree, { shareId }: Pick<SessionRow, 'shareId'>): boolean =>
  shareId === (share?.id ?? null)

function toView(tree: UploadTree, maker: string, row: SessionRow): UploadSessionView {
  const { path, direct, claimUntil: _, state, ...session } = row
  const where = { maker, ...placeIn(tree, parsePath(path)) }
  const states = { direct: Boolean(direct), isCompleted: state === 'completed' }
  return { ...session, ...where, ...states, partCount: partCountOf(session) }
}

export type UploadSessionService = ReturnType<typeof uploadSessionService>

/**
 * Each part extends an upload by a day. A direct upload expires with its signed URLs, because its
 * parts bypass this service.
 */
const lifeFrom = (session: UploadSessionView, lifeMs = DAY_MS): number =>
  session.direct ? session.expiresAt : Date.now() + lifeMs

export const placeOf = (folder: string, name: string): string[] =>
  parseFilePath(joinPath([...parsePath(folder, 'folder'), name]), 'folder')

const placeIn = (tree: UploadTree, names: string[]) => ({
  names,
  folder: pathIn(tree, names.slice(0, -1)),
})
