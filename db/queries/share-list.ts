import type { Db } from '../index.ts'
import type { Entry } from '../models/entry.ts'
import type { Share } from '../models/share.ts'
import { firstOfEach, type Page, pageOf } from './page.ts'
import { BY_RIGHT, besideShare, EXPIRY, LIVE, sharedColumns, tables } from './share.ts'
import { SHARES_OF_ONE, sharesOf } from './share-entry.ts'
import { placeholders } from './sql.ts'

/**
 * The condition that the share `s` has expired or is used up, with its sharer `user u`. Its value
 * is the current time.
 */
const ENDED = `(s.expires_at <= ? OR s.downloads >= s.max_downloads) AND u.status = 'active'`

/** The condition of a share in any state. */
const ANY = '1 = 1'

/** A share in a list, with its file or folder and its owner. */
export interface ListedShare
  extends Pick<
      Share,
      | 'id'
      | 'entryCount'
      | 'userId'
      | 'label'
      | 'title'
      | 'message'
      | 'createdAt'
      | 'seenAt'
      | 'passwordHash'
      | 'downloads'
      | 'maxDownloads'
    >,
    Pick<Entry, 'kind' | 'name' | 'fileType' | 'md5' | 'blobId' | 'revision'> {
  entryId: string
  /** Null if it never expires. */
  expiresAt: number | null
  /** Flags are numbers in rows. */
  allowDownload: number
  mayEdit: number
  notifies: number
  size: number
  /** E-mail addresses; the second is empty for a public share. */
  sharedBy: string
  sharedFor: string
  sharerName: string
  sharerPicture: string
  parentId: string
  rootId: string
  bucketId: string
  /** Null for a personal drive. */
  workspaceId: string | null
}

const listedColumns = `s.id AS id, s.entry_id AS entryId, ${sharedColumns}, u.email AS sharedBy,
  COALESCE(s.recipient, '') AS sharedFor, s.user_id AS userId, u.name AS sharerName, u.picture AS sharerPicture, s.created_at AS createdAt,
  s.label, s.title, s.message, ${EXPIRY} AS expiresAt, s.allow_download AS allowDownload, s.may_edit AS mayEdit, s.notifies, s.seen_at AS seenAt, s.password_hash AS passwordHash, s.downloads, s.max_downloads AS maxDownloads, e.name, e.revision, e.blob_id AS blobId,
  e.parent_id AS parentId, t.root_id AS rootId, t.id AS bucketId, t.workspace_id AS workspaceId`

/** With everyone who has the link, or with one e-mail address. */
export type ShareKind = 'link' | 'direct'

const ofKind = (kind: ShareKind | null): string =>
  kind ? ` AND s.recipient IS ${kind === 'direct' ? 'NOT ' : ''}NULL` : ''

/** Selects a part of a list of shares. */
export interface ShareRange {
  /** The id of a share, exclusive. */
  after: string | null
  /** Newest first. */
  newestFirst: boolean
  limit: number
}

const beyond = (after: string | null, newestFirst: boolean): string =>
  after === null ? '' : ` AND s.id ${newestFirst ? '<' : '>'} ?`

/** The shares that match a condition over `share s` and one of LIVE, ENDED and ANY. */
async function listShares(
  db: Db,
  where: string,
  values: string[],
  { after, newestFirst, limit }: ShareRange,
  state = LIVE,
): Promise<Page<ListedShare>> {
  const rows = await db.rows<ListedShare>(
    `SELECT ${listedColumns}
     FROM ${tables}
     WHERE ${where}${beyond(after, newestFirst)}
       AND ${state}
       AND ${BY_RIGHT}
     ORDER BY s.id${newestFirst ? ' DESC' : ''}
     LIMIT ${limit + 1}`,
    [...values, ...(after === null ? [] : [after]), ...(state === ANY ? [] : [Date.now()])],
  )
  return pageOf(rows, limit)
}

/** Selects shares that a user made. */
export interface SentSelection {
  kind: ShareKind | null
  ended: boolean
  /** An e-mail address. */
  recipient: string | null
  /** In lower case. Part of a name, a label, a title or a recipient. */
  part: string | null
  /** Only shares that contain one of these entries, alone or with others. */
  entryIds: readonly string[] | null
}

const CONTAINS_PART = `(INSTR(LOWER(e.name), ?) > 0
    OR INSTR(LOWER(s.label), ?) > 0
    OR INSTR(LOWER(s.title), ?) > 0
    OR INSTR(COALESCE(s.recipient, ''), ?) > 0
    OR EXISTS (SELECT 1
      FROM share_entry y
      JOIN entry o ON o.id = y.entry_id
      WHERE y.share_id = s.id
        AND INSTR(LOWER(o.name), ?) > 0))`

export const listSentShares = (
  db: Db,
  userId: string,
  { kind, ended, recipient, part, entryIds, ...range }: ShareRange & SentSelection,
) => {
  const ids = entryIds ?? []
  const which = [
    `s.user_id = ?${ofKind(kind)}`,
    ...(recipient === null ? [] : ['s.recipient = ?']),
    ...(part === null ? [] : [CONTAINS_PART]),
    ...(entryIds === null
      ? []
      : [`s.id IN (SELECT chosen.id FROM ${sharesOf(`IN (${placeholders(ids)})`)})`]),
  ]
  const values = [
    userId,
    ...(recipient === null ? [] : [recipient]),
    ...(part === null ? [] : [part, part, part, part, part]),
    ...ids,
    ...ids,
  ]
  return listShares(db, which.join(' AND '), values, range, ended ? ENDED : LIVE)
}

/** An e-mail address with which a user shares. */
export interface ShareRecipientRow {
  email: string
  count: number
}

/** The e-mail addresses with which a user shares now, with the number of live shares. */
export const recipientsOf = (db: Db, userId: string, limit: number): Promise<ShareRecipientRow[]> =>
  db.rows(
    `SELECT s.recipient AS email, COUNT(*) AS count
     FROM ${tables}
     WHERE s.user_id = ?
       AND s.recipient IS NOT NULL
       AND ${LIVE}
       AND ${BY_RIGHT}
     GROUP BY s.recipient
     ORDER BY s.recipient
     LIMIT ${limit}`,
    [userId, Date.now()],
  )

/**
 * @param seen only shares that the recipient has, or has not, opened
 * @param sharer only shares of the owner of this e-mail address
 */
export const listReceivedShares = (
  db: Db,
  recipient: string,
  { seen, sharer, ...range }: ShareRange & { seen: boolean | null; sharer: string | null },
) =>
  listShares(
    db,
    `s.recipient = ?${sharer === null ? '' : ' AND (u.verified_email = ? OR LOWER(u.email) = ?)'}${
      seen === null ? '' : ` AND s.seen_at IS ${seen ? 'NOT ' : ''}NULL`
    }`,
    [recipient, ...(sharer === null ? [] : [sharer, sharer])],
    range,
  )

const oldestFirst = (limit: number): ShareRange => ({ after: null, newestFirst: false, limit })

/** The shares among these that a user made or an e-mail address received. */
export const listSharesAmong = (db: Db, by: 'userId' | 'recipient', value: string, ids: string[]) =>
  listShares(
    db,
    `s.${by === 'userId' ? 'user_id' : by} = ? AND s.id IN (${placeholders(ids)})`,
    [value, ...ids],
    oldestFirst(ids.length),
  )

/** A share that a user made, live or ended. */
export const listShareOf = (db: Db, userId: string, id: string) =>
  listShares(db, 's.user_id = ? AND s.id = ?', [userId, id], oldestFirst(1), ANY)

/** The shares among these that a user made or their e-mail address received. */
export const listSharesOf = (db: Db, userId: string, recipient: string, ids: string[]) =>
  listShares(
    db,
    `s.id IN (${placeholders(ids)}) AND (s.user_id = ? OR s.recipient = ?)`,
    [...ids, userId, recipient],
    oldestFirst(ids.length),
  )

/** The live shares of some entries that a user made, of one entry or several, by entry id. */
export const pagesOfShares = (
  db: Db,
  userId: string,
  entryIds: string[],
  { kind, after, newestFirst, limit }: ShareRange & { kind: ShareKind | null },
) =>
  firstOfEach<ListedShare>(
    db,
    `SELECT ${listedColumns}
     FROM ${SHARES_OF_ONE}
     JOIN share s ON s.id = chosen.id ${besideShare}
     WHERE s.user_id = ?
       AND ${LIVE}
       AND ${BY_RIGHT}${beyond(after, newestFirst)}${ofKind(kind)}`,
    {
      order: newestFirst ? 'id DESC' : 'id',
      owners: entryIds,
      twice: true,
      values: [userId, Date.now(), ...(after === null ? [] : [after])],
      limit,
    },
  )
