import { type GraphQLField, type GraphQLSchema, getNullableType } from 'graphql'
import type { BaseTypes } from '../../schema/base.ts'
import type { Area, Method, RestRoute, Source } from '../../schema/plugins/rest.ts'
import type { ErrorCode } from '../runtime/errors.ts'

/**
 * A route, read from the declaration on its field, which is the only source of its path, statuses
 * and errors.
 */
export interface Route {
  area: Area
  method: Method
  also: Method | undefined
  /** The path, with `{name}` for its arguments. */
  path: string
  operation: 'Query' | 'Mutation'
  field: string
  definition: GraphQLField<unknown, unknown>
  statuses: readonly number[]
  /** The error codes of the operation itself. */
  fails: readonly ErrorCode[]
  wrap: string | undefined
  msg: string
  redirect: boolean
  /** Whether the route sends a picture, whose bytes always pass through the service. */
  picture: boolean
  /** Whether the route sends a file without an envelope. */
  attachment: boolean
  /** The page that explains a refusal to a person. */
  page: string | undefined
  /** The authorization rules of the route. */
  auth: Partial<BaseTypes['AuthScopes']>
  /** Whether the route also serves callers without a credential. */
  public: boolean
  sources: Record<string, Source>
  /** Whether maintenance refuses the route. */
  writes: boolean
  /** The kind of body, if the route accepts one. */
  body: 'json' | 'form' | 'raw'
  /** Whether invalid input is ignored instead of refused with 400: contract, section 1. */
  lenient: boolean
  /** Whether calls are rate-limited per user: contract, section 7. */
  isLimited: boolean
  /** Whether the route sends a 304 if the caller's copy is current. */
  revalidates: boolean
  /** Whether the route sends a 202 to callers that do not want to wait: RFC 7240. */
  defers: boolean
  description: string
}

/** Arguments that are sent as HTTP headers on every route. */
const headers: Record<string, Source> = {
  if_match: 'header if-match',
  if_none_match: 'header if-none-match',
  prefer: 'header prefer',
}

/** Every route that the schema of the REST operations declares. */
export function routesOf(schema: GraphQLSchema): Route[] {
  const roots = [
    ['Query', schema.getQueryType()],
    ['Mutation', schema.getMutationType()],
  ] as const
  return roots.flatMap(([operation, type]) =>
    Object.values(type?.getFields() ?? {}).flatMap(field =>
      field.extensions.rest ? [routeOf(field.extensions.rest, operation, field)] : [],
    ),
  )
}

function routeOf(
  rest: RestRoute,
  operation: 'Query' | 'Mutation',
  field: GraphQLField<unknown, unknown>,
): Route {
  const [method, path] = rest.route.split(' ') as [Method, string]
  const usual: Source = method === 'GET' || method === 'DELETE' ? 'query' : 'body'
  const sources = Object.fromEntries(
    field.args.map(({ name }) => [
      name,
      rest.from?.[name] ?? headers[name] ?? (path.includes(`{${name}}`) ? 'path' : usual),
    ]),
  )
  const given = Object.values(sources)
  const isConditional = 'if_match' in sources
  const { auth = {}, isLimited = false, goesOn } = field.extensions
  return {
    area: rest.area,
    method,
    also: rest.also,
    path,
    operation,
    field: field.name,
    definition: field,
    statuses: isConditional ? [...rest.statuses, 412] : rest.statuses,
    fails: isConditional ? [...(rest.fails ?? []), 'REVISION_MISMATCH'] : (rest.fails ?? []),
    wrap: rest.wrap,
    msg: rest.msg ?? 'ok',
    redirect: String(getNullableType(field.type)) === 'Download',
    picture: String(getNullableType(field.type)) === 'Picture',
    attachment: String(getNullableType(field.type)) === 'Attachment',
    page: rest.page,
    auth,
    public: auth.public ?? false,
    sources,
    writes: operation === 'Mutation' && !goesOn,
    body: given.includes('form') ? 'form' : given.includes('raw') ? 'raw' : 'json',
    lenient: !rest.statuses.includes(400),
    isLimited,
    revalidates: 'if_none_match' in sources,
    defers: rest.defers ?? false,
    description: field.description ?? '',
  }
}

export const methodsOf = ({ method, also }: Route): Method[] => (also ? [method, also] : [method])
