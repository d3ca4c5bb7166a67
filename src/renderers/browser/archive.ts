import { configure, Reader, ZipReader } from '@zip.js/zip.js/lib/zip-core-custom.js'

/**
 * The list is at the end of an archive, which is read in parts; an archive with more than this of a
 * list is not meant to be looked at.
 */
const MOST_BYTES = 16 * 1024 * 1024
/** Entries that are shown. */
const MOST_ENTRIES = 2000

export interface ArchiveEntry {
  /** From the top of the archive, with slashes; that of a folder ends with one. */
  path: string
  /** In bytes, unpacked; 0 for folders. */
  size: number
  isEncrypted: boolean
}

export interface ArchiveList {
  entries: ArchiveEntry[]
  /** Whether the archive has more than these. */
  hasMore: boolean
}

/** Reads a file at its URL in ranges. */
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
 * What is in a ZIP archive, in the order of paths. Nothing is unpacked.
 * @throws when it is no archive, or cannot be read
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
  } of zip.getEntriesGenerator()) {
    hasMore = entries.length === MOST_ENTRIES
    if (hasMore) break
    entries.push({ path: filename, size: directory ? 0 : uncompressedSize, isEncrypted: encrypted })
  }
  const compare = new Intl.Collator(undefined, { numeric: true }).compare
  return { entries: entries.sort((a, b) => compare(a.path, b.path)), hasMore }
}
