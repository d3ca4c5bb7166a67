import { z } from 'zod'
import type { ApiDocument } from '../../src/rest/openapi.ts'

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

/** What a reference within the document stands for. @throws Error when it leads nowhere */
export function lookUp(document: ApiDocument, ref: string): unknown {
  let found: unknown = document
  for (const key of ref.replace(/^#\//, '').split('/')) found = isObject(found) ? found[key] : undefined
  if (found === undefined) throw new Error(`${ref} leads nowhere.`)
  return found
}

/** A part of the document with every reference replaced by what it stands for. */
export function inlined(document: ApiDocument, part: unknown): unknown {
  if (Array.isArray(part)) return part.map(item => inlined(document, item))
  if (!isObject(part)) return part
  if (typeof part.$ref === 'string') return inlined(document, lookUp(document, part.$ref))
  return Object.fromEntries(Object.entries(part).map(([key, value]) => [key, inlined(document, value)]))
}

/** Checks values against a schema of the document. */
export function checkerOf(document: ApiDocument, schema: unknown): z.ZodType {
  return z.fromJSONSchema(z.record(z.string(), z.unknown()).parse(inlined(document, schema)), {
    defaultTarget: 'openapi-3.0',
  })
}

/**
 * Checks the JSON answers of an operation with a status.
 * @param path as in the document, with `{name}` for what varies
 * @throws Error when the document does not describe that answer
 */
export function answerChecker(document: ApiDocument, method: string, path: string, status: number): z.ZodType {
  const key = `${method} ${path} ${status}`
  const answer = inlined(document, document.paths[path]?.[method.toLowerCase()]?.responses[status])
  const content = isObject(answer) && isObject(answer.content) ? answer.content['application/json'] : undefined
  if (!isObject(content)) throw new Error(`The document describes no JSON answer of ${key}.`)
  return checkerOf(document, content.schema)
}
