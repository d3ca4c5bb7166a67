import type { IncomingMessage, ServerResponse } from 'node:http'
import fresh from 'fresh'
import type { GraphQLSchema } from 'graphql'
import type { CompiledQuery } from 'graphql-jit'
import type { Context } from '../../schema/context.ts'
import { createAddresses } from '../http/addresses.ts'
import { sendAttachment } from '../http/attachment.ts'
import { type BodyKind, readJson, readRaw } from '../http/body.ts'
import { sendBytes, sendDelivery } from '../http/bytes.ts'
import { type Answer, accepted, answer, failure, success, unchanged } from '../http/envelope.ts'
import { isNavigation } from '../http/method.ts'
import { write } from '../http/write.ts'
import { Unauthenticated } from '../runtime/errors.ts'
import type { Log } from '../runtime/log.ts'
import type { Attachment } from '../services/accounts/account-export.ts'
import type { Delivery, Download } from '../services/sharing/download.ts'
import { type InputReader, inputReader } from './input.ts'
import { readMultipart } from './multipart.ts'
import { buildOperations } from './operations.ts'
import { methodsOf, type Route, routesOf } from './routes.ts'

interface Endpoint {
  route: Route
  read: InputReader
  operation: () => CompiledQuery
}

/** A body is charged by its route, because clients may send any Content-Type. */
const kindsOfBody = { json: 'whole', form: 'upload', raw: 'part' } as const satisfies Record<
  Route['body'],
  BodyKind
>

export interface RestRequest {
  req: IncomingMessage
  res: ServerResponse
  path: string
  query: URLSearchParams
  log: Log
  /** Set to the path of the matching route. */
  route: string
  noteError(thrown: unknown): void
}

/** Serves every path under /api that the schema of the REST operations declares, and no other. */
export async function createRestRouter(schema: GraphQLSchema) {
  const routes = routesOf(schema)
  const operations = await buildOperations(schema, routes)
  const addresses = createAddresses<Endpoint>(
    'There is nothing at this URL. The interface is described at /api/docs.',
  )
  for (const route of routes) {
    const operation = operations.get(route.field)
    if (!operation) throw new TypeError(`SOFA has built no operation for ${route.field}.`)
    const endpoint: Endpoint = { route, read: inputReader(route), operation }
    for (const method of methodsOf(route))
      addresses.on(method, route.path.replaceAll(/\{(\w+)\}/g, ':$1'), endpoint)
  }

  /** Reads the inputs, runs the operation, and returns the value of its field. */
  async function run(
    { req, query }: RestRequest,
    context: Context,
    { route, read, operation }: Endpoint,
    params: Record<string, string | undefined>,
  ): Promise<unknown> {
    if (!context.caller && !route.public) throw new Unauthenticated()
    const form = route.body === 'form' ? await readMultipart(req, context.signal) : undefined
    try {
      const variables = read({
        path: params,
        query,
        address: req.url ?? '',
        body: route.body === 'json' ? await bodyOf(req, route, context.caller === null) : undefined,
        form: form?.values,
        raw: route.body === 'raw' ? readRaw(req) : undefined,
        header: name => headerText(req, name),
      })
      const { data, errors } = await operation().query(undefined, context, variables)
      if (errors?.[0]) throw errors[0]
      await form?.finished
      return data?.[route.field]
    } finally {
      form?.close()
    }
  }

  return {
    routes,

    /** Handles a request under /api. Never throws. */
    async handle(
      request: RestRequest,
      contextOf: (body: BodyKind) => Promise<Context>,
    ): Promise<void> {
      const { req, res, log } = request
      let route: Route | undefined
      let params: Record<string, string | undefined> = {}
      try {
        const found = addresses.find(req.method ?? 'GET', request.path)
        const endpoint = found.answering
        params = found.params
        request.route = found.pattern
        route = endpoint.route
        const context = await contextOf(kindsOfBody[route.body])
        const value = await run(request, context, endpoint, params)
        const exchange = { req, res, address: context.address, signal: context.signal }
        if (route.redirect)
          await sendDelivery(exchange, value as Download, context.services.downloads)
        else if (route.picture) await sendBytes(exchange, value as Delivery)
        else if (route.attachment)
          await sendAttachment({ req, res, signal: context.signal, log }, value as Attachment)
        else write(res, req, answerOf(route, value, context, req))
      } catch (error) {
        request.noteError(error)
        const refused = failure(error, log, route?.statuses)
        const page = refused.status < 500 && isNavigation(req) ? pageOf(route, params) : undefined
        if (page)
          write(res, req, {
            status: 303,
            headers: { location: page, 'cache-control': 'no-store' },
            body: '',
          })
        else write(res, req, refused)
      }
    },
  }
}

function answerOf(
  route: Route,
  value: unknown,
  { shared }: Context,
  { headers }: IncomingMessage,
): Answer {
  const etag: Record<string, string> =
    shared.revision === undefined ? {} : { etag: `"${shared.revision}"` }
  if (shared.accepted) return accepted(shared.accepted)
  if (shared.revalidates && fresh({ 'if-none-match': headers['if-none-match'] }, etag))
    return unchanged(etag)
  return answer(success(route.wrap ? { [route.wrap]: value } : value, route.msg), etag)
}

/** The page that explains a refusal of this route to a person, for these inputs. */
const pageOf = (
  route: Route | undefined,
  params: Record<string, string | undefined>,
): string | undefined =>
  route?.page?.replaceAll(/\{(\w+)\}/g, (_, name) => encodeURIComponent(params[name] ?? ''))

async function bodyOf(
  req: IncomingMessage,
  route: Route,
  anonymous: boolean,
): Promise<Record<string, unknown> | undefined> {
  if (req.method === 'GET' || req.method === 'HEAD') return undefined
  try {
    return await readJson(req, { anonymous })
  } catch (error) {
    if (route.lenient) return undefined
    throw error
  }
}

/** Node decodes header bytes as Latin-1. Decodes UTF-8 headers again. */
function headerText(req: IncomingMessage, name: string): string | undefined {
  const value = req.headers[name]
  if (typeof value !== 'string') return undefined
  const again = Buffer.from(value, 'latin1').toString('utf8')
  return again.includes('\uFFFD') ? value : again
}
