import { Unavailable } from '../runtime/errors.ts'
import { type Expiring, type Renewed, renewed } from './renewed.ts'

/** The credentials for a bucket: a fixed key, or an identity that AWS tools find. */
export interface S3Identity {
  /** The fixed key; empty to use the identity of this machine. */
  accessKeyId: string
  secretAccessKey: string
  region: string
  /** The profile of the AWS configuration files; empty to search all sources. */
  profile?: string
}

/** The key that signs requests. A key with a session token is temporary. */
export interface S3Credential extends Expiring {
  accessKeyId: string
  secretAccessKey: string
  sessionToken?: string
}

/** The library would otherwise write to the console. */
class NoOpLogger {
  debug() {}
  info() {}
  warn() {}
  error() {}
}

/**
 * The provider chain of the AWS SDK: environment, profiles, web identity (IRSA), containers (ECS,
 * EKS Pod Identity), and the metadata service of EC2. Its packages are loaded on first use.
 */
async function chainOf({ region, profile }: S3Identity) {
  const { defaultProvider } = await import('@aws-sdk/credential-provider-node')
  return defaultProvider({
    ...(profile ? { profile } : {}),
    clientConfig: { region },
    logger: new NoOpLogger(),
  })
}

/** The credential of a bucket, renewed while the service runs. @throws Unavailable */
export function credentialOf(identity: S3Identity): Renewed<S3Credential> {
  const { accessKeyId, secretAccessKey } = identity
  if (accessKeyId) {
    const fixed = { accessKeyId, secretAccessKey }
    return { get: async () => fixed, replace: async () => undefined }
  }
  let chain: ReturnType<typeof chainOf> | undefined
  return renewed(async () => {
    try {
      chain ??= chainOf(identity)
      // `renewed` decides when to fetch: the library must not use its cache.
      const found = await (await chain)({ forceRefresh: true })
      return {
        accessKeyId: found.accessKeyId,
        secretAccessKey: found.secretAccessKey,
        ...(found.sessionToken ? { sessionToken: found.sessionToken } : {}),
        expiresAt: found.expiration?.getTime(),
      }
    } catch (error) {
      const reason = error instanceof Error ? error.message.split('\n', 1)[0] : String(error)
      throw new Unavailable('blob store', new Error(`No credentials for the S3 store: ${reason}`))
    }
  })
}
