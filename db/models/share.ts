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
 * The end of a share that never expires: the last moment that a Date has. So one condition and one
 * index serve both kinds.
 */
export const NEVER = 8_640_000_000_000_000

/**
 * Entries given to one e-mail address (direct) or to everyone with the link (public). Its token is
 * derived from its id, not stored.
 */
export const Share = table({
  tableName: 'share',
  columns: {
    id: uuid.key(),
    /** What is shared; of several entries the first, which gives them their name. */
    entryId: uuid,
    /**
     * How many entries it is of now, where several were chosen (share_entry); null where it is of
     * one.
     */
    entryCount: integer.nullable(),
    bucketId: uuid,
    /** The sharer. */
    userId: uuid,
    /** Lower-case e-mail address of the recipient; null for a public share. */
    recipient: text(MAX_EMAIL).nullable(),
    /** What its sharer calls it. */
    label: text(MAX_LABEL),
    /** The heading of its page; empty for the name of what is shared. */
    title: text(MAX_LABEL).default(''),
    /** What the sharer says to visitors of the page. */
    message: text(MAX_MESSAGE).default(''),
    passwordHash: text(255).nullable(),
    maxDownloads: number.nullable(),
    downloads: counter,
    /** Whether those who may see the file may download it. */
    allowDownload: flag.default(true),
    /** Whether its recipient may change what is shared. */
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
    /** NEVER for one without an end. */
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
