import type { IncomingMessage } from 'node:http'
import { AppError, InvalidInput } from '../errors.ts'
import { Upload } from '../upload.ts'

export const MAX_JSON_BYTES = 1024 * 1024

/** What a caller without a credential may send: passwords of links and small documents, nothing that is work to parse. */
export const MAX_ANONYMOUS_JSON_BYTES = 16 * 1024

const utf8 = new TextDecoder('utf-8', { fatal: true })

/**
 * Reads a JSON object of UTF-8: at most 1 MiB from a caller who is known, 16 KiB from others. No body counts as an empty object.
 * @throws INVALID_JSON, INVALID_INPUT
 */
export async function readJson(
  req: IncomingMessage,
  { anonymous }: { anonymous: boolean },
): Promise<Record<string, unknown>> {
  const max = anonymous ? MAX_ANONYMOUS_JSON_BYTES : MAX_JSON_BYTES
  const tooLarge = () => bodyTooLarge(max, anonymous)
  const declared = Number(req.headers['content-length'] ?? 0)
  if (declared > max) throw tooLarge()
  if (declared === 0 && req.headers['transfer-encoding'] === undefined) return {}
  const bytes = await readWhole(req, max, {
    tooLarge,
    broken: cause => invalidJson('The body ended before it was complete. Send it again.', cause),
  })
  if (bytes.length === 0) return {}
  if (!/^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(req.headers['content-type'] ?? ''))
    throw new InvalidInput('content-type', 'Send the body as JSON, with Content-Type: application/json.')
  return parseObject(bytes)
}

/** Reads a body of so many bytes at most. @throws what is made for one that is larger, or that breaks off */
export async function readWhole(
  req: IncomingMessage,
  max: number,
  { tooLarge, broken }: { tooLarge(): AppError; broken(cause: unknown): AppError },
): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  try {
    // Leaving the loop must not destroy the request: the rest of its body is still to be taken.
    for await (const chunk of req.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      size += chunk.length
      if (size > max) throw tooLarge()
      chunks.push(chunk)
    }
  } catch (error) {
    throw error instanceof AppError ? error : broken(error)
  }
  return Buffer.concat(chunks)
}

function parseObject(bytes: Buffer): Record<string, unknown> {
  let value: unknown
  try {
    value = JSON.parse(utf8.decode(bytes))
  } catch {
    throw invalidJson('The body is not valid JSON in UTF-8. Check its syntax and its encoding.')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalidJson('The body must be a JSON object: { ... }.')
  return value as Record<string, unknown>
}

const invalidJson = (message: string, cause?: unknown) =>
  new AppError('INVALID_JSON', message, { field: 'body' }, cause)
const bodyTooLarge = (max: number, anonymous: boolean) =>
  new AppError(
    'INVALID_INPUT',
    anonymous
      ? 'Without a credential a JSON body may have up to 16 KiB. Sign in, or send an API key.'
      : 'A JSON body may have up to 1 MiB.',
    { field: 'body', max },
  )

/**
 * The body as it is, for a field that takes a file. Bytes flow when somebody reads them.
 * @throws INVALID_INPUT where the body is not the file itself
 */
export function readRaw(req: IncomingMessage): Upload {
  const { 'content-length': length, 'content-type': type = '', 'content-encoding': encoding = '' } = req.headers
  if (!/^(?:identity)?$/i.test(encoding))
    throw new InvalidInput('content-encoding', 'Send the bytes as they are, without a Content-Encoding.')
  if (/^multipart\/form-data\b/i.test(type))
    throw new InvalidInput('content-type', 'Send the bytes themselves as the body, not a form around them.')
  return new Upload({
    filename: '',
    mimetype: type,
    source: wholeOf(req),
    // Without either header a request has no body.
    bound: length === undefined ? (req.headers['transfer-encoding'] === undefined ? 0 : undefined) : Number(length),
  })
}

async function* wholeOf(req: IncomingMessage): AsyncGenerator<Uint8Array> {
  try {
    // Leaving the loop must not destroy the request: the rest of its body is still to be taken.
    yield* req.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>
  } catch (error) {
    throw new AppError('INVALID_INPUT', 'The connection broke before the body was complete.', { field: 'body' }, error)
  }
}
