import { createHash } from 'node:crypto'
import { Unavailable } from '../runtime/errors.ts'
import { judgeMarker, markerText, parseMarker, type Wanted } from './marker.ts'
import { isMissing, type S3Client, S3Error, within } from './s3-client.ts'
import { objectsOf } from './s3-listing.ts'
import { md5Header } from './s3-multipart.ts'
import { ForeignStore, type Marker } from './store.ts'
import { requestLimit } from './time-limit.ts'
import { elementsOf, encodeXml, textOf } from './xml.ts'

/** The object that names the installation to which a bucket belongs. */
const marker = 'installation'

export const md5HeaderOf = (body: string) => md5Header(createHash('md5').update(body).digest('hex'))

/**
 * Creates the bucket if it is missing.
 * @param location the region of the new bucket, if the store requires one
 */
export async function createBucket(client: S3Client, location: string | undefined): Promise<void> {
  await within(requestLimit, undefined, async late => {
    try {
      await client.ask({ method: 'HEAD' }, late)
      return
    } catch (error) {
      // The response to a HEAD has no body that would name the missing thing.
      if (!(error instanceof S3Error) || error.status !== 404) throw error
    }
    const body = location
      ? `<CreateBucketConfiguration><LocationConstraint>${encodeXml(location)}</LocationConstraint></CreateBucketConfiguration>`
      : ''
    try {
      await client.ask({ method: 'PUT', body }, late)
    } catch (error) {
      // Another instance created the bucket first.
      if (!(error instanceof S3Error) || error.code !== 'BucketAlreadyOwnedByYou') throw error
    }
  })
}

/** The marker of a bucket; undefined when it has none. */
export const readMarker = (client: S3Client): Promise<Marker | undefined> =>
  within(requestLimit, undefined, async late => {
    try {
      return parseMarker((await client.ask({ method: 'GET', object: marker }, late)).body)
    } catch (error) {
      if (!isMissing(error)) throw error
      return undefined
    }
  })

/**
 * Writes the marker only if there is none. Another instance or installation may be first.
 * @param replaces whether it replaces another marker
 */
const writeMarker = (client: S3Client, wanted: Marker, replaces = false): Promise<void> =>
  within(requestLimit, undefined, async late => {
    const body = markerText(wanted)
    const first = replaces ? {} : { 'If-None-Match': '*' }
    const headers = { ...first, 'Content-Type': 'text/plain', ...md5HeaderOf(body) }
    try {
      await client.ask({ method: 'PUT', object: marker, headers, body }, late)
    } catch (error) {
      if (!(error instanceof S3Error) || ![409, 412].includes(error.status ?? 0)) throw error
    }
  })

/** @throws ForeignStore */
export async function bindBucket(
  client: S3Client,
  name: string,
  blobs: string,
  wanted: Wanted,
): Promise<void> {
  if (!(await readMarker(client))) {
    if (wanted.inUse)
      throw new ForeignStore(
        `S3_BUCKET: ${name} does not contain the files of the database. Name the bucket that contains them`,
      )
    for await (const _ of objectsOf(client, blobs))
      throw new ForeignStore(
        `S3_BUCKET: ${name} contains files of unknown origin. Name an empty bucket`,
      )
    await writeMarker(client, wanted)
  }
  const there = await readMarker(client)
  if (!there)
    throw new Unavailable('blob store', new Error(`${name} does not keep what is written to it.`))
  if (judgeMarker(there, wanted, `S3_BUCKET: ${name}`, 'bucket'))
    await writeMarker(client, wanted, true)
}

/** Marks the CORS rule of Satchel among those of a bucket. */
const corsId = 'satchel'

const tags = (name: string, values: string[]) =>
  values.map(value => `<${name}>${encodeXml(value)}</${name}>`).join('')

const corsRule = (origins: string[]) =>
  [
    tags('ID', [corsId]),
    tags('AllowedOrigin', origins),
    tags('AllowedMethod', ['GET', 'HEAD', 'PUT']),
    tags('AllowedHeader', ['content-type', 'content-md5', 'range', 'x-amz-*']),
    tags('ExposeHeader', [
      'accept-ranges',
      'content-disposition',
      'content-length',
      'content-range',
      'etag',
    ]),
    tags('MaxAgeSeconds', ['3600']),
  ].join('')

/** The values of a rule in a canonical order. */
const valuesOf = (rule: string) =>
  ['AllowedOrigin', 'AllowedMethod', 'AllowedHeader', 'ExposeHeader', 'MaxAgeSeconds']
    .flatMap(name => elementsOf(rule, name).map(value => `${name} ${value.toLowerCase()}`))
    .sort()
    .join('\n')

/**
 * Writes Satchel's CORS rule into its bucket, and replaces an earlier one. Keeps all other rules.
 */
export async function writeCorsRule(
  client: S3Client,
  origins: string[],
  late: AbortSignal,
): Promise<void> {
  let rules: string[] = []
  try {
    const { body } = await client.ask({ method: 'GET', query: { cors: '' } }, late)
    rules = elementsOf(body, 'CORSRule')
  } catch (error) {
    if (!isMissing(error)) throw error
  }
  const ours = corsRule(origins)
  const [isOurs, others] = [
    rules.filter(rule => textOf(rule, 'ID') === corsId),
    rules.filter(rule => textOf(rule, 'ID') !== corsId),
  ]
  if (isOurs.length === 1 && valuesOf(isOurs[0] ?? '') === valuesOf(ours)) return
  const body = `<CORSConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${tagsAsWritten([...others, ours])}</CORSConfiguration>`
  await client.ask({ method: 'PUT', query: { cors: '' }, headers: md5HeaderOf(body), body }, late)
}

const tagsAsWritten = (rules: string[]) =>
  rules.map(rule => `<CORSRule>${rule}</CORSRule>`).join('')
