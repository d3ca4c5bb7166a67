export default async function globalTeardown() {
  await globalThis.azurite?.stop()
  globalThis.azurite = undefined
}
