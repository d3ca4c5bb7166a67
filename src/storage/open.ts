import type { Config } from '../config.ts'
import { createAzureStore } from './azure.ts'
import { createDiskStore } from './disk.ts'
import type { BlobStore } from './store.ts'

/** The store that the settings name. The one place that chooses. */
export function openStore(config: Config): BlobStore {
  if (!config.azureConnectionString) return createDiskStore({ dir: config.blobDir })
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
