import { createHash } from 'node:crypto'
import type { Person, TestApp } from './harness.ts'

export interface TusAnswer {
  status: number
  headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  body: any
}

export type Tus = (
  method: string,
  path: string,
  headers?: Record<string, string>,
  body?: string | Uint8Array | ReadableStream,
) => Promise<TusAnswer>

/**
 * A tus client with a credential, below the URL of uploads. A path may also be the Location of an
 * upload.
 */
export const tusOf =
  (url: string, credential: Record<string, string> = {}): Tus =>
  async (method, path, headers = {}, body) => {
    const answer = await fetch(`${url}${path.startsWith('/api/') ? path : `/api/tus${path}`}`, {
      method,
      headers: { 'tus-resumable': '1.0.0', ...credential, ...headers },
      ...(body === undefined ? {} : { body: body as BodyInit, duplex: 'half' }),
    } as RequestInit)
    const text = await answer.text()
    return {
      status: answer.status,
      headers: answer.headers,
      body: text === '' ? undefined : JSON.parse(text),
    }
  }

export const tusOfPerson = (url: string, { cookie }: Pick<Person, 'cookie'>): Tus =>
  tusOf(url, { cookie })

export const metadataOf = (values: Record<string, string>): string =>
  Object.entries(values)
    .map(([key, value]) => `${key} ${Buffer.from(value).toString('base64')}`)
    .join(',')

/** Creates an upload. Returns its URL. */
export async function createUpload(
  tus: Tus,
  length: number,
  values: Record<string, string>,
  headers: Record<string, string> = {},
): Promise<string> {
  const metadata = Object.keys(values).length > 0 ? { 'upload-metadata': metadataOf(values) } : {}
  const made = await tus('POST', '', { 'upload-length': String(length), ...metadata, ...headers })
  if (made.status !== 201) throw new Error(`${made.status} ${JSON.stringify(made.body)}`)
  return made.headers.get('location') ?? ''
}

const CHUNK = { 'content-type': 'application/offset+octet-stream' }

export const patch = (
  tus: Tus,
  url: string,
  offset: number,
  bytes: string | Uint8Array | ReadableStream,
  headers: Record<string, string> = {},
): Promise<TusAnswer> =>
  tus('PATCH', url, { ...CHUNK, 'upload-offset': String(offset), ...headers }, bytes)

export const offsetOf = ({ headers }: Pick<TusAnswer, 'headers'>): number | null => {
  const offset = headers.get('upload-offset')
  return offset === null ? null : Number(offset)
}

export const checksumOf = (
  algorithm: string,
  bytes: Uint8Array | string,
): Record<string, string> => ({
  'upload-checksum': `${algorithm} ${createHash(algorithm).update(bytes).digest('base64')}`,
})

/** The bytes of a person's file, downloaded through a public link. */
export async function storedBytes(url: string, person: Person, path: string): Promise<Buffer> {
  const { response, text } = await person.rest('POST', '/api/files/quick_share', {
    json: { object: path },
  })
  if (!response?.sharing_token) throw new Error(text)
  const answer = await fetch(`${url}/api/d/${response.sharing_token}`)
  return Buffer.from(await answer.arrayBuffer())
}

/** The bytes that count against a person's quota: used and reserved. */
export async function countedOf({ app: { db } }: TestApp, { userId }: Person) {
  const [row] = await db.rows<{ used: number; reserved: number; files: number }>(
    'SELECT used_bytes AS used, reserved_bytes AS reserved, used_files + reserved_files AS files FROM bucket WHERE user_id = ?',
    [userId],
  )
  return row
}
