import { type DocumentNode, type GraphQLSchema, Kind } from 'graphql'
import { type CompiledQuery, compileQuery, isCompiledQuery } from 'graphql-jit'
import { useSofa } from 'sofa-api'
import type { Route } from './routes.ts'

/** What SOFA keeps of a route. Its types do not show it. */
interface SofaRoute {
  path: string
  handler(request: { url: string; body: null }, context: object): Promise<unknown>
}

/** SOFA adds routes of its own, for subscriptions; they are never reached. */
const isOwn = ({ path }: SofaRoute): boolean => path.startsWith('/webhook')

/** Lets SOFA build the operation of every route, and compiles each, once: what runs for a request is the compiled operation. */
export async function compileOperations(schema: GraphQLSchema, routes: Route[]): Promise<Map<string, CompiledQuery>> {
  const compiled = new Map<string, CompiledQuery>()
  const sofa = useSofa({
    basePath: '/',
    schema,
    // Without this, a type that can be both listed and looked up would shrink to its id.
    ignore: Object.keys(schema.getTypeMap()),
    routes: Object.fromEntries(
      routes.map(route => [
        `${route.operation}.${route.field}`,
        { method: route.method, path: route.path.replaceAll(/\{(\w+)\}/g, ':$1') },
      ]),
    ),
    execute: async ({ document }: { document: DocumentNode }) => {
      const field = fieldOf(document)
      const query = compileQuery(schema, document)
      if (!isCompiledQuery(query)) throw query.errors?.[0] ?? new TypeError(`Cannot compile ${field}.`)
      compiled.set(field, query)
      return { data: { [field]: null } }
    },
    errorHandler: errors => {
      throw errors[0]
    },
  })
  const { __routes } = sofa as unknown as { __routes: SofaRoute[] }
  for (const route of __routes) if (!isOwn(route)) await route.handler({ url: '', body: null }, {})
  return compiled
}

/** The name of the field that an operation asks for. */
function fieldOf({ definitions: [operation] }: DocumentNode): string {
  const [field] = operation?.kind === Kind.OPERATION_DEFINITION ? operation.selectionSet.selections : []
  if (field?.kind !== Kind.FIELD) throw new TypeError('SOFA asks for one field in each operation.')
  return field.name.value
}
