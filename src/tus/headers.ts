import type { IncomingMessage } from 'node:http'
import { InvalidInput } from '../runtime/errors.ts'
import { type Chunk, chunkAlgorithms } from '../services/uploads/stream-append.ts'

/** The maximum length of stored metadata in characters. */
const MAX_METADATA = 8192
/** The maximum number of uploads that can be concatenated. */
const MAX_PARTS = 100

export function headerOf({ headers }: IncomingMessage, name: string): string | undefined {
  const value = headers[name.toLowerCase()]
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined
}

/**
 * Parses a byte count.
 * @throws INVALID_INPUT
 */
export function bytesIn(
  req: IncomingMessage,
  name: 'Upload-Length' | 'Upload-Offset',
): number | undefined {
  const text = headerOf(req, name)
  if (text === undefined) return undefined
  const value = Number(text)
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(value))
    throw new InvalidInput(name, `${name} is a number of bytes: 0 or more, in decimal digits.`)
  return value
}

const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

const invalidMetadata = () =>
  new InvalidInput(
    'Upload-Metadata',
    'Upload-Metadata must be comma-separated pairs of a key and a base64 value, with each key once.',
  )

/**
 * Parses Upload-Metadata (section "Creation") into values by key.
 * @throws INVALID_INPUT
 */
export function parseMetadata(text: string): Map<string, string> {
  if (text.length > MAX_METADATA)
    throw new InvalidInput(
      'Upload-Metadata',
      `Upload-Metadata may have up to ${MAX_METADATA} characters.`,
    )
  const found = new Map<string, string>()
  if (text === '') return found
  const utf8 = new TextDecoder('utf-8', { fatal: true })
  for (const pair of text.split(',')) {
    const [key = '', value = '', ...more] = pair.trim().split(' ')
    if (!/^[!-~]+$/.test(key) || more.length > 0 || found.has(key) || !base64.test(value))
      throw invalidMetadata()
    try {
      found.set(key, utf8.decode(Buffer.from(value, 'base64')))
    } catch {
      throw new InvalidInput('Upload-Metadata', `The value of "${key}" is not text in UTF-8.`)
    }
  }
  return found
}

/**
 * Whether the length of a new upload is deferred (section "Creation").
 * @throws INVALID_INPUT
 */
export function isLengthDeferred(req: IncomingMessage): boolean {
  const text = headerOf(req, 'Upload-Defer-Length')
  if (text === undefined) return false
  if (text !== '1')
    throw new InvalidInput('Upload-Defer-Length', 'Upload-Defer-Length must be 1, or be omitted.')
  if (headerOf(req, 'Upload-Length') !== undefined)
    throw new InvalidInput(
      'Upload-Defer-Length',
      'Send either Upload-Length or Upload-Defer-Length.',
    )
  return true
}

/**
 * Parses Upload-Checksum (section "Checksum").
 * @throws INVALID_INPUT
 */
export function parseChecksum(text: string | undefined): Chunk['checksum'] {
  if (text === undefined) return undefined
  const [name = '', value = ''] = text.split(' ')
  const algorithm = chunkAlgorithms.find(one => one === name.toLowerCase())
  if (!algorithm)
    throw new InvalidInput(
      'Upload-Checksum',
      `The algorithm in Upload-Checksum must be one of ${chunkAlgorithms.join(', ')}.`,
    )
  const digest = Buffer.from(value, 'base64').toString('hex')
  if (!base64.test(value) || digest === '')
    throw new InvalidInput(
      'Upload-Checksum',
      'Upload-Checksum must be an algorithm, a space, and the checksum in base64.',
    )
  return { algorithm, digest }
}

/**
 * Parses Upload-Concat (section "Concatenation"): the ids of the concatenated uploads, for a final
 * upload.
 * @throws INVALID_INPUT
 */
export function parseConcat(text: string | undefined): 'partial' | string[] | undefined {
  if (text === undefined || text === 'partial') return text
  const [kind, list = ''] = text.split(';', 2)
  const urls = list.split(' ').filter(url => url !== '')
  if (kind !== 'final' || urls.length === 0)
    throw new InvalidInput(
      'Upload-Concat',
      'Upload-Concat must be "partial", or "final;" and the URLs of partial uploads.',
    )
  if (urls.length > MAX_PARTS)
    throw new InvalidInput(
      'Upload-Concat',
      `Up to ${MAX_PARTS} partial uploads can be joined to one.`,
    )
  return urls.map(url => url.replace(/\/+$/, '').split('/').at(-1) ?? '')
}
