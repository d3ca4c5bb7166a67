import { appendFileSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { schema as graph } from '../../schema/index.ts'
import { restSchema } from '../../schema/rest/index.ts'
import { clamp } from '../../src/http/envelope.ts'
import { routesOf } from '../../src/rest/routes.ts'
import { naturalStatus } from '../../src/runtime/errors.ts'

/**
 * Routes by the address in a test. Routes without parameters come first, because they take
 * precedence over matching routes with parameters.
 */
const routes = routesOf(restSchema)
  .flatMap(route =>
    [route.method, ...(route.also ? [route.also] : [])].map(method => ({ ...route, method })),
  )
  .map(route => ({
    ...route,
    name: `${route.method} ${route.path}`,
    pattern: new RegExp(`^${route.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
    documented: [
      ...[
        ...(route.redirect ? [302] : [200]),
        ...(route.defers ? [202] : []),
        ...(route.revalidates ? [304] : []),
        ...route.statuses,
      ].map(String),
      ...route.fails.map(code => `${clamp(naturalStatus[code], code, route.statuses)} ${code}`),
    ],
  }))
  .sort((a, b) => a.path.split('{').length - b.path.split('{').length)

/**
 * The folder in which the test processes of a run record the outcomes that they see. If empty,
 * nothing is recorded.
 */
const folder = process.env.TEST_OUTCOMES ?? ''
const recorded = new Set<string>()

function record(outcome: string): void {
  if (!folder || recorded.has(outcome)) return
  recorded.add(outcome)
  appendFileSync(join(folder, String(process.pid)), `${outcome}\n`)
}

/**
 * Records a REST response.
 * @param code of a refusal
 */
export function recordRest(method: string, url: string, status: number, code: unknown): void {
  const path = url.replace(/[?#].*/, '')
  const route = routes.find(r => r.method === method.replace('HEAD', 'GET') && r.pattern.test(path))
  if (!route) return
  record(`${route.name} ${status}`)
  if (typeof code === 'string') record(`${route.name} ${status} ${code}`)
}

/** Records the root fields of a GraphQL response, with the error code of each failure. */
export function recordGraphql(
  query: string,
  data: object | null | undefined,
  errors: GraphqlErrors,
): void {
  const refused = new Set(errors?.map(({ path }) => (Array.isArray(path) ? path[0] : undefined)))
  for (const [field, value] of Object.entries(data ?? {}))
    if (value !== null && !refused.has(field)) record(`graphql ${field} ok`)
  const [, first] = /\{\s*(\w+)/.exec(query) ?? []
  for (const { path, extensions } of errors ?? []) {
    record(`graphql ${Array.isArray(path) ? path[0] : first} ${extensions.code}`)
    if (Array.isArray(path)) expectDeclared(query, path, extensions.code)
  }
}

/** Codes that every mutation may return because of its rules or the state of the service. */
const unsaid = [
  'UNAUTHENTICATED',
  'FORBIDDEN',
  'INSUFFICIENT_SCOPE',
  'KEY_OUT_OF_BOUNDS',
  'UNAVAILABLE',
  'NO_SPACE',
  'MAINTENANCE',
  'INTERNAL',
]

/**
 * Throws for a mutation that failed with an undeclared code. Types in its payload are not checked.
 */
function expectDeclared(query: string, path: unknown[], code: string): void {
  const [name] = path
  const fails = graph.getMutationType()?.getFields()[String(name)]?.extensions.fails
  // An alias hides which mutation failed.
  if (path.length > 1 || !fails || new RegExp(`\\b${name}\\s*:`).test(query)) return
  if (![...unsaid, ...fails].includes(code))
    throw new Error(`${name} does not declare that it fails with ${code}.`)
}

type GraphqlErrors = { path?: unknown; extensions: { code: string } }[] | undefined

/** The lines that the processes of a run have recorded. */
function recordedIn(folder: string): Set<string> {
  const files = globSync('*', { cwd: folder })
  return new Set(files.flatMap(name => readFileSync(join(folder, name), 'utf8').split('\n')))
}

/**
 * The suites that are missing in the outcomes of a run, which therefore prove nothing.
 * @param from the folder that was TEST_OUTCOMES during the run
 */
export function missingSuites(from: string): string[] {
  const recorded = recordedIn(from)
  const isDone = (suite: string) => recorded.has(`suite ${suite}`)
  return isDone('all') ? [] : ['quick', 'rest'].filter(suite => !isDone(suite))
}

/**
 * Documented outcomes that no test of a run has seen: each status and error code of each route;
 * success, UNAUTHENTICATED and each declared code of each mutation.
 * @param from the folder that was TEST_OUTCOMES during the run
 */
export function unseenOutcomes(from: string): string[] {
  const seen = recordedIn(from)
  const ofRest = routes.flatMap(({ name, documented }) => documented.map(what => `${name} ${what}`))
  const ofGraphql = Object.values(graph.getMutationType()?.getFields() ?? {}).flatMap(
    ({ name, extensions: { fails } }) =>
      ['ok', 'UNAUTHENTICATED', ...(Array.isArray(fails) ? fails : [])].map(
        code => `graphql ${name} ${code}`,
      ),
  )
  return [...ofRest, ...ofGraphql].filter(outcome => !seen.has(outcome))
}
