import { hash, randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import escapeHtml from 'escape-html'
import type { ShownBrand } from '../http/brand.ts'
import { makeStatic, type StaticAnswer, sendStatic } from '../http/static.ts'
import { write } from '../http/write.ts'
import { AppError } from '../runtime/errors.ts'
import type { Log } from '../runtime/log.ts'
import type { DownloadService } from '../services/sharing/download.ts'
import { pageHeaders, policyOf } from './headers.ts'
import { welcomePage } from './home.ts'
import { workerHeaders } from './no-console.ts'
import { type Reply, signInAt, type Visit } from './visit.ts'

/** The built web console, in memory. */
export interface Console {
  /** The HTML page of every screen. */
  shell: string
  /** By file name. */
  assets: Map<string, StaticAnswer>
  /** The files of the installed app: service worker and manifest. */
  worker: StaticAnswer
  manifest: StaticAnswer
}

/** URL paths of the console's screens. The console routes them itself. */
const screens = [
  '/start',
  '/files',
  '/pictures',
  '/shared',
  '/links',
  '/requests',
  '/search',
  '/workspaces',
  '/trash',
  '/activity',
  '/account',
  '/admin',
  '/connect',
  '/developers',
]

export const consolePaths = screens.flatMap(path => [path, `${path}/*`])

const types: Record<string, string> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
}

/** `dist/console` of this package, for both source and compiled runs. */
const folder = new URL('dist/console/', import.meta.resolve('#package.json'))

/** Reads the output of `npm run build:console`; null without a build. */
export async function openConsole(log: Log, brand: ShownBrand): Promise<Console | null> {
  const built = await readFile(new URL('index.html', folder), 'utf8').catch(() => null)
  if (built === null) {
    log.warn('the web console is not built: npm run build:console builds it')
    return null
  }
  const page = branded(built, brand)
  const assets = new Map<string, StaticAnswer>()
  // Reads hundreds of files one by one, because that takes a third of the CPU time, and nobody is
  // served yet.
  const read = (name: string) => readFileSync(new URL(`assets/${name}`, folder))
  for (const name of readdirSync(new URL('assets/', folder))) {
    if (!types[extname(name)]) continue
    const headers = {
      'content-type': types[extname(name)] ?? '',
      'cache-control': 'public, max-age=31536000, immutable',
      vary: 'Accept-Encoding',
      // For the hash worker of uploads, which uses WebAssembly. The policy of the page applies to
      // other scripts.
      'content-security-policy': "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'",
    }
    const packed: StaticAnswer['packed'] = [
      ['br', read(`${name}.br`)],
      ['gzip', read(`${name}.gz`)],
    ]
    assets.set(name, { plain: read(name), packed, headers })
  }
  const names = [...assets.keys()]
  // Changes whenever any file of the console changes.
  const version = hash('sha256', [page, ...names].join('\n')).slice(0, 16)
  const worker = await workerOf(
    await readFile(new URL('service-worker.js', folder), 'utf8'),
    version,
    [...names.map(name => `/console/assets/${name}`), ...[brand.logo, brand.style].filter(isText)],
  )
  const app = JSON.parse(await readFile(new URL('manifest.webmanifest', folder), 'utf8'))
  const named = JSON.stringify({ ...app, name: brand.name, short_name: brand.name })
  const manifest = await makeStatic(named, {
    'content-type': 'application/manifest+json',
    'cache-control': 'public, max-age=3600',
  })
  return { shell: page.replace('{version}', version), assets, worker, manifest }
}

/** The page of the console with the name, logo, colours and links of this installation. */
function branded(page: string, { name, logo, style, links }: ShownBrand): string {
  const values = {
    brandName: name,
    brandLogo: logo ?? '',
    brandLinks: JSON.stringify(links),
  }
  const filled = Object.entries(values).reduce(
    // A value must not contain a placeholder that is filled later.
    (text, [key, value]) =>
      text.replaceAll(`{${key}}`, () => escapeHtml(value).replaceAll('{', '&#123;')),
    page,
  )
  const image = logo && `<img class="logo" src="${escapeHtml(logo)}" alt="">`
  return filled
    .replace(/<svg class="logo"[\s\S]*?<\/svg>/, drawn => image ?? drawn)
    .replace('{brandStyle}', style ? `<link rel="stylesheet" href="${style}">\n` : '')
}

const isText = (path: string | null) => path !== null

/** The service worker of a build, with its list of files. */
const workerOf = (script: string, version: string, assets: string[]): Promise<StaticAnswer> => {
  const built = { version, screens, assets }
  return makeStatic(`self.built=${JSON.stringify(built)};\n${script}`, workerHeaders)
}

interface ConsoleOptions {
  /** The origin of the blob store, if browsers reach it directly. */
  storeOrigin: DownloadService['storeOrigin']
  /** Whether the service has GraphiQL. The console then links to it. */
  graphiql: boolean
  /** Whether the apps of Nextcloud and ownCloud can connect. The console then says how. */
  apps: boolean
}

export function consolePages(
  { shell, assets, worker, manifest }: Console,
  { storeOrigin, graphiql, apps }: ConsoleOptions,
) {
  const page = shell.replaceAll('{graphiql}', String(graphiql)).replaceAll('{apps}', String(apps))
  const store = storeOrigin ?? ''
  const fromStore = { 'media-src': store, 'connect-src': store, 'object-src': store }

  /** The console for a signed-in person. Others sign in first. */
  async function show(visit: Visit): Promise<Reply> {
    const { req, res } = visit
    const caller = await visit.caller()
    if (!caller) return { to: signInAt(req.url ?? '/') }
    // The UI library adds a few inline styles to the page.
    const nonce = randomBytes(16).toString('base64')
    const policy = policyOf({
      ...fromStore,
      'img-src': `blob: ${store}`.trim(),
      // Documents are shown in a frame from a blob: URL.
      'frame-src': `blob: ${store}`.trim(),
      'style-src': `'nonce-${nonce}'`,
      'worker-src': "'self'",
      'manifest-src': "'self'",
    })
    write(res, req, {
      status: 200,
      headers: { ...pageHeaders, 'content-security-policy': policy },
      body: page
        .replaceAll('{nonce}', nonce)
        .replace('{person}', caller.userId)
        .replace('{sessionEnd}', String(caller.expiresAt)),
    })
    return undefined
  }

  return {
    show,

    /** `/`: the console or the landing page. */
    home: async (visit: Visit): Promise<Reply> =>
      (await visit.caller()) ? show(visit) : welcomePage(visit),

    async worker({ req, res }: Visit): Promise<Reply> {
      sendStatic(req, res, worker)
      return undefined
    },

    /**
     * Target for files that the system shares with the installed console. The service worker
     * normally handles it, but this browser has none.
     */
    async shared(): Promise<Reply> {
      return { to: '/files?unshared=true' }
    },

    async manifest({ req, res }: Visit): Promise<Reply> {
      sendStatic(req, res, manifest)
      return undefined
    },

    /** @throws ROUTE_NOT_FOUND */
    async asset({ req, res, token }: Visit): Promise<Reply> {
      const asset = assets.get(token)
      if (!asset)
        throw new AppError('ROUTE_NOT_FOUND', 'There is nothing at this URL. Load the page again.')
      sendStatic(req, res, asset)
      return undefined
    },
  }
}
