import { GraphQLError } from 'graphql'

/** Every error code with its natural status: docs/contract.md, section 6. */
export const naturalStatus = {
  INVALID_JSON: 400,
  INVALID_INPUT: 400,
  INVALID_PATH: 400,
  INVALID_DURATION: 400,
  INVALID_MODE: 400,
  INVALID_SCOPE: 400,
  FOLDER_NOT_EMPTY: 400,
  FILE_TOO_LARGE: 400,
  QUOTA_EXCEEDED: 400,
  SLUG_TAKEN: 400,
  ALREADY_A_MEMBER: 400,
  LAST_IDENTITY: 400,
  UPLOAD_INCOMPLETE: 400,
  CHECKSUM_MISMATCH: 400,
  UNAUTHENTICATED: 401,
  PASSWORD_REQUIRED: 401,
  FORBIDDEN: 403,
  INSUFFICIENT_SCOPE: 403,
  KEY_OUT_OF_BOUNDS: 403,
  PROOF_NEEDED: 403,
  WRONG_PASSWORD: 403,
  TOO_MANY_ATTEMPTS: 403,
  SHARE_EXPIRED: 403,
  SHARE_USED_UP: 403,
  SHARE_FULL: 403,
  FILE_REQUEST_CLOSED: 403,
  FILE_REQUEST_FULL: 403,
  INVITE_EXPIRED: 403,
  INVITE_NOT_FOR_YOU: 403,
  LAST_OWNER: 403,
  FILE_NOT_FOUND: 404,
  FOLDER_NOT_FOUND: 404,
  SHARE_NOT_FOUND: 404,
  FILE_REQUEST_NOT_FOUND: 404,
  TOKEN_NOT_FOUND: 404,
  UPLOAD_NOT_FOUND: 404,
  COPY_NOT_FOUND: 404,
  API_KEY_NOT_FOUND: 404,
  SESSION_NOT_FOUND: 404,
  USER_NOT_FOUND: 404,
  IDENTITY_NOT_FOUND: 404,
  WORKSPACE_NOT_FOUND: 404,
  MEMBER_NOT_FOUND: 404,
  INVITE_NOT_FOUND: 404,
  FAVOURITE_NOT_FOUND: 404,
  TAG_NOT_FOUND: 404,
  TRASH_ITEM_NOT_FOUND: 404,
  VERSION_NOT_FOUND: 404,
  LOCK_NOT_FOUND: 404,
  WEBHOOK_NOT_FOUND: 404,
  LOGIN_REQUEST_NOT_FOUND: 404,
  ROUTE_NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  PATH_EXISTS: 409,
  TAG_EXISTS: 409,
  PLAN_IN_USE: 409,
  UPLOAD_BUSY: 409,
  CURSOR_EXPIRED: 410,
  REVISION_MISMATCH: 412,
  RATE_LIMITED: 429,
  INTERNAL: 500,
  MAINTENANCE: 503,
  UNAVAILABLE: 503,
  NO_SPACE: 503,
} as const

export type ErrorCode = keyof typeof naturalStatus
export type ErrorDetails = Record<string, unknown>

/**
 * An error for callers: a code of the contract, one sentence that says what to do, and details.
 * Extends GraphQLError, so that GraphQL and REST report the same error.
 */
export class AppError extends GraphQLError {
  readonly code: ErrorCode
  readonly details: ErrorDetails

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}, cause?: unknown) {
    super(message, {
      extensions: { ...details, code },
      ...(cause instanceof Error ? { originalError: cause } : {}),
    })
    this.name = 'AppError'
    this.code = code
    this.details = details
  }

  get status(): number {
    return naturalStatus[this.code]
  }
}

/**
 * A response that a protocol prescribes, such as a failed precondition of WebDAV. It is formatted
 * by its door, and neither logged nor counted as an error.
 */
export class ProtocolError extends Error {}

export class InvalidInput extends AppError {
  constructor(field: string, message: string) {
    super('INVALID_INPUT', message, { field })
  }
}

export class Unauthenticated extends AppError {
  constructor(message = 'Sign in, or send a valid API key in the X-API-Key header.') {
    super('UNAUTHENTICATED', message)
  }
}

export class Forbidden extends AppError {
  constructor(message = 'You may not do this.') {
    super('FORBIDDEN', message)
  }
}

/** A dependency of Satchel (database, blob store) does not respond. The caller should retry. */
export class Unavailable extends AppError {
  constructor(
    part: string,
    cause?: unknown,
    { code, message, retryAfter }: Outage = {
      code: 'UNAVAILABLE',
      message: `The ${part} does not answer at the moment. Try again in a few seconds.`,
      retryAfter: 5,
    },
  ) {
    super(code, message, { retry_after: retryAfter }, cause)
  }
}

interface Outage {
  code: ErrorCode
  message: string
  retryAfter: number
}

/** The disk or quota of the database or blob store is full. An operator must act. */
export class NoSpace extends Unavailable {
  constructor(part: string, cause?: unknown) {
    super(part, cause, {
      code: 'NO_SPACE',
      message: `The ${part} is full, so nothing was saved. Tell the operator of this service.`,
      retryAfter: 300,
    })
  }
}

/** The error for a failed dependency: NoSpace if it is full. */
export const outage = (part: string, cause: unknown): Unavailable =>
  isFull(cause) ? new NoSpace(part, cause) : new Unavailable(part, cause)

/**
 * This instance cannot accept the request now, because it is starting, stopping, or at a limit.
 * This is expected, so it is not logged as a failure.
 */
export class Busy extends AppError {
  constructor(message: string, retryAfter = 5) {
    super('UNAVAILABLE', message, { retry_after: retryAfter })
  }
}

/** The stored error of work that ended before this request. It was logged when it happened. */
export class EarlierError extends AppError {
  constructor({ code, message, details }: Pick<AppError, 'code' | 'message' | 'details'>) {
    super(code, message, details)
  }
}

const unavailableNames = new Set([
  'SequelizeConnectionError',
  'SequelizeConnectionRefusedError',
  'SequelizeConnectionAcquireTimeoutError',
  'SequelizeHostNotFoundError',
  'SequelizeHostNotReachableError',
  'SequelizeConnectionTimedOutError',
])

const unavailableCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ETIMEDOUT',
  'EPIPE',
  'EHOSTUNREACH',
  'ENOTFOUND',
  'PROTOCOL_CONNECTION_LOST',
  'PROTOCOL_SEQUENCE_TIMEOUT',
  'ER_SERVER_SHUTDOWN',
  'ER_CON_COUNT_ERROR',
  'ER_LOCK_WAIT_TIMEOUT',
  'ER_LOCK_DEADLOCK',
  // A node outside its cluster, or one that left the cluster during COMMIT.
  'ER_UNKNOWN_COM_ERROR',
  'ER_ERROR_DURING_COMMIT',
  'SQLITE_BUSY',
  'SQLITE_LOCKED',
  // The database is read-only.
  'ER_OPTION_PREVENTS_STATEMENT',
  'ER_READ_ONLY_MODE',
  'ER_INNODB_READ_ONLY',
  'ER_OPEN_AS_READONLY',
  'ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION',
  'ER_ERROR_ON_WRITE',
  'SQLITE_READONLY',
  'SQLITE_IOERR',
  'SQLITE_CANTOPEN',
  // An operator or a server limit aborted or refused a statement.
  'ER_QUERY_INTERRUPTED',
  'ER_QUERY_TIMEOUT',
  'ER_MAX_PREPARED_STMT_COUNT_REACHED',
  'ER_TOO_MANY_USER_CONNECTIONS',
  'ER_USER_LIMIT_REACHED',
  'ER_OUT_OF_RESOURCES',
  'ER_OUTOFMEMORY',
  'SQLITE_INTERRUPT',
  'SQLITE_NOMEM',
])

/** Error codes of a full disk, an exhausted quota, or a full database or store. */
const fullCodes = new Set([
  'ENOSPC',
  'EDQUOT',
  'ER_DISK_FULL',
  'ER_RECORD_FILE_FULL',
  'SQLITE_FULL',
])

/**
 * MariaDB errors without a name in mysql2: the connection was killed; the statement exceeded
 * max_statement_time.
 */
const unavailableNumbers = new Set<unknown>([1927, 1969])

type Cause = Record<
  'name' | 'code' | 'errno' | 'message' | 'fatal' | 'isUndone' | 'syscall',
  unknown
>

/**
 * An error and its causes, outermost first. Checks shapes instead of classes, because errors of
 * Node's core come from another realm in a sandbox.
 */
export function* causesOf(error: unknown): Generator<Cause> {
  let e = error
  for (let depth = 0; depth < 8 && typeof e === 'object' && e !== null; depth++) {
    yield e as Cause
    const { parent, originalError, cause } = e as {
      parent?: unknown
      originalError?: unknown
      cause?: unknown
    }
    e = parent ?? originalError ?? cause
  }
}

/** Whether a disk, a quota, a database or a store was full. */
export const isFull = (error: unknown): boolean =>
  [...causesOf(error)].some(({ code }) => code === 'NO_SPACE' || fullCodes.has(String(code)))

/**
 * Whether the database is unavailable (unreachable, locked, out of space), as opposed to a wrong
 * statement.
 */
export function isDatabaseDown(error: unknown): boolean {
  if (isFull(error)) return true
  for (const { name, code, errno, fatal } of causesOf(error)) {
    if (unavailableNames.has(String(name)) || unavailableCodes.has(String(code)) || fatal === true)
      return true
    if (unavailableNumbers.has(errno)) return true
  }
  return false
}

/** Whether a foreign key failed because an account or workspace was deleted during the request. */
function isOrphaned(error: unknown): boolean {
  for (const { code, message } of causesOf(error))
    if (
      code === 'ER_NO_REFERENCED_ROW_2' ||
      String(message).includes('FOREIGN KEY constraint failed')
    )
      return true
  return false
}

/** Whether an error with a server status is expected, and no failure of the service. */
const isExpected = (e: AppError): boolean =>
  e instanceof Busy || e instanceof EarlierError || e.code === 'MAINTENANCE'

/**
 * Converts any thrown value into the error for the caller. `unexpected` requests a full log entry.
 */
export function toAppError(thrown: unknown): { error: AppError; unexpected: boolean } {
  let e = thrown
  while (e instanceof GraphQLError && !(e instanceof AppError) && e.originalError)
    e = e.originalError
  if (e instanceof AppError) return { error: e, unexpected: e.status >= 500 && !isExpected(e) }
  if (isOrphaned(e))
    return {
      error: new Forbidden('Your account, or the workspace, was deleted a moment ago.'),
      unexpected: false,
    }
  if (isFull(e)) {
    const part = [...causesOf(e)].some(({ syscall }) => syscall) ? 'disk' : 'database'
    return { error: new NoSpace(part, e), unexpected: true }
  }
  if (isDatabaseDown(e)) return { error: new Unavailable('database', e), unexpected: true }
  return {
    error: internalError(e),
    unexpected: true,
  }
}

export const internalError = (cause?: unknown) =>
  new AppError(
    'INTERNAL',
    'Something went wrong on our side. Tell the operator the request id.',
    {},
    cause,
  )
