import type { Db, Tx, Value } from '../index.ts'
import { Webhook } from '../models/webhook.ts'
import { WebhookDelivery } from '../models/webhook-delivery.ts'
import { rolesThat } from './member.ts'
import { placeholders, selection } from './sql.ts'

export type WebhookRow = Webhook
export type DeliveryRow = WebhookDelivery

const columns = selection(Webhook, 'h')

/**
 * The FROM and the condition of webhooks `h` whose user may still read their log, and of active
 * ones.
 */
export const RIGHTFUL = `FROM webhook h
  JOIN user u ON u.id = h.user_id
  LEFT JOIN member m ON m.workspace_id = h.workspace_id AND m.user_id = h.user_id`
const MAY = `u.status = 'active' AND (h.workspace_id IS NULL OR m.role IN (${rolesThat('manage')}))`
export const MAY_NOW = `h.state = 'active' AND ${MAY}`

/** A webhook due for delivery, whose claim by another instance has expired. */
export type DueWebhook = Pick<WebhookRow, 'id' | 'leaseUntil'>

/** Webhooks with events to deliver that no instance has claimed, longest waiting first. */
export const dueWebhooks = (db: Db, now: number, limit: number): Promise<DueWebhook[]> =>
  db.rows(
    `SELECT h.id, h.lease_until AS leaseUntil
     ${RIGHTFUL}
     WHERE ${MAY_NOW}
       AND h.due_at <= ?
       AND h.lease_until <= ?
       AND EXISTS (SELECT 1 FROM event e WHERE e.log_id = h.log_id AND e.seq > h.seq)
     ORDER BY h.due_at
     LIMIT ${limit}`,
    [now, now],
  )

/** The logs with active webhooks, and their workspaces. */
export const watchedLogs = (db: Db): Promise<Pick<WebhookRow, 'logId' | 'workspaceId'>[]> =>
  db.rows(
    `SELECT DISTINCT log_id AS logId, workspace_id AS workspaceId
     FROM webhook
     WHERE state = 'active'`,
  )

/**
 * Claims a webhook until a time, unless another instance holds it or has postponed it meanwhile.
 * @returns whether it was claimed
 */
export const claimWebhook = (
  db: Db,
  { id, leaseUntil }: DueWebhook,
  now: number,
  until: number,
): Promise<boolean> =>
  db.changed(
    'UPDATE webhook SET lease_until = ? WHERE id = ? AND lease_until = ? AND due_at <= ?',
    [until, id, leaseUntil, now],
  )

/** The current row of a claimed webhook, if it is still due for delivery. */
export const claimedWebhook = (
  db: Db,
  { id, leaseUntil }: DueWebhook,
): Promise<WebhookRow | undefined> =>
  db.row(`SELECT ${columns} ${RIGHTFUL} WHERE h.id = ? AND h.lease_until = ? AND ${MAY_NOW}`, [
    id,
    leaseUntil,
  ])

/**
 * Updates columns of a claimed webhook, if the given conditions still hold.
 * @returns whether it was updated
 */
export async function settleWebhook(
  db: Db,
  claim: DueWebhook & Partial<Pick<WebhookRow, 'url' | 'state'>>,
  set: Partial<WebhookRow>,
  tx?: Tx,
): Promise<boolean> {
  const [done] = await db.Webhook.update(set, { where: claim, ...(tx ? { transaction: tx } : {}) })
  return done === 1
}

/** A webhook whose user may still read its log, active or not. */
export const rightfulWebhook = (db: Db, id: string): Promise<WebhookRow | undefined> =>
  db.row(`SELECT ${columns} ${RIGHTFUL} WHERE h.id = ? AND ${MAY}`, [id])

const listed = (db: Db, where: string, values: Value[], tx?: Tx) =>
  db.rows<WebhookRow>(`SELECT ${columns} FROM webhook h WHERE ${where} ORDER BY h.id`, values, tx)

/** The webhooks of a person, oldest first. */
export const webhooksOfUser = (db: Db, userId: string): Promise<WebhookRow[]> =>
  listed(db, 'h.workspace_id IS NULL AND h.user_id = ?', [userId])

/** The webhooks of some workspaces, oldest first. */
export const webhooksOfWorkspaces = (db: Db, ids: string[]): Promise<WebhookRow[]> =>
  listed(db, `h.workspace_id IN (${placeholders(ids)})`, ids)

/**
 * The workspace webhooks that a user is responsible for, including workspaces that the user has
 * left.
 */
export const webhooksUnder = (db: Db, userId: string, tx: Tx): Promise<WebhookRow[]> =>
  listed(db, 'h.workspace_id IS NOT NULL AND h.user_id = ?', [userId], tx)

/** The webhooks among these that belong to a user or to one of the user's workspaces. */
export const webhooksAmong = (db: Db, userId: string, ids: string[]): Promise<WebhookRow[]> =>
  listed(
    db,
    `h.id IN (${placeholders(ids)})
       AND ((h.workspace_id IS NULL AND h.user_id = ?)
         OR h.workspace_id IN (SELECT m.workspace_id FROM member m WHERE m.user_id = ?))`,
    [...ids, userId, userId],
  )

/** The attempts of some webhooks, latest first. */
export const deliveriesOf = (db: Db, webhookIds: string[]): Promise<DeliveryRow[]> =>
  db.rows(
    `SELECT ${selection(WebhookDelivery)}
     FROM webhook_delivery
     WHERE webhook_id IN (${placeholders(webhookIds)})
     ORDER BY id DESC`,
    webhookIds,
  )

/** Deletes all attempts of a webhook except the latest ones. */
export async function trimDeliveries(db: Db, webhookId: string, keep: number): Promise<void> {
  const first = await db.row<{ id: string }>(
    `SELECT id FROM webhook_delivery WHERE webhook_id = ? ORDER BY id DESC LIMIT 1 OFFSET ${keep}`,
    [webhookId],
  )
  if (first)
    await db.run('DELETE FROM webhook_delivery WHERE webhook_id = ? AND id <= ?', [
      webhookId,
      first.id,
    ])
}
