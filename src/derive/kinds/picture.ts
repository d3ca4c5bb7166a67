import { readFile, stat } from 'node:fs/promises'
import readExif from 'exif-reader'
import sharp, { type OutputInfo, type Sharp, type SharpOptions } from 'sharp'
import { rgbaToThumbHash } from 'thumbhash'
import { type Derived, Refusal, type Task } from '../outcome.ts'
import { shownExif } from './exif.ts'
import { formatOf } from './format.ts'

/** The input of a job of this kind. */
interface Input {
  /** The longest side of each thumbnail, in pixels. */
  sides: number[]
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
sharp.unblock({ operation: [...loaders, 'VipsForeignLoadSvgBuffer'] })

/** The maximum size of an SVG, which is parsed as a whole. */
const SVG_BYTES = 2 * 1024 * 1024
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

/**
 * Creates thumbnails of a picture: the first frame or page, upright, in sRGB, without metadata.
 * Reads the metadata once. For a video, only detects the container.
 */
export async function work({ path, bounds, input }: Task): Promise<Derived> {
  const format = await formatOf(path)
  if (!format || format === 'heic') throw new Refusal('unsupported')
  if (typeof format === 'object') return { value: format }
  try {
    const { sides } = input as Input
    if (format === 'pdf') return await page(path, bounds.pixels, sides)
    if (format === 'raster') return await pictures(path, bounds.pixels, sides)
    if ((await stat(path)).size > SVG_BYTES) throw new Refusal('too-large')
    return await pictures(await readFile(path), bounds.pixels, sides)
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

async function pictures(
  source: string | Buffer,
  pixels: number,
  sides: number[],
): Promise<Derived> {
  const options: SharpOptions = { limitInputPixels: pixels, failOn: 'error', sequentialRead: true }
  const original = sharp(source, options)
  const { width, height, pageHeight, orientation = 1, exif } = await original.metadata()
  // Checked before decoding, because it bounds each decoder's first allocation.
  if (width * height > pixels) throw new Refusal('too-large')
  const upright =
    orientation >= 5
      ? { width: pageHeight ?? height, height: width }
      : { width, height: pageHeight ?? height }
  const decoded = await inside(original.autoOrient(), Math.max(...sides))
    .toColourspace('srgb')
    .raw({ depth: 'uchar' })
    .toBuffer({ resolveWithObject: true })
  const { outputs, ...small } = await smaller(decoded, pixels, sides)
  return {
    value: { ...upright, orientation, ...small, ...shownExif(exif && parsed(exif)) },
    outputs,
  }
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

/** Cameras write invalid EXIF data, too. The picture is shown regardless. */
function parsed(exif: Buffer): ReturnType<typeof readExif> | undefined {
  try {
    return readExif(exif)
  } catch {
    return undefined
  }
}
