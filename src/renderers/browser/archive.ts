import { configure, Reader, ZipReader } from '@zip.js/zip.js/lib/zip-core-custom.js'

/** Limit for the central directory at the end of an archive. Larger ones are not listed. */
const MOST_BYTES = 16 * 1024 * 1024
/** The most entries to show. */
const MOST_ENTRIES = 2000

export interface ArchiveEntry {
  /** Path in the archive, with slashes. Folders end with a slash. */
  path: string
  /** Uncompressed size in bytes; 0 for folders. */
  size: number
  isEncrypted: boolean
  /** Where its bytes are. */
  packed: Packed
}

interface Packed {
  /** Position of its local header. */
  offset: number
  /** In bytes. */
  size: number
  /** The method of compression, as a number of the format. */
  method: number
}

export interface ArchiveList {
  entries: ArchiveEntry[]
  /** Whether the archive has more entries. */
  hasMore: boolean
}

/** Reads the file behind a URL with range requests. */
class RangeReader extends Reader<string> {
  private readonly url: string
  private readonly signal: AbortSignal
  private left = MOST_BYTES

  constructor(url: string, size: number, signal: AbortSignal) {
    super(url)
    this.url = url
    this.size = size
    this.signal = signal
  }

  override async readUint8Array(offset: number, length: number): Promise<Uint8Array> {
    const count = Math.min(length, this.size - offset)
    if (count <= 0) return new Uint8Array()
    this.left -= count
    if (this.left < 0) throw new RangeError('The list of this archive is too long.')
    const range = `bytes=${offset}-${offset + count - 1}`
    const response = await fetch(this.url, { headers: { range }, signal: this.signal })
    if (response.status !== 206) throw new Error(`The store answered ${response.status}.`)
    return new Uint8Array(await response.arrayBuffer())
  }
}

/**
 * Lists the contents of a ZIP archive by path, without unpacking it.
 *
 * @throws if the file is not an archive or cannot be read
 */
export async function listArchive(
  url: string,
  size: number,
  signal: AbortSignal,
): Promise<ArchiveList> {
  configure({ useWebWorkers: false })
  const zip = new ZipReader(new RangeReader(url, size, signal))
  const entries: ArchiveEntry[] = []
  let hasMore = false
  for await (const {
    filename,
    uncompressedSize,
    encrypted,
    directory,
    offset,
    compressedSize,
    compressionMethod,
  } of zip.getEntriesGenerator()) {
    hasMore = entries.length === MOST_ENTRIES
    if (hasMore) break
    entries.push({
      path: filename,
      size: directory ? 0 : uncompressedSize,
      isEncrypted: encrypted,
      packed: { offset, size: compressedSize, method: compressionMethod },
    })
  }
  const compare = new Intl.Collator(undefined, { numeric: true }).compare
  return { entries: entries.sort((a, b) => compare(a.path, b.path)), hasMore }
}

/** The largest entry that is unpacked, before and after. */
const MOST_UNPACKED = 50 * 1024 * 1024
const STORED = 0
const DEFLATED = 8
const LOCAL_HEADER = 30

/** Whether an entry can be opened without downloading the archive. */
export const canUnpack = ({ path, size, isEncrypted, packed }: ArchiveEntry): boolean =>
  !path.endsWith('/') &&
  !isEncrypted &&
  size > 0 &&
  size <= MOST_UNPACKED &&
  packed.size <= MOST_UNPACKED &&
  (packed.method === STORED || packed.method === DEFLATED)

/**
 * Unpacks one entry of an archive. Reads only its own bytes.
 *
 * @throws if the archive is damaged, or the entry is larger than its list says
 */
export async function unpack(
  url: string,
  { size, packed }: ArchiveEntry,
  signal: AbortSignal,
): Promise<Uint8Array<ArrayBuffer>> {
  const read = async (from: number, count: number) => {
    const range = `bytes=${from}-${from + count - 1}`
    const response = await fetch(url, { headers: { range }, signal })
    if (response.status !== 206) throw new Error(`The store answered ${response.status}.`)
    return response
  }
  const header = new DataView(await (await read(packed.offset, LOCAL_HEADER)).arrayBuffer())
  const start =
    packed.offset + LOCAL_HEADER + header.getUint16(26, true) + header.getUint16(28, true)
  const { body } = await read(start, packed.size)
  if (!body) throw new Error('The store sent no bytes.')
  const plain =
    packed.method === STORED ? body : body.pipeThrough(new DecompressionStream('deflate-raw'))
  const bytes = new Uint8Array(size)
  let length = 0
  for (const reader = plain.getReader(); ; ) {
    const { done, value } = await reader.read()
    if (done) break
    // A damaged archive, or one that is made to fill the memory.
    if (length + value.length > size) {
      await reader.cancel()
      throw new RangeError('The entry is larger than the archive says.')
    }
    bytes.set(value, length)
    length += value.length
  }
  if (length < size) throw new RangeError('The entry is smaller than the archive says.')
  return bytes
}
