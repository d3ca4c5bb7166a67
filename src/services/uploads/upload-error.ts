import { AppError, InvalidInput } from '../../runtime/errors.ts'
import { StoreRefusal } from '../../storage/store.ts'
import type { UploadSessionView } from './upload-session-view.ts'

const RETRY_SECONDS = 2

/**
 * Whether the store refuses the content itself. A client with the signed URLs of a direct upload
 * can store other data than parts.
 */
export const isCorrupted = (
  { writableUntil }: Pick<UploadSessionView, 'writableUntil'>,
  error: unknown,
): boolean => writableUntil > 0 && error instanceof StoreRefusal && !error.unauthorized

export const uploadCorrupted = () =>
  new AppError(
    'UPLOAD_INCOMPLETE',
    'The bytes sent to the signed URLs of this upload are not its parts. Abort the upload, and start another.',
  )

export const uploadNotFound = () =>
  new AppError('UPLOAD_NOT_FOUND', 'Upload not found. It may have ended. Start another one.')

export const uploadBusy = () =>
  new AppError('UPLOAD_BUSY', 'This upload is being completed. Try again in a moment.', {
    retry_after: RETRY_SECONDS,
  })

export const isPartial = () =>
  new InvalidInput(
    'upload_id',
    'This upload is only a part of a file. Join it with the others by tus, with Upload-Concat.',
  )

/** The maximum number of missing parts in the message and the error details. */
const MAX_NAMED = 10
const MAX_LISTED = 1000

/** @throws UPLOAD_INCOMPLETE, with the numbers of the missing parts */
export function refuseIncomplete({ partCount }: { partCount: number }, received: number[]): void {
  const there = new Set(received)
  const missing = Array.from({ length: partCount }, (_, i) => i + 1).filter(n => !there.has(n))
  if (missing.length === 0) return
  throw partsMissing(missing)
}

export function partsMissing(missing: number[]): AppError {
  const some = missing.slice(0, MAX_NAMED).join(', ') + (missing.length > MAX_NAMED ? ', ...' : '')
  return new AppError(
    'UPLOAD_INCOMPLETE',
    `Parts are missing: ${some}. Send them, then complete the upload again.`,
    { missing: missing.slice(0, MAX_LISTED), missing_count: missing.length },
  )
}

export const partDiffers = (number: number) =>
  new AppError(
    'CHECKSUM_MISMATCH',
    `Part ${number} does not match its Content-MD5. Send it again.`,
    { part_number: number },
  )
