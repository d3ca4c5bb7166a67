import { type Db, isDuplicate } from '../../db/index.ts'
import { AppError } from '../errors.ts'

/*
 * A link with limited downloads hands out addresses that count as one download each. Where this service serves such an address,
 * it carries the bytes of one download: the whole file once, in as many ranges as the client likes, and some bytes twice, because
 * of what a broken connection had taken nobody knows how much has arrived.
 *
 * The bytes are charged to a row before they are sent, in batches, and what was not sent is given back. The first batch of a
 * request is larger than all that may be sent twice, so that of several requests for the whole file at once only one begins.
 */

const MiB = 1024 * 1024
const SMALLEST_BATCH = 64 * 1024
/** Longer than any address lives (SIGNED_URL_SECONDS), and than any batch takes. */
const KEEP_MS = 24 * 3600 * 1000

/**
 * Bytes of a file of this size that one download may carry twice: half of a small file, an eighth of a large one. The buffers of a
 * connection, which a break empties, hold some MiB.
 */
const slackOf = (size: number) => Math.max(Math.floor(size / 8), Math.min(Math.floor(size / 2), 8 * MiB))

export const usedUp = () =>
  new AppError('SHARE_USED_UP', 'This link has been used as often as it may be. Ask whoever sent it for a new one.')

/** Charges what is sent to one download. */
export interface Meter {
  /** Begins to send so many bytes. @throws SHARE_USED_UP when the download has not so many left */
  begin(count: number): Promise<{
    through(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array>
    /** Gives back what was charged and not sent; call it when the request has ended, however it did. */
    settle(): Promise<void>
  }>
}

export function shareUseService({ db }: { db: Db }) {
  /** Takes bytes from a download that has at least `needed` left. */
  async function charge(id: string, bytes: number, needed: number): Promise<void> {
    const charged = await db.run(
      'UPDATE share_use SET left_bytes = left_bytes - ?, expires_at = ? WHERE id = ? AND left_bytes >= ?',
      [bytes, Date.now() + KEEP_MS, id, needed],
    )
    if (charged === 0) throw usedUp()
  }

  /** The first request of a download makes its row. */
  async function chargeFirst(id: string, size: number, bytes: number, needed: number): Promise<void> {
    try {
      await db.run('INSERT INTO share_use (id, left_bytes, expires_at) VALUES (?, ?, ?)', [
        id,
        size + slackOf(size) - bytes,
        Date.now() + KEEP_MS,
      ])
    } catch (error) {
      if (!isDuplicate(error)) throw error
      await charge(id, bytes, needed)
    }
  }

  return {
    /** @param id of the download @param size of its file */
    meter: (id: string, size: number): Meter => ({
      async begin(count) {
        const slack = slackOf(size)
        const batch = Math.max(SMALLEST_BATCH, Math.floor(slack / 4))
        let charged = Math.min(count, Math.max(SMALLEST_BATCH, slack + 1))
        let sent = 0
        await chargeFirst(id, size, charged, count)
        return {
          async *through(source) {
            for await (const chunk of source) {
              if (sent + chunk.length > charged) {
                const more = Math.min(count - charged, Math.max(batch, sent + chunk.length - charged))
                await charge(id, more, more)
                charged += more
              }
              yield chunk
              // Counted when the next one is asked for: by then this one has been handed to the connection.
              sent += chunk.length
            }
          },
          async settle() {
            if (charged === sent) return
            const giveBack = 'UPDATE share_use SET left_bytes = left_bytes + ? WHERE id = ?'
            // The answer has been given; what cannot be given back is missing to this download alone.
            await db.run(giveBack, [charged - sent, id]).catch(() => {})
          },
        }
      },
    }),
  }
}
