/**
 * Whether a file with this media type is listed under pictures: images and videos, with or without
 * thumbnails.
 */
export const isPictured = (mediaType: string): boolean => /^(image|video)\//.test(mediaType)
