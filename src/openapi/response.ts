import { ALICE, BYTES, FILE_PATH, ID, MD5, MEDIA_TYPE } from '../../schema/rest/examples.ts'
import type { ErrorCode } from '../runtime/errors.ts'
import { detailsOf, exampleError } from './errors.ts'
import { objectOf, type Reference, type Schema, type SchemaOrRef } from './schema.ts'

export interface MediaType {
  schema: SchemaOrRef
  example?: unknown
}

export interface Response {
  description: string
  headers?: Record<string, Reference>
  content?: Record<string, MediaType>
}

const headersOf = (...names: string[]): Record<string, Reference> =>
  Object.fromEntries(
    ['X-Request-Id', ...names].map(name => [name, { $ref: `#/components/headers/${name}` }]),
  )

function inEnvelope(
  status: number,
  msg: Schema,
  response: SchemaOrRef,
  example: object,
): Record<string, MediaType> {
  const schema = objectOf({
    status: { type: 'integer', enum: [status] },
    msg: { type: 'string', ...msg },
    response,
  })
  return { 'application/json': { schema, example } }
}

export function success(value: SchemaOrRef, example: unknown, msg = 'ok'): Response {
  const content = inEnvelope(200, { enum: [msg] }, value, { status: 200, msg, response: example })
  return { description: 'Done.', headers: headersOf(), content }
}

/** The response with a generated file. */
export const attachment: Record<string, Response> = {
  200: {
    description: 'The file. It is complete if it is valid JSON to its end.',
    headers: headersOf('Content-Disposition'),
    content: {
      'application/json': {
        schema: { type: 'object' },
        example: {
          exported_at: '2026-01-31T12:00:00.000Z',
          account: { id: ID, email: ALICE, name: 'Alice Example' },
          files: [
            { id: ID, path: FILE_PATH, file_type: MEDIA_TYPE, size: BYTES, md5_checksum: MD5 },
          ],
        },
      },
    },
  },
}

const long = (description: string): Schema => ({ type: 'integer', format: 'int64', description })

/** The response while a copy of many entries continues. */
export const copyAccepted: Response = {
  description: 'It continues: request `Location` for the result.',
  headers: headersOf('Location', 'Retry-After'),
  content: inEnvelope(
    202,
    { enum: ['accepted'] },
    objectOf({
      copy_id: { type: 'string' },
      entry_count: long('Number of files and folders to be copied, counted when it began.'),
      size: long('Bytes of these files.'),
      copied: long('Number of files and folders copied so far.'),
      copied_size: long('Bytes of these files.'),
    }),
    {
      status: 202,
      msg: 'accepted',
      response: { copy_id: ID, entry_count: 100_000, size: BYTES, copied: 512, copied_size: 0 },
    },
  ),
}

/** The response to `Prefer: respond-async`, while the work continues. */
export const uploadAccepted: Response = {
  description: 'It continues: request `Location` for the result.',
  headers: headersOf('Location', 'Retry-After', 'Preference-Applied'),
  content: inEnvelope(
    202,
    { enum: ['accepted'] },
    objectOf({
      upload_id: { type: 'string' },
      size: long('Bytes of the whole.'),
      checked: long('Bytes that were read again so far, if that is needed.'),
    }),
    { status: 202, msg: 'accepted', response: { upload_id: ID, size: BYTES, checked: 0 } },
  ),
}

/** The response to a matching `If-None-Match`. */
export const unchanged: Response = {
  description: 'The caller already has this answer: `If-None-Match`.',
  headers: headersOf('ETag'),
}

export const redirect = (description: string): Response => ({
  description,
  headers: headersOf('Location'),
})

const bytes: NonNullable<Response['content']> = {
  '*/*': { schema: { type: 'string', format: 'binary' } },
}

/**
 * The responses of a download.
 * @param proxied whether clients cannot reach the store, so that the service sends the bytes
 */
export function downloadOf(proxied: boolean): Record<string, Response> {
  if (!proxied)
    return { 302: redirect('To a signed URL of the file that expires after a short while.') }
  const whole = headersOf('ETag', 'Accept-Ranges', 'Content-Disposition')
  const part = headersOf('ETag', 'Accept-Ranges', 'Content-Disposition', 'Content-Range')
  return {
    200: { description: 'The bytes of the file.', headers: whole, content: bytes },
    206: { description: 'The bytes that `Range` requests.', headers: part, content: bytes },
    304: { description: 'The caller already has these bytes: `If-None-Match`.', headers: whole },
    416: { description: 'The file does not have the bytes that `Range` requests.', headers: part },
  }
}

/** The responses of a thumbnail. */
export const picture: Record<string, Response> = {
  200: {
    description: 'The picture.',
    headers: headersOf('ETag', 'Content-Disposition'),
    content: { 'image/webp': { schema: { type: 'string', format: 'binary' } } },
  },
  304: { description: 'The caller already has it: `If-None-Match`.', headers: headersOf('ETag') },
}

const meanings: Record<number, string> = {
  400: 'The request is invalid.',
  401: 'The credential is missing, invalid or insufficient.',
  403: 'The caller may not do this.',
  404: 'Not found.',
  409: 'Conflicts with existing data.',
  429: 'The rate limit is exceeded.',
  500: 'An internal error.',
  503: 'A part of the service is unavailable.',
}

const limitHeaders: Record<number, string[]> = {
  429: ['Retry-After', 'RateLimit', 'RateLimit-Policy'],
  500: ['Retry-After'],
  503: ['Retry-After'],
}

/** The response with an error status and one of these codes. */
function refusal(status: number, codes: ErrorCode[]): Response {
  const slowed = codes.includes('TOO_MANY_ATTEMPTS') ? ['Retry-After'] : []
  const example = exampleError(status, codes)
  return {
    description: `${meanings[status] ?? 'An error.'} \`code\` is ${codes.map(code => `\`${code}\``).join(', ')}.`,
    headers: headersOf(...(limitHeaders[status] ?? slowed)),
    content: inEnvelope(
      status,
      { description: 'A message for people.' },
      detailsOf(codes),
      example,
    ),
  }
}

/**
 * The refusals of all operations. Each combination of a status and codes is described once, under a
 * name that lists them, and operations refer to it.
 */
export function createRefusals() {
  const components: Record<string, Response> = {}

  function refusalOf(status: number, codes: ErrorCode[]): Reference {
    const name = `Refusal${status}${codes.map(pascal).join('')}`
    components[name] ??= refusal(status, codes)
    return { $ref: `#/components/responses/${name}` }
  }

  /** The two errors that any operation can return. */
  const anywhere = (): Record<string, Reference> => ({
    500: refusalOf(500, ['INTERNAL']),
    503: refusalOf(503, ['UNAVAILABLE', 'NO_SPACE', 'MAINTENANCE']),
  })

  return { components, refusalOf, anywhere }
}

export type Refusals = ReturnType<typeof createRefusals>

/** Maps PATH_EXISTS to PathExists. */
const pascal = (code: ErrorCode): string =>
  code.toLowerCase().replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())
