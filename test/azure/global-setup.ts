import { type Azurite, startAzurite } from './azurite.ts'

declare global {
  var azurite: Azurite | undefined
}

/** One Azurite for the whole run; every test application uses a container of its own in it. */
export default async function globalSetup() {
  if (globalThis.azurite) return
  globalThis.azurite = await startAzurite()
  process.env.TEST_AZURE = globalThis.azurite.connectionString
}
