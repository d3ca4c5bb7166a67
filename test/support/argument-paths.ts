import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLNamedType,
  getNamedType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
} from 'graphql'
import { schema } from '../../schema/index.ts'

interface Refusal {
  path?: unknown
  extensions: { code: string } & Record<string, unknown>
}

/** The schema field of an error. Undefined for an alias or a field of an interface type. */
function fieldAt(path: readonly unknown[]): GraphQLField<unknown, unknown> | undefined {
  const [root, ...rest] = path.filter(step => typeof step === 'string')
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()]
  const fieldOf = (type: GraphQLNamedType | null | undefined, name: unknown) =>
    isObjectType(type) || isInterfaceType(type) ? type.getFields()[String(name)] : undefined
  let field = roots.map(type => fieldOf(type, root)).find(found => found !== undefined)
  for (const name of rest) field = field && fieldOf(getNamedType(field.type), name)
  return field
}

/** Whether the field has an argument or input field with a path such as `input.at.path`. */
function hasArgument({ args }: GraphQLField<unknown, unknown>, path: string): boolean {
  const [first, ...rest] = path.split('.')
  let input: GraphQLArgument | GraphQLInputField | undefined = args.find(
    ({ name }) => name === first,
  )
  for (const name of rest) {
    const type: unknown = input && getNamedType(input.type)
    input = isInputObjectType(type) ? type.getFields()[name] : undefined
  }
  return input !== undefined
}

/** @throws if `extensions.field` of an error is not an argument of its field */
export function expectArgumentPaths(errors: readonly Refusal[] | undefined): void {
  for (const { path, extensions } of errors ?? []) {
    const field = Array.isArray(path) ? fieldAt(path) : undefined
    if (field && typeof extensions.field === 'string' && !hasArgument(field, extensions.field))
      throw new Error(
        `${extensions.code} names "${extensions.field}", which is no argument of ${field.name}.`,
      )
  }
}
