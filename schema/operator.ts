import { logSecurityEvent } from '../src/audit-log.ts'
import type { OperatorView } from '../src/services/appointment.ts'
import type { AccountDetail, AccountRow, MailQueue } from '../src/services/operator.ts'
import type { PlanView } from '../src/services/user.ts'
import { builder } from './builder.ts'
import { byId, forwardConnection } from './connection.ts'
import { Plan } from './user.ts'

const Account = builder.objectRef<AccountRow>('Account').implement({
  description: 'An account, as operators see it.',
  fields: t => ({
    id: t.exposeID('id'),
    email: t.exposeString('email'),
    emailVerified: t.exposeBoolean('emailVerified', { description: 'Whether a provider vouches for the address.' }),
    name: t.exposeString('name'),
    planId: t.exposeID('plan'),
    status: t.exposeString('status', { description: 'active or suspended' }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
    usedBytes: t.expose('usedBytes', { type: 'Long' }),
    fileCount: t.expose('files', { type: 'Long' }),
    maxTotalStorageBytes: t.expose('maxBytes', { type: 'Long' }),
  }),
})

const AccountConnection = builder.connectionObject(
  { type: Account, name: 'AccountConnection' },
  { name: 'AccountEdge' },
)

const AccountIdentity = builder.objectRef<AccountDetail['identities'][number]>('AccountIdentity').implement({
  fields: t => ({
    provider: t.exposeString('provider'),
    providerUserId: t.exposeString('providerUserId'),
    email: t.exposeString('email'),
  }),
})

const AccountWorkspace = builder.objectRef<AccountDetail['workspaces'][number]>('AccountWorkspace').implement({
  fields: t => ({
    id: t.exposeID('id'),
    name: t.exposeString('name'),
    slug: t.exposeString('slug'),
    role: t.exposeString('role', { description: 'That of the account.' }),
  }),
})

const Detail = builder.objectRef<AccountDetail>('AccountDetail').implement({
  description: 'All that operators see of one account.',
  fields: t => ({
    account: t.field({ type: Account, resolve: detail => detail }),
    identities: t.expose('identities', { type: [AccountIdentity] }),
    workspaces: t.expose('workspaces', { type: [AccountWorkspace] }),
    sessionCount: t.expose('sessions', { type: 'Long' }),
    apiKeyCount: t.expose('apiKeys', { type: 'Long' }),
    shareCount: t.expose('shares', { type: 'Long', description: 'Live ones.' }),
  }),
})

builder.queryField('accounts', t =>
  t.withAuth({ operator: true }).field({
    type: AccountConnection,
    description: 'The accounts whose address or name holds a text, the oldest first, with their usage. For operators.',
    args: { ...t.arg.connectionArgs(), search: t.arg.string({ description: 'Without it, all accounts.' }) },
    resolve: (_root, { search, ...args }, { services }) =>
      forwardConnection(args, byId, (limit, after) => services.operators.page(search?.trim() ?? '', limit, after)),
  }),
)

builder.queryField('account', t =>
  t.withAuth({ operator: true }).field({
    type: Detail,
    description: 'One account with its usage, identities and workspaces. For operators.',
    args: { id: t.arg.id({ required: true }) },
    resolve: (_root, { id }, { services }) => services.operators.user(services.operators.readId(id)),
  }),
)

const PlanUse = builder.objectRef<PlanView & { users: number }>('PlanUse').implement({
  fields: t => ({
    plan: t.field({ type: Plan, resolve: plan => plan }),
    accountCount: t.expose('users', { type: 'Long', description: 'How many accounts have it.' }),
  }),
})

builder.queryField('plans', t =>
  t.withAuth({ operator: true }).field({
    type: [PlanUse],
    description: 'All plans with their limits, and how many accounts have each. For operators.',
    resolve: (_root, _args, { services }) => services.operators.plans(),
  }),
)

const Queue = builder.objectRef<MailQueue>('MailQueue').implement({
  fields: t => ({
    waiting: t.expose('waiting', { type: 'Long', description: 'Not tried yet.' }),
    retrying: t.expose('retrying', { type: 'Long', description: 'Tried in vain, and tried again.' }),
    givenUp: t.expose('givenUp', { type: 'Long', description: 'Not tried any more, until retryMails.' }),
    oldestAt: t.expose('oldestAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the oldest mail that is still to be sent was queued.',
    }),
  }),
})

builder.queryField('mailQueue', t =>
  t.withAuth({ operator: true }).field({
    type: Queue,
    description: 'The mails that wait to be sent. For operators.',
    resolve: (_root, _args, { services }) => services.operators.mailQueue(),
  }),
)

const Operator = builder.objectRef<OperatorView>('Operator').implement({
  description: 'An account that may manage the users of the service.',
  fields: t => ({
    userId: t.exposeID('userId'),
    email: t.exposeString('email'),
    name: t.exposeString('name'),
    bySetting: t.exposeBoolean('bySetting', {
      description: 'Named by the setting OPERATORS, which alone dismisses them.',
    }),
    appointedBy: t.exposeID('appointedBy', { nullable: true, description: 'Id of the operator who did.' }),
    appointedAt: t.expose('appointedAt', { type: 'DateTime', nullable: true }),
  }),
})

builder.queryField('operators', t =>
  t.withAuth({ operator: true }).field({
    type: [Operator],
    description: 'Who may manage the users of the service. For operators.',
    resolve: (_root, _args, { services }) => services.appointments.list(),
  }),
)

const SetAccountPlanInput = builder.inputType('SetAccountPlanInput', {
  fields: t => ({ userId: t.id({ required: true }), planId: t.id({ required: true }) }),
})

builder.mutationField('setAccountPlan', t =>
  t.withAuth({ operator: true }).field({
    type: Account,
    description: 'Gives an account another plan; what is stored already stays. For operators.',
    args: { input: t.arg({ type: SetAccountPlanInput, required: true }) },
    resolve: async (_root, { input: { userId, planId } }, context) => {
      const { operators } = context.services
      const account = await operators.setPlan(operators.readId(userId), planId)
      logSecurityEvent(context, 'plan_changed', { user_id: account.id, plan_id: account.plan })
      return account
    },
  }),
)

const AccountInput = builder.inputType('AccountInput', { fields: t => ({ userId: t.id({ required: true }) }) })

builder.mutationField('suspendAccount', t =>
  t.withAuth({ operator: true }).field({
    type: Account,
    description:
      'Ends the sessions of an account, and stops its keys and links until it is restored. Neither oneself nor operators of the setting. For operators.',
    args: { input: t.arg({ type: AccountInput, required: true }) },
    resolve: async (_root, { input: { userId } }, context) => {
      const { appointments, operators } = context.services
      await appointments.requireSuspendable(context.caller, userId)
      const account = await operators.suspend(operators.readId(userId))
      logSecurityEvent(context, 'account_suspended', { user_id: account.id })
      return account
    },
  }),
)

builder.mutationField('restoreAccount', t =>
  t.withAuth({ operator: true }).field({
    type: Account,
    description: 'Lets a suspended account in again; its keys and links work as before. For operators.',
    args: { input: t.arg({ type: AccountInput, required: true }) },
    resolve: async (_root, { input: { userId } }, context) => {
      const { operators } = context.services
      const account = await operators.restore(operators.readId(userId))
      logSecurityEvent(context, 'account_restored', { user_id: account.id })
      return account
    },
  }),
)

const RetriedMails = builder.objectRef<{ mails: number }>('RetriedMails').implement({
  fields: t => ({ mails: t.expose('mails', { type: 'Long', description: 'How many.' }) }),
})

builder.mutationField('retryMails', t =>
  t.withAuth({ operator: true }).field({
    type: RetriedMails,
    description: 'Sends the mails once more that were given up. For operators.',
    resolve: async (_root, _args, { services }) => ({ mails: await services.operators.retryMails() }),
  }),
)

builder.mutationField('appointOperator', t =>
  t.withAuth({ operator: true }).field({
    type: Operator,
    description: 'Makes an account an operator. For operators.',
    args: { input: t.arg({ type: AccountInput, required: true }) },
    resolve: async (_root, { input: { userId } }, context) => {
      const operator = await context.services.appointments.appoint(context.caller, userId)
      logSecurityEvent(context, 'operator_appointed', { user_id: operator.userId })
      return operator
    },
  }),
)

const DismissedOperator = builder.objectRef<{ userId: string }>('DismissedOperator').implement({
  fields: t => ({ userId: t.exposeID('userId') }),
})

builder.mutationField('dismissOperator', t =>
  t.withAuth({ operator: true }).field({
    type: DismissedOperator,
    description: 'Ends the right of an appointed operator, oneself included; those of the setting stay. For operators.',
    args: { input: t.arg({ type: AccountInput, required: true }) },
    resolve: async (_root, { input: { userId } }, context) => {
      const dismissed = await context.services.appointments.dismiss(userId)
      logSecurityEvent(context, 'operator_dismissed', { user_id: dismissed.userId })
      return dismissed
    },
  }),
)
