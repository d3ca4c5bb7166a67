import { Readable } from 'node:stream'
import { readingAtOnce } from './chunks.ts'
import { startCrc32, summed } from './crc32.ts'
import { inOne } from './gather.ts'
import { binding } from './marker.ts'
import { relay } from './relay.ts'
import { bindBucket, createBucket, readMarker, writeCorsRule } from './s3-bucket.ts'
import { connect, isDamaged, isMissing, type S3Bucket, within } from './s3-client.ts'
import { foldersOf, merged, objectsOf, unfinishedOf } from './s3-listing.ts'
import {
  copyLarge,
  largestCopy,
  md5Header,
  partSizeFor,
  startMultipart,
  usualPart,
} from './s3-multipart.ts'
import { blobs, keyOf, objectOf, objectsIn, partOf, parts } from './s3-objects.ts'
import {
  BlobMissing,
  type BlobStore,
  BlobsKept,
  BytesDiffer,
  type ReadOptions,
  StoreRefusal,
} from './store.ts'
import { copyLimit, pingLimit, requestLimit, seconds, sendLimit } from './time-limit.ts'
import { bufferOf, type Uploaded, type UploadOptions, upload, uploadBuffer } from './upload.ts'

const maxParts = 50_000
const keysInQuestion = 50

export interface S3Options extends S3Bucket {
  /** The store's URL in signed URLs, if clients use a different one; otherwise empty. */
  publicUrl: string
  /** The encryption algorithm for blobs, and the key id; empty for the bucket's default. */
  encryption?: string
  kmsKeyId?: string
  /** The region for creating the bucket; only Amazon requires it. */
  location?: string | undefined
  /** Headers that continue the trace of a request. */
  traceHeaders?: () => Record<string, string>
}

/** The blobs of one bucket of an S3 store. */
export function createS3Store(options: S3Options): BlobStore {
  const client = connect(options, options.traceHeaders)
  const publicUrl = new URL(options.publicUrl || options.endpoint)
  const encryption: Record<string, string> = {
    ...(options.encryption ? { 'x-amz-server-side-encryption': options.encryption } : {}),
    ...(options.kmsKeyId
      ? { 'x-amz-server-side-encryption-aws-kms-key-id': options.kmsKeyId }
      : {}),
  }
  const sourceOf = (key: string) => encodeURI(`/${options.bucket}/${objectOf(key)}`)

  const { receivedOf, openObject, bytesOf, removeObjects, partObjectsOf, withParts, abortAll } =
    objectsIn(client)

  /** Uploads a source in blocks of the given size. Aborts an upload that cannot be completed. */
  async function send(
    key: string,
    source: AsyncIterable<Uint8Array>,
    { contentType, ...admission }: UploadOptions & { contentType: string },
    block: number,
  ): Promise<Uploaded> {
    const object = objectOf(key)
    const headers = { 'Content-Type': contentType, ...encryption }
    const multipart = startMultipart(client, object, headers)
    let total = 0
    try {
      // The signal aborts parts only. The request that creates the blob may finish later, after the
      // caller has cleaned up.
      return await upload(
        source,
        {
          block,
          whole: async (chunks, checksum) => {
            const bytes = inOne(chunks)
            const all = { ...headers, ...md5Header(checksum) }
            await within(sendLimit(bytes.length), undefined, late =>
              client.ask({ method: 'PUT', object, headers: all, body: bytes }, late),
            )
          },
          stage: (index, bytes, signal) => {
            total += bytes.length
            return multipart.send(index, bytes, signal)
          },
          commit: count => multipart.complete(count, total),
        },
        admission,
      )
    } catch (error) {
      await multipart.abort()
      throw error
    }
  }

  const look = (key: string): Promise<{ size: number } | null> =>
    within(requestLimit, undefined, async late => {
      try {
        const { headers } = await client.ask({ method: 'HEAD', object: objectOf(key) }, late)
        return { size: Number(headers['content-length'] ?? 0) }
      } catch (error) {
        if (isMissing(error)) return null
        throw error
      }
    })

  async function open(
    key: string,
    { offset = 0, count, signal }: ReadOptions = {},
  ): Promise<Readable> {
    if (count === 0) return Readable.from([])
    const isAll = offset === 0 && count === undefined
    const range = `bytes=${offset}-${count === undefined ? '' : offset + count - 1}`
    return openObject(
      objectOf(key),
      isAll ? {} : { Range: range },
      signal,
      () => new BlobMissing(key),
    )
  }

  return {
    label: `S3, bucket ${options.bucket} at ${options.endpoint}`,
    maxParts,
    uploadMemory: { upload: bufferOf(usualPart), part: uploadBuffer },

    ...binding(
      () => readMarker(client),
      wanted => bindBucket(client, options.bucket, blobs, wanted),
    ),
    prepare: () => createBucket(client, options.location),

    async ping() {
      await within(pingLimit, undefined, late => client.ask({ method: 'HEAD' }, late))
    },

    // A bucket has no size limit.
    space: async () => null,

    put: (key, source, given) => send(key, source, given, usualPart),

    addresses: {
      origin: client.originAt(publicUrl),

      async signUrl(key, { contentType, disposition, seconds: life }) {
        const query = {
          ...(contentType ? { 'response-content-type': contentType } : {}),
          ...(disposition ? { 'response-content-disposition': disposition } : {}),
        }
        const { sign, expiresAt } = await client.signer(life, publicUrl)
        return { url: sign({ method: 'GET', object: objectOf(key), query }), expiresAt }
      },

      async signParts(key, count, until) {
        const life = Math.floor((until - Date.now()) / seconds)
        const { sign } = await client.signer(life, publicUrl)
        return Array.from({ length: count }, (_, i) =>
          sign({ method: 'PUT', object: partOf(key, i + 1) }),
        )
      },

      async allowOrigins(origins) {
        await within(requestLimit, undefined, late => writeCorsRule(client, origins, late))
      },
    },

    async stagePart(key, number, source, { size, md5 }) {
      const headers = { 'Content-Length': size, ...(md5 ? md5Header(md5) : {}), ...encryption }
      const sum = startCrc32()
      await relay(summed(source, sum), (open, broken) =>
        within(sendLimit(size), broken, async (late, pace) => {
          try {
            const asked = {
              method: 'PUT',
              object: partOf(key, number),
              headers,
              body: () => open(pace),
            } as const
            await client.ask(asked, late)
          } catch (error) {
            throw isDamaged(error) ? new BytesDiffer() : error
          }
        }),
      )
      return sum.hex()
    },

    async partsOf(key) {
      const received = await receivedOf(key)
      return new Map([...received].map(([number, { size }]) => [number, size]))
    },

    async commitParts(key, count, { contentType, signal }) {
      const received = await receivedOf(key, signal)
      const listed = Array.from({ length: count }, (_, i) => {
        const part = received.get(i + 1)
        if (!part) throw new StoreRefusal(400, `Part ${i + 1} is missing.`)
        return part
      })
      const total = listed.reduce((sum, { size }) => sum + size, 0)
      const admit = async () => {}
      const given = { contentType, admit, ...(signal ? { signal } : {}) }
      const { md5, crc32 } = await send(key, bytesOf(listed, signal), given, partSizeFor(total))
      return { md5, crc32 }
    },

    async copy(from, to) {
      const found = await look(from)
      if (!found) throw new BlobMissing(from)
      const object = objectOf(to)
      if (found.size > largestCopy)
        return copyLarge(client, sourceOf(from), found.size, object, encryption)
      await within(copyLimit, undefined, async late => {
        const headers = { 'x-amz-copy-source': sourceOf(from), ...encryption }
        try {
          await client.ask({ method: 'PUT', object, headers }, late)
        } catch (error) {
          throw isMissing(error) ? new BlobMissing(from) : error
        }
      })
    },

    async endParts(key) {
      const [kept] = (await removeObjects(await partObjectsOf([key]))).values()
      if (kept) throw kept
    },

    async tidy(finished) {
      const open = new Set<string>()
      for await (const key of foldersOf(client, parts)) open.add(key)
      for await (const { object } of unfinishedOf(client, blobs)) open.add(keyOf(object))
      const keys = [...open]
      for (let at = 0; at < keys.length; at += keysInQuestion) {
        const over = await finished(keys.slice(at, at + keysInQuestion))
        if (over.length === 0) continue
        await abortAll(new Set(over))
        await removeObjects(await partObjectsOf(over))
      }
    },

    // Signed URLs set the content type, and S3 sends only its own checksum.
    async describe() {},

    open,
    chunks: readingAtOnce(open),

    look,

    async remove(given) {
      const keys = new Set(given)
      if (keys.size === 0) return
      await abortAll(keys)
      const objects = await partObjectsOf(await withParts(keys))
      const kept = await removeObjects([...objects, ...Array.from(keys, objectOf)])
      const [first] = kept.values()
      if (!first) return
      const keptKeys = Array.from(kept.keys(), object => object.split('/')[1] ?? '')
      throw new BlobsKept([...new Set(keptKeys)], first)
    },

    async *list() {
      const stored = async function* () {
        for await (const { object, size, modifiedAt } of objectsOf(client, blobs))
          yield { key: keyOf(object), size, createdAt: modifiedAt }
      }
      const unfinished = async function* () {
        for await (const { object, startedAt } of unfinishedOf(client, blobs))
          yield { key: keyOf(object), size: 0, createdAt: startedAt }
      }
      const received = async function* () {
        // Only the list of parts shows their age.
        for await (const key of foldersOf(client, parts))
          yield { key, size: 0, createdAt: new Date(0) }
      }
      yield* merged(stored(), unfinished(), received())
    },
  }
}
