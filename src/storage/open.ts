import type { Config } from '../config/config.ts'
import type { StoreConfig } from '../config/store-settings.ts'
import { silent, type Telemetry } from '../telemetry/telemetry.ts'
import { createMovingStore, type Places } from './moving.ts'
import { observed } from './observed.ts'
import type { BlobStore } from './store.ts'

/** Opens the configured store: two stores as one while blobs are moved between them. */
export async function openStore(
  config: Config,
  places: Places,
  telemetry = silent,
): Promise<BlobStore> {
  const to = await openDriver(config, telemetry)
  const store = config.moveFrom
    ? createMovingStore({ from: await openDriver(config.moveFrom, telemetry), to, places })
    : to
  return telemetry.isOn ? observed(store, telemetry) : store
}

/** Opens one store. Only this function chooses the driver, and only that driver is loaded. */
export async function openDriver(
  config: StoreConfig,
  telemetry: Telemetry = silent,
): Promise<BlobStore> {
  const { azure, s3, blobDir, blobPublicUrl: publicUrl } = config
  const traceHeaders = telemetry.headers
  if (s3) {
    const { createS3Store } = await import('./s3.ts')
    return createS3Store({ ...s3, publicUrl, traceHeaders })
  }
  if (azure) {
    const { createAzureStore } = await import('./azure.ts')
    return createAzureStore({ ...azure, publicUrl, traceHeaders })
  }
  const { createDiskStore } = await import('./disk.ts')
  return createDiskStore({ dir: blobDir })
}

/** Returns an operator's hint for a store that cannot be used. */
export function storeProblem(
  { azure, s3, blobDir, moveFrom }: Config,
  reason: string,
  code?: string,
): string {
  if (moveFrom)
    return `The blob store, or the one that the settings with MOVE_FROM_ name, cannot be used (${reason}). Start it, or correct these settings.`
  if (s3)
    return s3.accessKeyId
      ? `S3_BUCKET: the bucket ${s3.bucket} at ${s3.endpoint} cannot be used (${reason}). Start the store, or correct the settings that begin with S3_.`
      : `S3_BUCKET: the bucket ${s3.bucket} at ${s3.endpoint} cannot be used with the identity of this machine (${reason}). Start the store, give this service an identity, or set S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY.`
  if (azure?.accountUrl)
    return `AZURE_STORAGE_ACCOUNT_URL: the blob store at ${azure.accountUrl} cannot be used (${reason}). Correct the URL, give this service an identity, or give its identity the role Storage Blob Data Contributor.`
  if (azure)
    return `AZURE_STORAGE_CONNECTION_STRING: the blob store cannot be used (${reason}). Start it, or copy the connection string again.`
  return code === undefined
    ? `BLOB_DIR: ${reason}.`
    : `BLOB_DIR: ${blobDir} cannot be used (${reason}). Let the user that runs Satchel write there, or set another folder.`
}
