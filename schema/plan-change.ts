import { logSecurityEvent, type SecurityEvent } from '../src/access/audit-log.ts'
import type { Caller } from '../src/access/caller.ts'
import type { PlanUse as PlanUseView } from '../src/services/accounts/plan.ts'
import { MAX_PLAN_ID, MAX_PLAN_NAME } from '../src/values/limits.ts'
import type { InputFields, ObjectFields } from './builder.ts'
import type { Context } from './context.ts'
import { mutation } from './mutation.ts'
import { PlanUse, workspaceLimitsOf } from './operator.ts'
import { AppliedLimit, LIMITS, limitsInput, readLimitInput } from './plan.ts'

const places = { plan_id: 'plan' }
const plan = (t: InputFields) => t.id({ required: true, description: 'The id of the plan.' })
const planField = (t: ObjectFields<{ plan: PlanUseView }>) => ({
  plan: t.expose('plan', { type: PlanUse, description: 'The plan as it is now.' }),
})

/** Logs a change of a plan. @returns the payload */
async function done(
  context: Context & { caller: Caller },
  event: SecurityEvent,
  changing: Promise<PlanUseView>,
) {
  const changed = await changing
  logSecurityEvent(context, event, { plan_id: changed.id })
  return { plan: changed }
}

mutation('operatorCreatePlan', {
  description: 'Creates a plan. For operators.',
  auth: { operator: true },
  fails: ['INVALID_INPUT'],
  input: t => ({
    id: t.id({
      required: true,
      description: `1 to ${MAX_PLAN_ID} of a-z, 0-9 and -. It cannot be changed later.`,
    }),
    name: t.string({ required: true, description: `1 to ${MAX_PLAN_NAME} characters.` }),
    like: t.id({
      description: 'The plan that supplies the omitted limits; by default the default plan.',
    }),
    limits: limitsInput(t),
  }),
  resolve: ({ limits, ...given }, context) =>
    done(
      context,
      'plan_created',
      context.services.plans.create({ ...given, limits: readLimitInput(limits) }, context.caller),
    ),
  payload: planField,
})

mutation('operatorUpdatePlan', {
  description:
    'Changes the name or the limits of a plan, for all of its accounts. Stored files are kept, even beyond the new limits. The oldest trash and versions beyond them are soon deleted permanently. For operators.',
  auth: { operator: true },
  fails: ['INVALID_INPUT'],
  places,
  input: t => ({
    plan: plan(t),
    name: t.string({ description: `1 to ${MAX_PLAN_NAME} characters. By default unchanged.` }),
    limits: limitsInput(t),
  }),
  resolve: ({ plan, name = null, limits }, context) =>
    done(
      context,
      'plan_updated',
      context.services.plans.update(plan, { name, limits: readLimitInput(limits) }, context.caller),
    ),
  payload: planField,
})

mutation('operatorRetirePlan', {
  description:
    'Retires a plan: its accounts keep it, but no other account can get it. For operators.',
  auth: { operator: true },
  fails: ['INVALID_INPUT', 'PLAN_IN_USE'],
  places,
  input: t => ({ plan: plan(t) }),
  resolve: ({ plan }, context) =>
    done(context, 'plan_retired', context.services.plans.retire(plan, context.caller)),
  payload: planField,
})

mutation('operatorRestorePlan', {
  description: 'Restores a retired plan, so that accounts can get it again. For operators.',
  auth: { operator: true },
  fails: ['INVALID_INPUT'],
  places,
  input: t => ({ plan: plan(t) }),
  resolve: ({ plan }, context) =>
    done(context, 'plan_restored', context.services.plans.restore(plan, context.caller)),
  payload: planField,
})

mutation('operatorSetDefaultPlan', {
  description: 'Makes a plan the default of new accounts. For operators.',
  auth: { operator: true },
  fails: ['INVALID_INPUT', 'PLAN_IN_USE'],
  places,
  input: t => ({ plan: plan(t) }),
  resolve: ({ plan }, context) =>
    done(context, 'default_plan_changed', context.services.plans.setDefault(plan, context.caller)),
  payload: planField,
})

mutation('operatorDeletePlan', {
  description: 'Deletes a plan that no account has. For operators.',
  auth: { operator: true },
  fails: ['INVALID_INPUT', 'PLAN_IN_USE'],
  places,
  input: t => ({ plan: plan(t) }),
  resolve: async ({ plan }, context) => {
    await context.services.plans.remove(plan, context.caller)
    logSecurityEvent(context, 'plan_deleted', { plan_id: plan })
    return { deletedId: plan }
  },
  payload: t => ({ deletedId: t.exposeID('deletedId', { description: 'The id of the plan.' }) }),
})

mutation('operatorSetWorkspaceLimits', {
  description:
    'Sets single limits of a workspace, which replace those of its owner. Stored files are kept, even beyond the new limits. The oldest trash and versions beyond them are soon deleted permanently. For operators.',
  auth: { operator: true },
  fails: ['INVALID_INPUT', 'WORKSPACE_NOT_FOUND'],
  input: t => ({
    workspace: t.id({ required: true, description: 'The id of the workspace.' }),
    limits: limitsInput(t),
  }),
  resolve: async ({ workspace, limits }, context) => {
    const changed = readLimitInput(limits)
    await context.services.plans.setLimits('workspace', workspace, changed, context.caller)
    if (changed.length > 0)
      logSecurityEvent(context, 'limits_changed', {
        workspace_id: workspace,
        limits: changed.map(({ name }) => name).join(' '),
      })
    return { workspaceId: workspace }
  },
  payload: t => ({
    workspaceId: t.exposeID('workspaceId', { description: 'The id of the workspace.' }),
    limits: t.field({
      type: [AppliedLimit],
      description: 'Its limits as they are now.',
      listSize: LIMITS,
      resolve: ({ workspaceId }, _args, context) => workspaceLimitsOf(context, workspaceId),
    }),
  }),
})
