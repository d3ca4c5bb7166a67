import { MAX_EMAIL, MAX_LABEL, MAX_MESSAGE } from '../../src/values/limits.ts'
import {
  counter,
  flag,
  integer,
  moment,
  number,
  type Row,
  table,
  text,
  touched,
  uuid,
} from './columns.ts'

/**
 * The expiry of a share that never expires: the latest time of a Date. So one condition and one
 * index serve both kinds.
 */
export const NEVER = 8_640_000_000_000_000

/**
 * Entries shared with one e-mail address (direct) or with everyone who has the link (public). Its
 * token is derived from its id, not stored.
 */
export const Share = table({
  tableName: 'share',
  columns: {
    id: uuid.key(),
    /** The shared entry; of several, the first, which gives the share its name. */
    entryId: uuid,
    /**
     * The current number of entries if several were chosen (share_entry); null for a share of one
     * entry.
     */
    entryCount: integer.nullable(),
    bucketId: uuid,
    /** The sharer. */
    userId: uuid,
    /** Lower-case e-mail address of the recipient; null for a public share. */
    recipient: text(MAX_EMAIL).nullable(),
    /** The sharer's own name for it. */
    label: text(MAX_LABEL),
    /** The heading of its page; if empty, the page shows the name of the shared entry. */
    title: text(MAX_LABEL).default(''),
    /** The sharer's message to visitors of the page. */
    message: text(MAX_MESSAGE).default(''),
    passwordHash: text(255).nullable(),
    maxDownloads: number.nullable(),
    downloads: counter,
    /** Whether those who may see the file may download it. */
    allowDownload: flag.default(true),
    /** Whether its recipient may edit the shared entries. */
    mayEdit: flag.default(false),
    /** Whether its sharer gets mails about uses. */
    notifies: flag.default(false),
    /**
     * The time up to which uses were reported to the sharer, and whether the next mail is
     * scheduled.
     */
    notifiedAt: counter,
    mailWaits: flag.default(false),
    seenAt: moment.nullable(),
    touched,
    createdAt: moment,
    /** NEVER if it does not expire. */
    expiresAt: moment,
  },
  indexes: [
    ['entryId', 'recipient'],
    ['userId', 'id'],
    ['recipient', 'id'],
    ['bucketId'],
    ['expiresAt'],
  ],
})

export type Share = Row<typeof Share>
