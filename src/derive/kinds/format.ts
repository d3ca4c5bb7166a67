import { open } from 'node:fs/promises'
import { type FormatName, formatOfStart, START_BYTES } from '../../formats/signature.ts'
import { type VideoContainer, videoContainers } from '../outcome.ts'
import { isVector } from './vector.ts'

/** The format of a picture, document or video, by how its thumbnail is made. */
export type Format =
  | 'raster'
  | 'bitmap'
  | 'icon'
  | 'heif'
  | 'svg'
  | 'pdf'
  | { container: VideoContainer }

/** The formats that sharp decodes. */
const rasters: readonly FormatName[] = ['jpeg', 'png', 'gif', 'webp', 'tiff', 'avif']
const others: Partial<Record<FormatName, Format>> = {
  bmp: 'bitmap',
  ico: 'icon',
  heif: 'heif',
  pdf: 'pdf',
}

/** Bytes of a text in which the root of an SVG must begin. */
const HEAD_BYTES = 256 * 1024

/** Detects the format by the bytes, because clients choose names and media types. */
function formatOfBytes(start: Buffer): Format | undefined {
  const name = formatOfStart(start)
  if (name && rasters.includes(name)) return 'raster'
  if (name && others[name]) return others[name]
  const container = videoContainers.find(one => one === name)
  if (container) return { container }
  if (isVector(start)) return 'svg'
  // A PDF may have leading bytes: ISO 32000, annex H.3.4.1.
  return /%PDF-\d/.test(start.toString('latin1', 0, 1024)) ? 'pdf' : undefined
}

export async function formatOf(path: string): Promise<Format | undefined> {
  const file = await open(path)
  const head = async (length: number) => {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, 0)
    return buffer.subarray(0, bytesRead)
  }
  try {
    const start = await head(START_BYTES)
    const format = formatOfBytes(start)
    const isCut = start.length === START_BYTES
    // The root of an SVG may follow a long comment.
    return format ?? (isCut && isVector(await head(HEAD_BYTES)) ? 'svg' : undefined)
  } finally {
    await file.close()
  }
}
