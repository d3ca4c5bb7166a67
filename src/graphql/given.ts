import { type FieldNode, Kind, type ValueNode } from 'graphql'

type Variables = Record<string, unknown>

/** A number, or a function that computes it from the variables. */
export type Length = number | ((variables: Variables) => number)

/**
 * The length of a result list that equals the length of an argument list.
 * @param path the path of that list in the arguments, such as `input.entries`
 * @param most the length that counts while it is unknown, before the variables are coerced
 */
export function lengthOfGiven(
  { arguments: args = [] }: FieldNode,
  path: string,
  most: number,
): Length {
  const [argument, ...fields] = path.split('.')
  return lengthOf(args.find(({ name }) => name.value === argument)?.value, fields, most)
}

function lengthOf(value: ValueNode | undefined, [first, ...rest]: string[], most: number): Length {
  if (value?.kind === Kind.VARIABLE) {
    const path = [value.name.value, ...(first === undefined ? [] : [first, ...rest])]
    return variables => lengthIn(variables, path, most)
  }
  if (first === undefined)
    return value?.kind === Kind.LIST ? Math.min(value.values.length, most) : most
  const field =
    value?.kind === Kind.OBJECT ? value.fields.find(({ name }) => name.value === first) : undefined
  return lengthOf(field?.value, rest, most)
}

function lengthIn(value: unknown, [first, ...rest]: string[], most: number): number {
  if (first === undefined) return Array.isArray(value) ? Math.min(value.length, most) : most
  const isObject = typeof value === 'object' && value !== null
  return isObject && Object.hasOwn(value, first)
    ? lengthIn(Reflect.get(value, first), rest, most)
    : most
}
