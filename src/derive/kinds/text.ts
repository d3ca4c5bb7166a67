import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open, readFile, stat } from 'node:fs/promises'
import { brotliCompressSync, constants } from 'node:zlib'
import { BadDocument } from '../../documents/bad-document.ts'
import { MOST_CHARACTERS } from '../../documents/bounded-text.ts'
import { charsetIn, decode, isText } from '../../documents/decode.ts'
import { type Derived, Refusal, type Task } from '../outcome.ts'

/** The input of a job of this kind. */
interface Input {
  /**
   * The file's format, judged by its name and media type. A file of `any` format is read if its
   * bytes are a text or a document.
   */
  format: 'text' | 'html' | 'mail' | 'pdf' | 'office' | 'any'
}

/**
 * The maximum bytes that are read of a plain text, and the maximum size of a file that must be read
 * as a whole.
 */
const READ = 4 * MOST_CHARACTERS
const WHOLE = 64 * 1024 * 1024
/** Halves the size compared with the fastest compression, at the same speed. */
const compression = {
  params: { [constants.BROTLI_PARAM_QUALITY]: 5, [constants.BROTLI_PARAM_LGWIN]: 20 },
}

async function startOf(path: string, bytes: number): Promise<Buffer> {
  const file = await open(path)
  try {
    const buffer = Buffer.alloc(Math.min(bytes, (await file.stat()).size))
    let length = 0
    while (length < buffer.length) {
      const { bytesRead } = await file.read(buffer, length, buffer.length - length, length)
      if (bytesRead === 0) break
      length += bytesRead
    }
    return buffer.subarray(0, length)
  } finally {
    await file.close()
  }
}

async function whole(path: string): Promise<Buffer> {
  if ((await stat(path)).size > WHOLE) throw new Refusal('too-large')
  return readFile(path)
}

type Format = Input['format'] | 'rtf' | 'card' | 'flat'

/**
 * The format by the file's first bytes if they show one, because people choose names, and all files
 * with this content share the text. A file that matches no format is read as text, if it is text.
 */
function formatOf(start: Buffer, said: Input['format']): Format {
  const mark = start.indexOf('%PDF-')
  // A PDF may have leading bytes, and a text may mention the PDF mark.
  if (mark === 0 || (mark > 0 && said === 'pdf')) return 'pdf'
  const head = start.toString('latin1')
  if (head.startsWith('PK\x03\x04')) return 'office'
  if (head.startsWith('{\\rtf')) return 'rtf'
  if (/^(\xef\xbb\xbf)?BEGIN:V(CARD|CALENDAR)\b/i.test(head)) return 'card'
  if (/^[^<]{0,100}<\?xml[^>]{0,200}>\s*(<!--[^>]{0,400}-->\s*)?<office:document\b/.test(head))
    return 'flat'
  if (said === 'any' && /^From \S+ .{10,60}\d\d:\d\d/.test(head)) return 'mail'
  return said === 'pdf' || said === 'office' ? 'text' : said
}

async function textOf(path: string, said: Input['format'], mediaType: string): Promise<string> {
  const start = await startOf(path, 64 * 1024)
  const format = formatOf(start.subarray(0, 1024), said)
  // Each process loads only the parsers that it needs.
  if (format === 'pdf') return (await import('../text/pdf.ts')).textOfPdf(path)
  if (format === 'office')
    return (await import('../../documents/zipped.ts')).textOfZipped(await whole(path))
  if (format === 'rtf')
    return (await import('../../documents/rich-text.ts')).textOfRtf(await whole(path))
  if (!isText(start, format !== 'any')) throw new Refusal('unsupported')
  const bytes = await startOf(path, READ)
  if (format === 'mail') return (await import('../../documents/mail.ts')).textOfMail(bytes)
  if (format === 'card') return (await import('../../documents/card.ts')).textOfCard(bytes)
  const text = decode(bytes, charsetIn(mediaType))
  if (format === 'flat')
    return (await import('../../documents/open-document.ts')).readFlatDocument(text).toString()
  return format === 'html' ? (await import('../../documents/html.ts')).textOfHtml(text) : text
}

async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path, { highWaterMark: 1024 * 1024 }))
    hash.update(chunk)
  return hash.digest('hex')
}

/** Extracts the text of a file, compressed, and the file's checksum. */
export async function work({ path, input, mediaType }: Task): Promise<Derived> {
  const sha256 = await sha256Of(path)
  let text: string
  try {
    text = await textOf(path, (input as Input).format, mediaType)
  } catch (error) {
    if (error instanceof Refusal || error instanceof BadDocument)
      return { value: { sha256, failed: error.reason } }
    // Libraries report broken files only by message. Other errors have a code.
    if (
      error instanceof Error &&
      'code' in error &&
      /^(E[A-Z]+|ERR_[A-Z_]+)$/.test(String(error.code))
    )
      throw error
    return { value: { sha256, failed: 'unreadable' } }
  }
  const kept = text.slice(0, MOST_CHARACTERS).toWellFormed().trimEnd()
  return {
    value: { sha256, characters: kept.length },
    outputs: [brotliCompressSync(kept, compression)],
  }
}
