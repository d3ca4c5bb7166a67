import { randomBytes } from 'node:crypto'
import type { OnConflict } from '../generated.ts'
import { wordOf } from '../words.ts'

/** The bytes before and after the file in a multipart form. */
export interface Form {
  type: string
  head: Buffer
  tail: Buffer
}

/**
 * A multipart form with some fields, then one file. FormData would encode a quotation mark in a
 * name as %22, which changes the name, and would need all bytes in memory.
 */
export function formOf(
  fields: Record<string, string>,
  file: { field: string; name: string },
): Form {
  const boundary = `satchel-${randomBytes(16).toString('hex')}`
  const part = (disposition: string) =>
    `--${boundary}\r\ncontent-disposition: form-data; ${disposition}\r\n\r\n`
  // RFC 8187. Without a content type, the service detects the type by the name.
  const encoded = encodeURIComponent(exactName(file.name)).replace(
    /['()*!]/g,
    c => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  const before = Object.entries(fields).map(
    ([name, value]) => `${part(`name="${name}"`)}${value}\r\n`,
  )
  const head = `${before.join('')}${part(`name="${file.field}"; filename*=UTF-8''${encoded}`)}`
  return {
    type: `multipart/form-data; boundary=${boundary}`,
    head: Buffer.from(head),
    tail: Buffer.from(`\r\n--${boundary}--\r\n`),
  }
}

/**
 * The name as an encoded word (RFC 2047), where the service would take it for the way in which
 * browsers or older clients write another name: `50%22.txt`.
 */
const exactName = (name: string): string =>
  /%(22|0D|0A)|=\?/i.test(name) ? `=?UTF-8?B?${Buffer.from(name).toString('base64')}?=` : name

/** An upload in one request: the target and the conflict rule. */
interface WholeUpload {
  folder: string
  name: string
  onConflict: OnConflict
  /** When the file was last modified. */
  modifiedAt?: string
}

export const uploadForm = ({ folder, name, onConflict, modifiedAt }: WholeUpload): Form => {
  const time = modifiedAt === undefined ? {} : { modified_at: modifiedAt }
  return formOf({ ...time, folder, on_conflict: wordOf(onConflict) }, { field: 'file', name })
}
