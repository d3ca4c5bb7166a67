import { md5 } from './hash.ts'
import { isMissing, type S3Client, S3Error, within } from './s3-client.ts'
import type { Unfinished } from './s3-listing.ts'
import { StoreRefusal } from './store.ts'
import { commitLimit, copyLimit, requestLimit, seconds, sendLimit } from './time-limit.ts'
import { encodeXml, textOf } from './xml.ts'

const MiB = 1024 * 1024
/** The S3 limit for one request or part. */
export const largestCopy = 5 * 1024 * MiB
/** The S3 limit for the number of parts. */
const maxParts = 10_000
/** Usual part size in bytes. S3 requires at least 5 MiB, except for the last part. */
export const usualPart = 8 * MiB

/**
 * Returns the part size for an object. All parts have the same size, because some stores require
 * that.
 */
export const partSizeFor = (total: number): number =>
  Math.max(usualPart, Math.ceil(total / maxParts / MiB) * MiB)

export const md5Header = (hex: string) => ({
  'Content-MD5': Buffer.from(hex, 'hex').toString('base64'),
})

/** Assembles one object from parts in the store. */
export interface Multipart {
  /** @param index from 0 */
  send(index: number, bytes: Uint8Array, signal: AbortSignal): Promise<void>
  /**
   * @param source the header that names another object
   * @param range its bytes from the first to the last
   */
  copy(index: number, source: string, range: string): Promise<void>
  complete(count: number, total: number): Promise<void>
  /** Discards the sent parts. Never rejects, because leftovers are removed with the blob. */
  abort(): Promise<void>
}

export const abortMultipart = (
  client: S3Client,
  { object, uploadId }: Pick<Unfinished, 'object' | 'uploadId'>,
) =>
  within(requestLimit, undefined, async late => {
    try {
      await client.ask({ method: 'DELETE', object, query: { uploadId } }, late)
    } catch (error) {
      if (!isMissing(error)) throw error
    }
  })

/**
 * Starts a multipart upload when its first part arrives.
 * @param headers headers of the request that creates the object
 */
export function startMultipart(
  client: S3Client,
  object: string,
  headers: Record<string, string>,
): Multipart {
  const etags: string[] = []
  let begun: Promise<string> | undefined
  const idOf = () => {
    begun ??= within(requestLimit, undefined, async late => {
      const { body } = await client.ask(
        { method: 'POST', object, query: { uploads: '' }, headers },
        late,
      )
      return textOf(body, 'UploadId')
    })
    return begun
  }

  return {
    async send(index, bytes, signal) {
      if (index >= maxParts)
        throw new StoreRefusal(
          400,
          `An object has up to ${maxParts} parts. Send a file of this size as an upload in parts.`,
        )
      const query = { partNumber: index + 1, uploadId: await idOf() }
      const checksum = md5Header(await md5(bytes))
      const send = async (late: AbortSignal) => {
        const sent = await client.ask(
          { method: 'PUT', object, query, headers: checksum, body: bytes },
          late,
        )
        etags[index] = sent.headers.etag ?? ''
      }
      // An aborted part may still arrive after its upload has been aborted.
      await within(sendLimit(bytes.length), signal, send, seconds)
    },

    async copy(index, source, range) {
      const query = { partNumber: index + 1, uploadId: await idOf() }
      const from = { 'x-amz-copy-source': source, 'x-amz-copy-source-range': `bytes=${range}` }
      await within(copyLimit, undefined, async late => {
        const { body } = await client.ask({ method: 'PUT', object, query, headers: from }, late)
        etags[index] = textOf(body, 'ETag')
      })
    },

    async complete(count, total) {
      const parts = etags
        .slice(0, count)
        .map(
          (etag, i) =>
            `<Part><PartNumber>${i + 1}</PartNumber><ETag>${encodeXml(etag)}</ETag></Part>`,
        )
      const body = `<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`
      const uploadId = await idOf()
      await within(commitLimit, undefined, async late => {
        try {
          await client.ask({ method: 'POST', object, query: { uploadId }, body }, late)
        } catch (error) {
          // An attempt whose response was lost has completed the upload.
          if (!(error instanceof S3Error) || error.code !== 'NoSuchUpload') throw error
          const { headers } = await client
            .ask({ method: 'HEAD', object }, late)
            .catch(() => ({ headers: {} }))
          if (Number((headers as Record<string, unknown>)['content-length']) !== total) throw error
        }
      })
    },

    async abort() {
      const uploadId = await begun?.catch(() => undefined)
      if (uploadId) await abortMultipart(client, { object, uploadId }).catch(() => {})
    },
  }
}

/** Copies an object that is too large for one request, in ranges. */
export async function copyLarge(
  client: S3Client,
  source: string,
  size: number,
  object: string,
  headers: Record<string, string>,
): Promise<void> {
  const multipart = startMultipart(client, object, headers)
  const step = Math.max(largestCopy / 5, partSizeFor(size))
  const count = Math.ceil(size / step)
  try {
    for (let i = 0; i < count; i++)
      await multipart.copy(i, source, `${i * step}-${Math.min(size, (i + 1) * step) - 1}`)
    await multipart.complete(count, size)
  } catch (error) {
    await multipart.abort()
    throw error
  }
}
