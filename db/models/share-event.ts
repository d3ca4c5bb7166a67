import { moment, type Row, table, text, uuid, word } from './columns.ts'

/** What is done with a share: looked at, downloaded, tried with a wrong password. */
export const shareEventKinds = ['opened', 'downloaded', 'refused'] as const
export type ShareEventKind = (typeof shareEventKinds)[number]

/** One use of a share. Sorted by id, which is a UUID of version 7. */
export const ShareEvent = table({
  tableName: 'share_event',
  columns: {
    id: uuid.key(),
    shareId: uuid,
    at: moment,
    kind: word<ShareEventKind>(16),
    /** Who was signed in. */
    personId: uuid.nullable(),
    /** The /24 or /48 of the client. */
    network: word(64),
    /** What the client calls itself, such as "Firefox on Linux". */
    client: text(200),
  },
  indexes: [['shareId', 'id']],
})

export type ShareEvent = Row<typeof ShareEvent>
