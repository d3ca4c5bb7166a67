import { logSecurityEvent } from '../src/access/audit-log.ts'
import { InvalidInput } from '../src/runtime/errors.ts'
import { AccountStatus } from './enums.ts'
import { mutation } from './mutation.ts'
import { Account, accountOf, MailQueue, Operator, readAccountId } from './operator.ts'
import { limitsInput, readLimitInput } from './plan.ts'

mutation('operatorUpdateAccount', {
  description:
    'Changes the plan or single limits of an account, suspends it, or restores it. Stored files are kept, even beyond the new limits. The oldest trash and versions beyond them are soon deleted permanently. A suspended account has no sessions, and its keys and links do not work. Operators cannot suspend themselves or operators named by the setting OPERATORS. For operators.',
  auth: { operator: true },
  fails: ['USER_NOT_FOUND', 'INVALID_INPUT', 'FORBIDDEN'],
  places: { plan_id: 'plan' },
  input: t => ({
    account: t.id({ required: true, description: 'The id of the account.' }),
    plan: t.id({ description: 'The id of its new plan.' }),
    automaticPlan: t.boolean({
      description:
        'Whether to undo the choice of an operator. The account then gets the default plan now, and the plan of a claim at its next sign-in.',
    }),
    limits: limitsInput(t),
    status: t.field({ type: AccountStatus, description: 'Whether it may sign in.' }),
  }),
  resolve: async ({ account, plan, automaticPlan, limits, status }, context) => {
    const { appointments, operators } = context.services
    const id = operators.readId(readAccountId(account))
    if (status === 'suspended') await appointments.requireEndable(context.caller, id)
    if (plan && automaticPlan)
      throw new InvalidInput('automaticPlan', 'Give either a plan or automaticPlan.')
    const changed = readLimitInput(limits)
    const choosesPlan = plan || automaticPlan
    const plans = choosesPlan && { plan: automaticPlan ? null : (plan ?? null) }
    const now = await operators.update(
      id,
      { ...plans, limits: changed, status: status ?? null },
      context.caller,
    )
    if (choosesPlan) logSecurityEvent(context, 'plan_changed', { user_id: id, plan_id: now.plan })
    if (changed.length > 0)
      logSecurityEvent(context, 'limits_changed', {
        user_id: id,
        limits: changed.map(({ name }) => name).join(' '),
      })
    if (status)
      logSecurityEvent(context, status === 'suspended' ? 'account_suspended' : 'account_restored', {
        user_id: id,
      })
    return { account: await accountOf(context, id) }
  },
  payload: t => ({
    account: t.expose('account', { type: Account, description: 'The account as it is now.' }),
  }),
})

mutation('operatorDeleteAccount', {
  description:
    'Deletes an account, as its owner could do it. Workspaces without another member are deleted, too; the others need another owner first. Operators cannot delete themselves or operators named by the setting OPERATORS. For operators.',
  auth: { operator: true },
  fails: ['USER_NOT_FOUND', 'INVALID_INPUT', 'FORBIDDEN', 'LAST_OWNER'],
  input: t => ({
    account: t.id({ required: true, description: 'The id of the account.' }),
    email: t.string({ required: true, description: 'Its e-mail address, as a confirmation.' }),
    deleteFiles: t.boolean({
      required: true,
      description:
        'true: the files are deleted at once; false: they are kept for a time, until the same verified address signs in again.',
    }),
  }),
  resolve: async ({ account, email, deleteFiles }, context) => {
    const { services, caller } = context
    const id = readAccountId(account)
    await services.appointments.requireEndable(caller, id, 'delete')
    const given = { email, deleteData: deleteFiles }
    const ended = await services.accountEnd.endFor(id, given, caller)
    logSecurityEvent(context, 'account_deleted', {
      user_id: ended.id,
      data_deleted: ended.bucketDeleted,
    })
    return ended
  },
  payload: t => ({
    deletedId: t.exposeID('id', { description: 'The id of the person.' }),
    driveExpiresAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Until when the files are kept; null if they were deleted.',
      resolve: ({ keptUntil }) => keptUntil,
    }),
  }),
})

mutation('operatorAppoint', {
  description: 'Makes the owner of an account an operator. For operators.',
  auth: { operator: true },
  fails: ['USER_NOT_FOUND', 'FORBIDDEN'],
  input: t => ({ account: t.id({ required: true, description: 'The id of the account.' }) }),
  resolve: async ({ account }, context) => {
    const operator = await context.services.appointments.appoint(
      context.caller,
      readAccountId(account),
    )
    logSecurityEvent(context, 'operator_appointed', { user_id: operator.userId })
    return { operator, account: await accountOf(context, operator.userId) }
  },
  payload: t => ({
    operator: t.expose('operator', { type: Operator, description: 'The operator.' }),
    account: t.expose('account', { type: Account, description: 'Their account.' }),
  }),
})

mutation('operatorDismiss', {
  description:
    'Dismisses an appointed operator, who may be the caller. Operators named by the setting OPERATORS cannot be dismissed. For operators.',
  auth: { operator: true },
  fails: ['USER_NOT_FOUND', 'FORBIDDEN'],
  input: t => ({ account: t.id({ required: true, description: 'The id of the account.' }) }),
  resolve: async ({ account }, context) => {
    const { userId } = await context.services.appointments.dismiss(
      context.caller,
      readAccountId(account),
    )
    logSecurityEvent(context, 'operator_dismissed', { user_id: userId })
    return { account: await accountOf(context, userId) }
  },
  payload: t => ({
    account: t.expose('account', { type: Account, description: 'The account, which is kept.' }),
  }),
})

mutation('operatorRetryMails', {
  description: 'Sends abandoned mails again. For operators.',
  auth: { operator: true },
  fails: [],
  resolve: async (_input, { services, caller }) => ({
    count: await services.operators.retryMails(caller),
  }),
  payload: t => ({
    count: t.exposeInt('count', { description: 'How many.' }),
    mailQueue: t.field({
      type: MailQueue,
      description: 'The mails that are queued.',
      resolve: (_payload, _args, { services }) => services.operators.mailQueue(),
    }),
  }),
})
