import { v7 as newId } from 'uuid'
import type { Db, Tx } from '../../db/index.ts'
import type { Caller } from '../auth/caller.ts'
import { type Passwords, parsePassword } from '../auth/password.ts'
import { parseDuration } from '../duration.ts'
import { AppError, InvalidInput } from '../errors.ts'
import { MAX_SHARED_FILES } from '../limits.ts'
import { joinPath, parseFilePath } from '../paths.ts'
import { parseEmail } from './email.ts'
import { fileNotFound } from './entry-path.ts'
import type { EventService } from './event.ts'
import type { FoundEntry, ListingService } from './listing.ts'
import type { MailingService } from './mailing.ts'
import { callerKeys, insertShare, liveCount, lockForSharing, type ShareService, type Terms } from './share.ts'
import type { ShareLinkService } from './share-link.ts'

/** The result of sharing files with a person. */
export interface DirectShares {
  shares: {
    id: string
    names: string[]
    md5: string
    sharedFor: string
    sharedBy: string
    token: string
    link: string
    expiresAt: number
  }[]
  notificationStatus: 'not_sent' | 'queued' | 'failed'
}

export interface DirectShareInput {
  email: string
  objects: string[]
  duration?: string | null | undefined
  password?: string | null | undefined
  sendEmail?: boolean | null | undefined
}

interface Deps {
  db: Db
  listings: ListingService
  links: ShareLinkService
  mailings: MailingService
  shares: ShareService
  passwords: Passwords
  events: EventService
  wake: () => void
}

/** Shares with one person. */
export function directShareService({ db, listings, links, mailings, shares, passwords, events, wake }: Deps) {
  return {
    /** The number of live shares that the caller has received and not opened. */
    async countUnseen(caller: Caller): Promise<number> {
      if (!caller.verifiedEmail) return 0
      const [row] = await db.rows<{ n: number }>(`SELECT ${liveCount('s.recipient = ? AND s.seen_at IS NULL')} AS n`, [
        caller.verifiedEmail,
        Date.now(),
      ])
      return Number(row?.n)
    },

    /** Records that the caller has seen a received share; idempotent. @throws SHARE_NOT_FOUND */
    async markSeen(caller: Caller, token: string): Promise<void> {
      const share = await links.findByToken(token)
      if (!share || !caller.verifiedEmail || share.recipient !== caller.verifiedEmail)
        throw new AppError(
          'SHARE_NOT_FOUND',
          'You have received no such share. Use sharing_token from the list of received files.',
        )
      await db.run('UPDATE share SET seen_at = ? WHERE id = ? AND seen_at IS NULL', [Date.now(), share.id])
    },

    /**
     * Shares files with one e-mail address: all of them, or none. An existing share is renewed and keeps its token. A mail is sent
     * if the limits of mails allow it.
     * @throws FILE_NOT_FOUND, INVALID_PATH, INVALID_DURATION, INVALID_INPUT
     */
    async create(caller: Caller, input: DirectShareInput): Promise<DirectShares> {
      const recipient = parseEmail(input.email, 'email')
      if (recipient === caller.verifiedEmail || recipient === caller.email.toLowerCase())
        throw new InvalidInput('email', 'This is your own e-mail address. Share with another person.')
      if (input.objects.length < 1 || input.objects.length > MAX_SHARED_FILES)
        throw new InvalidInput('objects', 'Name 1 to 100 files.')
      const paths = new Map(
        input.objects.map(text => parseFilePath(text, 'objects')).map(names => [joinPath(names), names]),
      )
      const now = Date.now()
      const expiresAt = now + parseDuration(input.duration || '7d', 'duration')
      const passwordHash = input.password
        ? await passwords.hash(parsePassword(input.password), callerKeys(caller))
        : null
      // Sequential, because a hundred parallel statements would occupy the whole connection pool.
      const find = async (tx?: Tx): Promise<FoundEntry[]> => {
        const found: FoundEntry[] = []
        for (const path of paths.keys()) found.push(await listings.file(caller.bucket, { path }, tx))
        return found
      }
      const before = await find()
      const terms = { passwordHash, createdAt: now, expiresAt }
      const made = await db.transaction(async tx => {
        // The second of two parallel shares of one file with one person waits here, and then renews the first.
        const { purging } = await lockForSharing(db, caller, tx)
        const found = purging ? await find(tx) : before
        const all = []
        for (const { names, id, md5 } of found) {
          const shareId = await renewOrCreate(caller, id, recipient, terms, tx)
          if (!shareId) throw fileNotFound(caller.bucket, names)
          const token = shares.tokenOf(shareId)
          all.push({
            id: shareId,
            names,
            md5,
            sharedFor: recipient,
            sharedBy: caller.email,
            token,
            link: shares.linkOf(token),
            expiresAt,
          })
        }
        let queued = false
        if (input.sendEmail) {
          const values = {
            files: all.map(s => s.names.at(-1) ?? ''),
            links: all.map(s => s.link),
            by: caller.name,
            address: caller.email,
            expires: new Date(expiresAt).toISOString(),
            protected: passwordHash !== null,
          }
          const about = found.map(({ id }) => id)
          queued = await mailings.enqueue(caller, { template: 'share', to: recipient, values }, about, tx)
        }
        return { shares: all, notificationStatus: queued ? ('queued' as const) : ('not_sent' as const) }
      })
      const ids = made.shares.map(share => share.id)
      events.publish('shareReceived', recipient, ids)
      if (made.notificationStatus === 'queued') wake()
      return made
    },
  }

  /** Null when the file has been deleted meanwhile. */
  async function renewOrCreate(
    caller: Caller,
    entryId: string,
    recipient: string,
    terms: Terms,
    tx: Tx,
  ): Promise<string | null> {
    const [known] = await db.rows<{ id: string }>(
      'SELECT id FROM share WHERE entry_id = ? AND recipient = ? AND user_id = ?',
      [entryId, recipient, caller.userId],
      tx,
    )
    if (known) {
      await db.run(
        'UPDATE share SET password_hash = ?, expires_at = ?, seen_at = NULL WHERE id = ?',
        [terms.passwordHash, terms.expiresAt, known.id],
        tx,
      )
      return known.id
    }
    const id = newId()
    return (await insertShare(db, caller, { id, entryId, recipient, maxDownloads: null, ...terms }, tx)) ? id : null
  }
}

export type DirectShareService = ReturnType<typeof directShareService>
