import type { Config } from '../config/config.ts'
import type { BlobStore } from './store.ts'

/** The store that the settings name. The one place that chooses; the other driver is not loaded. */
export async function openStore(config: Config): Promise<BlobStore> {
  if (!config.azureConnectionString) {
    const { createDiskStore } = await import('./disk.ts')
    return createDiskStore({ dir: config.blobDir })
  }
  const { createAzureStore } = await import('./azure.ts')
  return createAzureStore({
    connectionString: config.azureConnectionString,
    container: config.azureContainer,
    publicUrl: config.blobPublicUrl,
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
