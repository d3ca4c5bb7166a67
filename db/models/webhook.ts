import { integer, longText, moment, number, type Row, table, uuid, word } from './columns.ts'

/** Disabled ones have failed for too long. */
export const webhookStates = ['active', 'paused', 'disabled'] as const
export type WebhookState = (typeof webhookStates)[number]

/**
 * A URL that receives the events of one log, while its user may read them. Its secret
 * is derived from its id and a number.
 */
export const Webhook = table({
  tableName: 'webhook',
  columns: {
    id: uuid.key(),
    logId: uuid,
    /** The user whose rights it uses: who created it or changed it last. */
    userId: uuid.ownedBy('user'),
    /** Null for a personal webhook. */
    workspaceId: uuid.ownedBy('workspace').nullable(),
    url: longText,
    /** Separated by spaces; empty for all. */
    kinds: longText,
    state: word<WebhookState>(8),
    /** The number of the last event that was delivered or skipped. */
    seq: number,
    /** How often the delivery of the next event has failed. */
    attempts: integer,
    failingSince: moment.nullable(),
    /** The time of the next attempt. */
    dueAt: moment,
    /** When the delivering instance's claim expires. */
    leaseUntil: moment,
    /** The number of times that its secret was replaced. */
    secretNumber: integer.default(0),
    /** Until when events are also signed with the previous secret. */
    oldSecretEndsAt: moment.nullable(),
    createdAt: moment,
  },
  indexes: [['userId'], ['workspaceId'], ['state', 'dueAt']],
})

export type Webhook = Row<typeof Webhook>
