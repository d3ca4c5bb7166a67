import type { IncomingMessage } from 'node:http'
import { type DocumentNode, type ExecutionResult, getOperationAST } from 'graphql'
import type { Plugin, YogaServerInstance } from 'graphql-yoga'
import type { Answer } from '../http/envelope.ts'
import type { Reader, ServerContext } from './request.ts'

type Yoga = YogaServerInstance<ServerContext, object>

/** The type of an answer, by the first that a client accepts. */
const types = new Map([
  ['*/*', 'application/json'],
  ['application/json', 'application/json'],
  ['application/graphql-response+json', 'application/graphql-response+json'],
])

/**
 * Answers what nearly every client sends, JSON for JSON, without the Request and the Response that
 * Yoga makes, which cost as much as all the rest of a small operation. Whatever is not as usual is
 * left to Yoga, with all that has been done: errors, subscriptions, other types.
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
 * Reads, parses and validates an operation. @returns what executes it; undefined where Yoga has to
 * say what is wrong
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

/** Lets Yoga answer with the result of what has been executed. */
export function executedAlready(): Plugin<object, ServerContext> {
  return {
    async onParams({ context: { executed }, setResult }) {
      if (executed) setResult(await executed)
    },
  }
}
