import type { Caller } from '../auth/caller.ts'
import { AppError, toAppError, Unauthenticated } from '../errors.ts'
import type { Log } from '../log.ts'
import type { EventKind, EventService } from './event.ts'
import type { InviteService, MyInvite } from './invite.ts'
import { type Mailbox, openMailbox } from './mailbox.ts'
import type { BucketLimits } from './quota.ts'
import type { ShareService, ShareView } from './share.ts'
import type { Usage, UserService } from './user.ts'
import type { WorkspaceService } from './workspace.ts'

/** A client that subscribes to events. */
export interface Subscriber {
  caller: Caller
  /** Checks the credential again: null when it has ended. */
  callerNow(): Promise<Caller | null>
  /** Fires when the client disconnects. */
  signal: AbortSignal
  log: Log
}

/** The usage and limits of a storage area. Null means unlimited. */
export type BucketUsage = Usage & Pick<BucketLimits, 'maxTotalStorageBytes' | 'maxFiles'>

/** Minimum milliseconds between two events of a subscription; changes in between are combined. */
const PAUSE = 300

interface Deps {
  events: EventService
  shares: ShareService
  invites: InviteService
  users: UserService
  workspaces: WorkspaceService
  maxPerUser: number
  /** Milliseconds between two checks of the credential of an idle subscription. */
  checkMs: number
}

/** The open subscriptions of this instance. Each ends with the right that opened it, and is authorized again before each event. */
export function subscriptionService({ events, shares, invites, users, workspaces, maxPerUser, checkMs }: Deps) {
  const open = new Map<string, number>()
  const mailboxes = new Set<Mailbox>()
  let stopping = false

  /** @throws QUOTA_EXCEEDED */
  function takePlace({ userId }: Caller): () => void {
    const used = open.get(userId) ?? 0
    if (used >= maxPerUser)
      throw new AppError(
        'QUOTA_EXCEEDED',
        `You have ${used} subscriptions open, which is the limit. Close one first.`,
        {
          limit: 'max_subscriptions',
          max: maxPerUser,
          used,
        },
      )
    open.set(userId, used + 1)
    return () => {
      const left = (open.get(userId) ?? 1) - 1
      if (left === 0) open.delete(userId)
      else open.set(userId, left)
    }
  }

  /**
   * Yields what `load` finds for the published ids. The right is checked before each event, and periodically while idle.
   * @param admit authorizes the caller again, and returns the right to load with
   * @throws UNAUTHENTICATED when the credential ends, what `admit` throws, UNAVAILABLE when the client reads too slowly
   */
  async function* follow<Right, T>(
    subscriber: Subscriber,
    [kind, to]: [EventKind, string],
    admit: (caller: Caller) => Right | Promise<Right>,
    load: (right: Right, ids: string[]) => Promise<T[]>,
  ): AsyncGenerator<T, void> {
    const leave = takePlace(subscriber.caller)
    const mailbox = openMailbox()
    const deafen = events.listen(kind, to, mailbox.post)
    mailboxes.add(mailbox)
    subscriber.signal.addEventListener('abort', mailbox.close)
    if (stopping || subscriber.signal.aborted) mailbox.close()
    let caller = subscriber.caller
    try {
      for (;;) {
        await mailbox.wait(Math.min(checkMs, (caller.expiresAt ?? Number.POSITIVE_INFINITY) - Date.now()))
        if (mailbox.closed) return
        caller = await stillIn(subscriber)
        const right = await admit(caller)
        const ids = mailbox.take()
        if (ids.length === 0) continue
        let checked = Date.now()
        for (const found of await load(right, ids)) {
          // A slow reader may have lost the right since.
          if (Date.now() - checked > PAUSE) await admit(await stillIn(subscriber))
          checked = Date.now()
          yield found
        }
        await mailbox.rest(PAUSE)
      }
    } catch (error) {
      const { unexpected } = toAppError(error)
      if (unexpected) subscriber.log.error({ err: error }, 'a subscription failed')
      throw error
    } finally {
      subscriber.signal.removeEventListener('abort', mailbox.close)
      mailboxes.delete(mailbox)
      deafen()
      leave()
    }
  }

  const oneself = (caller: Caller): Caller => caller

  return {
    /** Shares with the caller that are created or renewed from now on. */
    sharesReceived: (subscriber: Subscriber): AsyncGenerator<ShareView, void> =>
      follow(subscriber, ['shareReceived', addressOf(subscriber)], oneself, shares.receivedAmong),

    /** Invites of the caller that are created or renewed from now on. */
    invitesReceived: (subscriber: Subscriber): AsyncGenerator<MyInvite, void> =>
      follow(subscriber, ['inviteReceived', addressOf(subscriber)], oneself, invites.mineAmong),

    /** The usage of the caller's storage whenever it changes, a few times a second at most. */
    bucketChanges: (subscriber: Subscriber): AsyncGenerator<BucketUsage, void> =>
      follow(subscriber, ['bucketChanged', subscriber.caller.bucket.bucketId], oneself, async caller => [
        { ...(await users.usage(caller.bucket)), ...caller.limits },
      ]),

    /** The usage of a workspace, for as long as the caller may see it. @throws FORBIDDEN, KEY_OUT_OF_BOUNDS */
    async workspaceChanges(subscriber: Subscriber, workspaceId: string): Promise<AsyncGenerator<BucketUsage, void>> {
      const enter = (caller: Caller) => workspaces.enter(caller, workspaceId, 'see')
      const { tree } = await enter(subscriber.caller)
      return follow(subscriber, ['bucketChanged', tree.bucketId], enter, async room => [
        { ...(await users.usage(room.tree)), ...room.limits },
      ])
    },

    /** Ends all subscriptions, including those opened later. */
    stop(): void {
      stopping = true
      for (const { close } of mailboxes) close()
    },
  }
}

export type SubscriptionService = ReturnType<typeof subscriptionService>

/** A topic that receives no events, for callers without a verified e-mail address. */
const addressOf = ({ caller }: Subscriber): string => caller.verifiedEmail ?? ''

async function stillIn({ callerNow }: Subscriber): Promise<Caller> {
  const caller = await callerNow()
  if (!caller) throw new Unauthenticated('You are signed out, or your API key has ended. Sign in again.')
  return caller
}
