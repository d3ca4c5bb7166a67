import { moment, number, type Row, table, uuid } from './columns.ts'
import { type LimitName, limitNames } from './plan.ts'

/** In the place of a number: unlimited. NULL leaves the limit to the plan. */
export const UNLIMITED = -1

/** What a limit comes from. */
export const limitSources = ['plan', 'account', 'workspace'] as const
export type LimitSource = (typeof limitSources)[number]

const columns = Object.fromEntries(limitNames.map(name => [name, number.nullable()])) as Record<
  LimitName,
  ReturnType<typeof number.nullable>
>

/**
 * Limits that operators have set for one account or one workspace: each replaces that limit of the
 * plan. Those of an account also hold for the workspaces that it owns; those of a workspace hold
 * before them.
 */
export const OwnLimit = table({
  tableName: 'own_limit',
  columns: {
    id: uuid.key(),
    /** One of the two is set. */
    userId: uuid.ownedBy('user').nullable(),
    workspaceId: uuid.ownedBy('workspace').nullable(),
    ...columns,
    changedAt: moment,
  },
  unique: [['userId'], ['workspaceId']],
})

export type OwnLimit = Row<typeof OwnLimit>
