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

/**
 * A piece must outlive its upload, whose lease may be renewed at the last moment. In milliseconds.
 */
const LONGER_MS = 3_600_000

async function* joined(
  parts: readonly (AsyncIterable<Uint8Array> | Uint8Array)[],
): AsyncGenerator<Uint8Array> {
  for (const part of parts)
    if (part instanceof Uint8Array) yield part
    else yield* part
}

/**
 * The bytes of an upload after its last whole part, as separate blobs. Each blob is larger than all
 * that follow. A client that sends little at a time therefore creates few blobs, and each byte is
 * written only a few times.
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
    /** The bytes of all pieces, followed by other bytes. */
    followedBy: (bytes: Uint8Array): AsyncGenerator<Uint8Array> => joined([bytesOf(pieces), bytes]),

    /** Forgets the pieces, because a part contains them now. */
    clear(): void {
      pieces = []
    },

    /**
     * Appends bytes to the pieces.
     * @param start the offset of the first piece in the file
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
     * Records new pieces in the database and removes those that are gone.
     * @param until the end of the upload's lease
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

    /** Must be called once the recorded changes are committed. */
    settled(): void {
      for (const { id } of pieces) blobs.settled(id)
      recorded.clear()
      for (const { id } of pieces) recorded.add(id)
    },

    /** Discards blobs that were stored but not recorded. */
    async discard(): Promise<void> {
      for (const { id } of pieces) if (!recorded.has(id)) await blobs.abandonCopy({ bucketId }, id)
    },
  }
}
