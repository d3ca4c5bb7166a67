import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Azurite, startAzurite } from '../src/embedded/azurite.ts'

declare global {
  var azurite: Azurite | undefined
}

/** One Azurite for the whole run; every test application uses a container of its own in it. */
export default async function globalSetup() {
  if (globalThis.azurite) return
  globalThis.azurite = await startAzurite({ dir: mkdtempSync(join(tmpdir(), 'satchel-azurite-')), port: 0 })
  process.env.TEST_AZURE = globalThis.azurite.connectionString
}
