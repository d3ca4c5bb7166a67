import type { Tx } from '../../../db/index.ts'
import { lockReservation, setReservation } from '../../../db/queries/blob.ts'
import { unreserve } from '../../../db/queries/reservation.ts'
import { chunksIn } from '../../../db/queries/upload-chunk.ts'
import type { Caller } from '../../access/caller.ts'
import { AppError, InvalidInput } from '../../runtime/errors.ts'
import type { Tree } from '../../values/tree.ts'
import type { Core } from '../core.ts'
import type { BlobService } from '../tree/blob.ts'
import { lockTree } from '../tree/entry.ts'
import type { UploadLimits } from '../tree/quota.ts'
import type { Chunk } from './stream-append.ts'
import type { UploadStreamService } from './upload-stream.ts'

/** A complete chunk of a transfer. Its size is in bytes. */
export interface ChunkView {
  id: string
  number: number
  size: number
}

/** Names a transfer and a chunk of it. */
export interface ChunkName {
  /** 1 to 64 letters, digits, dots, hyphens and underscores. */
  transfer: string
  number: number
}

interface Sender {
  caller: Caller
  limits: UploadLimits
  goesOn: () => Promise<void>
  signal: AbortSignal
}

/** Part of the path of these uploads, so that no other upload looks like a chunk. */
const folderOf = (transfer: string): string => `.chunks/${transfer}`

/** @throws INVALID_INPUT */
export function parseTransfer(text: string): string {
  if (/^[\w.-]{1,64}$/.test(text) && text !== '.' && text !== '..') return text
  throw new InvalidInput(
    'transfer',
    'A transfer is named by 1 to 64 letters, digits, dots, hyphens and underscores.',
  )
}

/**
 * Files that arrive in numbered chunks, in any order and concurrently. Each chunk is a `partial`
 * upload of its own, which expires a day after its last byte.
 */
export function uploadChunkService({
  db,
  blobs,
  uploadStreams: streams,
}: Core<'db'> & { blobs: BlobService; uploadStreams: UploadStreamService }) {
  async function all(tree: Tree, transfer: string, { userId }: Caller) {
    const folder = folderOf(transfer)
    const rows = await chunksIn(db, { bucketId: tree.bucketId, userId, folder }, Date.now())
    return rows.map(({ id, path, size, arrived }) => ({
      id,
      size,
      number: Number(path.slice(folder.length + 1)),
      isComplete: arrived === size,
    }))
  }

  const end = (tree: Tree, ids: readonly string[], by: string) =>
    Promise.all(
      ids.map(id =>
        streams.end(tree, id, by).catch(error => {
          // Another request has ended it.
          if (!(error instanceof AppError && error.code === 'UPLOAD_NOT_FOUND')) throw error
        }),
      ),
    )

  return {
    /**
     * The complete chunks of a transfer, in the order of their numbers. If a chunk was sent twice,
     * the last one counts.
     */
    async list(tree: Tree, transfer: string, caller: Caller): Promise<ChunkView[]> {
      const complete = (await all(tree, transfer, caller)).filter(chunk => chunk.isComplete)
      const latest = new Map(complete.map(chunk => [chunk.number, chunk]))
      return [...latest.values()].sort((a, b) => a.number - b.number)
    },

    /**
     * Stores a chunk completely or not at all. A chunk with the same number is replaced.
     * @throws FILE_TOO_LARGE, QUOTA_EXCEEDED, CHECKSUM_MISMATCH, and the errors of an upload
     */
    async write(
      tree: Tree,
      { transfer, number }: ChunkName,
      chunk: Chunk & { size: number },
      sender: Sender,
    ): Promise<void> {
      const { caller, limits } = sender
      const by = caller.userId
      const before = (await all(tree, transfer, caller)).filter(one => one.number === number)
      const { id } = await streams.begin(
        tree,
        {
          kind: 'partial',
          metadata: '',
          filename: String(number),
          folder: folderOf(transfer),
          size: chunk.size,
          onConflict: 'keep_both',
        },
        limits,
        by,
      )
      try {
        const written = await streams.write(tree, id, 0, chunk, {
          ...sender,
          decide: () => 'keep_both',
        })
        if (written.arrived < chunk.size)
          throw new InvalidInput('body', 'The chunk ended before it was complete. Send it again.')
      } catch (error) {
        await end(tree, [id], by)
        throw error
      }
      await end(
        tree,
        before.map(one => one.id),
        by,
      )
    },

    /** The concatenated bytes of some chunks. */
    read: (tree: Tree, chunks: readonly ChunkView[], { userId }: Caller) =>
      streams.bytesOf(
        tree,
        chunks.map(({ id }) => id),
        userId,
      ),

    /**
     * Uses the reservations of chunks for the file that they become, so that the bytes count once.
     * If `use` fails, the chunks reserve their bytes again, or end if there is no space left.
     * @param use makes the file in the same tree. `before` is that of its limits.
     */
    async handOver<T>(
      tree: Tree,
      chunks: readonly ChunkView[],
      { caller, limits }: Pick<Sender, 'caller' | 'limits'>,
      use: (before: NonNullable<UploadLimits['before']>) => Promise<T>,
    ): Promise<T> {
      const before = async (tx: Tx) => {
        await lockTree(db, tree, tx)
        let bytes = 0
        for (const { id } of chunks) {
          bytes += (await lockReservation(db, id, tx)) ?? 0
          await setReservation(db, id, 0, tx)
        }
        await unreserve(db, tree.bucketId, { bytes, files: 0 }, tx)
      }
      try {
        return await use(before)
      } catch (error) {
        for (const { id, size } of chunks)
          await blobs.reserveMore(tree, limits, { id, bytes: size, size }).catch(async refused => {
            if (!(refused instanceof AppError)) throw refused
            await end(tree, [id], caller.userId)
          })
        throw error
      }
    },

    /** Ends a transfer and removes its bytes. @returns whether there were any */
    async end(tree: Tree, transfer: string, caller: Caller): Promise<boolean> {
      const chunks = await all(tree, transfer, caller)
      await end(
        tree,
        chunks.map(({ id }) => id),
        caller.userId,
      )
      return chunks.length > 0
    },
  }
}
