import { integer, longText, moment, number, type Row, table, uuid, word } from './columns.ts'

/** Disabled ones have failed for too long. */
export const webhookStates = ['active', 'paused', 'disabled'] as const
export type WebhookState = (typeof webhookStates)[number]

/**
 * A URL that the events of one log are sent to, for as long as its user may read them. Its secret
 * is derived from its id and a number.
 */
export const Webhook = table({
  tableName: 'webhook',
  columns: {
    id: uuid.key(),
    logId: uuid,
    /** Whose right it is: who made it, or has changed it last. */
    userId: uuid.ownedBy('user'),
    /** Null for one of a person. */
    workspaceId: uuid.ownedBy('workspace').nullable(),
    url: longText,
    /** Separated by spaces; empty for all. */
    kinds: longText,
    state: word<WebhookState>(8),
    /** The number of the last event that was delivered, or is not for it. */
    seq: number,
    /** How often the event after that has failed. */
    attempts: integer,
    failingSince: moment.nullable(),
    /** When it is tried again. */
    dueAt: moment,
    /** Until when one instance alone delivers to it. */
    leaseUntil: moment,
    /** How often its secret was replaced. */
    secretNumber: integer.default(0),
    /** Until when events are signed with the secret before, too. */
    oldSecretEndsAt: moment.nullable(),
    createdAt: moment,
  },
  indexes: [['userId'], ['workspaceId'], ['state', 'dueAt']],
})

export type Webhook = Row<typeof Webhook>
