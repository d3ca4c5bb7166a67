import { v7 as newId } from 'uuid'
import type { Tx } from '../../../db/index.ts'
import { lockRecipient, noticesSince } from '../../../db/queries/mail-recipient.ts'
import { languagesOf } from '../../../db/queries/user.ts'
import type { Caller } from '../../access/caller.ts'
import type { Language } from '../../language/languages.ts'
import { AppError } from '../../runtime/errors.ts'
import { hashSecret } from '../../runtime/tokens.ts'
import { DAY_MS, HOUR_MS } from '../../values/duration.ts'
import type { Core } from '../core.ts'
import { enqueue } from '../job.ts'
import { type Mail, mailJob } from './mail.ts'

const STOP_TOKEN = 'mail-stop'

/** The limits on mails per 24 hours. */
export interface MailBounds {
  /** From one user to one e-mail address. */
  fromOne: number
  /** From all users to one e-mail address. */
  fromAll: number
}

/** Mails that one user causes to another (docs/contract.md, "Mails"). */
export function mailingService({
  db,
  tokens,
  publicUrl,
  mailBounds,
}: Core<'db' | 'tokens' | 'publicUrl'> & { mailBounds: MailBounds }) {
  const hashOf = (address: string) => tokens.digest('mail-recipient', address)
  function idOf(token: string): string {
    const id = tokens.read(STOP_TOKEN, token)
    if (!id) throw noSuchLink()
    return id
  }

  return {
    /**
     * Enqueues a mail in the transaction that causes it. Skips it if the sender has no verified
     * address, the recipient has unsubscribed, a limit is reached, or the same mail was sent within
     * the hour. No lock may be acquired after it.
     * @param about the ids of the subjects of the mail, to recognize a repetition
     * @returns whether it was enqueued
     */
    async enqueue(
      caller: Caller,
      mail: Extract<Mail, { stop?: string }>,
      about: string[],
      tx: Tx,
    ): Promise<boolean> {
      if (caller.verifiedEmail === null) return false
      const recipient = await lockRecipient(db, hashOf(mail.to), tx)
      if (recipient.stoppedAt !== null) return false
      const now = Date.now()
      const what = hashSecret([mail.template, ...about.toSorted()].join(' ')).toString('hex')
      const sent = await noticesSince(db, recipient.id, now - DAY_MS, tx)
      const mine = sent.filter(({ senderId }) => senderId === caller.userId)
      const isRenewal = sent.some(notice => notice.about === what && notice.sentAt > now - HOUR_MS)
      if (isRenewal || sent.length >= mailBounds.fromAll || mine.length >= mailBounds.fromOne)
        return false
      const notice = {
        id: newId(),
        recipientId: recipient.id,
        senderId: caller.userId,
        about: what,
        sentAt: now,
      }
      await db.MailNotice.create(notice, { transaction: tx })
      const stop = `${publicUrl()}/unsubscribe/${tokens.derive(STOP_TOKEN, recipient.id)}`
      await enqueue(db, mailJob, { ...mail, stop }, tx)
      return true
    },

    /**
     * The language of a mail: that of the recipient if their account has one, else that of the
     * person who causes the mail, else English.
     */
    async languageOf(mail: Mail): Promise<Language> {
      const by = 'address' in mail.values ? mail.values.address : undefined
      const [to = '', sender = ''] = [mail.to, by].map(address => address?.toLowerCase() ?? '')
      const known = await languagesOf(db, [to, sender])
      return known.get(to) ?? known.get(sender) ?? 'en'
    },

    /** Whether a queued mail may still be sent. Its recipient may have unsubscribed. */
    async isWanted(mail: Mail): Promise<boolean> {
      if (!('stop' in mail)) return true
      const recipient = await db.MailRecipient.findOne({
        where: { addressHash: hashOf(mail.to) },
        raw: true,
      })
      return !recipient || recipient.stoppedAt === null
    },

    /**
     * Whether the e-mail address of an unsubscribe link has unsubscribed. @throws ROUTE_NOT_FOUND
     */
    async isStopped(token: string): Promise<boolean> {
      const row = await db.MailRecipient.findByPk(idOf(token), { raw: true })
      if (!row) throw noSuchLink()
      return row.stoppedAt !== null
    },

    /**
     * Stops or resumes the mails to the e-mail address of an unsubscribe link; idempotent. @throws
     * ROUTE_NOT_FOUND
     */
    async setStopped(token: string, stopped: boolean): Promise<void> {
      const change = { stoppedAt: stopped ? Date.now() : null }
      const [changed] = await db.MailRecipient.update(change, { where: { id: idOf(token) } })
      if (changed === 0) throw noSuchLink()
    },
  }
}

const noSuchLink = () =>
  new AppError(
    'ROUTE_NOT_FOUND',
    'This link is incomplete. Open it from the mail again, or copy the whole link.',
  )

export type MailingService = ReturnType<typeof mailingService>
