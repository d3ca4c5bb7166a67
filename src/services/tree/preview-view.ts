import type { PreviewRow } from '../../../db/queries/preview.ts'
import { photoValue } from './derived-value.ts'

/** Camera, exposure, time and place of a picture. */
export interface Photo {
  camera: string | null
  lens: string | null
  exposureSeconds: number | null
  aperture: number | null
  iso: number | null
  focalLength: number | null
  /** The minutes by which the camera's clock was ahead of UTC. */
  zoneMinutes: number | null
  /** In degrees. */
  place: { latitude: number; longitude: number } | null
}

/** The preview of a file. Null while it is unknown. */
export interface PreviewView {
  state: 'waiting' | 'made' | 'failed'
  /** Changes with the content. */
  version: string | null
  placeholder: string | null
  width: number | null
  height: number | null
  takenAt: number | null
  /**
   * Null if the picture contains no such data, and for callers who may see the picture but not
   * download the file.
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
    // Parsed on demand, because lists do not show it.
    get photo() {
      return details ? photoOf(details) : null
    },
  }
}

/** Validates the stored output of a process like any other input, and drops invalid values. */
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
