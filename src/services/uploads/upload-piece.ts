import type { Tx } from '../../../db/index.ts'
import { setLeases } from '../../../db/queries/blob.ts'
import { endPieces, insertPiece, piecesOf } from '../../../db/queries/upload-stream.ts'
import type { Core } from '../core.ts'
import type { BlobService } from '../tree/blob.ts'
import type { UploadSessionView } from './upload-session-view.ts'

interface Piece {
  id: string
  size: number
}

/** A piece must outlive its upload, whose lease may be renewed at its last moment. Milliseconds. */
const LONGER_MS = 3_600_000

async function* joined(
  parts: readonly (AsyncIterable<Uint8Array> | Uint8Array)[],
): AsyncGenerator<Uint8Array> {
  for (const part of parts)
    if (part instanceof Uint8Array) yield part
    else yield* part
}

/**
 * What has come of an upload behind its last whole part: blobs of their own, each larger than all
 * after it. So a client that sends little at a time makes few of them, and each byte is written a
 * few times, and not once for each request.
 */
export async function openPieces(
  { db, store, blobs }: Core<'db' | 'store'> & { blobs: BlobService },
  { id: uploadId, bucketId }: Pick<UploadSessionView, 'id' | 'bucketId'>,
) {
  let pieces: Piece[] = await piecesOf(db, uploadId)
  const recorded = new Set(pieces.map(({ id }) => id))
  let position = 0

  async function* bytesOf(some: readonly Piece[]): AsyncGenerator<Uint8Array> {
    for (const { id } of some) yield* await store.open(id)
  }

  return {
    /** All of them, followed by other bytes. */
    followedBy: (bytes: Uint8Array): AsyncGenerator<Uint8Array> => joined([bytesOf(pieces), bytes]),

    /** They are in a part now. */
    clear(): void {
      pieces = []
    },

    /**
     * Stores more bytes behind them. @param start where the first of all pieces begins in the file
     */
    async add(bytes: Uint8Array, start: number): Promise<void> {
      let kept = pieces
      let size = bytes.length
      for (let last = kept.at(-1); last && last.size <= size; last = kept.at(-1)) {
        kept = kept.slice(0, -1)
        size += last.size
      }
      const id = await blobs.announceCopy({ bucketId })
      try {
        const options = { contentType: 'application/octet-stream', admit: async () => {} }
        await store.put(id, joined([bytesOf(pieces.slice(kept.length)), bytes]), options)
      } catch (error) {
        await blobs.abandonCopy({ bucketId }, id)
        throw error
      }
      pieces = [...kept, { id, size }]
      position = start
    },

    /**
     * Makes the database know them, and forget those that are no more. @param until the end of the
     * lease of the upload
     */
    async record(until: number, tx: Tx): Promise<void> {
      const ids = pieces.map(({ id }) => id)
      let at = position
      for (const { id, size } of pieces) {
        if (!recorded.has(id)) await insertPiece(db, { id, uploadId, position: at, size }, tx)
        at += size
      }
      await endPieces(
        db,
        [...recorded].filter(id => !ids.includes(id)),
        tx,
      )
      if (ids.length > 0) await setLeases(db, ids, until + LONGER_MS, tx)
    },

    /** Call it when what was recorded is committed. */
    settled(): void {
      for (const { id } of pieces) blobs.settled(id)
      recorded.clear()
      for (const { id } of pieces) recorded.add(id)
    },

    /** Discards what was stored and not recorded. */
    async discard(): Promise<void> {
      for (const { id } of pieces) if (!recorded.has(id)) await blobs.abandonCopy({ bucketId }, id)
    },
  }
}
