import { open, readFile, stat } from 'node:fs/promises'
import readExif from 'exif-reader'
import sharp, { type Sharp, type SharpOptions } from 'sharp'
import { rgbaToThumbHash } from 'thumbhash'
import { type Derived, Refusal, type Task } from '../outcome.ts'
import { shownExif } from './exif.ts'

/** What a job of this kind is given. */
interface Input {
  /** The longest side of each picture that it makes, in pixels. */
  sides: number[]
}

// One job at a time, and none needs what another has read.
sharp.cache(false)
sharp.concurrency(1)
// Only what this file asks for: no formats of scientists, no programs, and no SVG by its path, from which it could name other files.
sharp.block({ operation: ['VipsForeignLoad'] })
const loaders = ['Jpeg', 'Png', 'Webp', 'Nsgif', 'Tiff', 'Heif'].map(name => `VipsForeignLoad${name}File`)
sharp.unblock({ operation: [...loaders, 'VipsForeignLoadSvgBuffer'] })

/** Bytes of an SVG, which is parsed as a whole. */
const SVG_BYTES = 2 * 1024 * 1024
/** Where the root of an SVG begins. */
const SNIFFED = 4096
/** ThumbHash takes pictures of up to so many pixels on each side. */
const HASHED = 100
// Half the time of the highest effort, and a few bytes more.
const webp = { quality: 76, effort: 2, smartSubsample: false } as const

/** How files of the formats that are decoded from a path begin. */
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

/** What kind of file it is, by its first bytes: names and media types are chosen by clients. */
function formatOf(start: Buffer): 'raster' | 'heic' | 'svg' | undefined {
  const [hex, text] = [start.toString('hex', 0, 8), start.toString('latin1')]
  if (rasters.some(begin => hex.startsWith(begin)) || /^RIFF.{4}WEBP/s.test(text)) return 'raster'
  if (/^.{4}ftypavi[fs]/s.test(text)) return 'raster'
  if (/^.{4}ftyp(hei|hev|mif1|msf1)/s.test(text)) return /avif/.test(text.slice(8, 64)) ? 'raster' : 'heic'
  return /^(\xef\xbb\xbf)?\s*<(\?xml|!--|!DOCTYPE|svg)/.test(text) && /<svg[\s>]/.test(text) ? 'svg' : undefined
}

async function startOf(path: string): Promise<Buffer> {
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(SNIFFED), 0, SNIFFED, 0)
    return buffer.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
}

async function sourceOf(path: string): Promise<string | Buffer> {
  const format = formatOf(await startOf(path))
  if (!format || format === 'heic') throw new Refusal('unsupported')
  if (format === 'raster') return path
  if ((await stat(path)).size > SVG_BYTES) throw new Refusal('too-large')
  return readFile(path)
}

/** A library says what is wrong with a file only in words. */
function refusalOf(error: unknown): unknown {
  const said = error instanceof Error ? error.message : ''
  if (/pixel limit|too large/i.test(said)) return new Refusal('too-large')
  if (/unsupported|not supported|unknown file type/i.test(said)) return new Refusal('unsupported')
  return error
}

/** Makes small pictures of a picture: the first frame or page, upright, in sRGB, without any metadata. Reads those once. */
export async function work({ path, bounds, input }: Task): Promise<Derived> {
  const source = await sourceOf(path)
  try {
    return await pictures(source, bounds.pixels, (input as Input).sides)
  } catch (error) {
    throw refusalOf(error)
  }
}

async function pictures(source: string | Buffer, pixels: number, sides: number[]): Promise<Derived> {
  const options: SharpOptions = { limitInputPixels: pixels, failOn: 'error', sequentialRead: true }
  const original = sharp(source, options)
  const { width, height, pageHeight, orientation = 1, exif } = await original.metadata()
  // Before anything is decoded: what each decoder allocates first is bounded by it.
  if (width * height > pixels) throw new Refusal('too-large')
  const upright =
    orientation >= 5 ? { width: pageHeight ?? height, height: width } : { width, height: pageHeight ?? height }

  // Decoded once, and made smaller step by step.
  const [largest = 0, ...smaller] = [...sides].sort((a, b) => b - a)
  const decoded = await inside(original.autoOrient(), largest)
    .toColourspace('srgb')
    .raw({ depth: 'uchar' })
    .toBuffer({ resolveWithObject: true })
  const { info, data } = decoded
  const raw = { width: info.width, height: info.height, channels: info.channels }
  const again = () => sharp(data, { raw, limitInputPixels: pixels })

  const made = [await again().webp(webp).toBuffer({ resolveWithObject: true })]
  for (const side of smaller) made.push(await inside(again(), side).webp(webp).toBuffer({ resolveWithObject: true }))
  const hashed = await inside(again(), HASHED)
    .toColourspace('srgb')
    .ensureAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true })
  const hash = rgbaToThumbHash(hashed.info.width, hashed.info.height, hashed.data)
  return {
    value: {
      ...upright,
      orientation,
      placeholder: Buffer.from(hash).toString('base64'),
      pictures: made.map(({ info }) => ({ width: info.width, height: info.height })),
      ...shownExif(exif && parsed(exif)),
    },
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
