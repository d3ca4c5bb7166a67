import { TransferFailure } from '../failure.ts'
import type { Source } from '../job.ts'
import { fileDigests } from './digest.ts'

/** Error messages for files that cannot be sent. */
export interface Sentences {
  /** The file on disk was changed, moved or deleted after it was chosen. */
  fileChanged(): string
  /** The hash worker did not start. */
  noWorker(): string
}

/** Local files as upload sources. */
export function sourcesOf(sentences: Sentences) {
  const unreadable = () => new TransferFailure('FILE_CHANGED', sentences.fileChanged())
  const { prepare, crc32Of, digestOf } = fileDigests({
    unreadable,
    noWorker: isUnreachable =>
      new TransferFailure(isUnreachable ? 'UNREACHABLE' : 'UNEXPECTED', sentences.noWorker()),
  })

  /**
   * Browsers refuse to read a file that changed after it was chosen.
   *
   * @throws FILE_CHANGED
   */
  async function refuseUnreadable(file: Blob): Promise<void> {
    await file
      .slice(0, 1)
      .arrayBuffer()
      .catch(() => {
        throw unreadable()
      })
  }

  function sourceOf(file: File): Source<Blob> {
    prepare()
    return {
      fingerprint: { size: file.size, mtimeMs: file.lastModified },
      read: (offset, length) => {
        const body = file.slice(offset, offset + length)
        return { body, crc32: () => crc32Of(body) }
      },
      digest: () => digestOf(file),
      verify: () => refuseUnreadable(file),
    }
  }

  return { sourceOf, refuseUnreadable }
}
