import { AppError } from '../../runtime/errors.ts'
import type { Core } from '../core.ts'
import type { UploadSessionView, UploadTree } from './upload-session-view.ts'

const PURPOSE = 'upload-parts'

/**
 * Signed URLs for the parts of an upload: of the store, or of this service if clients cannot reach
 * the store.
 */
export function uploadAddresses({
  store,
  tokens,
  publicUrl,
}: Core<'store' | 'tokens' | 'publicUrl'>) {
  async function urlsOf({
    id,
    bucketId,
    shareId,
    maker,
    size,
    partCount,
    expiresAt,
    writableUntil,
  }: UploadSessionView): Promise<string[]> {
    const count = size === 0 ? 0 : partCount
    if (store.addresses) return store.addresses.signParts(id, count, writableUntil)
    // One token for all parts, because there may be many.
    const token = tokens.seal(
      PURPOSE,
      { id, bucketId, shareId, maker },
      Math.max(0, (expiresAt - Date.now()) / 1000),
    )
    return Array.from({ length: count }, (_, i) => `${publicUrl()}/api/blobs/${token}/${i + 1}`)
  }

  return {
    /**
     * The signed URLs of the parts of a direct upload (none for an empty file); null for other
     * uploads.
     */
    async of(session: UploadSessionView): Promise<{ partNumber: number; url: string }[] | null> {
      if (!session.direct) return null
      return (await urlsOf(session)).map((url, i) => ({ partNumber: i + 1, url }))
    },

    /**
     * The upload behind a signed URL of this service.
     * @throws TOKEN_NOT_FOUND
     */
    unseal(token: string): { id: string; tree: UploadTree; maker: string } {
      const sealed = tokens.unseal(PURPOSE, token)
      if (!sealed || sealed.expired)
        throw new AppError(
          'TOKEN_NOT_FOUND',
          'This URL no longer accepts parts. Start another upload.',
        )
      const { id, bucketId, shareId, maker } = sealed.payload as Pick<
        UploadSessionView,
        'id' | 'bucketId' | 'maker'
      > & {
        shareId?: string | null
      }
      return { id, maker, tree: { bucketId, ...(shareId ? { share: { id: shareId } } : {}) } }
    },
  }
}
