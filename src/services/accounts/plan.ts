import { validate as isUuid } from 'uuid'
import { isDuplicate, type Tx } from '../../../db/index.ts'
import { SERVICE_LOG, type ServiceEventKind } from '../../../db/models/event.ts'
import type { Limits, Plan } from '../../../db/models/plan.ts'
import {
  accountsPerPlan,
  type Holder,
  limitsOfHolders,
  lockPlan,
  setDefaultPlan,
} from '../../../db/queries/plan.ts'
import type { Caller } from '../../access/caller.ts'
import { AppError, InvalidInput } from '../../runtime/errors.ts'
import { excerpt } from '../../values/excerpt.ts'
import { MAX_PLAN_ID, MAX_PLAN_NAME } from '../../values/limits.ts'
import { oneLine } from '../../values/one-line.ts'
import type { Core } from '../core.ts'
import { changeRunner, type EventDetails, operatorOf } from '../history/event.ts'
import {
  type LimitChange,
  type LimitView,
  readLimits,
  viewLimits,
  workspaceLimits,
} from './limit.ts'
import { announceShrunkPlan } from './over-quota.ts'
import { assignLimits } from './plan-assignment.ts'

/** A plan and the number of accounts that have it. */
export type PlanUse = Plan & { users: number }

/** The maximum number of plans, so that a list of them stays usable. */
const MAX_PLANS = 200

/** Replaces the id of a plan: the service chooses the plan again. */
export const AUTOMATIC = 'automatic'

function readName(name: string): string {
  const read = oneLine(name).trim()
  if (read === '' || read.length > MAX_PLAN_NAME)
    throw new InvalidInput('name', `The name of a plan has 1 to ${MAX_PLAN_NAME} characters.`)
  return read
}

function readId(id: string): string {
  if (/^[a-z0-9][a-z0-9-]{0,31}$/.test(id) && id !== AUTOMATIC) return id
  throw new InvalidInput(
    'id',
    `The id of a plan has 1 to ${MAX_PLAN_ID} of a-z, 0-9 and -, begins with a letter or digit, and is not "${AUTOMATIC}".`,
  )
}

/** The plans, for operators. Changes take effect at the next request of each account. */
export function planService({
  db,
  change = changeRunner({ db }),
  wake = () => {},
  publicUrl = () => '',
}: Core<'db'> & Partial<Core<'change' | 'wake' | 'publicUrl'>>) {
  const all = () => db.Plan.findAll({ raw: true, order: ['maxTotalStorageBytes', 'id'] })
  const link = () => publicUrl()

  const viewOf = (plan: Plan, users: Map<string, number>): PlanUse => ({
    ...plan,
    isDefault: Boolean(plan.isDefault),
    users: users.get(plan.id) ?? 0,
  })

  async function noSuchPlan(id: string, field: string): Promise<InvalidInput> {
    const ids = (await all()).map(plan => plan.id)
    return new InvalidInput(
      field,
      `There is no plan "${excerpt(id)}". The plans are: ${ids.join(', ')}.`,
    )
  }

  /** @throws INVALID_INPUT */
  async function find(id: string, field = 'plan_id'): Promise<PlanUse> {
    const plan = await db.Plan.findByPk(id, { raw: true })
    if (!plan) throw await noSuchPlan(id, field)
    return viewOf(plan, await accountsPerPlan(db))
  }

  /**
   * Changes one plan under its lock and records the change.
   * @param by null for the command line of the service, as everywhere here
   * @param work returns the details to record, or undefined if nothing changed
   * @returns the plan before the change
   * @throws INVALID_INPUT
   */
  async function changePlan(
    { id, by, kind }: { id: string; by: Caller | null; kind: ServiceEventKind },
    work: (plan: Plan, tx: Tx) => Promise<EventDetails | undefined>,
  ): Promise<Plan> {
    return change(operatorOf(by), async ({ tx, record }) => {
      const plan = await lockPlan(db, id, tx)
      if (!plan) throw await noSuchPlan(id, 'plan_id')
      const details = await work(plan, tx)
      if (details) record(SERVICE_LOG, { kind, subject: null, details: { plan: id, ...details } })
      return plan
    })
  }

  return {
    /** All plans, smallest first. */
    async list(): Promise<PlanUse[]> {
      const users = await accountsPerPlan(db)
      return (await all()).map(plan => viewOf(plan, users))
    },

    /**
     * @param like the plan from which missing limits are copied; the default plan by default
     * @throws INVALID_INPUT
     */
    async create(
      given: { id: string; name: string; like?: string | null | undefined; limits: LimitChange[] },
      by: Caller | null = null,
    ): Promise<PlanUse> {
      const [id, name, limits] = [
        readId(given.id),
        readName(given.name),
        readLimits(given.limits, 'plan'),
      ]
      const where = given.like == null ? { isDefault: true } : { id: given.like }
      const model: Plan | null = await db.Plan.findOne({ where, raw: true })
      if (!model) throw await noSuchPlan(given.like ?? '', 'like')
      if ((await db.Plan.count()) >= MAX_PLANS)
        throw new InvalidInput(
          'id',
          `There are ${MAX_PLANS} plans already. Delete one that no account has first.`,
        )
      try {
        await change(operatorOf(by), async ({ tx, record }) => {
          const plan = {
            ...model,
            ...(limits as Partial<Limits>),
            id,
            name,
            isDefault: false,
            retiredAt: null,
          }
          await db.Plan.create(plan, { transaction: tx })
          const details = { plan: id, name, limits: given.limits }
          record(SERVICE_LOG, { kind: 'plan.created', subject: null, details })
        })
      } catch (error) {
        throw isDuplicate(error)
          ? new InvalidInput('id', `There is a plan "${id}" already. Choose another id.`)
          : error
      }
      return find(id)
    },

    /**
     * Changes the name and limits. Accounts keep stored data even beyond the new limits.
     * @throws INVALID_INPUT
     */
    async update(
      id: string,
      given: { name?: string | null; limits: LimitChange[] },
      by: Caller | null = null,
    ): Promise<PlanUse> {
      const limits = readLimits(given.limits, 'plan')
      const name = given.name == null ? {} : { name: readName(given.name) }
      const changes = { ...name, ...(limits as Partial<Limits>) }
      const before = await changePlan({ id, by, kind: 'plan.updated' }, async (_plan, tx) => {
        await db.Plan.update(changes, { where: { id }, transaction: tx })
        return { ...name, ...(given.limits.length > 0 ? { limits: given.limits } : {}) }
      })
      if (await announceShrunkPlan(db, { id, before, after: { ...before, ...changes } }, link()))
        wake()
      return find(id)
    },

    /**
     * Retires a plan: no account gets it any more. Its accounts keep it until an operator moves
     * them.
     * @throws INVALID_INPUT, PLAN_IN_USE
     */
    async retire(id: string, by: Caller | null = null): Promise<PlanUse> {
      await changePlan({ id, by, kind: 'plan.retired' }, async (plan, tx) => {
        if (plan.isDefault)
          throw new AppError(
            'PLAN_IN_USE',
            'New accounts get this plan. Make another plan the default first.',
            {
              plan_id: id,
            },
          )
        if (plan.retiredAt !== null) return undefined
        await db.Plan.update({ retiredAt: Date.now() }, { where: { id }, transaction: tx })
        return {}
      })
      return find(id)
    },

    /**
     * Allows a retired plan for accounts again.
     * @throws INVALID_INPUT
     */
    async restore(id: string, by: Caller | null = null): Promise<PlanUse> {
      await changePlan({ id, by, kind: 'plan.restored' }, async (plan, tx) => {
        if (plan.retiredAt === null) return undefined
        await db.Plan.update({ retiredAt: null }, { where: { id }, transaction: tx })
        return {}
      })
      return find(id)
    },

    /** Deletes a plan that no account has. @throws INVALID_INPUT, PLAN_IN_USE */
    async remove(id: string, by: Caller | null = null): Promise<void> {
      await changePlan({ id, by, kind: 'plan.deleted' }, async (plan, tx) => {
        const users = (await accountsPerPlan(db, tx)).get(id) ?? 0
        if (plan.isDefault || users > 0) throw planInUse(id, users, plan.isDefault)
        await db.Plan.destroy({ where: { id }, transaction: tx })
        return { name: plan.name }
      })
    },

    /**
     * Makes this the plan of new accounts.
     * @throws INVALID_INPUT, PLAN_IN_USE for a retired plan
     */
    async setDefault(id: string, by: Caller | null = null): Promise<PlanUse> {
      await changePlan({ id, by, kind: 'plan.made_default' }, async (plan, tx) => {
        if (plan.retiredAt !== null)
          throw new AppError('PLAN_IN_USE', 'This plan is retired. Restore it first.', {
            plan_id: id,
          })
        if (plan.isDefault) return undefined
        await setDefaultPlan(db, id, tx)
        return {}
      })
      return find(id)
    },

    /** The current limits of some accounts or workspaces, by id. Does not authorize. */
    async limitsOf(holder: Holder, ids: readonly string[]): Promise<Map<string, LimitView[]>> {
      const names = holder === 'workspace' ? workspaceLimits : undefined
      return new Map(
        (await limitsOfHolders(db, holder, ids)).map(row => [row.id, viewLimits(row, names)]),
      )
    },

    /**
     * Sets own limits of an account or a workspace. Stored data beyond them is kept. Does not
     * authorize.
     * @throws USER_NOT_FOUND, WORKSPACE_NOT_FOUND, INVALID_INPUT
     */
    async setLimits(
      holder: Holder,
      id: string,
      changes: LimitChange[],
      by: Caller | null = null,
    ): Promise<void> {
      const limits = readLimits(changes, holder)
      const over = await change(operatorOf(by), async ({ tx, record }) => {
        const isOver = await assignLimits(db, { holder, id, limits, link: link() }, tx)
        const log = holder === 'workspace' ? { workspace: id } : id
        if (changes.length > 0)
          record(log, { kind: 'limits.changed', subject: id, details: { limits: changes } })
        return isOver
      })
      if (over) wake()
    },

    /**
     * Finds a workspace by its id or slug, for programs on the server. A slug that looks like an id
     * always means the id.
     */
    async findWorkspace(named: string): Promise<{ id: string; name: string; slug: string } | null> {
      const attributes = ['id', 'name', 'slug']
      const where = isUuid(named) ? { id: named.toLowerCase() } : { slug: named }
      return db.Workspace.findOne({ where, attributes, raw: true })
    },
  }
}

export type PlanService = ReturnType<typeof planService>

export const planInUse = (id: string, accounts: number, isDefault = false) =>
  new AppError(
    'PLAN_IN_USE',
    isDefault
      ? 'New accounts get this plan. Make another plan the default first.'
      : `${accounts} accounts have this plan. Give them another plan first, or retire it.`,
    { plan_id: id, accounts },
  )
