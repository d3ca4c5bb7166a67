import type { TokenCredential } from '@azure/identity'
import {
  BlobServiceClient,
  type CorsRule,
  generateBlobSASQueryParameters,
  newPipeline,
  StorageSharedKeyCredential,
} from '@azure/storage-blob'
import { keepAliveAgent } from './agent.ts'
import {
  type AzureIdentity,
  type AzureSigner,
  azureIdentity,
  delegatedSigner,
} from './azure-identity.ts'
import { seconds } from './time-limit.ts'

/**
 * Four attempts within two seconds: enough to wait for a restart of an embedded store, and short
 * for a dead one.
 */
const retryOptions = { maxTries: 4, retryDelayInMs: 400, maxRetryDelayInMs: 2 * seconds }

/**
 * An account, given by its connection string, or by its URL together with the machine's identity.
 */
export interface AzureAccount extends AzureIdentity {
  /** Empty if a URL is given. */
  connectionString?: string
  accountUrl?: string
}

/**
 * A client of an account, and the signer of its URLs.
 * @throws Error when there is no key
 */
export function connect(
  { connectionString, accountUrl = '', ...identity }: AzureAccount,
  traceHeaders: () => Record<string, string> = () => ({}),
): { service: BlobServiceClient; signer: AzureSigner; isDelegated: boolean } {
  if (!connectionString) {
    const service = clientOf(accountUrl, azureIdentity(identity), traceHeaders)
    return { service, signer: delegatedSigner(service, identity), isDelegated: true }
  }
  const { credential, url } = BlobServiceClient.fromConnectionString(connectionString)
  if (!(credential instanceof StorageSharedKeyCredential))
    throw new Error('The connection string must contain AccountName and AccountKey.')
  return {
    service: clientOf(url, credential, traceHeaders),
    signer: {
      prepare: async until => ({
        expiresAt: until,
        sign: values =>
          String(
            generateBlobSASQueryParameters({ ...values, expiresOn: new Date(until) }, credential),
          ),
      }),
    },
    isDelegated: false,
  }
}

function clientOf(
  url: string,
  credential: StorageSharedKeyCredential | TokenCredential,
  traceHeaders: () => Record<string, string>,
): BlobServiceClient {
  const { protocol, hostname } = new URL(url)
  const agent = keepAliveAgent(protocol)
  const here = hostname === 'localhost' || hostname === '[::1]' || hostname.startsWith('127.')
  const pipeline = newPipeline(credential, { retryOptions })
  pipeline.factories.push({
    create: next => ({
      sendRequest: request => {
        // An existing agent belongs to the proxy from the environment, which must not be used for
        // this machine.
        if (here || !request.agent) request.agent = agent
        for (const [name, value] of Object.entries(traceHeaders())) request.headers.set(name, value)
        return next.sendRequest(request)
      },
    }),
  })
  return new BlobServiceClient(url, pipeline)
}

/** The URL of a container for clients. A `publicUrl` without a path replaces only the origin. */
export function publicAddress(containerUrl: string, publicUrl: string): string {
  if (!publicUrl) return containerUrl
  const shown = new URL(publicUrl)
  const path = new URL(containerUrl).pathname
  const name = path.slice(path.lastIndexOf('/'))
  return shown.pathname === '/'
    ? `${shown.origin}${path}`
    : `${shown.origin}${shown.pathname.replace(/\/+$/, '')}${name}`
}

/**
 * Marks Satchel's CORS rule among the five of an account, by an allowed header that no client
 * sends.
 */
const corsMark = (container: string) => `x-satchel-${container}`
const corsRule = (container: string, origins: string[]): CorsRule => ({
  allowedOrigins: origins.join(','),
  allowedMethods: 'GET,HEAD,PUT,OPTIONS',
  allowedHeaders: `content-type,content-md5,range,x-ms-*,${corsMark(container)}`,
  exposedHeaders: 'accept-ranges,content-disposition,content-length,content-md5,content-range,etag',
  maxAgeInSeconds: 3600,
})

/**
 * Writes the container's CORS rule into its account, and replaces an earlier one. Keeps all other
 * rules.
 */
export async function writeCorsRule(
  service: BlobServiceClient,
  container: string,
  origins: string[],
  abortSignal: AbortSignal,
): Promise<void> {
  const { cors = [] } = await service.getProperties({ abortSignal })
  const ours = corsRule(container, origins)
  const isOurs = (rule: CorsRule) => rule.allowedHeaders.split(',').includes(corsMark(container))
  const same = cors.some(rule =>
    Object.entries(ours).every(([name, value]) => rule[name as keyof CorsRule] === value),
  )
  if (!same)
    await service.setProperties(
      { cors: [...cors.filter(rule => !isOurs(rule)), ours] },
      { abortSignal },
    )
}
