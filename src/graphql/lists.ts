import {
  type ArgumentNode,
  type ASTNode,
  type DocumentNode,
  type GraphQLArgument,
  type GraphQLInputField,
  type GraphQLInputType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isInputObjectType,
  isInputType,
  isListType,
  Kind,
  type ObjectFieldNode,
  type OperationDefinitionNode,
  TypeInfo,
  typeFromAST,
  type ValidationRule,
  visit,
  visitWithTypeInfo,
} from 'graphql'
import { longListOf } from '../../schema/plugins/list-bound.ts'
import { InvalidInput } from '../runtime/errors.ts'
import { excerpt } from '../values/excerpt.ts'

type Input = GraphQLArgument | GraphQLInputField

/** The argument or input field of a value, and its path, such as `input.entries`. */
interface Place {
  input: Input
  path: string
}

type Ancestors = readonly (ASTNode | readonly ASTNode[])[]

/** The path of an argument, or of an input object's field, in a document. */
const pathOf = (node: ArgumentNode | ObjectFieldNode, ancestors: Ancestors): string =>
  [...ancestors, node]
    .flatMap(above =>
      'kind' in above && (above.kind === Kind.ARGUMENT || above.kind === Kind.OBJECT_FIELD)
        ? [above]
        : [],
    )
    .map(({ name }) => name.value)
    .join('.')

/** Refuses literal lists that are longer than their argument or input field accepts. */
export const boundedLists: ValidationRule = context => {
  const look = (
    input: Input | null | undefined,
    node: ArgumentNode | ObjectFieldNode,
    ancestors: Ancestors,
  ) => {
    if (!input || node.value.kind !== Kind.LIST) return
    const error = longListOf(input, node.value.values.length, pathOf(node, ancestors))
    if (error) context.reportError(error)
  }
  return {
    Argument: (node, _key, _parent, _path, ancestors) =>
      look(context.getArgument(), node, ancestors),
    ObjectField: (node, _key, _parent, _path, ancestors) =>
      look(inputFieldOf(context.getParentInputType(), node), node, ancestors),
  }
}

function inputFieldOf(
  parent: GraphQLInputType | null | undefined,
  node: ObjectFieldNode,
): GraphQLInputField | undefined {
  const type = parent && getNamedType(parent)
  return isInputObjectType(type) ? type.getFields()[node.name.value] : undefined
}

type Check = (variables: Record<string, unknown>) => void

const checks = new WeakMap<OperationDefinitionNode, Check[]>()

/**
 * Refuses variables with too long lists or unknown fields before their contents are coerced.
 * Otherwise, GraphQL would repeat the whole value in one error per item.
 * @throws INVALID_INPUT
 */
export function checkLists(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  variables: Record<string, unknown>,
): void {
  const known = checks.get(operation) ?? checksOf(schema, document, operation)
  checks.set(operation, known)
  for (const check of known) check(variables)
}

/**
 * One check for each variable that is a list or an input. Its cost depends on the schema, not on
 * the request.
 */
function checksOf(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
): Check[] {
  const definitions = operation.variableDefinitions ?? []
  const places = definitions.length > 0 ? placesOf(schema, document) : new Map<string, Place[]>()
  return definitions.flatMap(({ variable, type: node }): Check[] => {
    const name = variable.name.value
    const type = typeFromAST(schema, node)
    if (!isInputType(type) || !isNested(type)) return []
    return [
      variables =>
        void (
          Object.hasOwn(variables, name) && walk(type, variables[name], places.get(name) ?? [])
        ),
    ]
  })
}

/** The arguments and input fields in which a document uses each variable. */
function placesOf(schema: GraphQLSchema, document: DocumentNode): Map<string, Place[]> {
  const places = new Map<string, Place[]>()
  const add = (
    input: Input | null | undefined,
    node: ArgumentNode | ObjectFieldNode,
    ancestors: Ancestors,
  ) => {
    const { value } = node
    if (!input || value.kind !== Kind.VARIABLE) return
    const place = { input, path: pathOf(node, ancestors) }
    places.set(value.name.value, [...(places.get(value.name.value) ?? []), place])
  }
  const types = new TypeInfo(schema)
  visit(
    document,
    visitWithTypeInfo(types, {
      Argument: (node, _key, _parent, _path, ancestors) =>
        add(types.getArgument(), node, ancestors),
      ObjectField: (node, _key, _parent, _path, ancestors) =>
        add(inputFieldOf(types.getParentInputType(), node), node, ancestors),
    }),
  )
  return places
}

function isNested(type: GraphQLInputType): boolean {
  const inner = getNullableType(type)
  return isListType(inner) || isInputObjectType(inner)
}

function walk(type: GraphQLInputType, value: unknown, places: Place[]): void {
  const inner = getNullableType(type)
  if (isListType(inner)) {
    // A single value is coerced to a list of one.
    const items = Array.isArray(value) ? value : [value]
    for (const { input, path } of places) {
      const error = longListOf(input, items.length, path)
      if (error) throw error
    }
    if (isNested(inner.ofType)) for (const item of items) walk(inner.ofType, item, places)
  } else if (isInputObjectType(inner) && typeof value === 'object' && value !== null) {
    const above = places[0]?.path ?? 'variables'
    if (Array.isArray(value))
      throw new InvalidInput(above, `A ${inner.name} is an object, not a list.`)
    const fields = inner.getFields()
    for (const name of Object.keys(value)) {
      const field = Object.hasOwn(fields, name) ? fields[name] : undefined
      const path = `${above}.${excerpt(name)}`
      if (!field)
        throw new InvalidInput(path, `There is no field "${excerpt(name)}" in ${inner.name}.`)
      walk(field.type, Reflect.get(value, name), [{ input: field, path }])
    }
  }
}
