import { type DocumentNode, type GraphQLSchema, Kind } from 'graphql'
import type { CompiledQuery } from 'graphql-jit'
import { useSofa } from 'sofa-api'
import { compile } from '../runtime/compile.ts'
import type { Route } from './routes.ts'

/** SOFA's data about a route. Its types do not show it. */
interface SofaRoute {
  path: string
  handler(request: { url: string; body: null }, context: object): Promise<unknown>
}

/** SOFA adds its own routes for subscriptions, which are never reached. */
const isOwn = ({ path }: SofaRoute): boolean => path.startsWith('/webhook')

/**
 * Lets SOFA build the operation of every route. Each is compiled on first use, because an instance
 * needs few of them, and its start needs none.
 */
export async function buildOperations(
  schema: GraphQLSchema,
  routes: Route[],
): Promise<Map<string, () => CompiledQuery>> {
  const operations = new Map<string, () => CompiledQuery>()
  const sofa = useSofa({
    basePath: '/',
    schema,
    // Without this, SOFA would reduce a type that can be both listed and looked up to its id.
    ignore: Object.keys(schema.getTypeMap()),
    // Paths without parameters, because SOFA would create a pattern for every other path, and
    // Satchel does not route by these patterns.
    routes: Object.fromEntries(
      routes.map(({ operation, field, method }) => [
        `${operation}.${field}`,
        { method, path: `/operation/${field}` },
      ]),
    ),
    execute: async ({ document }: { document: DocumentNode }) => {
      const field = fieldOf(document)
      let compiled: CompiledQuery | undefined
      operations.set(field, () => {
        compiled ??= compileRoute(schema, document)
        return compiled
      })
      return { data: { [field]: null } }
    },
    errorHandler: errors => {
      throw errors[0]
    },
  })
  const { __routes } = sofa as unknown as { __routes: SofaRoute[] }
  for (const route of __routes) if (!isOwn(route)) await route.handler({ url: '', body: null }, {})
  return operations
}

function compileRoute(schema: GraphQLSchema, document: DocumentNode): CompiledQuery {
  const compiled = compile(schema, document)
  if ('errors' in compiled)
    throw compiled.errors[0] ?? new TypeError(`Cannot compile ${fieldOf(document)}.`)
  return compiled
}

/** The name of the field that an operation selects. */
function fieldOf({ definitions: [operation] }: DocumentNode): string {
  const [field] =
    operation?.kind === Kind.OPERATION_DEFINITION ? operation.selectionSet.selections : []
  if (field?.kind !== Kind.FIELD)
    throw new TypeError('SOFA must ask for one field in each operation.')
  return field.name.value
}
