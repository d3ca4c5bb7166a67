import type { Db } from '../../db/index.ts'
import { enqueue } from '../services/notices/outbox.ts'
import type { BackgroundCopyService } from '../services/tree/background-copy.ts'
import { createPace } from './pace.ts'

/**
 * Turns are short: copies take them one after the other, and a service that stops waits for no
 * longer.
 */
const TURN_MS = 1000
/** A copy costs less than a deletion, which a pace is made for. */
const ENTRIES_FOR_ONE = 4

/** One turn of a copy in the background. What is left to do is another job. */
export async function copyEntries(
  db: Db,
  copies: BackgroundCopyService,
  copyId: string,
): Promise<void> {
  const pace = createPace()
  const end = Date.now() + TURN_MS
  while (Date.now() < end)
    if (!(await pace.batch(size => copies.step(copyId, size * ENTRIES_FOR_ONE)))) return
  await db.transaction(tx => enqueue(db, 'copy-entries', { copyId }, tx))
}
