import type { PreviewBytes, PreviewService } from '../tree/preview.ts'
import type { SharedEntry } from './share-listing.ts'

/** Flags are numbers in rows. */
interface Terms {
  maxDownloads: number | null
  allowDownload: number | boolean
}

/**
 * Whether a share shows pictures of its files: not where downloads are limited, which pictures
 * would bypass, but where there are none to limit.
 */
export const showsPictures = ({ maxDownloads, allowDownload }: Terms): boolean =>
  maxDownloads === null || !allowDownload

/**
 * Small pictures of what is shared. Nothing here authorizes: pass only shares that the visitor may
 * use.
 */
export function sharePictures(previews: PreviewService) {
  return {
    /**
     * Entries with the versions of their pictures, as far as these are made: one statement for all
     * of a page.
     */
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

    /** The bytes of one; null where there is none, or none yet. */
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
