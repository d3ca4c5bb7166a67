import { randomBytes } from 'node:crypto'
import { wordOf } from '../words.ts'
import type { Target } from './upload-target.ts'

/**
 * The multipart form of an upload. Not FormData, which encodes a quotation mark in a name as %22, so that the name changes, and which
 * requires all bytes in memory.
 */
export function uploadForm({ folder, name, onConflict }: Pick<Target, 'folder' | 'name' | 'onConflict'>): {
  type: string
  head: Buffer
  tail: Buffer
} {
  const boundary = `satchel-${randomBytes(16).toString('hex')}`
  // RFC 8187. Without a type of the part, the service takes it from the name.
  const encoded = encodeURIComponent(name).replace(/['()*!]/g, c => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)
  const head =
    `--${boundary}\r\ncontent-disposition: form-data; name="folder"\r\n\r\n${folder}\r\n` +
    `--${boundary}\r\ncontent-disposition: form-data; name="on_conflict"\r\n\r\n${wordOf(onConflict)}\r\n` +
    `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename*=UTF-8''${encoded}\r\n\r\n`
  return {
    type: `multipart/form-data; boundary=${boundary}`,
    head: Buffer.from(head),
    tail: Buffer.from(`\r\n--${boundary}--\r\n`),
  }
}
