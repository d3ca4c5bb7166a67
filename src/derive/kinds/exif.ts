import type { Exif } from 'exif-reader'

/** What a picture says about itself, as far as people are shown it. */
interface ShownExif {
  /** When it was taken, in milliseconds since 1970; a time without a zone counts as one in UTC. */
  takenAt?: number
  details?: {
    camera?: string
    lens?: string
    exposureSeconds?: number
    aperture?: number
    iso?: number
    focalLength?: number
    /** Minutes that the clock of the camera was ahead of UTC, if it says so. */
    zoneMinutes?: number
    /** Degrees. */
    place?: { latitude: number; longitude: number }
  }
}

const LONGEST_WORDS = 100

/** A text that a camera wrote, on one line; undefined if there is nothing to show. */
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

/** Degrees from degrees, minutes and seconds. */
function degrees(given: unknown, reference: unknown, most: number): number | undefined {
  if (!Array.isArray(given) || given.length !== 3 || !given.every(part => Number.isFinite(part)))
    return undefined
  const [whole, minutes, seconds] = given as [number, number, number]
  const value = whole + minutes / 60 + seconds / 3600
  if (value < 0 || value > most) return undefined
  return Number((/^[SW]/i.test(String(reference)) ? -value : value).toFixed(6))
}

/** The zone of a time, such as +02:00, in minutes. */
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
    // Many models begin with the name of their maker.
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
