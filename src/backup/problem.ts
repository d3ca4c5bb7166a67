import { causesOf } from '../runtime/errors.ts'
import { StoreFailed } from './naming.ts'

/** A backup or restore is refused or cannot continue. The message says what to do. */
export class BackupError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'BackupError'
  }
}

const remedies: Record<string, string> = {
  ENOSPC:
    'has no space left. Free some, or remove old backups with --prune --keep 1; the next run continues where this one ended',
  EDQUOT:
    'has reached its disk quota. Free some space; the next run continues where this one ended',
  EACCES:
    'does not let this user read or write there. Change its permissions, or name another folder',
  EPERM:
    'does not let this user read or write there. Change its permissions, or name another folder',
  EROFS: 'is read-only. Mount it for writing, or name another folder',
  EIO: 'is on a disk that fails',
}

/** The error, or for a failing backup folder, an error with advice. */
export function explained(error: unknown, dir: string): unknown {
  if (error instanceof BackupError || error instanceof StoreFailed) return error
  for (const cause of causesOf(error)) {
    const remedy = remedies[String(cause.code)]
    const { path } = cause as { path?: unknown }
    // The error names the path of a file elsewhere, such as the secret.
    if (typeof path === 'string' && path !== dir && !path.startsWith(`${dir}/`)) return error
    if (remedy) return new Error(`${dir} ${remedy} (${cause.code}).`, { cause: error })
  }
  return error
}
