import type { Db } from '../../db/index.ts'
import { enqueue } from '../services/notices/outbox.ts'
import type { BackgroundCopyService } from '../services/tree/background-copy.ts'
import { createPace } from './pace.ts'

/** Turns are short, because copies alternate, and a stopping service waits for at most one turn. */
const TURN_MS = 1000
/** Copying an entry costs less than deleting one, for which the batch size is tuned. */
const ENTRIES_FOR_ONE = 4

/** Runs one turn of a background copy. The remaining work becomes another job. */
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
