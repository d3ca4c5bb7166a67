import { v7 as newId } from 'uuid'
import type { Caller } from '../../access/caller.ts'
import { AppError, Forbidden } from '../../runtime/errors.ts'
import type { Chunks } from '../../storage/chunks.ts'
import { BlobMissing } from '../../storage/store.ts'
import { deliveryOf, type Mode, parseMode } from '../../values/media.ts'
import { parseFilePath } from '../../values/paths.ts'
import type { Core } from '../core.ts'
import type { FileService } from '../tree/file.ts'
import type { ListingService } from '../tree/listing.ts'
import type { Meter } from './share-use.ts'

/** Bytes that the caller may download and their disposition: a file or an archive. */
export interface Delivery {
  fileName: string
  size: number
  /** Equal ETags mean equal bytes. */
  etag: string
  contentType: string
  disposition: string
  /**
   * The cache policy of a small response that is sent whole. Without it, caches revalidate each
   * time.
   */
  cacheControl?: string
  /** Counts the bytes sent, if a share limits its downloads. */
  meter?: Meter
  /**
   * Takes one of a few slots for concurrent downloads.
   * @returns a function that releases the slot
   * @throws UNAVAILABLE
   */
  hold?(address: string): Promise<() => void>
  /**
   * All bytes or a range of them.
   * @throws TOKEN_NOT_FOUND
   */
  read(range: { offset: number; count: number } | undefined, signal: AbortSignal): Promise<Chunks>
}

/** A file to send. Its size is in bytes. */
interface DeliveredFile {
  blobId: string
  name: string
  fileType: string
  size: number
  md5: string
}

/** The share that the URL was issued for; the URL expires with it. */
export interface Grant {
  share: string
  /** The file, for a share of a folder. It must still be in that folder. */
  file?: string
  /** The id of the download that the URL counted as, if the share limits downloads. */
  use?: string
}

/**
 * The grant of a share.
 * @param file the file's id, for a share of a folder above it
 */
export const grantOf = (
  { id, limited }: { id: string; limited: boolean },
  file?: string,
): Grant => ({
  share: id,
  ...(file === undefined ? {} : { file }),
  ...(limited ? { use: newId() } : {}),
})

/** A short-lived signed URL of a delivery. */
export interface Download {
  url: string
  fileName: string
  /** The expiry of the URL, in milliseconds since 1970. */
  expiresAt: number
  delivery: Delivery
}

interface Options extends Core<'store' | 'tokens' | 'publicUrl'> {
  files: FileService
  listings: ListingService
  proxied: boolean
  signedUrlSeconds: number
}

const TOKEN_SECONDS = 3600
export const tokenNotFound = () =>
  new AppError('TOKEN_NOT_FOUND', 'This token does not work. Request a new one.')

/** Signed URLs: of the store, or of this service if clients cannot reach the store. */
export function downloadService({
  store,
  files,
  listings,
  tokens,
  proxied,
  publicUrl,
  signedUrlSeconds: seconds,
}: Options) {
  const deliver = ({ blobId, name, fileType, size, md5 }: DeliveredFile, mode: Mode): Delivery => ({
    fileName: name,
    size,
    etag: md5,
    ...deliveryOf(name, fileType, mode),
    async read(range, signal) {
      try {
        return await store.chunks(blobId, { ...(range ?? { size }), signal })
      } catch (error) {
        // Deleted since the URL was signed.
        throw error instanceof BlobMissing ? tokenNotFound() : error
      }
    },
  })

  return {
    proxied,
    /** The origin of the URLs: that of the store, or null for this service. */
    storeOrigin: (!proxied && store.addresses?.origin) || null,

    /** The bytes of a file, for doors that send them at once. */
    delivery: deliver,

    /** @param grant the share that grants access, if the caller is not the owner */
    async link(file: DeliveredFile, mode: Mode, grant?: Grant): Promise<Download> {
      const { blobId, name, fileType, size, md5 } = file
      const delivery = deliver(file, mode)
      const { contentType, disposition } = delivery
      const signed =
        proxied || !store.addresses
          ? {
              url: `${publicUrl()}/api/blobs/${tokens.seal('bytes', { blobId, name, fileType, size, md5, mode, grant }, seconds)}`,
              expiresAt: Date.now() + seconds * 1000,
            }
          : await store.addresses.signUrl(blobId, { contentType, disposition, seconds })
      return { ...signed, fileName: name, delivery }
    },

    /**
     * A token for one of the caller's own files. It holds the file's id, so it survives a move.
     * @throws FILE_NOT_FOUND, INVALID_PATH
     */
    async createToken(caller: Caller, path: string): Promise<{ token: string; expiresAt: number }> {
      const { node } = await files.locate(caller.bucket, parseFilePath(path, 'file'))
      const token = tokens.seal(
        'private-download',
        { fileId: node.id, userId: caller.userId },
        TOKEN_SECONDS,
      )
      return { token, expiresAt: Date.now() + TOKEN_SECONDS * 1000 }
    },

    /**
     * The signed URL for such a token, for its owner. An unknown mode is ignored.
     * @throws TOKEN_NOT_FOUND, SHARE_EXPIRED, FORBIDDEN for another person's token
     */
    async openToken(
      caller: Caller,
      token: string,
      mode: string | null | undefined,
    ): Promise<Download> {
      const sealed = tokens.unseal('private-download', token)
      const { fileId, userId } = (sealed?.payload ?? {}) as { fileId?: string; userId?: string }
      if (!sealed || !fileId) throw tokenNotFound()
      if (userId !== caller.userId)
        throw new Forbidden('This token belongs to another account. Sign in with that account.')
      if (sealed.expired)
        throw new AppError('SHARE_EXPIRED', 'This token has expired. Request a new one.')
      const file = await listings.byId(caller.bucket, fileId)
      if (!file?.blobId) throw tokenNotFound()
      return this.link(
        { ...file, blobId: file.blobId, name: file.names.at(-1) ?? '' },
        parseMode(mode ?? undefined, true),
      )
    },

    /**
     * The delivery behind a signed URL of this service, its blob, and the share that granted
     * access, if any.
     * @throws TOKEN_NOT_FOUND
     */
    open(token: string): { delivery: Delivery; blobId: string; grant: Grant | undefined } {
      const sealed = tokens.unseal('bytes', token)
      if (!sealed || sealed.expired)
        throw new AppError(
          'TOKEN_NOT_FOUND',
          'This download link is no longer valid. Request a new one.',
        )
      const { mode, grant, ...file } = sealed.payload as DeliveredFile & {
        mode: Mode
        grant?: Grant
      }
      return { delivery: deliver(file, mode), blobId: file.blobId, grant }
    },
  }
}

export type DownloadService = ReturnType<typeof downloadService>
