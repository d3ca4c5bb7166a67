import type { Tx } from '../../../db/index.ts'
import type { LinkedRequest } from '../../../db/queries/file-request.ts'
import {
  extendRequestedUpload,
  insertRequestedUpload,
  leftInRequest,
  MAX_UNFINISHED,
  MAX_UNFINISHED_OF_NETWORK,
  requestedName,
  reserveInRequest,
  shrinkRequestedUpload,
  unfinishedOfNetwork,
} from '../../../db/queries/file-request-upload.ts'
import type { Sender } from '../../access/caller.ts'
import { AppError } from '../../runtime/errors.ts'
import { deviceOf } from '../../values/device.ts'
import { HOUR_MS } from '../../values/duration.ts'
import { truncateAddress } from '../../values/network.ts'
import { parseName } from '../../values/paths.ts'
import { Upload } from '../../values/upload.ts'
import type { Core } from '../core.ts'
import type { BlobService } from '../tree/blob.ts'
import type { FileService } from '../tree/file.ts'
import type { UploadLimits } from '../tree/quota.ts'
import type { Completion, UploadCompletionService } from '../uploads/upload-completion.ts'
import type { NewPart } from '../uploads/upload-part.ts'
import type { NewUpload, UploadSessionService } from '../uploads/upload-session.ts'
import type { UploadSessionView } from '../uploads/upload-session-view.ts'
import type {
  FileRequestLinkService,
  OpenRequest,
  SenderIdentity,
  SenderVisit,
} from './file-request-link.ts'
import { placeOfSender } from './file-request-place.ts'
import { refuseKind, requestClosed, requestFull } from './file-request-term.ts'

/** A received file as its sender sees it, under the sender's name for it. */
export interface SentFile {
  fileName: string
  size: number
  md5: string
  /** The token of the sender. */
  sender: string
}

/**
 * How long an upload in parts waits for its first part, and after each part for the next. Senders
 * are anonymous, so an upload that does not begin must not stay.
 */
const FIRST_PART_MS = HOUR_MS / 60
const NEXT_PART_MS = HOUR_MS
const RETRY_SECONDS = 60

interface Deps extends Core<'db'> {
  fileRequestLinks: FileRequestLinkService
  blobs: BlobService
  files: FileService
  uploadSessions: UploadSessionService
  uploadCompletions: UploadCompletionService
}

const MiB = 1024 * 1024
/**
 * A stranger reserves ahead as much as they have sent. With the bound on unfinished uploads, the
 * bytes of one network that are reserved and have not arrived are at most as many as those that
 * have, and 200 MiB.
 */
const bytesAhead = (arrived: number): number => Math.min(Math.max(arrived, MiB), 64 * MiB)

const keepBoth = () => 'keep_both' as const

const tooManyUnfinished = () =>
  new AppError(
    'RATE_LIMITED',
    `Too many uploads to this link are unfinished. Finish them, or try again in ${RETRY_SECONDS} seconds.`,
    {
      retry_after: RETRY_SECONDS,
      policy: 'file_request_uploads',
      limit: MAX_UNFINISHED,
      window: RETRY_SECONDS,
    },
  )

/** Hides errors about the drive, which senders must not learn about. */
function asSenderMaySee(error: unknown): unknown {
  if (!(error instanceof AppError)) return error
  if (['FOLDER_NOT_FOUND', 'UNAUTHENTICATED', 'FORBIDDEN'].includes(error.code))
    return requestClosed()
  if (error.code === 'QUOTA_EXCEEDED')
    return requestFull('There is not enough space for this file.')
  return error
}

/**
 * Uploads to file requests. They use the right of the request's creator, which is checked again
 * when a file is created.
 */
export function fileRequestUploadService({ db, fileRequestLinks: links, ...deps }: Deps) {
  const { blobs, files, uploadSessions, uploadCompletions } = deps

  /** Reserves in the request what is reserved in the drive, so that both end together. */
  function reservation(
    { request, limits }: OpenRequest,
    who: SenderIdentity,
    fileName: string,
    { address, client }: SenderVisit,
  ): UploadLimits {
    const network = truncateAddress(address)
    const alsoReserve = async (blobId: string, more: { bytes: number; files: number }, tx: Tx) => {
      if (!(await reserveInRequest(db, request.id, more, tx))) {
        const left = await leftInRequest(db, request.id, tx)
        if (!left.isOpen) return requestClosed()
        if (left.files !== null && left.files < more.files) return requestFull()
        if (left.bytes !== null && left.bytes < more.bytes)
          return requestFull('There is not enough space for this file.')
        return tooManyUnfinished()
      }
      if (more.files === 0) await extendRequestedUpload(db, blobId, more.bytes, tx)
      else {
        // Thrown, which undoes what was reserved: no smaller size would be admitted.
        if ((await unfinishedOfNetwork(db, request.id, network, tx)) >= MAX_UNFINISHED_OF_NETWORK)
          throw tooManyUnfinished()
        const upload = {
          id: blobId,
          requestId: request.id,
          senderId: who.id,
          senderName: who.name,
          fileName,
        }
        const came = { bytes: more.bytes, network, client: deviceOf(client), startedAt: Date.now() }
        await insertRequestedUpload(db, { ...upload, ...came }, tx)
      }
      return null
    }
    const alsoRelease = (blobId: string, bytes: number, tx: Tx) =>
      shrinkRequestedUpload(db, blobId, bytes, tx)
    return { ...limits, bytesAhead, alsoReserve, alsoRelease }
  }

  const writerOf = (
    { id }: LinkedRequest,
    { name }: SenderIdentity,
    { from }: SenderVisit,
  ): Sender => ({
    userId: null,
    via: 'file_request',
    credentialId: id,
    name,
    ...(from ? { from } : {}),
  })

  /** Opens a request for a sender, and hides details of the drive from errors. */
  async function within<T>(
    token: string,
    visit: SenderVisit,
    work: (opened: OpenRequest, who: SenderIdentity) => Promise<T>,
  ): Promise<T> {
    const opened = await links.open(token)
    const who = links.identify(opened.request, visit)
    try {
      return await work(opened, who)
    } catch (error) {
      throw asSenderMaySee(error)
    }
  }

  return {
    /**
     * Takes a whole file. A failed upload leaves nothing behind.
     * @throws FILE_REQUEST_NOT_FOUND, FILE_REQUEST_CLOSED, FILE_REQUEST_FULL, PASSWORD_REQUIRED,
     * INVALID_INPUT, INVALID_PATH, FILE_TOO_LARGE, RATE_LIMITED
     */
    upload: (
      token: string,
      visit: SenderVisit,
      given: Upload,
      modifiedAt?: number | null | undefined,
    ): Promise<SentFile> =>
      within(token, visit, async (opened, who) => {
        const { request, tree, names } = opened
        const fileName = parseName(given.filename, 'file')
        refuseKind(request.kinds, fileName)
        const { mimetype, source, signal, fieldsAfterwards } = given
        const place = placeOfSender(request, who, fileName)
        const to = { folder: [...names, ...place.below].join('/') }
        // The form cannot choose the destination.
        const upload = new Upload({
          filename: place.name,
          mimetype,
          source,
          // What a sender declares is not reserved: the reservation grows with the bytes.
          bound: undefined,
          signal,
          ...(fieldsAfterwards
            ? {
                fieldsAfterwards: async () => ({
                  ...to,
                  modifiedAt: (await fieldsAfterwards()).modifiedAt,
                }),
              }
            : {}),
        })
        const { size, md5 } = await files.upload(
          tree,
          upload,
          {
            to: { ...to, modifiedAt },
            folderId: request.folderId,
            below: place.below.length,
            decide: keepBoth,
            limits: reservation(opened, who, fileName, visit),
          },
          writerOf(request, who, visit),
        )
        return { fileName, size, md5, sender: links.seal(request, who) }
      }),

    /**
     * Starts an upload in parts. Its bytes are reserved as its parts arrive. It waits a minute for
     * its first part, and an hour after each part. @throws as upload
     */
    start: (
      token: string,
      visit: SenderVisit,
      declared: Pick<NewUpload, 'filename' | 'size' | 'contentType' | 'modifiedAt'>,
    ): Promise<UploadSessionView & { sender: string }> =>
      within(token, visit, async (opened, who) => {
        const { request, tree, names } = opened
        const filename = parseName(declared.filename, 'filename')
        refuseKind(request.kinds, filename)
        const { below, name } = placeOfSender(request, who, filename)
        const place = {
          folder: [...names, ...below].join('/'),
          onConflict: keepBoth(),
          lifeMs: FIRST_PART_MS,
          reservesLater: true,
        }
        const limits = reservation(opened, who, filename, visit)
        const session = await uploadSessions.start(
          tree,
          { ...declared, filename: name, ...place },
          limits,
          who.id,
        )
        return { ...session, sender: links.seal(request, who) }
      }),

    /**
     * An upload that this sender started.
     * @throws UPLOAD_NOT_FOUND, and the errors of `upload`
     */
    find: (token: string, visit: SenderVisit, id: string): Promise<UploadSessionView> =>
      within(token, visit, ({ tree }, who) => uploadSessions.find(tree, id, who.id)),

    addPart: (token: string, visit: SenderVisit, part: Omit<NewPart, 'by' | 'lifeMs'>) =>
      within(token, visit, async (opened, who) => {
        const { tree } = opened
        const { id } = part
        const { size, partCount } = await uploadSessions.find(tree, id, who.id)
        const limits = reservation(opened, who, '', visit)
        const reserving = {
          more: (bytes: number) => blobs.reserveMore(tree, limits, { id, bytes, size }),
          less: (bytes: number) => blobs.reserveLess(tree, limits, { id, bytes }),
        }
        // The only part is followed by the completion.
        const lifeMs = partCount > 1 ? NEXT_PART_MS : FIRST_PART_MS
        return uploadSessions.addPart(tree, { ...part, by: who.id, lifeMs, reserving })
      }),

    abort: (token: string, visit: SenderVisit, id: string): Promise<void> =>
      within(token, visit, ({ tree }, who) => uploadSessions.abort(tree, id, who.id)),

    /**
     * Creates the file of an upload whose parts have all arrived.
     * @throws UPLOAD_NOT_FOUND, UPLOAD_BUSY, UPLOAD_INCOMPLETE, CHECKSUM_MISMATCH, and the errors
     * of `upload`
     */
    complete: (
      token: string,
      visit: SenderVisit,
      id: string,
      digests: Pick<Completion, 'md5' | 'crc32' | 'sha256'>,
    ): Promise<SentFile> =>
      within(token, visit, async (opened, who) => {
        const { request, tree, names } = opened
        const planned = await uploadSessions.find(tree, id, who.id)
        const { size: bytes } = planned
        const fileName = (await requestedName(db, id)) ?? planned.names.at(-1) ?? ''
        // The request may have changed since the upload began.
        const { below, name } = placeOfSender(request, who, fileName)
        // Parts that an instance was receiving as it died may have reserved less.
        const limits = reservation(opened, who, '', visit)
        await blobs.reserveMore(tree, limits, { id, bytes, size: bytes })
        const completion = {
          ...digests,
          filename: name,
          folder: [...names, ...below].join('/'),
          folderId: request.folderId,
          below: below.length,
          decide: keepBoth,
        }
        const upload = { id, by: who.id }
        const { size, md5 } = await uploadCompletions.complete(
          tree,
          upload,
          writerOf(request, who, visit),
          completion,
        )
        return { fileName, size, md5, sender: links.seal(request, who) }
      }),
  }
}
