import type { Command } from 'commander'
import type { Db } from '../../db/index.ts'
import { limitNames } from '../../db/models/plan.ts'
import type { Config } from '../config/config.ts'
import { AppError, InvalidInput } from '../runtime/errors.ts'
import { size, table } from '../runtime/table.ts'
import {
  type LimitChange,
  type LimitView,
  readLimitName,
  wireName,
  workspaceLimits,
} from '../services/accounts/limit.ts'
import type { OperatorService } from '../services/accounts/operator.ts'
import {
  AUTOMATIC,
  type PlanService,
  type PlanUse,
  planService,
} from '../services/accounts/plan.ts'

export interface Answer {
  /** The output with --json. */
  fact: object
  words: string
  /** The exit code of the program; 0 by default. */
  exitCode?: number
}

/** @returns null if the result has been printed already */
export type Work = (
  operator: OperatorService,
  service: { db: Db; config: Config },
) => Promise<Answer | null>

/** Declares and runs commands, and prints their results. */
export interface Program {
  command: (name: string, description: string) => Command
  run: (work: Work) => Promise<void>
}

export const toSnake = (name: string): string =>
  name.replaceAll(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)

const units = { '': 1, B: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3, TiB: 1024 ** 4 } as const

/**
 * Parses a limit such as "max_files", "100". The value is a number, a size such as 5GiB,
 * `unlimited`, or `default` for the plan's limit.
 * @throws INVALID_INPUT
 */
function readLimit(named: string, text: string, forPlan: boolean): LimitChange {
  const name = readLimitName(named)
  if (text === 'unlimited') return { name, value: 'unlimited' }
  if (text === 'default' && !forPlan) return { name, value: null }
  const [, digits, unit = ''] = /^(\d+(?:\.\d+)?)\s*(B|KiB|MiB|GiB|TiB)?$/.exec(text) ?? []
  const value = Number(digits) * units[unit as keyof typeof units]
  if (digits !== undefined && Number.isInteger(value) && (unit === '' || name.includes('Bytes')))
    return { name, value }
  const words = forPlan ? 'unlimited' : 'unlimited or default'
  throw new InvalidInput(
    'limits',
    `"${text}" is no value of ${named}. Give a whole number, a size such as 5GiB, or ${words}.`,
  )
}

/** Parses a limit such as "max_files=100". @throws INVALID_INPUT */
function readSetting(text: string): LimitChange {
  const [, name = text, value = ''] = /^([^=]+)=(.*)$/.exec(text) ?? []
  return readLimit(name, value, true)
}

const collect = (text: string, before: string[]) => [...before, text]

/** Declares the commands about plans and limits. */
export function planCommands({ command, run }: Program): void {
  const shownValue = (name: string, max: number | null) =>
    max === null ? 'unlimited' : /Bytes/.test(name) ? size(max) : String(max)

  function detail(plan: PlanUse): string {
    const rows = limitNames.map(name => [`  ${wireName(name)}`, shownValue(name, plan[name])])
    const state = [
      ...(plan.isDefault ? ['default'] : []),
      ...(plan.retiredAt === null ? [] : ['retired']),
    ]
    const what = [`${plan.id} (${plan.name}), ${plan.users} accounts`, ...state].join(', ')
    return `${what}\n${table(rows)}`
  }

  const limitRows = (limits: LimitView[]) =>
    table([
      ['LIMIT', 'VALUE', 'FROM', 'PLAN'],
      ...limits.map(l => [
        wireName(l.name),
        shownValue(l.name, l.value),
        l.from,
        shownValue(l.name, l.ofPlan),
      ]),
    ])

  const withPlans = (work: (plans: PlanService, operator: OperatorService) => Promise<Answer>) =>
    run((operator, { db, config }) =>
      work(planService({ db, publicUrl: () => config.publicUrl }), operator),
    )

  const onePlan = (
    words: (plan: PlanUse) => string,
    work: (plans: PlanService) => Promise<PlanUse>,
  ) =>
    withPlans(async plans => {
      const plan = await work(plans)
      return { fact: { plan }, words: words(plan) }
    })

  const shrinkHelp =
    '\nA smaller storage limit deletes the oldest trash and versions beyond it within minutes, for good (KEPT_PERCENT).'
  const limitsHelp = `\nThe limits: ${limitNames.map(wireName).join(', ')}.`
  const setOption = [
    '--set <limit=value>',
    'sets a limit: a number, a size such as 5GiB, or unlimited; may be repeated',
  ] as const

  command(
    'set-plan <user> <plan>',
    `changes the plan of an account; its stored files are kept. "${AUTOMATIC}" undoes that`,
  )
    .addHelpText(
      'after',
      `\nAn account keeps the plan that an operator has chosen. "${AUTOMATIC}" gives it the default plan now, and that of PLAN_CLAIM at its next sign-in.${shrinkHelp}`,
    )
    .action((named: string, plan: string) =>
      run(async operator => {
        const user = await operator.setPlan(named, plan === AUTOMATIC ? null : plan)
        return { fact: { user }, words: `${user.email} has the plan ${user.plan}.` }
      }),
    )

  command('plans', 'lists the plans with their limits').action(() =>
    withPlans(async plans => {
      const list = await plans.list()
      return { fact: { plans: list }, words: list.map(detail).join('\n\n') }
    }),
  )

  command('create-plan <id> <name>', 'creates a plan')
    .option(
      '--like <plan>',
      'the plan whose limits it has where none is set (default: the default plan)',
    )
    .option(...setOption, collect, [])
    .addHelpText('after', limitsHelp)
    .action((id: string, name: string, { like, set }: { like?: string; set: string[] }) =>
      onePlan(detail, plans =>
        plans.create({ id, name, like: like ?? null, limits: set.map(readSetting) }),
      ),
    )

  command('change-plan <plan>', 'changes the name or the limits of a plan; stored files are kept')
    .option('--name <name>', 'its new name')
    .option(...setOption, collect, [])
    .addHelpText('after', `${limitsHelp}${shrinkHelp}`)
    .action((id: string, { name, set }: { name?: string; set: string[] }) =>
      onePlan(detail, plans =>
        plans.update(id, { name: name ?? null, limits: set.map(readSetting) }),
      ),
    )

  command('retire-plan <plan>', 'gives a plan to no account any more; its accounts keep it').action(
    (id: string) =>
      onePlan(
        plan => `${plan.id} is retired. ${plan.users} accounts keep it.`,
        plans => plans.retire(id),
      ),
  )

  command('restore-plan <plan>', 'lets accounts be given a retired plan again').action(
    (id: string) =>
      onePlan(
        plan => `Accounts can be given ${plan.id} again.`,
        plans => plans.restore(id),
      ),
  )

  command('delete-plan <plan>', 'deletes a plan that no account has').action((id: string) =>
    withPlans(async plans => {
      await plans.remove(id)
      return { fact: { deletedId: id }, words: `${id} is deleted.` }
    }),
  )

  command('default-plan <plan>', 'gives a plan to new accounts').action((id: string) =>
    onePlan(
      plan => `New accounts get the plan ${plan.id}.`,
      plans => plans.setDefault(id),
    ),
  )

  const holderOf = async (plans: PlanService, operator: OperatorService, named: string) => {
    if (named.includes('@')) return { holder: 'user', id: (await operator.user(named)).id } as const
    const workspace = await plans.findWorkspace(named)
    if (workspace) return { holder: 'workspace', id: workspace.id } as const
    return { holder: 'user', id: (await operator.user(named)).id } as const
  }

  async function limitsAnswer(
    plans: PlanService,
    holder: 'user' | 'workspace',
    id: string,
  ): Promise<Answer> {
    const limits = (await plans.limitsOf(holder, [id])).get(id)
    if (!limits) throw new AppError('USER_NOT_FOUND', 'It was deleted meanwhile.')
    const fact = {
      [holder]: id,
      limits: limits.map(limit => ({ ...limit, name: wireName(limit.name) })),
    }
    return { fact, words: limitRows(limits) }
  }

  command(
    'limits <user|workspace>',
    'shows the limits in force of an account or a workspace, and where they come from',
  ).action((named: string) =>
    withPlans(async (plans, operator) => {
      const { holder, id } = await holderOf(plans, operator, named)
      return limitsAnswer(plans, holder, id)
    }),
  )

  command(
    'set-limit <user|workspace> <limit> <value>',
    'sets one limit of an account or a workspace; stored files are kept',
  )
    .addHelpText(
      'after',
      `
The value is a number, a size such as 5GiB, unlimited, or default: that leaves it to the plan again.
A workspace is named by its id or slug.${limitsHelp}
For a workspace: ${workspaceLimits.map(wireName).join(', ')}.${shrinkHelp}`,
    )
    .action((named: string, limit: string, value: string) =>
      withPlans(async (plans, operator) => {
        const change = readLimit(limit, value, false)
        const { holder, id } = await holderOf(plans, operator, named)
        await plans.setLimits(holder, id, [change])
        return limitsAnswer(plans, holder, id)
      }),
    )
}
