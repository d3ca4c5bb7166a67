import {
  type FieldNode,
  type GraphQLField,
  Kind,
  type ValueNode,
  valueFromASTUntyped,
} from 'graphql'
import type { Length } from './given.ts'

type Variables = Record<string, unknown>

/** The value of a field's `scanCost` extension for these arguments; 0 for most fields. */
export function scanOf(
  { extensions: { scanCost } }: GraphQLField<unknown, unknown>,
  { arguments: args = [] }: FieldNode,
  defaults: Map<string, ValueNode | undefined>,
): Length {
  if (!scanCost) return 0
  const withValues = (given: Variables): number => {
    const variables = { ...valuesOf(defaults), ...given }
    return scanCost(
      Object.fromEntries(
        args.map(arg => [arg.name.value, valueFromASTUntyped(arg.value, variables)]),
      ),
    )
  }
  return args.some(({ value }) => hasVariable(value)) ? withValues : withValues({})
}

function valuesOf(defaults: Map<string, ValueNode | undefined>): Variables {
  return Object.fromEntries(
    Array.from(defaults, ([name, value]) => [name, value && valueFromASTUntyped(value)]),
  )
}

function hasVariable(value: ValueNode): boolean {
  if (value.kind === Kind.LIST) return value.values.some(hasVariable)
  if (value.kind === Kind.OBJECT) return value.fields.some(field => hasVariable(field.value))
  return value.kind === Kind.VARIABLE
}
