import { v7 as newId } from 'uuid'
import type { Db, Tx } from '../../db/index.ts'

/** A mail that another person causes: its recipient can stop those at this address. */
interface Caused {
  stop?: string
}

/** Who causes a mail: their name, and the verified address that tells who they are. */
interface Sender {
  by: string
  address?: string
}

/** A mail to be written when it is sent: which text, and what goes into it. */
export type Mail =
  | (Caused & { template: 'invite'; to: string; values: { workspace: string; role: string; link: string } & Sender })
  | (Caused & {
      template: 'share'
      to: string
      values: { files: string[]; links: string[]; expires: string; protected: boolean } & Sender
    })
  | { template: 'sign-in'; to: string; values: { device: string; address: string; at: string; link: string } }
  | { template: 'address-changed'; to: string; values: { provider: string | null } }

/** What can be promised, and what each kind needs to be done. */
export interface Jobs {
  'purge-folder': { folderId: string; bucketId: string }
  /** The tree of a workspace or an account that is no more. */
  'purge-bucket': { rootId: string; bucketId: string }
  mail: Mail
}

export type JobKind = keyof Jobs

/** The due time of a job that is not tried any more. Its row is kept for a while, so that somebody can be told. */
export const GIVEN_UP = Number.MAX_SAFE_INTEGER

/** Promises work in the transaction of the change that causes it: it is done if, and only if, that change is. */
export async function enqueue<K extends JobKind>(db: Db, kind: K, payload: Jobs[K], tx: Tx): Promise<void> {
  const now = Date.now()
  await db.run(
    "INSERT INTO outbox (id, kind, payload, attempts, due_at, last_error, created_at) VALUES (?, ?, ?, 0, ?, '', ?)",
    [newId(), kind, JSON.stringify(payload), now, now],
    tx,
  )
}
