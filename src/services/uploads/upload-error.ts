import { AppError } from '../../errors.ts'
import { StoreRefusal } from '../../storage/store.ts'
import type { UploadSessionView } from './upload-session.ts'

const RETRY_SECONDS = 2

/** Whether the store refuses because of its content: a client with the signed URLs of a direct upload can store other things than parts. */
export const isCorrupted = ({ writableUntil }: Pick<UploadSessionView, 'writableUntil'>, error: unknown): boolean =>
  writableUntil > 0 && error instanceof StoreRefusal && !error.unauthorized

export const uploadCorrupted = () =>
  new AppError(
    'UPLOAD_INCOMPLETE',
    'The bytes sent to the signed URLs of this upload are not its parts. Abort it, and start another.',
  )

export const uploadNotFound = () =>
  new AppError('UPLOAD_NOT_FOUND', 'You have no such upload: it has ended, or never existed. Start another.')

export const uploadBusy = () =>
  new AppError('UPLOAD_BUSY', 'This upload is being completed. Try again in a moment.', { retry_after: RETRY_SECONDS })
