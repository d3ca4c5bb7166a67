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

/** @param parts the files in `views` that it is made of */
async function load(name: string, type: string, parts = [name]) {
  const body = parts
    .map(part => readFileSync(new URL(`views/${part}`, import.meta.url), 'utf8'))
    .join('\n')
  const hash = createHash('sha256').update(body).digest('hex').slice(0, 16)
  const answer = await makeStatic(body, { 'content-type': type })
  return { name, answer, path: BASE + name.replace('.', `.${hash}.`) }
}

/**
 * What `npm run build:pages` has made, packed, by names that follow from their content; nothing
 * when it was not run.
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
      // For the worker that digests uploads, by WebAssembly. Other scripts are bound by the policy
      // of their page.
      'content-security-policy': "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'",
      // The frame that shows documents has no origin.
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
 * The addresses of the files that pages load: a new content has a new address. That of a script
 * that was not built is empty.
 */
export const assets: Record<string, string> = {
  ...Object.fromEntries(files.map(({ name, path }) => [name, path])),
  sender: pathOf(built.entryOf('sender')?.file),
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
  // While instances of two versions run, one is asked for the other's files: its own are better
  // than none, for now.
  const [, own] = [...built.answers].find(([name]) => stemOf(name) === stemOf(token)) ?? []
  if (own) return sendKept(req, res, own, 'no-cache')
  const file = files.find(({ name }) =>
    new RegExp(`^${name.replace('.', '\\.[0-9a-f]{16}\\.')}$`).test(token),
  )
  if (!file) throw new AppError('ROUTE_NOT_FOUND', 'There is nothing at this URL.')
  sendKept(req, res, file.answer, file.path === BASE + token ? KEEP : 'no-cache')
}

/** The name of a built file without the hash of its content. */
const stemOf = (name: string) => name.replace(/-[\w-]{8}(?=\.\w+$)/, '')

/** @param caching what is in its Cache-Control */
const sendKept = (
  req: Incoming['req'],
  res: Incoming['res'],
  answer: StaticAnswer,
  caching: string,
): undefined =>
  void sendStatic(req, res, { ...answer, headers: { ...answer.headers, 'cache-control': caching } })
