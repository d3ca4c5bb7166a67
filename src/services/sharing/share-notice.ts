import { findNoticed, type LinkedShare } from '../../../db/queries/share.ts'
import { countUses } from '../../../db/queries/share-event.ts'
import { endMail } from '../../../db/queries/use-mail.ts'
import type { Core } from '../core.ts'
import type { ShareUser } from '../history/share-event.ts'
import { enqueue } from '../job.ts'
import { mailJob } from '../notices/mail.ts'
import { scheduleUseMail } from '../notices/use-mail.ts'

/** Mails to sharers about the use of their shares. */
export function shareNoticeService({ db, publicUrl }: Core<'db' | 'publicUrl'>) {
  return {
    /**
     * Schedules a mail about a use, if the sharer wants it. Never throws, because it must not keep
     * the visitor from the file.
     */
    async noteUse(
      { id, userId, notifies, mailWaits }: LinkedShare,
      { caller, log }: ShareUser,
    ): Promise<void> {
      if (!notifies || mailWaits || caller?.userId === userId) return
      try {
        await db.transaction(tx => scheduleUseMail(db, { shareId: id }, tx))
      } catch (error) {
        log.warn({ err: error, share_id: id }, 'could not schedule a mail about a use of a share')
      }
    },

    /**
     * Sends the sharer a mail about the uses since the last mail. Does nothing if there are none.
     */
    tellUses: ({ shareId }: { shareId: string }): Promise<void> =>
      db.transaction(async tx => {
        const share = await findNoticed(db, shareId, tx)
        if (!share) return
        const uses = await countUses(
          db,
          [shareId],
          { since: share.notifiedAt, except: share.userId },
          tx,
        )
        await endMail(db, 'share', shareId, Date.now(), tx)
        const countOf = (wanted: string) => uses.find(({ kind }) => kind === wanted)?.count ?? 0
        const [opened, downloaded] = [countOf('opened'), countOf('downloaded')]
        if (!share.notifies || share.address === null || opened + downloaded === 0) return
        const values = {
          name: share.label || share.name,
          count: share.label ? null : share.entryCount,
          opened,
          downloaded,
          link: `${publicUrl()}/links`,
        }
        await enqueue(db, mailJob, { template: 'share-used', to: share.address, values }, tx)
      }),
  }
}

export type ShareNoticeService = ReturnType<typeof shareNoticeService>
