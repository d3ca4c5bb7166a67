import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  buildSchema,
  type GraphQLFieldResolver,
  type GraphQLOutputType,
  graphql,
  isAbstractType,
  isEnumType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql'

/** A service with the responses that a test chooses. */
export interface FakeService {
  url: string
  /** Every request so far: its method, path and headers. */
  requests: { line: string; headers: IncomingMessage['headers'] }[]
  close(): Promise<void>
}

const schema = buildSchema(
  readFileSync(new URL('../../schema/schema.graphql', import.meta.url), 'utf8'),
)

/**
 * The value of a field, by its name or by its type and name, such as `Query.me`. Other fields are
 * `text`, 7, or a value of their type.
 */
export type Fields = Record<string, unknown>

const samples: Record<string, unknown> = {
  Bytes: 7,
  Int: 7,
  Boolean: true,
  DateTime: '2026-01-31T12:00:00.000Z',
}

const sampleOf = (type: GraphQLOutputType, text: string): unknown => {
  if (isNonNullType(type)) return sampleOf(type.ofType, text)
  if (isListType(type)) return [sampleOf(type.ofType, text)]
  if (isObjectType(type)) return {}
  if (isAbstractType(type)) return { __typename: schema.getPossibleTypes(type)[0]?.name }
  return isEnumType(type) ? type.getValues()[0]?.name : (samples[type.name] ?? text)
}

/**
 * Listens on a free port. `/graphql` responds by the schema.
 * @param listener is called first, and returns true if it has responded
 */
export async function startFakeService({
  text = 'text',
  fields = {},
  listener = () => false,
}: {
  text?: string
  fields?: Fields
  listener?: (req: IncomingMessage, res: ServerResponse, body: Buffer) => boolean
}): Promise<FakeService> {
  const requests: FakeService['requests'] = []
  const fieldResolver: GraphQLFieldResolver<Record<string, unknown>, unknown> = (
    source,
    args,
    _context,
    info,
  ) => {
    const named = [`${info.parentType.name}.${info.fieldName}`, info.fieldName].find(name =>
      Object.hasOwn(fields, name),
    )
    if (named !== undefined) {
      const known = fields[named]
      return typeof known === 'function' ? known(args) : known
    }
    return (
      source?.[info.fieldName] ??
      (info.fieldName === 'hasNextPage' ? false : sampleOf(info.returnType, text))
    )
  }
  const serve: RequestListener = async (req, res) => {
    const line = `${req.method} ${req.url}`
    requests.push({ line, headers: req.headers })
    const chunks: Buffer[] = []
    for await (const chunk of req) chunks.push(chunk)
    const body = Buffer.concat(chunks)
    if (listener(req, res, body)) return
    const send = (value: unknown) =>
      res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value))
    if (req.url === '/auth/is_valid')
      return send({
        status: 200,
        msg: 'ok',
        response: {
          authenticated: true,
          user_info: { sub: text, email: text, name: text },
          via: 'api_key',
          expires_at: text,
        },
      })
    const { query, variables } = JSON.parse(body.toString())
    send(
      await graphql({
        schema,
        source: query,
        variableValues: variables,
        fieldResolver,
        rootValue: {},
      }),
    )
  }
  const server = createServer(
    (req, res) => void Promise.resolve(serve(req, res)).catch(() => res.destroy()),
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
