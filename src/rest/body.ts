import type { IncomingMessage } from 'node:http'
import { AppError, InvalidInput } from '../errors.ts'

export const MAX_JSON_BYTES = 1024 * 1024

const utf8 = new TextDecoder('utf-8', { fatal: true })

/**
 * Reads a JSON object, at most 1 MiB of UTF-8. No body counts as an empty object.
 * @throws INVALID_JSON, INVALID_INPUT
 */
export async function readJson(req: IncomingMessage): Promise<Record<string, unknown>> {
  const declared = Number(req.headers['content-length'] ?? 0)
  if (declared > MAX_JSON_BYTES) throw tooLarge()
  if (declared === 0 && req.headers['transfer-encoding'] === undefined) return {}
  const chunks: Buffer[] = []
  let size = 0
  try {
    // Leaving the loop must not destroy the request: the rest of its body is still to be taken.
    for await (const chunk of req.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      size += chunk.length
      if (size > MAX_JSON_BYTES) throw tooLarge()
      chunks.push(chunk)
    }
  } catch (error) {
    if (error instanceof AppError) throw error
    throw new AppError('INVALID_JSON', 'The body ended before it was complete. Send it again.', {}, error)
  }
  if (size === 0) return {}
  if (!/^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(req.headers['content-type'] ?? ''))
    throw new InvalidInput('content-type', 'Send the body as JSON, with Content-Type: application/json.')
  return parseObject(Buffer.concat(chunks))
}

function parseObject(bytes: Buffer): Record<string, unknown> {
  let value: unknown
  try {
    value = JSON.parse(utf8.decode(bytes))
  } catch {
    throw new AppError('INVALID_JSON', 'The body is not valid JSON in UTF-8. Check its syntax and its encoding.')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new AppError('INVALID_JSON', 'The body must be a JSON object: { ... }.')
  return value as Record<string, unknown>
}

const tooLarge = () =>
  new AppError('INVALID_INPUT', 'A JSON body may have up to 1 MiB.', { field: 'body', max: MAX_JSON_BYTES })
