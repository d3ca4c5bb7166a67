import type {
  AccountCounts,
  AccountIdentity,
  AccountRow,
  AccountWorkspace,
} from '../db/queries/account.ts'
import type { MailQueue as Queue } from '../db/queries/job.ts'
import { AppError } from '../src/runtime/errors.ts'
import type { OperatorView as Appointed } from '../src/services/accounts/appointment.ts'
import type { PlanUse as PlanUseView } from '../src/services/accounts/plan.ts'
import { batch } from './batch.ts'
import { builder } from './builder.ts'
import { connectionOf, pageArgs } from './connection.ts'
import type { Context } from './context.ts'
import { DriveUsage } from './drive.ts'
import { AccountFilter, AccountStatus, PlanChooser, Role } from './enums.ts'
import { findable, Node } from './node.ts'
import { byId, forwardConnection } from './paging.ts'
import { existingPerson, Person, personField } from './person.ts'
import { AppliedLimit, LIMITS, Plan } from './plan.ts'

const PREFIX = 'account:'

/** The id of the user in the id of an account. */
export const readAccountId = (id: string): string =>
  id.startsWith(PREFIX) ? id.slice(PREFIX.length) : ''

/** An account and its details have the id of its user. */
const details = {
  accounts: batch(({ services }, ids) => services.operators.details.accounts(ids)),
  identities: batch(({ services }, ids) => services.operators.details.identities(ids)),
  workspaces: batch(({ services }, ids) => services.operators.details.workspaces(ids)),
  counts: batch(({ services }, ids) => services.operators.details.counts(ids)),
  usages: batch(({ services }, ids) => services.operators.details.usages(ids)),
  plans: batch(({ services }, ids) => services.operators.plansOf(ids)),
  limits: batch(({ services }, ids) => services.plans.limitsOf('user', ids)),
  workspaceLimits: batch(({ services }, ids) => services.plans.limitsOf('workspace', ids)),
  operators: batch(
    async ({ services }) =>
      new Map((await services.appointments.list()).map(one => [one.userId, one])),
  ),
}

export const workspaceLimitsOf = async (context: Context, id: string) =>
  (await details.workspaceLimits(context, id)) ?? []

const gone = () => new AppError('USER_NOT_FOUND', 'This account was deleted meanwhile.')

/** @throws USER_NOT_FOUND */
export async function accountOf(context: Context, id: string): Promise<AccountRow> {
  const account = await details.accounts(context, id)
  if (!account) throw gone()
  return account
}

const Identity = builder.objectRef<AccountIdentity>('AccountIdentity').implement({
  description: 'An identity with which one can sign in to an account.',
  fields: t => ({
    provider: t.exposeString('provider', { description: 'The sign-in provider.' }),
    providerUserId: t.exposeString('providerUserId', {
      description: 'The user id of the person at the provider.',
    }),
    email: t.exposeString('email', { description: 'The e-mail address stated by the provider.' }),
  }),
})

const Membership = builder.objectRef<AccountWorkspace>('AccountWorkspace').implement({
  description: 'A workspace that the owner of an account is a member of.',
  fields: t => ({
    workspaceId: t.exposeID('id', { description: 'The id of the workspace.' }),
    name: t.exposeString('name', { description: 'The name of the workspace.' }),
    slug: t.exposeString('slug', { description: 'The slug of the workspace.' }),
    role: t.expose('role', { type: Role, description: 'The role in this workspace.' }),
    limits: t.field({
      type: [AppliedLimit],
      description: 'The limits of the workspace.',
      listSize: LIMITS,
      resolve: async ({ id }, _args, context) => (await details.workspaceLimits(context, id)) ?? [],
    }),
  }),
})

export const Account = builder.objectRef<AccountRow>('Account').implement({
  description: 'An account, as operators see it.',
  interfaces: [Node],
  fields: t => {
    const count = (of: keyof AccountCounts, description: string) =>
      t.int({
        description,
        resolve: async ({ id }, _args, context) => (await details.counts(context, id))?.[of] ?? 0,
      })
    return {
      id: t.id({
        description: 'A global id, the same everywhere.',
        resolve: ({ id }) => `${PREFIX}${id}`,
      }),
      person: t.field({
        type: Person,
        description: 'Its owner.',
        resolve: ({ id }, _args, context) => existingPerson(context, id),
      }),
      email: t.exposeString('email', { description: 'The e-mail address.' }),
      emailVerified: t.exposeBoolean('emailVerified', {
        description: 'Whether a provider vouches for the address.',
      }),
      name: t.exposeString('name', { description: 'The name.' }),
      status: t.expose('status', { type: AccountStatus, description: 'Whether it may sign in.' }),
      createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
      plan: t.field({
        type: Plan,
        description: 'Its plan.',
        resolve: async ({ plan: id }, _args, context) => {
          const plan = await details.plans(context, id)
          if (!plan) throw gone()
          return plan
        },
      }),
      planBy: t.expose('planBy', { type: PlanChooser, description: 'Who chose the plan.' }),
      limits: t.field({
        type: [AppliedLimit],
        description: 'The current limits.',
        listSize: LIMITS,
        resolve: async ({ id }, _args, context) => (await details.limits(context, id)) ?? [],
      }),
      usage: t.field({
        type: DriveUsage,
        description: 'The usage and the limits of its drive.',
        resolve: async ({ id }, _args, context) => {
          const usage = await details.usages(context, id)
          if (!usage) throw gone()
          return usage
        },
      }),
      identities: t.field({
        type: [Identity],
        description: 'Its identities, oldest first.',
        resolve: async ({ id }, _args, context) => (await details.identities(context, id)) ?? [],
      }),
      workspaces: t.field({
        type: [Membership],
        description: 'The workspaces that its owner is a member of, oldest first.',
        resolve: async ({ id }, _args, context) => (await details.workspaces(context, id)) ?? [],
      }),
      sessionCount: count('sessions', 'How many sessions are active.'),
      apiKeyCount: count('apiKeys', 'How many API keys its owner has created.'),
      shareCount: count('shares', 'How many shares are active.'),
      operator: t.field({
        type: Operator,
        nullable: true,
        description: 'Why its owner is an operator; null for everyone else.',
        resolve: async ({ id }, _args, context) => (await details.operators(context, id)) ?? null,
      }),
    }
  },
})

export const Operator = builder.objectRef<Appointed>('Operator')

Operator.implement({
  description: 'A person who may manage the accounts of the service.',
  fields: t => ({
    account: t.field({
      type: Account,
      description: 'Their account.',
      resolve: ({ userId }, _args, context) => accountOf(context, userId),
    }),
    bySetting: t.exposeBoolean('bySetting', {
      description:
        'Whether the setting OPERATORS names them; then only the setting can dismiss them.',
    }),
    appointedBy: personField(
      t,
      'The operator who appointed them.',
      ({ appointedBy }) => appointedBy,
    ),
    appointedAt: t.expose('appointedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When they were appointed.',
    }),
  }),
})

findable(PREFIX, 'Account', async (context, caller, id) => {
  if (caller.via !== 'session' || !(await context.services.appointments.isOperator(caller)))
    return null
  return details.accounts(context, id)
})

export const PlanUse = builder.objectRef<PlanUseView>('PlanUse').implement({
  description: 'A plan, as operators see it.',
  fields: t => ({
    plan: t.field({ type: Plan, description: 'The plan.', resolve: plan => plan }),
    accountCount: t.exposeInt('users', { description: 'How many accounts have this plan.' }),
    isDefault: t.exposeBoolean('isDefault', { description: 'Whether new accounts get it.' }),
    retiredAt: t.expose('retiredAt', {
      type: 'DateTime',
      nullable: true,
      description:
        'When it was retired: its accounts keep it, but no other account can get it. Null for an active plan.',
    }),
  }),
})

export const MailQueue = builder.objectRef<Queue>('MailQueue').implement({
  description: 'The mails that are queued.',
  fields: t => ({
    waiting: t.exposeInt('waiting', { description: 'Not attempted yet.' }),
    retrying: t.exposeInt('retrying', { description: 'Failed at least once, to be retried.' }),
    givenUp: t.exposeInt('givenUp', {
      description: 'Abandoned; only operatorRetryMails sends them again.',
    }),
    oldestAt: t.expose('oldestAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the oldest unsent mail was queued.',
    }),
  }),
})

/** Its fields have the rule of the root field, which is the only way to it. */
export const OperatorView = builder.objectRef<object>('OperatorView').implement({
  description: 'What only operators may see.',
})

builder.queryField('operator', t =>
  t.withAuth({ operator: true }).field({
    type: OperatorView,
    description: 'What only operators may see; FORBIDDEN for everyone else.',
    resolve: () => ({}),
  }),
)

builder.objectFields(OperatorView, t => ({
  accounts: t.field({
    type: connectionOf('Account', Account),
    description: 'The accounts whose address or name contains a text, oldest first.',
    args: {
      search: t.arg.string({ description: 'The text; by default all accounts are listed.' }),
      filter: t.arg({ type: AccountFilter, description: 'Lists only these accounts.' }),
      ...pageArgs(t.arg),
    },
    resolve: (_root, { search, filter, ...page }, { services }) => {
      const chosen = { search: search?.trim() ?? '', over: filter === 'over_quota' }
      return forwardConnection(page, byId, (limit, after) =>
        services.operators.page(chosen, limit, after),
      )
    },
  }),
  plans: t.field({
    type: [PlanUse],
    description: 'All plans with their limits, and how many accounts have each.',
    resolve: (_root, _args, { services }) => services.plans.list(),
  }),
  mailQueue: t.field({
    type: MailQueue,
    description: 'The mails that are queued.',
    resolve: (_root, _args, { services }) => services.operators.mailQueue(),
  }),
  operators: t.field({
    type: [Operator],
    description: 'The people who may manage the accounts of the service.',
    resolve: (_root, _args, { services }) => services.appointments.list(),
  }),
}))
