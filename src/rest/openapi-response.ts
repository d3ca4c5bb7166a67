import type { ErrorCode } from '../errors.ts'
import { exampleError } from './openapi-examples.ts'
import { objectOf, type Reference, type Schema, type SchemaOrRef } from './openapi-schema.ts'

export interface MediaType {
  schema: SchemaOrRef
  example?: unknown
}

export interface Response {
  description: string
  headers?: Record<string, Reference>
  content?: Record<string, MediaType>
}

const headersOf = (...names: string[]): Record<string, Reference> =>
  Object.fromEntries(['X-Request-Id', ...names].map(name => [name, { $ref: `#/components/headers/${name}` }]))

function inEnvelope(status: number, msg: Schema, response: SchemaOrRef, example: object): Record<string, MediaType> {
  const schema = objectOf({ status: { type: 'integer', enum: [status] }, msg: { type: 'string', ...msg }, response })
  return { 'application/json': { schema, example } }
}

export function success(value: SchemaOrRef, example: unknown, msg = 'ok'): Response {
  const content = inEnvelope(200, { enum: [msg] }, value, { status: 200, msg, response: example })
  return { description: 'Done.', headers: headersOf(), content }
}

export const redirect = (description: string): Response => ({ description, headers: headersOf('Location') })

const meanings: Record<number, string> = {
  400: 'Something in the request is wrong, or does not go.',
  401: 'No credential, a wrong one, or one that may not do this.',
  403: 'Refused.',
  404: 'There is no such thing.',
  409: 'It clashes with something that is there.',
  429: 'Too often.',
  500: 'Something went wrong on our side.',
  503: 'A part that the service needs does not answer at the moment.',
}

const limitHeaders: Record<number, string[]> = {
  429: ['Retry-After', 'RateLimit', 'RateLimit-Policy'],
  500: ['Retry-After'],
  503: ['Retry-After'],
}

/**
 * What is answered with an error status, by one of these codes.
 * @param input an argument of the route that can be missing, or given twice, for the example
 */
export function refusal(status: number, codes: ErrorCode[], input?: { name: string; required: boolean }): Response {
  const slowed = codes.includes('TOO_MANY_ATTEMPTS') ? ['Retry-After'] : []
  const oneOfThem = objectOf({ code: { type: 'string', enum: codes } })
  const details = { allOf: [{ $ref: '#/components/schemas/ErrorDetails' }, oneOfThem] }
  const example = exampleError(status, codes, input)
  return {
    description: `${meanings[status] ?? 'An error.'} \`code\` is ${codes.map(code => `\`${code}\``).join(', ')}.`,
    headers: headersOf(...(limitHeaders[status] ?? slowed)),
    content: inEnvelope(status, { description: 'One sentence for people.' }, details, example),
  }
}

/** The two that any operation can answer. */
export const outages: Record<string, Response> = {
  Internal: refusal(500, ['INTERNAL']),
  Unavailable: refusal(503, ['UNAVAILABLE']),
}

export const anywhere: Record<string, Reference> = {
  500: { $ref: '#/components/responses/Internal' },
  503: { $ref: '#/components/responses/Unavailable' },
}
