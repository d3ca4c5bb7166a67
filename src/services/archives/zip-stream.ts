import { crc32 } from 'node:zlib'
import type { Chunks } from '../../storage/chunks.ts'
import { digest } from '../../storage/hash.ts'
import type { BlobStore } from '../../storage/store.ts'
import { hexOfCrc32 } from '../../upload-engine/crc32.ts'
import type { Piece, ZipEntry, ZipLayout } from './zip-layout.ts'

/**
 * The number of files opened ahead, so that many small files do not wait for the store one after
 * the other.
 */
const FILES_AHEAD = 4
const PIECES_AHEAD = 64
/** The size of the blocks in which records and small files are sent. */
const BLOCK = 64 * 1024

type Source = Pick<BlobStore, 'open' | 'chunks'>

/** A piece to send, and its file, which is being opened. */
interface Step {
  piece: Piece
  from: number
  to: number
  file: Promise<Chunks> | undefined
}

interface ZipSource {
  store: Source
  layout: ZipLayout
  range: { offset: number; count: number } | undefined
  signal: AbortSignal
  /** Receives a newly computed checksum in lower-case hex. */
  onChecksum(blobId: string, sum: string): void
  /** Called once the archive has been sent or abandoned. */
  onEnd(): void
}

/**
 * The bytes of an archive or of a range of it, in constant memory: the memory of a chunk is reused
 * for the next one. A failure ends the stream with an error.
 */
export async function* zipBytes({
  store,
  layout,
  range,
  signal,
  onChecksum,
  onEnd,
}: ZipSource): AsyncGenerator<Uint8Array> {
  const { offset: start, count } = range ?? { offset: 0, count: layout.size }
  const ahead: Step[] = []
  let filesAhead = 0

  function* stepsOf(): Generator<Step> {
    let at = 0
    for (const piece of layout.pieces()) {
      const [from, to] = [Math.max(0, start - at), Math.min(piece.size, start + count - at)]
      at += piece.size
      if (to > from) yield { piece, from, to, file: undefined }
      else if (to <= 0) return
    }
  }
  const steps = stepsOf()

  const lookAhead = () => {
    while (filesAhead < FILES_AHEAD && ahead.length < PIECES_AHEAD) {
      const { value: step } = steps.next()
      if (!step) return
      const { piece, from, to } = step
      if (piece.entry?.blobId && !piece.bytes) {
        filesAhead++
        step.file = store.chunks(piece.entry.blobId, { offset: from, count: to - from, signal })
        // The error is thrown when the file is awaited.
        step.file.catch(() => {})
      }
      ahead.push(step)
    }
  }

  const note = (entry: ZipEntry, sum: number) => {
    entry.crc32 = sum
    if (entry.blobId) onChecksum(entry.blobId, hexOfCrc32(sum))
  }

  async function* bytesOf({ piece, from, to, file }: Step): AsyncGenerator<Uint8Array> {
    const { entry } = piece
    if (piece.bytes) {
      if (entry?.blobId && entry.crc32 === null) {
        // An earlier range contained the file, or this range contains only a part of it.
        const { sums } = await digest(await store.open(entry.blobId, { signal }), ['crc32'])
        note(entry, Number.parseInt(sums.crc32 ?? '', 16))
      }
      yield piece.bytes().subarray(from, to)
      return
    }
    const source = await file
    filesAhead--
    let left = to - from
    let sum = entry?.crc32 === null && left === piece.size ? 0 : undefined
    for await (const chunk of source ?? []) {
      left -= chunk.length
      if (left < 0) break
      if (sum !== undefined) sum = crc32(chunk, sum)
      yield chunk
    }
    // Everything after it would be at other offsets than the archive says.
    if (left !== 0)
      throw new Error('The size of a blob of an archive differs from its recorded size.')
    if (entry && sum !== undefined) note(entry, sum)
  }

  try {
    const small = Buffer.allocUnsafeSlow(BLOCK)
    let size = 0
    lookAhead()
    for (let step = ahead.shift(); step; step = ahead.shift()) {
      for await (const chunk of bytesOf(step)) {
        const isLarge = chunk.length >= BLOCK / 4
        if (size > 0 && (isLarge || size + chunk.length > BLOCK)) {
          yield small.subarray(0, size)
          size = 0
        }
        if (isLarge) yield chunk
        else {
          small.set(chunk, size)
          size += chunk.length
        }
      }
      lookAhead()
    }
    if (size > 0) yield small.subarray(0, size)
  } finally {
    onEnd()
    for (const { file } of ahead)
      file?.then(
        chunks => chunks[Symbol.asyncIterator]().return?.(),
        () => {},
      )
  }
}

/** Like `zipBytes`, but reads the first bytes now, to fail before anything is sent. */
export async function openZip(source: ZipSource): Promise<Chunks> {
  const bytes = zipBytes(source)
  let first: Promise<IteratorResult<Uint8Array>> | null = bytes.next()
  await first
  const next = () => {
    const step = first ?? bytes.next()
    first = null
    return step
  }
  return { [Symbol.asyncIterator]: () => ({ next, return: () => bytes.return(undefined) }) }
}
