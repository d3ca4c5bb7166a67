import { type S3Client, within } from './s3-client.ts'
import { pageLimit } from './time-limit.ts'
import { elementsOf, textOf } from './xml.ts'

/** An object of a bucket. */
export interface Listed {
  object: string
  size: number
  etag: string
  modifiedAt: Date
}

/** An unfinished multipart upload. */
export interface Unfinished {
  object: string
  uploadId: string
  startedAt: Date
}

const isTruncated = (xml: string) => textOf(xml, 'IsTruncated') === 'true'

/**
 * Objects in name order.
 * @param limit milliseconds for a page
 */
export async function* objectsOf(
  client: S3Client,
  prefix: string,
  { limit = pageLimit, signal }: { limit?: number; signal?: AbortSignal | undefined } = {},
): AsyncGenerator<Listed> {
  let after: Record<string, string> = {}
  do {
    const query = { 'list-type': '2', prefix, ...after }
    const { body } = await within(limit, signal, late => client.ask({ method: 'GET', query }, late))
    for (const xml of elementsOf(body, 'Contents'))
      yield {
        object: textOf(xml, 'Key'),
        size: Number(textOf(xml, 'Size')),
        etag: textOf(xml, 'ETag'),
        modifiedAt: new Date(textOf(xml, 'LastModified')),
      }
    after = isTruncated(body) ? { 'continuation-token': textOf(body, 'NextContinuationToken') } : {}
  } while (after['continuation-token'])
}

/** The folders directly below a prefix that ends with a slash, in order, without their slashes. */
export async function* foldersOf(client: S3Client, prefix: string): AsyncGenerator<string> {
  let after: Record<string, string> = {}
  do {
    const query = { 'list-type': '2', prefix, delimiter: '/', ...after }
    const { body } = await within(pageLimit, undefined, late =>
      client.ask({ method: 'GET', query }, late),
    )
    for (const xml of elementsOf(body, 'CommonPrefixes'))
      yield textOf(xml, 'Prefix').slice(prefix.length, -1)
    after = isTruncated(body) ? { 'continuation-token': textOf(body, 'NextContinuationToken') } : {}
  } while (after['continuation-token'])
}

/** Unfinished multipart uploads, in the order of their object names. */
export async function* unfinishedOf(client: S3Client, prefix: string): AsyncGenerator<Unfinished> {
  let after: Record<string, string> = {}
  do {
    const query = { uploads: '', prefix, ...after }
    const { body } = await within(pageLimit, undefined, late =>
      client.ask({ method: 'GET', query }, late),
    )
    for (const xml of elementsOf(body, 'Upload'))
      yield {
        object: textOf(xml, 'Key'),
        uploadId: textOf(xml, 'UploadId'),
        startedAt: new Date(textOf(xml, 'Initiated')),
      }
    after = isTruncated(body)
      ? {
          'key-marker': textOf(body, 'NextKeyMarker'),
          'upload-id-marker': textOf(body, 'NextUploadIdMarker'),
        }
      : {}
  } while (after['key-marker'])
}

/** Merges streams that are sorted by key. For equal keys, the item of the first stream wins. */
export async function* merged<T extends { key: string }>(
  ...streams: AsyncGenerator<T>[]
): AsyncGenerator<T> {
  const heads = await Promise.all(
    streams.map(async stream => ({ stream, next: await stream.next() })),
  )
  for (;;) {
    const waiting = heads.flatMap(({ next }) => (next.done ? [] : [next.value]))
    const [first] = waiting.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
    if (!first) return
    yield first
    for (const head of heads)
      while (!head.next.done && head.next.value.key === first.key)
        head.next = await head.stream.next()
  }
}
