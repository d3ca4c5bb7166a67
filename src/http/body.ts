import type { IncomingMessage } from 'node:http'
import { finished } from 'node:stream'
import { AppError, InvalidInput } from '../runtime/errors.ts'
import { interruptible } from '../runtime/interruptible.ts'
import { Upload } from '../values/upload.ts'

export const MAX_JSON_BYTES = 1024 * 1024

/**
 * Body limit without a credential: enough for link passwords and small documents, and cheap to
 * parse.
 */
export const MAX_ANONYMOUS_JSON_BYTES = 16 * 1024

/** Initial buffer size for a body that arrives in several pieces. */
const FIRST_BYTES = 4096

const utf8 = new TextDecoder('utf-8', { fatal: true })

/**
 * Reads a JSON object in UTF-8: at most 1 MiB with a credential, 16 KiB without. A missing body
 * counts as an empty object.
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
  const bytes =
    arrived(req, declared) ??
    (await readWhole(req, max, {
      tooLarge,
      broken: cause => invalidJson('The body ended before it was complete. Send it again.', cause),
    }))
  if (bytes.length === 0) return {}
  if (!/^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(req.headers['content-type'] ?? ''))
    throw new InvalidInput(
      'content-type',
      'Send the body as JSON, with Content-Type: application/json.',
    )
  return parseObject(bytes)
}

/**
 * Returns a body that has arrived completely, as small bodies have when their caller is known. It
 * needs no listeners.
 */
function arrived(req: IncomingMessage, declared: number): Buffer | undefined {
  if (!req.complete || req.readableLength !== declared || req.readableFlowing !== null)
    return undefined
  const bytes: unknown = req.read()
  return Buffer.isBuffer(bytes) ? bytes : undefined
}

/**
 * How a body is read: as a whole into memory, as a streamed upload, as one part of an upload, or as
 * a stream of parts.
 */
export type BodyKind = 'whole' | 'upload' | 'part' | 'stream'

/** Watches the pace of a body in transit. */
interface Watch {
  /** Aborts when the body is too slow. */
  signal: AbortSignal
  becomes(kind: BodyKind): void
}

const watches = new WeakMap<IncomingMessage, Watch>()

/** Watches a body, whose reader sets the kind. */
export const watchBody = (req: IncomingMessage, watch: Watch): void => void watches.set(req, watch)

/**
 * Reads a body with a size limit.
 * @throws the error of `bound` for a larger or incomplete body; or the refusal of a slow body
 */
export function readWhole(
  req: IncomingMessage,
  max: number,
  { tooLarge, broken }: { tooLarge(): AppError; broken(cause: unknown): AppError },
): Promise<Buffer> {
  const watch = watches.get(req)
  watch?.becomes('whole')
  return new Promise((resolve, reject) => {
    let memory: Buffer = Buffer.alloc(0)
    let size = 0
    // One growing buffer: each kept chunk has an overhead of some hundred bytes, and a client may
    // send single bytes.
    const add = (chunk: Buffer) => {
      const needed = size + chunk.length
      if (needed > max) return end(() => reject(tooLarge()))
      if (size === 0 && memory.length === 0) memory = chunk
      else if (needed > memory.length) {
        const larger = Buffer.allocUnsafeSlow(
          Math.min(max, Math.max(needed, 2 * memory.length, FIRST_BYTES)),
        )
        memory.copy(larger, 0, 0, size)
        memory = larger
      }
      if (memory !== chunk) memory.set(chunk, size)
      size = needed
    }
    const late = () => end(() => reject(watch?.signal.reason))
    // Does not destroy the request, because the rest of its body must still be drained.
    const end = (settle: () => void) => {
      forget()
      req.off('data', add)
      watch?.signal.removeEventListener('abort', late)
      settle()
    }
    const forget = finished(req, { writable: false }, error =>
      end(() => (error ? reject(broken(error)) : resolve(memory.subarray(0, size)))),
    )
    if (watch?.signal.aborted) return late()
    watch?.signal.addEventListener('abort', late)
    req.on('data', add)
  })
}

function parseObject(bytes: Buffer): Record<string, unknown> {
  let value: unknown
  try {
    value = JSON.parse(utf8.decode(bytes))
  } catch {
    throw notJson()
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
 * The raw body, for a field that takes a file. Bytes flow when they are read.
 * @throws INVALID_INPUT if the body is not the file itself
 */
export function readRaw(req: IncomingMessage): Upload {
  const {
    'content-length': length,
    'content-type': type = '',
    'content-encoding': encoding = '',
  } = req.headers
  if (!/^(?:identity)?$/i.test(encoding))
    throw new InvalidInput(
      'content-encoding',
      'Send the bytes as they are, without a Content-Encoding.',
    )
  if (/^multipart\/form-data\b/i.test(type))
    throw new InvalidInput(
      'content-type',
      'Send the bytes themselves as the body, not a form around them.',
    )
  watches.get(req)?.becomes('part')
  return new Upload({
    filename: '',
    mimetype: type,
    source: wholeOf(req),
    // Without either header a request has no body.
    bound:
      length === undefined
        ? req.headers['transfer-encoding'] === undefined
          ? 0
          : undefined
        : Number(length),
  })
}

async function* wholeOf(req: IncomingMessage): AsyncGenerator<Uint8Array> {
  try {
    // Leaving the iterator must not destroy the request, because the rest of its body must still be
    // drained. Until then, nothing else drains it.
    const bytes = req.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>
    yield* interruptible(bytes, watches.get(req)?.signal)
  } catch (error) {
    if (error instanceof AppError) throw error
    throw new AppError(
      'INVALID_INPUT',
      'The connection broke before the body was complete.',
      { field: 'body' },
      error,
    )
  }
}

export const notJson = () =>
  invalidJson('The body is not valid JSON in UTF-8. Check its syntax and its encoding.')
