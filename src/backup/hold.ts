import { v4 as newId } from 'uuid'
import type { Db } from '../../db/index.ts'
import { endHold, extendHold, startHold } from '../../db/queries/deletion-hold.ts'
import { BackupError } from './problem.ts'

/** How long deletions stay paused after a backup has died. */
const LEASE_MS = 5 * 60_000
const EXTEND_MS = 20_000

export interface Hold {
  /** @throws BackupError if blobs may have been deleted since the hold began */
  require(): void
  end(): Promise<void>
}

/** Pauses deletions of blobs in all instances until `end`. */
export async function holdDeletions(db: Db): Promise<Hold> {
  const id = newId()
  let until = Date.now() + LEASE_MS
  await startHold(db, { id, expiresAt: until })
  let lost = false
  const extend = async () => {
    const now = Date.now()
    try {
      if (await extendHold(db, { id, expiresAt: now + LEASE_MS }, now)) until = now + LEASE_MS
      else lost = true
    } catch {
      // The next renewal tries again. `require` notices if renewals fail for too long.
    }
  }
  const timer = setInterval(extend, EXTEND_MS)
  return {
    require() {
      if (lost || Date.now() >= until)
        throw new BackupError(
          'The database could not be reached for too long, so files may have been deleted for good meanwhile. Run the backup again: it continues where this one ended.',
        )
    },
    async end() {
      clearInterval(timer)
      await endHold(db, id)
    },
  }
}
