import type { Exif } from 'exif-reader'

/** The EXIF data of a picture that people are shown. */
interface ShownExif {
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

const LONGEST_WORDS = 100

/** A camera's text on one line; undefined if it is empty. */
function words(...given: unknown[]): string | undefined {
  const text = given
    .filter(part => typeof part === 'string')
    .join(' ')
    .replace(/[^\P{C}]+/gu, ' ')
    .trim()
    .slice(0, LONGEST_WORDS)
  return text || undefined
}

function amount(given: unknown): number | undefined {
  const value = Array.isArray(given) ? given[0] : given
  return typeof value === 'number' && Number.isFinite(value) && value > 0 && value < 1e9
    ? value
    : undefined
}

/** Converts degrees, minutes and seconds into degrees. */
function degrees(given: unknown, reference: unknown, most: number): number | undefined {
  if (!Array.isArray(given) || given.length !== 3 || !given.every(part => Number.isFinite(part)))
    return undefined
  const [whole, minutes, seconds] = given as [number, number, number]
  const value = whole + minutes / 60 + seconds / 3600
  if (value < 0 || value > most) return undefined
  return Number((/^[SW]/i.test(String(reference)) ? -value : value).toFixed(6))
}

/** The offset of a zone such as +02:00, in minutes. */
function zoneOf(given: unknown): number | undefined {
  const [, sign, hours, minutes] = /^([+-])(\d\d):(\d\d)/.exec(String(given)) ?? []
  if (!sign) return undefined
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes))
}

export function shownExif(exif: Exif | undefined): ShownExif {
  if (!exif) return {}
  const { Image: image = {}, Photo: photo = {}, GPSInfo: gps = {} } = exif
  const time = photo.DateTimeOriginal ?? photo.DateTimeDigitized
  const zoneMinutes = zoneOf(photo.OffsetTimeOriginal ?? photo.OffsetTime)
  const taken = time instanceof Date ? time.getTime() - (zoneMinutes ?? 0) * 60_000 : undefined
  const latitude = degrees(gps.GPSLatitude, gps.GPSLatitudeRef, 90)
  const longitude = degrees(gps.GPSLongitude, gps.GPSLongitudeRef, 180)
  const model = words(image.Model)
  const make = words(image.Make)
  const found = {
    // Many model names begin with the manufacturer.
    camera: words(
      make && model?.toLowerCase().startsWith(make.toLowerCase()) ? undefined : make,
      model,
    ),
    lens: words(photo.LensModel),
    exposureSeconds: amount(photo.ExposureTime),
    aperture: amount(photo.FNumber),
    iso: amount(photo.ISOSpeedRatings),
    focalLength: amount(photo.FocalLength),
    zoneMinutes: taken === undefined ? undefined : zoneMinutes,
    place: latitude === undefined || longitude === undefined ? undefined : { latitude, longitude },
  }
  const details = Object.fromEntries(
    Object.entries(found).filter(([, value]) => value !== undefined),
  )
  return {
    ...(taken !== undefined && Number.isFinite(taken) && Math.abs(taken) < 4e12
      ? { takenAt: taken }
      : {}),
    ...(Object.keys(details).length > 0 ? { details } : {}),
  }
}
