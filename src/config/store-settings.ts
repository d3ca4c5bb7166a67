import { resolve } from 'node:path'
import { z } from 'zod'
import { readS3, s3Settings } from './s3-settings.ts'

/** The settings that locate the blobs. */
export const storeSettings = {
  BLOB_DIR: {
    help: 'folder of the blobs, the same for all instances; not used with AZURE_STORAGE_ACCOUNT_URL, AZURE_STORAGE_CONNECTION_STRING or S3_BUCKET',
    default: '',
    shown: '<DATA_DIR>/blobs',
    read: z.string(),
  },
  AZURE_STORAGE_ACCOUNT_URL: {
    help: 'blob endpoint of an Azure Storage account, such as https://account.blob.core.windows.net, to keep the blobs there with the identity of this service (managed identity, workload identity, or AZURE_TENANT_ID, AZURE_CLIENT_ID and AZURE_CLIENT_SECRET) instead of a key',
    default: '',
    shown: 'the blobs are files in BLOB_DIR',
    read: z
      .url({ protocol: /^https$/, error: 'must be a URL that begins with https://' })
      .refine(
        url => !URL.canParse(url) || new URL(url).search === '',
        'must have no query: a signature is not an identity',
      )
      .or(z.literal('')),
  },
  AZURE_STORAGE_CONNECTION_STRING: {
    help: 'connection string of an Azure Storage account, with its key, to keep the blobs there',
    default: '',
    shown: 'the blobs are files in BLOB_DIR',
    read: z.string(),
  },
  AZURE_STORAGE_CONTAINER: {
    help: 'container of the blobs; created if it is missing',
    default: 'satchel',
    read: z
      .string()
      .regex(
        /^[a-z0-9](?!.*--)[a-z0-9-]{1,61}[a-z0-9]$/,
        'must be a container name: 3 to 63 of a-z, 0-9 and -',
      ),
  },
  ...s3Settings,
  BLOB_PUBLIC_URL: {
    help: 'URL of Azure Blob Storage or of the S3 store for clients, used in signed URLs, if it differs from the one that the service uses',
    default: '',
    shown: 'the blob endpoint of the Azure account, or S3_ENDPOINT',
    read: z.url({ protocol: /^https?$/ }).or(z.literal('')),
  },
} as const

/** The parsed settings of a store by name. */
export type StoreValues = {
  [K in keyof typeof storeSettings]: z.output<(typeof storeSettings)[K]['read']>
}

/** The location of the blobs. */
export type StoreConfig = ReturnType<typeof readStore>

/** Microsoft's hosts for signing in identities. */
const knownAuthority = /(^|\.)(microsoftonline\.(com|us|de|cn)|chinacloudapi\.cn)$/

/** The container of the blobs; null if they are not in an Azure account. */
function readAzure(values: StoreValues, env: NodeJS.ProcessEnv, problems: string[]) {
  const {
    AZURE_STORAGE_ACCOUNT_URL: accountUrl,
    AZURE_STORAGE_CONNECTION_STRING: connectionString,
    AZURE_STORAGE_CONTAINER: container,
  } = values
  if (!accountUrl && !connectionString) return null
  if (accountUrl && connectionString)
    problems.push(
      'AZURE_STORAGE_ACCOUNT_URL: cannot be set with AZURE_STORAGE_CONNECTION_STRING: one is for an identity, the other for a key',
    )
  if (
    connectionString &&
    connectionString !== 'UseDevelopmentStorage=true' &&
    !(/AccountName=/.test(connectionString) && /AccountKey=/.test(connectionString))
  )
    problems.push(
      'AZURE_STORAGE_CONNECTION_STRING: must contain AccountName and AccountKey (signed URLs need the key; AZURE_STORAGE_ACCOUNT_URL needs none)',
    )
  // The name that the Azure SDK and its workload identity use.
  const { AZURE_AUTHORITY_HOST: authority = '' } = env
  return {
    accountUrl: accountUrl.replace(/\/+$/, ''),
    connectionString,
    container,
    ownAuthority: URL.canParse(authority) && !knownAuthority.test(new URL(authority).hostname),
  }
}

/** @param dataDir the folder of all data, which holds the blobs by default */
export function readStore(
  values: StoreValues,
  env: NodeJS.ProcessEnv,
  dataDir: string,
  problems: string[],
) {
  const { BLOB_PUBLIC_URL: blobPublicUrl } = values
  const azure = readAzure(values, env, problems)
  return {
    /** Folder of the blobs, unless they are in Azure Blob Storage or in an S3 store. */
    blobDir: resolve(values.BLOB_DIR || `${dataDir}/blobs`),
    azure,
    s3: readS3(values, env, { hasAzure: azure !== null, blobPublicUrl }, problems),
    blobPublicUrl: blobPublicUrl.replace(/\/+$/, ''),
  }
}

/** The prefix of the settings for the source of a blob move. */
export const MOVE_FROM = 'MOVE_FROM_'

/** Exactly one of these settings chooses the kind of store. */
const kinds = [
  'BLOB_DIR',
  'AZURE_STORAGE_ACCOUNT_URL',
  'AZURE_STORAGE_CONNECTION_STRING',
  'S3_BUCKET',
]

/**
 * The source of a blob move: the settings of a store, with a prefix. Null if no move is configured.
 */
export function readMoveFrom(env: NodeJS.ProcessEnv, problems: string[]): StoreConfig | null {
  const names = Object.keys(storeSettings)
  if (!names.some(name => env[MOVE_FROM + name])) return null
  const own: string[] = []
  const read = (name: string) => {
    const setting = storeSettings[name as keyof StoreValues]
    const type: z.ZodType = setting.read
    const result = type.safeParse(env[MOVE_FROM + name] || setting.default)
    if (result.success) return result.data
    own.push(`${name}: ${result.error.issues[0]?.message ?? 'is wrong'}`)
    return type.parse(setting.default)
  }
  const values = Object.fromEntries(names.map(name => [name, read(name)])) as StoreValues
  if (kinds.filter(name => env[MOVE_FROM + name]).length !== 1)
    own.push(
      `BLOB_DIR: one of ${kinds.map(name => MOVE_FROM + name).join(', ')} must be set, and no other`,
    )
  const given = Object.fromEntries(names.map(name => [name, env[MOVE_FROM + name]]))
  const store = readStore(values, { ...env, ...given }, '', own)
  problems.push(...own.map(problem => MOVE_FROM + problem))
  return store
}
