import { validate as isUuid } from 'uuid'
import type { Tx } from '../../../db/index.ts'
import { SERVICE_LOG } from '../../../db/models/event.ts'
import {
  type AccountCounts,
  type AccountFilter,
  type AccountIdentity,
  type AccountRow,
  type AccountWorkspace,
  accountsByIds,
  accountsClaiming,
  accountsMatching,
  accountWithAddress,
  countAccountsMatching,
  countsOfAccounts,
  identitiesOfAccounts,
  largestAccounts,
  largestWorkspaces,
  type UsageTotals,
  usagesOfAccounts,
  usageTotals,
  type WorkspaceUsage,
  workspacesOfAccounts,
} from '../../../db/queries/account.ts'
import { deleteInvitesBy } from '../../../db/queries/invite.ts'
import { type MailQueue, readMailQueue, requeueMails } from '../../../db/queries/job.ts'
import { type Page, pageOf } from '../../../db/queries/page.ts'
import type { Caller } from '../../access/caller.ts'
import { AppError, InvalidInput } from '../../runtime/errors.ts'
import { keyById } from '../../values/key-by-id.ts'
import { MAX_EMAIL } from '../../values/limits.ts'
import type { Core } from '../core.ts'
import { type Change, changeRunner, operatorOf } from '../history/event.ts'
import { rowsById } from '../rows-by-id.ts'
import { type LimitChange, readLimits } from './limit.ts'
import { assignLimits, assignPlan } from './plan-assignment.ts'
import { canonicalEmail } from './profile.ts'
import type { PlanView } from './user.ts'

export interface AccountDetail extends AccountRow, AccountCounts {
  identities: AccountIdentity[]
  workspaces: AccountWorkspace[]
}

export interface Usage {
  users: AccountRow[]
  workspaces: WorkspaceUsage[]
  /** The usage of deleted accounts whose data is kept, and the total. */
  kept: UsageTotals
  total: UsageTotals
}

/** The changes of an account. */
export interface AccountChange {
  /**
   * Null to let the service choose again: the default plan now, and the plan of a claim at
   * sign-ins.
   */
  plan?: string | null
  limits?: LimitChange[]
  status?: AccountRow['status'] | null
}

/** Thrown when a command of the operator cannot be carried out; the message gives the reason. */
export class Refused extends AppError {
  constructor(message: string) {
    super('USER_NOT_FOUND', message)
  }
}

/**
 * Administration of accounts. Changes take effect immediately, because the service reads the
 * account at every request.
 */
export function operatorService({
  db,
  change = changeRunner({ db }),
  wake = () => {},
  publicUrl = () => '',
}: Core<'db'> & Partial<Core<'change' | 'wake' | 'publicUrl'>>) {
  /**
   * Finds an account by its id or e-mail address: the account with the verified address, else the
   * only one with the unverified address.
   * @throws Refused
   */
  async function find(named: string, tx?: Tx): Promise<AccountRow> {
    const email = canonicalEmail(named.trim())
    const [sure] = isUuid(named)
      ? await accountsByIds(db, [named], tx)
      : [await accountWithAddress(db, email, tx)]
    if (sure) return sure
    const claims = await accountsClaiming(db, email, named.trim(), tx)
    const [only, ...more] = claims
    if (!only) throw new Refused(`There is no user "${named}".`)
    if (more.length > 0)
      throw new Refused(
        `${claims.length} accounts use "${named}", and none has verified it. Use the id of one of them: ${claims.map(c => c.id).join(', ')}.`,
      )
    return only
  }

  /**
   * Sets the status. Any change deletes the sessions, so that restoring an account revives none.
   * Suspending also deletes the invites that the person sent.
   */
  async function setStatus(
    account: AccountRow,
    status: AccountRow['status'],
    { tx, record }: Change,
  ): Promise<void> {
    await db.User.update({ status }, { where: { id: account.id }, transaction: tx })
    if (account.status !== status) {
      await db.Session.destroy({ where: { userId: account.id }, transaction: tx })
      const kind = status === 'suspended' ? 'account.suspended' : 'account.restored'
      record(account.id, { kind, subject: account.id })
    }
    if (status === 'suspended') await deleteInvitesBy(db, account.id, null, tx)
  }

  /**
   * Changes an account: everything or nothing.
   * @param by null for the command line of the service
   * @throws Refused, INVALID_INPUT for an invalid limit, or a plan that does not exist or is
   * retired
   */
  async function update(
    named: string,
    { plan, limits = [], status }: AccountChange,
    by: Caller | null = null,
  ): Promise<AccountRow> {
    const read = readLimits(limits, 'user')
    const { id, over } = await change(operatorOf(by), async made => {
      const { tx, record } = made
      const account = await find(named, tx)
      const { id } = account
      let isOver = false
      if (plan !== undefined) {
        const by = plan === null ? 'default' : 'operator'
        const assigned = await assignPlan(db, { userId: id, plan, by, link: publicUrl() }, tx)
        record(id, { kind: 'plan.changed', subject: id, details: { plan: assigned.plan } })
        isOver = assigned.over
      }
      if (await assignLimits(db, { holder: 'user', id, limits: read, link: publicUrl() }, tx))
        isOver = true
      if (limits.length > 0)
        record(id, { kind: 'limits.changed', subject: id, details: { limits } })
      if (status) await setStatus(account, status, made)
      return { id, over: isOver }
    })
    if (over) wake()
    return find(id)
  }

  return {
    /** The accounts that match a filter, oldest first, and their total count. */
    async users(
      filter: AccountFilter,
      limit: number,
    ): Promise<{ users: AccountRow[]; total: number }> {
      return {
        users: await accountsMatching(db, filter, limit),
        total: await countAccountsMatching(db, filter),
      }
    },

    /**
     * A page of the accounts that match a filter, oldest first.
     * @throws INVALID_INPUT
     */
    async page(
      filter: AccountFilter,
      limit: number,
      after: [id: string] | null,
    ): Promise<Page<AccountRow>> {
      const { search } = filter
      if (search.length > MAX_EMAIL)
        throw new InvalidInput('search', `A search text has up to ${MAX_EMAIL} characters.`)
      return pageOf(await accountsMatching(db, filter, limit + 1, after?.[0]), limit)
    },

    /**
     * Validates the id of an account, for operations that accept no e-mail address. @throws Refused
     */
    readId(id: string): string {
      if (!isUuid(id))
        throw new Refused('There is no such user. Use an id from the list of accounts.')
      return id.toLowerCase()
    },

    /** @throws Refused */
    async user(named: string): Promise<AccountDetail> {
      const account = await find(named)
      const ids = [account.id]
      const [identities, workspaces, counts] = await Promise.all([
        identitiesOfAccounts(db, ids),
        workspacesOfAccounts(db, ids),
        countsOfAccounts(db, ids),
      ])
      return {
        ...account,
        identities: identities.get(account.id) ?? [],
        workspaces: workspaces.get(account.id) ?? [],
        ...(counts.get(account.id) ?? { sessions: 0, apiKeys: 0, shares: 0 }),
      }
    },

    /** Details of some accounts by id, in one statement each. None of it authorizes. */
    details: {
      accounts: (ids: string[]): Promise<Map<string, AccountRow>> =>
        rowsById(ids, some => accountsByIds(db, some)),
      identities: (ids: string[]) => identitiesOfAccounts(db, ids),
      workspaces: (ids: string[]) => workspacesOfAccounts(db, ids),
      counts: (ids: string[]) => countsOfAccounts(db, ids),
      usages: (ids: string[]) => usagesOfAccounts(db, ids),
    },

    /** Plans by their ids. */
    async plansOf(ids: string[]): Promise<Map<string, PlanView>> {
      const found = await db.Plan.findAll({ where: { id: ids }, raw: true })
      return keyById(found)
    },

    /**
     * Changes the plan of an account. Stored files are kept, even beyond the new limits.
     * @param plan null to let the service choose again: the default plan now, and the plan of a
     * claim at sign-ins
     * @throws Refused, INVALID_INPUT for a plan that does not exist or is retired
     */
    setPlan: (named: string, plan: string | null) => update(named, { plan }),

    update,

    /**
     * Suspends an account: its sessions end, and its keys and links do not work until it is
     * restored.
     * @throws Refused
     */
    suspend: (named: string) => update(named, { status: 'suspended' }),
    /** @throws Refused */
    restore: (named: string) => update(named, { status: 'active' }),

    /** The usage of accounts and workspaces, largest first. */
    async usage(limit: number): Promise<Usage> {
      const [users, workspaces, kept, total] = await Promise.all([
        largestAccounts(db, limit),
        largestWorkspaces(db, limit),
        usageTotals(db, 'kept'),
        usageTotals(db, 'all'),
      ])
      return { users, workspaces, kept, total }
    },

    /**
     * Queues abandoned mails again, for example after a repair of the mail server.
     * @param by null for the command line of the service
     * @returns their number
     */
    async retryMails(by: Caller | null = null): Promise<number> {
      const mails = await change(operatorOf(by), async ({ tx, record }) => {
        const count = await requeueMails(db, Date.now(), tx)
        record(SERVICE_LOG, { kind: 'mails.retried', subject: null, details: { count } })
        return count
      })
      if (mails > 0) wake()
      return mails
    },

    mailQueue: (): Promise<MailQueue> => readMailQueue(db),
  }
}

export type OperatorService = ReturnType<typeof operatorService>
