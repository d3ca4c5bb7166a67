import { existsSync, readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import { sendStatic } from '../http/static.ts'
import { write } from '../http/write.ts'
import { AppError } from '../runtime/errors.ts'
import { assets } from './assets.ts'
import type { Reply, Visit } from './visit.ts'

/** Resources that pdf.js loads on demand: character maps, standard fonts and decoders. */
const folder = new URL('dist/pages/pdf/', import.meta.resolve('#package.json'))
const resources = new Set(
  existsSync(folder) ? readdirSync(folder, { recursive: true }).map(String) : [],
)
const types: Record<string, string> = {
  '.js': 'text/javascript; charset=utf-8',
  '.wasm': 'application/wasm',
}

/**
 * The page is sandboxed, whoever embeds it. It has an opaque origin, so a document that compromises
 * pdf.js has no cookies and cannot send data anywhere.
 */
const policy = [
  'sandbox allow-scripts allow-popups allow-popups-to-escape-sandbox',
  "default-src 'none'",
  "script-src 'self' blob: 'wasm-unsafe-eval'",
  'worker-src blob:',
  "style-src 'self'",
  "img-src 'self' blob: data:",
  "font-src 'self' blob: data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'self'",
].join('; ')

const body = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Document</title>
<link rel="stylesheet" href="${assets.pdfStyle}">
<form id="tools">
<button type="button" id="out">−</button>
<button type="button" id="in">+</button>
<input id="page" type="number" min="1" value="1" inputmode="numeric"><span id="count"></span>
<input id="find" type="search" maxlength="200" autocomplete="off" enterkeyhint="search"><span id="status" role="status"></span>
</form>
<div id="stage"><div id="container" tabindex="0"><div id="viewer" class="pdfViewer"></div></div></div>
<script type="module" crossorigin src="${assets.pdfFrame}"></script>
</html>
`

/**
 * The PDF frame.
 *
 * @throws ROUTE_NOT_FOUND if it was not built
 */
export async function pdfFrame({ req, res }: Visit): Promise<Reply> {
  if (!assets.pdfFrame) throw nothingHere()
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-cache',
    'content-security-policy': policy,
    'x-frame-options': 'SAMEORIGIN',
    'x-robots-tag': 'noindex',
  }
  write(res, req, { status: 200, headers, body })
  return undefined
}

/**
 * Resources that pdf.js loads from a page with an opaque origin.
 *
 * @param kind name of the folder
 * @throws ROUTE_NOT_FOUND
 */
export const pdfResource =
  (kind: 'cmaps' | 'standard_fonts' | 'wasm') =>
  async ({ req, res, token }: Visit): Promise<Reply> => {
    const name = `${kind}/${token}`
    if (!resources.has(name)) throw nothingHere()
    const headers = {
      'content-type': types[extname(token)] ?? 'application/octet-stream',
      // File names do not change with the version of pdf.js.
      'cache-control': 'public, max-age=86400',
      'access-control-allow-origin': '*',
    }
    sendStatic(req, res, { plain: await readFile(new URL(name, folder)), packed: [], headers })
    return undefined
  }

const nothingHere = () => new AppError('ROUTE_NOT_FOUND', 'There is nothing at this URL.')
