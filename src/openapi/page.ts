import { hash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import folderOfSwaggerUi from 'swagger-ui-dist/absolute-path.js'
import { AppError } from '../errors.ts'
import { makeStatic, type StaticAnswer, sendStatic } from '../http/static.ts'

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

/** Made when they are first asked for, and kept: two megabytes that every connection reads from. */
const made = new Map<string, Promise<StaticAnswer>>()

/**
 * Answers the page and its files, without a network and without a script in the page.
 * @throws ROUTE_NOT_FOUND for what is not on the list
 */
export async function sendDocsPage(req: IncomingMessage, res: ServerResponse, path: string): Promise<void> {
  const name = path.slice(BASE.length).replace(/^\//, '')
  const answer = made.get(name) ?? make(name)
  if (!answer) throw new AppError('ROUTE_NOT_FOUND', `There is nothing at this URL. The page is ${BASE}.`)
  made.set(name, answer)
  // A file that could not be read may be there the next time.
  answer.catch(() => made.delete(name))
  sendStatic(req, res, await answer)
}

function make(name: string): Promise<StaticAnswer> | undefined {
  const own = { 'cache-control': 'no-cache', 'content-security-policy': policy }
  if (name === '') return makeStatic(page, { 'content-type': 'text/html; charset=utf-8', ...own })
  if (name === 'start.js') return makeStatic(start, { 'content-type': 'text/javascript; charset=utf-8', ...own })
  const type = Object.hasOwn(mediaTypes, name) ? mediaTypes[name] : undefined
  return type === undefined ? undefined : makeFile(name, type)
}

async function makeFile(name: string, type: string): Promise<StaticAnswer> {
  const bytes = await readFile(join(folderOfSwaggerUi(), name))
  const etag = `W/"${hash('md5', bytes)}"`
  return makeStatic(bytes, { 'content-type': type, 'cache-control': 'public, max-age=86400', etag })
}
