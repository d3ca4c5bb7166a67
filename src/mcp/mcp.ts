import type { MakeContext } from '../../schema/context.ts'
import type { Caller } from '../access/caller.ts'
import { type CallerFinder, keyOf, noteCaller } from '../access/credential.ts'
import { ownScopeOf, reachesAnyDrive } from '../access/drive.ts'
import { scopeMissing } from '../access/scopes.ts'
import { readWhole } from '../http/body.ts'
import { type Answer, errorHeaders, jsonHeaders } from '../http/envelope.ts'
import type { Incoming } from '../http/incoming.ts'
import { type DoorPlan, passage } from '../http/threshold.ts'
import { write } from '../http/write.ts'
import { Forbidden, InvalidInput, toAppError, Unauthenticated } from '../runtime/errors.ts'
import { parseJson } from '../values/json.ts'
import { tools } from './tools.ts'

export const MCP_PATH = '/mcp'

/** Maximum size of a request: a written text of 200,000 characters, escaped. */
const MAX_BODY_BYTES = 1024 * 1024
/** Maximum length of the id of a JSON-RPC request, which the response repeats. */
const MAX_ID = 128

/** The JSON-RPC error codes that the door itself uses. */
const PARSE_ERROR = -32700
const INVALID_REQUEST = -32600
const REFUSED = -32000

interface Deps {
  findByKey: CallerFinder['byKey']
  contextOf: MakeContext
  publicUrl: () => string
  ownOrigins: () => string[]
}

/** A request that is not one JSON-RPC message. */
class BadMessage extends InvalidInput {
  readonly rpcCode: number

  constructor(rpcCode: number, message: string) {
    super('body', message)
    this.rpcCode = rpcCode
  }
}

/**
 * The MCP server for assistants at /mcp (docs/decisions/assistants.md): streamable HTTP without
 * sessions. It translates requests, and the services decide.
 */
export function createMcp({ findByKey, contextOf, publicUrl, ownOrigins }: Deps): DoorPlan {
  /**
   * The caller of a key. Cookies do not count, so that no page can use the session of a browser.
   * @throws UNAUTHENTICATED
   */
  async function callerOf({ req, from }: Incoming): Promise<Caller> {
    const key = keyOf(req)
    const found = key === undefined ? null : await findByKey(key)
    if (!found) throw new Unauthenticated('Send a valid API key as a bearer token, or sign in.')
    const caller = { ...found, from }
    noteCaller(req, caller)
    return caller
  }

  const post = passage<Caller>({
    route: MCP_PATH,
    methods: ['POST'],
    guards: 'forms',
    caller: callerOf,
    body: 'whole',
    // Each tool checks whether the service can be written to.
    writes: false,
    async handle(incoming, caller) {
      const message = await readMessage(incoming)
      requireScopeOf(message, caller)
      // The library is loaded with the first request.
      const { respond } = await import('./server.ts')
      const context = { ...contextOf(incoming, caller), caller }
      const headers = new Headers()
      for (const name of ['accept', 'content-type', 'mcp-protocol-version']) {
        const value = incoming.req.headers[name]
        if (typeof value === 'string') headers.set(name, value)
      }
      const response = await respond(context, { url: publicUrl() + MCP_PATH, headers }, message)
      write(incoming.res, incoming.req, {
        status: response.status,
        headers: response.status === 202 ? { 'cache-control': 'no-store' } : jsonHeaders,
        body: await response.text(),
      })
    },
  })

  return {
    prefix: MCP_PATH,
    exact: true,
    find({ req }) {
      // A page that reached this service by another name (DNS rebinding) says so here.
      const { origin } = req.headers
      if (origin !== undefined && !ownOrigins().includes(origin))
        throw new Forbidden('Pages of other origins may not use this service.')
      return post
    },
    refuse: thrown => refusal(thrown),
  }
}

/** @throws INVALID_INPUT with a JSON-RPC code */
async function readMessage({ req }: Incoming): Promise<object> {
  const bytes = await readWhole(req, MAX_BODY_BYTES, {
    tooLarge: () => new BadMessage(INVALID_REQUEST, 'A message may have up to 1 MiB.'),
    broken: () => new BadMessage(PARSE_ERROR, 'The body ended early. Send it again.'),
  })
  const message = parseJson(bytes.toString('utf8'))
  if (Array.isArray(message))
    throw new BadMessage(INVALID_REQUEST, 'Send one message at a time: batches are not supported.')
  if (typeof message !== 'object' || message === null)
    throw new BadMessage(PARSE_ERROR, 'The body must be one JSON-RPC message.')
  const { id } = message as { id?: unknown }
  if (typeof id === 'string' && id.length > MAX_ID)
    throw new BadMessage(INVALID_REQUEST, `An id may have up to ${MAX_ID} characters.`)
  return message
}

/**
 * Refuses a call of a tool that the key or grant does not allow, before the protocol answers. So a
 * client learns by the status that it must ask for more.
 * @throws INSUFFICIENT_SCOPE
 */
function requireScopeOf(message: object, caller: Caller): void {
  const { method, params } = message as { method?: unknown; params?: { name?: unknown } }
  if (method !== 'tools/call') return
  const tool = tools.find(({ name }) => name === params?.name)
  if (tool && !reachesAnyDrive(caller, tool.level)) throw scopeMissing(ownScopeOf(tool.level))
}

/** An error as a JSON-RPC response with the status of the error. */
function refusal(thrown: unknown): Answer {
  const { error } = toAppError(thrown)
  const { status, code, message, details } = error
  const rpcCode = thrown instanceof BadMessage ? thrown.rpcCode : REFUSED
  return {
    status,
    headers: { ...jsonHeaders, ...errorHeaders(error) },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: null,
      error: { code: rpcCode, message, data: { code, ...details } },
    }),
  }
}
