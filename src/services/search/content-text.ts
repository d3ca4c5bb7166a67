import { setImmediate as nextTurn } from 'node:timers/promises'
import { promisify } from 'node:util'
import { brotliDecompress } from 'node:zlib'
import { z } from 'zod'
import { MOST_CHARACTERS } from '../../derive/text/bounded-text.ts'
import { MOST_WORDS, wordsIn } from '../../derive/words.ts'

const decompress = promisify(brotliDecompress)
/** Bytes of a text in UTF-8. */
const MOST_BYTES = 3 * MOST_CHARACTERS
/** Words that are read in one turn of the event loop. */
const AT_ONCE = 4000

/**
 * What a process says of a text. It has read a file of anybody's, so it is checked like any other
 * input.
 */
export const textValue = z.object({
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  characters: z.int().min(0).max(MOST_CHARACTERS).default(0),
  failed: z
    .enum(['unsupported', 'unreadable', 'too-large', 'memory', 'time', 'crashed'])
    .optional(),
})

/** Words that a process has found. */
export function wordsOfOutput(output: Buffer): string[] {
  const words = output.toString().split('\n').slice(0, MOST_WORDS)
  return [...new Set(words)].filter(word => word !== '' && word.length <= 40)
}

/**
 * The text of a compressed one; null where it cannot be read: then there is none, rather than a
 * search or a deletion that fails by it.
 */
export async function textOfBody(body: Buffer): Promise<string | null> {
  try {
    return (await decompress(body, { maxOutputLength: MOST_BYTES })).toString()
  } catch {
    return null
  }
}

/** The words that a text is indexed by. Long texts are read in turns. */
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
