import { SaxesParser } from 'saxes'
import { textOf } from './tiff.ts'

const EXIF = 'http://ns.adobe.com/exif/1.0/'
const namespaces: Record<string, string> = {
  [EXIF]: 'exif',
  'http://cipa.jp/exif/1.0/': 'exifEX',
  'http://ns.adobe.com/tiff/1.0/': 'tiff',
  'http://ns.adobe.com/xap/1.0/': 'xmp',
  'http://ns.adobe.com/photoshop/1.0/': 'photoshop',
  'http://ns.adobe.com/exif/1.0/aux/': 'aux',
}

/** The simple properties of an XMP packet, by prefix and name, such as `exif:DateTimeOriginal`. */
export type Properties = Map<string, string>

const DEEPEST = 40
const LONGEST = 1000

/** Reads the first value of each property that an attribute or an element states. */
export function readXmp(packet: Buffer): Properties {
  const found: Properties = new Map()
  const parser = new SaxesParser({ xmlns: true })
  const path: (string | undefined)[] = []
  let text = ''
  const note = (name: string | undefined, value: string) => {
    const trimmed = value.trim().slice(0, LONGEST)
    if (name && trimmed && !found.has(name)) found.set(name, trimmed)
  }
  const nameOf = ({ uri, local }: { uri: string; local: string }) => {
    const prefix = namespaces[uri]
    return prefix && `${prefix}:${local}`
  }
  parser.on('opentag', tag => {
    if (path.length >= DEEPEST) throw new Error('This packet is nested too deeply.')
    path.push(nameOf(tag))
    text = ''
    for (const attribute of Object.values(tag.attributes)) note(nameOf(attribute), attribute.value)
  })
  parser.on('text', more => {
    if (text.length < LONGEST) text += more
  })
  parser.on('closetag', () => {
    // A list has its values in elements without a name of their own.
    note(
      path.findLast(name => name !== undefined),
      text,
    )
    path.pop()
    text = ''
  })
  try {
    parser.write(textOf(packet)).close()
  } catch {
    // What precedes the error counts.
  }
  return found
}
