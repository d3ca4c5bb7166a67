import { type Azurite, startAzurite } from '../stores/azure/azurite.ts'
import { makeTemplate } from '../support/templates.ts'

declare global {
  var azurite: Azurite | undefined
}

/** One Azurite for the whole run. Each test application uses its own container in it. */
export default async function setup() {
  await makeTemplate('sqlite')
  globalThis.azurite = await startAzurite()
  process.env.TEST_AZURE = globalThis.azurite.connectionString
}
