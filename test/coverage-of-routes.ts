import { schema } from '../schema/index.ts'
import { routesOf } from '../src/rest/routes.ts'

/** Routes by what a test calls them, those without parameters first: they win over those that would match, too. */
const routes = routesOf(schema)
  .flatMap(route => [route.method, ...(route.also ? [route.also] : [])].map(method => ({ ...route, method })))
  .map(route => ({
    ...route,
    name: `${route.method} ${route.path}`,
    pattern: new RegExp(`^${route.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
    listed: [route.redirect ? 302 : 200, ...route.statuses],
  }))
  .sort((a, b) => a.path.split('{').length - b.path.split('{').length)

/** What this test file has seen; every file has modules of its own. */
const seen = new Set<string>()

/** Remembers what a route has answered by REST. */
export function recordRest(method: string, url: string, status: number): void {
  const path = url.replace(/[?#].*/, '')
  const route = routes.find(r => r.method === method.replace('HEAD', 'GET') && r.pattern.test(path))
  if (route) seen.add(`${route.name} ${status}`)
}

/** Remembers which fields of the root have answered by GraphQL, and with what code they have refused. */
export function recordGraphql(query: string, data: object | null | undefined, errors: GraphqlErrors): void {
  const refused = new Set(errors?.map(({ path }) => (Array.isArray(path) ? path[0] : undefined)))
  for (const field of Object.keys(data ?? {})) if (!refused.has(field)) seen.add(`graphql ${field} ok`)
  const [, first] = /\{\s*(\w+)/.exec(query) ?? []
  for (const { path, extensions } of errors ?? [])
    seen.add(`graphql ${Array.isArray(path) ? path[0] : first} ${extensions.code}`)
}

type GraphqlErrors = { path?: unknown; extensions: { code: string } }[] | undefined

/**
 * What this file has not shown of the routes it is about: a status that a route lists, by REST; a success and, unless it is public,
 * a refusal, by GraphQL.
 * @param names such as `POST /api/files/move`
 */
export function unseen(...names: string[]): string[] {
  return names.flatMap(name => {
    const route = routes.find(r => r.name === name)
    if (!route) return [`${name} does not exist`]
    const wanted = [
      ...route.listed.map(status => `${name} ${status}`),
      `graphql ${route.field} ok`,
      ...(route.public ? [] : [`graphql ${route.field} UNAUTHENTICATED`]),
    ]
    return wanted.filter(what => !seen.has(what))
  })
}
