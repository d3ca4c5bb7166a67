import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { z } from 'zod'
import { restSchema } from '../../schema/rest/index.ts'
import { type ApiDocument, createApiDocument } from '../../src/openapi/document.ts'
import { routesOf } from '../../src/rest/routes.ts'

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null

/** Resolves a reference within the document. @throws Error if it leads nowhere */
export function lookUp(document: ApiDocument, ref: string): unknown {
  let found: unknown = document
  for (const key of ref.replace(/^#\//, '').split('/'))
    found = isObject(found) ? found[key] : undefined
  if (found === undefined) throw new Error(`${ref} leads nowhere.`)
  return found
}

/** A part of the document with all references resolved. */
export function inlined(document: ApiDocument, part: unknown): unknown {
  if (Array.isArray(part)) return part.map(item => inlined(document, item))
  if (!isObject(part)) return part
  if (typeof part.$ref === 'string') return inlined(document, lookUp(document, part.$ref))
  return Object.fromEntries(
    Object.entries(part).map(([key, value]) => [key, inlined(document, value)]),
  )
}

/**
 * Closes the objects of a schema, so that they have only the declared properties. The document
 * leaves them open for later versions, but today's service returns only described properties.
 */
function closed(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(closed)
  if (!isObject(part)) return part
  const inner = Object.fromEntries(Object.entries(part).map(([key, value]) => [key, closed(value)]))
  return isObject(part.properties) && part.type === 'object'
    ? { additionalProperties: false, ...inner }
    : inner
}

/** Validates values against a schema of the document. Additional properties are errors. */
export function checkerOf(document: ApiDocument, part: unknown): z.ZodType {
  return z.fromJSONSchema(
    z.record(z.string(), z.unknown()).parse(closed(inlined(document, part))),
    {
      defaultTarget: 'openapi-3.0',
    },
  )
}

/** Describes the first difference between a value and its schema. Null if there is none. */
function differences(error: z.ZodError | undefined): string | null {
  return error ? linesOf(error.issues).join('; ') : null
}

function linesOf(issues: z.core.$ZodIssue[], within: PropertyKey[] = []): string[] {
  return issues.flatMap(issue => {
    const path = [...within, ...issue.path]
    // If several errors are possible, the one with the matching code is meant.
    const meant =
      issue.code === 'invalid_union'
        ? issue.errors.find(inner => inner.every(i => i.path[0] !== 'code'))
        : undefined
    return meant ? linesOf(meant, path) : [`${path.join('.')}: ${issue.message}`]
  })
}

/** The documents of two services: one redirects downloads, the other sends the bytes. */
export const documents = [false, true].map(proxied =>
  createApiDocument(routesOf(restSchema), () => 'https://files.example.org', {
    proxied,
  }).document(),
)

/**
 * The paths of the document as patterns. Paths without parameters come first, because they take
 * precedence.
 */
const templates = Object.keys(documents[0]?.paths ?? {})
  .sort((a, b) => a.split('{').length - b.split('{').length)
  .map(path => ({ path, pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`) }))

/** A request and its response. */
export interface Exchange {
  method: string
  /** With or without a query string. */
  url: string
  status: number
  contentType: string | null | undefined
  text: string
  /** The parsed text, if it is JSON. */
  value: unknown
}

/** Checks a response. Returns null, or the problem. */
type Check = (exchange: Exchange) => string | null

const checks = new Map<string, Check>()

/** The checks of responses by operation and status. Each is built once. */
function checkOf(method: string, path: string, status: number): Check {
  const key = `${method} ${path} ${status}`
  const check = checks.get(key) ?? makeCheck(method, path, status)
  checks.set(key, check)
  return check
}

const described = z.object({
  content: z.record(z.string(), z.object({ schema: z.unknown() })).optional(),
})

function makeCheck(method: string, path: string, status: number): Check {
  const [found] = documents.flatMap(document => {
    const response = document.paths[path]?.[method.toLowerCase()]?.responses[status]
    return response ? [{ document, ...described.parse(inlined(document, response)) }] : []
  })
  if (!found) return () => 'a status that the document does not list'
  const { document, content } = found
  const json = content?.['application/json']
  if (json) {
    const checker = checkerOf(document, json.schema)
    return ({ method: asked, contentType, value, text }) => {
      if (contentType !== 'application/json; charset=utf-8') return `not JSON, but ${contentType}`
      if (asked === 'HEAD') return null
      // A generated file, which has no envelope.
      return differences(checker.safeParse(value ?? JSON.parse(text)).error)
    }
  }
  if (content) return ({ contentType }) => (contentType ? null : 'no media type')
  return ({ text }) => (text === '' ? null : 'a body, where none is described')
}

const nowhere = z.strictObject({ code: z.literal('ROUTE_NOT_FOUND') })
const otherwise = z.strictObject({
  code: z.literal('METHOD_NOT_ALLOWED'),
  allow: z.array(z.string()),
})
const refused = z.discriminatedUnion('status', [
  z.strictObject({ status: z.literal(404), msg: z.string(), response: nowhere }),
  z.strictObject({ status: z.literal(405), msg: z.string(), response: otherwise }),
])

/** Responses that belong to no operation: unknown addresses and methods, and CORS preflights. */
function checkElsewhere(
  { method, status, value, text }: Exchange,
  expected: number,
): string | null {
  if (method === 'OPTIONS' && status === 204) return null
  if (status !== expected) return `and not ${expected}: no such operation is described`
  if (method === 'HEAD') return text === '' ? null : 'a body to HEAD'
  return differences(refused.safeParse(value).error)
}

const isPart = (text: string): boolean => {
  try {
    // The maximum length of a parameter in the router.
    return decodeURIComponent(text).length <= 4096
  } catch {
    return false
  }
}

/**
 * Compares a REST response with the document: its status, media type and whole content.
 * @throws Error with the operation and the difference
 */
export function checkAnswer(exchange: Exchange): void {
  const { method, url, status, text } = exchange
  const path = url.replace(/[?#].*/s, '')
  // Signed addresses return bytes, and are not described.
  if (!/^\/(api|auth)\//.test(path) || /^\/api\/(docs(\/|$)|blobs\/|openapi\.json$)/.test(path))
    return
  const found = path.split('/').every(isPart)
    ? templates.find(({ pattern }) => pattern.test(path))?.path
    : undefined
  const asked = method === 'HEAD' ? 'GET' : method
  const isDescribed =
    found && documents.some(document => document.paths[found]?.[asked.toLowerCase()])
  // HEAD is not described. It is GET without a body, or does not exist if GET changes something.
  const isHeadless = method === 'HEAD' && status === 405
  const problem =
    isDescribed && !isHeadless
      ? checkOf(asked, found, status)(exchange)
      : checkElsewhere(exchange, found ? 405 : 404)
  if (problem)
    throw new Error(
      `${method} ${found ?? path} answers ${status}: ${problem}\n${text.slice(0, 1000)}`,
    )
}

const requests = new Map<string, { method: string; url: string }>()

/** Records the requests to a service by the id of their responses, until the service stops. */
export function watchRequests(server: Server): void {
  const ids: string[] = []
  server.on('request', ({ method = '', url = '' }: IncomingMessage, res: ServerResponse) => {
    const id = String(res.getHeader('x-request-id'))
    ids.push(id)
    requests.set(id, { method, url })
  })
  server.once('close', () => {
    for (const id of ids) requests.delete(id)
  })
}

/** The request of the response with this id. Undefined if no watched service received it. */
export const requestOf = (id: string): { method: string; url: string } | undefined =>
  requests.get(id)
