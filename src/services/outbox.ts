import { v7 as newId } from 'uuid'
import type { Db, Tx } from '../../db/index.ts'

/** What can be promised, and what each kind needs to be done. */
export interface Jobs {
  'purge-folder': { folderId: string; bucketId: string }
  mail: { to: string; subject: string; text: string; html?: string }
}

export type JobKind = keyof Jobs

/** Promises work in the transaction of the change that causes it: it is done if, and only if, that change is. */
export async function promise<K extends JobKind>(db: Db, kind: K, payload: Jobs[K], tx: Tx): Promise<void> {
  const now = Date.now()
  await db.run(
    "INSERT INTO outbox (id, kind, payload, attempts, due_at, last_error, created_at) VALUES (?, ?, ?, 0, ?, '', ?)",
    [newId(), kind, JSON.stringify(payload), now, now],
    tx,
  )
}
