import { Refusal } from '../outcome.ts'

/** The bytes that are checked for signs of a binary file. */
const SNIFFED = 8192

/** The character set that a byte order mark shows, and the length of the mark. */
function markOf(bytes: Buffer): { charset: string; start: number } | undefined {
  const hex = bytes.toString('hex', 0, 3)
  if (hex === 'efbbbf') return { charset: 'utf-8', start: 3 }
  if (hex.startsWith('fffe')) return { charset: 'utf-16le', start: 2 }
  if (hex.startsWith('feff')) return { charset: 'utf-16be', start: 2 }
  return undefined
}

const isUtf8 = (bytes: Buffer): boolean => {
  try {
    // Truncated bytes may end within a character.
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true })
    return true
  } catch {
    return false
  }
}

/**
 * Decodes a text file as UTF-8, as UTF-16 with a mark, or else as Windows-1252, a superset of
 * Latin-1.
 * @param charset the declared character set
 * @throws Refusal for a binary file
 */
export function decode(bytes: Buffer, charset?: string): string {
  const mark = markOf(bytes)
  if (!mark && bytes.subarray(0, SNIFFED).includes(0)) throw new Refusal('unsupported')
  const named = charset && decoderOf(charset)
  if (named && !mark) return named.decode(bytes)
  const fallback = isUtf8(bytes) ? 'utf-8' : 'windows-1252'
  return new TextDecoder(mark?.charset ?? fallback).decode(bytes.subarray(mark?.start ?? 0))
}

function decoderOf(charset: string): TextDecoder | undefined {
  try {
    return new TextDecoder(charset)
  } catch {
    return undefined
  }
}
