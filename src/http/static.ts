import type { IncomingMessage, ServerResponse } from 'node:http'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import fresh from 'fresh'

/**
 * What is the same for every caller: one buffer as it is, and packed ones, which all connections
 * read from without a copy.
 */
export interface StaticAnswer {
  plain: Buffer
  /** By its name in Content-Encoding, the smallest first. */
  packed: [encoding: string, body: Buffer][]
  /** With its ETag, if it has one. */
  headers: Record<string, string>
}

/** Packs an answer, once. */
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

/** Answers 304 to a caller who has it already, and packs it for those who unpack it. */
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
