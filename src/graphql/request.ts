import type { IncomingMessage, ServerResponse } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ExecutionResult } from 'graphql'
import type { GraphQLParams, Plugin } from 'graphql-yoga'
import type { Context } from '../../schema/context.ts'
import { readJson } from '../http/body.ts'
import { AppError, Busy, InvalidInput, Unauthenticated } from '../runtime/errors.ts'
import { createFairQueue } from '../runtime/fair-queue.ts'
import { networkOf } from '../values/network.ts'
import { checkParameters, logUnexpected, refusalOf } from './errors.ts'
import { readGraphqlForm } from './form.ts'

export interface ServerContext {
  req: IncomingMessage
  res: ServerResponse
  api: Context
  /** The parameters from the request body, once it is being read. */
  body?: Promise<GraphQLParams>
  /** The result, if plain.ts has already executed the request. */
  executed?: Promise<ExecutionResult>
}

type Parsed = GraphQLParams | GraphQLParams[] | Response

export interface Reader {
  /**
   * The parameters from the request body. The body can be read only once; later calls return the
   * same result.
   */
  ofBody(server: ServerContext): Promise<GraphQLParams>
  /**
   * The parameters from the URL.
   * @param parse the parser of Yoga
   */
  ofAddress(server: ServerContext, parse: () => Parsed | Promise<Parsed>): Promise<Parsed>
}

/**
 * Reads requests directly from Node: a URL, JSON of at most 1 MiB (16 KiB without a credential), or
 * the multipart form of graphql-upload-minimal, in constant memory. Everything else is a malformed
 * request.
 * @param maxCharacters the maximum length of a document
 */
export function createReader(maxCharacters: number): Reader {
  const anonymousTurn = createAnonymousTurns()

  async function checked(
    { api }: ServerContext,
    read: () => Parsed | Promise<Parsed>,
  ): Promise<Parsed> {
    let params: Parsed
    try {
      params = await read()
      checkParameters(params)
      if (!api.caller) await anonymousTurn(api.address)
    } catch (error) {
      logUnexpected(error, api.log)
      api.noteError(error)
      throw refusalOf(error, { wellFormed: error instanceof Unauthenticated })
    }
    if ('query' in params && params.query && params.query.length > maxCharacters)
      throw refusalOf(
        new InvalidInput(
          'query',
          `A document may have up to ${maxCharacters} characters. Use variables.`,
        ),
        { wellFormed: true },
      )
    return params
  }

  return {
    ofBody(server) {
      server.body ??= checked(server, () => readBody(server)) as Promise<GraphQLParams>
      return server.body
    },
    ofAddress: (server, parse) => checked(server, () => readAddress(parse, server)),
  }
}

/** Makes Yoga use our reader. */
export function requestParser(reader: Reader): Plugin<object, ServerContext> {
  return {
    onRequestParse({ request, requestParser: own, serverContext, setRequestParser }) {
      if (request.method === 'POST') setRequestParser(() => reader.ofBody(serverContext))
      else if (own) setRequestParser(given => reader.ofAddress(serverContext, () => own(given)))
    },
  }
}

/** How many anonymous operations may wait for their turn, and for how long. */
const ANONYMOUS_LINE = { longest: 1000, patience: 10_000 }
/**
 * Event loop turns between two anonymous operations while others wait. Each turn accepts only one
 * connection.
 */
const TURNS_BETWEEN = 16

/**
 * Starts anonymous operations one by one, some turns of the event loop apart, and alternates
 * between networks. Introspection runs synchronously, so several in one turn would delay every
 * other request.
 */
function createAnonymousTurns() {
  const busy = () =>
    new Busy('Too many requests without a credential are waiting. Try again in a few seconds.')
  const queue = createFairQueue({ atOnce: 1, ...ANONYMOUS_LINE, full: busy })
  const turns = async () => {
    await nextTurn()
    for (let i = 1; queue.size > 1 && i < TURNS_BETWEEN; i++) await nextTurn()
  }
  return (address: string) => queue.run([networkOf(address)], turns)
}

async function readBody({ req, res, api }: ServerContext): Promise<GraphQLParams> {
  const isForm = /^multipart\/form-data/i.test(req.headers['content-type'] ?? '')
  // Only authenticated callers have files to send. The service reads little from others.
  if (isForm && !api.caller) throw new Unauthenticated()
  return isForm
    ? await readGraphqlForm(req, res, api.signal)
    : await readJson(req, { anonymous: !api.caller })
}

async function readAddress(
  parse: () => Parsed | Promise<Parsed>,
  { req }: ServerContext,
): Promise<Parsed> {
  // URLs end up in logs and browser histories.
  if (/password/i.test(req.url ?? ''))
    throw new InvalidInput('password', 'Never send a password in the URL. Send the query by POST.')
  try {
    return await parse()
  } catch (error) {
    throw new AppError(
      'INVALID_JSON',
      'The variables or extensions in the URL are not valid JSON.',
      {},
      error,
    )
  }
}
