import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname } from 'node:path'
import type { Incoming } from '../http/incoming.ts'
import { makeStatic, type StaticAnswer, sendStatic } from '../http/static.ts'
import { AppError } from '../runtime/errors.ts'

const BASE = '/pages/'
const KEEP = `public, max-age=${365 * 86_400}, immutable`
const SCRIPT = 'text/javascript; charset=utf-8'

const files = await Promise.all([
  load('style.css', 'text/css; charset=utf-8', ['tokens.css', 'style.css']),
  load('folder.css', 'text/css; charset=utf-8'),
  load('script.js', SCRIPT),
  load('folder.js', SCRIPT),
])
const types: Record<string, string> = {
  '.js': SCRIPT,
  '.mjs': SCRIPT,
  '.css': 'text/css; charset=utf-8',
  '.gif': 'image/gif',
  '.svg': 'image/svg+xml',
}
const built = loadBuilt()

/** @param parts files in `views` to concatenate */
async function load(name: string, type: string, parts = [name]) {
  const body = parts
    .map(part => readFileSync(new URL(`views/${part}`, import.meta.url), 'utf8'))
    .join('\n')
  const hash = createHash('sha256').update(body).digest('hex').slice(0, 16)
  const answer = await makeStatic(body, { 'content-type': type })
  return { name, answer, path: BASE + name.replace('.', `.${hash}.`) }
}

/**
 * The output of `npm run build:pages`, compressed, by content-hashed name. Empty without a build.
 */
function loadBuilt() {
  const folder = new URL('dist/pages/', import.meta.resolve('#package.json'))
  const read = (name: string) => readFileSync(new URL(name, folder))
  const answers = new Map<string, StaticAnswer>()
  if (!existsSync(new URL('manifest.json', folder))) return { entryOf: () => undefined, answers }
  const manifest: Record<string, { name?: string; file: string; css?: string[] }> = JSON.parse(
    String(read('manifest.json')),
  )
  const names = new Set(readdirSync(folder))
  for (const name of names) {
    const type = types[extname(name)]
    if (!type) continue
    const headers = {
      'content-type': type,
      // For the hash worker of uploads, which uses WebAssembly. The policy of the page applies to
      // other scripts.
      'content-security-policy': "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'",
      // The PDF frame has an opaque origin.
      'access-control-allow-origin': '*',
      vary: 'Accept-Encoding',
    }
    const packed: StaticAnswer['packed'] = []
    if (names.has(`${name}.br`))
      packed.push(['br', read(`${name}.br`)], ['gzip', read(`${name}.gz`)])
    answers.set(name, { plain: read(name), packed, headers })
  }
  const entryOf = (entry: string) => Object.values(manifest).find(({ name }) => name === entry)
  return { entryOf, answers }
}

const pathOf = (name: string | undefined) => (name ? BASE + name : '')

/**
 * URLs of the files that pages load. A new content gets a new URL. A script that was not built has
 * an empty URL.
 */
export const assets: Record<string, string> = {
  ...Object.fromEntries(files.map(({ name, path }) => [name, path])),
  sender: pathOf(built.entryOf('sender')?.file),
  passkey: pathOf(built.entryOf('passkey')?.file),
  preview: pathOf(built.entryOf('preview')?.file),
  previewStyle: pathOf(built.entryOf('preview')?.css?.[0]),
  pdfFrame: pathOf(built.entryOf('pdf-frame')?.file),
  pdfStyle: pathOf(built.entryOf('pdf-frame')?.css?.[0]),
}

/** @throws ROUTE_NOT_FOUND */
export function sendAsset({
  req,
  res,
  token,
}: Pick<Incoming, 'req' | 'res'> & { token: string }): undefined {
  const ready = built.answers.get(token)
  if (ready) return sendKept(req, res, ready, KEEP)
  // While instances of two versions run, a request may reach the instance without the file. Its own
  // version of the file is better than an error.
  const [, own] = [...built.answers].find(([name]) => stemOf(name) === stemOf(token)) ?? []
  if (own) return sendKept(req, res, own, 'no-cache')
  const file = files.find(({ name }) =>
    new RegExp(`^${name.replace('.', '\\.[0-9a-f]{16}\\.')}$`).test(token),
  )
  if (!file) throw new AppError('ROUTE_NOT_FOUND', 'There is nothing at this URL.')
  sendKept(req, res, file.answer, file.path === BASE + token ? KEEP : 'no-cache')
}

/** The name of a built file without its content hash. */
const stemOf = (name: string) => name.replace(/-[\w-]{8}(?=\.\w+$)/, '')

/** @param caching value of Cache-Control */
const sendKept = (
  req: Incoming['req'],
  res: Incoming['res'],
  answer: StaticAnswer,
  caching: string,
): undefined =>
  void sendStatic(req, res, { ...answer, headers: { ...answer.headers, 'cache-control': caching } })
