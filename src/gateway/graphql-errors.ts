import type { IncomingMessage } from 'node:http'
import { GraphQLError } from 'graphql'
import { AppError, InvalidInput, toAppError } from '../errors.ts'
import type { Log } from '../log.ts'
import type { Answer } from '../rest/envelope.ts'

/** What is said of a document may repeat parts of it, up to so many characters. */
const MAX_MESSAGE = 300

/** The media type of GraphQL over HTTP whose status says how a request went; `application/json` says 200 of every well-formed one. */
const RESPONSE_TYPE = 'application/graphql-response+json'

/** How Yoga is told the status of an answer. It never leaves the service. */
interface HttpStatus {
  status: number
  headers?: Record<string, string>
  /** Counts for `application/graphql-response+json` only. */
  spec?: true
}

const complete = new WeakSet<Error>()

/**
 * What is said of a request that is refused before a field of it is looked at.
 * @param wellFormed whether GraphQL could read the request: it is answered 200 to clients that take `application/json` only
 */
export function refusalOf(thrown: unknown, { wellFormed }: { wellFormed: boolean }): GraphQLError {
  const { error } = toAppError(thrown)
  const headers = headersOf(error)
  // An outage, or no place for another body, is seen by proxies and clients that never look into a body.
  const always = !wellFormed || error.status >= 500
  const http: HttpStatus = { status: error.status, headers, ...(always ? {} : { spec: true }) }
  const told = copy(thrown, shortened(error.message), { code: error.code, ...error.details, http })
  complete.add(told)
  return told
}

/** Errors say outside what REST says: the same code, sentence and details. An unexpected one says nothing of itself. */
export function maskError(thrown: unknown): Error {
  if (thrown instanceof Error && complete.has(thrown)) return thrown
  if (isOfDocument(thrown)) {
    // Compiled code makes errors without extensions.
    const { code: _code, http, unexpected: _unexpected, ...rest } = thrown.extensions ?? {}
    return copy(thrown, shortened(thrown.message), { ...rest, code: 'INVALID_INPUT', http: statusOfDocument(http) })
  }
  const { error } = toAppError(thrown)
  return copy(thrown, error.message, { code: error.code, ...error.details })
}

/** A document that cannot be used makes no malformed request, but for a mutation by GET: that is the wrong method. */
function statusOfDocument(given: unknown): HttpStatus {
  const { status, headers } = (given ?? {}) as Partial<HttpStatus>
  return status === 405 ? { status, ...(headers ? { headers } : {}) } : { status: 400, spec: true }
}

/** What is said where a request did not get as far as GraphQL: its clients look for errors in this shape, and nowhere else. */
export function earlyRefusal(thrown: unknown, req: IncomingMessage, log: Log): Answer {
  logUnexpected(thrown, log)
  const { error } = toAppError(thrown)
  const byStatus = req.headers.accept?.includes(RESPONSE_TYPE) ?? false
  const plain = byStatus || error.status >= 500 || error.code === 'METHOD_NOT_ALLOWED'
  return {
    status: plain ? error.status : 200,
    headers: {
      'content-type': `${byStatus ? RESPONSE_TYPE : 'application/json'}; charset=utf-8`,
      'cache-control': 'no-store',
      ...headersOf(error),
    },
    body: JSON.stringify({ errors: [maskError(error)] }),
  }
}

function headersOf({ details, status }: AppError): Record<string, string> {
  const retryAfter = details.retry_after ?? (status >= 500 ? 5 : undefined)
  return {
    ...(typeof retryAfter === 'number' ? { 'retry-after': String(retryAfter) } : {}),
    ...(Array.isArray(details.allow) ? { allow: details.allow.join(', ') } : {}),
  }
}

/** Logs what is a failure of the service; the caller gets the request id only. */
export function logUnexpected(thrown: unknown, log: Log): void {
  const { error, unexpected } = toAppError(thrown)
  if (unexpected && !isOfDocument(thrown)) log.error({ err: error.originalError ?? error }, error.message)
}

export const shortened = (message: string): string =>
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

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value)

/** What the parameters of a request must be; all but the query may be null or missing. */
const parameters: Record<string, { holds(value: unknown): boolean; what: string }> = {
  query: { holds: value => typeof value === 'string', what: 'a text' },
  operationName: { holds: value => typeof value === 'string', what: 'a text' },
  variables: { holds: isObject, what: 'an object' },
  extensions: { holds: isObject, what: 'an object' },
}

/** @throws INVALID_INPUT for what is no request of GraphQL over HTTP */
export function checkParameters(given: object): void {
  for (const [name, value] of Object.entries(given)) {
    const known = Object.hasOwn(parameters, name) ? parameters[name] : undefined
    const field = name.slice(0, 100)
    if (!known)
      throw new InvalidInput(field, `There is no "${field}" here. Known are: ${Object.keys(parameters).join(', ')}.`)
    if (value !== null && value !== undefined && !known.holds(value))
      throw new InvalidInput(name, `"${name}" must be ${known.what}.`)
  }
  if (!('query' in given) || typeof given.query !== 'string') throw new InvalidInput('query', 'Send a "query".')
}
