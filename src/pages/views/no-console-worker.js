// There is no console any more: removes everything that a browser has installed.
addEventListener('install', () => self.skipWaiting())
addEventListener('activate', event => event.waitUntil(leave()))

async function leave() {
  for (const name of await caches.keys()) await caches.delete(name)
  await self.registration.unregister()
}
