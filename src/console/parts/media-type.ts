/** Larger than almost any hand-written source file, and smaller than a second of video. */
const SOURCE_BYTES = 512 * 1024

/**
 * The media type to display. TypeScript files have the extension of MPEG transport streams, which
 * is the type that the service detects.
 */
export const mediaTypeOf = ({
  name,
  contentType,
  size,
}: {
  name: string
  contentType: string
  size: number
}): string =>
  contentType.startsWith('video/mp2t') && /\.[cm]?ts$/i.test(name) && size <= SOURCE_BYTES
    ? 'text/typescript'
    : contentType
