/**
 * Whether a file with this media type is shown among pictures: pictures and films, whether or not
 * there are previews of them.
 */
export const isPictured = (mediaType: string): boolean => /^(image|video)\//.test(mediaType)
