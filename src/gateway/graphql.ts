import type { IncomingMessage, ServerResponse } from 'node:http'
import { maxAliasesPlugin } from '@escape.tech/graphql-armor-max-aliases'
import { maxDepthPlugin } from '@escape.tech/graphql-armor-max-depth'
import { maxTokensPlugin } from '@escape.tech/graphql-armor-max-tokens'
import {
  type DefinitionNode,
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  GraphQLError,
  type GraphQLSchema,
} from 'graphql'
import { type CompiledQuery, compileQuery, isCompiledQuery } from 'graphql-jit'
import { createYoga, type GraphQLParams, handleStreamOrSingleExecutionResult, type Plugin } from 'graphql-yoga'
import type { Context } from '../context.ts'
import { AppError, InvalidInput, toAppError, Unauthenticated } from '../errors.ts'
import type { Log } from '../log.ts'
import { readJson } from '../rest/body.ts'
import { type Answer, answer, success } from '../rest/envelope.ts'
import { allowOnly, asksForPage } from '../rest/method.ts'
import { write } from '../rest/router.ts'
import { createGraphiqlPage } from './graphiql.ts'
import { readGraphqlForm } from './graphql-form.ts'
import { createTextCache } from './text-cache.ts'

interface ServerContext {
  req: IncomingMessage
  res: ServerResponse
  api: Context
}

/** Bounds of a document: what GraphiQL's own introspection needs, with room for real clients. */
const limits = { depth: 16, aliases: 50, tokens: 2000, characters: 32 * 1024 }

/** What is kept of documents: their trees, and their code, take about 250 bytes for each character. */
const CACHED_CHARACTERS = 256 * 1024

/** What is said of a document may repeat parts of it, up to so many characters. */
const MAX_MESSAGE = 300

/** Compiling costs some milliseconds: worth it for a document that comes back, an attack for one that never does. */
const COMPILE_AFTER = 3

/** GraphQL over the schema, with GraphiQL. A request listener on node:http, because anything in between halves the throughput. */
export function createGraphql(schema: GraphQLSchema, { graphiql }: { graphiql: boolean }) {
  const yoga = createYoga<ServerContext>({
    schema,
    graphqlEndpoint: '/graphql',
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
    // Bodies are read by the parsers below, each with its own bound; any number here would make Yoga read them as well, into memory.
    maxRequestBodySize: false,
    graphiql: false,
    maskedErrors: { maskError },
    plugins: [
      requestParser(),
      maxTokensPlugin({ n: limits.tokens }),
      maxDepthPlugin({ n: limits.depth, ignoreIntrospection: true }),
      maxAliasesPlugin({ n: limits.aliases }),
      shallowDocuments(),
      ownCodes(),
      failureLog(),
      eventStream(),
      compiledExecution(schema),
    ],
  })
  const page = graphiql ? createGraphiqlPage() : undefined
  return async (req: IncomingMessage, res: ServerResponse, contextOf: () => Promise<Context>, log: Log) => {
    if (page && asksForPage(req)) return page(req, res)
    allowOnly(req, 'GET', 'POST')
    let api: Context
    try {
      api = await contextOf()
    } catch (error) {
      return write(res, req, refusal(error, log))
    }
    res.setHeader('cache-control', 'no-store')
    return yoga(req, res, { req, res, api })
  }
}

/** What is said where nobody got as far as GraphQL: its clients look for errors in this shape, and nowhere else. */
function refusal(thrown: unknown, log: Log): Answer {
  const { error, unexpected } = toAppError(thrown)
  if (unexpected) log.error({ err: error.originalError ?? error }, error.message)
  return { ...answer(success(null)), body: JSON.stringify({ errors: [maskError(error)] }) }
}

/** Reads bodies from Node's own request: JSON of at most 1 MiB, or the multipart form of graphql-upload-minimal, at constant memory. */
function requestParser(): Plugin<object, ServerContext> {
  return {
    onRequestParse({ request, requestParser: own, serverContext, setRequestParser }) {
      const { req, res } = serverContext
      // An address ends up in logs and histories.
      if (request.method !== 'POST' && /password/i.test(req.url ?? ''))
        return setRequestParser(() => {
          throw new InvalidInput('password', 'Never send a password in the address. Send the query by POST.')
        })
      if (request.method !== 'POST') return own && setRequestParser(readsAddress(own))
      const isForm = /^multipart\/form-data/i.test(req.headers['content-type'] ?? '')
      setRequestParser(async (): Promise<GraphQLParams> => {
        // Only callers who are known have files to send: nobody else makes the service read for long.
        if (isForm && !serverContext.api.viewer) throw new Unauthenticated()
        const params: GraphQLParams = isForm ? await readGraphqlForm(req, res) : await readJson(req)
        if (typeof params.query === 'string' && params.query.length > limits.characters)
          throw new InvalidInput('query', `A document may have up to ${limits.characters} characters. Use variables.`)
        return params
      })
    },
  }
}

type Parsed = GraphQLParams | GraphQLParams[] | Response

/** Yoga's parser of addresses, with a refusal of ours for variables that are no JSON. */
const readsAddress = (parse: (request: Request) => Parsed | Promise<Parsed>) => async (request: Request) => {
  try {
    return await parse(request)
  } catch (error) {
    throw new AppError('INVALID_JSON', 'The variables or extensions in the address are not valid JSON.', {}, error)
  }
}

/** The parser walks down by calling itself; what is too deep for that is the document's fault, not ours. */
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

/** Executes documents that come back with compiled code; the parser's cache hands out the same document for the same text. */
function compiledExecution(schema: GraphQLSchema): Plugin<object, ServerContext> {
  const seen = new WeakMap<DocumentNode, { times: number; compiled?: CompiledQuery | null }>()
  return {
    onExecute({ args, setExecuteFn }) {
      const document = args.document
      const known = seen.get(document) ?? { times: 0 }
      known.times++
      seen.set(document, known)
      if (known.times < COMPILE_AFTER) return
      if (known.compiled === undefined) {
        // A document of several operations would need one for each.
        const only = document.definitions.filter((d: DefinitionNode) => d.kind === 'OperationDefinition').length === 1
        const made = only ? compileQuery(schema, document) : null
        known.compiled = made && isCompiledQuery(made) ? made : null
      }
      const { compiled } = known
      if (compiled) setExecuteFn((a: ExecutionArgs) => compiled.query(a.rootValue, a.contextValue, a.variableValues))
    },
  }
}

/** What is wrong with a document is said with a code of ours, before Yoga gives it one of its own. */
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

/** Logs what nobody has expected; the caller is told its request id only. */
function failureLog(): Plugin<Context, ServerContext> {
  const logged = ({ args, result }: { args: { contextValue: Context }; result: ExecutionResult }) => {
    for (const thrown of result.errors ?? []) {
      const { error, unexpected } = toAppError(thrown)
      if (unexpected && !isOfDocument(thrown))
        args.contextValue.log.error({ err: error.originalError ?? error }, error.message)
    }
  }
  return {
    onExecute: () => ({ onExecuteDone: payload => handleStreamOrSingleExecutionResult(payload, logged) }),
    onSubscribe: () => ({ onSubscribeResult: payload => handleStreamOrSingleExecutionResult(payload, logged) }),
  }
}

/** Subscriptions are answered as server-sent events, and pass whatever lies between as they come. */
function eventStream(): Plugin<object, ServerContext> {
  return {
    onSubscribe({ args, setResultAndStopExecution }) {
      const accept = args.contextValue.request.headers.get('accept') ?? '*/*'
      if (/\btext\/event-stream\b|\btext\/\*|\*\/\*/.test(accept)) return
      const message = 'A subscription is answered as server-sent events. Send Accept: text/event-stream.'
      setResultAndStopExecution({ errors: [new InvalidInput('accept', message)] })
    },
    onResponse({ response: { headers } }) {
      if (!headers.get('content-type')?.startsWith('text/event-stream')) return
      headers.set('cache-control', 'no-store')
      // What nginx looks at: it would gather the events otherwise.
      headers.set('x-accel-buffering', 'no')
      // Yoga's "none" is no encoding that anybody has registered.
      headers.delete('content-encoding')
    },
  }
}

/** Errors say outside what REST says: the same code, sentence and details. An unexpected one says nothing of itself. */
function maskError(thrown: unknown): Error {
  if (isOfDocument(thrown)) {
    // Compiled code makes errors without extensions.
    const { code: _code, http: _http, unexpected: _unexpected, ...rest } = thrown.extensions ?? {}
    return copy(thrown, shortened(thrown.message), { ...rest, code: 'INVALID_INPUT' })
  }
  const { error } = toAppError(thrown)
  return copy(thrown, error.message, { code: error.code, ...error.details })
}

const shortened = (message: string): string =>
  message.length > MAX_MESSAGE ? `${message.slice(0, MAX_MESSAGE)}...` : message

/** Whether GraphQL itself says this of a document or of variables, so before a field was looked at. */
const isOfDocument = (thrown: unknown): thrown is GraphQLError => isOfGraphql(thrown) && !thrown.path

function isOfGraphql(thrown: unknown): thrown is GraphQLError {
  if (!(thrown instanceof GraphQLError) || thrown instanceof AppError) return false
  return !thrown.originalError || isOfGraphql(thrown.originalError)
}

function copy(thrown: unknown, message: string, extensions: Record<string, unknown>): GraphQLError {
  const { nodes, source, positions, path } = thrown instanceof GraphQLError ? thrown : {}
  return new GraphQLError(message, {
    nodes: nodes ?? null,
    source: source ?? null,
    positions: positions ?? null,
    path: path ?? null,
    extensions,
  })
}
