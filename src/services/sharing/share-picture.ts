import type { PreviewBytes, PreviewService } from '../tree/preview.ts'
import type { SharedEntry } from './share-listing.ts'

/** Flags are numbers in rows. */
interface Terms {
  maxDownloads: number | null
  allowDownload: number | boolean
}

/**
 * Whether a share shows thumbnails. It does not if downloads are limited, because thumbnails would
 * bypass the limit. It does if downloads are not allowed at all.
 */
export const showsPictures = ({ maxDownloads, allowDownload }: Terms): boolean =>
  maxDownloads === null || !allowDownload

/**
 * Thumbnails of shared entries. Nothing here authorizes: pass only shares that the visitor may use.
 */
export function sharePictures(previews: PreviewService) {
  return {
    /** Entries with the versions of their existing thumbnails, in one statement for the page. */
    async of(share: Terms, entries: readonly SharedEntry[]): Promise<SharedEntry[]> {
      if (!showsPictures(share)) return [...entries]
      const files = entries.flatMap(({ blobId, fileType, size }) =>
        blobId ? [{ blobId, fileType, size }] : [],
      )
      const found = await previews.ofFiles(files)
      return entries.map(entry => ({
        ...entry,
        picture: found.get(entry.blobId ?? '')?.version ?? null,
      }))
    },

    /** The bytes of a thumbnail, or null if it does not exist yet. */
    open(
      share: Terms,
      file: { blobId: string; fileType: string; size: number; name: string },
      version: string,
    ): Promise<PreviewBytes | null> {
      return showsPictures(share)
        ? previews.open(file, { size: 'small', version })
        : Promise.resolve(null)
    },
  }
}
