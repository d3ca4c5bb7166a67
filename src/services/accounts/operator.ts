import { validate as isUuid } from 'uuid'
import type { Tx } from '../../../db/index.ts'
import {
  type AccountCounts,
  type AccountIdentity,
  type AccountRow,
  type AccountWorkspace,
  accountsByIds,
  accountsClaiming,
  accountsMatching,
  accountsPerPlan,
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
import { AppError, type ErrorDetails, InvalidInput } from '../../runtime/errors.ts'
import { excerpt } from '../../values/excerpt.ts'
import { keyById } from '../../values/key-by-id.ts'
import { MAX_EMAIL } from '../../values/limits.ts'
import type { Core } from '../core.ts'
import { changeRunner, operator } from '../history/event.ts'
import { rowsById } from '../rows-by-id.ts'
import { canonicalEmail } from './profile.ts'
import type { PlanView } from './user.ts'

export interface AccountDetail extends AccountRow, AccountCounts {
  identities: AccountIdentity[]
  workspaces: AccountWorkspace[]
}

export interface Usage {
  users: AccountRow[]
  workspaces: WorkspaceUsage[]
  /** Usage by the kept data of deleted accounts, and in total. */
  kept: UsageTotals
  total: UsageTotals
}

/** Thrown when a command of the operator cannot be carried out; the message gives the reason. */
export class Refused extends AppError {
  constructor(
    message: string,
    code: 'USER_NOT_FOUND' | 'INVALID_INPUT' = 'USER_NOT_FOUND',
    details: ErrorDetails = {},
  ) {
    super(code, message, details)
  }
}

/** Administration of accounts. Changes take effect immediately, because the service reads the account at every request. */
export function operatorService({
  db,
  change = changeRunner({ db }),
  wake = () => {},
}: Core<'db'> & Partial<Core<'change' | 'wake'>>) {
  /**
   * Finds an account by its id or e-mail address: the account with the verified address, else the only one with the unverified address.
   * @throws Refused
   */
  async function find(named: string, tx?: Tx): Promise<AccountRow> {
    const email = canonicalEmail(named.trim())
    const [sure] = isUuid(named) ? await accountsByIds(db, [named], tx) : [await accountWithAddress(db, email, tx)]
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

  /** Sets the status. Any change deletes the sessions, so that restoring an account revives none; suspending also deletes the invites that it sent. */
  async function setStatus(named: string, status: AccountRow['status']): Promise<AccountRow> {
    return change(operator, async ({ tx, record }) => {
      const account = await find(named, tx)
      await db.User.update({ status }, { where: { id: account.id }, transaction: tx })
      if (account.status !== status) {
        await db.Session.destroy({ where: { userId: account.id }, transaction: tx })
        const kind = status === 'suspended' ? 'account.suspended' : 'account.restored'
        record(account.id, { kind, subject: account.id })
      }
      if (status === 'suspended') await deleteInvitesBy(db, account.id, null, tx)
      return { ...account, status }
    })
  }

  const plans = () => db.Plan.findAll({ raw: true, order: ['maxTotalStorageBytes', 'id'] })

  return {
    /** The accounts whose e-mail address or name contains a text, oldest first, and their total count. */
    async users(search: string, limit: number): Promise<{ users: AccountRow[]; total: number }> {
      return { users: await accountsMatching(db, search, limit), total: await countAccountsMatching(db, search) }
    },

    /** A page of the accounts whose e-mail address or name contains a text, oldest first. @throws INVALID_INPUT */
    async page(search: string, limit: number, after: [id: string] | null): Promise<Page<AccountRow>> {
      if (search.length > MAX_EMAIL)
        throw new InvalidInput('search', `A search text has up to ${MAX_EMAIL} characters.`)
      return pageOf(await accountsMatching(db, search, limit + 1, after?.[0]), limit)
    },

    /** Validates the id of an account, for operations that accept no e-mail address. @throws Refused */
    readId(id: string): string {
      if (!isUuid(id)) throw new Refused('There is no such user. Use an id from the list of accounts.')
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

    /** What there is to some accounts, by the id of the account: one statement for all. None of it authorizes. */
    details: {
      accounts: (ids: string[]): Promise<Map<string, AccountRow>> => rowsById(ids, some => accountsByIds(db, some)),
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

    /** Changes the plan of an account. Stored files are kept, even beyond the new limits. @throws Refused */
    async setPlan(named: string, plan: string): Promise<AccountRow> {
      const known = await plans()
      const wanted = known.find(p => p.id === plan)
      if (!wanted)
        throw new Refused(
          `There is no plan "${excerpt(plan)}". The plans are: ${known.map(p => p.id).join(', ')}.`,
          'INVALID_INPUT',
          { field: 'plan_id' },
        )
      const account = await find(named)
      await change(operator, async ({ tx, record }) => {
        await db.User.update({ planId: plan }, { where: { id: account.id }, transaction: tx })
        record(account.id, { kind: 'plan.changed', subject: account.id, details: { plan } })
      })
      return { ...account, plan, maxBytes: wanted.maxTotalStorageBytes }
    },

    /** Ends the sessions of an account; its keys and links do not work until it is restored. @throws Refused */
    suspend: (named: string) => setStatus(named, 'suspended'),
    /** @throws Refused */
    restore: (named: string) => setStatus(named, 'active'),

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

    /** All plans with their limits and number of accounts. */
    async plans(): Promise<(PlanView & { users: number })[]> {
      const users = await accountsPerPlan(db)
      return (await plans()).map(plan => ({ ...plan, users: users.get(plan.id) ?? 0 }))
    },

    /** Queues the given-up mails again, for example after a repair of the mail server. @returns their number */
    async retryMails(): Promise<number> {
      const mails = await requeueMails(db, Date.now())
      if (mails > 0) wake()
      return mails
    },

    mailQueue: (): Promise<MailQueue> => readMailQueue(db),
  }
}

export type OperatorService = ReturnType<typeof operatorService>
