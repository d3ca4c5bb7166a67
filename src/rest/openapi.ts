import type { IncomingMessage, ServerResponse } from 'node:http'
import { type GraphQLSchema, isObjectType } from 'graphql'
import { SESSION_COOKIE } from '../auth/caller.ts'
import { sendDocsPage } from './docs-page.ts'
import { allowOnly } from './method.ts'
import { authPaths } from './openapi-auth.ts'
import { errorSchemas } from './openapi-errors.ts'
import { type Operation, operationOf } from './openapi-operation.ts'
import { outages, type Response } from './openapi-response.ts'
import { createOutputSchemas, type Schema } from './openapi-schema.ts'
import type { Route } from './routes.ts'
import { makeStatic, type StaticAnswer, sendStatic } from './static.ts'
import { restView } from './view.ts'

/** An OpenAPI 3.0.3 document, as far as it is used here. */
export interface ApiDocument {
  openapi: string
  info: { title: string; version: string; description: string }
  servers: { url: string }[]
  tags: { name: string; description: string }[]
  /** Path -> method in lower case -> operation. */
  paths: Record<string, Record<string, Operation>>
  components: {
    schemas: Record<string, Schema>
    responses: Record<string, Response>
    headers: Record<string, { description: string; schema: Schema }>
    securitySchemes: Record<string, { type: 'apiKey'; in: 'cookie' | 'header'; name: string; description: string }>
  }
}

/** The nouns, each with the paths that are about it; the first that fits decides. */
const tags: { name: string; description: string; paths: RegExp }[] = [
  { name: 'auth', description: 'Signing in and out.', paths: /^\/auth\// },
  { name: 'uploads', description: 'Resumable uploads, in parts.', paths: /\/uploads(\/|$)/ },
  {
    name: 'workspace files',
    description: 'Files and folders of a workspace.',
    paths: /^\/api\/workspaces\/\{\w+\}\/files\//,
  },
  { name: 'invites', description: 'Invites to workspaces.', paths: /^\/api\/workspaces\/invites(\/|$)/ },
  {
    name: 'members',
    description: 'Members of workspaces and their roles.',
    paths: /^\/api\/workspaces\/members(\/|$)/,
  },
  { name: 'workspaces', description: 'Storage that several people share.', paths: /^\/api\/workspaces\// },
  { name: 'api keys', description: 'Keys for programs.', paths: /^\/api\/api_keys\// },
  { name: 'notes', description: 'Notes on contents.', paths: /\/note$/ },
  { name: 'downloads', description: 'The bytes of files.', paths: /^\/api\/d\/|download_token$/ },
  {
    name: 'shares',
    description: 'Links to files, for one person or for anybody.',
    paths: /^\/api\/(share\/|files\/(share|quick_share|received|shared_by_user)(\/|$))/,
  },
  { name: 'files', description: 'Files of the caller.', paths: /^\/api\/files\// },
  { name: 'folders', description: 'Folders of the caller.', paths: /^\/api\/folders(\/|$)/ },
  { name: 'user', description: 'The account of the caller.', paths: /^\/api\/user\// },
]

const tagOf = (path: string): string => tags.find(tag => tag.paths.test(path))?.name ?? 'other'

const headers: ApiDocument['components']['headers'] = {
  'X-Request-Id': { description: 'Names the request in the log, too.', schema: { type: 'string', format: 'uuid' } },
  Location: { description: 'Where to go on.', schema: { type: 'string', format: 'uri' } },
  'Retry-After': { description: 'Seconds to wait before trying again.', schema: { type: 'integer' } },
  RateLimit: { description: 'What is left of the limit.', schema: { type: 'string' } },
  'RateLimit-Policy': { description: 'The limit and its window.', schema: { type: 'string' } },
}

const headersOfBytes: ApiDocument['components']['headers'] = {
  ETag: { description: 'Names the bytes, for `If-None-Match` and `If-Range`.', schema: { type: 'string' } },
  'Accept-Ranges': { description: 'That `Range` may ask for a part.', schema: { type: 'string' } },
  'Content-Disposition': { description: 'Whether to save or to show it, and its name.', schema: { type: 'string' } },
  'Content-Range': { description: 'Which bytes these are, of how many.', schema: { type: 'string' } },
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
    description: 'A key for programs. It decides over a cookie.',
  },
}

/** Describes every route that the schema declares, and those of signing in. */
function describe(schema: GraphQLSchema, routes: Route[], publicUrl: string, proxied: boolean): ApiDocument {
  const view = restView(schema)
  const { components, outputSchema } = createOutputSchemas()
  const paths: ApiDocument['paths'] = {}
  for (const route of routes) {
    const root = view.getType(route.operation)
    const field = isObjectType(root) ? root.getFields()[route.field] : undefined
    if (!field) throw new TypeError(`${route.operation}.${route.field} is not in the REST view.`)
    for (const method of route.also ? [route.method, route.also] : [route.method]) {
      const operation = operationOf(route, method, field, tagOf(route.path), { outputSchema, proxied })
      paths[route.path] = { ...paths[route.path], [method.toLowerCase()]: operation }
    }
  }
  Object.assign(paths, authPaths)
  const used = new Set(Object.keys(paths).map(tagOf))
  return {
    openapi: '3.0.3',
    info: {
      title: 'Satchel',
      version: '1.7.0',
      description:
        'File storage and sharing. Every JSON answer is an object of `status`, `msg` and `response`; after an error, `response.code` says what ' +
        'went wrong. An address that does not exist is answered 404 `ROUTE_NOT_FOUND`, a method that an address does not take 405 ' +
        '`METHOD_NOT_ALLOWED`, with `Allow`. The same operations are fields of the GraphQL interface at `/graphql`.',
    },
    servers: [{ url: publicUrl }],
    tags: tags.filter(tag => used.has(tag.name)).map(({ name, description }) => ({ name, description })),
    paths,
    components: {
      schemas: { ...components, ...errorSchemas },
      responses: outages,
      headers: proxied ? { ...headers, ...headersOfBytes } : headers,
      securitySchemes,
    },
  }
}

const jsonHeaders = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' }

/**
 * The OpenAPI document of the REST interface, and the page on which people read and try it.
 * @param publicUrl origin of the service, without a trailing slash; asked when the document is, because the port may not be known before
 * @param proxied whether downloads are answered with their bytes, and not with a redirect
 */
export function createApiDocument(
  schema: GraphQLSchema,
  routes: Route[],
  publicUrl: () => string,
  { proxied }: { proxied: boolean },
) {
  let made: { url: string; document: ApiDocument; answer: Promise<StaticAnswer> } | undefined

  function current() {
    const url = publicUrl()
    if (made?.url === url) return made
    const document = describe(schema, routes, url, proxied)
    made = { url, document, answer: makeStatic(JSON.stringify(document), jsonHeaders) }
    return made
  }

  return {
    document: (): ApiDocument => current().document,

    /** @throws METHOD_NOT_ALLOWED */
    sendJson(req: IncomingMessage, res: ServerResponse): Promise<void> {
      allowOnly(req, 'GET', 'HEAD')
      return current().answer.then(answer => sendStatic(req, res, answer))
    },

    /**
     * Answers /api/docs and the files below it.
     * @throws METHOD_NOT_ALLOWED, ROUTE_NOT_FOUND
     */
    sendPage(req: IncomingMessage, res: ServerResponse, path: string): Promise<void> {
      allowOnly(req, 'GET', 'HEAD')
      return sendDocsPage(req, res, path)
    },
  }
}
