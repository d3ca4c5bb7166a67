import { open } from 'node:fs/promises'
import type { VideoContainer } from '../outcome.ts'

/** The format of a file. */
export type Format = 'raster' | 'heic' | 'svg' | 'pdf' | { container: VideoContainer }

/** Bytes in which the root of an SVG must begin. */
const SNIFFED = 4096

/** The first bytes of the formats that are decoded from a path. */
const rasters = [
  'ffd8ff',
  '89504e470d0a1a0a',
  '474946383761',
  '474946383961',
  '49492a00',
  '49492b00',
  '4d4d002a',
  '4d4d002b',
]

/** The first bytes of the other video containers. */
const containers: [RegExp, VideoContainer][] = [
  [/^.{4}(ftyp|moov|mdat|wide|free|skip)/s, 'mov'],
  [/^RIFF.{4}AVI /s, 'avi'],
  [/^OggS/, 'ogg'],
]

/** Detects the format by the first bytes, because clients choose names and media types. */
function formatOfStart(start: Buffer): Format | undefined {
  const [hex, text] = [start.toString('hex', 0, 8), start.toString('latin1')]
  if (rasters.some(begin => hex.startsWith(begin)) || /^RIFF.{4}WEBP/s.test(text)) return 'raster'
  if (/^.{4}ftypavi[fs]/s.test(text)) return 'raster'
  if (/^.{4}ftyp(hei|hev|mif1|msf1)/s.test(text))
    return /avif/.test(text.slice(8, 64)) ? 'raster' : 'heic'
  if (hex.startsWith('1a45dfa3')) return { container: 'matroska' }
  const [, container] = containers.find(([begin]) => begin.test(text)) ?? []
  if (container) return { container }
  if (/^(\xef\xbb\xbf)?\s*<(\?xml|!--|!DOCTYPE|svg)/.test(text) && /<svg[\s>]/.test(text))
    return 'svg'
  // A PDF may have leading bytes: ISO 32000, annex H.3.4.1.
  return /%PDF-\d/.test(text.slice(0, 1024)) ? 'pdf' : undefined
}

export async function formatOf(path: string): Promise<Format | undefined> {
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(SNIFFED), 0, SNIFFED, 0)
    return formatOfStart(buffer.subarray(0, bytesRead))
  } finally {
    await file.close()
  }
}
