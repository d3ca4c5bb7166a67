import { SESSION_COOKIE } from '../access/credential.ts'
import { jsonHeaders } from '../http/envelope.ts'
import { makeStatic, type StaticAnswer, sendStatic } from '../http/static.ts'
import { type DoorPlan, doorOf, openPassage } from '../http/threshold.ts'
import { methodsOf, type Route } from '../rest/routes.ts'
import { authArea, authPaths } from './auth.ts'
import { errorSchemas } from './errors.ts'
import { type Operation, operationOf } from './operation.ts'
import { createDocsPage } from './page.ts'
import { createRefusals, type Response } from './response.ts'
import { createOutputSchemas, type Schema } from './schema.ts'

/** The subset of an OpenAPI 3.0.3 document that is used here. */
export interface ApiDocument {
  openapi: string
  info: { title: string; version: string; description: string }
  servers: { url: string }[]
  tags: { name: string; description: string }[]
  /** Operations by path and lower-case method. */
  paths: Record<string, Record<string, Operation>>
  components: {
    schemas: Record<string, Schema>
    responses: Record<string, Response>
    headers: Record<string, { description: string; schema: Schema }>
    securitySchemes: Record<
      string,
      | { type: 'apiKey'; in: 'cookie' | 'header'; name: string; description: string }
      | { type: 'http'; scheme: 'bearer'; description: string }
    >
  }
}

const headers: ApiDocument['components']['headers'] = {
  'Content-Disposition': {
    description: 'Whether to save or to show the file, and its name.',
    schema: { type: 'string' },
  },
  'X-Request-Id': {
    description: 'The id of the request, also in the log.',
    schema: { type: 'string', format: 'uuid' },
  },
  Location: {
    description: 'Where to continue.',
    schema: { type: 'string', format: 'uri-reference' },
  },
  'Preference-Applied': {
    description: 'The preferences of `Prefer` that were applied (RFC 7240).',
    schema: { type: 'string' },
  },
  'Retry-After': {
    description: 'Seconds to wait before trying again.',
    schema: { type: 'integer' },
  },
  RateLimit: { description: 'What is left of the limit.', schema: { type: 'string' } },
  'RateLimit-Policy': { description: 'The limit and its window.', schema: { type: 'string' } },
  ETag: {
    description: 'The ETag of the answer, for `If-None-Match`, `If-Match` and `If-Range`.',
    schema: { type: 'string' },
  },
}

const headersOfBytes: ApiDocument['components']['headers'] = {
  'Accept-Ranges': {
    description: 'Says that `Range` can request a part.',
    schema: { type: 'string' },
  },
  'Content-Range': {
    description: 'Which bytes these are, of how many.',
    schema: { type: 'string' },
  },
}

const securitySchemes: ApiDocument['components']['securitySchemes'] = {
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: SESSION_COOKIE,
    description: 'The session of a person, set by signing in at `/auth/oauth`.',
  },
  apiKey: {
    type: 'apiKey',
    in: 'header',
    name: 'X-API-Key',
    description: 'A key for programs. It takes precedence over a cookie.',
  },
  bearer: {
    type: 'http',
    scheme: 'bearer',
    description: 'The same key as `Authorization: Bearer`, for clients that know this header.',
  },
}

/** Describes every route, including the sign-in routes. */
function describe(routes: Route[], publicUrl: string, proxied: boolean): ApiDocument {
  const { components, outputSchema } = createOutputSchemas()
  const refusals = createRefusals()
  const paths: ApiDocument['paths'] = {}
  for (const route of routes)
    for (const method of methodsOf(route)) {
      const operation = operationOf(route, method, { outputSchema, refusals, proxied })
      paths[route.path] = { ...paths[route.path], [method.toLowerCase()]: operation }
    }
  const areas = new Map(
    [authArea, ...routes.map(route => route.area)].map(area => [area.name, area]),
  )
  return {
    openapi: '3.0.3',
    info: {
      title: 'Satchel',
      version: '1.7.0',
      description:
        'File storage and sharing. Every JSON answer is an object of `status`, `msg` and `response`; after an error, `response.code` says what ' +
        'went wrong. A URL that does not exist is answered with 404 `ROUTE_NOT_FOUND`, a method that a URL does not support with 405 ' +
        '`METHOD_NOT_ALLOWED`, with `Allow`. The GraphQL interface at `/graphql` works with the same files, under the same rules.',
    },
    servers: [{ url: publicUrl }],
    tags: [...areas.values()],
    paths: { ...paths, ...authPaths(refusals) },
    components: {
      schemas: { ...components, ...errorSchemas },
      responses: refusals.components,
      headers: proxied ? { ...headers, ...headersOfBytes } : headers,
      securitySchemes,
    },
  }
}

/**
 * The OpenAPI document of the REST interface, and the page to read it and try it.
 * @param publicUrl the origin of the service, without a trailing slash; read on each use, because
 * the port may not be known earlier
 * @param proxied whether downloads send their bytes instead of a redirect
 */
export function createApiDocument(
  routes: Route[],
  publicUrl: () => string,
  { proxied, hasConsole = false }: { proxied: boolean; hasConsole?: boolean },
) {
  const sendPage = createDocsPage(hasConsole)
  /** Serves /api/docs and the files below it. */
  const page = openPassage('/api/docs', ({ req, res, path }) => sendPage(req, res, path))
  let made: { url: string; document: ApiDocument; answer: Promise<StaticAnswer> } | undefined

  function current() {
    const url = publicUrl()
    if (made?.url === url) return made
    const document = describe(routes, url, proxied)
    made = { url, document, answer: makeStatic(JSON.stringify(document), jsonHeaders) }
    return made
  }

  return {
    document: (): ApiDocument => current().document,

    doors: [
      doorOf(
        openPassage('/api/openapi.json', async ({ req, res }) =>
          sendStatic(req, res, await current().answer),
        ),
      ),
      { prefix: '/api/docs', find: () => page },
    ] satisfies DoorPlan[],
  }
}
