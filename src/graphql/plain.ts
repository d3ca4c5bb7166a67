import type { IncomingMessage } from 'node:http'
import { type DocumentNode, type ExecutionResult, getOperationAST } from 'graphql'
import type { Plugin, YogaServerInstance } from 'graphql-yoga'
import type { Answer } from '../http/envelope.ts'
import type { Reader, ServerContext } from './request.ts'

type Yoga = YogaServerInstance<ServerContext, object>

/** The response type, by the first type that a client accepts. */
const types = new Map([
  ['*/*', 'application/json'],
  ['application/json', 'application/json'],
  ['application/graphql-response+json', 'application/graphql-response+json'],
])

/**
 * Handles the usual requests, JSON for JSON, without Yoga's Request and Response, which cost as
 * much as the rest of a small operation. Leaves everything unusual to Yoga, with the work done so
 * far: errors, subscriptions, other types.
 */
export function plainAnswers(yoga: Yoga, reader: Reader) {
  return async (server: ServerContext): Promise<Answer | undefined> => {
    const type = typeOf(server.req)
    if (!type) return undefined
    const begin = await begun(yoga, server, reader).catch(() => undefined)
    if (!begin) return undefined
    server.executed = begin()
    const result = await server.executed.catch(() => undefined)
    if (!result || result.errors) return undefined
    return {
      status: 200,
      headers: { 'content-type': `${type}; charset=utf-8` },
      body: JSON.stringify(result),
    }
  }
}

function typeOf({ method, headers }: IncomingMessage): string | undefined {
  if (method !== 'POST' || !/^application\/json\b/i.test(headers['content-type'] ?? ''))
    return undefined
  const [first = ''] = (headers.accept ?? '*/*').split(',')
  return types.get(first.trim())
}

/**
 * Reads, parses and validates an operation.
 * @returns a function that executes it; undefined if Yoga has to report an error
 */
async function begun(
  yoga: Yoga,
  server: ServerContext,
  reader: Reader,
): Promise<(() => Promise<ExecutionResult>) | undefined> {
  const params = await reader.ofBody(server)
  const { parse, validate, schema, contextFactory, execute } = yoga.getEnveloped({
    api: server.api,
    params,
  } as never)
  const document: DocumentNode = parse(params.query ?? '')
  const kind = getOperationAST(document, params.operationName)?.operation
  if (!kind || kind === 'subscription' || validate(schema, document).length > 0) return undefined
  return async () => {
    const contextValue = await contextFactory()
    const { variables: variableValues, operationName } = params
    return execute({
      schema,
      document,
      contextValue,
      variableValues,
      operationName,
    }) as ExecutionResult
  }
}

/** Lets Yoga send the result of an already executed operation. */
export function executedAlready(): Plugin<object, ServerContext> {
  return {
    async onParams({ context: { executed }, setResult }) {
      if (executed) setResult(await executed)
    },
  }
}
