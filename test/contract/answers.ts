import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { z } from 'zod'
import { restSchema } from '../../schema/rest/index.ts'
import { type ApiDocument, createApiDocument } from '../../src/openapi/document.ts'
import { routesOf } from '../../src/rest/routes.ts'

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null

/** What a reference within the document stands for. @throws Error when it leads nowhere */
export function lookUp(document: ApiDocument, ref: string): unknown {
  let found: unknown = document
  for (const key of ref.replace(/^#\//, '').split('/'))
    found = isObject(found) ? found[key] : undefined
  if (found === undefined) throw new Error(`${ref} leads nowhere.`)
  return found
}

/** A part of the document with every reference replaced by what it stands for. */
export function inlined(document: ApiDocument, part: unknown): unknown {
  if (Array.isArray(part)) return part.map(item => inlined(document, item))
  if (!isObject(part)) return part
  if (typeof part.$ref === 'string') return inlined(document, lookUp(document, part.$ref))
  return Object.fromEntries(
    Object.entries(part).map(([key, value]) => [key, inlined(document, value)]),
  )
}

/**
 * A schema whose objects have the properties that it names and no others. The document leaves them
 * open, so that a later version may say more; today's service says nothing that is not described.
 */
function closed(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(closed)
  if (!isObject(part)) return part
  const inner = Object.fromEntries(Object.entries(part).map(([key, value]) => [key, closed(value)]))
  return isObject(part.properties) && part.type === 'object'
    ? { additionalProperties: false, ...inner }
    : inner
}

/** Checks values against a schema of the document, in which nothing else may be. */
export function checkerOf(document: ApiDocument, part: unknown): z.ZodType {
  return z.fromJSONSchema(
    z.record(z.string(), z.unknown()).parse(closed(inlined(document, part))),
    {
      defaultTarget: 'openapi-3.0',
    },
  )
}

/** Where a value differs and how, in words; null when it does not. */
function differences(error: z.ZodError | undefined): string | null {
  return error ? linesOf(error.issues).join('; ') : null
}

function linesOf(issues: z.core.$ZodIssue[], within: PropertyKey[] = []): string[] {
  return issues.flatMap(issue => {
    const path = [...within, ...issue.path]
    // Of the errors that could be meant, the one whose code it is.
    const meant =
      issue.code === 'invalid_union'
        ? issue.errors.find(inner => inner.every(i => i.path[0] !== 'code'))
        : undefined
    return meant ? linesOf(meant, path) : [`${path.join('.')}: ${issue.message}`]
  })
}

/**
 * The documents of a service that redirects downloads, and of one that answers them with their
 * bytes.
 */
export const documents = [false, true].map(proxied =>
  createApiDocument(routesOf(restSchema), () => 'https://files.example.org', {
    proxied,
  }).document(),
)

/**
 * The paths of the document with what they look like, those without parameters first: they win over
 * those that would match, too.
 */
const templates = Object.keys(documents[0]?.paths ?? {})
  .sort((a, b) => a.split('{').length - b.split('{').length)
  .map(path => ({ path, pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`) }))

/** What one request was, and what it was answered with. */
export interface Exchange {
  method: string
  /** With or without a query. */
  url: string
  status: number
  contentType: string | null | undefined
  text: string
  /** Of the text, where it is JSON. */
  value: unknown
}

/** A check of answers: null, or what is wrong with one. */
type Check = (exchange: Exchange) => string | null

const checks = new Map<string, Check>()

/** How answers of an operation with a status are checked; made once. */
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
      // A file that the service makes, which is no envelope.
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

/**
 * What comes from no operation: an address or a method that does not exist, and what a browser asks
 * before it dares to.
 */
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
    // What the router takes at most for a parameter.
    return decodeURIComponent(text).length <= 4096
  } catch {
    return false
  }
}

/**
 * Compares an answer of the REST interface with the document: its status, its media type and
 * everything in it.
 * @throws Error that says which operation it was and where the difference is
 */
export function checkAnswer(exchange: Exchange): void {
  const { method, url, status, text } = exchange
  const path = url.replace(/[?#].*/s, '')
  // What a signed address answers is bytes, and not described.
  if (!/^\/(api|auth)\//.test(path) || /^\/api\/(docs(\/|$)|blobs\/|openapi\.json$)/.test(path))
    return
  const found = path.split('/').every(isPart)
    ? templates.find(({ pattern }) => pattern.test(path))?.path
    : undefined
  const asked = method === 'HEAD' ? 'GET' : method
  const isDescribed =
    found && documents.some(document => document.paths[found]?.[asked.toLowerCase()])
  // HEAD is not described: it is GET without a body, or not there where a GET changes something.
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

/** Remembers what a service is asked, by the id that its answers carry, until it ends. */
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

/** What the answer with this id answers; undefined where no service was asked that is watched. */
export const requestOf = (id: string): { method: string; url: string } | undefined =>
  requests.get(id)
