import { closeSync, openSync } from 'node:fs'
import { type FormatName, formatOfStart, START_BYTES } from '../../formats/signature.ts'
import { type Block, Bytes } from '../metadata/bytes.ts'
import { type Parts, partsOfJpeg, partsOfPng, partsOfWebp } from '../metadata/containers.ts'
import { type HeifPicture, readHeif } from '../metadata/heif.ts'
import { photoOf } from '../metadata/photo.ts'
import { type Directory, type Exif, readTiff } from '../metadata/tiff.ts'
import { type Properties, readXmp } from '../metadata/xmp.ts'
import type { Derived, Task } from '../outcome.ts'

/** The most metadata blocks of one kind (Exif, XMP) that are read. */
const BLOCKS = 4

type Read = Parts & Partial<Pick<HeifPicture, 'size' | 'orientation'>>

const readers: Partial<Record<FormatName, (bytes: Bytes) => Read>> = {
  jpeg: partsOfJpeg,
  png: partsOfPng,
  webp: partsOfWebp,
  heif: readHeif,
  avif: readHeif,
  tiff: bytes => ({ exif: [bytes], xmp: [], dates: [] }),
}

/** The values of several blocks or packets, of which the first counts. */
function merged<Key, Value>(maps: Map<Key, Value>[]): Map<Key, Value> {
  return new Map(maps.reverse().flatMap(map => [...map]))
}

function exifOf(blocks: Block[]): Exif {
  const all = blocks.slice(0, BLOCKS).map(readTiff)
  const of = (part: 'image' | 'photo' | 'gps'): Directory => merged(all.map(one => one[part]))
  const xmp = all.find(one => one.xmp)?.xmp
  return { image: of('image'), photo: of('photo'), gps: of('gps'), xmp }
}

/**
 * Reads when, where and with what a picture was taken, and the size of one that is not decoded. It
 * is a job of its own, so that a preview does not depend on it.
 */
export async function work({ path }: Task): Promise<Derived> {
  const file = openSync(path, 'r')
  try {
    const bytes = new Bytes(file)
    const format = formatOfStart(bytes.at(0, START_BYTES))
    const read = format && readers[format]
    if (!read) return { value: {} }
    const { exif: blocks, xmp: packets, dates, size, orientation } = read(bytes)
    const exif = exifOf(blocks)
    const all = [...packets, ...(exif.xmp ? [exif.xmp] : [])].slice(0, BLOCKS)
    const xmp: Properties = merged(all.map(readXmp))
    const photo = photoOf(exif, xmp, dates)
    return { value: size ? { ...photo, ...size, orientation } : photo }
  } finally {
    closeSync(file)
  }
}
