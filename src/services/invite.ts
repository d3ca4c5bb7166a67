import { validate as isUuid, v7 as newId } from 'uuid'
import { type Db, isDuplicate, type Tx } from '../../db/index.ts'
import type { Caller } from '../auth/caller.ts'
import { invitable, type Role } from '../auth/roles.ts'
import { AppError, InvalidInput } from '../errors.ts'
import type { Tokens } from '../tokens.ts'
import { planExceeded } from './bound.ts'
import { parseEmail } from './email.ts'
import { placeholders } from './entry-path.ts'
import type { EventService } from './event.ts'
import type { MailingService } from './mailing.ts'
import { MAX_PAGE } from './page.ts'
import { firstOfEach, type Page } from './range.ts'
import { lockToManage, SENDER, SENDER_MAY } from './right.ts'
import type { WorkspaceService, WorkspaceView } from './workspace.ts'

export interface InviteView {
  id: string
  workspaceId: string
  email: string
  role: Role
  invitedBy: string
  createdAt: number
  expiresAt: number
}

/** An invite as its recipient sees it. */
export interface MyInvite {
  id: string
  workspaceId: string
  workspaceName: string
  workspaceSlug: string
  email: string
  token: string
  role: Role
  expiresAt: number
}

/** An invite as its page shows it: no more than the mail with the link contains. */
export interface LinkedInvite {
  id: string
  workspaceName: string
  role: Role
  invitedBy: { name: string; email: string; verified: boolean }
  email: string
  /** Whether an account with the invited e-mail address is a member already. */
  member: boolean
  expiresAt: number
}

const WEEK_MS = 7 * 86_400_000
export const INVITE_TOKEN = 'invite'
const notFound = () =>
  new AppError(
    'INVITE_NOT_FOUND',
    'This invite does not exist, or it was used or withdrawn, or its sender may no longer invite. Ask for a new one.',
  )
const expired = () => new AppError('INVITE_EXPIRED', 'This invite has expired. Ask for a new one.')
const alreadyMember = () => new AppError('ALREADY_A_MEMBER', 'You are a member of this workspace already.')

/** @throws INVITE_NOT_FOR_YOU */
function refuseOthers({ email }: { email: string }, caller: Caller): void {
  if (caller.verifiedEmail !== email)
    throw new AppError(
      'INVITE_NOT_FOR_YOU',
      'This invite is for another e-mail address. Sign in with the address that was invited.',
    )
}

const columns =
  'i.id AS id, i.workspace_id AS workspaceId, i.email, i.role, i.invited_by AS invitedBy, i.created_at AS createdAt, i.expires_at AS expiresAt'
/** FROM and WHERE of the pending invites of a workspace; its values are the workspace id and the current time. */
const pending = `FROM invite i ${SENDER} WHERE i.workspace_id = ? AND i.expires_at > ? AND ${SENDER_MAY}`

interface Deps {
  db: Db
  workspaces: WorkspaceService
  mailings: MailingService
  tokens: Tokens
  publicUrl: () => string
  events: EventService
  wake: () => void
}

export function inviteService({ db, workspaces, mailings, tokens, publicUrl, events, wake }: Deps) {
  /** The invite of a token, if it was sent to the verified address of the caller. @throws INVITE_NOT_FOUND, INVITE_NOT_FOR_YOU */
  async function findFor(caller: Caller, token: string): Promise<InviteView> {
    const id = tokens.read(INVITE_TOKEN, token)
    const [invite] = id ? await db.rows<InviteView>(`SELECT ${columns} FROM invite i WHERE i.id = ?`, [id]) : []
    if (!invite) throw notFound()
    refuseOthers(invite, caller)
    return invite
  }

  /**
   * Finds the id of the invite of an e-mail address, if any. The workspace must be locked, so that the count is exact.
   * @throws QUOTA_EXCEEDED where one more would be pending than the plan allows
   */
  async function requireRoom(workspaceId: string, email: string, now: number, tx: Tx): Promise<string | null> {
    const [row] = await db.rows<{ id: string | null; expiresAt: number | null; max: number | null; used: number }>(
      `SELECT i.id, i.expires_at AS expiresAt, p.max_pending_invites AS max,
         (SELECT COUNT(*) FROM invite o WHERE o.workspace_id = w.id AND o.expires_at > ?) AS used
       FROM workspace w JOIN user u ON u.id = w.owner_id JOIN plan p ON p.id = u.plan_id
         LEFT JOIN invite i ON i.workspace_id = w.id AND i.email = ? WHERE w.id = ?`,
      [now, email, workspaceId],
      tx,
    )
    const isPending = row?.expiresAt != null && row.expiresAt > now
    if (row && row.max !== null && !isPending && Number(row.used) >= row.max)
      throw planExceeded('pending invites to this workspace', {
        limit: 'max_pending_invites',
        max: row.max,
        used: Number(row.used),
      })
    return row?.id ?? null
  }

  /** The pending invites of the caller's verified address that match a condition, oldest first. */
  async function mineWhere(caller: Caller, where: string, values: string[], limit: number): Promise<MyInvite[]> {
    if (!caller.verifiedEmail) return []
    const rows = await db.rows<Omit<MyInvite, 'token'>>(
      `SELECT i.id, i.workspace_id AS workspaceId, w.name AS workspaceName, w.slug AS workspaceSlug, i.email, i.role, i.expires_at AS expiresAt
       FROM invite i JOIN workspace w ON w.id = i.workspace_id ${SENDER}
       WHERE i.email = ? AND i.expires_at > ? AND ${SENDER_MAY} AND ${where} ORDER BY i.id LIMIT ${limit}`,
      [caller.verifiedEmail, Date.now(), ...values],
    )
    return rows.map(row => ({ ...row, token: tokens.derive(INVITE_TOKEN, row.id) }))
  }

  async function pageOfMine(caller: Caller, limit: number, after: string | null): Promise<Page<MyInvite>> {
    const mine = await mineWhere(caller, 'i.id > ?', [after ?? ''], limit + 1)
    return { rows: mine.slice(0, limit), more: mine.length > limit }
  }

  return {
    /** The pending invites of some workspaces, oldest first, without those whose sender may no longer invite. Does not authorize: pass only workspaces that the caller may manage. */
    pagesOf: (workspaceIds: string[], limit: number, after: string | null) =>
      firstOfEach<InviteView>(db, `SELECT i.workspace_id AS owner, ${columns} ${pending} AND i.id > ?`, {
        order: 'id',
        owners: workspaceIds,
        values: [Date.now(), after ?? ''],
        limit,
      }),

    /** The pending invites of a workspace, oldest first. */
    async list(caller: Caller, workspaceId: string): Promise<InviteView[]> {
      await workspaces.enter(caller, workspaceId, 'manage')
      return db.rows<InviteView>(`SELECT ${columns} ${pending} ORDER BY i.id LIMIT 10000`, [workspaceId, Date.now()])
    },

    /** Invites an e-mail address, or renews its invite, and enqueues a mail if the limits of mails allow it. @throws ALREADY_A_MEMBER, FORBIDDEN, INVALID_INPUT, QUOTA_EXCEEDED */
    async create(caller: Caller, input: { workspaceId: string; email: string; role: string }): Promise<InviteView> {
      const email = parseEmail(input.email, 'email')
      const role = invitable.find(r => r === input.role)
      if (!role) throw new InvalidInput('role', `An invite offers one of ${invitable.join(', ')}.`)
      const { id: workspaceId, name } = await workspaces.enter(caller, input.workspaceId, 'manage')
      const now = Date.now()
      const fresh = { role, invitedBy: caller.userId, createdAt: now, expiresAt: now + WEEK_MS }
      const invite = await db.transaction(async tx => {
        // Under this lock, parallel invites of one address result in one row.
        await lockToManage(db, caller, workspaceId, tx)
        const [member] = await db.rows(
          'SELECT m.user_id FROM member m JOIN user u ON u.id = m.user_id WHERE m.workspace_id = ? AND u.verified_email = ?',
          [workspaceId, email],
          tx,
        )
        if (member) throw new AppError('ALREADY_A_MEMBER', 'A user with this e-mail address is a member already.')
        const known = await requireRoom(workspaceId, email, now, tx)
        const id = known ?? newId()
        if (known)
          await db.run(
            'UPDATE invite SET role = ?, invited_by = ?, created_at = ?, expires_at = ? WHERE id = ?',
            [...Object.values(fresh), id],
            tx,
          )
        else
          await db.run(
            'INSERT INTO invite (role, invited_by, created_at, expires_at, id, workspace_id, email) VALUES (?, ?, ?, ?, ?, ?, ?)',
            [...Object.values(fresh), id, workspaceId, email],
            tx,
          )
        const link = `${publicUrl()}/invite/${tokens.derive(INVITE_TOKEN, id)}`
        const values = { workspace: name, role, by: caller.name, address: caller.email, link }
        await mailings.enqueue(caller, { template: 'invite', to: email, values }, [workspaceId], tx)
        return { id, workspaceId, email, ...fresh }
      })
      events.publish('inviteReceived', email, [invite.id])
      wake()
      return invite
    },

    /** The pending invites of the caller's verified address. */
    mine: async (caller: Caller): Promise<MyInvite[]> => (await pageOfMine(caller, MAX_PAGE, null)).rows,
    pageOfMine,
    /** The subset of these invites that is pending for the caller. */
    mineAmong: (caller: Caller, ids: string[]): Promise<MyInvite[]> =>
      mineWhere(caller, `i.id IN (${placeholders(ids)})`, ids, ids.length),

    /** The invite of a token, for any caller who has the link. Runs one statement. @throws INVITE_NOT_FOUND */
    async find(token: string): Promise<LinkedInvite> {
      const id = tokens.read(INVITE_TOKEN, token)
      if (!id) throw notFound()
      const [row] = await db.rows<
        Omit<LinkedInvite, 'invitedBy' | 'member'> & {
          name: string
          inviter: string
          verified: string | null
          member: string | null
        }
      >(
        `SELECT i.id, w.name AS workspaceName, i.role, i.email, i.expires_at AS expiresAt, a.name, a.email AS inviter, a.verified_email AS verified, m.user_id AS member
         FROM invite i JOIN workspace w ON w.id = i.workspace_id ${SENDER}
           LEFT JOIN user g ON g.verified_email = i.email LEFT JOIN member m ON m.workspace_id = i.workspace_id AND m.user_id = g.id
         WHERE i.id = ? AND ${SENDER_MAY}`,
        [id],
      )
      if (!row) throw notFound()
      const { name, inviter, verified, member, ...invite } = row
      return {
        ...invite,
        invitedBy: { name, email: inviter, verified: verified !== null },
        member: member !== null,
      }
    },

    /**
     * Refuses a signed-in caller who cannot accept the invite. Only the recipient learns whether they are a member already.
     * @throws INVITE_EXPIRED, INVITE_NOT_FOR_YOU, ALREADY_A_MEMBER
     */
    refuse(invite: LinkedInvite, caller: Caller | null): void {
      if (caller) refuseOthers(invite, caller)
      if (invite.expiresAt <= Date.now()) throw expired()
      if (caller && invite.member) throw alreadyMember()
    },

    /** Makes the caller a member and deletes the invite. @throws INVITE_NOT_FOUND, INVITE_NOT_FOR_YOU, INVITE_EXPIRED, ALREADY_A_MEMBER, QUOTA_EXCEEDED */
    async accept(caller: Caller, token: string): Promise<WorkspaceView> {
      const { id, workspaceId, expiresAt } = await findFor(caller, token)
      if (expiresAt <= Date.now()) throw expired()
      return db.transaction(async tx => {
        const [workspace] = await db.rows<Omit<WorkspaceView, 'role'> & { max: number }>(
          `SELECT w.id, w.name, w.slug, w.owner_id AS ownerId, w.created_at AS createdAt, p.max_users_workspace AS max
           FROM workspace w JOIN user o ON o.id = w.owner_id JOIN plan p ON p.id = o.plan_id WHERE w.id = ?`,
          [workspaceId],
          tx,
        )
        await db.rows(`SELECT id FROM workspace WHERE id = ?${db.forUpdate}`, [workspaceId], tx)
        // The locking read serializes parallel accepts, returns the current role, and checks that the sender may still invite.
        const [offer] = await db.rows<{ role: Role }>(
          `SELECT i.role FROM invite i ${SENDER} WHERE i.id = ? AND ${SENDER_MAY}${db.forUpdate}`,
          [id],
          tx,
        )
        if (!workspace || !offer) throw notFound()
        const [count] = await db.rows<{ n: number }>(
          'SELECT COUNT(*) AS n FROM member WHERE workspace_id = ?',
          [workspaceId],
          tx,
        )
        const { max, ...view } = workspace
        try {
          await db.run(
            'INSERT INTO member (workspace_id, user_id, role, joined_at) VALUES (?, ?, ?, ?)',
            [workspaceId, caller.userId, offer.role, Date.now()],
            tx,
          )
        } catch (error) {
          throw isDuplicate(error) ? alreadyMember() : error
        }
        if (Number(count?.n) >= max)
          throw new AppError('QUOTA_EXCEEDED', `The workspace may have ${max} members. Ask its owner to make room.`, {
            limit: 'max_users_workspace',
            max,
            used: Number(count?.n),
          })
        await db.run('DELETE FROM invite WHERE id = ?', [id], tx)
        return { ...view, role: offer.role }
      })
    },

    /** @throws INVITE_NOT_FOUND, INVITE_NOT_FOR_YOU */
    async reject(caller: Caller, token: string): Promise<void> {
      const { id } = await findFor(caller, token)
      await db.run('DELETE FROM invite WHERE id = ?', [id])
    },

    /** Withdraws an invite of this workspace. @throws INVITE_NOT_FOUND, FORBIDDEN */
    async remove(caller: Caller, workspaceId: string, inviteId: string): Promise<void> {
      await workspaces.enter(caller, workspaceId, 'manage')
      const removed = isUuid(inviteId)
        ? await db.run('DELETE FROM invite WHERE id = ? AND workspace_id = ?', [inviteId, workspaceId])
        : 0
      if (removed === 0) throw new AppError('INVITE_NOT_FOUND', 'There is no such invite in this workspace.')
    },
  }
}

export type InviteService = ReturnType<typeof inviteService>
