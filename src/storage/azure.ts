import { addAbortSignal, Readable } from 'node:stream'
import {
  BlobSASPermissions,
  BlobServiceClient,
  generateBlobSASQueryParameters,
  newPipeline,
  RestError,
  StorageSharedKeyCredential,
} from '@azure/storage-blob'
import { Unavailable } from '../errors.ts'
import { keepAliveAgent } from './agent.ts'
import { blockSize } from './blocks.ts'
import { BlobMissing, type BlobStore } from './store.ts'
import { upload } from './upload.ts'

export { BlobMissing, type BlobStore, type PutOptions } from './store.ts'

const seconds = 1000
const requestLimit = 8 * seconds
/** Of a request that carries bytes: a minute for a block, because many may share a thin line. */
const sendLimit = (bytes: number) => requestLimit + (52 * seconds * bytes) / blockSize
const pageLimit = 30 * seconds
const pingLimit = 2 * seconds
const removalsInFlight = 4

/** Four tries within two seconds: enough for an embedded store that is being restarted, soon over for a dead one. */
const retryOptions = { maxTries: 4, retryDelayInMs: 400, maxRetryDelayInMs: 2 * seconds }

const isMissing = (error: unknown) => error instanceof RestError && error.statusCode === 404

/** What an error of the SDK means here. Only its gist is kept: the whole holds headers and addresses with signatures. */
function explain(error: unknown, late: boolean): unknown {
  if (late) return new Unavailable('blob store', new Error('The blob store did not answer in time.'))
  if (!(error instanceof RestError)) return error
  const gist = new Error([error.statusCode, error.code, error.message.split('\n', 1)[0]].filter(Boolean).join(' '))
  const refused = error.statusCode !== undefined && error.statusCode < 500 && ![408, 429].includes(error.statusCode)
  if (!refused) return new Unavailable('blob store', gist)
  return new Error(`The blob store refused a request: ${gist.message}`)
}

/** Runs a request that ends when the limit is over or the signal fires, and says what its error means. */
async function within<T>(
  limit: number,
  signal: AbortSignal | undefined,
  request: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted()
  const control = new AbortController()
  let late = false
  const stop = () => control.abort()
  const timer = setTimeout(() => {
    late = true
    stop()
  }, limit)
  signal?.addEventListener('abort', stop)
  try {
    return await request(control.signal)
  } catch (error) {
    signal?.throwIfAborted()
    throw explain(error, late)
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', stop)
  }
}

function connect(connectionString: string) {
  const { credential, url } = BlobServiceClient.fromConnectionString(connectionString)
  if (!(credential instanceof StorageSharedKeyCredential))
    throw new Error('The connection string must hold AccountName and AccountKey.')
  const { protocol, hostname } = new URL(url)
  const agent = keepAliveAgent(protocol)
  const here = hostname === 'localhost' || hostname === '[::1]' || hostname.startsWith('127.')
  const pipeline = newPipeline(credential, { retryOptions })
  pipeline.factories.push({
    create: next => ({
      sendRequest: request => {
        // An agent that is there already is one for the proxy that the environment names: not meant for this machine.
        if (here || !request.agent) request.agent = agent
        return next.sendRequest(request)
      },
    }),
  })
  return { service: new BlobServiceClient(url, pipeline), credential }
}

/** The address of a container as clients see it: a `publicUrl` without a path stands for the host only. */
function publicAddress(containerUrl: string, publicUrl: string): string {
  if (!publicUrl) return containerUrl
  const shown = new URL(publicUrl)
  const path = new URL(containerUrl).pathname
  const name = path.slice(path.lastIndexOf('/'))
  return shown.pathname === '/'
    ? `${shown.origin}${path}`
    : `${shown.origin}${shown.pathname.replace(/\/+$/, '')}${name}`
}

/**
 * The blobs of one container of an Azure Storage account, or of Azurite.
 * @param options `publicUrl`: address of the store in signed URLs, if clients see another; empty if they do not
 */
export function createBlobStore(options: {
  connectionString: string
  container: string
  publicUrl: string
}): BlobStore {
  const { service, credential } = connect(options.connectionString)
  const container = service.getContainerClient(options.container)
  const address = publicAddress(container.url, options.publicUrl)
  const permissions = BlobSASPermissions.parse('r')

  async function removeOne(key: string, abortSignal: AbortSignal): Promise<void> {
    const blob = container.getBlockBlobClient(key)
    try {
      await blob.delete({ abortSignal })
    } catch (error) {
      if (!isMissing(error)) throw error
      // A broken upload leaves blocks and no blob. Azure keeps them a week and Azurite for ever; this drops them.
      const { uncommittedBlocks } = await blob.getBlockList('uncommitted', { abortSignal })
      if (!uncommittedBlocks?.length) return
      await blob.commitBlockList([], { abortSignal })
      await blob.delete({ abortSignal })
    }
  }

  return {
    async ensureContainer() {
      await within(requestLimit, undefined, abortSignal => container.createIfNotExists({ abortSignal }))
    },

    async ping() {
      try {
        await within(pingLimit, undefined, abortSignal => container.getProperties({ abortSignal }))
      } catch (error) {
        throw error instanceof Unavailable ? error : new Unavailable('blob store', error)
      }
    },

    put(key, source, options) {
      const blob = container.getBlockBlobClient(key)
      const properties = (sum: string) => ({
        blobHTTPHeaders: { blobContentType: options.contentType, blobContentMD5: Buffer.from(sum, 'hex') },
      })
      // Only staging is cut short: what makes a blob appear may do so after the cut, when the caller has cleaned up.
      return upload(
        source,
        {
          whole: async (bytes, sum) => {
            await within(sendLimit(bytes.length), undefined, abortSignal =>
              blob.upload(bytes, bytes.length, { abortSignal, ...properties(sum) }),
            )
          },
          stage: async (id, bytes, signal) => {
            await within(sendLimit(bytes.length), signal, abortSignal =>
              blob.stageBlock(id, bytes, bytes.length, { abortSignal }),
            )
          },
          commit: async (ids, sum) => {
            await within(sendLimit(blockSize), undefined, abortSignal =>
              blob.commitBlockList(ids, { abortSignal, ...properties(sum) }),
            )
          },
        },
        options,
      )
    },

    signUrl(key, { contentType, disposition, seconds: life }) {
      const expiresOn = new Date((Math.ceil(Date.now() / 1000) + life) * 1000)
      const sas = generateBlobSASQueryParameters(
        {
          containerName: options.container,
          blobName: key,
          permissions,
          expiresOn,
          contentType,
          contentDisposition: disposition,
        },
        credential,
      )
      return `${address}/${encodeURIComponent(key)}?${sas}`
    },

    async open(key, { offset = 0, count, signal } = {}) {
      // The SDK takes a count of 0 for everything.
      if (count === 0) return Readable.from([])
      const blob = container.getBlobClient(key)
      const { readableStreamBody: body } = await within(requestLimit, signal, async abortSignal => {
        try {
          return await blob.download(offset, count, { abortSignal })
        } catch (error) {
          throw isMissing(error) ? new BlobMissing(key) : error
        }
      })
      if (!(body instanceof Readable)) throw new TypeError('The blob store answered without a body.')
      return signal ? addAbortSignal(signal, body) : body
    },

    async look(key) {
      return within(requestLimit, undefined, async abortSignal => {
        try {
          const { contentLength } = await container.getBlobClient(key).getProperties({ abortSignal })
          return { size: contentLength ?? 0 }
        } catch (error) {
          if (isMissing(error)) return null
          throw error
        }
      })
    },

    async remove(keys) {
      const rest = keys.values()
      const work = async () => {
        for (const key of rest) {
          await within(requestLimit, undefined, async abortSignal => {
            try {
              await removeOne(key, abortSignal)
            } catch (error) {
              if (!isMissing(error)) throw error
            }
          })
        }
      }
      await Promise.all(Array.from({ length: removalsInFlight }, work))
    },

    async *list() {
      let continuationToken: string | undefined
      do {
        const page = await within(pageLimit, undefined, async abortSignal => {
          const settings = { maxPageSize: 5000, ...(continuationToken && { continuationToken }) }
          for await (const first of container.listBlobsFlat({ abortSignal }).byPage(settings)) return first
          return undefined
        })
        if (!page) return
        for (const { name, properties } of page.segment.blobItems) {
          yield {
            key: name,
            size: properties.contentLength ?? 0,
            createdAt: properties.createdOn ?? properties.lastModified,
          }
        }
        continuationToken = page.continuationToken || undefined
      } while (continuationToken)
    },
  }
}
