import { readFile, stat } from 'node:fs/promises'
import readExif from 'exif-reader'
import sharp, { type OutputInfo, type Sharp, type SharpOptions } from 'sharp'
import { rgbaToThumbHash } from 'thumbhash'
import { type Derived, Refusal, type Task } from '../outcome.ts'
import { shownExif } from './exif.ts'
import { formatOf } from './format.ts'

/** What a job of this kind is given. */
interface Input {
  /** The longest side of each picture that it makes, in pixels. */
  sides: number[]
}

// One job at a time, and none needs what another has read.
sharp.cache(false)
sharp.concurrency(1)
// Only what this file asks for: no formats of scientists, no programs, and no SVG by its path, from
// which it could name other files.
sharp.block({ operation: ['VipsForeignLoad'] })
const loaders = ['Jpeg', 'Png', 'Webp', 'Nsgif', 'Tiff', 'Heif'].map(
  name => `VipsForeignLoad${name}File`,
)
sharp.unblock({ operation: [...loaders, 'VipsForeignLoadSvgBuffer'] })

/** Bytes of an SVG, which is parsed as a whole. */
const SVG_BYTES = 2 * 1024 * 1024
/**
 * The longest side of what a ThumbHash is made of: more would not show in its few frequencies, and
 * takes the time of a small picture.
 */
const HASHED = 64
// Half the time of the highest effort, and a few bytes more.
const webp = { quality: 76, effort: 2, smartSubsample: false } as const

/** A library says what is wrong with a file only in words. */
function refusalOf(error: unknown): unknown {
  const said = error instanceof Error ? error.message : ''
  if (/pixel limit|too large/i.test(said)) return new Refusal('too-large')
  if (/unsupported|not supported|unknown file type/i.test(said)) return new Refusal('unsupported')
  return error
}

/**
 * Makes small pictures of a picture: the first frame or page, upright, in sRGB, without any
 * metadata. Reads those once. Of a video, it only says in which container it is.
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

/** Of a document: of its first page. Its size is in points. */
async function page(path: string, pixels: number, sides: number[]): Promise<Derived> {
  // It is compiled for documents only.
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
  // Before anything is decoded: what each decoder allocates first is bounded by it.
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

/** Encodes what was decoded once, and makes it smaller step by step. */
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

/** Cameras write what they like: a picture is shown whether or not it can be read. */
function parsed(exif: Buffer): ReturnType<typeof readExif> | undefined {
  try {
    return readExif(exif)
  } catch {
    return undefined
  }
}
