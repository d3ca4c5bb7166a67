import {
  type ArgumentNode,
  type DocumentNode,
  type GraphQLArgument,
  type GraphQLInputField,
  type GraphQLInputObjectType,
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
import { InvalidInput } from '../errors.ts'

type Input = GraphQLArgument | GraphQLInputField

/** Refuses literal lists in a document that are longer than their argument or input field accepts. */
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
 * Refuses variables that hold longer lists than the schema takes, or fields that it does not know, before what is in them is looked at:
 * an error of GraphQL for each of them would repeat the whole.
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

/** One check for each variable that is a list or an input. What it costs follows the schema, not what was sent. */
function checksOf(schema: GraphQLSchema, document: DocumentNode, operation: OperationDefinitionNode): Check[] {
  const definitions = operation.variableDefinitions ?? []
  const places = definitions.length > 0 ? placesOf(schema, document) : new Map<string, Input[]>()
  return definitions.flatMap(({ variable, type: node }): Check[] => {
    const name = variable.name.value
    const type = typeFromAST(schema, node)
    if (!isInputType(type) || !isNested(type)) return []
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

function isNested(type: GraphQLInputType): boolean {
  const inner = getNullableType(type)
  return isListType(inner) || isInputObjectType(inner)
}

function walk(type: GraphQLInputType, value: unknown, inputs: Input[]): void {
  const inner = getNullableType(type)
  if (isListType(inner)) {
    // A single value is coerced to a list of one.
    const items = Array.isArray(value) ? value : [value]
    for (const input of inputs) {
      const error = longListOf(input, items.length)
      if (error) throw error
    }
    if (isNested(inner.ofType)) for (const item of items) walk(inner.ofType, item, [])
  } else if (isInputObjectType(inner) && typeof value === 'object' && value !== null) {
    if (Array.isArray(value)) throw new InvalidInput('variables', `A ${inner.name} is an object, not a list.`)
    const fields = inner.getFields()
    for (const name of Object.keys(value)) {
      const field = Object.hasOwn(fields, name) ? fields[name] : undefined
      if (!field) throw unknownField(name, inner)
      walk(field.type, Reflect.get(value, name), [field])
    }
  }
}

const unknownField = (name: string, { name: type }: GraphQLInputObjectType) =>
  new InvalidInput(name.slice(0, 100), `There is no field "${name.slice(0, 100)}" in ${type}.`)
