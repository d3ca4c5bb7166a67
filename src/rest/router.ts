import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { type DocumentNode, type GraphQLField, type GraphQLSchema, isObjectType } from 'graphql'
import { type CompiledQuery, compileQuery, isCompiledQuery } from 'graphql-jit'
import { useSofa } from 'sofa-api'
import type { Context } from '../context.ts'
import { Unauthenticated } from '../errors.ts'
import type { Log } from '../log.ts'
import { createAddresses } from './addresses.ts'
import { type BodyKind, readJson, readRaw } from './body.ts'
import { sendDelivery } from './bytes.ts'
import { type Answer, answer, failure, success } from './envelope.ts'
import { type InputReader, inputReader } from './input.ts'
import { isNavigation } from './method.ts'
import { readMultipart } from './multipart.ts'
import { type Route, routesOf, sourceOf } from './routes.ts'
import { restView } from './view.ts'

/** One request through SOFA, which routes it and builds the operation; input and output are handled here. */
interface Call {
  route: Route
  context: Context
  variables: Record<string, unknown>
}

interface Endpoint {
  route: Route
  read: InputReader
  /** The kind of its body, if it accepts one. */
  body: 'json' | 'form' | 'raw'
  /** Where SOFA finds the operation. Never the caller's own path: its router would walk `..` to another route. */
  url: string
}

/** A body is charged by its route, because its Content-Type may say anything. */
const kindsOfBody = { json: 'whole', form: 'upload', raw: 'part' } as const satisfies Record<Endpoint['body'], BodyKind>

export interface RestRequest {
  req: IncomingMessage
  res: ServerResponse
  path: string
  query: URLSearchParams
  log: Log
}

/** Every path under /api that the schema declares, and no other. */
export function createRestRouter(schema: GraphQLSchema) {
  const view = restView(schema)
  const routes = routesOf(schema)
  const addresses = createAddresses<Endpoint>('There is nothing at this URL. The interface is described at /api/docs.')
  for (const route of routes) {
    const root = view.getType(route.operation)
    const field = isObjectType(root) ? root.getFields()[route.field] : undefined
    if (!field) throw new TypeError(`${route.operation}.${route.field} is not in the REST view.`)
    const endpoint: Endpoint = {
      route,
      read: inputReader(route, field),
      body: bodyKindOf(route, field),
      url: `http://localhost${route.path.replaceAll(/\{\w+\}/g, '0')}`,
    }
    const pattern = route.path.replaceAll(/\{(\w+)\}/g, ':$1')
    for (const method of route.also ? [route.method, route.also] : [route.method])
      addresses.on(method, pattern, endpoint)
  }

  /** The error of SOFA for the envelope: SOFA itself passes on a response only. */
  const failures = new WeakMap<object, unknown>()
  const sofa = useSofa({
    basePath: '/',
    schema: view,
    // Without this, a type that can be both listed and looked up would shrink to its id.
    ignore: Object.keys(view.getTypeMap()),
    routes: Object.fromEntries(
      routes.map(route => [
        `${route.operation}.${route.field}`,
        { method: route.method, path: route.path.replaceAll(/\{(\w+)\}/g, ':$1') },
      ]),
    ),
    context: (server: { call: Call }) => server.call,
    execute: executeCompiled,
    errorHandler: errors => {
      const response = new Response(null, { status: 500 })
      failures.set(response, errors[0])
      return response as never
    },
  })

  const compiled = new WeakMap<DocumentNode, CompiledQuery>()

  function compiledOf(document: DocumentNode, route: Route): CompiledQuery {
    const known = compiled.get(document)
    if (known) return known
    const made = compileQuery(view, document)
    if (!isCompiledQuery(made)) throw made.errors?.[0] ?? new TypeError(`Cannot compile ${route.field}.`)
    compiled.set(document, made)
    return made
  }

  /** Runs the operation that SOFA built for a route, compiled once, with the inputs that were read. */
  async function executeCompiled(args: { document: DocumentNode; contextValue?: unknown }) {
    const { route, context, variables } = args.contextValue as Call
    const result = await compiledOf(args.document, route).query(undefined, context, variables)
    if (result.errors) return { errors: result.errors }
    const value = result.data?.[route.field]
    return { data: { [route.field]: success(route.wrap ? { [route.wrap]: value } : value, route.msg) } }
  }

  async function run(
    { req, query }: RestRequest,
    context: Context,
    { route, read, body: kind, url }: Endpoint,
    params: Record<string, string | undefined>,
  ) {
    if (!context.caller && !route.public) throw new Unauthenticated()
    const form = kind === 'form' ? await readMultipart(req, context.signal) : undefined
    try {
      const body = kind === 'json' ? await bodyOf(req, route, context.caller === null) : undefined
      const variables = read({
        path: params,
        query,
        address: req.url ?? '',
        body,
        form: form?.values,
        raw: kind === 'raw' ? readRaw(req) : undefined,
        header: name => headerText(req, name),
      })
      const call: Call = { route, context, variables }
      const request = { method: route.method, url, body: null } as unknown as Request
      const response = await sofa.handleRequest(request, { call })
      if (failures.has(response)) throw failures.get(response)
      await form?.finished
      return response
    } finally {
      form?.close()
    }
  }

  return {
    routes,

    /** Answers a request under /api. Never throws. */
    async handle(request: RestRequest, contextOf: (body: BodyKind) => Promise<Context>): Promise<void> {
      const { req, res, log } = request
      let route: Route | undefined
      let params: Record<string, string | undefined> = {}
      try {
        const found = addresses.find(req.method ?? 'GET', request.path)
        const endpoint = found.answering
        params = found.params
        route = endpoint.route
        const context = await contextOf(kindsOfBody[endpoint.body])
        const response = await run(request, context, endpoint, params)
        if (context.download) await sendDelivery(req, res, context.download, context)
        else write(res, req, { ...answer(success(null)), body: await response.text() })
      } catch (error) {
        const refused = failure(error, log, route?.statuses)
        const page = refused.status < 500 && isNavigation(req) ? pageOf(route, params) : undefined
        if (page) write(res, req, { status: 303, headers: { location: page, 'cache-control': 'no-store' }, body: '' })
        else write(res, req, refused)
      }
    },
  }
}

/** The page that explains a refusal of this route, for these inputs. */
const pageOf = (route: Route | undefined, params: Record<string, string | undefined>): string | undefined =>
  route?.page?.replaceAll(/\{(\w+)\}/g, (_, name) => encodeURIComponent(params[name] ?? ''))

function bodyKindOf(route: Route, { args }: GraphQLField<unknown, unknown>): Endpoint['body'] {
  const sources = args.map(arg => sourceOf(route, arg.name))
  return sources.includes('form') ? 'form' : sources.includes('raw') ? 'raw' : 'json'
}

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

/** Node reads header bytes as Latin-1; what was sent as UTF-8 is read again. */
function headerText(req: IncomingMessage, name: string): string | undefined {
  const value = req.headers[name]
  if (typeof value !== 'string') return undefined
  const again = Buffer.from(value, 'latin1').toString('utf8')
  return again.includes('\uFFFD') ? value : again
}

export function write(res: ServerResponse, req: IncomingMessage, { status, headers, body }: Answer): void {
  // Who has hung up reads nothing, and their request may have lost its socket.
  if (res.headersSent || res.destroyed) return void res.destroy()
  res.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) })
  const text = req.method === 'HEAD' ? '' : body
  if (req.complete) return void res.end(text)
  // Ending now would close the connection of a client that asked for that, who may be sending still and would lose the answer.
  res.write(text)
  takeRest(req, req.socket, () => res.end())
}

/** How long the rest of a body that was refused is still taken, so that the client gets to read why. */
const REST_LIMIT_MS = 3000
/** So much of it is taken at full speed between pauses: 20 MiB a second, which is an honest upload within the limit. */
const REST_AT_ONCE = 1024 * 1024
const REST_PAUSE_MS = 50

/** Drains the rest of an unread body, so that the connection can be reused; cuts the connection when that is too slow. */
export function takeRest(req: IncomingMessage, socket: Socket, done: () => void = () => {}): void {
  if (socket.destroyed) return void done()
  const timer = setTimeout(() => socket.destroy(), REST_LIMIT_MS)
  timer.unref()
  const over = () => {
    clearTimeout(timer)
    socket.off('close', over)
    req.off('end', over)
    done()
  }
  socket.once('close', over)
  req.once('end', over)
  req.unpipe()
  let taken = 0
  // Who has read until now may be waiting for the next bytes still, and would leave the request standing when it gets them.
  req.on('data', (chunk: Buffer) => {
    taken += chunk.length
    if (taken < REST_AT_ONCE) return
    taken = 0
    // At full speed, many who are refused and send on would leave no time for others.
    req.pause()
    setTimeout(() => req.resume(), REST_PAUSE_MS).unref()
  })
  req.resume()
}
