import {
  type GraphQLArgument,
  GraphQLNonNull,
  type GraphQLOutputType,
  getNullableType,
  isNonNullType,
} from 'graphql'
import type { Method } from '../../schema/plugins/rest.ts'
import { drivePolicies, workspacePolicies } from '../access/policies.ts'
import type { Route } from '../rest/routes.ts'
import { codesOf } from './errors.ts'
import { exampleInputs, exampleOf } from './examples.ts'
import {
  attachment,
  copyAccepted,
  downloadOf,
  type MediaType,
  picture,
  type Refusals,
  type Response,
  success,
  unchanged,
  uploadAccepted,
} from './response.ts'
import { inputSchema, objectOf, type Reference, type Schema, type SchemaOrRef } from './schema.ts'

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

const isRequired = (arg: GraphQLArgument): boolean => isNonNullType(arg.type)

type OutputSchema = (type: GraphQLOutputType) => SchemaOrRef

const SESSION = { session: [] }
/** A key in either header. */
const API_KEY = [{ apiKey: [] }, { bearer: [] }]

/**
 * Describes one method of a route.
 * @param proxied whether downloads send their bytes instead of a redirect
 */
export function operationOf(
  route: Route,
  method: Method,
  {
    outputSchema,
    refusals,
    proxied,
  }: { outputSchema: OutputSchema; refusals: Refusals; proxied: boolean },
): Operation {
  const examples = exampleInputs(route.definition.args)
  const place = (name: string) => route.path.indexOf(`{${name}}`)
  const args = route.definition.args
    .map(arg => ({ arg, source: route.sources[arg.name] ?? '' }))
    .sort((a, b) => place(a.arg.name) - place(b.arg.name))
  const from = (...sources: string[]) =>
    args.filter(a => sources.includes(a.source)).map(a => a.arg)
  const refused = route.statuses.map(
    status => [status, refusals.refusalOf(status, codesOf(route, method, status))] as const,
  )
  const body = method === 'GET' ? undefined : bodyOf(route, from('form', 'body', 'raw'), examples)
  const access = accessOf(route)
  const description = [route.description, access.text].filter(Boolean).join('\n\n')
  return {
    operationId:
      method === route.method
        ? route.field
        : `${route.field}By${method[0]}${method.slice(1).toLowerCase()}`,
    tags: [route.area.name],
    summary: /^.*?[.;:](?=\s|$)/.exec(route.description)?.[0].slice(0, -1) ?? route.field,
    ...(description ? { description } : {}),
    ...optionally(
      'parameters',
      args.flatMap(({ arg, source }) => parameterOf(arg, source, examples)),
    ),
    ...(body ? { requestBody: body } : {}),
    responses: {
      ...(route.redirect
        ? downloadOf(proxied)
        : route.picture
          ? picture
          : route.attachment
            ? attachment
            : answerOf(route, outputSchema)),
      ...(route.defers
        ? { 202: 'upload_id' in route.sources ? uploadAccepted : copyAccepted }
        : {}),
      ...(route.revalidates ? { 304: unchanged } : {}),
      ...Object.fromEntries(refused),
      ...refusals.anywhere(),
    },
    security: access.security,
  }
}

const optionally = <T>(name: string, list: T[]): Record<string, T[]> =>
  list.length > 0 ? { [name]: list } : {}

function parameterOf(
  arg: GraphQLArgument,
  source: string,
  examples: Record<string, unknown>,
): Parameter[] {
  const { description, ...schema } = schemaOf(arg)
  const example = arg.name in examples ? { example: examples[arg.name] } : {}
  const rest = {
    required: isRequired(arg),
    ...(description ? { description } : {}),
    schema,
    ...example,
  }
  if (source === 'path' || source === 'query') return [{ name: arg.name, in: source, ...rest }]
  if (source.startsWith('header '))
    return [{ name: headerName(source.slice('header '.length)), in: 'header', ...rest }]
  return []
}

const headerName = (name: string): string =>
  name.replaceAll(/(?<=^|-)[a-z]/g, letter => letter.toUpperCase())

function schemaOf(arg: GraphQLArgument): Schema {
  const { bounds, maxItems } = arg.extensions
  const schema: Schema = {
    ...inputSchema(arg.type),
    ...bounds,
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
  route: Route,
  args: GraphQLArgument[],
  examples: Record<string, unknown>,
): Operation['requestBody'] | undefined {
  const [first] = args
  if (!first) return undefined
  if (route.body === 'raw')
    return {
      required: true,
      content: {
        'application/octet-stream': { schema: schemaOf(first), example: 'All bytes of this part' },
      },
    }
  const example = Object.fromEntries(
    args.flatMap(({ name }) => (name in examples ? [[name, examples[name]]] : [])),
  )
  return {
    required: args.some(isRequired),
    content: {
      [route.body === 'form' ? 'multipart/form-data' : 'application/json']: {
        schema: closed(args),
        example,
      },
    },
  }
}

function answerOf(route: Route, outputSchema: OutputSchema): Record<string, Response> {
  const { type } = route.definition
  // Null means that the work continues, with a 202.
  const value = outputSchema(route.defers ? new GraphQLNonNull(getNullableType(type)) : type)
  const example = exampleOf(route.definition)
  if (!route.wrap) return { 200: success(value, example, route.msg) }
  return { 200: success(objectOf({ [route.wrap]: value }), { [route.wrap]: example }, route.msg) }
}

/** The API keys that may call a route, by the auth scopes of its field. */
function keyFor({
  auth: { privateFiles, workspaces, drive, workspace, workspaceTree },
  sources,
}: Route): string {
  const own = privateFiles ?? (drive && !('workspace_id' in sources) && drivePolicies[drive].own)
  if (own) return `An API key must be a private one with the scope \`private_files:${own}\`.`
  const right = workspace ?? workspaceTree
  const policy = drive ? drivePolicies[drive].workspace : right && workspacePolicies[right]
  const scope = workspaces ?? policy?.scope
  return scope ? `An API key must be one of the workspace with the scope \`${scope}\`.` : ''
}

/** The credentials that a route accepts, by the auth scopes of its field. */
function accessOf(route: Route): { security: Operation['security']; text: string } {
  if (route.public)
    return {
      security: [{}, SESSION, ...API_KEY],
      text: 'Anyone may call it, without a credential.',
    }
  if (route.auth.session)
    return { security: [SESSION], text: 'Needs a session; no API key can do this.' }
  return { security: [SESSION, ...API_KEY], text: keyFor(route) }
}
