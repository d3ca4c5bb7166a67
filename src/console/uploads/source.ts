import type { Source } from '../../upload-engine/job.ts'
import { crc32Of, digestOf, unreadable } from './digest.ts'

/** A file of this computer as the source of an upload. */
export const sourceOf = (file: File): Source<Blob> => ({
  fingerprint: { size: file.size, mtimeMs: file.lastModified },
  read: (offset, length) => {
    const body = file.slice(offset, offset + length)
    return { body, crc32: () => crc32Of(body) }
  },
  digest: () => digestOf(file),
  verify: () => refuseUnreadable(file),
})

/** Browsers refuse to read what has changed since it was chosen. @throws FILE_CHANGED */
export async function refuseUnreadable(file: Blob): Promise<void> {
  await file
    .slice(0, 1)
    .arrayBuffer()
    .catch(() => {
      throw unreadable()
    })
}
