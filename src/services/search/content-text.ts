import { setImmediate as nextTurn } from 'node:timers/promises'
import { promisify } from 'node:util'
import { brotliDecompress } from 'node:zlib'
import { z } from 'zod'
import { MOST_WORDS, wordsIn } from '../../derive/words.ts'
import { MOST_CHARACTERS } from '../../documents/bounded-text.ts'

const decompress = promisify(brotliDecompress)
/** The UTF-8 size limit of a text, in bytes. */
const MOST_BYTES = 3 * MOST_CHARACTERS
/** Words that are read in one turn of the event loop. */
const AT_ONCE = 4000

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

/** Reads the words that a process has found. */
export function wordsOfOutput(output: Buffer): string[] {
  const words = output.toString().split('\n').slice(0, MOST_WORDS)
  return [...new Set(words)].filter(word => word !== '' && word.length <= 40)
}

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

/**
 * The words under which a text is indexed. Long texts are read over several turns of the event
 * loop.
 */
export async function indexedWords(text: string): Promise<string[]> {
  const words = new Set<string>()
  let read = 0
  for (const { word } of wordsIn(text)) {
    if (words.add(word).size === MOST_WORDS) break
    read += 1
    if (read % AT_ONCE === 0) await nextTurn()
  }
  return [...words]
}
