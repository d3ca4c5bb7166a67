/**
 * A refusal by the service, or a failure of the network or the source: a code, and a message that
 * says what to do.
 */
export class TransferFailure extends Error {
  /** A code of the service, or UNREACHABLE, FILE_CHANGED or DIGEST_DIFFERS. */
  readonly code: string
  /**
   * `retry_after`: seconds; `sent`: whether the service may have received the request; `permanent`:
   * whether a retry is pointless. All others come from the service.
   */
  readonly details: Record<string, unknown>

  constructor(code: string, message: string, details: Record<string, unknown> = {}) {
    super(message)
    this.name = 'TransferFailure'
    this.code = code
    this.details = details
  }

  /** Seconds after which the request may be retried. */
  get retryAfter(): number | undefined {
    const { retry_after } = this.details
    return typeof retry_after === 'number' && retry_after >= 0 ? retry_after : undefined
  }
}

export const isFailure = (error: unknown, ...codes: string[]): error is TransferFailure =>
  error instanceof TransferFailure && codes.includes(error.code)
