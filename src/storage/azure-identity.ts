import type { TokenCredential } from '@azure/identity'
import {
  type BlobSASSignatureValues,
  type BlobServiceClient,
  generateBlobSASQueryParameters,
  type UserDelegationKey,
} from '@azure/storage-blob'
import { Unavailable } from '../runtime/errors.ts'
import { renewed } from './renewed.ts'
import { within } from './request.ts'
import { requestLimit } from './time-limit.ts'

/** Error messages of a chain of credentials have many lines. */
const gistLength = 600

/** Signs URLs: with the account key, or with a user delegation key. */
export interface AzureSigner {
  /**
   * Prepares signatures that are needed until `until`. They expire at `expiresAt`, which is earlier
   * if their key expires earlier. Both are milliseconds since the epoch.
   */
  prepare(until: number): Promise<{
    expiresAt: number
    /** The query of a signed URL. */
    sign(values: BlobSASSignatureValues): string
  }>
}

/** Access to an account without its key. */
export interface AzureIdentity {
  /**
   * AZURE_AUTHORITY_HOST is not a Microsoft host, so the library must not try to verify it with
   * Microsoft.
   */
  ownAuthority?: boolean | undefined
  /** Lifetime of a user delegation key, and its renewal interval, in milliseconds. */
  delegation?: { lifeMs: number; refreshMs: number } | undefined
}

/**
 * The identity of this machine or of the environment, by DefaultAzureCredential. The packages are
 * loaded with the first token; the client of the account keeps it, and renews it two minutes before
 * it expires.
 */
export function azureIdentity({ ownAuthority = false }: AzureIdentity): TokenCredential {
  const load = async () => {
    const { DefaultAzureCredential } = await import('@azure/identity')
    return new DefaultAzureCredential({ disableInstanceDiscovery: ownAuthority })
  }
  let credential: Promise<TokenCredential> | undefined
  return {
    async getToken(scopes, options) {
      try {
        credential ??= load()
        return await (await credential).getToken(scopes, options)
      } catch (error) {
        if (options?.abortSignal?.aborted) throw error
        const reason = error instanceof Error ? error.message : String(error)
        const gist = reason.replaceAll(/\s+/g, ' ').slice(0, gistLength)
        throw new Unavailable('blob store', new Error(`No token for the Azure account: ${gist}`))
      }
    },
  }
}

const hourMs = 3600_000
/**
 * A user delegation key lives up to seven days. It is still renewed every hour, so that URLs soon
 * work again after an administrator has revoked the account's keys.
 */
const usual = { lifeMs: 7 * 24 * hourMs - hourMs, refreshMs: hourMs }
/** The clock of the store may be behind. */
const earlierMs = 15 * 60_000
/** A version of signed URLs that all Azure clouds and Azurite know. */
const sasVersion = '2022-11-02'

/** Signs URLs of an account with a cached user delegation key, and renews the key. */
export function delegatedSigner(
  service: BlobServiceClient,
  { delegation: { lifeMs, refreshMs } = usual }: AzureIdentity,
): AzureSigner {
  const keys = renewed(
    async () => {
      const now = Date.now()
      const key: UserDelegationKey = await within(requestLimit, undefined, abortSignal =>
        service.getUserDelegationKey(new Date(now - earlierMs), new Date(now + lifeMs), {
          abortSignal,
        }),
      )
      return { key, expiresAt: key.signedExpiresOn.getTime() }
    },
    { refreshMs },
  )
  return {
    async prepare(until) {
      const { key, expiresAt } = await keys.get(until - Date.now())
      const end = Math.min(until, expiresAt)
      return {
        expiresAt: end,
        sign: (values: BlobSASSignatureValues) =>
          String(
            generateBlobSASQueryParameters(
              { ...values, expiresOn: new Date(end), version: sasVersion },
              key,
              service.accountName,
            ),
          ),
      }
    },
  }
}
