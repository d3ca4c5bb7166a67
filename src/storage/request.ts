import { RestError } from '@azure/storage-blob'
import { NoSpace, Unavailable } from '../runtime/errors.ts'
import { StoreRefusal } from './store.ts'
import { limited } from './time-limit.ts'

export const isMissing = (error: unknown) => error instanceof RestError && error.statusCode === 404
/** Whether the store rejected the bytes because of their checksum. */
export const isDamaged = (error: unknown) =>
  error instanceof RestError &&
  // Azurite has no error code for this.
  (error.code === 'Md5Mismatch' ||
    (error.code === 'InvalidOperation' && error.message.includes("contentMD5 doesn't match")))
export const isLeased = (error: unknown) =>
  error instanceof RestError && error.code === 'LeaseIdMissing'

/**
 * Translates an SDK error. Keeps only its gist, because the full error contains headers and signed
 * URLs.
 */
function explain(error: unknown, late: boolean): unknown {
  if (late)
    return new Unavailable('blob store', new Error('The blob store did not respond in time.'))
  if (!(error instanceof RestError)) return error
  const { statusCode, code, message } = error
  const gist = [statusCode, code, message.split('\n', 1)[0]].filter(Boolean).join(' ')
  if (statusCode === 507) return new NoSpace('blob store', new Error(gist))
  const refused = statusCode !== undefined && statusCode < 500 && ![408, 429].includes(statusCode)
  // Bytes that were damaged in transit can be sent again.
  return refused && !isDamaged(error)
    ? new StoreRefusal(statusCode, gist)
    : new Unavailable('blob store', new Error(gist))
}

/** Runs a request of the SDK. */
export const within = limited(explain)
