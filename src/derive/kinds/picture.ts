import { readFile, stat } from 'node:fs/promises'
import sharp, { type Metadata, type OutputInfo, type Raw, type Sharp } from 'sharp'
import { rgbaToThumbHash } from 'thumbhash'
import { type Derived, Refusal, type Task } from '../outcome.ts'
import { formatOf } from './format.ts'
import { recognizable } from './vector.ts'

/** The input of a job of this kind. */
interface Input {
  /** The longest side of each thumbnail, in pixels. */
  sides: number[]
  /** Set if a program has turned the picture upright, whatever its EXIF data says. */
  isUpright?: boolean
}

// Jobs run one at a time and share no files.
sharp.cache(false)
sharp.concurrency(1)
// Enables only the loaders that this file uses: no scientific formats, no external programs, and no
// SVG by path, because an SVG could then refer to other files.
sharp.block({ operation: ['VipsForeignLoad'] })
const loaders = ['Jpeg', 'Png', 'Webp', 'Nsgif', 'Tiff', 'Heif'].map(
  name => `VipsForeignLoad${name}File`,
)
// An SVG, and a PNG inside of an icon, are in memory.
sharp.unblock({
  operation: [...loaders, 'VipsForeignLoadSvgBuffer', 'VipsForeignLoadPngBuffer'],
})

/** The maximum size of an SVG, which is parsed as a whole. */
const SVG_BYTES = 2 * 1024 * 1024
/** The maximum size of a bitmap, and of its pixels, which are in memory as a whole. */
const BITMAP_BYTES = 64 * 1024 * 1024
const BITMAP_PIXELS = 24_000_000
/**
 * The factor to the limit of pixels for pictures that need little memory: baseline JPEG is reduced
 * while it is decoded, and scans of one bit are read line by line.
 */
const SPARING = 4
/**
 * The longest side of the input for a ThumbHash. A larger input would cost time and add nothing to
 * its few frequencies.
 */
const HASHED = 64
// Takes half the time of the highest effort, for a few more bytes.
const webp = { quality: 76, effort: 2, smartSubsample: false } as const

/** Libraries report broken files only by message. */
function refusalOf(error: unknown): unknown {
  const said = error instanceof Error ? error.message : ''
  if (/pixel limit|too large/i.test(said)) return new Refusal('too-large')
  if (/unsupported|not supported|unknown file type/i.test(said)) return new Refusal('unsupported')
  return error
}

/** The maximum pixels of a picture, by what its header says. */
function limitOf({ format, isProgressive, bitsPerSample }: Metadata, pixels: number): number {
  const isSparing =
    !isProgressive && (format === 'jpeg' || (bitsPerSample === 1 && format !== 'webp'))
  return isSparing ? SPARING * pixels : pixels
}

/** A picture to decode: a file, a vector graphic in memory, or pixels. */
interface Original {
  source: string | Buffer
  raw?: Raw
  pixels: number
  sides: number[]
  isUpright?: boolean | undefined
}

/**
 * Creates thumbnails of a picture: the first frame or page, upright, in sRGB, without metadata. For
 * a file that another program must decode, only detects the format.
 */
export async function work({ path, bounds: { pixels }, input }: Task): Promise<Derived> {
  const format = await formatOf(path)
  if (!format) throw new Refusal('unsupported')
  if (format === 'heif') return { value: { format } }
  if (typeof format === 'object') return { value: format }
  const { sides, isUpright } = input as Input
  try {
    if (format === 'pdf') return await page(path, pixels, sides)
    if (format === 'raster') return await pictures({ source: path, pixels, sides, isUpright })
    const { size } = await stat(path)
    if (size > (format === 'svg' ? SVG_BYTES : BITMAP_BYTES)) throw new Refusal('too-large')
    const bytes = await readFile(path)
    if (format === 'svg') return await pictures({ source: recognizable(bytes), pixels, sides })
    const { decodeBitmap, decodeIcon } = await import('./bitmap.ts')
    const decoded = (format === 'icon' ? decodeIcon : decodeBitmap)(bytes, BITMAP_PIXELS)
    return await pictures({ ...decoded, pixels, sides })
  } catch (error) {
    throw refusalOf(error)
  }
}

/** Handles a document by its first page. Its size is in points. */
async function page(path: string, pixels: number, sides: number[]): Promise<Derived> {
  // Compiled only for documents.
  const { firstPage } = await import('./pdf.ts')
  const { width, height, data, raw } = await firstPage(path, Math.max(...sides))
  const opaque = await sharp(data, { raw, limitInputPixels: pixels })
    .removeAlpha()
    .toBuffer({ resolveWithObject: true })
  const { outputs, ...small } = await smaller(opaque, pixels, sides)
  return { value: { width, height, orientation: 1, ...small }, outputs }
}

async function pictures(original: Original): Promise<Derived> {
  const { source, raw, pixels, sides, isUpright = false } = original
  const open = (failOn: 'error' | 'none') =>
    sharp(source, {
      ...(raw ? { raw } : {}),
      failOn,
      limitInputPixels: SPARING * pixels,
      sequentialRead: true,
    })
  const metadata = await open('none').metadata()
  const { width, height, pageHeight, orientation: noted = 1 } = metadata
  const orientation = isUpright ? 1 : noted
  // Checked before decoding, because it bounds each decoder's first allocation.
  if (width * height > limitOf(metadata, pixels)) throw new Refusal('too-large')
  const upright =
    orientation >= 5
      ? { width: pageHeight ?? height, height: width }
      : { width, height: pageHeight ?? height }
  const decode = (failOn: 'error' | 'none') => {
    const picture = open(failOn)
    return inside(isUpright ? picture : picture.autoOrient(), Math.max(...sides))
      .toColourspace('srgb')
      .raw({ depth: 'uchar' })
      .toBuffer({ resolveWithObject: true })
  }
  // A damaged picture shows what is left of it.
  const decoded = await decode('error').catch(() => decode('none'))
  const { outputs, ...small } = await smaller(decoded, pixels, sides)
  return { value: { ...upright, orientation, ...small }, outputs }
}

/** Encodes the decoded picture, and scales it down step by step. */
async function smaller(
  { info, data }: { info: OutputInfo; data: Buffer },
  pixels: number,
  sides: number[],
) {
  const [, ...others] = [...sides].sort((a, b) => b - a)
  const raw = { width: info.width, height: info.height, channels: info.channels }
  const again = () => sharp(data, { raw, limitInputPixels: pixels })
  const made = [await again().webp(webp).toBuffer({ resolveWithObject: true })]
  for (const side of others)
    made.push(await inside(again(), side).webp(webp).toBuffer({ resolveWithObject: true }))
  const hashed = await inside(again(), HASHED)
    .toColourspace('srgb')
    .ensureAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true })
  const hash = rgbaToThumbHash(hashed.info.width, hashed.info.height, hashed.data)
  return {
    placeholder: Buffer.from(hash).toString('base64'),
    pictures: made.map(({ info }) => ({ width: info.width, height: info.height })),
    outputs: made.map(({ data }) => data),
  }
}

const inside = (picture: Sharp, side: number): Sharp =>
  picture.resize(side, side, { fit: 'inside', withoutEnlargement: true })
