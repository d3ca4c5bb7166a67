import { validate as isUuid } from 'uuid'
import type { Db, Tx } from '../../db/index.ts'
import { AppError, type ErrorDetails, InvalidInput } from '../errors.ts'
import { GIVEN_UP } from './outbox.ts'
import { canonicalEmail } from './profile.ts'
import type { Page } from './range.ts'
import { endInvitesOf } from './right.ts'
import type { PlanView } from './user.ts'

/** An account as the operator sees it. Bytes, and milliseconds since 1970. */
export interface AccountRow {
  id: string
  email: string
  /** Whether a provider has verified the e-mail address. */
  emailVerified: boolean
  name: string
  plan: string
  status: 'active' | 'suspended'
  createdAt: number
  usedBytes: number
  files: number
  maxBytes: number
}

export interface AccountDetail extends AccountRow {
  identities: { provider: string; providerUserId: string; email: string }[]
  workspaces: { id: string; name: string; slug: string; role: string }[]
  sessions: number
  apiKeys: number
  shares: number
}

/** The storage of a workspace and its usage, in bytes. */
export interface WorkspaceUsage {
  id: string
  name: string
  slug: string
  /** E-mail address of the owner, whose plan sets the limits. */
  owner: string
  usedBytes: number
  files: number
  folders: number
  maxBytes: number
}

export interface Usage {
  users: AccountRow[]
  workspaces: WorkspaceUsage[]
  /** Usage by the kept data of deleted accounts, and in total. */
  kept: UsageTotals
  total: UsageTotals
}

interface UsageTotals {
  areas: number
  usedBytes: number
  files: number
}

/** The mails that are queued. */
export interface MailQueue {
  /** Not attempted yet. */
  waiting: number
  /** Failed at least once, and still retried. */
  retrying: number
  /** Not retried any more, except by retryMails. */
  givenUp: number
  /** When the oldest unsent mail was queued, in milliseconds since 1970. */
  oldestAt: number | null
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

/** The maximum length of an e-mail address: 64 + 1 + 255 (RFC 5321, section 4.5.3.1). */
const LONGEST_SEARCH = 320

const accountColumns = `u.id, u.email, u.verified_email AS verifiedEmail, u.name, u.plan_id AS plan, u.status, u.created_at AS createdAt,
  b.used_bytes AS usedBytes, b.used_files AS files, p.max_total_storage_bytes AS maxBytes`
const accountTables = 'user u JOIN bucket b ON b.user_id = u.id JOIN plan p ON p.id = u.plan_id'

type Selected = Omit<AccountRow, 'emailVerified'> & { verifiedEmail: string | null }

const toAccount = ({ verifiedEmail, ...row }: Selected): AccountRow => ({
  ...row,
  emailVerified: verifiedEmail !== null,
})

/** Administration of accounts. Changes take effect immediately, because the service reads the account at every request. */
export function operatorService({ db, wake = () => {} }: { db: Db; wake?: () => void }) {
  // Matches the text as given, too, because LOWER of SQLite handles ASCII only.
  const matching = "(? = '' OR INSTR(LOWER(u.email), ?) > 0 OR INSTR(LOWER(u.name), ?) > 0 OR INSTR(u.name, ?) > 0)"
  const valuesOf = (search: string) => [search, search.toLowerCase(), search.toLowerCase(), search]

  /**
   * Finds an account by its id or e-mail address: the account with the verified address, else the only one with the unverified address.
   * @throws Refused
   */
  async function find(named: string, tx?: Tx): Promise<AccountRow> {
    const email = canonicalEmail(named.trim())
    const by = async (where: string, values: string[]) =>
      (
        await db.rows<Selected>(
          `SELECT ${accountColumns} FROM ${accountTables} WHERE ${where} ORDER BY u.id`,
          values,
          tx,
        )
      ).map(toAccount)
    const [sure] = isUuid(named) ? await by('u.id = ?', [named]) : await by('u.verified_email = ?', [email])
    if (sure) return sure
    const claims = await by('LOWER(u.email) = ? OR u.email = ?', [email, named.trim()])
    const [only, ...more] = claims
    if (!only) throw new Refused(`There is no user "${named}".`)
    if (more.length > 0)
      throw new Refused(
        `${claims.length} accounts use "${named}", and none has verified it. Name one by its id: ${claims.map(c => c.id).join(', ')}.`,
      )
    return only
  }

  /** Sets the status. Any change deletes the sessions, so that restoring an account revives none; suspending also deletes the invites that it sent. */
  async function setStatus(named: string, status: AccountRow['status']): Promise<AccountRow> {
    return db.transaction(async tx => {
      const account = await find(named, tx)
      await db.run('UPDATE user SET status = ? WHERE id = ?', [status, account.id], tx)
      if (account.status !== status) await db.run('DELETE FROM session WHERE user_id = ?', [account.id], tx)
      if (status === 'suspended') await endInvitesOf(db, account.id, null, tx)
      return { ...account, status }
    })
  }

  const plans = () => db.Plan.findAll({ raw: true, order: ['maxTotalStorageBytes', 'id'] })

  return {
    /** The accounts whose e-mail address or name contains a text, oldest first, and their total count. */
    async users(search: string, limit: number): Promise<{ users: AccountRow[]; total: number }> {
      const values = valuesOf(search)
      const users = await db.rows<Selected>(
        `SELECT ${accountColumns} FROM ${accountTables} WHERE ${matching} ORDER BY u.id LIMIT ${limit}`,
        values,
      )
      const [count] = await db.rows<{ n: number }>(
        `SELECT COUNT(*) AS n FROM ${accountTables} WHERE ${matching}`,
        values,
      )
      return { users: users.map(toAccount), total: Number(count?.n ?? 0) }
    },

    /** A page of the accounts whose e-mail address or name contains a text, oldest first. @throws INVALID_INPUT */
    async page(search: string, limit: number, after: [id: string] | null): Promise<Page<AccountRow>> {
      if (search.length > LONGEST_SEARCH)
        throw new InvalidInput('search', `Search for up to ${LONGEST_SEARCH} characters.`)
      const rows = await db.rows<Selected>(
        `SELECT ${accountColumns} FROM ${accountTables} WHERE ${matching} AND u.id > ? ORDER BY u.id LIMIT ${limit + 1}`,
        [...valuesOf(search), after?.[0] ?? ''],
      )
      return { rows: rows.slice(0, limit).map(toAccount), more: rows.length > limit }
    },

    /** Validates the id of an account, for operations that accept no e-mail address. @throws Refused */
    readId(id: string): string {
      if (!isUuid(id)) throw new Refused('There is no such user. Use an id from the list of accounts.')
      return id.toLowerCase()
    },

    /** @throws Refused */
    async user(named: string): Promise<AccountDetail> {
      const account = await find(named)
      const { id } = account
      const [identities, workspaces, [counts]] = await Promise.all([
        db.rows<AccountDetail['identities'][number]>(
          'SELECT provider, provider_user_id AS providerUserId, email FROM identity WHERE user_id = ? ORDER BY created_at, id',
          [id],
        ),
        db.rows<AccountDetail['workspaces'][number]>(
          'SELECT w.id, w.name, w.slug, m.role FROM member m JOIN workspace w ON w.id = m.workspace_id WHERE m.user_id = ? ORDER BY w.id',
          [id],
        ),
        db.rows<{ sessions: number; apiKeys: number; shares: number }>(
          `SELECT (SELECT COUNT(*) FROM session WHERE user_id = ? AND expires_at > ?) AS sessions,
             (SELECT COUNT(*) FROM api_key WHERE created_by = ?) AS apiKeys,
             (SELECT COUNT(*) FROM share WHERE user_id = ? AND expires_at > ?) AS shares`,
          [id, Date.now(), id, id, Date.now()],
        ),
      ])
      const { sessions = 0, apiKeys = 0, shares = 0 } = counts ?? {}
      return { ...account, identities, workspaces, sessions, apiKeys, shares }
    },

    /** Changes the plan of an account. Stored files are kept, even beyond the new limits. @throws Refused */
    async setPlan(named: string, plan: string): Promise<AccountRow> {
      const known = await plans()
      const wanted = known.find(p => p.id === plan)
      if (!wanted)
        throw new Refused(
          `There is no plan "${plan.slice(0, 100)}". The plans are: ${known.map(p => p.id).join(', ')}.`,
          'INVALID_INPUT',
          { field: 'plan_id' },
        )
      const account = await find(named)
      await db.run('UPDATE user SET plan_id = ? WHERE id = ?', [plan, account.id])
      return { ...account, plan, maxBytes: wanted.maxTotalStorageBytes }
    },

    /** Ends the sessions of an account; its keys and links do not work until it is restored. @throws Refused */
    suspend: (named: string) => setStatus(named, 'suspended'),
    /** @throws Refused */
    restore: (named: string) => setStatus(named, 'active'),

    /** The usage of accounts and workspaces, largest first. */
    async usage(limit: number): Promise<Usage> {
      const totalsOf = async (where: string): Promise<UsageTotals> => {
        const [row] = await db.rows<Record<keyof UsageTotals, number | null>>(
          `SELECT COUNT(*) AS areas, SUM(used_bytes) AS usedBytes, SUM(used_files) AS files FROM bucket WHERE ${where}`,
        )
        return { areas: Number(row?.areas), usedBytes: Number(row?.usedBytes), files: Number(row?.files) }
      }
      const [users, workspaces, kept, total] = await Promise.all([
        db.rows<Selected>(
          `SELECT ${accountColumns} FROM ${accountTables} ORDER BY b.used_bytes DESC, u.id LIMIT ${limit}`,
        ),
        db.rows<WorkspaceUsage>(
          `SELECT w.id, w.name, w.slug, o.email AS owner, b.used_bytes AS usedBytes, b.used_files AS files, b.used_folders AS folders,
             p.max_total_storage_bytes_workspace AS maxBytes
           FROM workspace w JOIN bucket b ON b.workspace_id = w.id JOIN user o ON o.id = w.owner_id JOIN plan p ON p.id = o.plan_id
           ORDER BY b.used_bytes DESC, w.id LIMIT ${limit}`,
        ),
        totalsOf('user_id IS NULL AND workspace_id IS NULL AND kept_until IS NOT NULL'),
        totalsOf('1 = 1'),
      ])
      return { users: users.map(toAccount), workspaces, kept, total }
    },

    /** All plans with their limits and number of accounts. */
    async plans(): Promise<(PlanView & { users: number })[]> {
      const counts = await db.rows<{ plan: string; n: number }>(
        'SELECT plan_id AS plan, COUNT(*) AS n FROM user GROUP BY plan_id',
      )
      return (await plans()).map(plan => ({ ...plan, users: Number(counts.find(c => c.plan === plan.id)?.n ?? 0) }))
    },

    /** Queues the given-up mails again, for example after a repair of the mail server. @returns their number */
    async retryMails(): Promise<number> {
      const mails = await db.run(
        "UPDATE outbox SET due_at = ?, attempts = 0, last_error = '', created_at = ? WHERE kind = 'mail' AND due_at = ?",
        [Date.now(), Date.now(), GIVEN_UP],
      )
      if (mails > 0) wake()
      return mails
    },

    async mailQueue(): Promise<MailQueue> {
      const [row] = await db.rows<Record<keyof MailQueue, number | null>>(
        `SELECT SUM(CASE WHEN due_at < ? AND attempts = 0 THEN 1 ELSE 0 END) AS waiting,
           SUM(CASE WHEN due_at < ? AND attempts > 0 THEN 1 ELSE 0 END) AS retrying,
           SUM(CASE WHEN due_at = ? THEN 1 ELSE 0 END) AS givenUp,
           MIN(CASE WHEN due_at < ? THEN created_at END) AS oldestAt
         FROM outbox WHERE kind = 'mail'`,
        [GIVEN_UP, GIVEN_UP, GIVEN_UP, GIVEN_UP],
      )
      const { waiting, retrying, givenUp, oldestAt } = row ?? {}
      return {
        waiting: Number(waiting ?? 0),
        retrying: Number(retrying ?? 0),
        givenUp: Number(givenUp ?? 0),
        oldestAt: oldestAt === null || oldestAt === undefined ? null : Number(oldestAt),
      }
    },
  }
}

export type OperatorService = ReturnType<typeof operatorService>
