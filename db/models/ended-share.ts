import { longText, moment, number, type Row, table, uuid } from './columns.ts'

/**
 * A share that ended when the last of its entries was deleted. Restoring an entry within a few
 * minutes creates the share again. Nothing else reads this table, so an ended share neither works
 * nor counts towards limits.
 */
export const EndedShare = table({
  tableName: 'ended_share',
  columns: {
    /** The former id of the share. */
    id: uuid.key(),
    /** The sharer. */
    userId: uuid.ownedBy('user'),
    bucketId: uuid,
    /** Its row of `share`, as JSON. */
    terms: longText,
    /** Its rows of `favourite`, as JSON. */
    favourites: longText,
    expiresAt: moment,
    endedAt: moment,
  },
  indexes: [['userId', 'bucketId'], ['endedAt']],
})

/** An entry that left a share because the entry, or a folder above it, was deleted. */
export const EndedShareEntry = table({
  tableName: 'ended_share_entry',
  columns: {
    shareId: uuid.key(),
    entryId: uuid.key(),
    /** The deletion. */
    itemId: uuid.ownedBy('trash_item'),
    /** The sharer. */
    userId: uuid,
    /** The position that it had among the entries of the share. */
    position: number,
    endedAt: moment,
  },
  indexes: [['itemId'], ['endedAt']],
})

export type EndedShare = Row<typeof EndedShare>
export type EndedShareEntry = Row<typeof EndedShareEntry>
