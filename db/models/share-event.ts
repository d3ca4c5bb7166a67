import { moment, type Row, table, text, uuid, word } from './columns.ts'

/** How a share is used: viewed, downloaded, or tried with a wrong password. */
export const shareEventKinds = ['opened', 'downloaded', 'refused'] as const
export type ShareEventKind = (typeof shareEventKinds)[number]

/** One use of a share. Sorted by id, which is a UUIDv7. */
export const ShareEvent = table({
  tableName: 'share_event',
  columns: {
    id: uuid.key(),
    shareId: uuid,
    at: moment,
    kind: word<ShareEventKind>(16),
    /** The signed-in user, if any. */
    personId: uuid.nullable(),
    /** The /24 or /48 of the client. */
    network: word(64),
    /** What the client calls itself, such as "Firefox on Linux". */
    client: text(200),
  },
  indexes: [['shareId', 'id']],
})

export type ShareEvent = Row<typeof ShareEvent>
