import type { GraphQLArgument, GraphQLField } from 'graphql'
import { isNonNullType } from 'graphql'
import { maxItemsOf } from '../../schema/plugins/list-bound.ts'
import type { Method } from '../../schema/plugins/rest.ts'
import { MAX_PAGE } from '../services/page.ts'
import { codesOf } from './openapi-errors.ts'
import { exampleInputs, exampleOf } from './openapi-examples.ts'
import { anywhere, downloadOf, type MediaType, type Response, refusal, success } from './openapi-response.ts'
import { inputSchema, objectOf, type Reference, type Schema, type SchemaOrRef } from './openapi-schema.ts'
import { type Route, sourceOf } from './routes.ts'

export interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  required?: boolean
  description?: string
  schema: SchemaOrRef
  example?: unknown
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

type OutputSchema = (type: Field['type']) => SchemaOrRef

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
 * @param proxied whether downloads are answered with their bytes
 */
export function operationOf(
  route: Route,
  method: Method,
  field: Field,
  tag: string,
  { outputSchema, proxied }: { outputSchema: OutputSchema; proxied: boolean },
): Operation {
  const examples = exampleInputs(field.name, field.args)
  const place = (name: string) => route.path.indexOf(`{${name}}`)
  const args = field.args
    .map(arg => ({ arg, source: sourceOf(route, arg.name) }))
    .sort((a, b) => place(a.arg.name) - place(b.arg.name))
  const from = (...sources: string[]) => args.filter(a => sources.includes(a.source)).map(a => a.arg)
  const takesForm = from('form').length > 0
  const raw = from('raw')[0]
  const facts = { ...route, method, args: field.args.map(a => a.name), takesFile: takesForm || raw !== undefined }
  const faulty = [...from('body', 'form', 'raw', 'query').filter(isRequired), ...from('query')][0]
  const input = faulty && { name: faulty.name, required: isRequired(faulty) }
  const refusals = route.statuses.map(status => [status, refusal(status, codesOf(facts, status), input)] as const)
  const inBody = from('form', 'body')
  const body = raw
    ? rawOf(raw)
    : method === 'GET' || inBody.length === 0
      ? undefined
      : bodyOf(inBody, examples, takesForm)
  const access = accessOf(route, field)
  const description = [route.description, access.text].filter(Boolean).join('\n\n')
  return {
    operationId: method === route.method ? route.field : `${route.field}By${method[0]}${method.slice(1).toLowerCase()}`,
    tags: [tag],
    summary: /^.*?[.;:](?=\s|$)/.exec(route.description)?.[0].slice(0, -1) ?? route.field,
    ...(description ? { description } : {}),
    ...optionally(
      'parameters',
      args.flatMap(({ arg, source }) => parameterOf(arg, source, examples)),
    ),
    ...(body ? { requestBody: body } : {}),
    responses: {
      ...(route.redirect ? downloadOf(proxied) : answerOf(route, field, outputSchema)),
      ...Object.fromEntries(refusals),
      ...anywhere,
    },
    security: access.security,
  }
}

const optionally = <T>(name: string, list: T[]): Record<string, T[]> => (list.length > 0 ? { [name]: list } : {})

function parameterOf(arg: GraphQLArgument, source: string, examples: Record<string, unknown>): Parameter[] {
  const { description, ...schema } = schemaOf(arg)
  const example = arg.name in examples ? { example: examples[arg.name] } : {}
  const rest = { required: isRequired(arg), ...(description ? { description } : {}), schema, ...example }
  if (source === 'path' || source === 'query') return [{ name: arg.name, in: source, ...rest }]
  if (source.startsWith('header ')) return [{ name: headerName(source.slice('header '.length)), in: 'header', ...rest }]
  return []
}

const headerName = (name: string): string => name.replaceAll(/(?<=^|-)[a-z]/g, letter => letter.toUpperCase())

function schemaOf(arg: GraphQLArgument): Schema {
  const maxItems = maxItemsOf(arg)
  const schema = {
    ...inputSchema(arg.type),
    ...common[arg.name],
    ...(maxItems === undefined ? {} : { maxItems }),
  }
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

function bodyOf(
  args: GraphQLArgument[],
  examples: Record<string, unknown>,
  isForm: boolean,
): NonNullable<Operation['requestBody']> {
  const example = Object.fromEntries(args.flatMap(({ name }) => (name in examples ? [[name, examples[name]]] : [])))
  return {
    required: args.some(isRequired),
    content: { [isForm ? 'multipart/form-data' : 'application/json']: { schema: closed(args), example } },
  }
}

const rawOf = (arg: GraphQLArgument): Operation['requestBody'] => ({
  required: true,
  content: { 'application/octet-stream': { schema: schemaOf(arg), example: 'All bytes of this part' } },
})

function answerOf(route: Route, field: Field, outputSchema: OutputSchema): Record<string, Response> {
  const value = outputSchema(field.type)
  const example = exampleOf(field.type, field.name, '')
  if (!route.wrap) return { 200: success(value, example, route.msg) }
  return { 200: success(objectOf({ [route.wrap]: value }), { [route.wrap]: example }, route.msg) }
}

/** What an API key must be to call a route, by the auth scope that its field states. */
const keys: Record<string, (level: string) => string> = {
  privateFiles: level => `An API key must be a private one with the scope \`private_files:${level}\`.`,
  workspaces: scope => `An API key must be one of the workspace with the scope \`${scope}\`.`,
}

/** Which credentials a route takes, from the auth scopes that its field states. */
function accessOf(route: Route, field: Field): { security: Operation['security']; text: string } {
  const scopes = authScopesOf(field)
  if (route.public) return { security: [{}, SESSION, API_KEY], text: 'Anybody may call it, without a credential.' }
  if ('session' in scopes) return { security: [SESSION], text: 'Needs a session; no API key can do this.' }
  const needed = Object.entries(scopes).flatMap(([name, level]) => keys[name]?.(String(level)) ?? [])
  return { security: [SESSION, API_KEY], text: needed.join(' ') }
}

function authScopesOf(field: Field): object {
  const options: unknown = field.extensions.pothosOptions
  if (typeof options !== 'object' || options === null || !('authScopes' in options)) return {}
  return typeof options.authScopes === 'object' && options.authScopes !== null ? options.authScopes : {}
}
