import type { IncomingMessage } from 'node:http'
import fresh from 'fresh'
import type { GraphQLSchema } from 'graphql'
import type { CompiledQuery } from 'graphql-jit'
import type { Context, MakeContext } from '../../schema/context.ts'
import type { Caller } from '../access/caller.ts'
import { createAddresses } from '../http/addresses.ts'
import { sendAttachment } from '../http/attachment.ts'
import { type BodyKind, readJson, readRaw } from '../http/body.ts'
import { sendBytes, sendDelivery } from '../http/bytes.ts'
import type { Callers } from '../http/callers.ts'
import { type Answer, accepted, answer, failure, success, unchanged } from '../http/envelope.ts'
import type { Incoming } from '../http/incoming.ts'
import { isNavigation } from '../http/method.ts'
import type { DoorPlan, Passage } from '../http/threshold.ts'
import { write } from '../http/write.ts'
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

/** Serves every path under /api that the schema of the REST operations declares, and no other. */
export async function createRestRouter(
  schema: GraphQLSchema,
  { anyone, signedIn }: Callers,
  contextOf: MakeContext,
) {
  const routes = routesOf(schema)
  const operations = await buildOperations(schema, routes)
  const addresses = createAddresses(
    'There is nothing at this URL. The interface is described at /api/docs.',
  )
  for (const route of routes) {
    const operation = operations.get(route.field)
    if (!operation) throw new TypeError(`SOFA has built no operation for ${route.field}.`)
    const endpoint: Endpoint = { route, read: inputReader(route), operation }
    for (const method of methodsOf(route))
      addresses.on(method, route.path.replaceAll(/\{(\w+)\}/g, ':$1'), passageOf(endpoint))
  }

  function passageOf(endpoint: Endpoint): Omit<Passage<Caller | null>, 'route'> {
    const { route } = endpoint
    return {
      guards: 'session',
      caller: route.public ? anyone : signedIn,
      body: kindsOfBody[route.body],
      writes: route.writes,
      async handle(incoming, caller) {
        const context = contextOf(incoming, caller)
        await send(incoming, context, route, await run(incoming, context, endpoint))
      },
      refuse(thrown, { req, params }) {
        const refused = failure(thrown, route.statuses)
        const page = refused.status < 500 && isNavigation(req) ? pageOf(route, params) : undefined
        return page === undefined
          ? refused
          : { status: 303, headers: { location: page, 'cache-control': 'no-store' }, body: '' }
      },
    }
  }

  return {
    routes,
    door: { prefix: '/api', find: incoming => addresses.find(incoming) } satisfies DoorPlan,
  }
}

/** Reads the inputs, runs the operation, and returns the value of its field. */
async function run(
  { req, query, params }: Incoming,
  context: Context,
  { route, read, operation }: Endpoint,
): Promise<unknown> {
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

/** Sends the value of an operation. */
async function send(
  incoming: Incoming,
  context: Context,
  route: Route,
  value: unknown,
): Promise<void> {
  const { req, res } = incoming
  if (route.redirect) await sendDelivery(incoming, value as Download, context.services.downloads)
  else if (route.picture) await sendBytes(incoming, value as Delivery)
  else if (route.attachment) await sendAttachment(incoming, value as Attachment)
  else write(res, req, answerOf(route, value, context, req))
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
const pageOf = (route: Route, params: Record<string, string | undefined>): string | undefined =>
  route.page?.replaceAll(/\{(\w+)\}/g, (_, name) => encodeURIComponent(params[name] ?? ''))

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
