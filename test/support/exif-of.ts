/** A value of a directory: a text, whole numbers, or fractions. Its type is a number of EXIF. */
export interface Entry {
  tag: number
  type: number
  value: string | Buffer | number[] | [number, number][]
  /** Replaces the offset of a value that does not fit into its entry. */
  offset?: number
}

const SIZES: Record<number, number> = { 2: 1, 3: 2, 4: 4, 5: 8, 7: 1, 129: 1 }

export const ascii = (tag: number, value: string | Buffer): Entry => ({ tag, type: 2, value })
export const short = (tag: number, ...value: number[]): Entry => ({ tag, type: 3, value })
export const fractions = (tag: number, ...value: [number, number][]): Entry => ({
  tag,
  type: 5,
  value,
})

function bytesOf({ type, value }: Entry): Buffer {
  if (typeof value === 'string') return Buffer.from(`${value}\0`)
  if (Buffer.isBuffer(value)) return value
  const parts = value.map(one => {
    const bytes = Buffer.alloc(SIZES[type] ?? 4)
    if (Array.isArray(one)) {
      bytes.writeUInt32LE(one[0], 0)
      bytes.writeUInt32LE(one[1], 4)
    } else if (type === 3) bytes.writeUInt16LE(one)
    else bytes.writeUInt32LE(one)
    return bytes
  })
  return Buffer.concat(parts)
}

/** A directory at an offset, with the values behind it. */
function directory(entries: Entry[], at: number): Buffer {
  const head = Buffer.alloc(2 + entries.length * 12 + 4)
  head.writeUInt16LE(entries.length, 0)
  const values: Buffer[] = []
  let place = at + head.length
  for (const [i, entry] of entries.entries()) {
    const bytes = bytesOf(entry)
    const start = 2 + i * 12
    head.writeUInt16LE(entry.tag, start)
    head.writeUInt16LE(entry.type, start + 2)
    head.writeUInt32LE(bytes.length / (SIZES[entry.type] ?? 1), start + 4)
    if (bytes.length <= 4) bytes.copy(head, start + 8)
    else {
      head.writeUInt32LE(entry.offset ?? place, start + 8)
      values.push(bytes)
      place += bytes.length
    }
  }
  return Buffer.concat([head, ...values])
}

const pointer = (tag: number, offset: number): Entry => ({ tag, type: 4, value: [offset] })

/** A block of EXIF data in little-endian order. */
export function exifOf({
  image = [],
  photo = [],
  gps = [],
}: {
  image?: Entry[]
  photo?: Entry[]
  gps?: Entry[]
}): Buffer {
  const first = 8
  const lengthOfImage = directory([...image, pointer(0x8769, 0), pointer(0x8825, 0)], first).length
  const atPhoto = first + lengthOfImage
  const written = directory(photo, atPhoto)
  const atGps = atPhoto + written.length
  const start = Buffer.from('II*\0\x08\0\0\0', 'latin1')
  return Buffer.concat([
    start,
    directory([...image, pointer(0x8769, atPhoto), pointer(0x8825, atGps)], first),
    written,
    directory(gps, atGps),
  ])
}

const segment = (marker: number, bytes: Buffer): Buffer => {
  const head = Buffer.from([0xff, marker, 0, 0])
  head.writeUInt16BE(bytes.length + 2, 2)
  return Buffer.concat([head, bytes])
}

/** A JPEG with further segments after its start. */
export const jpegWith = (jpeg: Buffer, { exif, xmp }: { exif?: Buffer; xmp?: string }): Buffer =>
  Buffer.concat([
    jpeg.subarray(0, 2),
    ...(exif ? [segment(0xe1, Buffer.concat([Buffer.from('Exif\0\0'), exif]))] : []),
    ...(xmp ? [segment(0xe1, Buffer.from(`http://ns.adobe.com/xap/1.0/\0${xmp}`))] : []),
    jpeg.subarray(2),
  ])

/** An XMP packet with these attributes. */
export const xmpOf = (attributes: string): string =>
  `<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
  <rdf:Description xmlns:exif="http://ns.adobe.com/exif/1.0/" xmlns:xmp="http://ns.adobe.com/xap/1.0/"
    xmlns:photoshop="http://ns.adobe.com/photoshop/1.0/" xmlns:tiff="http://ns.adobe.com/tiff/1.0/" ${attributes}/>
  </rdf:RDF></x:xmpmeta>`
