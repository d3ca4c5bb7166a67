import { randomBytes } from 'node:crypto'
import { settingsFor } from '../stores/s3/server.ts'

declare const storeUnderTest: 'disk' | 'azure' | 's3'

/**
 * The settings of a new store of the kind under test, for a service in its own process. Empty for a
 * folder, which is the default.
 */
export function newStoreSettings(): Record<string, string> {
  const name = `t${randomBytes(8).toString('hex')}`
  if (storeUnderTest === 's3') return settingsFor(name)
  if (storeUnderTest === 'azure')
    return {
      AZURE_STORAGE_CONNECTION_STRING: process.env.TEST_AZURE ?? '',
      AZURE_STORAGE_CONTAINER: name,
    }
  return {}
}
