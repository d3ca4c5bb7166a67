import { promisify } from 'node:util'
import { brotliDecompress } from 'node:zlib'
import { z } from 'zod'
import { MOST_CHARACTERS } from '../../documents/bounded-text.ts'

const decompress = promisify(brotliDecompress)
/** The UTF-8 size limit of a text, in bytes. */
const MOST_BYTES = 3 * MOST_CHARACTERS

/**
 * The result of a text process. The process has read an untrusted file, so its output is validated
 * like any other input.
 */
export const textValue = z.object({
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  characters: z.int().min(0).max(MOST_CHARACTERS).default(0),
  failed: z
    .enum(['unsupported', 'unreadable', 'too-large', 'memory', 'time', 'crashed'])
    .optional(),
})

/**
 * Decompresses a text. Returns null for an unreadable body, so that a search or a deletion does not
 * fail because of it.
 */
export async function textOfBody(body: Buffer): Promise<string | null> {
  try {
    return (await decompress(body, { maxOutputLength: MOST_BYTES })).toString()
  } catch {
    return null
  }
}
