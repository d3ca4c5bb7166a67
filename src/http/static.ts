import type { IncomingMessage, ServerResponse } from 'node:http'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import fresh from 'fresh'

/**
 * A response that is the same for every caller: one plain buffer, and compressed ones. All
 * connections read from these buffers without a copy.
 */
export interface StaticAnswer {
  plain: Buffer
  /** By Content-Encoding, the smallest first. */
  packed: [encoding: string, body: Buffer][]
  /** Includes the ETag, if there is one. */
  headers: Record<string, string>
}

/** Compresses a response once. */
export async function makeStatic(
  content: string | Buffer,
  headers: Record<string, string>,
): Promise<StaticAnswer> {
  const plain = typeof content === 'string' ? Buffer.from(content) : content
  return {
    plain,
    packed: [['gzip', await promisify(gzip)(plain)]],
    headers: { vary: 'Accept-Encoding', ...headers },
  }
}

/** Sends a 304 if the caller's copy is current, and a compressed body if the caller accepts it. */
export function sendStatic(
  req: IncomingMessage,
  res: ServerResponse,
  { plain, packed, headers }: StaticAnswer,
): void {
  const { etag } = headers
  if (etag && fresh(req.headers, { etag })) return void res.writeHead(304, headers).end()
  const accepted = req.headers['accept-encoding'] ?? ''
  const [encoding, body] = packed.find(([name]) => accepts(accepted, name)) ?? [null, plain]
  res.writeHead(200, {
    ...headers,
    ...(encoding ? { 'content-encoding': encoding } : {}),
    'content-length': body.length,
  })
  res.end(req.method === 'HEAD' ? undefined : body)
}

/** RFC 9110, section 12.5.3: `gzip;q=0` is a refusal. */
const accepts = (accepted: string, encoding: string): boolean =>
  new RegExp(`(?:^|[,\\s])${encoding}(?!\\s*;\\s*q=0(?:\\.0*)?\\s*(?:,|$))`, 'i').test(accepted)
