import {
  type GraphQLArgument,
  type GraphQLInputType,
  type GraphQLOutputType,
  getNullableType,
  isEnumType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql'

/** Default examples of the scalars. */
const scalars: Record<string, unknown> = {
  Boolean: true,
  Int: 3,
  Long: 3,
  ID: '6f1c2b52-7d0e-4a58-9d3b-0c9f5e1a7b44',
  DateTime: '2026-01-31T12:00:00.000Z',
  Labels: {},
  Void: null,
  Upload: '(bytes)',
}

/** The declared example of a field or an argument, or else a constant example of its type. */
export function exampleOf({
  name,
  type,
  extensions,
}: {
  name: string
  type: GraphQLInputType | GraphQLOutputType
  extensions: { example?: unknown }
}): unknown {
  if (extensions.example !== undefined) return extensions.example
  const inner = getNullableType(type)
  if (isListType(inner)) return [exampleOf({ name, type: inner.ofType, extensions })]
  if (isObjectType(inner))
    return Object.fromEntries(Object.values(inner.getFields()).map(f => [f.name, exampleOf(f)]))
  if (isEnumType(inner)) return inner.getValues()[0]?.name
  const example = scalars[inner.name]
  if (example === undefined) throw new TypeError(`"${name}" needs an example.`)
  return example
}

/** The inputs of a complete sample request by name: all that are required or have an example. */
export function exampleInputs(args: readonly GraphQLArgument[]): Record<string, unknown> {
  const shown = args.filter(arg => isNonNullType(arg.type) || arg.extensions.example !== undefined)
  return Object.fromEntries(shown.map(arg => [arg.name, exampleOf(arg)]))
}
