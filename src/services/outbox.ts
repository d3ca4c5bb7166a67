import { v7 as newId } from 'uuid'
import type { Db, Tx } from '../../db/index.ts'

/** A mail that another user causes; its recipient can unsubscribe at this URL. */
interface Caused {
  stop?: string
}

/** The user who causes a mail: their name and verified e-mail address. */
interface Sender {
  by: string
  address?: string
}

/** A mail that is rendered when it is sent: its template and values. */
export type Mail =
  | (Caused & { template: 'invite'; to: string; values: { workspace: string; role: string; link: string } & Sender })
  | (Caused & {
      template: 'share'
      to: string
      values: { files: string[]; links: string[]; expires: string; protected: boolean } & Sender
    })
  | { template: 'sign-in'; to: string; values: { device: string; address: string; at: string; link: string } }
  | { template: 'address-changed'; to: string; values: { provider: string | null } }

/** The kinds of jobs and their payloads. */
export interface Jobs {
  'purge-folder': { folderId: string; bucketId: string }
  /** The tree of a deleted workspace or account. */
  'purge-bucket': { rootId: string; bucketId: string }
  mail: Mail
}

export type JobKind = keyof Jobs

/** The due time of a job that is not retried any more. Its row is kept for a while, so that it can be reported. */
export const GIVEN_UP = Number.MAX_SAFE_INTEGER

/** Enqueues a job in the transaction of the change that causes it: it runs if, and only if, that change commits. */
export async function enqueue<K extends JobKind>(db: Db, kind: K, payload: Jobs[K], tx: Tx): Promise<void> {
  const now = Date.now()
  await db.run(
    "INSERT INTO outbox (id, kind, payload, attempts, due_at, last_error, created_at) VALUES (?, ?, ?, 0, ?, '', ?)",
    [newId(), kind, JSON.stringify(payload), now, now],
    tx,
  )
}
