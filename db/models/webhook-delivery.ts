import { integer, moment, type Row, table, uuid, word } from './columns.ts'

/** An attempt to deliver an event. Its payload and the response are not stored. */
export const WebhookDelivery = table({
  tableName: 'webhook_delivery',
  columns: {
    id: uuid.key(),
    webhookId: uuid.ownedBy('webhook'),
    eventId: word(80),
    kind: word(32),
    at: moment,
    /** 1 for the first. */
    attempt: integer,
    /** Null without a response. */
    status: integer.nullable(),
    /** Null for a success. */
    failure: word(64).nullable(),
    milliseconds: integer,
  },
  indexes: [['webhookId', 'id']],
})

export type WebhookDelivery = Row<typeof WebhookDelivery>
