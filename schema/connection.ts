import type { OutputType } from '@pothos/core'
import { figure } from '../src/values/limits.ts'
import { type ArgFields, builder, type Types } from './builder.ts'
import { DEFAULT_FIRST, MAX_FIRST } from './paging.ts'

/** The type of a paged list of nodes. */
export const connectionOf = <Type extends OutputType<Types>>(name: string, type: Type) =>
  builder.connectionObject(
    { type, name: `${name}Connection`, description: 'One page of a list.' },
    { name: `${name}Edge`, description: 'A node of a list with its cursor.' },
  )

/** The arguments of every list. Lists are read forwards. */
export const pageArgs = (arg: ArgFields) => ({
  first: arg.int({
    description: `Number of nodes, 1 to ${figure(MAX_FIRST)}; ${DEFAULT_FIRST} by default.`,
  }),
  after: arg.string({ description: 'The `endCursor` of the previous page.' }),
})

/** The argument that reverses a list sorted by time. */
export const newestFirst = (arg: ArgFields) =>
  arg.boolean({ defaultValue: false, description: 'Whether to begin with the newest one.' })
