import type { IncomingMessage, ServerResponse } from 'node:http'
import cors from 'cors'

/** The CORS options for pages of other origins. */
const corsOptions = (origins: string[]): cors.CorsOptions => ({
  origin: origins,
  credentials: true,
  methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'],
  allowedHeaders: [
    'Content-Type',
    'X-API-Key',
    'Authorization',
    // The version header of MCP.
    'Mcp-Protocol-Version',
    'X-Share-Password',
    'X-Sender-Token',
    'Content-MD5',
    'Range',
    'If-Range',
    'If-None-Match',
    'If-Match',
    'Prefer',
    'Last-Event-ID',
    // Headers of tus:
    ...[
      'Tus-Resumable',
      'Upload-Length',
      'Upload-Defer-Length',
      'Upload-Offset',
      'Upload-Metadata',
      'Upload-Checksum',
      'Upload-Concat',
    ],
    'X-HTTP-Method-Override',
  ],
  exposedHeaders: [
    'X-Request-Id',
    'Retry-After',
    'WWW-Authenticate',
    'RateLimit',
    'RateLimit-Policy',
    'ETag',
    'Content-Range',
    'Accept-Ranges',
    'Content-Disposition',
    'Allow',
    'Location',
    'Preference-Applied',
    ...['Tus-Resumable', 'Tus-Version', 'Tus-Extension', 'Tus-Max-Size', 'Tus-Checksum-Algorithm'],
    ...[
      'Upload-Offset',
      'Upload-Length',
      'Upload-Defer-Length',
      'Upload-Metadata',
      'Upload-Expires',
      'Upload-Concat',
      'Satchel-File-Id',
    ],
  ],
  maxAge: 600,
})

/**
 * Lets pages of the given origins use the interfaces; undefined without any.
 * @returns adds the headers to a response, and answers OPTIONS requests, except non-preflights on
 * paths that handle OPTIONS themselves (`answersOptions`)
 */
export function crossOrigin(origins: string[]) {
  if (origins.length === 0) return undefined
  const options = corsOptions(origins)
  const [answer, addHeaders] = [cors(options), cors({ ...options, preflightContinue: true })]
  return async (
    req: IncomingMessage,
    res: ServerResponse,
    answersOptions: boolean,
  ): Promise<void> => {
    const isOptions = req.method === 'OPTIONS'
    const isPreflight =
      isOptions && !(answersOptions && req.headers['access-control-request-method'] === undefined)
    const handle = isPreflight ? answer : addHeaders
    await new Promise<void>((resolve, reject) => {
      handle(req, res, error => (error ? reject(error) : resolve()))
      if (isPreflight) resolve()
    })
  }
}
