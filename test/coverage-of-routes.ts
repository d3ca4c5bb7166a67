import { schema as graph } from '../schema/index.ts'
import { restSchema } from '../schema/rest/index.ts'
import { clamp } from '../src/http/envelope.ts'
import { routesOf } from '../src/rest/routes.ts'
import { naturalStatus } from '../src/runtime/errors.ts'

/**
 * Routes by what a test calls them, those without parameters first: they win over those that would
 * match, too.
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

/** What this test file has seen; every file has modules of its own. */
const seen = new Set<string>()

/** Remembers what a route has answered by REST. @param code of a refusal */
export function recordRest(method: string, url: string, status: number, code: unknown): void {
  const path = url.replace(/[?#].*/, '')
  const route = routes.find(r => r.method === method.replace('HEAD', 'GET') && r.pattern.test(path))
  if (!route) return
  seen.add(`${route.name} ${status}`)
  if (typeof code === 'string') seen.add(`${route.name} ${status} ${code}`)
}

/**
 * Remembers which fields of the root have answered by GraphQL, and with what code they have
 * refused.
 */
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

/** What every mutation may say: it comes from its rules, or from the state of the service. */
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
 * Throws for a mutation that has failed with a code that it does not declare. What its payload says
 * is the business of other types.
 */
function expectDeclared(query: string, path: unknown[], code: string): void {
  const [name] = path
  const fails = graph.getMutationType()?.getFields()[String(name)]?.extensions.fails
  // An alias does not say which mutation it is.
  if (path.length > 1 || !fails || new RegExp(`\\b${name}\\s*:`).test(query)) return
  if (![...unsaid, ...fails].includes(code))
    throw new Error(`${name} does not declare that it fails with ${code}.`)
}

type GraphqlErrors = { path?: unknown; extensions: { code: string } }[] | undefined

/** What test/revisions.test.ts shows of all that say it. */
const MISMATCH = /^412|REVISION_MISMATCH$/

/** What test/drive-gone.test.ts and test/share-edit-races.test.ts show of all that say it. */
export const isShownGone = (what: string): boolean => / (FOLDER_NOT_FOUND|SHARE_FULL)$/.test(what)

/**
 * What this file has not shown to refuse a change of what another one has changed: routes and
 * mutations.
 */
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
 * What this file has not shown of the routes it is about, by REST: a status that a route lists, or
 * a code that it says it fails with.
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
 * What this file has not shown of these mutations: a success, that they ask who calls, and each
 * code that they say they fail with.
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
