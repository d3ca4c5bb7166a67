import { maxAliasesPlugin } from '@escape.tech/graphql-armor-max-aliases'
import { maxDepthPlugin } from '@escape.tech/graphql-armor-max-depth'
import { maxTokensPlugin } from '@escape.tech/graphql-armor-max-tokens'
import { type ExecutionResult, GraphQLError, type GraphQLSchema } from 'graphql'
import { createYoga, handleStreamOrSingleExecutionResult, type Plugin } from 'graphql-yoga'
import type { Context, MakeContext } from '../../schema/context.ts'
import type { Caller } from '../access/caller.ts'
import type { Callers } from '../http/callers.ts'
import type { Incoming } from '../http/incoming.ts'
import { asksForPage } from '../http/method.ts'
import { createTextCache } from '../http/text-cache.ts'
import { type DoorPlan, openPassage, passage } from '../http/threshold.ts'
import { write } from '../http/write.ts'
import { InvalidInput } from '../runtime/errors.ts'
import { silent, type Telemetry } from '../telemetry/telemetry.ts'
import { compiledExecution } from './compiled.ts'
import { createCosts } from './cost.ts'
import {
  earlyRefusal,
  logFailures,
  maskError,
  noteErrors,
  refusalOf,
  shortened,
  withFewErrors,
} from './errors.ts'
import { createGraphiqlPage } from './graphiql.ts'
import { guardedExecution } from './guard.ts'
import { observedOperations } from './observed.ts'
import { executedAlready, plainAnswers } from './plain.ts'
import { createReader, requestParser, type ServerContext } from './request.ts'

const PREFIX = '/graphql'

/** Document limits: enough for GraphiQL's introspection and for real clients. */
const limits = { depth: 16, aliases: 50, tokens: 2000, characters: 32 * 1024 }

/**
 * The size of the document cache. Trees and compiled code take about 250 bytes for each character.
 */
const CACHED_CHARACTERS = 256 * 1024

interface GraphqlOptions {
  graphiql: boolean
  /** Whether GraphiQL links back to the console. */
  hasConsole: boolean
  /** The maximum cost of an operation. */
  maxCost: number
  telemetry?: Telemetry
}

/**
 * GraphQL over the schema, with GraphiQL. It is a request listener on node:http, because any layer
 * in between halves the throughput.
 */
export function createGraphql(
  schema: GraphQLSchema,
  callers: Callers,
  contextOf: MakeContext,
  { graphiql, hasConsole, maxCost, telemetry = silent }: GraphqlOptions,
): DoorPlan {
  const costOf = createCosts(schema)
  const reader = createReader(limits.characters)
  const { measured, traced } = observedOperations(telemetry)
  const yoga = createYoga<ServerContext>({
    schema,
    graphqlEndpoint: PREFIX,
    context: ({ api }) => api,
    cors: false,
    landingPage: false,
    logging: false,
    batching: false,
    multipart: false,
    parserAndValidationCache: {
      documentCache: createTextCache(CACHED_CHARACTERS),
      errorCache: createTextCache(CACHED_CHARACTERS),
    },
    // Our own parsers read bodies, each with its own limit. A number here would make Yoga also read
    // them, into memory.
    maxRequestBodySize: false,
    graphiql: false,
    maskedErrors: { maskError },
    plugins: [
      requestParser(reader),
      executedAlready(),
      measured,
      maxTokensPlugin({ n: limits.tokens }),
      maxDepthPlugin({ n: limits.depth, ignoreIntrospection: true }),
      maxAliasesPlugin({ n: limits.aliases }),
      shallowDocuments(),
      ownCodes(),
      errorLists(),
      eventStream(),
      guardedExecution(schema, costOf, maxCost),
      compiledExecution(schema, costOf),
      traced,
    ],
  })
  const answerPlainly = plainAnswers(yoga, reader)
  const page = graphiql ? createGraphiqlPage(hasConsole) : undefined

  async function answer(incoming: Incoming, caller: Caller | null): Promise<void> {
    const { req, res } = incoming
    const api = contextOf(incoming, caller)
    res.setHeader('cache-control', 'no-store')
    const server: ServerContext = { req, res, api }
    const plain = await answerPlainly(server)
    if (plain) return write(res, req, plain)
    // Yoga would wait forever for a closed connection to take its response. A connection that was
    // closed earlier emits no event.
    await new Promise<void>((resolve, reject) => {
      res.once('close', resolve)
      Promise.resolve(yoga(req, res, server)).then(() => resolve(), reject)
    })
  }

  const operations = passage({
    route: PREFIX,
    methods: ['GET', 'POST'],
    guards: 'session',
    caller: callers.anyone,
    // Maintenance refuses single fields: schema/plugins/maintenance.ts.
    writes: false,
    handle: answer,
  })
  const explorer = page && openPassage(PREFIX, ({ req, res }) => page(req, res))
  return {
    prefix: PREFIX,
    exact: true,
    find: ({ req }) => (explorer && asksForPage(req) ? explorer : operations),
    refuse: (thrown, { req }) => earlyRefusal(thrown, req),
  }
}

/** The parser is recursive. A document that is too deep for the stack is a client error. */
function shallowDocuments(): Plugin {
  return {
    onParse:
      () =>
      ({ result, replaceParseResult }) => {
        if (result instanceof RangeError)
          replaceParseResult(new GraphQLError('Syntax Error: The document nests too deeply.'))
      },
  }
}

/** Reports an invalid document with a code of the contract, before Yoga sets its own code. */
function ownCodes(): Plugin {
  return {
    onValidate:
      () =>
      ({ valid, result }) => {
        if (valid) return
        for (const error of result) {
          error.extensions.code ??= 'INVALID_INPUT'
          error.message = shortened(error.message)
        }
      },
  }
}

interface Result {
  args: { contextValue: Context }
  result: ExecutionResult
  setResult(result: ExecutionResult): void
}

/**
 * Logs failures of the service, whose callers get only the request id, and limits the errors of a
 * response.
 */
function errorLists(): Plugin<Context, ServerContext> {
  const bound = ({ args, result, setResult }: Result) => {
    if (!result.errors) return
    logFailures(result, args.contextValue.log)
    noteErrors(result, args.contextValue.noteError)
    setResult(withFewErrors(result))
  }
  return {
    onExecute: () => ({
      onExecuteDone: payload => handleStreamOrSingleExecutionResult(payload, bound),
    }),
    onSubscribe: () => ({
      onSubscribeResult: payload => handleStreamOrSingleExecutionResult(payload, bound),
    }),
  }
}

/** Sends subscriptions as server-sent events, which proxies must not buffer. */
function eventStream(): Plugin<Context, ServerContext> {
  return {
    onSubscribe({ args, setResultAndStopExecution }) {
      const { contextValue } = args
      const accept = contextValue.request.headers.get('accept') ?? '*/*'
      if (/\btext\/event-stream\b|\btext\/\*|\*\/\*/.test(accept))
        return { onSubscribeResult: () => ({ onNext: payload => addId(contextValue, payload) }) }
      const message =
        'A subscription is answered as server-sent events. Send Accept: text/event-stream.'
      setResultAndStopExecution({
        errors: [refusalOf(new InvalidInput('accept', message), { wellFormed: true })],
      })
    },
    onResponse({ response: { headers } }) {
      if (!headers.get('content-type')?.startsWith('text/event-stream')) return
      headers.set('cache-control', 'no-store')
      // nginx would buffer the events without it.
      headers.set('x-accel-buffering', 'no')
      // Yoga's "none" is not a registered encoding.
      headers.delete('content-encoding')
    },
  }
}

/**
 * Adds the id to a server-sent event. Yoga writes the serialized result as the last lines of the
 * event.
 */
function addId(
  { shared }: Context,
  { result, setResult }: { result: ExecutionResult; setResult: (to: object) => void },
) {
  const { eventId } = shared
  if (eventId === undefined) return
  shared.eventId = undefined
  setResult({
    ...result,
    stringify: (answer: ExecutionResult) => `${JSON.stringify(answer)}\nid: ${eventId}`,
  })
}
