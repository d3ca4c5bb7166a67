import type { IncomingMessage } from 'node:http'
import { type ExecutionResult, GraphQLError } from 'graphql'
import { type Answer, errorHeaders } from '../http/envelope.ts'
import { AppError, InvalidInput, naturalStatus, toAppError } from '../runtime/errors.ts'
import type { Log } from '../runtime/log.ts'
import { excerpt } from '../values/excerpt.ts'

/**
 * The maximum length of an error message in characters: messages about a document may repeat parts
 * of it.
 */
const MAX_MESSAGE = 300

/** How many errors a response lists at most. A refused field may repeat for each node of a page. */
export const MAX_ERRORS = 50

/**
 * The media type of GraphQL over HTTP that uses status codes. With `application/json` every
 * well-formed request gets a 200.
 */
const RESPONSE_TYPE = 'application/graphql-response+json'

/**
 * The extension by which Yoga reads the status of a response. Yoga removes it from the response.
 */
interface HttpStatus {
  status: number
  headers?: Record<string, string>
  /** Applies to `application/graphql-response+json` only. */
  spec?: true
}

const complete = new WeakSet<Error>()

/**
 * The error for a request that is refused before any field is resolved.
 * @param wellFormed whether GraphQL could parse the request; if so, clients that accept only
 * `application/json` get a 200
 */
export function refusalOf(thrown: unknown, { wellFormed }: { wellFormed: boolean }): GraphQLError {
  const { error } = toAppError(thrown)
  const headers = errorHeaders(error)
  // Proxies and some clients read only the status, so it must show outages and overload.
  const always = !wellFormed || error.status >= 500
  const http: HttpStatus = { status: error.status, headers, ...(always ? {} : { spec: true }) }
  const refusal = copy(thrown, shortened(error.message), {
    code: error.code,
    ...error.details,
    http,
  })
  complete.add(refusal)
  return refusal
}

/** Gives errors the code, message and details that REST has. Unexpected errors expose nothing. */
export function maskError(thrown: unknown): Error {
  if (thrown instanceof Error && complete.has(thrown)) return thrown
  if (isOfDocument(thrown)) {
    // Errors of compiled queries have no extensions.
    const { code: _code, http, unexpected: _unexpected, ...rest } = thrown.extensions ?? {}
    return copy(thrown, shortened(thrown.message), {
      ...rest,
      code: 'INVALID_INPUT',
      http: statusOfDocument(http),
    })
  }
  const { error } = toAppError(thrown)
  return copy(thrown, error.message, { code: error.code, ...error.details })
}

/** An invalid document is a well-formed request. Only a mutation by GET has the wrong method. */
function statusOfDocument(given: unknown): HttpStatus {
  const { status, headers } = (given ?? {}) as Partial<HttpStatus>
  return status === 405 ? { status, ...(headers ? { headers } : {}) } : { status: 400, spec: true }
}

/**
 * The response to a request that failed before GraphQL ran, in the format that GraphQL clients
 * read.
 */
export function earlyRefusal(thrown: unknown, req: IncomingMessage): Answer {
  const { error } = toAppError(thrown)
  const byStatus = req.headers.accept?.includes(RESPONSE_TYPE) ?? false
  const plain = byStatus || error.status >= 500 || error.code === 'METHOD_NOT_ALLOWED'
  return {
    status: plain ? error.status : 200,
    headers: {
      'content-type': `${byStatus ? RESPONSE_TYPE : 'application/json'}; charset=utf-8`,
      'cache-control': 'no-store',
      ...errorHeaders(error),
    },
    body: JSON.stringify({ errors: [maskError(error)] }),
  }
}

/** Logs a failure of the service; the caller gets only the request id. */
export function logUnexpected(thrown: unknown, log: Log): void {
  const { error, unexpected } = toAppError(thrown)
  if (unexpected && !isOfDocument(thrown))
    log.error({ err: error.originalError ?? error }, error.message)
}

/**
 * Whether the service has failed, rather than refused. Also works for errors before `maskError`.
 */
export function isFailure(thrown: GraphQLError): boolean {
  const status = naturalStatus[thrown.extensions?.code as keyof typeof naturalStatus]
  if (thrown.extensions?.code === 'MAINTENANCE') return false
  return (status ?? (isOfDocument(thrown) ? 400 : toAppError(thrown).error.status)) >= 500
}

/** Logs the service failures in a result, up to the number of errors that a response lists. */
export function logFailures({ errors = [] }: ExecutionResult, log: Log): void {
  const failures = errors.filter(error => toAppError(error).unexpected && !isOfDocument(error))
  for (const failure of failures.slice(0, MAX_ERRORS)) logUnexpected(failure, log)
}

/** Counts the errors of a result, up to the number that a response lists. */
export function noteErrors(
  { errors = [] }: ExecutionResult,
  note: (thrown: unknown) => void,
): void {
  for (const error of errors.slice(0, MAX_ERRORS))
    note(isOfDocument(error) ? new InvalidInput('query', error.message) : error)
}

/** Removes errors beyond the limit, and reports how many were removed. */
export function withFewErrors(result: ExecutionResult): ExecutionResult {
  const { errors = [], extensions } = result
  const omittedErrors = errors.length - MAX_ERRORS
  if (omittedErrors <= 0) return result
  return {
    ...result,
    errors: errors.slice(0, MAX_ERRORS),
    extensions: { ...extensions, omittedErrors },
  }
}

export const shortened = (message: string): string =>
  message.length > MAX_MESSAGE ? `${message.slice(0, MAX_MESSAGE)}...` : message

/**
 * Whether GraphQL raised this error about the document or the variables, before any field was
 * resolved.
 */
const isOfDocument = (thrown: unknown): thrown is GraphQLError =>
  isOfGraphql(thrown) && !thrown.path

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

const isObject = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The types of the request parameters. All but the query may be null or missing. */
const parameters: Record<string, { holds(value: unknown): boolean; what: string }> = {
  query: { holds: value => typeof value === 'string', what: 'a text' },
  operationName: { holds: value => typeof value === 'string', what: 'a text' },
  variables: { holds: isObject, what: 'an object' },
  extensions: { holds: isObject, what: 'an object' },
}

/** @throws INVALID_INPUT for a body that is not a request of GraphQL over HTTP */
export function checkParameters(given: object): void {
  for (const [name, value] of Object.entries(given)) {
    const known = Object.hasOwn(parameters, name) ? parameters[name] : undefined
    const field = excerpt(name)
    if (!known)
      throw new InvalidInput(
        field,
        `There is no "${field}" here. Known parameters: ${Object.keys(parameters).join(', ')}.`,
      )
    if (value !== null && value !== undefined && !known.holds(value))
      throw new InvalidInput(name, `"${name}" must be ${known.what}.`)
  }
  if (!('query' in given) || typeof given.query !== 'string')
    throw new InvalidInput('query', 'Send a "query".')
}
