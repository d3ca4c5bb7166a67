/** Far more than people write by hand, and less than a second of a film. */
const SOURCE_BYTES = 512 * 1024

/**
 * The type of a file as the console shows it. Names of TypeScript end like those of MPEG transport
 * streams, by which the service knows them.
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
