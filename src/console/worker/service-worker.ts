import { ARRIVED, takeShared } from './arrived.ts'

interface Built {
  version: string
  assets: string[]
  /** URL prefixes for which the service returns the shell. */
  screens: string[]
}

const worker = self as unknown as ServiceWorkerGlobalScope & { built: Built }
/** The service prepends this data to the script: the build that it belongs to. */
const { version, assets, screens } = worker.built
/** The cache of the console's files, the same for everyone. */
const ASSETS = 'console-'
/**
 * The cache of the shell, which is rendered for one person. The cache name ends with the person's
 * id.
 */
const SHELL = 'shell-'

const mine = ASSETS + version
const isScreen = (path: string) =>
  path === '/' || screens.some(screen => path === screen || path.startsWith(`${screen}/`))

worker.addEventListener('install', event => {
  event.waitUntil(install().then(() => worker.skipWaiting()))
})

worker.addEventListener('activate', event => {
  event.waitUntil(takeOver())
})

worker.addEventListener('message', event => {
  if (event.data?.runs === version) event.waitUntil(removeUnused())
})

worker.addEventListener('fetch', event => {
  const { request } = event
  const { origin, pathname } = new URL(request.url)
  if (origin !== worker.location.origin) return
  // Every kind of sign-out deletes the person's data from this browser.
  if (request.method === 'POST' && pathname === '/logout') event.waitUntil(forgetAll())
  if (request.method === 'POST' && pathname === '/share-target') event.respondWith(share(request))
  if (request.method === 'GET') {
    if (/^\/(console\/assets|brand)\//.test(pathname)) event.respondWith(fromCache(request))
    else if (request.mode === 'navigate' && isScreen(pathname)) event.respondWith(open(event))
  }
})

/**
 * Caches all files of the console. Files that an older version has under the same name are reused.
 */
async function install(): Promise<void> {
  const cache = await caches.open(mine)
  for (const asset of assets) {
    const kept = await caches.match(asset)
    if (kept) await cache.put(asset, kept)
    else await cache.add(asset)
  }
  const shell = await fetch('/files', {
    headers: { accept: 'text/html' },
    redirect: 'manual',
  }).catch(() => null)
  if (shell) await take(shell)
}

/** Notifies open pages of the new version (offline/new-version.tsx). */
async function takeOver(): Promise<void> {
  const old = await otherVersions()
  // Open pages may still request files of the previous version.
  for (const name of old.slice(0, -1)) await caches.delete(name)
  await worker.clients.claim()
  for (const page of await pages()) page.postMessage({ version })
}

/**
 * Called when a page runs this version. If it is the only page, files of other versions are
 * deleted.
 */
async function removeUnused(): Promise<void> {
  if ((await pages()).length === 1)
    for (const name of await otherVersions()) await caches.delete(name)
}

const otherVersions = async () =>
  (await caches.keys()).filter(name => name.startsWith(ASSETS) && name !== mine)
const pages = () => worker.clients.matchAll({ type: 'window', includeUncontrolled: true })

async function share(request: Request): Promise<Response> {
  const shell = (await caches.keys()).find(name => name.startsWith(SHELL))
  return takeShared(request, shell?.slice(SHELL.length) ?? '')
}

async function forgetAll(): Promise<void> {
  await forget()
  await caches.delete(ARRIVED)
}

/**
 * Deletes the data of all other persons. Pages of another account are notified. Shared files wait
 * for a sign-in, because the page knows who owns them.
 */
async function forget(person?: string): Promise<void> {
  for (const name of await caches.keys())
    if (!name.startsWith(ASSETS) && name !== ARRIVED && !(person && name.endsWith(`-${person}`)))
      await caches.delete(name)
  for (const page of await pages()) page.postMessage({ signedIn: person ?? null })
}

/** Files whose URLs change with their content are the same for everyone. */
async function fromCache(request: Request): Promise<Response> {
  return (await caches.match(request.url)) ?? fetch(request)
}

/** The screen from the service, or the stored shell if the service is unreachable. */
async function open(event: FetchEvent): Promise<Response> {
  try {
    const answer = await fetch(event.request)
    // A proxy in front of a service that is down.
    if (answer.status === 502 || answer.status === 503 || answer.status === 504)
      return (await readShell()) ?? answer
    event.waitUntil(take(answer.clone()))
    return answer
  } catch (error) {
    const kept = await readShell()
    if (kept) return kept
    throw error
  }
}

/** The content of a meta tag of the page; undefined if it is missing. */
const metaOf = (html: string, name: string) =>
  new RegExp(`<meta name="${name}" content="([^"]+)"`).exec(html)?.[1]

/**
 * The shell of the last signed-in person, while their session is valid. Undefined if the browser
 * blocks storage.
 */
async function readShell(): Promise<Response | undefined> {
  try {
    const name = (await caches.keys()).find(name => name.startsWith(SHELL))
    const kept = name && (await (await caches.open(name)).match('/'))
    if (!kept) return undefined
    if (Number(metaOf(await kept.clone().text(), 'session-end')) > Date.now()) return kept
    await forget()
  } catch {}
  return undefined
}

/** Records for whom the service rendered the page, and stores the shell if its files are cached. */
async function take(answer: Response): Promise<void> {
  // A redirect to sign-in: the session has ended.
  if (answer.type === 'opaqueredirect' || answer.status === 401 || answer.status === 403)
    return forget()
  if (!answer.ok || answer.type !== 'basic') return
  const copy = answer.clone()
  const html = await answer.text()
  const person = metaOf(html, 'person')
  await forget(person)
  const scripts = [...html.matchAll(/\/console\/assets\/[\w.-]+\.js/g)].map(([path]) => path)
  if (!person || scripts.length === 0 || !scripts.every(path => assets.includes(path))) return
  await (await caches.open(SHELL + person)).put('/', copy)
}
