import { validate as isUuid, v7 as newId } from 'uuid'
import type { Tx } from '../../../db/index.ts'
import type { EventKind } from '../../../db/models/event.ts'
import { endsOf } from '../../../db/queries/event.ts'
import { lockUser } from '../../../db/queries/user.ts'
import {
  type DeliveryRow,
  deliveriesOf,
  type WebhookRow,
  webhooksAmong,
  webhooksOfUser,
  webhooksOfWorkspaces,
} from '../../../db/queries/webhook.ts'
import type { Caller } from '../../access/caller.ts'
import { AppError, InvalidInput } from '../../runtime/errors.ts'
import { MAX_DELIVERIES, MAX_WEBHOOKS } from '../../values/limits.ts'
import type { Core } from '../core.ts'
import type { EventFeedService } from '../history/event-feed.ts'
import { enqueue, FOREVER, type Job, USUAL_AT_A_TIME } from '../job.ts'
import { rowsById } from '../rows-by-id.ts'
import { lockToManage } from '../workspaces/right.ts'
import type { WorkspaceView } from '../workspaces/workspace.ts'
import { type MayReach, readUrl } from './webhook-address.ts'
import { OLD_SECRET_MS, secretOf } from './webhook-secret.ts'

export type { DeliveryRow } from '../../../db/queries/webhook.ts'

/** The source of events: the drive of the caller or of a workspace, or the caller. */
export type WebhookSource = 'drive' | 'person'

/** A webhook without its secret. The secret is shown only once. */
export interface WebhookView
  extends Omit<WebhookRow, 'kinds' | 'seq' | 'leaseUntil' | 'secretNumber'> {
  /** Null for all kinds. */
  kinds: EventKind[] | null
  source: WebhookSource
}

interface WebhookInput {
  url: string
  kinds?: EventKind[] | null | undefined
}

/**
 * Changes to a webhook. Omitted or null fields stay unchanged, except `kinds`, where null selects
 * all kinds.
 */
interface WebhookChange {
  url?: string | null | undefined
  kinds?: EventKind[] | null | undefined
  paused?: boolean | null | undefined
}

interface Deps extends Core<'db' | 'tokens' | 'change' | 'wake'> {
  eventFeeds: EventFeedService
  mayReach: MayReach
  /** Notifies the delivery worker that webhooks have changed. */
  wakeWebhooks: () => void
}

/** Delivers one event to one webhook again, or a ping if `seq` is null. */
export const webhookJob: Job<
  'webhook',
  { webhookId: string; seq: number | null },
  {
    deliveries: {
      sendOne(of: { webhookId: string; seq: number | null }, job: { id: string }): Promise<void>
    }
  }
> = {
  kind: 'webhook',
  changesFiles: false,
  atATime: USUAL_AT_A_TIME,
  patienceMs: FOREVER,
  leastTries: 1,
  run: ({ deliveries }, of, { id }) => deliveries.sendOne(of, { id }),
}

/** Manages the URLs to which events are sent. src/jobs/webhooks.ts delivers the events. */
export function webhookService({
  db,
  tokens,
  change,
  eventFeeds,
  mayReach,
  wake,
  wakeWebhooks,
}: Deps) {
  const logOf = (caller: Caller, workspace: WorkspaceView | null) =>
    workspace ? { workspace: workspace.id } : caller.userId

  function readKinds(kinds: WebhookInput['kinds']): string {
    if (kinds?.length === 0)
      throw new InvalidInput('kinds', 'Give at least one kind of event, or null for all kinds.')
    return [...new Set(kinds ?? [])].join(' ')
  }

  /**
   * Locks the holder of the webhooks, so that concurrent requests cannot exceed the limit.
   * @throws FORBIDDEN
   */
  async function lockHolder(
    caller: Caller,
    workspace: WorkspaceView | null,
    tx: Tx,
  ): Promise<void> {
    if (workspace) await lockToManage(db, caller, workspace.id, tx)
    else await lockUser(db, caller.userId, tx)
  }

  const ofHolder = (caller: Caller, workspace: WorkspaceView | null) =>
    workspace ? { workspaceId: workspace.id } : { workspaceId: null, userId: caller.userId }

  async function logIdOf(
    caller: Caller,
    workspace: WorkspaceView | null,
    source: WebhookSource,
    tx: Tx,
  ) {
    if (!workspace) return source === 'person' ? caller.userId : caller.bucket.bucketId
    const where = { workspaceId: workspace.id }
    const bucket = await db.Bucket.findOne({
      where,
      attributes: ['id'],
      raw: true,
      rejectOnEmpty: true,
      transaction: tx,
    })
    return bucket.id
  }

  async function find(
    caller: Caller,
    workspace: WorkspaceView | null,
    id: string,
    tx?: Tx,
  ): Promise<WebhookRow> {
    const where = { id, ...ofHolder(caller, workspace) }
    const row = isUuid(id)
      ? await db.Webhook.findOne({ where, raw: true, ...(tx ? { transaction: tx } : {}) })
      : null
    if (!row) throw webhookNotFound()
    return row
  }

  /**
   * Changes a webhook while its holder is locked, and records the change.
   * @returns the result of `work`
   * @throws WEBHOOK_NOT_FOUND
   */
  const alter = (
    caller: Caller,
    workspace: WorkspaceView | null,
    id: string,
    kind: 'webhook.changed' | 'webhook.deleted',
    work: (old: WebhookRow, tx: Tx) => Promise<WebhookRow>,
  ): Promise<WebhookRow> =>
    change(caller, async ({ tx, record }) => {
      await lockHolder(caller, workspace, tx)
      const row = await work(await find(caller, workspace, id, tx), tx)
      record(logOf(caller, workspace), webhookEvent(kind, row))
      return row
    })

  /**
   * Finds the given webhooks that belong to the caller or to a workspace of the caller, by id. Does
   * not check the role.
   */
  const knownAmong = ({ userId }: Caller, ids: string[]): Promise<Map<string, WebhookView>> =>
    rowsById(ids, async some => (await webhooksAmong(db, userId, some)).map(toView))

  /** Delivers one event again, or a ping, independently of other deliveries. */
  async function send(id: string, seq: number | null): Promise<void> {
    await db.transaction(tx => enqueue(db, webhookJob, { webhookId: id, seq }, tx))
    wake()
  }

  return {
    /**
     * Creates a webhook for future events. `workspace` is a workspace that the caller may manage,
     * or null for the caller's own events.
     * @throws INVALID_INPUT, QUOTA_EXCEEDED
     */
    async create(
      caller: Caller,
      workspace: WorkspaceView | null,
      { source, ...input }: WebhookInput & { source: WebhookSource },
    ): Promise<{ webhook: WebhookView; secret: string }> {
      if (workspace && source === 'person')
        throw new InvalidInput(
          'source',
          'The webhook of a workspace sends events of its drive: give DRIVE, or leave out the workspace.',
        )
      const [url, kinds, id, now] = [
        readUrl(input.url, mayReach),
        readKinds(input.kinds),
        newId(),
        Date.now(),
      ]
      const row = await change(caller, async ({ tx, record }) => {
        await lockHolder(caller, workspace, tx)
        const used = await db.Webhook.count({ where: ofHolder(caller, workspace), transaction: tx })
        if (used >= MAX_WEBHOOKS)
          throw new AppError(
            'QUOTA_EXCEEDED',
            `There are already ${used} webhooks, which is the limit. Delete one first.`,
            {
              limit: 'max_webhooks',
              max: MAX_WEBHOOKS,
              used,
            },
          )
        const logId = await logIdOf(caller, workspace, source, tx)
        const { head: seq } = await endsOf(db, logId, tx)
        const times = { failingSince: null, dueAt: now, leaseUntil: 0, createdAt: now }
        const made = {
          id,
          logId,
          userId: caller.userId,
          workspaceId: workspace?.id ?? null,
          url: url.href,
          kinds,
          seq,
        }
        const secrets = { secretNumber: 0, oldSecretEndsAt: null }
        const row: WebhookRow = { ...made, state: 'active', attempts: 0, ...secrets, ...times }
        await db.Webhook.create(row, { transaction: tx })
        record(logOf(caller, workspace), webhookEvent('webhook.created', row))
        return row
      })
      wakeWebhooks()
      return { webhook: toView(row), secret: secretOf(tokens, id, 0) }
    },

    /**
     * Changes, pauses or resumes a webhook. From then on the caller's rights apply to the webhook.
     * Events during a pause are delivered when the webhook is resumed.
     * @throws WEBHOOK_NOT_FOUND, INVALID_INPUT
     */
    async update(
      caller: Caller,
      workspace: WorkspaceView | null,
      id: string,
      { url: text, kinds, paused }: WebhookChange,
    ): Promise<WebhookView> {
      const url = typeof text === 'string' ? readUrl(text, mayReach) : null
      const chosen = kinds === undefined ? {} : { kinds: readKinds(kinds) }
      const state = paused
        ? ({ state: 'paused' } as const)
        : ({ state: 'active', failingSince: null } as const)
      const row = await alter(caller, workspace, id, 'webhook.changed', async (old, tx) => {
        const set = {
          userId: caller.userId,
          ...chosen,
          // A new receiver is tried immediately, and its three days of retries start from now.
          ...(url && url.href !== old.url
            ? { url: url.href, failingSince: null, attempts: 0, dueAt: Date.now() }
            : {}),
          ...(typeof paused === 'boolean' ? { ...state, attempts: 0, dueAt: Date.now() } : {}),
        }
        await db.Webhook.update(set, { where: { id }, transaction: tx })
        return { ...old, ...set }
      })
      wakeWebhooks()
      return toView(row)
    },

    /**
     * Rotates the secret of a webhook. For a day, its events are also signed with the previous
     * secret.
     * @throws WEBHOOK_NOT_FOUND
     */
    async rotateSecret(
      caller: Caller,
      workspace: WorkspaceView | null,
      id: string,
    ): Promise<{ webhook: WebhookView; secret: string }> {
      const row = await alter(caller, workspace, id, 'webhook.changed', async (old, tx) => {
        const set = {
          secretNumber: old.secretNumber + 1,
          oldSecretEndsAt: Date.now() + OLD_SECRET_MS,
        }
        await db.Webhook.update(set, { where: { id }, transaction: tx })
        return { ...old, ...set }
      })
      return { webhook: toView(row), secret: secretOf(tokens, id, row.secretNumber) }
    },

    /** @throws WEBHOOK_NOT_FOUND */
    async remove(caller: Caller, workspace: WorkspaceView | null, id: string): Promise<void> {
      await alter(caller, workspace, id, 'webhook.deleted', async (old, tx) => {
        await db.Webhook.destroy({ where: { id }, transaction: tx })
        return old
      })
      wakeWebhooks()
    },

    /**
     * Sends an event without content, even to a paused webhook. @throws WEBHOOK_NOT_FOUND
     */
    async ping(caller: Caller, workspace: WorkspaceView | null, id: string): Promise<WebhookView> {
      const row = await find(caller, workspace, id)
      await send(id, null)
      return toView(row)
    },

    /**
     * Delivers an event again, even to a paused webhook. @throws WEBHOOK_NOT_FOUND,
     * INVALID_INPUT
     */
    async redeliver(
      caller: Caller,
      workspace: WorkspaceView | null,
      id: string,
      eventId: string,
    ): Promise<WebhookView> {
      const row = await find(caller, workspace, id)
      const event = eventId.startsWith('event:')
        ? await eventFeeds.byId(eventId.slice('event:'.length))
        : undefined
      if (event?.logId !== row.logId)
        throw new InvalidInput(
          'event',
          'This webhook has no such event, or it is no longer kept. Use the eventId of one of its deliveries.',
        )
      await send(id, event.seq)
      return toView(row)
    },

    /** The webhooks of the caller, oldest first. */
    ofCaller: async ({ userId }: Caller): Promise<WebhookView[]> =>
      (await webhooksOfUser(db, userId)).map(toView),

    /**
     * The webhooks of some workspaces, by workspace id. Does not authorize: pass only workspaces
     * that the caller may manage.
     */
    async ofWorkspaces(ids: string[]): Promise<Map<string, WebhookView[]>> {
      const rows = (await webhooksOfWorkspaces(db, ids)).map(toView)
      return Map.groupBy(rows, ({ workspaceId }) => workspaceId ?? '')
    },

    knownAmong,

    /**
     * The workspace of a webhook of the caller; null if the webhook belongs to the caller directly.
     * @throws WEBHOOK_NOT_FOUND
     */
    async workspaceOf(caller: Caller, id: string): Promise<string | null> {
      const webhook = (await knownAmong(caller, [id])).get(id)
      if (!webhook) throw webhookNotFound()
      return webhook.workspaceId
    },

    /** The last delivery attempts of some webhooks, latest first. Does not authorize. */
    async deliveries(ids: string[]): Promise<Map<string, DeliveryRow[]>> {
      const all = Map.groupBy(await deliveriesOf(db, ids), ({ webhookId }) => webhookId)
      return new Map(Array.from(all, ([id, rows]) => [id, rows.slice(0, MAX_DELIVERIES)]))
    },
  }
}

/**
 * The details of a webhook for the log of its holder. Contains only the host of the URL, because
 * the rest may be a secret.
 */
export const webhookEvent = (
  kind: EventKind & `webhook.${string}`,
  { id, url }: Pick<WebhookRow, 'id' | 'url'>,
) => ({
  kind,
  subject: id,
  details: { name: new URL(url).host },
})

export const webhookNotFound = () =>
  new AppError(
    'WEBHOOK_NOT_FOUND',
    'There is no such webhook. Use an id from the list of webhooks.',
  )

/** The kinds of events that a webhook receives; null for all. */
export const kindsOf = ({ kinds }: Pick<WebhookRow, 'kinds'>): EventKind[] | null =>
  kinds === '' ? null : (kinds.split(' ') as EventKind[])

function toView({
  seq: _seq,
  leaseUntil: _lease,
  secretNumber: _number,
  ...row
}: WebhookRow): WebhookView {
  const source = row.workspaceId === null && row.logId === row.userId ? 'person' : 'drive'
  return { ...row, kinds: kindsOf(row), source }
}
