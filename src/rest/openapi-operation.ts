import type { GraphQLArgument, GraphQLField } from 'graphql'
import { isNonNullType } from 'graphql'
import type { Method } from '../../schema/plugins/rest.ts'
import { MAX_PAGE } from '../services/page.ts'
import { codesOf } from './openapi-errors.ts'
import { exampleOf } from './openapi-examples.ts'
import { anywhere, type MediaType, type Response, redirect, refusal, success } from './openapi-response.ts'
import { inputSchema, objectOf, type Reference, type Schema, type SchemaOrRef } from './openapi-schema.ts'
import { type Route, sourceOf } from './routes.ts'

export interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  required?: boolean
  description?: string
  schema: SchemaOrRef
}

export interface Operation {
  operationId: string
  tags: string[]
  summary?: string
  description?: string
  parameters?: Parameter[]
  requestBody?: { required: boolean; content: Record<string, MediaType> }
  responses: Record<string, Response | Reference>
  security: Record<string, string[]>[]
}

type Field = GraphQLField<unknown, unknown>

const isRequired = (arg: GraphQLArgument): boolean => isNonNullType(arg.type)

const SESSION = { session: [] }
const API_KEY = { apiKey: [] }

/** Arguments that mean the same wherever they are. */
const common: Record<string, Schema> = {
  limit: { minimum: 1, maximum: MAX_PAGE, description: `Entries of a page; ${MAX_PAGE} without it.` },
  cursor: { description: 'Where to go on: the `next_cursor` of the page before.' },
  mode: { enum: ['download', 'inline'], description: 'Save the file (the default), or show it where that is safe.' },
}

/**
 * Describes a route by one of its methods.
 * @param field its field in the REST view
 */
export function operationOf(
  route: Route,
  method: Method,
  field: Field,
  tag: string,
  outputSchema: (type: Field['type']) => SchemaOrRef,
): Operation {
  const args = field.args.map(arg => ({ arg, source: sourceOf(route, arg.name) }))
  const from = (...sources: string[]) => args.filter(a => sources.includes(a.source)).map(a => a.arg)
  const takesForm = from('form').length > 0
  const facts = { ...route, method, args: field.args.map(a => a.name), takesForm }
  const faulty = [...from('body', 'form', 'query').filter(isRequired), ...from('query')][0]
  const input = faulty && { name: faulty.name, required: isRequired(faulty) }
  const refusals = route.statuses.map(status => [status, refusal(status, codesOf(facts, status), input)] as const)
  const body = takesForm ? formOf(from('form')) : method === 'GET' ? undefined : jsonOf(from('body'))
  const access = accessOf(route, field)
  const description = [route.description, access.text].filter(Boolean).join('\n\n')
  return {
    operationId: method === route.method ? route.field : `${route.field}By${method[0]}${method.slice(1).toLowerCase()}`,
    tags: [tag],
    summary: /^.*?[.;:](?=\s|$)/.exec(route.description)?.[0].slice(0, -1) ?? route.field,
    ...(description ? { description } : {}),
    ...optionally(
      'parameters',
      args.flatMap(({ arg, source }) => parameterOf(arg, source)),
    ),
    ...(body ? { requestBody: body } : {}),
    responses: { ...answerOf(route, field, outputSchema), ...Object.fromEntries(refusals), ...anywhere },
    security: access.security,
  }
}

const optionally = <T>(name: string, list: T[]): Record<string, T[]> => (list.length > 0 ? { [name]: list } : {})

function parameterOf(arg: GraphQLArgument, source: string): Parameter[] {
  const { description, ...schema } = schemaOf(arg)
  const rest = { required: isRequired(arg), ...(description ? { description } : {}), schema }
  if (source === 'path' || source === 'query') return [{ name: arg.name, in: source, ...rest }]
  if (source.startsWith('header ')) return [{ name: headerName(source.slice('header '.length)), in: 'header', ...rest }]
  return []
}

const headerName = (name: string): string => name.replaceAll(/(?<=^|-)[a-z]/g, letter => letter.toUpperCase())

function schemaOf(arg: GraphQLArgument): Schema {
  const schema = { ...inputSchema(arg.type), ...common[arg.name] }
  return arg.description ? { ...schema, description: arg.description } : schema
}

/** Unknown fields are refused, so the schema is closed. */
function closed(args: GraphQLArgument[]): Schema {
  const required = args.filter(isRequired).map(a => a.name)
  return {
    type: 'object',
    ...optionally('required', required),
    properties: Object.fromEntries(args.map(a => [a.name, schemaOf(a)])),
    additionalProperties: false,
  }
}

function jsonOf(args: GraphQLArgument[]): Operation['requestBody'] {
  if (args.length === 0) return undefined
  const example = Object.fromEntries(args.map(a => [a.name, exampleOf(a.type, a.name)]))
  return {
    required: args.some(isRequired),
    content: { 'application/json': { schema: closed(args), example } },
  }
}

const formOf = (args: GraphQLArgument[]): Operation['requestBody'] => ({
  required: true,
  content: { 'multipart/form-data': { schema: closed(args) } },
})

function answerOf(
  route: Route,
  field: Field,
  outputSchema: (type: Field['type']) => SchemaOrRef,
): Record<string, Response> {
  if (route.redirect)
    return {
      302: redirect(
        'To a signed address of the file that lives for a short while. Where the service is set up with `DOWNLOADS=proxy`, ' +
          'the bytes themselves instead: 200, or 206 for a `Range`, with `ETag`.',
      ),
    }
  const value = outputSchema(field.type)
  const example = exampleOf(field.type, field.name)
  if (!route.wrap) return { 200: success(value, example, route.msg) }
  return { 200: success(objectOf({ [route.wrap]: value }), { [route.wrap]: example }, route.msg) }
}

/** The scopes of API keys behind the auth scopes that state a level. */
const keyScopes: Record<string, string> = { privateFiles: 'private_files' }

/** Which credentials a route takes, from the auth scopes that its field states. */
function accessOf(route: Route, field: Field): { security: Operation['security']; text: string } {
  const scopes = authScopesOf(field)
  if (route.public) return { security: [{}, SESSION, API_KEY], text: '' }
  if ('session' in scopes) return { security: [SESSION], text: 'Needs a session; no API key can do this.' }
  const needed = Object.entries(scopes).flatMap(([name, level]) =>
    name in keyScopes ? [`\`${keyScopes[name]}:${level}\``] : [],
  )
  return {
    security: [SESSION, API_KEY],
    text: needed.length > 0 ? `An API key needs the scope ${needed.join(', ')}.` : '',
  }
}

function authScopesOf(field: Field): object {
  const options: unknown = field.extensions.pothosOptions
  if (typeof options !== 'object' || options === null || !('authScopes' in options)) return {}
  return typeof options.authScopes === 'object' && options.authScopes !== null ? options.authScopes : {}
}
