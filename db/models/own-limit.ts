import { moment, number, type Row, table, uuid } from './columns.ts'
import { type LimitName, limitNames } from './plan.ts'

/** Stored instead of a number: unlimited. NULL leaves the limit to the plan. */
export const UNLIMITED = -1

/** The source of a limit. */
export const limitSources = ['plan', 'account', 'workspace'] as const
export type LimitSource = (typeof limitSources)[number]

const columns = Object.fromEntries(limitNames.map(name => [name, number.nullable()])) as Record<
  LimitName,
  ReturnType<typeof number.nullable>
>

/**
 * Limits that operators have set for one account or one workspace: each replaces the limit of the
 * plan. The limits of an account also apply to the workspaces that it owns. The limits of a
 * workspace take precedence.
 */
export const OwnLimit = table({
  tableName: 'own_limit',
  columns: {
    id: uuid.key(),
    /** Exactly one of the two is set. */
    userId: uuid.ownedBy('user').nullable(),
    workspaceId: uuid.ownedBy('workspace').nullable(),
    ...columns,
    changedAt: moment,
  },
  unique: [['userId'], ['workspaceId']],
})

export type OwnLimit = Row<typeof OwnLimit>
