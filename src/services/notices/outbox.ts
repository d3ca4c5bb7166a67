import { v7 as newId } from 'uuid'
import type { Db, Tx } from '../../../db/index.ts'
import type { TextFormat } from '../../values/text-format.ts'

/** A mail that another user causes; its recipient can unsubscribe at this URL. */
interface Caused {
  stop?: string
}

/** The user who causes a mail: their name and verified e-mail address. */
interface Sender {
  by: string
  address?: string
}

/** A change of an account's credentials, which its owner learns by mail. */
export type AccountNotice =
  | 'password'
  | 'passkey-added'
  | 'passkey-removed'
  | 'factor-added'
  | 'factor-removed'
  | 'codes'
  | 'address'

/** A mail to render when it is sent: its template and values. */
export type Mail =
  | (Caused & {
      template: 'invite'
      to: string
      values: { workspace: string; role: string; link: string; message?: string } & Sender
    })
  | (Caused & {
      template: 'share'
      to: string
      /**
       * `counts` in the form of shareTitle; `sizes` in bytes, null for folders; `all` is the URL of
       * the recipient's list of shares.
       */
      values: {
        files: string[]
        links: string[]
        expires: string | null
        protected: boolean
      } & Sender & {
          counts?: (number | null)[]
          sizes?: (number | null)[]
          message?: string
          all?: string
        }
    })
  | {
      template: 'sign-in'
      to: string
      values: { device: string; address: string; at: string; link: string }
    }
  | { template: 'webhook-disabled'; to: string; values: { host: string; since: string } }
  | {
      template: 'files-received'
      to: string
      values: { label: string; files: number; bytes: number; link: string }
    }
  | {
      template: 'share-used'
      to: string
      /** `count` in the form of shareTitle. */
      values: {
        name: string
        count?: number | null
        opened: number
        downloaded: number
        link: string
      }
    }
  | {
      template: 'over-quota'
      to: string
      /** `workspace` is null for a personal drive. Sizes are in bytes; null means no limit. */
      values: {
        workspace: string | null
        usedBytes: number
        usedFiles: number
        usedFolders: number
        maxBytes: number
        maxFiles: number | null
        maxFolders: number | null
        link: string
      }
    }
  | { template: 'address-changed'; to: string; values: { provider: string | null } }
  | {
      template: 'account-link'
      to: string
      values: { about: 'invite' | 'sign-up' | 'known' | 'reset' | 'address'; link: string }
    }
  | { template: 'account-notice'; to: string; values: { what: AccountNotice; link: string } }

/** The kinds of jobs and their payloads. */
export interface Jobs {
  'purge-folder': { folderId: string; bucketId: string }
  /** The tree of a deleted workspace or account. */
  'purge-bucket': { rootId: string; bucketId: string }
  /** One step of a background copy. */
  'copy-entries': { copyId: string }
  /** Makes the thumbnails of the content of a blob. */
  preview: { blobId: string; fileType: string }
  /** Extracts the text of the content of a blob for the search. */
  contents: { blobId: string; fileType: string; format: TextFormat }
  mail: Mail
  /** Sends the creator of a file request a mail about received files. */
  'file-request-mail': { requestId: string }
  /** Sends the sharer a mail about uses of a share. */
  'share-mail': { shareId: string }
  /** Delivers one event to one webhook again, or a ping if `seq` is null. */
  webhook: { webhookId: string; seq: number | null }
}

export type JobKind = keyof Jobs

/**
 * Enqueues jobs in the transaction of the change that causes them. They run if and only if that
 * change commits.
 */
export async function enqueueAll<K extends JobKind>(
  db: Db,
  kind: K,
  payloads: Jobs[K][],
  tx: Tx,
): Promise<void> {
  const now = Date.now()
  const job = { kind, attempts: 0, dueAt: now, lastError: '', createdAt: now }
  await db.Job.bulkCreate(
    payloads.map(payload => ({ ...job, id: newId(), payload: JSON.stringify(payload) })),
    { transaction: tx },
  )
}

/** A job that is not due before a time. */
export async function enqueueAt<K extends JobKind>(
  db: Db,
  kind: K,
  { payload, dueAt }: { payload: Jobs[K]; dueAt: number },
  tx: Tx,
): Promise<void> {
  const job = { id: newId(), kind, attempts: 0, dueAt, lastError: '', createdAt: Date.now() }
  await db.Job.create({ ...job, payload: JSON.stringify(payload) }, { transaction: tx })
}

export const enqueue = <K extends JobKind>(
  db: Db,
  kind: K,
  payload: Jobs[K],
  tx: Tx,
): Promise<void> => enqueueAll(db, kind, [payload], tx)
