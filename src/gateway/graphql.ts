import type { IncomingMessage, ServerResponse } from 'node:http'
import { maxAliasesPlugin } from '@escape.tech/graphql-armor-max-aliases'
import { maxDepthPlugin } from '@escape.tech/graphql-armor-max-depth'
import { maxTokensPlugin } from '@escape.tech/graphql-armor-max-tokens'
import { renderGraphiQL } from '@graphql-yoga/render-graphiql'
import { type DefinitionNode, type DocumentNode, type ExecutionArgs, GraphQLError, type GraphQLSchema } from 'graphql'
import { type CompiledQuery, compileQuery, isCompiledQuery } from 'graphql-jit'
import { processRequest } from 'graphql-upload-minimal'
import { createYoga, type GraphQLParams, type Plugin } from 'graphql-yoga'
import type { Context } from '../context.ts'
import { AppError, InvalidInput, toAppError } from '../errors.ts'
import { readJson } from '../rest/body.ts'

interface ServerContext {
  req: IncomingMessage
  res: ServerResponse
  api: Context
}

/** Bounds of a document: what GraphiQL's own introspection needs, with room for real clients. */
const limits = { depth: 16, aliases: 50, tokens: 2000 }

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
    // Bodies are read by the parsers below, each with its own bound.
    maxRequestBodySize: Number.POSITIVE_INFINITY,
    graphiql: graphiql && { title: 'Satchel', defaultQuery: welcome },
    renderGraphiQL,
    maskedErrors: { maskError },
    plugins: [
      requestParser(),
      maxTokensPlugin({ n: limits.tokens }),
      maxDepthPlugin({ n: limits.depth, ignoreIntrospection: true }),
      maxAliasesPlugin({ n: limits.aliases }),
      compiledExecution(schema),
    ],
  })
  return (req: IncomingMessage, res: ServerResponse, api: Context) => yoga(req, res, { req, res, api })
}

/** Reads bodies from Node's own request: JSON of at most 1 MiB, or the multipart form of graphql-upload-minimal, at constant memory. */
function requestParser(): Plugin<object, ServerContext> {
  return {
    onRequestParse({ request, serverContext, setRequestParser }) {
      if (request.method !== 'POST') return
      const { req, res } = serverContext
      const isForm = /^multipart\/form-data/i.test(req.headers['content-type'] ?? '')
      setRequestParser(async (): Promise<GraphQLParams> => {
        const params = isForm ? await readForm(req, res) : await readJson(req)
        return params as GraphQLParams
      })
    },
  }
}

async function readForm(req: IncomingMessage, res: ServerResponse): Promise<object> {
  try {
    const operation = await processRequest(req, res, { maxFiles: 10, maxFieldSize: 1024 * 1024 })
    if (Array.isArray(operation)) throw new InvalidInput('operations', 'Send one operation a request.')
    return operation
  } catch (error) {
    if (error instanceof AppError) throw error
    throw new InvalidInput('operations', error instanceof Error ? error.message : 'The form is malformed.')
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

/** Errors say outside what REST says: the same code, sentence and details. An unexpected one says nothing of itself. */
function maskError(thrown: unknown): Error {
  if (thrown instanceof GraphQLError && !(thrown instanceof AppError) && !thrown.originalError) {
    // What GraphQL itself says of a document or of variables.
    const { code: _code, http: _http, unexpected: _unexpected, ...rest } = thrown.extensions
    return copy(thrown, thrown.message, { ...rest, code: 'INVALID_INPUT' })
  }
  const { error } = toAppError(thrown)
  return copy(thrown, error.message, { code: error.code, ...error.details })
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

const welcome = `# Satchel's interface. Sign in first: /auth/oauth?return_to=/graphql

query Home {
  me { email plan { name maxTotalStorageBytes } }
  folder { folders(first: 10) { edges { node { path } } } files(first: 10) { edges { node { path size } } } }
}
`
