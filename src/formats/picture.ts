import { essenceOf } from './media-type.ts'

/**
 * Whether a file with this media type is listed under pictures: images and videos, with or without
 * thumbnails.
 */
export const isPictured = (mediaType: string): boolean => /^(image|video)\//.test(mediaType)

/** The formats that have thumbnails. Camera raw formats are missing. */
const drawn =
  /^image\/(jpeg|png|apng|webp|gif|tiff|avif|svg\+xml|bmp|vnd\.microsoft\.icon|hei[cf](-sequence)?)$|^application\/pdf$/

/**
 * Whether the service makes a thumbnail of a file with this media type.
 * @param hasVideos whether there is a program for those of videos
 */
export function isDrawn(mediaType: string, hasVideos = true): boolean {
  const essence = essenceOf(mediaType)
  return drawn.test(essence) || (hasVideos && essence.startsWith('video/'))
}

const DAY_MS = 86_400_000

/**
 * The time of a content, in milliseconds since 1970: as its computer says unless that is in the
 * future, because such a picture would be the newest one for good.
 * @param modifiedAt the time that the client reported, or null
 * @param storedAt the time of the upload
 */
export const contentTime = (modifiedAt: number | null, storedAt: number): number =>
  modifiedAt !== null && modifiedAt <= storedAt + DAY_MS ? modifiedAt : storedAt
