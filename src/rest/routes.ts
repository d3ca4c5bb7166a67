import { type GraphQLField, type GraphQLSchema, getNullableType } from 'graphql'
import type { BaseTypes } from '../../schema/base.ts'
import type { Area, Method, RestRoute, Source } from '../../schema/plugins/rest.ts'
import type { ErrorCode } from '../runtime/errors.ts'

/**
 * A route, read from the declaration on its field: the one place that holds its path, its statuses
 * and its errors.
 */
export interface Route {
  area: Area
  method: Method
  also: Method | undefined
  /** With `{name}` for arguments in the path. */
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
  /** Whether it sends a picture, whose bytes always pass the service. */
  picture: boolean
  /** Whether it sends a file that is no envelope. */
  attachment: boolean
  /** The page that explains a refusal to a person. */
  page: string | undefined
  /** The rules about who may call it. */
  auth: Partial<BaseTypes['AuthScopes']>
  /** Whether it serves callers without a credential, too. */
  public: boolean
  sources: Record<string, Source>
  /** The kind of its body, if it accepts one. */
  body: 'json' | 'form' | 'raw'
  /** A route without a 400 takes what it is given as well as it can: contract, section 1. */
  lenient: boolean
  /** Whether calls of one user are counted: contract, section 7. */
  isLimited: boolean
  /** Whether it answers 304 to who has the answer already. */
  revalidates: boolean
  /** Whether it answers 202 to who does not want to wait: RFC 7240. */
  defers: boolean
  description: string
}

/** Arguments that are headers of HTTP, wherever they are taken. */
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
  const { auth = {}, isLimited = false } = field.extensions
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
    body: given.includes('form') ? 'form' : given.includes('raw') ? 'raw' : 'json',
    lenient: !rest.statuses.includes(400),
    isLimited,
    revalidates: 'if_none_match' in sources,
    defers: rest.defers ?? false,
    description: field.description ?? '',
  }
}

export const methodsOf = ({ method, also }: Route): Method[] => (also ? [method, also] : [method])
