import { type Answer, failure } from '../http/envelope.ts'
import { AppError, type ErrorCode } from '../runtime/errors.ts'
import { OffsetDiffers } from '../services/uploads/stream-error.ts'

export const VERSION = '1.0.0'

/** An error of this protocol, with its own status. */
export class TusError extends AppError {
  readonly ownStatus: number
  readonly headers: Record<string, string>

  constructor(
    status: number,
    code: ErrorCode,
    message: string,
    headers: Record<string, string> = {},
  ) {
    super(code, message)
    this.ownStatus = status
    this.headers = headers
  }
}

/** Errors whose tus status differs from the other interfaces. */
const statuses: Partial<Record<ErrorCode, number>> = {
  UPLOAD_BUSY: 423,
  CHECKSUM_MISMATCH: 460,
  FILE_TOO_LARGE: 413,
  QUOTA_EXCEEDED: 413,
  SHARE_FULL: 413,
}

const statusOf = (error: AppError): number => {
  if (error instanceof TusError) return error.ownStatus
  if (error instanceof OffsetDiffers) return 409
  return statuses[error.code] ?? error.status
}

/** The response for any thrown value, in the REST envelope. */
export function refusalOf(thrown: unknown): Answer {
  const answer = failure(thrown, statusOf)
  const own = thrown instanceof TusError ? thrown.headers : {}
  return { ...answer, headers: { ...answer.headers, 'tus-resumable': VERSION, ...own } }
}
