import type { Tx } from '../../../db/index.ts'
import type { LoginRow } from '../../../db/queries/login.ts'
import type { Core } from '../core.ts'
import { enqueue } from '../job.ts'
import { type AccountNotice, mailJob } from '../notices/mail.ts'

/** Mails about changes to the security of an account. */
export interface LoginNotices {
  /** Queues a mail about the change. */
  queue(login: Pick<LoginRow, 'email'>, what: AccountNotice, tx: Tx): Promise<void>
  wake(): void
}

export function loginNoticeService({
  db,
  publicUrl,
  wake,
}: Core<'db' | 'publicUrl' | 'wake'>): LoginNotices {
  return {
    async queue({ email }, what, tx) {
      const values = { what, link: `${publicUrl()}/account/security` }
      await enqueue(db, mailJob, { template: 'account-notice', to: email, values }, tx)
    },
    wake,
  }
}
