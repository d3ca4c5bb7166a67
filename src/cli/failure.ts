import type { ErrorCode } from '../runtime/errors.ts'
import { isFailure, TransferFailure } from '../upload-engine/failure.ts'

/** Exit codes besides 0 for success and 1 for other failures. */
export const exits = {
  failed: 1,
  usage: 2,
  denied: 3,
  notFound: 4,
  conflict: 5,
  quota: 6,
  unavailable: 7,
  interrupted: 130,
} as const

/** Codes of the command line itself. All others come from the service. */
export type OwnCode =
  | 'USAGE'
  | 'NOT_SIGNED_IN'
  | 'LOGIN_REFUSED'
  | 'LOGIN_TIMED_OUT'
  | 'LOGIN_FAILED'
  | 'NOT_FOUND'
  | 'TARGET_EXISTS'
  | 'IS_A_FOLDER'
  | 'UNREACHABLE'
  | 'BAD_ANSWER'
  | 'DIGEST_DIFFERS'
  | 'FILE_CHANGED'
  | 'LOCAL_FILE'
  | 'UNSAFE_NAME'
  | 'SYNC_BUSY'
  | 'SYNC_ROOT_LOST'
  | 'TOO_MANY_DELETIONS'
  | 'COMMAND_FAILED'
  | 'MOUNT_FAILED'
  | 'MOUNT_BUSY'
  | 'PARTLY_FAILED'
  | 'UNEXPECTED'
  | 'INTERRUPTED'

const { failed, usage, denied, notFound, conflict, quota, unavailable, interrupted } = exits

/** Exit codes by error code. The type enforces an entry for every new code of the service. */
const exitCodes: Record<ErrorCode | OwnCode, number> = {
  USAGE: usage,
  INVALID_JSON: usage,
  INVALID_INPUT: usage,
  INVALID_PATH: usage,
  INVALID_DURATION: usage,
  INVALID_MODE: usage,
  INVALID_SCOPE: usage,

  NOT_SIGNED_IN: denied,
  LOGIN_REFUSED: denied,
  LOGIN_TIMED_OUT: denied,
  LOGIN_FAILED: denied,
  UNAUTHENTICATED: denied,
  PASSWORD_REQUIRED: denied,
  FORBIDDEN: denied,
  INSUFFICIENT_SCOPE: denied,
  KEY_OUT_OF_BOUNDS: denied,
  WRONG_PASSWORD: denied,
  TOO_MANY_ATTEMPTS: denied,
  SHARE_EXPIRED: denied,
  SHARE_USED_UP: denied,
  SHARE_FULL: quota,
  FILE_REQUEST_CLOSED: denied,
  FILE_REQUEST_FULL: denied,
  INVITE_EXPIRED: denied,
  INVITE_NOT_FOR_YOU: denied,
  LAST_OWNER: denied,
  PROOF_NEEDED: denied,

  NOT_FOUND: notFound,
  FILE_NOT_FOUND: notFound,
  FOLDER_NOT_FOUND: notFound,
  SHARE_NOT_FOUND: notFound,
  FILE_REQUEST_NOT_FOUND: notFound,
  TOKEN_NOT_FOUND: notFound,
  UPLOAD_NOT_FOUND: notFound,
  COPY_NOT_FOUND: notFound,
  API_KEY_NOT_FOUND: notFound,
  SESSION_NOT_FOUND: notFound,
  USER_NOT_FOUND: notFound,
  IDENTITY_NOT_FOUND: notFound,
  WORKSPACE_NOT_FOUND: notFound,
  MEMBER_NOT_FOUND: notFound,
  INVITE_NOT_FOUND: notFound,
  FAVOURITE_NOT_FOUND: notFound,
  TAG_NOT_FOUND: notFound,
  TRASH_ITEM_NOT_FOUND: notFound,
  VERSION_NOT_FOUND: notFound,
  LOCK_NOT_FOUND: notFound,
  WEBHOOK_NOT_FOUND: notFound,
  LOGIN_REQUEST_NOT_FOUND: notFound,
  ROUTE_NOT_FOUND: notFound,

  TARGET_EXISTS: conflict,
  PLAN_IN_USE: conflict,
  PATH_EXISTS: conflict,
  TAG_EXISTS: conflict,
  UPLOAD_BUSY: conflict,
  SYNC_BUSY: conflict,
  SYNC_ROOT_LOST: conflict,
  TOO_MANY_DELETIONS: conflict,
  MOUNT_BUSY: conflict,
  CURSOR_EXPIRED: conflict,
  REVISION_MISMATCH: conflict,
  FOLDER_NOT_EMPTY: conflict,
  SLUG_TAKEN: conflict,
  ALREADY_A_MEMBER: conflict,
  LAST_IDENTITY: conflict,

  FILE_TOO_LARGE: quota,
  QUOTA_EXCEEDED: quota,
  NO_SPACE: quota,

  UNREACHABLE: unavailable,
  RATE_LIMITED: unavailable,
  UNAVAILABLE: unavailable,
  MAINTENANCE: unavailable,

  INTERRUPTED: interrupted,

  BAD_ANSWER: failed,
  DIGEST_DIFFERS: failed,
  FILE_CHANGED: failed,
  IS_A_FOLDER: failed,
  LOCAL_FILE: failed,
  UNSAFE_NAME: failed,
  COMMAND_FAILED: failed,
  MOUNT_FAILED: failed,
  PARTLY_FAILED: failed,
  UNEXPECTED: failed,
  UPLOAD_INCOMPLETE: failed,
  CHECKSUM_MISMATCH: failed,
  METHOD_NOT_ALLOWED: failed,
  INTERNAL: failed,
}

const isKnown = (code: string): code is keyof typeof exitCodes => Object.hasOwn(exitCodes, code)

/** An error for people and scripts: a code, and a message that says what to do. */
export class Failure extends TransferFailure {
  constructor(code: OwnCode, message: string, details?: Record<string, unknown>)
  constructor(code: string, message: string, details?: Record<string, unknown>)
  constructor(code: string, message: string, details: Record<string, unknown> = {}) {
    super(code, message, details)
    this.name = 'Failure'
  }

  /** A newer service may send codes that are unknown here. */
  get exitCode(): number {
    return isKnown(this.code) ? exitCodes[this.code] : failed
  }
}

export { isFailure }

/**
 * Converts anything thrown. System errors of local files get a plain sentence instead of a stack
 * trace.
 */
export function toFailure(error: unknown): Failure {
  if (error instanceof Failure) return error
  if (error instanceof TransferFailure) return new Failure(error.code, error.message, error.details)
  if (!(error instanceof Error)) return new Failure('UNEXPECTED', String(error))
  const { code, path, message } = error as NodeJS.ErrnoException
  if (code === undefined)
    return new Failure('UNEXPECTED', `${message} This is a bug in satchel: please report it.`)
  const words = systemWords.get(code)
  const sentence = words === undefined ? message : path ? `${path}: ${words}` : words
  return new Failure('LOCAL_FILE', sentence, { system_code: code })
}

const systemWords = new Map([
  ['ENOENT', 'There is no such file or folder.'],
  ['EACCES', 'Permission denied.'],
  ['EPERM', 'Permission denied.'],
  ['EISDIR', 'This is a folder.'],
  ['ENOTDIR', 'A part of this path is not a folder.'],
  ['EEXIST', 'This exists already.'],
  [
    'ENOSPC',
    'There is no space left on this disk. What has arrived is kept: free some space and run the same command again.',
  ],
  [
    'EDQUOT',
    'Your quota on this disk is used up. What has arrived is kept: free some space and run the same command again.',
  ],
  ['EFBIG', 'The file is too large for this disk, or for a limit of this system.'],
  ['EROFS', 'This disk is read-only.'],
  ['ENAMETOOLONG', 'The name is too long for this disk.'],
  ['EMFILE', 'Too many files are open. Use a smaller --parallel.'],
  ['EIO', 'The disk failed to read or write.'],
])
