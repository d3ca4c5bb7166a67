import type { PreviewRow } from '../../../db/queries/preview.ts'
import { photoValue } from './derived-value.ts'

/** What a picture says of how and where it was taken. */
export interface Photo {
  camera: string | null
  lens: string | null
  exposureSeconds: number | null
  aperture: number | null
  iso: number | null
  focalLength: number | null
  /** Minutes that the clock of the camera was ahead of UTC. */
  zoneMinutes: number | null
  /** In degrees. */
  place: { latitude: number; longitude: number } | null
}

/** The preview of a file. Null where it is not known yet. */
export interface PreviewView {
  state: 'waiting' | 'made' | 'failed'
  /** Changes with the content. */
  version: string | null
  placeholder: string | null
  width: number | null
  height: number | null
  takenAt: number | null
  /**
   * Null where the picture says nothing. Not for those who may see the picture only and not have
   * the file.
   */
  readonly photo: Photo | null
}

export function viewOf({
  state,
  digest,
  placeholder,
  width,
  height,
  takenAt,
  details,
}: PreviewRow): PreviewView {
  const shown = state === 'made' || state === 'failed' ? state : 'waiting'
  const version = state === 'made' && digest ? digest.slice(0, 16) : null
  return {
    state: shown,
    version,
    placeholder,
    width,
    height,
    takenAt,
    // Parsed where it is asked for: lists show none of it.
    get photo() {
      return details ? photoOf(details) : null
    },
  }
}

/**
 * What the clock of its camera showed, as a time in UTC; null if that is not known. Pictures are
 * sorted by it.
 */
export function clockOf({ takenAt, details }: PreviewRow): number | null {
  if (takenAt === null) return null
  const { zoneMinutes } = details ? photoValue.parse(JSON.parse(details)) : {}
  return takenAt + (zoneMinutes ?? 0) * 60_000
}

/** What a process has noted is read like any input: what is not as it should be is left out. */
function photoOf(details: string): Photo | null {
  const { camera, lens, exposureSeconds, aperture, iso, focalLength, zoneMinutes, place } =
    photoValue.parse(JSON.parse(details))
  const photo: Photo = {
    camera: camera ?? null,
    lens: lens ?? null,
    exposureSeconds: exposureSeconds ?? null,
    aperture: aperture ?? null,
    iso: iso ?? null,
    focalLength: focalLength ?? null,
    zoneMinutes: zoneMinutes ?? null,
    place: place ?? null,
  }
  return Object.values(photo).some(value => value !== null) ? photo : null
}
