import { v7 as newId } from 'uuid'
import type { Db } from '../../db/index.ts'
import { eventKinds } from '../../db/models/event.ts'
import { endsOf } from '../../db/queries/event.ts'
import {
  claimedWebhook,
  claimWebhook,
  type DueWebhook,
  dueWebhooks,
  rightfulWebhook,
  settleWebhook,
  trimDeliveries,
  type WebhookRow,
  watchedLogs,
} from '../../db/queries/webhook.ts'
import type { Log } from '../runtime/log.ts'
import type { Tokens } from '../runtime/tokens.ts'
import type { EventView } from '../services/history/event.ts'
import { type ChangeRunner, system } from '../services/history/event.ts'
import type { EventFeedService } from '../services/history/event-feed.ts'
import { onWire } from '../services/history/event-wire.ts'
import { enqueue } from '../services/job.ts'
import { mailJob } from '../services/notices/mail.ts'
import type { PubSub } from '../services/notices/pub-sub.ts'
import { kindsOf, webhookEvent } from '../services/notices/webhook.ts'
import { webhookSecrets } from '../services/notices/webhook-secret.ts'
import { forWords, silent, type Telemetry } from '../telemetry/telemetry.ts'
import { DAY_MS } from '../values/duration.ts'
import { MAX_DELIVERIES } from '../values/limits.ts'
import type { Outcome, SendWebhook, WebhookMessage } from './webhook-request.ts'
import { backoff } from './worker.ts'

/** Concurrent deliveries per instance. */
const AT_ONCE = 10
/** Events per webhook and turn. */
const TURN = 100
/** The maximum length of a turn, so that a slow receiver does not keep its slot. */
const TURN_MS = 10_000
/** Longer than an attempt and its statements take. */
const LEASE_MS = 60_000
const PATIENCE_MS = 3 * DAY_MS
/** The receiver unsubscribes: Standard Webhooks, "Operational considerations". */
const GONE = 410

export interface WebhookOptions {
  db: Db
  log: Log
  tokens: Tokens
  change: ChangeRunner
  pubSub: PubSub
  eventFeeds: EventFeedService
  send: SendWebhook
  /** Wakes the outbox worker after a mail was queued. */
  wakeWorker: () => void
  pollMs: number
  /** Milliseconds until the next try, by the number of tries. Tests shorten it. */
  retryMs?: ((attempts: number) => number) | undefined
  turnMs?: number | undefined
  telemetry?: Telemetry
}

/**
 * Delivers events of logs to webhooks. Each webhook stores its position in the log, and gets the
 * next event once it has accepted the previous one. Any number of instances may run it, because a
 * claim reserves the webhook for one. See docs/decisions/webhooks.md.
 */
export function createWebhooks(options: WebhookOptions) {
  const {
    db,
    log,
    tokens,
    change,
    pubSub,
    eventFeeds,
    send,
    wakeWorker,
    pollMs,
    retryMs = backoff,
    turnMs = TURN_MS,
    telemetry = silent,
  } = options
  const running = new Map<string, Promise<void>>()
  /** Ids of logs and workspaces with webhooks. Other events wake no delivery. */
  let watched = new Set<string>()
  let isKnown = false
  let looking: Promise<void> | undefined
  let again = false
  let stopped = false
  let timer: NodeJS.Timeout | undefined
  let stopListening = () => {}

  async function look(): Promise<void> {
    while (again && !stopped) {
      again = false
      if (!isKnown) await learn()
      if (watched.size === 0) continue
      for (const due of await dueWebhooks(db, Date.now(), AT_ONCE + running.size))
        if (running.size < AT_ONCE && !running.has(due.id)) begin(due)
    }
  }

  async function learn(): Promise<void> {
    isKnown = true
    try {
      const logs = await watchedLogs(db)
      watched = new Set(logs.flatMap(({ logId, workspaceId }) => [logId, workspaceId ?? logId]))
    } catch (error) {
      isKnown = false
      throw error
    }
  }

  /** Also reloads the list of webhooks, because this or another instance may have changed it. */
  function wakeAnew(): void {
    isKnown = false
    wake()
  }

  /** Checks now, and once more if a check is already running. */
  function wake(): void {
    again = true
    if (stopped || looking) return
    looking = telemetry
      .detached(look)
      .catch(error =>
        log.warn(
          { err: error },
          'could not look for events to send to webhooks; it will be tried again',
        ),
      )
      .finally(() => {
        looking = undefined
        if (again) wake()
      })
  }

  function begin(due: DueWebhook): void {
    const { id } = due
    const work = deliver(due).then(
      () => {
        running.delete(id)
        wake()
      },
      error => {
        // The poll tries again. An immediate retry would loop while the database refuses writes.
        running.delete(id)
        log.warn(
          { err: error, webhook: id },
          'could not deliver to a webhook; it will be tried again',
        )
      },
    )
    running.set(id, work)
  }

  async function deliver(due: DueWebhook): Promise<void> {
    const now = Date.now()
    let claim: DueWebhook = { ...due, leaseUntil: now + LEASE_MS }
    if (!(await claimWebhook(db, due, now, claim.leaseUntil))) return
    const end = now + turnMs
    for (let sent = 0; sent < TURN && !stopped; sent++) {
      const webhook = await claimedWebhook(db, claim)
      if (!webhook) break
      const { event, head } = await nextOf(webhook)
      if (!event) {
        // The failed event was deleted, or its kind is no longer wanted. Later failures start a new
        // period.
        await settleWebhook(db, claim, { seq: head, attempts: 0, failingSince: null })
        break
      }
      const outcome = await attempt(webhook, messageOf(event), webhook.attempts + 1)
      if (outcome.failure !== null) return fail(webhook, outcome)
      const leaseUntil = Math.max(Date.now() + LEASE_MS, claim.leaseUntil + 1)
      const set = { seq: event.seq, attempts: 0, failingSince: null, leaseUntil }
      if (!(await settleWebhook(db, claim, set))) return
      claim = { ...claim, leaseUntil }
      if (Date.now() >= end) break
    }
    await trimDeliveries(db, due.id, MAX_DELIVERIES)
    await settleWebhook(db, claim, { leaseUntil: 0, dueAt: Date.now() })
  }

  /**
   * The next event for a webhook, and the end of its log. Skips events that were purged, or lost by
   * a restore.
   */
  async function nextOf(
    webhook: WebhookRow,
  ): Promise<{ event: EventView | undefined; head: number }> {
    const { logId, seq } = webhook
    const { head, purged } = await endsOf(db, logId)
    const after = Math.min(Math.max(seq, purged), head)
    if (after === head) return { event: undefined, head }
    const { rows } = await eventFeeds.pageAfter(logId, after, {
      limit: 1,
      kinds: kindsOf(webhook) ?? eventKinds,
    })
    return { event: rows[0], head }
  }

  const timers = forWords(deliveryOutcomes, outcome => telemetry.timer('delivery', { outcome }))

  /** Sends a message, and records the outcome. */
  async function attempt(
    webhook: WebhookRow,
    message: WebhookMessage,
    nth: number,
  ): Promise<Outcome> {
    const at = Date.now()
    const to = { url: webhook.url, secrets: webhookSecrets(tokens, webhook) }
    const outcome = await telemetry.span(
      { name: 'webhook delivery', kind: 'client', isRoot: true },
      () => send(to, message),
    )
    timers[wordOf(outcome)](outcome.milliseconds / 1000)
    const of = {
      id: newId(),
      webhookId: webhook.id,
      eventId: message.id,
      kind: message.type,
      at,
      attempt: nth,
    }
    await db.WebhookDelivery.create({ ...of, ...outcome })
    return outcome
  }

  /**
   * Releases the claim until the next attempt. After three days of failures the webhook is
   * disabled, and its owner gets a mail.
   */
  async function fail(webhook: WebhookRow, { status, failure }: Outcome): Promise<void> {
    const now = Date.now()
    const attempts = webhook.attempts + 1
    const failingSince = webhook.failingSince ?? now
    const isOver = status === GONE || now - failingSince >= PATIENCE_MS
    const set = { attempts, failingSince, dueAt: now + retryMs(attempts), leaseUntil: 0 }
    const { id, leaseUntil, url, state } = webhook
    const same = { id, leaseUntil, url, state }
    const isNoted = isOver ? await disable(webhook, same, set) : await settleWebhook(db, same, set)
    // The webhook was changed or paused during the attempt, so the outcome says nothing about its
    // new state.
    if (!isNoted) await settleWebhook(db, { id, leaseUntil }, { leaseUntil: 0 })
    await trimDeliveries(db, id, MAX_DELIVERIES)
    log.info(
      { webhook: id, status, failure, attempts, disabled: isOver && isNoted },
      'a webhook did not accept an event',
    )
  }

  async function disable(
    webhook: WebhookRow,
    same: DueWebhook,
    set: Partial<WebhookRow>,
  ): Promise<boolean> {
    const { userId, workspaceId, url } = webhook
    const { host } = new URL(url)
    const isDone = await change(system, async ({ tx, record }) => {
      if (!(await settleWebhook(db, same, { ...set, state: 'disabled' }, tx))) return false
      const log = workspaceId === null ? userId : { workspace: workspaceId }
      const user = await db.User.findByPk(userId, {
        attributes: ['verifiedEmail'],
        raw: true,
        transaction: tx,
      })
      const since = new Date(set.failingSince ?? Date.now()).toISOString()
      const mail = { template: 'webhook-disabled', values: { host, since } } as const
      if (user?.verifiedEmail) await enqueue(db, mailJob, { ...mail, to: user.verifiedEmail }, tx)
      record(log, webhookEvent('webhook.disabled', webhook))
      return true
    })
    wakeWorker()
    return isDone
  }

  return {
    wake: wakeAnew,

    /**
     * Runs an outbox job: sends one event or a ping once, and records the outcome. Sends nothing
     * while the webhook's owner may not read the log.
     */
    async sendOne(
      { webhookId, seq }: { webhookId: string; seq: number | null },
      job: { id: string },
    ): Promise<void> {
      const webhook = await rightfulWebhook(db, webhookId)
      if (!webhook) return
      const event = seq === null ? undefined : await eventFeeds.byId(`${webhook.logId}:${seq}`)
      if (seq !== null && !event) return
      const ping = {
        id: `ping:${job.id}`,
        type: 'ping',
        timestamp: new Date().toISOString(),
        data: {},
      }
      await attempt(webhook, event ? messageOf(event) : ping, 1)
      await trimDeliveries(db, webhookId, MAX_DELIVERIES)
    },

    start(): void {
      stopListening = pubSub.hear((topic, to) => {
        // Events about an e-mail address may be in the log of its owner.
        if (topic === 'logged' ? watched.has(to) : topic !== 'driveChanged' && watched.size > 0)
          wake()
      })
      timer = setInterval(wakeAnew, pollMs)
      timer.unref()
      wakeAnew()
    },

    /** Resolves when nothing is due. For tests. */
    async idle(): Promise<void> {
      wakeAnew()
      while (looking || running.size > 0) await Promise.all([looking, ...running.values()])
    },

    /** Stops deliveries, and waits for the current attempts. */
    async stop(): Promise<void> {
      stopped = true
      stopListening()
      clearInterval(timer)
      await looking
      await Promise.all(running.values())
    },
  }
}

/** Maps outcomes to a few words, because connections have many error codes. */
const deliveryOutcomes = [
  'delivered',
  'status',
  'redirect',
  'timeout',
  'forbidden_address',
  'connection',
] as const

function wordOf({ failure }: Outcome): (typeof deliveryOutcomes)[number] {
  if (failure === null) return 'delivered'
  return deliveryOutcomes.find(word => word === failure) ?? 'connection'
}

function messageOf(event: EventView): WebhookMessage {
  const data = onWire(event)
  return { id: data.id, type: data.kind, timestamp: data.happened_at, data }
}
