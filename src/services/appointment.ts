import { validate as isUuid } from 'uuid'
import { type Db, isDuplicate } from '../../db/index.ts'
import type { Caller } from '../auth/caller.ts'
import { AppError, Forbidden } from '../errors.ts'
import { canonicalEmail } from './account.ts'

/** A user who may administer the accounts of the service. */
export interface OperatorView {
  userId: string
  email: string
  name: string
  /** Named by the setting OPERATORS, and dismissed only by changing it. */
  bySetting: boolean
  /** Null for an operator of the setting. */
  appointedBy: string | null
  appointedAt: number | null
}

interface Account {
  id: string
  email: string
  verifiedEmail: string | null
  name: string
  status: string
}

/**
 * Operators are the accounts whose currently verified e-mail address is in the setting OPERATORS, and those that an operator has appointed.
 * @param addresses the e-mail addresses of the setting
 */
export function appointmentService({ db, addresses }: { db: Db; addresses: string[] }) {
  const bySetting = new Set(addresses.map(canonicalEmail))
  const isOfSetting = ({ verifiedEmail }: { verifiedEmail: string | null }) =>
    verifiedEmail !== null && bySetting.has(verifiedEmail)

  /** @throws USER_NOT_FOUND */
  async function find(userId: string): Promise<Account> {
    const [account] = isUuid(userId)
      ? await db.rows<Account>(
          'SELECT id, email, verified_email AS verifiedEmail, name, status FROM user WHERE id = ?',
          [userId.toLowerCase()],
        )
      : []
    if (!account) throw new AppError('USER_NOT_FOUND', 'There is no such user. Use an id from the list of accounts.')
    return account
  }

  return {
    /** Checked at every operation of an operator, so that the right ends with the verified address or the appointment. */
    async isOperator(caller: Caller): Promise<boolean> {
      if (caller.via !== 'session') return false
      if (isOfSetting(caller)) return true
      return (await db.rows('SELECT user_id FROM operator WHERE user_id = ?', [caller.userId])).length > 0
    },

    /** The operators of the setting that have an account, and the appointed ones. */
    async list(): Promise<OperatorView[]> {
      type Row = Account & Pick<OperatorView, 'appointedBy' | 'appointedAt'>
      const columns = 'u.id, u.email, u.verified_email AS verifiedEmail, u.name, u.status'
      const [appointed, named] = await Promise.all([
        db.rows<Row>(
          `SELECT ${columns}, o.appointed_by AS appointedBy, o.appointed_at AS appointedAt
           FROM operator o JOIN user u ON u.id = o.user_id ORDER BY o.appointed_at, u.id LIMIT 1000`,
        ),
        bySetting.size === 0
          ? []
          : db.rows<Account>(
              `SELECT ${columns} FROM user u WHERE u.verified_email IN (${[...bySetting].map(() => '?').join(', ')}) ORDER BY u.id`,
              [...bySetting],
            ),
      ])
      const rows: Row[] = [
        ...named.map(account => ({ ...account, appointedBy: null, appointedAt: null })),
        ...appointed.filter(row => !isOfSetting(row)),
      ]
      return rows.map(({ id, email, name, appointedBy, appointedAt, ...row }) => ({
        ...{ userId: id, email, name, appointedBy, appointedAt },
        bySetting: isOfSetting(row),
      }))
    },

    /** Appoints an operator; idempotent. @throws USER_NOT_FOUND, FORBIDDEN for a suspended account */
    async appoint(caller: Caller, userId: string): Promise<OperatorView> {
      const account = await find(userId)
      const { id, email, name } = account
      if (account.status !== 'active') throw new Forbidden('This account is suspended. Restore it first.')
      if (isOfSetting(account))
        return { userId: id, email, name, bySetting: true, appointedBy: null, appointedAt: null }
      const now = Date.now()
      await db
        .run('INSERT INTO operator (user_id, appointed_by, appointed_at) VALUES (?, ?, ?)', [id, caller.userId, now])
        .catch((error: unknown) => {
          if (!isDuplicate(error)) throw error
        })
      const [row] = await db.rows<{ appointedBy: string; appointedAt: number }>(
        'SELECT appointed_by AS appointedBy, appointed_at AS appointedAt FROM operator WHERE user_id = ?',
        [id],
      )
      const { appointedBy = caller.userId, appointedAt = now } = row ?? {}
      return { userId: id, email, name, bySetting: false, appointedBy, appointedAt }
    },

    /** Dismisses an operator, effective from their next operation. @throws USER_NOT_FOUND when the account is no operator, FORBIDDEN for an operator of the setting */
    async dismiss(userId: string): Promise<{ userId: string }> {
      const account = await find(userId)
      if (isOfSetting(account))
        throw new Forbidden('The setting OPERATORS names this operator. Remove the address from the setting instead.')
      const dismissed = await db.run('DELETE FROM operator WHERE user_id = ?', [account.id])
      if (dismissed === 0) throw new AppError('USER_NOT_FOUND', 'This user is not an operator.')
      return { userId: account.id }
    },

    /**
     * Checks that an operator may suspend an account through the API: not their own, and no operator of the setting, so that an
     * appointed operator cannot lock out those who run the service.
     * @throws USER_NOT_FOUND, FORBIDDEN
     */
    async requireSuspendable(caller: Caller, userId: string): Promise<void> {
      const account = await find(userId)
      if (account.id === caller.userId) throw new Forbidden('You cannot suspend yourself. Ask another operator.')
      if (isOfSetting(account))
        throw new Forbidden('The setting OPERATORS names this operator. Remove the address from the setting first.')
    },
  }
}

export type AppointmentService = ReturnType<typeof appointmentService>
