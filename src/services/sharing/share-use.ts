import { chargeUse, refundUse, startUse } from '../../../db/queries/share-use.ts'
import { AppError } from '../../runtime/errors.ts'
import type { Core } from '../core.ts'

/*
 * A link with limited downloads issues signed URLs that count as one download each. Where this service serves such a URL,
 * it delivers the bytes of one download: the whole file once, in any number of ranges, and some bytes twice, because after a
 * broken connection it is unknown how many of the bytes sent have arrived.
 *
 * The bytes are charged to a row before they are sent, in batches, and unsent bytes are refunded. The first batch of a
 * request is larger than the bytes that may be sent twice, so that of parallel requests for the whole file only one starts.
 */

const MiB = 1024 * 1024
const SMALLEST_BATCH = 64 * 1024
/** Longer than the life of any signed URL (SIGNED_URL_SECONDS) and the delivery of any batch. */
const KEEP_MS = 24 * 3600 * 1000

/**
 * The number of bytes of a file that one download may send twice: half of a small file, an eighth
 * of a large one. The buffers of a connection, which are lost when it breaks, hold some MiB.
 */
const slackOf = (size: number) =>
  Math.max(Math.floor(size / 8), Math.min(Math.floor(size / 2), 8 * MiB))

export const usedUp = () =>
  new AppError(
    'SHARE_USED_UP',
    'This link has reached its limit of downloads. Ask its sender for a new one.',
  )

/** Charges the bytes sent to one download. */
export interface Meter {
  /**
   * Charges this many bytes to the first batch of a request.
   * @throws SHARE_USED_UP when the download has fewer left
   */
  begin(count: number): Promise<{
    /**
     * Charges more bytes if necessary. Call it before sending.
     * @param total the number of bytes sent after that, from the beginning of the response
     * @throws SHARE_USED_UP
     */
    cover(total: number): Promise<void>
    /**
     * Refunds bytes that were charged but not sent. Call it when the request has ended,
     * successfully or not.
     */
    settle(sent: number): Promise<void>
  }>
}

export function shareUseService({ db }: Core<'db'>) {
  async function charge(id: string, bytes: number, needed: number): Promise<void> {
    if (!(await chargeUse(db, id, bytes, needed, Date.now() + KEEP_MS))) throw usedUp()
  }

  return {
    /**
     * @param id the id of the download
     * @param size the size of its file
     */
    meter: (id: string, size: number): Meter => ({
      async begin(count) {
        const slack = slackOf(size)
        const batch = Math.max(SMALLEST_BATCH, Math.floor(slack / 4))
        let charged = Math.min(count, Math.max(SMALLEST_BATCH, slack + 1))
        const started = await startUse(db, id, size + slack - charged, Date.now() + KEEP_MS)
        if (!started) await charge(id, charged, count)
        return {
          async cover(total) {
            if (total <= charged) return
            const more = Math.min(count - charged, Math.max(batch, total - charged))
            await charge(id, more, more)
            charged += more
          },
          async settle(sent) {
            if (charged === sent) return
            // The response has been sent, so a failed refund affects only this download.
            await refundUse(db, id, charged - sent).catch(() => {})
          },
        }
      },
    }),
  }
}
