// There is no console here any more: what a browser has installed of one goes.
addEventListener('install', () => self.skipWaiting())
addEventListener('activate', event => event.waitUntil(leave()))

async function leave() {
  for (const name of await caches.keys()) await caches.delete(name)
  await self.registration.unregister()
}
