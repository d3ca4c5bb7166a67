import type { EventKind } from '../../../db/models/event.ts'
import type { Usage } from '../../../db/queries/bucket.ts'
import type { Caller } from '../../access/caller.ts'
import type { Config } from '../../config/config.ts'
import type { Release } from '../../coordination/coordination.ts'
import { AppError, toAppError, Unauthenticated } from '../../runtime/errors.ts'
import type { Log } from '../../runtime/log.ts'
import type { BucketLimits, Tree } from '../../values/tree.ts'
import type { UserService } from '../accounts/user.ts'
import type { Core } from '../core.ts'
import type { EventView } from '../history/event.ts'
import type { EventFeedService } from '../history/event-feed.ts'
import type { ShareService } from '../sharing/share.ts'
import type { ShareView } from '../sharing/share-list.ts'
import type { InviteService, MyInvite } from '../workspaces/invite.ts'
import { type Mailbox, openMailbox } from './mailbox.ts'
import type { Topic } from './pub-sub.ts'

/** A client that subscribes to events. */
export interface Subscriber {
  caller: Caller
  /** Checks the credential again. Null if it is no longer valid. */
  callerNow(): Promise<Caller | null>
  /** Fires when the client disconnects. */
  signal: AbortSignal
  log: Log
}

/** The usage and limits of a storage area. Null means unlimited. */
export type BucketUsage = Usage & Pick<BucketLimits, 'maxTotalStorageBytes' | 'maxFiles'>

/**
 * The minimum time between two events of a subscription, in milliseconds. Changes in between are
 * combined.
 */
const PAUSE = 300

/**
 * The interval at which a log is read without a published event, in milliseconds. An instance
 * without Redis does not receive the events of others.
 */
const POLL = 2000

/** The number of events of a log that are read at once. */
const EVENTS = 100

interface Deps
  extends Core<'coordination' | 'pubSub' | 'telemetry'>,
    Pick<Config, 'subscriptionsPerUser' | 'subscriptionCheckSeconds'> {
  shares: ShareService
  invites: InviteService
  users: UserService
  eventFeeds: EventFeedService
}

/**
 * The open subscriptions of this process. A subscription is authorized again before each event, and
 * ends when its caller loses the right to it.
 */
export function subscriptionService({
  coordination,
  pubSub,
  telemetry,
  shares,
  invites,
  users,
  eventFeeds,
  ...config
}: Deps) {
  const { subscriptionsPerUser: maxPerUser } = config
  const checkMs = config.subscriptionCheckSeconds * 1000
  const mailboxes = new Set<Mailbox>()
  let stopping = false
  telemetry.read(() => ({ subscriptions: mailboxes.size }))

  /** @throws QUOTA_EXCEEDED */
  async function takePlace({ userId }: Caller): Promise<Release> {
    const leave = await coordination.hold(1, [[`subscriptions of ${userId}`, maxPerUser]])
    if (leave) return leave
    throw new AppError(
      'QUOTA_EXCEEDED',
      `You have ${maxPerUser} subscriptions open, which is the limit. Close one first.`,
      { limit: 'max_subscriptions', max: maxPerUser, used: maxPerUser },
    )
  }

  /**
   * Yields the results of `load` for the published ids. Checks the right before each event, and
   * periodically while idle.
   * @param admit authorizes the caller again, and returns the right to load with
   * @throws UNAUTHENTICATED when the credential ends, the errors of `admit`, UNAVAILABLE when the
   * client reads too slowly
   */
  async function* follow<Right, T>(
    subscriber: Subscriber,
    topic: [Topic, string],
    admit: (caller: Caller) => Right | Promise<Right>,
    load: (right: Right, ids: string[]) => Promise<T[]>,
  ): AsyncGenerator<T, void> {
    let caller = subscriber.caller
    yield* listening(subscriber, [topic], async function* (mailbox) {
      for (;;) {
        await mailbox.wait(
          Math.min(checkMs, (caller.expiresAt ?? Number.POSITIVE_INFINITY) - Date.now()),
        )
        if (mailbox.closed) return
        caller = await stillIn(subscriber)
        const right = await admit(caller)
        const ids = mailbox.take()
        if (ids.length === 0) continue
        let checked = Date.now()
        for (const found of await load(right, ids)) {
          // While a slow client reads, the caller may lose the right.
          if (Date.now() - checked > PAUSE) await admit(await stillIn(subscriber))
          checked = Date.now()
          yield found
        }
        await mailbox.rest(PAUSE)
      }
    })
  }

  /**
   * Yields the events of a log after a cursor, or from now on, each once and in order, for as long
   * as the right lasts.
   * @param admit authorizes the caller again, and returns the kinds of events that they may see
   * @throws as follow, CURSOR_EXPIRED, INVALID_INPUT
   */
  async function* followLog(
    subscriber: Subscriber,
    [logId, ...topics]: [logId: string, ...topics: [Topic, string][]],
    cursor: string | null | undefined,
    admit: (caller: Caller) => Promise<readonly EventKind[]>,
  ): AsyncGenerator<EventView, void> {
    let after = cursor ? eventFeeds.readCursor(logId, cursor) : await eventFeeds.headOf(logId)
    yield* listening(subscriber, [['logged', logId], ...topics], async function* (mailbox) {
      let checked = 0
      let kinds: readonly EventKind[] = []
      const check = async () => {
        kinds = await admit(await stillIn(subscriber))
        checked = Date.now()
      }
      for (;;) {
        mailbox.take()
        const head = await eventFeeds.headOf(logId)
        if (head !== after || checked === 0) {
          await check()
          const { rows, more } = await eventFeeds.pageAfter(logId, after, { limit: EVENTS, kinds })
          for (const event of rows) {
            if (Date.now() - checked > PAUSE) await check()
            if (mailbox.closed) return
            if (kinds.includes(event.kind)) yield event
            after = event.seq
          }
          // Skips later events, because this caller may not see them.
          if (!more) after = Math.max(after, head)
          if (more) continue
        } else if (Date.now() - checked > checkMs) await check()
        const left = (subscriber.caller.expiresAt ?? Number.POSITIVE_INFINITY) - Date.now()
        await mailbox.wait(Math.min(POLL, checkMs, left))
        if (mailbox.closed) return
        if (left <= 0) await check()
      }
    })
  }

  /**
   * Counts a subscription towards the limit of its caller, and runs it with a mailbox of its topic.
   */
  async function* listening<T>(
    subscriber: Subscriber,
    topics: [Topic, string][],
    run: (mailbox: Mailbox) => AsyncGenerator<T, void>,
  ): AsyncGenerator<T, void> {
    const leave = await takePlace(subscriber.caller)
    const mailbox = openMailbox()
    const stopListening = topics.map(([topic, to]) => pubSub.listen(topic, to, mailbox.post))
    mailboxes.add(mailbox)
    subscriber.signal.addEventListener('abort', mailbox.close)
    if (stopping || subscriber.signal.aborted) mailbox.close()
    try {
      yield* run(mailbox)
    } catch (error) {
      const { unexpected } = toAppError(error)
      if (unexpected) subscriber.log.error({ err: error }, 'a subscription failed')
      throw error
    } finally {
      subscriber.signal.removeEventListener('abort', mailbox.close)
      mailboxes.delete(mailbox)
      for (const stop of stopListening) stop()
      leave()
    }
  }

  const oneself = (caller: Caller): Caller => caller

  return {
    /** Yields shares with the caller that are created or renewed from now on. */
    sharesReceived: (subscriber: Subscriber): AsyncGenerator<ShareView, void> =>
      follow(subscriber, ['shareReceived', addressOf(subscriber)], oneself, shares.receivedAmong),

    /** Yields invites of the caller that are created or renewed from now on. */
    invitesReceived: (subscriber: Subscriber): AsyncGenerator<MyInvite, void> =>
      follow(subscriber, ['inviteReceived', addressOf(subscriber)], oneself, invites.mineAmong),

    /**
     * Yields the usage of a storage area whenever it changes, at most a few times a second.
     * @param open authorizes the caller again, and returns the storage area
     */
    bucketChanges: (
      subscriber: Subscriber,
      bucketId: string,
      open: (caller: Caller) => Promise<{ tree: Tree; limits: BucketLimits }>,
    ): AsyncGenerator<BucketUsage, void> =>
      follow(subscriber, ['driveChanged', bucketId], open, async ({ tree, limits }) => [
        { ...(await users.usage(tree)), ...limits },
      ]),

    /** The events of the caller's drive, or of a workspace's drive: see followLog. */
    driveEvents: (
      subscriber: Subscriber,
      { id, workspace }: { id: string; workspace: { id: string } | null },
      cursor: string | null | undefined,
      admit: (caller: Caller) => Promise<readonly EventKind[]>,
    ) => followLog(subscriber, workspace ? [id, ['logged', workspace.id]] : [id], cursor, admit),

    /** The events of the caller: see followLog. */
    callerEvents(
      subscriber: Subscriber,
      cursor: string | null | undefined,
      kinds: readonly EventKind[],
    ) {
      const address = addressOf(subscriber)
      const topics: [Topic, string][] = [
        ['shareReceived', address],
        ['inviteReceived', address],
      ]
      return followLog(subscriber, [subscriber.caller.userId, ...topics], cursor, async () => kinds)
    },

    /** Ends all subscriptions, including those opened later. */
    stop(): void {
      stopping = true
      for (const { close } of mailboxes) close()
    },
  }
}

/** A topic that receives no events, for callers without a verified e-mail address. */
const addressOf = ({ caller }: Subscriber): string => caller.verifiedEmail ?? ''

async function stillIn({ callerNow }: Subscriber): Promise<Caller> {
  const caller = await callerNow()
  if (!caller)
    throw new Unauthenticated(
      'You are signed out, or your API key has expired or was revoked. Sign in again.',
    )
  return caller
}
