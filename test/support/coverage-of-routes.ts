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
    listed: [
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

/** The results seen in this test file. Every test file loads its own modules. */
const seen = new Set<string>()

/**
 * Records a REST response.
 * @param code of a refusal
 */
export function recordRest(method: string, url: string, status: number, code: unknown): void {
  const path = url.replace(/[?#].*/, '')
  const route = routes.find(r => r.method === method.replace('HEAD', 'GET') && r.pattern.test(path))
  if (!route) return
  seen.add(`${route.name} ${status}`)
  if (typeof code === 'string') seen.add(`${route.name} ${status} ${code}`)
}

/** Records the root fields of a GraphQL response, with the error code of each failure. */
export function recordGraphql(
  query: string,
  data: object | null | undefined,
  errors: GraphqlErrors,
): void {
  const refused = new Set(errors?.map(({ path }) => (Array.isArray(path) ? path[0] : undefined)))
  for (const [field, value] of Object.entries(data ?? {}))
    if (value !== null && !refused.has(field)) seen.add(`graphql ${field} ok`)
  const [, first] = /\{\s*(\w+)/.exec(query) ?? []
  for (const { path, extensions } of errors ?? []) {
    seen.add(`graphql ${Array.isArray(path) ? path[0] : first} ${extensions.code}`)
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

/** test/engines/revisions.test.ts covers these for all routes and mutations. */
const MISMATCH = /^412|REVISION_MISMATCH$/

/**
 * test/interfaces/drive-gone.test.ts and test/engines/share-edit-races.test.ts cover these for all
 * routes and mutations.
 */
export const isShownGone = (what: string): boolean => / (FOLDER_NOT_FOUND|SHARE_FULL)$/.test(what)

/** Routes and mutations for which this file has no revision mismatch. */
export function unseenMismatches(): string[] {
  const byRest = routes
    .filter(({ listed }) => listed.includes('412'))
    .map(({ name }) => `${name} 412 REVISION_MISMATCH`)
  const byGraph = Object.values(graph.getMutationType()?.getFields() ?? {})
    .filter(({ extensions: { fails } }) => fails?.includes('REVISION_MISMATCH'))
    .map(({ name }) => `graphql ${name} REVISION_MISMATCH`)
  return [...byRest, ...byGraph].filter(what => !seen.has(what))
}

/**
 * Documented statuses and error codes of these routes that this file has not seen.
 * @param names such as `POST /api/files/move`
 */
export function unseen(...names: string[]): string[] {
  return names.flatMap(name => {
    const route = routes.find(r => r.name === name)
    if (!route) return [`${name} does not exist`]
    const listed = route.listed.filter(status => !MISMATCH.test(status))
    return listed.map(status => `${name} ${status}`).filter(what => !seen.has(what))
  })
}

/**
 * Outcomes of these mutations that this file has not seen: a success, UNAUTHENTICATED, and each
 * declared code.
 */
export function unseenInGraph(...names: string[]): string[] {
  const mutations = graph.getMutationType()?.getFields() ?? {}
  return names.flatMap(name => {
    const fails = mutations[name]?.extensions.fails
    if (!Array.isArray(fails)) return [`${name} does not exist`]
    const codes = fails.filter(code => !MISMATCH.test(code))
    return ['ok', 'UNAUTHENTICATED', ...codes]
      .map(code => `graphql ${name} ${code}`)
      .filter(what => !seen.has(what))
  })
}
