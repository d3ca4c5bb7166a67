import type { MakeContext } from '../../schema/context.ts'
import type { Caller } from '../access/caller.ts'
import {
  type CallerFinder,
  callerOf as callerNoted,
  keyOf,
  noteCaller,
} from '../access/credential.ts'
import { ownScopeOf, reachesAnyDrive } from '../access/drive.ts'
import { scopeMissing } from '../access/scopes.ts'
import { readWhole } from '../http/body.ts'
import { type Answer, errorHeaders, jsonHeaders } from '../http/envelope.ts'
import type { Incoming } from '../http/incoming.ts'
import { type DoorPlan, doorOf, openPassage, passage } from '../http/threshold.ts'
import { write } from '../http/write.ts'
import {
  type AppError,
  Forbidden,
  InvalidInput,
  toAppError,
  Unauthenticated,
} from '../runtime/errors.ts'
import { ACCESS_TOKEN } from '../services/accounts/oauth-token.ts'
import { parseJson } from '../values/json.ts'
import { tools } from './tools.ts'

export const MCP_PATH = '/mcp'
const METADATA_PATH = '/.well-known/oauth-protected-resource'
/** The scope that a program asks for at first. */
const USUAL_SCOPE = ownScopeOf('read')

/** Maximum size of a request: a written text of 200,000 characters, escaped. */
const MAX_BODY_BYTES = 1024 * 1024
/** Maximum length of the id of a JSON-RPC request, which the response repeats. */
const MAX_ID = 128

/** The JSON-RPC error codes that the door itself uses. */
const PARSE_ERROR = -32700
const INVALID_REQUEST = -32600
const REFUSED = -32000

interface Deps {
  findCaller: Pick<CallerFinder, 'byKey' | 'byToken'>
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
export function createMcp({ findCaller, contextOf, publicUrl, ownOrigins }: Deps): DoorPlan[] {
  const resource = () => publicUrl() + MCP_PATH
  const metadataUrl = () => `${publicUrl()}${METADATA_PATH}${MCP_PATH}`

  /**
   * The caller of an access token or a key. Cookies do not count, so that no page can use the
   * session of a browser.
   * @throws UNAUTHENTICATED
   */
  async function callerOf({ req, from, query }: Incoming): Promise<Caller> {
    const key = keyOf(req)
    const found =
      key === undefined
        ? null
        : key.startsWith(ACCESS_TOKEN)
          ? await findCaller.byToken(key, resource())
          : await findCaller.byKey(key)
    if (!found)
      throw new Unauthenticated('Sign in with OAuth, or send a valid API key as a bearer token.')
    const caller = { ...found, from, scopes: narrowed(found.scopes, query.get('scope')) }
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
      const response = await respond(context, { url: resource(), headers }, message)
      write(incoming.res, incoming.req, {
        status: response.status,
        headers: response.status === 202 ? { 'cache-control': 'no-store' } : jsonHeaders,
        body: await response.text(),
      })
    },
  })

  /** The scheme and what is missing (RFC 6750, section 3; RFC 9728, section 5.1). */
  function challengeOf(error: AppError, { req }: Incoming): Record<string, string> {
    const { code, details } = error
    if (code !== 'UNAUTHENTICATED' && code !== 'INSUFFICIENT_SCOPE') return {}
    const held = callerNoted(req)?.scopes ?? []
    const parts = {
      ...(code === 'INSUFFICIENT_SCOPE'
        ? { error: 'insufficient_scope' }
        : keyOf(req) === undefined
          ? {}
          : { error: 'invalid_token' }),
      scope: code === 'INSUFFICIENT_SCOPE' ? [...held, details.required].join(' ') : USUAL_SCOPE,
      resource_metadata: metadataUrl(),
    }
    const said = Object.entries(parts).map(([name, value]) => `${name}="${value}"`)
    return { 'www-authenticate': `Bearer ${said.join(', ')}` }
  }

  /** RFC 9728. */
  const sendMetadata = ({ req, res }: Incoming) =>
    write(res, req, {
      status: 200,
      headers: { ...jsonHeaders, 'cache-control': 'public, max-age=300' },
      body: JSON.stringify({
        resource: resource(),
        resource_name: 'Satchel',
        authorization_servers: [publicUrl()],
        scopes_supported: [USUAL_SCOPE],
        bearer_methods_supported: ['header'],
      }),
    })

  const door: DoorPlan = {
    prefix: MCP_PATH,
    exact: true,
    find({ req }) {
      // A page that reached this service by another name (DNS rebinding) says so here.
      const { origin } = req.headers
      if (origin !== undefined && !ownOrigins().includes(origin))
        throw new Forbidden('Pages of other origins may not use this service.')
      return post
    },
    refuse: (thrown, incoming) => refusal(thrown, challengeOf(toAppError(thrown).error, incoming)),
  }
  return [
    door,
    ...[METADATA_PATH, METADATA_PATH + MCP_PATH].map(path =>
      doorOf(openPassage(path, sendMetadata)),
    ),
  ]
}

/**
 * The scopes of a request. A program may ask in the URL for fewer than its key has, so that the
 * assistant behind it gets no more.
 */
function narrowed(scopes: Caller['scopes'], asked: string | null): Caller['scopes'] {
  if (asked === null || scopes === null) return scopes
  const wanted = asked.split(' ')
  return new Set([...scopes].filter(scope => wanted.includes(scope)))
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
function refusal(thrown: unknown, headers: Record<string, string>): Answer {
  const { error } = toAppError(thrown)
  const { status, code, message, details } = error
  const rpcCode = thrown instanceof BadMessage ? thrown.rpcCode : REFUSED
  return {
    status,
    headers: { ...jsonHeaders, ...errorHeaders(error), ...headers },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: null,
      error: { code: rpcCode, message, data: { code, ...details } },
    }),
  }
}
