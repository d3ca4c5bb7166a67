import { hash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import folderOfSwaggerUi from 'swagger-ui-dist/absolute-path.js'
import { icon } from '../http/icon.ts'
import { makeStatic, type StaticAnswer, sendStatic } from '../http/static.ts'
import { AppError } from '../runtime/errors.ts'

const BASE = '/api/docs'

const ownFile = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const ofSwaggerUi = (name: string) => join(folderOfSwaggerUi(), name)
const css = 'text/css; charset=utf-8'
const script = 'text/javascript; charset=utf-8'

/** The files that the page loads, with their sources. No other file of the package is served. */
const files = new Map([
  ['swagger-ui.css', { type: css, parts: [ofSwaggerUi('swagger-ui.css')] }],
  ['swagger-ui-bundle.js', { type: script, parts: [ofSwaggerUi('swagger-ui-bundle.js')] }],
  [
    'style.css',
    { type: css, parts: [ownFile('../pages/views/tokens.css'), ownFile('page/style.css')] },
  ],
  ['start.js', { type: script, parts: [ownFile('page/start.js')] }],
])

const pageWith = (links: string) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>REST · Satchel</title>
<link rel="icon" href="/favicon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${BASE}/swagger-ui.css">
<link rel="stylesheet" href="${BASE}/style.css">
<script defer src="${BASE}/swagger-ui-bundle.js"></script>
<script defer src="${BASE}/start.js"></script>
</head>
<body>
<header class="house"><a class="home" href="/">${icon} Satchel</a>${links}</header>
<div id="swagger-ui"></div>
<noscript>This page needs JavaScript. The description itself is at <a href="/api/openapi.json">/api/openapi.json</a>.</noscript>
</body>
</html>
`

// Swagger UI embeds its icons as data: URLs in its style sheet.
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
 * Serves the page and its files, self-contained and without inline scripts.
 * @param hasConsole whether the service has a screen for developers
 */
export function createDocsPage(hasConsole: boolean) {
  const page = pageWith(hasConsole ? '<a href="/developers">For developers</a>' : '')
  /** Created on first request and cached: two megabytes, shared by all connections. */
  const made = new Map<string, Promise<StaticAnswer>>()

  function make(name: string): Promise<StaticAnswer> | undefined {
    if (name === '')
      return makeStatic(page, {
        'content-type': 'text/html; charset=utf-8',
        'cache-control': 'no-cache',
        'content-security-policy': policy,
      })
    const file = files.get(name)
    return file && makeFile(file)
  }

  /** @throws ROUTE_NOT_FOUND for files that are not on the list */
  return async (req: IncomingMessage, res: ServerResponse, path: string): Promise<void> => {
    const name = path.slice(BASE.length).replace(/^\//, '')
    const answer = made.get(name) ?? make(name)
    if (!answer)
      throw new AppError('ROUTE_NOT_FOUND', `There is nothing at this URL. The page is ${BASE}.`)
    made.set(name, answer)
    // A file that could not be read may be readable next time.
    answer.catch(() => made.delete(name))
    sendStatic(req, res, await answer)
  }
}

async function makeFile({ type, parts }: { type: string; parts: string[] }): Promise<StaticAnswer> {
  const bytes = Buffer.concat(await Promise.all(parts.map(part => readFile(part))))
  const etag = `W/"${hash('md5', bytes)}"`
  return makeStatic(bytes, { 'content-type': type, 'cache-control': 'public, max-age=86400', etag })
}
