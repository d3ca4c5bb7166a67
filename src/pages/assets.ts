import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Incoming } from '../http/incoming.ts'
import { makeStatic, sendStatic } from '../http/static.ts'
import { AppError } from '../runtime/errors.ts'

const BASE = '/pages/'
const YEAR_SECONDS = 365 * 86_400

const files = await Promise.all([
  load('style.css', 'text/css; charset=utf-8', ['tokens.css', 'style.css']),
  load('folder.css', 'text/css; charset=utf-8'),
  load('script.js', 'text/javascript; charset=utf-8'),
  load('folder.js', 'text/javascript; charset=utf-8'),
  load('request.js', 'text/javascript; charset=utf-8'),
])

/** @param parts the files in `views` that it is made of */
async function load(name: string, type: string, parts = [name]) {
  const body = parts.map(part => readFileSync(new URL(`views/${part}`, import.meta.url), 'utf8')).join('\n')
  const hash = createHash('sha256').update(body).digest('hex').slice(0, 16)
  const answer = await makeStatic(body, { 'content-type': type })
  return { name, answer, path: BASE + name.replace('.', `.${hash}.`) }
}

/** The addresses of the files that pages load: a new content has a new address. */
export const assets: Record<string, string> = Object.fromEntries(files.map(({ name, path }) => [name, path]))

/** @throws ROUTE_NOT_FOUND */
export function sendAsset({ req, res, token }: Pick<Incoming, 'req' | 'res'> & { token: string }): undefined {
  const file = files.find(({ name }) => new RegExp(`^${name.replace('.', '\\.[0-9a-f]{16}\\.')}$`).test(token))
  if (!file) throw new AppError('ROUTE_NOT_FOUND', 'There is nothing at this URL.')
  // While instances of two versions run, one is asked for the other's files: its own are better than none, for now.
  const caching = file.path === BASE + token ? `public, max-age=${YEAR_SECONDS}, immutable` : 'no-cache'
  sendStatic(req, res, { ...file.answer, headers: { ...file.answer.headers, 'cache-control': caching } })
}
