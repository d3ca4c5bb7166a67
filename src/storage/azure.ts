import { addAbortSignal, Readable } from 'node:stream'
import { BlobSASPermissions, type BlobSASSignatureValues, SASProtocol } from '@azure/storage-blob'
import { Unavailable } from '../runtime/errors.ts'
import { type AzureAccount, connect, publicAddress, writeCorsRule } from './account.ts'
import { bindContainer, readLabel } from './azure-label.ts'
import { blockId, blockSize, maxBlocks, numberOfBlock } from './blocks.ts'
import { readingAtOnce } from './chunks.ts'
import { startCrc32, summed } from './crc32.ts'
import { inOne } from './gather.ts'
import { binding } from './marker.ts'
import { relay } from './relay.ts'
import { isDamaged, isLeased, isMissing, within } from './request.ts'
import {
  BlobMissing,
  type BlobStore,
  BlobsKept,
  BytesDiffer,
  type ReadOptions,
  StoreRefusal,
} from './store.ts'
import {
  commitLimit,
  copyLimit,
  pageLimit,
  pingLimit,
  requestLimit,
  seconds,
  sendLimit,
} from './time-limit.ts'
import { upload, uploadBuffer } from './upload.ts'

const removalsInFlight = 4

export interface AzureOptions extends AzureAccount {
  container: string
  /** The store's URL in signed URLs, if clients use a different one; otherwise empty. */
  publicUrl: string
  /** Headers that continue the trace of a request. */
  traceHeaders?: () => Record<string, string>
}

/** The blobs of one container of an Azure Storage account, or of Azurite. */
export function createAzureStore(options: AzureOptions): BlobStore {
  const { service, signer, isDelegated } = connect(options, options.traceHeaders)
  const container = service.getContainerClient(options.container)
  const address = publicAddress(container.url, options.publicUrl)
  const reading = BlobSASPermissions.parse('r')
  const writing = BlobSASPermissions.parse('w')

  /**
   * Signs access to one blob until `until`. The signature has no start time, because the clocks of
   * clients and the store may differ.
   */
  async function signed(
    key: string,
    until: number,
    right: Omit<BlobSASSignatureValues, 'containerName' | 'blobName'>,
    at = address,
  ): Promise<{ url: string; expiresAt: number }> {
    const { sign, expiresAt } = await signer.prepare(until)
    const query = sign({
      containerName: options.container,
      blobName: key,
      ...(at.startsWith('https:') ? { protocol: SASProtocol.Https } : {}),
      ...right,
    })
    return { url: `${at}/${encodeURIComponent(key)}?${query}`, expiresAt }
  }

  /**
   * The URL from which the store copies a blob. With the account key it needs no signature. With an
   * identity, all versions of the store accept only a signature.
   */
  const sourceOf = async (key: string): Promise<string> =>
    isDelegated
      ? (await signed(key, Date.now() + 2 * copyLimit, { permissions: reading }, container.url)).url
      : container.getBlobClient(key).url

  /**
   * A client that may write to a blob may also lease or snapshot it. Neither must prevent its
   * removal.
   */
  async function removeOne(key: string, abortSignal: AbortSignal): Promise<void> {
    try {
      await dropOne(key, abortSignal)
    } catch (error) {
      if (!isLeased(error)) throw error
      await container.getBlobClient(key).getBlobLeaseClient().breakLease(0, { abortSignal })
      await dropOne(key, abortSignal)
    }
  }

  async function dropOne(key: string, abortSignal: AbortSignal): Promise<void> {
    const blob = container.getBlockBlobClient(key)
    try {
      await blob.delete({ abortSignal, deleteSnapshots: 'include' })
    } catch (error) {
      if (!isMissing(error)) throw error
      // A broken upload leaves blocks without a blob. Azure keeps them for a week and Azurite
      // forever. This drops them.
      const { uncommittedBlocks } = await blob.getBlockList('uncommitted', { abortSignal })
      if (uncommittedBlocks?.length) await blob.commitBlockList([], { abortSignal })
      // No uncommitted blocks: the blob was committed a moment ago.
      await blob.delete({ abortSignal, deleteSnapshots: 'include' })
    }
  }

  async function open(
    key: string,
    { offset = 0, count, signal }: ReadOptions = {},
  ): Promise<Readable> {
    // The SDK reads everything for a count of 0.
    if (count === 0) return Readable.from([])
    const blob = container.getBlobClient(key)
    const { readableStreamBody: body } = await within(requestLimit, signal, async abortSignal => {
      try {
        return await blob.download(offset, count, { abortSignal })
      } catch (error) {
        throw isMissing(error) ? new BlobMissing(key) : error
      }
    })
    if (!(body instanceof Readable))
      throw new TypeError('The blob store sent a response without a body.')
    return signal ? addAbortSignal(signal, body) : body
  }

  return {
    label: `Azure Blob Storage, container ${options.container} of the account ${service.accountName}`,
    maxParts: maxBlocks,
    uploadMemory: { upload: uploadBuffer, part: uploadBuffer },

    ...binding(
      () => readLabel(container),
      wanted => bindContainer(container, options.container, wanted),
    ),

    async prepare() {
      await within(requestLimit, undefined, abortSignal =>
        container.createIfNotExists({ abortSignal }),
      )
    },

    async ping() {
      try {
        await within(pingLimit, undefined, abortSignal => container.getProperties({ abortSignal }))
      } catch (error) {
        throw error instanceof Unavailable ? error : new Unavailable('blob store', error)
      }
    },

    // A container has no size limit.
    space: async () => null,

    put(key, source, options) {
      const blob = container.getBlockBlobClient(key)
      const properties = (checksum: string) => ({
        blobHTTPHeaders: {
          blobContentType: options.contentType,
          blobContentMD5: Buffer.from(checksum, 'hex'),
        },
      })
      // The signal aborts staging only. The request that creates the blob may finish later, after
      // the caller has cleaned up.
      return upload(
        source,
        {
          whole: async (chunks, checksum) => {
            const bytes = inOne(chunks)
            await within(sendLimit(bytes.length), undefined, abortSignal =>
              blob.upload(bytes, bytes.length, { abortSignal, ...properties(checksum) }),
            )
          },
          stage: async (index, bytes, signal) => {
            // An aborted block may still arrive after its upload has been swept.
            const send = (abortSignal: AbortSignal) =>
              blob.stageBlock(blockId(index), bytes, bytes.length, { abortSignal })
            await within(sendLimit(bytes.length), signal, send, seconds)
          },
          commit: async (count, checksum) => {
            const ids = Array.from({ length: count }, (_, index) => blockId(index))
            await within(sendLimit(blockSize), undefined, abortSignal =>
              blob.commitBlockList(ids, { abortSignal, ...properties(checksum) }),
            )
          },
        },
        options,
      )
    },

    addresses: {
      origin: new URL(service.url).origin,

      signUrl(key, { contentType, disposition, seconds: life }) {
        const until = (Math.ceil(Date.now() / 1000) + life) * 1000
        return signed(key, until, {
          permissions: reading,
          contentType,
          contentDisposition: disposition,
        })
      },

      async signParts(key, count, until) {
        const { url } = await signed(key, until, { permissions: writing })
        const block = (number: number) =>
          new URLSearchParams({ comp: 'block', blockid: blockId(number) })
        return Array.from({ length: count }, (_, i) => `${url}&${block(i + 1)}`)
      },

      async allowOrigins(origins) {
        await within(requestLimit, undefined, abortSignal =>
          writeCorsRule(service, options.container, origins, abortSignal),
        )
      },
    },

    async stagePart(key, number, source, { size, md5 }) {
      const blob = container.getBlockBlobClient(key)
      const checked = md5 ? { transactionalContentMD5: Buffer.from(md5, 'hex') } : {}
      const sum = startCrc32()
      await relay(summed(source, sum), (open, broken) =>
        within(sendLimit(size), broken, async (late, pace) => {
          // A store that responds early leaves a connection that waits for the rest of the body.
          // This also concerns earlier attempts.
          const over = new AbortController()
          const abortSignal = AbortSignal.any([late, over.signal])
          try {
            await blob.stageBlock(blockId(number), () => open(pace), size, {
              abortSignal,
              ...checked,
            })
          } catch (error) {
            throw isDamaged(error) ? new BytesDiffer() : error
          } finally {
            over.abort()
          }
        }),
      )
      return sum.hex()
    },

    async partsOf(key) {
      const list = await within(requestLimit, undefined, async abortSignal => {
        try {
          return await container.getBlockBlobClient(key).getBlockList('all', { abortSignal })
        } catch (error) {
          if (isMissing(error)) return undefined
          throw error
        }
      })
      // If a number is in both lists, the uncommitted block is newer.
      const blocks = [...(list?.committedBlocks ?? []), ...(list?.uncommittedBlocks ?? [])]
      const parts = blocks.map(({ name, size }): [number, number] => [numberOfBlock(name), size])
      return new Map(parts.filter(([number]) => !Number.isNaN(number)))
    },

    async commitParts(key, count, { contentType }) {
      const ids = Array.from({ length: count }, (_, i) => blockId(i + 1))
      await within(commitLimit, undefined, abortSignal =>
        container
          .getBlockBlobClient(key)
          .commitBlockList(ids, { abortSignal, blobHTTPHeaders: { blobContentType: contentType } }),
      )
      return {}
    },

    async copy(from, to) {
      await within(copyLimit, undefined, async abortSignal => {
        try {
          const source = await sourceOf(from)
          const copying = await container
            .getBlobClient(to)
            .beginCopyFromURL(source, { abortSignal, intervalInMs: seconds })
          // Aborting the signal that started the poller does not stop the polling.
          abortSignal.addEventListener('abort', () => copying.stopPolling())
          const { copyStatus } = await copying.pollUntilDone()
          if (copyStatus !== 'success')
            throw new Unavailable('blob store', new Error(`A copy failed: ${copyStatus}.`))
        } catch (error) {
          throw isMissing(error) ? new BlobMissing(from) : error
        }
      })
    },

    // The blocks are removed with their blob.
    async endParts() {},
    async tidy() {},

    async describe(key, { contentType, md5 }) {
      const headers = { blobContentType: contentType, blobContentMD5: Buffer.from(md5, 'hex') }
      await within(requestLimit, undefined, abortSignal =>
        container.getBlobClient(key).setHTTPHeaders(headers, { abortSignal }),
      )
    },

    open,
    chunks: readingAtOnce(open),

    async look(key) {
      return within(requestLimit, undefined, async abortSignal => {
        try {
          const { contentLength } = await container
            .getBlobClient(key)
            .getProperties({ abortSignal })
          return { size: contentLength ?? 0 }
        } catch (error) {
          if (isMissing(error)) return null
          throw error
        }
      })
    },

    async remove(keys) {
      const rest = keys.values()
      const kept: { key: string; why: StoreRefusal }[] = []
      const work = async () => {
        for (const key of rest) {
          await within(requestLimit, undefined, async abortSignal => {
            try {
              await removeOne(key, abortSignal)
            } catch (error) {
              if (!isMissing(error)) throw error
            }
          }).catch(error => {
            if (!(error instanceof StoreRefusal)) throw error
            kept.push({ key, why: error })
          })
        }
      }
      await Promise.all(Array.from({ length: removalsInFlight }, work))
      const [first] = kept
      if (first) {
        const keptKeys = kept.map(({ key }) => key)
        throw new BlobsKept(keptKeys, first.why)
      }
    },

    async *list() {
      let continuationToken: string | undefined
      do {
        const page = await within(pageLimit, undefined, async abortSignal => {
          const settings = { maxPageSize: 5000, ...(continuationToken && { continuationToken }) }
          const all = container.listBlobsFlat({ abortSignal, includeUncommitedBlobs: true })
          for await (const first of all.byPage(settings)) return first
          return undefined
        })
        if (!page) return
        for (const { name, properties } of page.segment.blobItems) {
          yield {
            key: name,
            size: properties.contentLength ?? 0,
            // The service does not report the age of uncommitted blocks.
            createdAt: properties.createdOn ?? properties.lastModified ?? new Date(0),
          }
        }
        continuationToken = page.continuationToken || undefined
      } while (continuationToken)
    },
  }
}
