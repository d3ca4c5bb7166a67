import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLOutputType,
  getNamedType,
  getNullableType,
  isInputObjectType,
  isObjectType,
} from 'graphql'
import { schema } from '../../schema/index.ts'
import { toSnake } from '../../src/rest/case.ts'
import { restFieldOf, wireNameOf } from '../../src/rest/routes.ts'
import type { GraphqlAnswer, Person, RestAnswer } from '../harness.ts'
import type { ContractOperation } from './contract.ts'

/** The inputs of a call under their names on the wire; a File goes into the form. */
export type Inputs = Record<string, unknown>

/** Calls an operation of the contract by REST, each input where the contract says that it goes. */
export function callByRest(
  person: Person,
  { method, path, in: sources = {} }: Pick<ContractOperation, 'method' | 'path' | 'in'>,
  inputs: Inputs,
): Promise<RestAnswer> {
  const given = (names: string[] = []): [string, unknown][] =>
    names.map(n => n.replace(/\?$/, '')).flatMap(n => (inputs[n] === undefined ? [] : [[n, inputs[n]]]))
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name) => encodeURIComponent(String(inputs[name])))
  const query = new URLSearchParams(given(sources.query).map(([name, value]) => [name, String(value)]))
  const url = query.size > 0 ? `${filled}?${query}` : filled
  if (sources.form) {
    const form = new FormData()
    for (const [name, value] of given(sources.form)) form.append(name, value instanceof File ? value : String(value))
    return person.rest(method, url, { form })
  }
  const file = Object.values(inputs).find(value => value instanceof File)
  if (sources.raw && file) return person.rest(method, url, { body: file.stream() })
  return person.rest(method, url, sources.body ? { json: Object.fromEntries(given(sources.body)) } : {})
}

/** Calls a field of the root by GraphQL with the same inputs, and asks for all that REST answers. */
export function callByGraphql(person: Person, fieldName: string, inputs: Inputs): Promise<GraphqlAnswer<object>> {
  const { query, variables } = documentOf(fieldName, inputs)
  const file = Object.values(inputs).find(value => value instanceof File)
  return person.graphql(query, variables, file)
}

/** The document of such a call, and its variables. */
export function documentOf(fieldName: string, inputs: Inputs): { query: string; variables: Record<string, unknown> } {
  const { operation, field } = rootField(fieldName)
  const declared = field.args.map(arg => `$${arg.name}: ${arg.type}`).join(', ')
  const passed = field.args.map(arg => `${arg.name}: $${arg.name}`).join(', ')
  return {
    query: `${operation}${declared && ` (${declared})`} { ${field.name}${passed && `(${passed})`}${selectionOf(field.type)} }`,
    variables: Object.fromEntries(field.args.map(arg => [arg.name, variableOf(field, arg, inputs)])),
  }
}

/** @param name `Query.x`, `Mutation.x` or `Subscription.x` */
export function rootField(name: string): { operation: string; field: GraphQLField<unknown, unknown> } {
  const [root = '', fieldName = ''] = name.split('.')
  const type = schema.getType(root)
  const field = isObjectType(type) ? type.getFields()[fieldName] : undefined
  if (!field) throw new Error(`The schema has no ${name}.`)
  return { operation: root.toLowerCase(), field }
}

function variableOf(field: GraphQLField<unknown, unknown>, arg: GraphQLArgument, inputs: Inputs): unknown {
  const type = getNullableType(arg.type)
  if (!isInputObjectType(type)) return inputs[wireNameOf(field, arg.name)]
  const fields = Object.keys(type.getFields()).map(name => [name, inputs[toSnake(name)]])
  // The bytes go into the form; the harness puts them here.
  return Object.fromEntries(fields.map(([name, value]) => [name, value instanceof File ? null : value]))
}

/** What REST answers, as far as it takes no arguments of its own, three levels deep. */
function selectionOf(output: GraphQLOutputType, depth = 3): string {
  const type = getNamedType(output)
  if (!isObjectType(type)) return 'getFields' in type ? ' { __typename }' : ''
  if (depth === 0) return ' { __typename }'
  const fields = Object.values(type.getFields()).filter(
    field => field.args.length === 0 && restFieldOf(field) !== false,
  )
  return ` { ${fields.map(field => field.name + selectionOf(field.type, depth - 1)).join(' ')} }`
}
