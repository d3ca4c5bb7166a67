import { validate as isUuid } from 'uuid'
import { isDuplicate } from '../../../db/index.ts'
import type { User } from '../../../db/models/user.ts'
import { accountsWithAddresses, appointedOperators } from '../../../db/queries/operator.ts'
import type { Caller } from '../../access/caller.ts'
import type { Config } from '../../config/config.ts'
import { AppError, Forbidden } from '../../runtime/errors.ts'
import type { Core } from '../core.ts'
import { operatorOf } from '../history/event.ts'
import { canonicalEmail } from './account.ts'

/** A user who may administer the accounts of the service. */
export interface OperatorView {
  userId: string
  email: string
  name: string
  /** Listed in the setting OPERATORS, and removed only by changing that setting. */
  bySetting: boolean
  /** Null for an operator in the setting. */
  appointedBy: string | null
  appointedAt: number | null
}

/**
 * Operators are the accounts whose currently verified e-mail address is in the setting OPERATORS,
 * and those that an operator has appointed.
 * @param operators the e-mail addresses of the setting
 */
export function appointmentService({
  db,
  change,
  operators,
}: Core<'db' | 'change'> & Pick<Config, 'operators'>) {
  const bySetting = new Set(operators.map(canonicalEmail))
  const isOfSetting = ({ verifiedEmail }: { verifiedEmail: string | null }) =>
    verifiedEmail !== null && bySetting.has(verifiedEmail)

  /** @param appointment null for an operator in the setting */
  const view = (
    { id, email, name }: Pick<User, 'id' | 'email' | 'name'>,
    appointment: Pick<OperatorView, 'appointedBy' | 'appointedAt'> | null,
  ): OperatorView => ({
    userId: id,
    email,
    name,
    bySetting: appointment === null,
    appointedBy: appointment?.appointedBy ?? null,
    appointedAt: appointment?.appointedAt ?? null,
  })

  /** @throws USER_NOT_FOUND */
  async function find(userId: string): Promise<User> {
    const account = isUuid(userId)
      ? await db.User.findByPk(userId.toLowerCase(), { raw: true })
      : null
    if (!account) throw userNotFound()
    return account
  }

  return {
    /**
     * Checked at every operation, so that the right ends with the verified address or the
     * appointment.
     */
    async isOperator(caller: Caller): Promise<boolean> {
      if (caller.via !== 'session') return false
      if (isOfSetting(caller)) return true
      return (await db.Operator.findByPk(caller.userId, { raw: true })) !== null
    },

    /** Whether an account belongs to an operator, for requirements that apply to all operators. */
    async isNamed(userId: string): Promise<boolean> {
      const account = await db.User.findByPk(userId, { raw: true })
      if (account && isOfSetting(account)) return true
      return (await db.Operator.findByPk(userId, { raw: true })) !== null
    },

    /** The operators in the setting who have an account, and the appointed ones. */
    async list(): Promise<OperatorView[]> {
      const [appointed, named] = await Promise.all([
        appointedOperators(db),
        bySetting.size === 0 ? [] : accountsWithAddresses(db, [...bySetting]),
      ])
      return [
        ...named.map(account => view(account, null)),
        ...appointed.filter(row => !isOfSetting(row)).map(row => view(row, row)),
      ]
    },

    /**
     * Appoints an operator; idempotent. @throws USER_NOT_FOUND, FORBIDDEN for a suspended account
     */
    async appoint(caller: Caller, userId: string): Promise<OperatorView> {
      const account = await find(userId)
      const { id } = account
      if (account.status !== 'active')
        throw new Forbidden('This account is suspended. Restore it first.')
      if (isOfSetting(account)) return view(account, null)
      const appointment = { userId: id, appointedBy: caller.userId, appointedAt: Date.now() }
      const appointing = change(operatorOf(caller), async ({ tx, record }) => {
        await db.Operator.create(appointment, { transaction: tx })
        record(id, { kind: 'operator.appointed', subject: id })
      })
      await appointing.catch((error: unknown) => {
        if (!isDuplicate(error)) throw error
      })
      return view(account, (await db.Operator.findByPk(id, { raw: true })) ?? appointment)
    },

    /**
     * Dismisses an operator. The next operation fails.
     * @throws USER_NOT_FOUND if the account is not an operator, FORBIDDEN for an operator in the
     * setting
     */
    async dismiss(caller: Caller, userId: string): Promise<{ userId: string }> {
      const account = await find(userId)
      if (isOfSetting(account))
        throw new Forbidden(
          'The setting OPERATORS names this operator. Remove the address from the setting instead.',
        )
      await change(operatorOf(caller), async ({ tx, record }) => {
        const dismissed = await db.Operator.destroy({
          where: { userId: account.id },
          transaction: tx,
        })
        if (dismissed === 0) throw new AppError('USER_NOT_FOUND', 'This user is not an operator.')
        record(account.id, { kind: 'operator.dismissed', subject: account.id })
      })
      return { userId: account.id }
    },

    /**
     * Checks that an operator may invite an address. The operator gets the link, which opens the
     * account with that address or creates it. So an appointed operator must not become an operator
     * in the setting with it, and nobody must take over the account of one.
     * @throws FORBIDDEN
     */
    async requireInvitable(caller: Caller, email: string): Promise<void> {
      const address = canonicalEmail(email)
      if (!bySetting.has(address) || address === caller.verifiedEmail) return
      const isNew = (await accountsWithAddresses(db, [address])).length === 0
      if (isNew && isOfSetting(caller)) return
      throw new Forbidden(
        'The setting OPERATORS names this address. Use the command line of the service instead.',
      )
    },

    /**
     * Checks that an operator may suspend or delete an account through the API. Operators may do
     * this neither to themselves nor to operators in the setting, so that an appointed operator
     * cannot lock out those who run the service.
     * @throws USER_NOT_FOUND, FORBIDDEN
     */
    async requireEndable(
      caller: Caller,
      userId: string,
      action: 'suspend' | 'delete' = 'suspend',
    ): Promise<void> {
      const account = await find(userId)
      if (account.id === caller.userId)
        throw new Forbidden(`You cannot ${action} yourself. Ask another operator.`)
      if (isOfSetting(account))
        throw new Forbidden(
          'The setting OPERATORS names this operator. Remove the address from the setting first.',
        )
    },
  }
}

export type AppointmentService = ReturnType<typeof appointmentService>

export const userNotFound = () =>
  new AppError('USER_NOT_FOUND', 'There is no such user. Use an id from the list of accounts.')
