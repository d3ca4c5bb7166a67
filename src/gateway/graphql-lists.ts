import {
  type ArgumentNode,
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
  type ValueNode,
  visit,
  visitWithTypeInfo,
} from 'graphql'
import { longListOf } from '../../schema/plugins/list-bound.ts'

type Input = GraphQLArgument | GraphQLInputField

/** Refuses lists that are written in a document and have more items than their argument or input field takes. */
export const boundedLists: ValidationRule = context => {
  const look = (input: Input | null | undefined, value: ValueNode) => {
    const error = input && value.kind === Kind.LIST ? longListOf(input, value.values.length) : undefined
    if (error) context.reportError(error)
  }
  return {
    Argument: node => look(context.getArgument(), node.value),
    ObjectField: node => look(inputFieldOf(context.getParentInputType(), node), node.value),
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
 * Refuses variables that hold longer lists than the schema takes, before their items are looked at.
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

/** One check for each variable that may hold a list. What it costs follows the schema, not what was sent. */
function checksOf(schema: GraphQLSchema, document: DocumentNode, operation: OperationDefinitionNode): Check[] {
  const definitions = operation.variableDefinitions ?? []
  const places = definitions.length > 0 ? placesOf(schema, document) : new Map<string, Input[]>()
  return definitions.flatMap(({ variable, type: node }): Check[] => {
    const name = variable.name.value
    const type = typeFromAST(schema, node)
    if (!isInputType(type) || !holdsLists(type)) return []
    return [variables => void (Object.hasOwn(variables, name) && walk(type, variables[name], places.get(name) ?? []))]
  })
}

/** The arguments and input fields that each variable of a document stands for. */
function placesOf(schema: GraphQLSchema, document: DocumentNode): Map<string, Input[]> {
  const places = new Map<string, Input[]>()
  const add = (input: Input | null | undefined, { value }: ArgumentNode | ObjectFieldNode) => {
    if (!input || value.kind !== Kind.VARIABLE) return
    places.set(value.name.value, [...(places.get(value.name.value) ?? []), input])
  }
  const types = new TypeInfo(schema)
  visit(
    document,
    visitWithTypeInfo(types, {
      Argument: node => add(types.getArgument(), node),
      ObjectField: node => add(inputFieldOf(types.getParentInputType(), node), node),
    }),
  )
  return places
}

function holdsLists(type: GraphQLInputType): boolean {
  const inner = getNullableType(type)
  if (isListType(inner)) return true
  return isInputObjectType(inner) && Object.values(inner.getFields()).some(field => holdsLists(field.type))
}

function walk(type: GraphQLInputType, value: unknown, inputs: Input[]): void {
  const inner = getNullableType(type)
  if (isListType(inner)) {
    // A value stands for a list of one.
    const items = Array.isArray(value) ? value : [value]
    for (const input of inputs) {
      const error = longListOf(input, items.length)
      if (error) throw error
    }
    if (holdsLists(inner.ofType)) for (const item of items) walk(inner.ofType, item, [])
  } else if (isInputObjectType(inner) && typeof value === 'object' && value !== null) {
    for (const field of Object.values(inner.getFields()))
      if (Object.hasOwn(value, field.name)) walk(field.type, Reflect.get(value, field.name), [field])
  }
}
