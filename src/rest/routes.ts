import type { GraphQLField, GraphQLSchema } from 'graphql'
import type { Method, RestField, RestRoute, Source } from '../../schema/plugins/rest.ts'
import { toSnake } from './case.ts'

/** A route, read from the declaration on its field: the one place that holds its path and its statuses. */
export interface Route {
  method: Method
  also: Method | undefined
  /** With `{name}` for arguments in the path. */
  path: string
  operation: 'Query' | 'Mutation'
  field: string
  statuses: readonly number[]
  wrap: string | undefined
  msg: string
  redirect: boolean
  /** The page that explains a refusal to a person. */
  page: string | undefined
  /** Whether it serves callers without a credential, too. */
  public: boolean
  /** Where each argument comes from when `source` does not say otherwise. */
  usual: Source
  sources: Record<string, Source>
  /** A route without a 400 takes what it is given as well as it can: contract, section 1. */
  lenient: boolean
  /** Whether calls of one user are counted: contract, section 7. */
  isLimited: boolean
  description: string
}

export const restOf = (field: { extensions: GraphQLField<unknown, unknown>['extensions'] }): RestRoute | undefined =>
  field.extensions.rest as RestRoute | undefined

export const restFieldOf = (field: {
  extensions: GraphQLField<unknown, unknown>['extensions']
}): RestField | undefined => field.extensions.restField as RestField | undefined

/** The name on the wire of an argument of a root field. */
export const wireNameOf = (field: Pick<GraphQLField<unknown, unknown>, 'extensions'>, argument: string): string =>
  restOf(field)?.names?.[argument] ?? toSnake(argument)

/** Every route that the schema declares. */
export function routesOf(schema: GraphQLSchema): Route[] {
  const roots = [
    ['Query', schema.getQueryType()],
    ['Mutation', schema.getMutationType()],
  ] as const
  return roots.flatMap(([operation, type]) =>
    Object.values(type?.getFields() ?? {}).flatMap(field => {
      const rest = restOf(field)
      return rest ? [routeOf(rest, operation, field)] : []
    }),
  )
}

function routeOf(rest: RestRoute, operation: 'Query' | 'Mutation', field: GraphQLField<unknown, unknown>): Route {
  const [method, path] = rest.route.split(' ') as [Method, string]
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => [name, 'path'] as const)
  return {
    method,
    also: rest.also,
    path,
    operation,
    field: field.name,
    statuses: rest.errors,
    wrap: rest.wrap,
    msg: rest.msg ?? 'ok',
    redirect: rest.redirect ?? false,
    page: rest.page,
    public: field.extensions.public === true,
    usual: method === 'GET' || method === 'DELETE' ? 'query' : 'body',
    sources: { ...Object.fromEntries(inPath), ...rest.from },
    lenient: !rest.errors.includes(400),
    isLimited: field.extensions.isLimited === true,
    description: field.description ?? '',
  }
}

export const sourceOf = (route: Route, argument: string): Source => route.sources[argument] ?? route.usual
