import { type Block, type Bytes, blockOf, blockOfBuffer } from './bytes.ts'
import { exifBlock, type Parts } from './containers.ts'

/** A picture of a HEIF or AVIF file, as its boxes describe it. */
export interface HeifPicture extends Parts {
  /** Upright, in pixels; undefined if the file does not state it. */
  size: { width: number; height: number } | undefined
  /** How the stored picture is turned, as EXIF counts, 1 to 8. */
  orientation: number
}

interface Box {
  type: string
  /** What follows the head of the box. */
  body: Block
}

const BOXES = 2000
const ITEMS = 10_000
const XMP_BYTES = 1024 * 1024

function* boxesIn(block: Block, from = 0): Generator<Box> {
  let at = from
  for (let i = 0; i < BOXES && at + 8 <= block.size; i++) {
    const head = block.at(at, 16)
    if (head.length < 8) return
    let [length, start] = [head.readUInt32BE(0), 8]
    if (length === 1 && head.length === 16) {
      length = Number(head.readBigUInt64BE(8))
      start = 16
    }
    if (length === 0) length = block.size - at
    if (length < start) return
    yield {
      type: head.toString('latin1', 4, 8),
      body: blockOf(block, at + start, Math.min(length, block.size - at) - start),
    }
    at += length
  }
}

/** Reads the numbers of a box one after the other; 0 beyond its end. */
function cursor({ at, size }: Block, from = 0) {
  let place = from
  return {
    number(length: number): number {
      const bytes = at(place, length)
      place += length
      if (bytes.length < length || length === 0) return 0
      return length > 6 ? Number(bytes.readBigUInt64BE(0)) : bytes.readUIntBE(0, length)
    },
    get isEnd() {
      return place >= size
    },
    get place() {
      return place
    },
  }
}

const bodyOf = (block: Block, type: string, from = 0): Block | undefined => {
  for (const box of boxesIn(block, from)) if (box.type === type) return box.body
  return undefined
}

/** The types of the items by id. */
function itemTypes(meta: Block): Map<number, string> {
  const types = new Map<number, string>()
  const list = bodyOf(meta, 'iinf', 4)
  if (!list) return types
  const version = list.at(0, 1)[0] ?? 0
  for (const { type, body } of boxesIn(list, version === 0 ? 6 : 8)) {
    if (type !== 'infe') continue
    const entryVersion = body.at(0, 1)[0] ?? 0
    const read = cursor(body, 4)
    const id = read.number(entryVersion >= 3 ? 4 : 2)
    read.number(2)
    const name = body.at(read.place, 4).toString('latin1')
    // The content type of a `mime` item follows its name.
    const rest = body.at(read.place + 4, 200).toString('latin1')
    types.set(id, name === 'mime' && rest.includes('rdf+xml') ? 'xmp' : name)
  }
  return types
}

/** The first extent of each item: where its bytes are. Larger items have several. */
function itemPlaces(meta: Block): Map<number, { inside: boolean; parts: [number, number][] }> {
  const places = new Map<number, { inside: boolean; parts: [number, number][] }>()
  const list = bodyOf(meta, 'iloc', 4)
  if (!list) return places
  const read = cursor(list)
  const version = read.number(1)
  read.number(3)
  const sizes = read.number(2)
  const [offsetSize, lengthSize, baseSize, indexSize] = [12, 8, 4, 0].map(
    shift => (sizes >> shift) & 15,
  ) as [number, number, number, number]
  const count = Math.min(ITEMS, read.number(version < 2 ? 2 : 4))
  for (let i = 0; i < count && !read.isEnd; i++) {
    const id = read.number(version < 2 ? 2 : 4)
    const method = version > 0 ? read.number(2) & 15 : 0
    read.number(2)
    const base = read.number(baseSize)
    const extents = read.number(2)
    const parts: [number, number][] = []
    for (let n = 0; n < extents && !read.isEnd; n++) {
      if (version > 0) read.number(indexSize)
      const offset = read.number(offsetSize)
      parts.push([base + offset, read.number(lengthSize)])
    }
    places.set(id, { inside: method === 1, parts })
  }
  return places
}

/** The properties of an item, in their order. */
function propertiesOf(meta: Block, item: number): Box[] {
  const all = bodyOf(meta, 'iprp', 4)
  const shelf = all && bodyOf(all, 'ipco')
  const associations = all && bodyOf(all, 'ipma')
  if (!shelf || !associations) return []
  const boxes = [...boxesIn(shelf)]
  const read = cursor(associations)
  const version = read.number(1)
  const isLarge = (read.number(3) & 1) === 1
  const count = Math.min(ITEMS, read.number(4))
  for (let i = 0; i < count && !read.isEnd; i++) {
    const id = read.number(version < 1 ? 2 : 4)
    const some = Array.from({ length: read.number(1) }, () => read.number(isLarge ? 2 : 1))
    if (id === item)
      return some.flatMap(index => boxes[(index & (isLarge ? 0x7fff : 0x7f)) - 1] ?? [])
  }
  return []
}

/** EXIF's orientations by a turn counter-clockwise in quarters. */
const TURNED = [1, 8, 3, 6]
/** The same, mirrored first along the vertical axis (left and right change places). */
const MIRRORED = [2, 5, 4, 7]

/** Reads size, orientation, EXIF and XMP of the main picture of a HEIF or AVIF file. */
export function readHeif(bytes: Bytes): HeifPicture {
  const found: HeifPicture = {
    exif: [],
    xmp: [],
    dates: [],
    size: undefined,
    orientation: 1,
  }
  const meta = bodyOf(bytes, 'meta')
  if (!meta) return found
  const types = itemTypes(meta)
  const places = itemPlaces(meta)
  const data = bodyOf(meta, 'idat', 4)
  const bodyOfItem = (id: number): Buffer => {
    const { inside, parts } = places.get(id) ?? { inside: false, parts: [] }
    let left = XMP_BYTES
    const some = parts.map(([offset, length]) => {
      const bytesOfPart = (inside ? data : bytes)?.at(offset, Math.min(length || left, left))
      left -= bytesOfPart?.length ?? 0
      return bytesOfPart ?? Buffer.alloc(0)
    })
    return Buffer.concat(some)
  }
  for (const [id, type] of types) {
    if (type === 'xmp') found.xmp.push(bodyOfItem(id))
    if (type !== 'Exif') continue
    const item = bodyOfItem(id)
    if (item.length < 8) continue
    const offset = 4 + item.readUInt32BE(0)
    const start = offset < item.length ? offset : 4
    found.exif.push(exifBlock(blockOfBuffer(item.subarray(start))))
  }
  const primary = bodyOf(meta, 'pitm', 4)
  if (!primary) return found
  const read = cursor(primary)
  const version = read.number(1)
  read.number(3)
  let [turns, isMirrored] = [0, false]
  for (const { type, body } of propertiesOf(meta, read.number(version === 0 ? 2 : 4))) {
    if (type === 'ispe') {
      const size = cursor(body, 4)
      const [width, height] = [size.number(4), size.number(4)]
      if (width > 0 && height > 0) found.size = { width, height }
    }
    if (type === 'irot') turns = (turns + ((body.at(0, 1)[0] ?? 0) & 3)) % 4
    if (type === 'imir') {
      // Axis 0 mirrors top and bottom: left and right, and half a turn.
      isMirrored = !isMirrored
      const isVertical = ((body.at(0, 1)[0] ?? 0) & 1) === 0
      turns = (4 - turns + (isVertical ? 2 : 0)) % 4
    }
  }
  found.orientation = (isMirrored ? MIRRORED : TURNED)[turns] ?? 1
  if (found.size && turns % 2 === 1)
    found.size = { width: found.size.height, height: found.size.width }
  return found
}
