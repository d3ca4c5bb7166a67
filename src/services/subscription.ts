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

/** Who waits for events. */
export interface Subscriber {
  caller: Caller
  /** Looks the credential up again: null when it lets nobody in any more. */
  callerNow(): Promise<Caller | null>
  /** Fires when the client goes away. */
  signal: AbortSignal
  log: Log
}

/** What a storage area holds, and what it may. Null means unlimited. */
export type BucketUsage = Usage & Pick<BucketLimits, 'maxTotalStorageBytes' | 'maxFiles'>

/** Milliseconds between two events of a subscription; what happens meanwhile is told together. */
const PAUSE = 300

interface Deps {
  events: EventService
  shares: ShareService
  invites: InviteService
  users: UserService
  workspaces: WorkspaceService
  maxPerUser: number
  /** Milliseconds between two looks at the credential of a subscription that has nothing to tell. */
  checkMs: number
}

/** Open subscriptions of this instance. Each ends with the right that it was opened by, and shows what that right may see at the moment. */
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
        `You have ${used} subscriptions open, which is all you may. Close one first.`,
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
   * Yields what `load` finds for the ids that are told. The right is looked up before anything is shown, and now and then without.
   * @param admit whether a caller may still see this, and as whom or where
   * @throws UNAUTHENTICATED when the credential ends, whatever `admit` throws, UNAVAILABLE for who reads too slowly
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
          // Whoever reads slowly may have lost the right since.
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
    /** Shares that are made out to the caller, or renewed, from now on. */
    sharesReceived: (subscriber: Subscriber): AsyncGenerator<ShareView, void> =>
      follow(subscriber, ['shareReceived', addressOf(subscriber)], oneself, shares.receivedAmong),

    /** Invites that are made out to the caller, or renewed, from now on. */
    invitesReceived: (subscriber: Subscriber): AsyncGenerator<MyInvite, void> =>
      follow(subscriber, ['inviteReceived', addressOf(subscriber)], oneself, invites.mineAmong),

    /** What the storage area of the caller holds, whenever that changes; a few times a second at most. */
    bucketChanges: (subscriber: Subscriber): AsyncGenerator<BucketUsage, void> =>
      follow(subscriber, ['bucketChanged', subscriber.caller.bucket.bucketId], oneself, async caller => [
        { ...(await users.usage(caller.bucket)), ...caller.limits },
      ]),

    /** The same of a workspace, for as long as the caller may see it. @throws FORBIDDEN, KEY_OUT_OF_BOUNDS */
    async workspaceChanges(subscriber: Subscriber, workspaceId: string): Promise<AsyncGenerator<BucketUsage, void>> {
      const enter = (caller: Caller) => workspaces.enter(caller, workspaceId, 'see')
      const { tree } = await enter(subscriber.caller)
      return follow(subscriber, ['bucketChanged', tree.bucketId], enter, async room => [
        { ...(await users.usage(room.tree)), ...room.limits },
      ])
    },

    /** Ends all of them, and those that are still opened. */
    stop(): void {
      stopping = true
      for (const { close } of mailboxes) close()
    },
  }
}

export type SubscriptionService = ReturnType<typeof subscriptionService>

/** Nobody writes to somebody without a verified address. */
const addressOf = ({ caller }: Subscriber): string => caller.verifiedEmail ?? ''

async function stillIn({ callerNow }: Subscriber): Promise<Caller> {
  const caller = await callerNow()
  if (!caller) throw new Unauthenticated('You are signed out, or your API key has ended. Sign in again.')
  return caller
}
