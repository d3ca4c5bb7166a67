import { addAbortSignal, type Readable } from 'node:stream'
import { md5HeaderOf } from './s3-bucket.ts'
import { isMissing, type S3Client, within } from './s3-client.ts'
import { foldersOf, type Listed, objectsOf, unfinishedOf } from './s3-listing.ts'
import { abortMultipart } from './s3-multipart.ts'
import { StoreRefusal } from './store.ts'
import { pageLimit, requestLimit } from './time-limit.ts'
import { elementsOf, encodeXml, textOf } from './xml.ts'

/*
 * The bucket of an installation:
 *   installation           the id of the installation
 *   blobs/<key>            a blob
 *   parts/<key>/<number>   a part that was sent for a blob: an object of its own, until the parts are joined
 */
export const blobs = 'blobs/'
export const parts = 'parts/'
export const objectOf = (key: string) => `${blobs}${key}`
export const partsOfKey = (key: string) => `${parts}${key}/`
/** The names of a blob's parts sort by part number. */
export const partOf = (key: string, number: number) =>
  `${partsOfKey(key)}${String(number).padStart(6, '0')}`
export const keyOf = (object: string) => object.slice(blobs.length)
export const numberOf = (object: string) => Number(object.slice(object.lastIndexOf('/') + 1))

const removalsInRequest = 1000
/** Up to this many blobs, parts are listed per blob. Beyond, one list of all parts is read. */
const fewKeys = 8
/** The objects of blobs and of their parts. */
export function objectsIn(client: S3Client) {
  async function receivedOf(key: string, signal?: AbortSignal): Promise<Map<number, Listed>> {
    const found = new Map<number, Listed>()
    // Clients wait for this list, unlike for other lists.
    const bounds = { limit: requestLimit, signal }
    for await (const each of objectsOf(client, partsOfKey(key), bounds))
      found.set(numberOf(each.object), each)
    return found
  }

  async function openObject(
    object: string,
    headers: Record<string, string>,
    signal: AbortSignal | undefined,
    missing?: () => Error,
  ): Promise<Readable> {
    const body = await within(requestLimit, signal, async late => {
      try {
        return await client.open({ method: 'GET', object, headers }, late)
      } catch (error) {
        throw missing && isMissing(error) ? missing() : error
      }
    })
    return signal ? addAbortSignal(signal, body) : body
  }

  /**
   * The bytes of parts in order, verified against the listing. Requests the next part while reading
   * one.
   */
  async function* bytesOf(
    listed: Listed[],
    signal: AbortSignal | undefined,
  ): AsyncGenerator<Uint8Array> {
    const open = (part: Listed | undefined) => {
      const opening = part && openObject(part.object, { 'If-Match': part.etag }, signal)
      opening?.catch(() => {})
      return opening
    }
    let next = open(listed[0])
    try {
      for (let i = 0; next; i++) {
        const body = await next
        next = open(listed[i + 1])
        yield* body as AsyncIterable<Uint8Array>
      }
    } finally {
      next?.then(
        body => body.destroy(),
        () => {},
      )
    }
  }

  /** Removes as many of the objects as possible. Resolves to the errors of the others. */
  async function removeObjects(objects: string[]): Promise<Map<string, StoreRefusal>> {
    const kept = new Map<string, StoreRefusal>()
    for (let at = 0; at < objects.length; at += removalsInRequest) {
      const some = objects.slice(at, at + removalsInRequest)
      const named = some.map(object => `<Object><Key>${encodeXml(object)}</Key></Object>`).join('')
      const body = `<Delete><Quiet>true</Quiet>${named}</Delete>`
      const asked = {
        method: 'POST',
        query: { delete: '' },
        headers: md5HeaderOf(body),
        body,
      } as const
      const answer = await within(pageLimit, undefined, late => client.ask(asked, late))
      for (const xml of elementsOf(answer.body, 'Error')) {
        if (textOf(xml, 'Code') === 'NoSuchKey') continue
        kept.set(
          textOf(xml, 'Key'),
          new StoreRefusal(409, `${textOf(xml, 'Code')} ${textOf(xml, 'Message')}`),
        )
      }
    }
    return kept
  }

  const partObjectsOf = async (keys: string[]): Promise<string[]> => {
    const found = await Promise.all(keys.map(async key => [...(await receivedOf(key)).values()]))
    return found.flat().map(({ object }) => object)
  }

  async function withParts(keys: Set<string>): Promise<string[]> {
    if (keys.size <= fewKeys) return [...keys]
    const having: string[] = []
    for await (const key of foldersOf(client, parts)) if (keys.has(key)) having.push(key)
    return having
  }

  async function abortAll(keys: Set<string>): Promise<void> {
    const [only] = keys
    const prefix = keys.size === 1 && only !== undefined ? objectOf(only) : blobs
    for await (const unfinished of unfinishedOf(client, prefix))
      if (keys.has(keyOf(unfinished.object))) await abortMultipart(client, unfinished)
  }

  return { receivedOf, openObject, bytesOf, removeObjects, partObjectsOf, withParts, abortAll }
}
