import { ARRIVED, takeShared } from './arrived.ts'

interface Built {
  version: string
  assets: string[]
  /** The addresses that the service answers with the shell, with all below them. */
  screens: string[]
}

const worker = self as unknown as ServiceWorkerGlobalScope & { built: Built }
/** What the service says before this script: what the console was built from. */
const { version, assets, screens } = worker.built
/** Files of the console, the same for everyone. */
const ASSETS = 'console-'
/**
 * The page that loads them, as it was made for a person: the name of theirs ends with who that is.
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
  // However one signs out: what belongs to the person goes from this browser.
  if (request.method === 'POST' && pathname === '/logout') event.waitUntil(forgetAll())
  if (request.method === 'POST' && pathname === '/share-target') event.respondWith(share(request))
  if (request.method === 'GET') {
    if (pathname.startsWith('/console/assets/')) event.respondWith(fromCache(request))
    else if (request.mode === 'navigate' && isScreen(pathname)) event.respondWith(open(event))
  }
})

/**
 * Keeps all files of the console; those that an older one has had under the same name are not
 * loaded again.
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

/** The pages that are open learn which version there is now (offline/new-version.tsx). */
async function takeOver(): Promise<void> {
  const old = await otherVersions()
  // A page that is open may still ask for files of the version before.
  for (const name of old.slice(0, -1)) await caches.delete(name)
  await worker.clients.claim()
  for (const page of await pages()) page.postMessage({ version })
}

/**
 * A page runs this version: if it is the only page, files of other versions are no longer needed.
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
 * Keeps only data of this person, if there is one. Pages that were made for another account are
 * notified. What was shared waits for a sign-in; the page knows whose it is.
 */
async function forget(person?: string): Promise<void> {
  for (const name of await caches.keys())
    if (!name.startsWith(ASSETS) && name !== ARRIVED && !(person && name.endsWith(`-${person}`)))
      await caches.delete(name)
  for (const page of await pages()) page.postMessage({ signedIn: person ?? null })
}

/** Files named after their content are the same for all people. */
async function fromCache(request: Request): Promise<Response> {
  return (await caches.match(request.url)) ?? fetch(request)
}

/** The screen as the service answers it; when it is not reached, the shell that was kept. */
async function open(event: FetchEvent): Promise<Response> {
  try {
    const answer = await fetch(event.request)
    // A proxy before a service that is down.
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

/** What a page says of itself; undefined if it does not. */
const metaOf = (html: string, name: string) =>
  new RegExp(`<meta name="${name}" content="([^"]+)"`).exec(html)?.[1]

/**
 * The shell of who was signed in last, as long as their session lasts; undefined, too, where the
 * browser stores nothing.
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

/**
 * Takes note of whom the service has made a screen for, and keeps the shell, if this is one whose
 * files are here.
 */
async function take(answer: Response): Promise<void> {
  // It leads to sign-in: the session has ended.
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
