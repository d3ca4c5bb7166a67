import { type Moment, momentOf, zoneOf } from './moment.ts'
import type { Directory, Exif } from './tiff.ts'
import type { Properties } from './xmp.ts'

/** The metadata of a picture that people are shown. */
export interface Photo {
  /** The capture time in milliseconds since 1970. A time without a zone counts as UTC. */
  takenAt?: number
  details?: {
    camera?: string
    lens?: string
    exposureSeconds?: number
    aperture?: number
    iso?: number
    focalLength?: number
    /** The camera clock's offset from UTC in minutes, if recorded. */
    zoneMinutes?: number
    /** Coordinates in degrees. */
    place?: { latitude: number; longitude: number }
  }
}

/** The tags of EXIF that are read. */
const image = { make: 0x010f, model: 0x0110, changed: 0x0132 }
const photo = {
  exposure: 0x829a,
  aperture: 0x829d,
  iso: 0x8827,
  standardOutput: 0x8831,
  recommendedExposure: 0x8832,
  isoSpeed: 0x8833,
  taken: 0x9003,
  digitized: 0x9004,
  zone: 0x9010,
  zoneTaken: 0x9011,
  zoneDigitized: 0x9012,
  focalLength: 0x920a,
  fraction: 0x9290,
  fractionTaken: 0x9291,
  fractionDigitized: 0x9292,
  lens: 0xa434,
}
const gps = { latitudeRef: 1, latitude: 2, longitudeRef: 3, longitude: 4 }

const LONGEST_WORDS = 100
/** The largest ISO speed that its old tag can state. */
const ISO_LIMIT = 65_535

/** A camera's text on one line; undefined if it is empty. */
function words(...given: unknown[]): string | undefined {
  const text = given
    .filter(part => typeof part === 'string')
    .join(' ')
    .replace(/[^\P{C}]+/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, LONGEST_WORDS)
    .toWellFormed()
  return text || undefined
}

/** A number of EXIF, or one of XMP, such as `28/10`. */
function amount(given: unknown): number | undefined {
  const [whole, below = '1'] = typeof given === 'string' ? given.trim().split('/') : []
  const value = Array.isArray(given) ? given[0] : Number(whole) / Number(below)
  return typeof value === 'number' && Number.isFinite(value) && value > 0 && value < 1e9
    ? value
    : undefined
}

/** Converts degrees, minutes and seconds into degrees. */
function degrees(given: unknown, reference: unknown, most: number): number | undefined {
  if (!Array.isArray(given) || given.length < 1 || given.length > 3) return undefined
  const value = given.reduce((sum, part, i) => sum + part / 60 ** i, 0)
  if (!Number.isFinite(value) || value < 0 || value > most) return undefined
  return Number((/^[SW]/i.test(String(reference)) ? -value : value).toFixed(6))
}

/** Converts coordinates of XMP, such as `48,51.5N`, into degrees. */
function degreesOfText(given: string | undefined, most: number): number | undefined {
  const [, numbers = '', reference] = /^([\d.,]{1,40})([NSEW])$/i.exec(given ?? '') ?? []
  return numbers ? degrees(numbers.split(',').map(Number), reference, most) : undefined
}

type Place = { latitude: number; longitude: number }

/** Devices without a position write zeros. */
function placeOf(latitude?: number, longitude?: number): Place | undefined {
  if (latitude === undefined || longitude === undefined) return undefined
  return latitude === 0 && longitude === 0 ? undefined : { latitude, longitude }
}

/** Many model names begin with the manufacturer, or with a word of its name. */
function cameraOf(make: string | undefined, model: string | undefined): string | undefined {
  const [first = ''] = model?.toLowerCase().split(' ') ?? []
  const isSaid = make
    ?.toLowerCase()
    .split(/[ ,.]+/)
    .includes(first)
  return words(isSaid ? undefined : make, model)
}

/** The first date of these that is one, from the most to the least exact. */
function takenOf({ image: file, photo: shot }: Exif, xmp: Properties, dates: string[]) {
  const inExif = (directory: Directory, tag: number, fraction: number, zone: number) => () =>
    momentOf(directory.get(tag), {
      fraction: shot.get(fraction),
      zone: zoneOf(shot.get(zone)) === undefined ? shot.get(photo.zone) : shot.get(zone),
    })
  const inXmp = (name: string) => () => momentOf(xmp.get(name))
  const sources: (() => Moment | undefined)[] = [
    inExif(shot, photo.taken, photo.fractionTaken, photo.zoneTaken),
    inExif(shot, photo.digitized, photo.fractionDigitized, photo.zoneDigitized),
    inXmp('exif:DateTimeOriginal'),
    inXmp('photoshop:DateCreated'),
    inXmp('exif:DateTimeDigitized'),
    inXmp('xmp:CreateDate'),
    inExif(file, image.changed, photo.fraction, photo.zone),
    ...dates.map(date => () => momentOf(date)),
  ]
  for (const source of sources) {
    const moment = source()
    if (moment) return moment
  }
  return undefined
}

function isoOf(shot: Directory, xmp: Properties): number | undefined {
  const old = amount(shot.get(photo.iso))
  if (old !== undefined && old < ISO_LIMIT) return old
  const others = [photo.recommendedExposure, photo.isoSpeed, photo.standardOutput]
  const larger = others.map(tag => amount(shot.get(tag))).find(value => value !== undefined)
  const inXmp = xmp.get('exif:ISOSpeedRatings') ?? xmp.get('exifEX:PhotographicSensitivity')
  return larger ?? old ?? amount(inXmp)
}

/** What people are shown of the metadata of a picture. Invalid values are left out. */
export function photoOf(exif: Exif, xmp: Properties, dates: string[]): Photo {
  const { image: file, photo: shot, gps: position } = exif
  const taken = takenOf(exif, xmp, dates)
  const either = (directory: Directory, tag: number, name: string) =>
    amount(directory.get(tag)) ?? amount(xmp.get(name))
  const found = {
    camera: cameraOf(
      words(file.get(image.make)) ?? words(xmp.get('tiff:Make')),
      words(file.get(image.model)) ?? words(xmp.get('tiff:Model')),
    ),
    lens: words(shot.get(photo.lens)) ?? words(xmp.get('exifEX:LensModel') ?? xmp.get('aux:Lens')),
    exposureSeconds: either(shot, photo.exposure, 'exif:ExposureTime'),
    aperture: either(shot, photo.aperture, 'exif:FNumber'),
    iso: isoOf(shot, xmp),
    focalLength: either(shot, photo.focalLength, 'exif:FocalLength'),
    zoneMinutes: taken?.zoneMinutes,
    place:
      placeOf(
        degrees(position.get(gps.latitude), position.get(gps.latitudeRef), 90),
        degrees(position.get(gps.longitude), position.get(gps.longitudeRef), 180),
      ) ??
      placeOf(
        degreesOfText(xmp.get('exif:GPSLatitude'), 90),
        degreesOfText(xmp.get('exif:GPSLongitude'), 180),
      ),
  }
  const details = Object.fromEntries(
    Object.entries(found).filter(([, value]) => value !== undefined),
  )
  return {
    ...(taken ? { takenAt: taken.clock - (taken.zoneMinutes ?? 0) * 60_000 } : {}),
    ...(Object.keys(details).length > 0 ? { details } : {}),
  }
}
