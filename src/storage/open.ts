import type { Config } from '../config/config.ts'
import { silent, type Telemetry } from '../telemetry/telemetry.ts'
import { observed } from './observed.ts'
import type { BlobStore } from './store.ts'

/** The store that the settings name. The one place that chooses; the other driver is not loaded. */
export async function openStore(config: Config, telemetry = silent): Promise<BlobStore> {
  const store = await openDriver(config, telemetry)
  return telemetry.isOn ? observed(store, telemetry) : store
}

async function openDriver(config: Config, telemetry: Telemetry): Promise<BlobStore> {
  if (!config.azureConnectionString) {
    const { createDiskStore } = await import('./disk.ts')
    return createDiskStore({ dir: config.blobDir })
  }
  const { createAzureStore } = await import('./azure.ts')
  return createAzureStore({
    connectionString: config.azureConnectionString,
    container: config.azureContainer,
    publicUrl: config.blobPublicUrl,
    traceHeaders: telemetry.headers,
  })
}

/** What an operator does about a store that cannot be used. */
export function storeProblem({ azureConnectionString, blobDir }: Config, reason: string, code?: string): string {
  if (azureConnectionString)
    return `AZURE_STORAGE_CONNECTION_STRING: the blob store cannot be used (${reason}). Start it, or copy the connection string again.`
  return code === undefined
    ? `BLOB_DIR: ${reason}.`
    : `BLOB_DIR: ${blobDir} cannot be used (${reason}). Let the user that runs Satchel write there, or set another folder.`
}
