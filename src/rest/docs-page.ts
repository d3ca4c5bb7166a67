import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import fresh from 'fresh'
import folderOfSwaggerUi from 'swagger-ui-dist/absolute-path.js'
import { AppError } from '../errors.ts'

const BASE = '/api/docs'

/** The files of Swagger UI that its page needs; nothing else of the package is served. */
const mediaTypes: Record<string, string> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'favicon-16x16.png': 'image/png',
  'favicon-32x32.png': 'image/png',
}

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Satchel: the REST interface</title>
<link rel="icon" type="image/png" sizes="32x32" href="${BASE}/favicon-32x32.png">
<link rel="icon" type="image/png" sizes="16x16" href="${BASE}/favicon-16x16.png">
<link rel="stylesheet" href="${BASE}/swagger-ui.css">
<script defer src="${BASE}/swagger-ui-bundle.js"></script>
<script defer src="${BASE}/start.js"></script>
</head>
<body>
<div id="swagger-ui"></div>
<noscript>This page needs JavaScript. The description itself is at <a href="/api/openapi.json">/api/openapi.json</a>.</noscript>
</body>
</html>
`

// Requests go to the host that the page was opened on: under another name of this service the session cookie would be missing.
const start = `SwaggerUIBundle({
  url: '/api/openapi.json',
  dom_id: '#swagger-ui',
  deepLinking: true,
  validatorUrl: null,
  requestInterceptor(request) {
    const { pathname, search } = new URL(request.url, location.origin)
    request.url = location.origin + pathname + search
    return request
  },
})
`

// Swagger UI keeps its icons as data: in its style sheet.
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/**
 * Answers the page and its files, without a network and without a script in the page.
 * @throws ROUTE_NOT_FOUND for whatever is not on the list
 */
export async function sendDocsPage(req: IncomingMessage, res: ServerResponse, path: string): Promise<void> {
  const name = path.slice(BASE.length).replace(/^\//, '')
  if (name === '') return sendText(req, res, page, 'text/html; charset=utf-8', 'no-cache')
  if (name === 'start.js') return sendText(req, res, start, 'text/javascript; charset=utf-8', 'no-cache')
  const type = Object.hasOwn(mediaTypes, name) ? mediaTypes[name] : undefined
  if (type === undefined)
    throw new AppError('ROUTE_NOT_FOUND', `There is nothing at this address. The page is ${BASE}.`)
  await sendFile(req, res, join(folderOfSwaggerUi(), name), type)
}

function sendText(req: IncomingMessage, res: ServerResponse, text: string, type: string, caching: string): void {
  res.writeHead(200, {
    'content-type': type,
    'content-length': Buffer.byteLength(text),
    'cache-control': caching,
    'content-security-policy': policy,
  })
  res.end(req.method === 'HEAD' ? undefined : text)
}

async function sendFile(req: IncomingMessage, res: ServerResponse, file: string, type: string): Promise<void> {
  const { size, mtimeMs } = await stat(file)
  const etag = `W/"${size.toString(16)}-${Math.trunc(mtimeMs).toString(16)}"`
  const headers: OutgoingHttpHeaders = { etag, 'cache-control': 'public, max-age=86400' }
  if (fresh(req.headers, { etag })) {
    res.writeHead(304, headers).end()
    return
  }
  res.writeHead(200, { ...headers, 'content-type': type, 'content-length': size })
  if (req.method === 'HEAD') {
    res.end()
    return
  }
  // After the head nothing can be said any more: a client that hangs up ends the connection.
  await pipeline(createReadStream(file), res).catch(() => res.destroy())
}
